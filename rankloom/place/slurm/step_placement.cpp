// SPDX-License-Identifier: Apache-2.0
// place/slurm: turns a mapping file, or a profile that is mapped now, into bindings on the nodes of a job.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/core/text/scanner.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/map/run.hpp"
#include "rankloom/model/files/mapping_file.hpp"
#include "rankloom/model/files/profile_file.hpp"
#include "rankloom/model/machine/slots/slots.hpp"
#include "rankloom/place/deployment.hpp"
#include "rankloom/place/job_shape.hpp"
#include "rankloom/place/slurm/job_machine.hpp"
#include "rankloom/place/slurm/slurm_step.hpp"

namespace rankloom {

namespace {

bool has_os_indices(const ObjectSpec& object) {
  return object.os_index || std::any_of(object.children.begin(), object.children.end(), has_os_indices);
}

std::vector<StepBinding> bindings_of(const Deployment& deployment) {
  const bool numbered = has_os_indices(deployment.topology.spec().root);
  // Without numbers it is not known which units are hardware threads of the same core.
  const bool threads = has_hardware_threads(deployment.topology);
  std::vector<StepBinding> bindings;
  for (const Rank rank : deployment.ranks()) {
    const auto gpus = deployment.gpus(rank);
    StepBinding binding{.host = deployment.host(rank),
                        .unit = numbered ? StepBinding::Unit::os_index : StepBinding::Unit::position,
                        .cpus = numbered ? deployment.cpus(rank) : deployment.positions(rank),
                        .gpus = {gpus.begin(), gpus.end()}};
    if (!numbered && threads && binding.cpus.size() > 1) binding.unit = StepBinding::Unit::none;
    bindings.push_back(std::move(binding));
  }
  return bindings;
}

/// Whether the text has lines of "rank host cpus", as `rankloom emit --to slurm` writes them to bind.txt.
bool is_binding_list(std::string_view text) {
  Scanner in(text);
  for (in.skip_space(); in.next_is('#'); in.skip_space()) in.skip_line();
  const std::string_view line = in.take_line();
  return line.starts_with("0 ") && std::count(line.begin(), line.end(), ' ') >= 2;
}

Result<std::vector<StepBinding>> read_binding_list(const FileContents& file) {
  constexpr std::size_t max_total_cpus = 1U << 26;
  std::size_t total_cpus = 0;
  std::vector<StepBinding> bindings;
  Scanner in(file.view());
  for (in.skip_space(); !in.done(); in.skip_space()) {
    const std::uint64_t line = in.line();
    std::string_view text = in.take_line();
    if (text.starts_with('#')) continue;
    Scanner fields(text);
    const auto rank = parse_number(fields.take_token());
    fields.skip_blanks();
    const std::string host(fields.take_token());
    fields.skip_blanks();
    auto cpus = parse_number_ranges(fields.take_token());
    std::vector<std::uint32_t> gpus;
    while (true) {  // "threads 4 gpus 0,1"
      fields.skip_blanks();
      const std::string_view name = fields.take_token();
      if (name.empty()) break;
      fields.skip_blanks();
      const auto value = parse_number_ranges(fields.take_token(), max_gpus_per_node);
      if (name == "gpus" && value) gpus = *value;
    }
    const bool valid = rank && *rank == static_cast<double>(bindings.size()) && cpus && !cpus->empty() &&
                       (total_cpus += cpus->size()) <= max_total_cpus && is_plain_host_name(host);
    if (!valid) {
      return fail(Code::bad_input, at(file.name(), line),
                  fmt::format("expected the host and the processing units of rank {}", bindings.size()),
                  "use bind.txt as written by `rankloom emit --to slurm -o DIRECTORY`");
    }
    bindings.push_back(
        {.host = host, .unit = StepBinding::Unit::os_index, .cpus = std::move(*cpus), .gpus = std::move(gpus)});
  }
  return bindings;
}

std::vector<std::string> node_names(const SlurmStep& step) {
  std::vector<std::string> names;
  for (const JobNode& node : step.nodes) names.push_back(node.name);
  return names;
}

/// The machine that the core numbers of a mapping refer to.
Result<Topology> mapping_machine(const StepRequest& request, const SlurmStep& step) {
  if (!request.topology.empty()) return load_topology(request.topology);
  if (step.nodes.empty()) {
    return fail(Code::usage, at("--rankloom"),
                "srun runs outside of a job, so the core numbers of the mapping are undefined",
                fmt::format("run srun inside salloc or sbatch, or name the machine: --rankloom={},topology=FILE",
                            request.file));
  }
  SlurmStep all_cpus = step;
  for (JobNode& node : all_cpus.nodes) node.tasks = node.cpus;
  auto machine = job_machine(all_cpus, std::nullopt);
  if (!machine) return propagate(machine);
  return Topology::build(std::move(*machine));
}

Result<std::vector<StepBinding>> bindings_of_mapping(const FileContents& file, const StepRequest& request,
                                                     const SlurmStep& step) {
  if (is_binding_list(file.view())) return read_binding_list(file);
  auto mapping = read_mapping(file);
  if (!mapping) return propagate(mapping);
  auto topology = mapping_machine(request, step);
  if (!topology) return propagate(topology);
  std::vector<std::string> hosts;
  if (!names_its_hosts(*topology)) {
    if (topology->node_count() != step.nodes.size()) {
      return fail(Code::bad_input, at(request.topology),
                  fmt::format("the machine has {} nodes without names, but the job has {} nodes",
                              topology->node_count(), step.nodes.size()),
                  "compute the mapping for this number of nodes, or on a machine with node names");
    }
    hosts = node_names(step);
  }
  const auto ranks = static_cast<std::uint32_t>(mapping->core_of.size());
  auto checked = Mapping::create(mapping->core_of, *topology, Capacities::unbounded(*topology, ranks), file.name());
  if (!checked) return propagate(checked);
  auto deployment = deploy(checked->cores(), *topology, hosts, mapping->shapes);
  if (!deployment) return propagate(deployment);
  return bindings_of(*deployment);
}

/// Whether the request of the job does not apply to this step, such as a step of one rank that copies files.
bool is_for_other_step(const StepRequest& request, const SlurmStep& step, std::size_t ranks) {
  return request.set_by_job && step.sets_task_count && step.ranks && *step.ranks != ranks;
}

/// Slurm's default placement: the ranks fill one node after another. Empty if they do not fit, because ranks then share
/// processing units.
std::vector<Core> default_placement(const SlurmStep& step, const Topology& topology, std::uint32_t ranks) {
  std::map<std::string, std::vector<Core>> cores_of;
  for (std::uint32_t core = 0; core < topology.core_count(); ++core) {
    if (topology.capacity(Core{core}) > 0)
      cores_of[topology.node_name(topology.node_of(Core{core}))].push_back(Core{core});
  }
  std::vector<Core> placement;
  for (const std::string& name : step.rank_order.empty() ? node_names(step) : step.rank_order) {
    for (const Core core : cores_of[name]) {
      if (placement.size() < ranks) placement.push_back(core);
    }
  }
  return placement.size() == ranks ? placement : std::vector<Core>{};
}

Result<StepPlacement> map_profile(const StepRequest& request, const SlurmStep& step, const SlurmNetwork& network) {
  if (step.nodes.empty()) {
    return fail(Code::usage, at("--rankloom"),
                "srun runs outside of a job, so there are no nodes to map the profile onto",
                "run srun inside salloc or sbatch");
  }
  auto mapper = make_mapper(request.mapper);
  if (!mapper) return propagate(mapper);
  auto imported = import_path(request.file);
  if (!imported) return propagate(imported);
  const std::uint32_t ranks = imported->profile.rank_count();
  if (is_for_other_step(request, step, ranks)) return StepPlacement{};
  if (step.ranks && *step.ranks != ranks) {
    return fail(Code::bad_input, at(request.file),
                fmt::format("the profile has {} ranks, but srun starts {}", ranks, *step.ranks),
                fmt::format("use srun -n {}, or record the program with {} ranks", ranks, *step.ranks));
  }
  const SlurmNetwork requested{.topology = request.topology};
  auto loaded = (request.topology.empty() ? network : requested).load();
  if (!loaded) return propagate(loaded);
  // Ranks of several processing units or with GPUs get slots of the nodes if their inside is known. Otherwise Slurm
  // binds them.
  const bool wide = (step.cpus_per_task > 1 || step.gpus_per_task > 0) && step.may_bind && *loaded &&
                    fills_described_nodes(step, **loaded);
  SlurmStep whole = step;
  for (JobNode& node : whole.nodes) node.tasks = node.cpus;
  auto machine = job_machine(wide ? whole : step, *loaded);
  if (!machine) return propagate(machine);
  auto topology = Topology::build(std::move(*machine));
  if (!topology) return propagate(topology);
  JobShape shape;
  if (wide) shape.width = step.cpus_per_task;
  if (wide) shape.gpus = step.gpus_per_task;
  shape.unit = JobShape::Unit::hardware_thread;
  const SlotShapes slots = slot_shapes(shape, *topology, ranks);
  auto capacities = Capacities::of(*topology, ranks, {.oversubscribe = step.overcommit, .shapes = slots});
  if (!capacities) return propagate(capacities);
  constexpr auto collectives = CollectiveModel::automatic;
  if (auto fits = check_traffic_fits(imported->profile, collectives); !fits) return propagate(fits);
  const CommGraph graph = traffic(std::move(imported->profile), collectives,
                                  topology->node_count() > 1 ? NodeCount::several : NodeCount::one);
  const MapProblem problem{graph, *topology, *capacities, default_model(graph, *topology), {}, 0};
  // A rank of several processing units is placed on a slot, whose number depends on its shape.
  const std::vector<Core> baseline = wide ? std::vector<Core>{} : default_placement(step, *topology, ranks);
  auto result = run_mapper(*mapper, problem, {.seed = 0, .deadline = Deadline::in(request.budget)},
                           {.default_placement = baseline});
  if (!result) return propagate(result);
  auto deployment = deploy(result->mapping.cores(), *topology, {}, slots);
  if (!deployment) return propagate(deployment);
  StepPlacement placement{bindings_of(*deployment), StepCosts{result->model, result->cost, result->cost_default}};
  if (wide) {
    std::uint64_t cpus = 0;
    for (const JobNode& node : step.nodes) cpus += node.cpus;
    for (StepBinding& binding : placement.bindings) {
      // Without OS indices, it is not known which units the step has if it does not use all of them.
      if (binding.unit == StepBinding::Unit::position && std::uint64_t{ranks} * step.cpus_per_task < cpus)
        binding.unit = StepBinding::Unit::none;
    }
    return placement;
  }
  // On a node with fewer ranks than processing units, Slurm binds: the first units could all belong to one socket.
  std::set<std::string> partly_used;
  for (const JobNode& node : step.nodes) {
    if (node.tasks < node.cpus) partly_used.insert(node.name);
  }
  for (StepBinding& binding : placement.bindings) {
    if (partly_used.contains(binding.host)) binding.unit = StepBinding::Unit::none;
  }
  return placement;
}

/// Decides which ranks are bound by the plugin, and to which GPUs. Slurm binds the others.
void choose_bound_ranks(bool may_bind, const SlurmStep& step, StepPlacement& placement) {
  bool have_gpus = true;
  for (StepBinding& binding : placement.bindings) {
    // A rank keeps all processing units that the user gave it.
    if (!may_bind || binding.cpus.size() < step.cpus_per_task) binding.unit = StepBinding::Unit::none;
    have_gpus = have_gpus && binding.unit != StepBinding::Unit::none && binding.gpus.size() == step.gpus_per_task;
  }
  if (have_gpus && step.gpus_per_task > 0) {
    if (step.binds_gpus) placement.gpus_per_task = step.gpus_per_task;
    return;
  }
  for (StepBinding& binding : placement.bindings) {
    binding.gpus.clear();
    if (step.gpus_per_task > 0) binding.unit = StepBinding::Unit::none;  // Slurm chooses units near the GPUs
  }
}

/// Checks that every rank is on a node of the job and that no node has too many ranks. Replaces host names by Slurm's
/// node names.
Result<void> check_bindings(const std::string& source, const SlurmStep& step, std::vector<StepBinding>& bindings) {
  if (step.ranks && *step.ranks != bindings.size()) {
    return fail(Code::bad_input, at(source),
                fmt::format("the mapping has {} ranks, but srun starts {}", bindings.size(), *step.ranks),
                fmt::format("use srun -n {}, or compute a mapping for {} ranks", bindings.size(), *step.ranks));
  }
  std::map<std::string, const JobNode*> nodes;
  for (const JobNode& node : step.nodes) nodes.emplace(short_host_name(node.name), &node);
  std::map<std::string, std::uint32_t> ranks_on;
  for (std::size_t rank = 0; rank < bindings.size(); ++rank) {
    StepBinding& binding = bindings[rank];
    const auto node = nodes.find(std::string(short_host_name(binding.host)));
    if (!nodes.empty() && node == nodes.end()) {
      return fail(Code::bad_input, at(source),
                  fmt::format("rank {} is placed on {}, which is not a node of the job", rank, binding.host),
                  "compute the mapping inside the job, or request its nodes with salloc -w");
    }
    const std::uint32_t ranks_on_host = ++ranks_on[binding.host];
    if (nodes.empty()) continue;
    binding.host = node->second->name;
    const std::uint32_t capacity = std::max(1U, node->second->cpus / step.cpus_per_task);
    if (ranks_on_host > capacity && !step.overcommit) {
      return fail(Code::infeasible, at(source),
                  fmt::format("more than {} ranks are placed on {}, where the job has {} processing units", capacity,
                              binding.host, node->second->cpus),
                  "compute the mapping for the nodes of the job, or use srun --overcommit");
    }
  }
  if (step.node_count && *step.node_count != ranks_on.size()) {
    return fail(Code::usage, at("-N"),
                fmt::format("srun requests {} nodes, but the mapping uses {}", *step.node_count, ranks_on.size()),
                "leave -N out");
  }
  return {};
}

}  // namespace

Result<StepPlacement> place_step(const StepRequest& request, const SlurmStep& step, const SlurmNetwork& network) {
  StepPlacement placement;
  bool map = request.map;
  if (!map) {
    auto file = read_file(request.file);
    if (!file) return propagate(file);
    map = is_profile_file(file->view());
    if (!map) {
      auto bindings = bindings_of_mapping(*file, request, step);
      if (!bindings) return propagate(bindings);
      placement.bindings = std::move(*bindings);
    }
  }
  if (map) {
    auto mapped = map_profile(request, step, network);
    if (!mapped) return propagate(mapped);
    placement = std::move(*mapped);
  }
  if (placement.bindings.empty() || is_for_other_step(request, step, placement.bindings.size())) return StepPlacement{};
  if (auto fits = check_bindings(request.file, step, placement.bindings); !fits) return propagate(fits);
  choose_bound_ranks(step.may_bind && request.bind == EmitOptions::Bind::core, step, placement);
  return placement;
}

}  // namespace rankloom
