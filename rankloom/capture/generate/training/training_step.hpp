// SPDX-License-Identifier: Apache-2.0
// capture/generate/training: the communication of one training step, as a profile and as a table of volumes with their
// formulas. docs/patterns.md derives the volumes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/capture/generate/training/training_job.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/graph/profile.hpp"

namespace rankloom {

/// One kind of traffic in a step. Volumes are those of algorithms that send no byte twice (rings, pairwise exchange).
struct StepTraffic {
  std::string kind;           ///< "tensor", "gradients", …
  std::string group;          ///< The communicators, by the beginning of their names: "tp", "dp"; "pp" for messages.
  std::string operation;      ///< "allreduce", …, or "send".
  std::uint64_t ranks = 0;    ///< Of one group.
  std::uint64_t groups = 0;   ///< With this traffic.
  double calls = 0;           ///< Of the group with the most bytes.
  double bytes_per_call = 0;  ///< Of that group: as in Collective::bytes, or of one message.
  double bytes_per_rank = 0;  ///< What one rank of that group sends.
  double bytes = 0;           ///< What all ranks send.
  std::string formula;        ///< Of bytes_per_rank.
};

/// Symbols of the formulas: name and meaning.
struct FormulaSymbol {
  std::string_view name, meaning;
};
std::vector<FormulaSymbol> formula_symbols();

struct TrainingStep {
  Profile profile;  ///< Its phases are the parts of the step that do not overlap: tensor, …, gradients. Without times.
  std::vector<StepTraffic> traffic;
};

/// `job` is resolved. Fails if the profile does not fit into memory.
Result<TrainingStep> make_training_step(const TrainingJob& job);

/// The generator of the pattern `llm` whose options are those of `job`, which must outlive it.
std::unique_ptr<Generator> make_training_generator(TrainingJob& job);

}  // namespace rankloom
