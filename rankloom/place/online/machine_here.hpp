// SPDX-License-Identifier: Apache-2.0
// place/online: the machine as an agent plans for it: the host, or what the user says stands for it, and which
// processing unit each core is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/topology.hpp"

namespace rankloom {

struct MachineHere {
  Topology topology;
  std::string json;                 ///< Its description.
  std::vector<std::uint32_t> cpus;  ///< Of the operating system, by core.
};

/// `given`: a file or string in place of the host; its cores then share `units` in turn. Moves this process to `units`:
/// it was started inside the set of one of those that it shall plan for.
Result<MachineHere> machine_here(const std::string& given, std::span<const std::uint32_t> units);

}  // namespace rankloom
