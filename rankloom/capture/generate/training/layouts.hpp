// SPDX-License-Identifier: Apache-2.0
// capture/generate/training: the layouts of a training job: degrees of parallelism for a number of GPUs, and the memory
// that they need. docs/training.md describes the memory model.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/capture/generate/training/training_job.hpp"

namespace rankloom {

/// Bytes on the GPU of one rank, of the pipeline stage that needs most.
struct MemoryUse {
  double parameters = 0;
  double gradients = 0;
  double optimizer = 0;    ///< Adam: a copy of the parameters and two moments, each in single precision.
  double activations = 0;  ///< Of all micro-batches that are in the pipeline at once.
  double total() const { return parameters + gradients + optimizer + activations; }
};
MemoryUse memory_per_gpu(const TrainingJob& job);

/// What may differ between layouts. A fixed degree is that of the job.
struct LayoutChoice {
  std::uint64_t gpus = 0;
  std::uint64_t max_tensor = 8;  ///< Usually the GPUs of a node.
  bool fixed_tensor = false, fixed_pipeline = false, fixed_context = false, fixed_expert = false;
};

/// All layouts of these GPUs whose degrees divide what they distribute: heads, layers, tokens, experts, samples. Tensor
/// and context degrees are powers of two; a context part has at least 2,048 tokens. Resolved, in ascending order of tp,
/// pp, cp, ep.
std::vector<TrainingJob> layouts(const TrainingJob& job, const LayoutChoice& choice);

}  // namespace rankloom
