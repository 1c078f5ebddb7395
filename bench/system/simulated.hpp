// SPDX-License-Identifier: Apache-2.0
// bench/system: the applications of the repository, and the simulated times of their placements.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/system/temporary_directory.hpp"
#include "rankloom/evaluate/simulate/simulate.hpp"
#include "rankloom/evaluate/simulate/traces.hpp"

namespace rankloom::bench {

/// A recorded application, or a pattern: "bt.A.64", "gen:stencil2d:size=8x8".
inline Profile load_application(const std::string& name) {
  if (name.starts_with("gen:")) return *generate(std::string_view(name).substr(4));
  return import_profile(*read_file(fmt::format("{}/matrices/{}.txt", RANKLOOM_TEST_DATA, name)))->profile;
}

struct SimulatedPlacements {
  std::vector<double> seconds;  ///< By placement: of the communication alone, of the complete run.
  double share = 1;             ///< The part of the run that was simulated.
};

inline Result<SimulatedPlacements> simulate_placements(const Profile& profile, const Topology& topology,
                                                       const std::vector<std::vector<Core>>& placements,
                                                       const std::string& simulator, std::uint32_t iterations) {
  auto folder = TemporaryDirectory::make();
  if (!folder) return propagate(folder);
  auto trace = synthesise_trace(profile, {.iterations = iterations, .compute = false}, folder->path());
  if (!trace) return propagate(trace);
  std::vector<SimulationRequest> requests;
  for (const auto& placement : placements) {
    requests.push_back({.topology = topology});
    requests.back().eager = SyntheticTrace::eager;
    requests.back().jobs.push_back({.name = "bench", .traces = trace->files, .core_of = placement, .start = 0});
  }
  auto results = simulate(requests, {.simulator = simulator}, Progress::none());
  if (!results) return propagate(results);
  SimulatedPlacements simulated{.seconds = {}, .share = iterations / trace->rounds};
  for (const SimulationResult& result : *results) simulated.seconds.push_back(result.seconds / simulated.share);
  return simulated;
}

}  // namespace rankloom::bench
