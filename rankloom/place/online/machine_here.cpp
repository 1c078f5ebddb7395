// SPDX-License-Identifier: Apache-2.0
// place/online: the machine as an agent plans for it.
#include "rankloom/place/online/machine_here.hpp"

#include <fmt/format.h>

#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/hwloc.hpp"
#include "rankloom/model/topology_json.hpp"
#include "rankloom/place/online/host.hpp"

namespace rankloom {

Result<MachineHere> machine_here(const std::string& given, std::span<const std::uint32_t> units) {
  host::move_self_to(units);
  auto spec = given.empty() ? discover_host({.bound = true}) : load_machine(given);
  if (!spec) return propagate(spec);
  std::string json = write_machine_json(*spec);
  auto topology = Topology::build(*std::move(spec));
  if (!topology) return propagate(topology);
  if (topology->node_count() != 1) {
    return fail(Code::bad_input, at("-t"), fmt::format("the machine has {} nodes", topology->node_count()),
                "it stands for one node: name what is inside it");
  }
  std::vector<std::uint32_t> cpus;
  for (const Core core : topology->cores())
    cpus.push_back(given.empty() ? topology->os_index(core) : units[index(core) % units.size()]);
  return MachineHere{*std::move(topology), std::move(json), std::move(cpus)};
}

}  // namespace rankloom
