// SPDX-License-Identifier: Apache-2.0
// place: the network between Slurm's nodes, as the administrator described it.
#include "rankloom/place/slurm/network.hpp"

#include <utility>

#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/host_names.hpp"
#include "rankloom/place/slurm/job_machine.hpp"

namespace rankloom {

Result<std::optional<MachineSpec>> SlurmNetwork::load() const {
  if (topology.empty()) return std::nullopt;
  auto machine = load_machine(topology);
  if (!machine) return pass_on(machine);
  if (nodes.empty()) return std::move(*machine);
  auto names = expand_hosts(nodes);
  if (!names) {
    names.error().where = at("nodes");
    return pass_on(names);
  }
  if (auto named = name_nodes(*machine, *names); !named) return pass_on(named);
  return std::move(*machine);
}

}  // namespace rankloom
