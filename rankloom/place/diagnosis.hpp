// SPDX-License-Identifier: Apache-2.0
// place: what is wrong with the placement of a program that a launcher has started in its own way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/model/machine/topology.hpp"
#include "rankloom/place/launchers.hpp"
#include "rankloom/place/verify.hpp"

namespace rankloom {

/// Threads that used a tenth of the time of the busiest one, or more; without reports of threads, one. MPI libraries
/// have threads that wait.
std::uint32_t busy_threads(const BindingReport& report);

struct LaunchFinding {
  std::vector<std::uint32_t> ranks;  ///< Which ranks it is about, increasing.
  std::string what;                  ///< "2 busy threads on 1 processing unit"
  std::string remedy;
};

/// The findings for these reports, one per rank. `machine` contains the hosts; without it, a processing unit is taken
/// for a core, and NUMA nodes are unknown.
std::vector<LaunchFinding> diagnose(const std::vector<BindingReport>& reports, const std::optional<Topology>& machine,
                                    const Launcher& launcher);

}  // namespace rankloom
