// SPDX-License-Identifier: Apache-2.0
// place: a mapping file, or a profile that is mapped now, as seats on the nodes of a job.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/scanner.hpp"
#include "rankloom/core/units.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/host_names.hpp"
#include "rankloom/map/run.hpp"
#include "rankloom/model/mapping_file.hpp"
#include "rankloom/model/profile_file.hpp"
#include "rankloom/place/deployment.hpp"
#include "rankloom/place/slurm/job_machine.hpp"
#include "rankloom/place/slurm/step.hpp"

namespace rankloom {

namespace {

bool numbers_its_cores(const ObjectSpec& object) {
  return object.os_index || std::any_of(object.children.begin(), object.children.end(), numbers_its_cores);
}

std::vector<StepSeat> seats_of(const Deployment& deployment) {
  const bool numbered = numbers_its_cores(deployment.topology.spec().root);
  std::vector<StepSeat> seats;
  for (const Rank rank : deployment.ranks()) {
    const Seat& seat = deployment.seats[rank];
    seats.push_back({.host = deployment.host(rank),
                     .by = numbered ? StepSeat::By::number : StepSeat::By::position,
                     .cpu = numbered ? seat.cpu : seat.core_in_node});
  }
  return seats;
}

/// Lines of "rank host cpu", as `rankloom emit --to slurm` writes them into bind.txt: they name everything themselves.
bool is_seat_list(std::string_view text) {
  while (text.starts_with('#')) text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.starts_with("0 ") && std::count(line.begin(), line.end(), ' ') == 2;
}

Result<std::vector<StepSeat>> read_seat_list(const FileContents& file) {
  std::vector<StepSeat> seats;
  Scanner in(file.view());
  for (in.skip_space(); !in.done(); in.skip_space()) {
    const std::uint64_t line = in.line();
    std::string_view text = in.take_line();
    if (text.starts_with('#')) continue;
    const std::size_t first = std::min(text.find(' '), text.size()), last = text.rfind(' ');
    const auto rank = parse_number(text.substr(0, first));
    const auto cpu = parse_number(last < text.size() ? text.substr(last + 1) : "");
    const std::string host(last > first && last < text.size() ? text.substr(first + 1, last - first - 1) : "");
    const bool good = rank && *rank == static_cast<double>(seats.size()) && cpu && *cpu >= 0 && *cpu < 1e6 &&
                      is_plain_host_name(host);
    if (!good) {
      return fail(Code::bad_input, at(file.name(), line),
                  fmt::format("here the host and the processing unit of rank {} are expected", seats.size()),
                  "give bind.txt as `rankloom emit --to slurm -o FOLDER` writes it");
    }
    seats.push_back({.host = host, .by = StepSeat::By::number, .cpu = static_cast<std::uint32_t>(*cpu)});
  }
  return seats;
}

std::vector<std::string> names_of(const SlurmStep& step) {
  std::vector<std::string> names;
  for (const JobNode& node : step.nodes) names.push_back(node.name);
  return names;
}

/// The machine by which the cores of a mapping are counted.
Result<Topology> machine_of_mapping(const StepRequest& request, const SlurmStep& step) {
  if (!request.topology.empty()) return load_topology(request.topology);
  if (step.nodes.empty()) {
    return fail(Code::usage, at("--rankloom"), "there is no job yet whose cores the mapping could count",
                fmt::format("use srun inside salloc or sbatch, or name the machine: --rankloom={},topology=FILE",
                            request.file));
  }
  SlurmStep whole = step;
  for (JobNode& node : whole.nodes) node.tasks = node.cpus;
  auto machine = machine_of_job(whole, std::nullopt);
  if (!machine) return propagate(machine);
  return Topology::build(std::move(*machine));
}

Result<std::vector<StepSeat>> seats_of_mapping(const FileContents& file, const StepRequest& request,
                                               const SlurmStep& step) {
  if (is_seat_list(file.view())) return read_seat_list(file);
  auto core_of = read_mapping(file);
  if (!core_of) return propagate(core_of);
  auto topology = machine_of_mapping(request, step);
  if (!topology) return propagate(topology);
  std::vector<std::string> hosts;
  if (!names_its_hosts(*topology)) {
    if (topology->node_count() != step.nodes.size()) {
      return fail(Code::bad_input, at(request.topology),
                  fmt::format("the machine only numbers its {} nodes, and the job has {}", topology->node_count(),
                              step.nodes.size()),
                  "make the mapping for as many nodes, or on a machine that names them");
    }
    hosts = names_of(step);
  }
  const auto ranks = static_cast<std::uint32_t>(core_of->size());
  auto checked = Mapping::checked(*core_of, *topology, Capacities::unbounded(*topology, ranks), file.name());
  if (!checked) return propagate(checked);
  auto deployment = deploy(checked->cores(), *topology, hosts);
  if (!deployment) return propagate(deployment);
  return seats_of(*deployment);
}

/// A step of a few ranks, say to copy files, in a job whose program has a mapping.
bool is_for_others(const StepRequest& request, const SlurmStep& step, std::size_t ranks) {
  return request.of_job && step.counts_itself && step.ranks && *step.ranks != ranks;
}

Result<StepPlacement> map_now(const StepRequest& request, const SlurmStep& step, const SlurmNetwork& network) {
  if (step.nodes.empty()) {
    return fail(Code::usage, at("--rankloom"), "there is no job yet onto whose nodes the profile could be mapped",
                "use srun inside salloc or sbatch");
  }
  auto mapper = make_mapper(request.mapper);
  if (!mapper) return propagate(mapper);
  auto imported = import_path(request.file);
  if (!imported) return propagate(imported);
  const std::uint32_t ranks = imported->profile.rank_count();
  if (is_for_others(request, step, ranks)) return StepPlacement{};
  if (step.ranks && *step.ranks != ranks) {
    return fail(Code::bad_input, at(request.file),
                fmt::format("the profile has {} ranks, and srun starts {}", ranks, *step.ranks),
                fmt::format("write srun -n {}, or record the program with {} ranks", ranks, *step.ranks));
  }
  const SlurmNetwork own{.topology = request.topology};
  auto described = (request.topology.empty() ? network : own).load();
  if (!described) return propagate(described);
  auto machine = machine_of_job(step, *described);
  if (!machine) return propagate(machine);
  auto topology = Topology::build(std::move(*machine));
  if (!topology) return propagate(topology);
  auto slots = Capacities::of(*topology, ranks, {.oversubscribe = step.overcommit});
  if (!slots) return propagate(slots);
  constexpr auto collectives = CollectiveModel::tree;
  if (auto fits = check_traffic_fits(imported->profile, collectives); !fits) return propagate(fits);
  const CommGraph graph = traffic(std::move(imported->profile), collectives);
  const MapProblem problem{graph, *topology, *slots, CostModel::bytes, {}, 0};
  auto result = run_mapper(*mapper, problem, {.seed = 0, .deadline = Deadline::in(request.budget)});
  if (!result) return propagate(result);
  auto deployment = deploy(result->mapping.cores(), *topology);
  if (!deployment) return propagate(deployment);
  StepPlacement placement{seats_of(*deployment), result->cost, result->cost_default};
  // Fewer ranks than processing units: which of these are best, Slurm may know; the first ones would crowd one socket.
  std::set<std::string> spacious;
  for (const JobNode& node : step.nodes) {
    if (node.tasks < node.cpus) spacious.insert(node.name);
  }
  for (StepSeat& seat : placement.seats) {
    if (spacious.contains(seat.host)) seat.by = StepSeat::By::nobody;
  }
  return placement;
}

/// Every rank on a node of the job, called as Slurm calls it, and not more than the node may hold.
Result<void> fit_into_job(const std::string& source, const SlurmStep& step, std::vector<StepSeat>& seats) {
  if (step.ranks && *step.ranks != seats.size()) {
    return fail(Code::bad_input, at(source),
                fmt::format("the mapping places {} ranks, and srun starts {}", seats.size(), *step.ranks),
                fmt::format("write srun -n {}, or make a mapping for {} ranks", seats.size(), *step.ranks));
  }
  std::map<std::string, const JobNode*> nodes;
  for (const JobNode& node : step.nodes) nodes.emplace(short_name(node.name), &node);
  std::map<std::string, std::uint32_t> ranks_on;
  for (std::size_t rank = 0; rank < seats.size(); ++rank) {
    StepSeat& seat = seats[rank];
    const auto node = nodes.find(std::string(short_name(seat.host)));
    if (!nodes.empty() && node == nodes.end()) {
      return fail(Code::bad_input, at(source),
                  fmt::format("rank {} sits on {}, which is no node of the job", rank, seat.host),
                  "make the mapping inside the job, or ask for its nodes: salloc -w");
    }
    const std::uint32_t here = ++ranks_on[seat.host];
    if (nodes.empty()) continue;
    seat.host = node->second->name;
    const std::uint32_t room = std::max(1U, node->second->cpus / step.cpus_per_task);
    if (here > room && !step.overcommit) {
      return fail(Code::infeasible, at(source),
                  fmt::format("more than {} ranks sit on {}, where the job has {} processing units", room, seat.host,
                              node->second->cpus),
                  "make the mapping for the nodes of the job, or allow it with srun --overcommit");
    }
  }
  if (step.node_count && *step.node_count != ranks_on.size()) {
    return fail(Code::usage, at("-N"),
                fmt::format("srun shall use {} nodes, and the mapping uses {}", *step.node_count, ranks_on.size()),
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
      auto seats = seats_of_mapping(*file, request, step);
      if (!seats) return propagate(seats);
      placement.seats = std::move(*seats);
    }
  }
  if (map) {
    auto made = map_now(request, step, network);
    if (!made) return propagate(made);
    placement = std::move(*made);
  }
  if (placement.seats.empty() || is_for_others(request, step, placement.seats.size())) return StepPlacement{};
  if (auto fits = fit_into_job(request.file, step, placement.seats); !fits) return propagate(fits);
  if (!step.binds || request.bind == EmitOptions::Bind::none) {
    for (StepSeat& seat : placement.seats) seat.by = StepSeat::By::nobody;
  }
  return placement;
}

}  // namespace rankloom
