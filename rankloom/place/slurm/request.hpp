// SPDX-License-Identifier: Apache-2.0
// place: what a user wrote behind `srun --rankloom=`.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "rankloom/core/result.hpp"
#include "rankloom/place/launchers.hpp"

namespace rankloom {

/// "app.map", "strict:app.map", "map:app.prof,budget=2s,topology=torus:4x4 core:8", "off".
struct StepRequest {
  bool off = false;      ///< As if nothing had been asked, to overrule what the job asked for.
  bool strict = false;   ///< Rather do not run than run elsewhere.
  bool of_job = false;   ///< Asked for by the job, for those of its steps that it suits.
  bool map = false;      ///< The file is a profile of any format, to be mapped onto the allocation now.
  std::string file;      ///< A mapping; or a profile, when it is one of our own, also without `map`.
  std::string topology;  ///< The machine that the mapping was made for, or whose nodes the job has.
  std::string mapper = "auto";
  std::chrono::milliseconds budget{1000};  ///< For the mapper; srun waits for it.
  EmitOptions::Bind bind = EmitOptions::Bind::core;
};

Result<StepRequest> parse_step_request(std::string_view text);

/// It begins with "strict:": known even where the rest is wrong.
bool is_strict(std::string_view text);

}  // namespace rankloom
