// SPDX-License-Identifier: Apache-2.0
// place/online: replays recorded windows to evaluate online mapping.
#include "rankloom/place/online/online_replay.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "rankloom/map/run.hpp"
#include "rankloom/place/online/online_log.hpp"

namespace rankloom {

namespace {

struct StaticMapping {
  std::string name, description;
  std::vector<Core> core_of;
};

Result<std::vector<Core>> compute_mapping(const char* spec, const CommGraph& graph, const Topology& topology,
                                          const Capacities& capacities) {
  auto mapper = make_mapper(spec);
  if (!mapper) return propagate(mapper);
  const MapProblem problem{graph, topology, capacities, CostModel::time, {}};
  auto result = run_mapper(*mapper, problem, MapRun{}, {});
  if (!result) return propagate(result);
  return std::vector<Core>(result->mapping.cores().begin(), result->mapping.cores().end());
}

/// Ranks in turn over the objects of the outermost level that has several objects.
std::vector<Core> scatter_placement(std::uint32_t ranks, const Topology& topology) {
  std::size_t level = topology.node_level();
  while (level + 1 < topology.levels().size() && topology.levels()[level].objects < 2) ++level;
  std::vector<Core> order(topology.cores().begin(), topology.cores().end());
  const auto index_in_object = [&](Core core) {
    return index(core) - index(topology.first_core(level, topology.object_of(level, core)));
  };
  std::stable_sort(order.begin(), order.end(), [&](Core a, Core b) { return index_in_object(a) < index_in_object(b); });
  std::vector<Core> core_of(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) core_of[rank] = order[rank % order.size()];
  return core_of;
}

CommGraph total_traffic(const std::vector<TrafficWindow>& windows) {
  CommGraph total = windows.front().traffic;
  for (std::size_t i = 1; i < windows.size(); ++i) total = sum(total, windows[i].traffic);
  return total;
}

}  // namespace

Result<std::vector<TrafficWindow>> windows_from_profile(const Profile& profile, CollectiveModel collectives) {
  if (profile.phases.empty()) {
    return fail(Code::bad_input, at("profile"), "the profile contains no windows of time",
                "record it with `rankloom record --window 100ms`");
  }
  std::vector<TrafficWindow> windows;
  for (const Phase& phase : profile.phases) {
    Profile part;
    part.point_to_point = phase.point_to_point;
    part.expanded_collectives = phase.expanded_collectives;
    part.collectives = phase.collectives;
    part.communicators = profile.communicators;
    windows.push_back({phase.begin, phase.end, traffic(std::move(part), collectives)});
  }
  return windows;
}

Result<OnlineReplayTable> replay_online(const std::vector<TrafficWindow>& windows, const Topology& topology,
                                        const OnlineOptions& options, Progress& progress) {
  if (topology.node_count() != 1) {
    return fail(Code::bad_input, at("-t"), fmt::format("the machine has {} nodes", topology.node_count()),
                "ranks move only inside a node; describe one node, such as 'package:2=3GB/s core:8=10GB/s'");
  }
  const std::uint32_t ranks = windows.front().traffic.rank_count();
  auto capacities = Capacities::of(topology, ranks, {.oversubscribe = true});
  if (!capacities) return propagate(capacities);
  OnlineReplayTable table;
  std::vector<StaticMapping> statics{
      {"block", "the launcher's default placement", block_placement(ranks, topology, *capacities)}};
  OnlinePlanner planner(topology, statics.front().core_of, options);
  std::uint64_t moved = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto decision = planner.add_window(windows[i]);
    if (decision && decision->moves) moved += decision->moved;
    progress.report("windows", static_cast<double>(i + 1) / static_cast<double>(windows.size()));
  }
  table.phases = planner.phases().phases();
  table.kinds = planner.phases().kinds();
  table.decisions = planner.decisions();
  table.windows = windows.size();

  const auto add = [&](std::string name, std::string description, const char* spec,
                       const CommGraph& graph) -> Result<void> {
    auto core_of = compute_mapping(spec, graph, topology, *capacities);
    if (!core_of) return propagate(core_of);
    statics.push_back({std::move(name), std::move(description), *std::move(core_of)});
    return {};
  };
  const CommGraph total = total_traffic(windows);
  if (auto done = add("random", "a random placement", "random", total); !done) return propagate(done);
  statics.push_back({"scatter", "ranks in turn over the parts of the machine", scatter_placement(ranks, topology)});
  for (std::size_t kind = 0; kind < table.kinds; ++kind) {
    if (auto done = add("best for " + phase_kind_name(kind), "auto for one kind of phase", "auto",
                        planner.phases().traffic(kind));
        !done)
      return propagate(done);
  }
  if (auto done = add("auto", "for the total traffic", "auto", total); !done) return propagate(done);

  std::vector<double> cost(statics.size(), 0.0);
  double oracle = 0;
  for (const TrafficWindow& window : windows) {
    double min_cost = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < statics.size(); ++i) {
      const double window_cost = online_cost(window.traffic, topology, statics[i].core_of);
      cost[i] += window_cost;
      min_cost = std::min(min_cost, window_cost);
    }
    oracle += min_cost;
  }
  for (std::size_t i = 0; i < statics.size(); ++i)
    table.rows.push_back({statics[i].name, statics[i].description, cost[i], 0, 0, 0});
  table.rows.push_back({"online", "detected phases, including the cost of moves", planner.cost_online(), 0,
                        planner.migrations(), moved});
  table.rows.push_back(
      {"oracle", "the best static mapping in each window, without the cost of moves", oracle, 0, 0, 0});
  const double block = table.rows.front().cost;
  for (OnlineReplayRow& row : table.rows) row.gain_percent = block > 0 ? 100 * (1 - row.cost / block) : 0;
  return table;
}

}  // namespace rankloom
