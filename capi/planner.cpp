// SPDX-License-Identifier: Apache-2.0
// capi: nodes and a mapping for a job, chosen with its traffic in mind, within a time limit.
#include <chrono>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "capi/bridge.hpp"
#include "rankloom/core/text/suggest.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/model/prediction/predict.hpp"
#include "rankloom/place/joint/job_fit.hpp"

namespace rankloom::bridge {

namespace {

constexpr const char* mapper_name = "auto:effort=fast";

/// More pairs of ranks are not even predicted: one prediction takes about 0.2 ms for this many.
constexpr double max_edges_per_ms = 1000;

/// The part of the time for the choice of the nodes; the rest is for the mapping.
constexpr double share_of_choice = 0.4;

/// What the mapper takes at least, and by how much it can exceed its deadline, in units of a prediction (measured with
/// 200 to 4,096 ranks). The machine and its load determine how long a prediction takes, so it is measured in each call.
constexpr double predictions_of_mapper = 20;
/// On networks without boxes, the mapper sees the whole machine.
constexpr double setup_ms_per_core = 0.003;
/// Of the best order and the result.
constexpr double predictions_of_order = 7;

Result<Prefer> preference(std::string_view name) {
  if (name.empty()) return Prefer::balanced;
  if (const auto found = find_preference(name)) return *found;
  std::vector<std::string_view> known;
  for (const Prefer prefer : all_preferences) known.push_back(name_of(prefer));
  return fail(Code::usage, at("prefer"), fmt::format("'{}' is not a known preference", name), suggest(name, known));
}

Result<double> communication_share(double share) {
  if (share == 0) return default_communication;
  if (share > 0 && share <= 1) return share;
  return fail(Code::usage, at("communication"), fmt::format("{} is not a share of the run time", share),
              "use a number above 0 and up to 1, or 0 for the default");
}

Result<void> check_limit(double limit_ms) {
  if (limit_ms >= 0 && limit_ms <= 1e9) return {};
  return fail(Code::usage, at("limit_ms"), fmt::format("{} is not a time limit", limit_ms),
              "use a number of milliseconds, or 0 for no limit");
}

Result<std::uint32_t> node_count(const AllocationMachine& machine, const CommGraph& graph, std::uint64_t nodes) {
  const std::uint64_t ranks = graph.rank_count();
  if (ranks == 0) return fail(Code::bad_input, at("graph"), "the graph has no ranks", "use a graph with ranks");
  if (nodes == 0) nodes = (ranks + machine.cores_per_node() - 1) / machine.cores_per_node();
  const auto usable = machine.node_count() - machine.holes().count();
  if (nodes > usable) {
    return fail(Code::infeasible, at("nodes"),
                fmt::format("{} nodes are requested, but the machine has {}", nodes, usable), "request fewer nodes");
  }
  if (ranks > nodes * machine.cores_per_node()) {
    return fail(Code::infeasible, at("nodes"),
                fmt::format("{} nodes of {} cores have no room for {} ranks", nodes, machine.cores_per_node(), ranks),
                "request more nodes, or 0 for as many as the ranks need");
  }
  return static_cast<std::uint32_t>(nodes);
}

}  // namespace

struct Planner::Worker {
  TrafficMapper mapper;
};

Planner::Planner(const AllocationMachine& machine) : machine_(machine) {}
Planner::~Planner() = default;

Result<std::unique_ptr<Planner::Worker>> Planner::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto worker = std::move(idle_.back());
      idle_.pop_back();
      return worker;
    }
  }
  auto mapper = TrafficMapper::create(machine_.topology(), mapper_name);
  if (!mapper) return propagate(mapper);
  return std::make_unique<Worker>(Worker{*std::move(mapper)});
}

void Planner::give_back(std::unique_ptr<Worker> worker) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(worker));
}

Result<std::optional<Proposal>> Planner::propose(const Allocator& allocator, const Occupancy& occupancy,
                                                 const CommGraph& graph, const ProposalRequest& request) {
  auto prefer = preference(request.prefer);
  if (!prefer) return propagate(prefer);
  auto communication = communication_share(request.communication);
  if (!communication) return propagate(communication);
  if (auto valid = check_limit(request.limit_ms); !valid) return propagate(valid);
  auto nodes = node_count(machine_, graph, request.nodes);
  if (!nodes) return propagate(nodes);
  const bool limited = request.limit_ms > 0;
  const Deadline deadline =
      limited ? Deadline::in(std::chrono::milliseconds(std::max(1LL, std::llround(request.limit_ms)))) : Deadline();
  auto worker = take();
  if (!worker) return propagate(worker);
  TrafficMapper& mapper = (*worker)->mapper;
  const JobTraffic job{digest(graph), graph};
  // Whether there is time for this many predictions.
  double prediction_ms = 0;
  const auto has_time = [&](double predictions) {
    return !limited || std::chrono::duration<double, std::milli>(deadline.left()).count() > predictions * prediction_ms;
  };
  const bool has_boxes = std::holds_alternative<MeshShape>(machine_.network().shape());
  const double mapper_setup_ms = has_boxes ? 0 : setup_ms_per_core * machine_.topology().core_count();
  double reference = 0;
  bool is_scored = !limited || static_cast<double>(graph.edge_count()) <= max_edges_per_ms * request.limit_ms;
  if (is_scored) {
    const auto before = Deadline::Clock::now();
    reference = default_seconds(mapper, machine_, graph, *nodes).value_or(0);
    prediction_ms = std::chrono::duration<double, std::milli>(Deadline::Clock::now() - before).count();
    is_scored = has_time(predictions_of_order);
  }
  const JobFit fit(mapper, job, *communication, reference);
  AllocationOptions options;
  options.fit.prefer = *prefer;
  if (is_scored) options.fit.run_time = &fit;
  if (limited) options.fit.max_seconds = share_of_choice * request.limit_ms / 1000;
  std::optional<Proposal> proposal;
  if (auto decision = choose_fit(allocator, occupancy, *nodes, options)) {
    proposal.emplace();
    proposal->reason = explain(*decision);
    proposal->allocation = std::move(decision->allocation);
    const std::vector<Node>& chosen = proposal->allocation.nodes;
    std::vector<Core> core_of = mapper.block(graph.rank_count(), chosen);
    if (!is_scored || !has_time(predictions_of_order)) {
      proposal->reason = is_scored
                             ? proposal->reason + "; ranks in the order of the nodes: no time for a mapping"
                             : fmt::format(
                                   "{} pairs of ranks are too many for {:g} ms: chosen as closed-best, ranks in the "
                                   "order of the nodes",
                                   graph.edge_count(), request.limit_ms);
    } else {
      proposal->seconds_default = predict(graph, mapper.platform(), core_of).seconds;
      if (!limited) {
        core_of = mapper.place(job, chosen);
      } else if (has_time(predictions_of_order + predictions_of_mapper + mapper_setup_ms / prediction_ms)) {
        const std::chrono::duration<double, std::milli> reserve(predictions_of_mapper * prediction_ms +
                                                                mapper_setup_ms);
        core_of = mapper.place(
            job, chosen,
            Deadline::in(std::chrono::duration_cast<std::chrono::milliseconds>(deadline.left() - reserve)));
      } else {
        core_of = mapper.place_in_order(job, chosen, deadline);
        proposal->reason += "; ranks in the best of several orders: no time for the mapper";
      }
      proposal->seconds = predict(graph, mapper.platform(), core_of).seconds;
    }
    for (const Core core : core_of) proposal->cores.push_back(index(core));
    for (const Node node : chosen) proposal->nodes.push_back(index(node));
    proposal->planner = shared_from_this();
  }
  give_back(*std::move(worker));
  return proposal;
}

}  // namespace rankloom::bridge
