// SPDX-License-Identifier: Apache-2.0
// place/slurm: the network between Slurm's nodes, as the administrator described it.
#include "rankloom/place/slurm/slurm_network.hpp"

#include <utility>

#include "rankloom/allocate/scheduler/scheduler_settings.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/place/slurm/job_machine.hpp"

namespace rankloom {

namespace {

Result<std::optional<MachineSpec>> load_configured(const std::string& path) {
  auto file = read_file(path);
  if (!file) return propagate(file);
  auto settings = read_scheduler_settings(*file);
  if (!settings) return propagate(settings);
  auto machine = load_machine(topology_source(*settings, path));
  if (!machine) return propagate(machine);
  if (settings->nodes.empty()) return std::move(*machine);
  if (auto named = name_nodes(*machine, settings->nodes); !named) return propagate(named);
  return std::move(*machine);
}

}  // namespace

Result<std::optional<MachineSpec>> SlurmNetwork::load() const {
  if (!config.empty()) return load_configured(config);
  if (topology.empty()) return std::nullopt;
  auto machine = load_machine(topology);
  if (!machine) return propagate(machine);
  if (nodes.empty()) return std::move(*machine);
  auto names = expand_hostlist(nodes);
  if (!names) {
    names.error().where = at("nodes");
    return propagate(names);
  }
  if (auto named = name_nodes(*machine, *names); !named) return propagate(named);
  return std::move(*machine);
}

}  // namespace rankloom
