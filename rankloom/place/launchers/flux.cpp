// SPDX-License-Identifier: Apache-2.0
// place/launchers: Flux. --taskmap orders tasks by a file that names one host per task, and rankloom-bind binds the
// tasks.
#include <algorithm>

#include <fmt/format.h>

#include "rankloom/place/launchers/launcher_files.hpp"
#include "rankloom/place/launchers/table.hpp"

namespace rankloom {

namespace {

/// The file orders tasks but does not choose hosts, so --requires names them. Their nodes are exclusive, because the
/// mapping chooses the cores.
Result<EmittedLaunch> write_flux(const Deployment& deployment, const EmitOptions& options) {
  std::string hosts;
  std::uint32_t nodes = 0;
  const auto ranks_of = deployment.ranks_of_nodes();
  for (const Node node : deployment.topology.nodes()) {
    if (ranks_of[node].empty()) continue;
    ++nodes;
    hosts += (hosts.empty() ? "" : ",") + deployment.hosts[node];
  }
  EmittedCommand command{{},
                         {"flux", "run"},
                         {"-N", fmt::format("{}", nodes), "-n", number_of_ranks(deployment), "--exclusive",
                          fmt::format("--requires=host:{}", hosts),
                          fmt::format("--taskmap=hostfile:{}", options.path("hosts")), "-o", "cpu-affinity=off"},
                         {}};
  // If ranks differ, no number holds for all; their nodes are exclusive anyway.
  if (const SlotShapes& shapes = deployment.shapes; !shapes.differ() && shapes.common().cores > 1)
    command.options.push_back(fmt::format("-c{}", shapes.common().cores));
  return files_with_wrapper({host_of_each_rank(deployment)}, std::move(command), deployment, options);
}

}  // namespace

constinit const Launcher launcher_rows::flux{
    .name = "flux",
    .title = "Flux",
    .summary = "Flux: one host per task, and a wrapper that binds",
    .reference = "flux-run(1), --taskmap=hostfile, from 0.61 on",
    .checked = "run by hand with 0.88",
    .write = write_flux,
    .read = read_hosts,
};

}  // namespace rankloom
