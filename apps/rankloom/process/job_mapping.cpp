// SPDX-License-Identifier: Apache-2.0
// apps/process: maps the ranks of a user's command.
#include "apps/rankloom/process/job_mapping.hpp"

#include <algorithm>

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
  std::size_t rank = 0;
  const auto& of_ranks = imported->profile.locations.of_ranks;
  for (const auto& [count, shape] : shape_.programs) {
    std::uint32_t fewest = 0;
    for (const std::size_t end = std::min<std::size_t>(rank + count, of_ranks.size()); rank < end; ++rank)
      fewest = fewest == 0 ? of_ranks[rank].threads : std::min(fewest, of_ranks[rank].threads);
    threads_of_programs_.push_back(fewest);
  }
  return summary;
}

/// Whether the command says how many cores a rank has.
bool JobMapping::says_width() const {
  return shape_.width > 0 || std::any_of(shape_.programs.begin(), shape_.programs.end(),
                                         [](const auto& program) { return program.second.width > 0; });
}

Result<void> JobMapping::fit() {
  auto topology = load_topology(machine_);
  if (!topology) return propagate(topology);
  cores_ = topology->core_count();
  nodes_ = topology->node_count();
  threads_of_core_ = threads_of_core(*topology);
  // Launchers begin with the first node again if there are more ranks.
  if (ranks_ > std::uint64_t{shape_.ranks_per_node} * nodes_) shape_.ranks_per_node = 0;
  slots_of_ranks_ = slot_shapes(shape_, *topology, ranks_).of_first(ranks_);
  const bool threads = location_ && location_->max_threads > 1;
  if (!says_width() && threads && bind_ == EmitOptions::Bind::core) make_room_for_threads(*topology);
  auto capacities = Capacities::of(*topology, ranks_, {.oversubscribe = true, .shapes = slots_of_ranks_});
  if (!capacities && slots_of_ranks_.differ()) {
    // Ranks of several widths cannot share cores: only their hosts are chosen.
    slots_of_ranks_ = {};
    bind_ = EmitOptions::Bind::none;
    threads_remark_ = "there are too few cores for all ranks: ranks are not bound on their hosts";
    capacities = Capacities::of(*topology, ranks_, {.oversubscribe = true});
  }
  if (!capacities) return propagate(capacities);
  slots_ = capacities->slot_count(*topology);
  return {};
}

/// The command does not say how many cores a rank needs, but ranks were recorded with several threads, which must not
/// share a core because of the mapping. If the launcher gave them one core, there is nothing to lose.
void JobMapping::make_room_for_threads(const Topology& topology) {
  const auto fewest_and_most = std::minmax_element(threads_of_programs_.begin(), threads_of_programs_.end());
  const bool programs_differ =
      !threads_of_programs_.empty() && *fewest_and_most.first<*fewest_and_most.second&& * fewest_and_most.first> 0;
  const std::uint32_t threads = location_->min_threads;
  if (!programs_differ && threads < 2) return;
  SlotShapes wide;
  std::string of_rank = fmt::format("{} per rank", threads);
  if (programs_differ) {
    for (std::size_t i = 0; i < threads_of_programs_.size(); ++i) {
      SlotShape slot = slots_of_ranks_.common();
      slot.cores = threads_of_programs_[i];
      wide.append(shape_.programs[i].first, slot);
    }
    of_rank = fmt::format("{} to {} per rank", *fewest_and_most.first, *fewest_and_most.second);
  } else {
    SlotShape slot = slots_of_ranks_.common();
    slot.cores = threads;
    wide = slot;
  }
  if (Capacities::of(topology, ranks_, {.shapes = wide})) {
    slots_of_ranks_ = wide.of_first(ranks_);
    threads_remark_ = programs_differ ? of_rank + ": every rank gets as many cores"
                                      : fmt::format("{}: every rank gets {} cores", of_rank, threads);
  } else if (location_->max_cpus > 1) {
    bind_ = EmitOptions::Bind::none;
    threads_remark_ = of_rank + ", more than there are cores: ranks are not bound on their hosts";
  }
}

Result<JobMapping> JobMapping::with_other_threads_per_core(std::uint32_t openmp_threads) const {
  const auto none = [](std::string why) {
    return fail(Code::infeasible, at("--try-smt"), std::move(why), "leave this option out");
  };
  if (threads_of_core_ < 2) return none("the cores of the machine have one hardware thread each");
  if (bind_ == EmitOptions::Bind::none) return none("the ranks are not bound to cores");
  const bool limited = slots_of_ranks_.any(
      [&](const SlotShape& shape) { return shape.threads_per_core > 0 && shape.threads_per_core < threads_of_core_; });
  const bool too_many = slots_of_ranks_.any([&](const SlotShape& shape) { return openmp_threads > shape.cores; });
  if (!limited && too_many) {
    return none(
        fmt::format("OMP_NUM_THREADS={} is set, which is more threads than a rank has cores; without this "
                    "variable, every number of hardware threads has its own number of threads",
                    openmp_threads));
  }
  JobMapping other = *this;
  other.slots_of_ranks_ = with_threads_per_core(slots_of_ranks_, limited ? threads_of_core_ : 1).of_first(ranks_);
  auto topology = load_topology(machine_);
  if (!topology) return propagate(topology);
  auto capacities = Capacities::of(*topology, ranks_, {.shapes = other.slots_of_ranks_});
  if (!capacities) return none("there are too few cores for all ranks");
  other.slots_ = capacities->slot_count(*topology);
  const bool fills_cores = !slots_of_ranks_.any([&](const SlotShape& shape) { return threads() < shape.cores; });
  if (fills_cores) other.location_.reset();  // the threads are those of the other slots
  return other;
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
  problem.slot = SlotArguments::of(slots_of_ranks_);
  return problem;
}

ProblemArguments JobMapping::problem_on_any_nodes(bool oversubscribe) const {
  ProblemArguments result = problem(oversubscribe);
  if (!result.ranks_per_node) result.spread = Spread::pack;
  return result;
}

Result<MapResult> JobMapping::map(const std::string& mapper, const std::string& output) const {
  MapperArguments arguments;
  arguments.spec = mapper;
  auto configured = arguments.make();
  if (!configured) return propagate(configured);
  const ProblemArguments arguments_of_problem = problem(oversubscribes());
  auto instance = arguments_of_problem.load(Progress::none());
  if (!instance) return propagate(instance);
  RunArguments run;
  run.choose_model(arguments_of_problem, *instance);
  const MapProblem map_problem{instance->graph, instance->topology, instance->capacities, run.model, {}};
  auto mapped = run_mapper(*configured, map_problem, run.run(run.seed, Progress::none()),
                           {.default_placement = instance->default_placement, .compute_lower_bound = true});
  if (!mapped) return mapped;
  if (auto written = write(mapped->mapping, output); !written) return propagate(written);
  return mapped;
}

Result<std::vector<CandidateMapping>> JobMapping::candidates(const std::string& mapper, const MapResult& mapped) const {
  MapperArguments arguments;
  arguments.spec = mapper;
  auto configured = arguments.make();
  if (!configured) return propagate(configured);
  auto instance = problem_on_any_nodes(oversubscribes()).load(Progress::none());
  if (!instance) return propagate(instance);
  const RunArguments run;
  const MapProblem map_problem{instance->graph, instance->topology, instance->capacities, mapped.model, {}};
  return candidate_mappings(*configured, map_problem, run.run(run.seed, Progress::none()), instance->default_placement,
                            mapped);
}

Result<void> JobMapping::write(const Mapping& mapping, const std::string& output) const {
  return write_file(output, [&](Sink& sink) -> Result<void> {
    write_plain_mapping(mapping.cores(), sink, slots_of_ranks_);
    return {};
  });
}

SlotShapes with_threads_per_core(const SlotShapes& slots, std::uint32_t threads) {
  const auto changed = [threads](SlotShape shape) {
    shape.threads_per_core = threads;
    return shape;
  };
  if (!slots.differ()) return changed(slots.common());
  SlotShapes result;
  const auto parts = slots.parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::uint32_t end = i + 1 < parts.size() ? parts[i + 1].begin : slots.named_ranks();
    if (end > parts[i].begin) result.append(end - parts[i].begin, changed(parts[i].shape));
  }
  return result;
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
