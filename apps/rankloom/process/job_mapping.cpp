// SPDX-License-Identifier: Apache-2.0
// apps/process: maps the ranks of a user's command.
#include "apps/rankloom/process/job_mapping.hpp"

#include <fmt/format.h>

#include "apps/rankloom/arguments/deployment_arguments.hpp"
#include "apps/rankloom/arguments/mapper_arguments.hpp"
#include "apps/rankloom/process/placed_run.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/model/files/mapping_file.hpp"

namespace rankloom::app {

Result<ProfileSummary> JobMapping::summarise() {
  ProfileArguments arguments;
  arguments.profile = profile_;
  auto imported = arguments.load();
  if (!imported) return propagate(imported);
  imported->profile.phases.clear();
  auto summary = rankloom::summarise(imported->profile, arguments.collectives, 0);
  if (!summary) return summary;
  ranks_ = summary->ranks;
  location_ = summary->location;
  return summary;
}

Result<void> JobMapping::fit() {
  auto topology = load_topology(machine_);
  if (!topology) return propagate(topology);
  cores_ = topology->core_count();
  nodes_ = topology->node_count();
  // Launchers begin with the first node again if there are more ranks.
  if (ranks_ > std::uint64_t{shape_.ranks_per_node} * nodes_) shape_.ranks_per_node = 0;
  slot_ = slot_shape(shape_, *topology, ranks_);
  const bool threads = location_ && location_->min_threads > 1;
  if (shape_.width == 0 && threads && bind_ == EmitOptions::Bind::core) make_room_for_threads(*topology);
  auto capacities = Capacities::of(*topology, ranks_, {.oversubscribe = true, .shape = slot_});
  if (!capacities) return propagate(capacities);
  slots_ = capacities->slot_count(*topology);
  return {};
}

/// The command does not say how many cores a rank needs, but all ranks were recorded with several threads, which must
/// not share a core because of the mapping. If the launcher gave them one core, there is nothing to lose.
void JobMapping::make_room_for_threads(const Topology& topology) {
  const std::uint32_t threads = location_->min_threads;
  SlotShape wide = slot_;
  wide.cores = threads;
  if (Capacities::of(topology, ranks_, {.shape = wide})) {
    slot_ = wide;
    threads_remark_ = fmt::format("{} per rank: every rank gets {} cores", threads, threads);
  } else if (location_->max_cpus > 1) {
    bind_ = EmitOptions::Bind::none;
    threads_remark_ =
        fmt::format("{} per rank, more than there are cores: ranks are not bound on their hosts", threads);
  }
}

ProblemArguments JobMapping::problem(bool oversubscribe) const {
  ProblemArguments problem;
  problem.profile.profile = profile_;
  problem.topology.topology = machine_;
  problem.oversubscribe = oversubscribe;
  problem.launcher = launcher_;
  const auto given = [](std::uint32_t number) { return number > 0 ? std::optional(number) : std::nullopt; };
  problem.ranks_per_node = given(shape_.ranks_per_node);
  problem.spread = Spread::as_recorded;
  problem.slot = {slot_.cores, given(slot_.threads_per_core), given(slot_.gpus)};
  return problem;
}

Result<MapResult> JobMapping::map(const std::string& mapper, const std::string& output) const {
  MapperArguments arguments;
  arguments.spec = mapper;
  auto configured = arguments.make();
  if (!configured) return propagate(configured);
  auto instance = problem(oversubscribes()).load(Progress::none());
  if (!instance) return propagate(instance);
  const RunArguments run;
  const MapProblem map_problem{instance->graph, instance->topology, instance->capacities, run.model, {}};
  auto mapped = run_mapper(*configured, map_problem, run.run(run.seed, Progress::none()),
                           {.default_placement = instance->default_placement, .compute_lower_bound = true});
  if (!mapped) return mapped;
  auto written = write_file(output, [&](Sink& sink) -> Result<void> {
    write_plain_mapping(mapped->mapping.cores(), sink, slot_);
    return {};
  });
  if (!written) return propagate(written);
  return mapped;
}

Result<Deployment> deployment_of(const std::string& mapping, const std::string& machine, RankSettings settings) {
  DeploymentArguments arguments;
  arguments.mapping = mapping;
  arguments.topology.topology = machine;
  auto deployment = arguments.load();  // the mapping says what a rank occupies
  if (!deployment) return deployment;
  if (auto named = require_host_names(*deployment, arguments.names_hosts(*deployment)); !named) return propagate(named);
  deployment->settings = settings;
  return deployment;
}

}  // namespace rankloom::app
