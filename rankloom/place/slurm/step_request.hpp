// SPDX-License-Identifier: Apache-2.0
// place/slurm: the value of `srun --rankloom=`.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "rankloom/core/result.hpp"
#include "rankloom/place/launchers.hpp"

namespace rankloom {

/// "app.map", "strict:app.map", "map:app.prof,budget=2s,topology=torus:4x4 core:8", "learn", "off".
struct StepRequest {
  bool off = false;         ///< No placement; overrides the request of the job.
  bool learn = false;       ///< The profile of the first run of the job; that run is recorded.
  bool strict = false;      ///< If the placement fails, the step does not run.
  bool set_by_job = false;  ///< The request of the job, which applies to steps with the same number of ranks.
  bool map = false;         ///< The file is a profile of any format that is mapped onto the allocation.
  std::string file;         ///< A mapping, or a profile. A profile in rankloom's own format needs no `map`.
  std::string mpi;          ///< For `learn`: "openmpi", …; empty: detected from the program.
  std::string topology;     ///< The machine of the mapping, or the machine that contains the nodes of the job.
  std::string mapper = "auto";
  std::chrono::milliseconds budget{1000};  ///< Time limit of the mapper; srun waits for it.
  EmitOptions::Bind bind = EmitOptions::Bind::core;
};

Result<StepRequest> parse_step_request(std::string_view text);

/// It begins with "strict:": known even where the rest is malformed.
bool is_strict(std::string_view text);

}  // namespace rankloom
