// SPDX-License-Identifier: Apache-2.0
// place/online: what moving would have brought.
#include "rankloom/place/online/replay.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "rankloom/map/run.hpp"

namespace rankloom {

namespace {

struct Static {
  std::string name, about;
  std::vector<Core> core_of;
};

Result<std::vector<Core>> mapped(const char* spec, const CommGraph& graph, const Topology& topology,
                                 const Capacities& slots) {
  auto mapper = make_mapper(spec);
  if (!mapper) return propagate(mapper);
  const MapProblem problem{graph, topology, slots, CostModel::time, {}};
  auto found = run_mapper(*mapper, problem, MapRun{}, {});
  if (!found) return propagate(found);
  return std::vector<Core>(found->mapping.cores().begin(), found->mapping.cores().end());
}

/// The first cores of all parts of the first level that has several, then the second ones, and so on.
std::vector<Core> scattered(std::uint32_t ranks, const Topology& topology) {
  std::size_t level = topology.node_level();
  while (level + 1 < topology.levels().size() && topology.levels()[level].objects < 2) ++level;
  std::vector<Core> order(topology.cores().begin(), topology.cores().end());
  const auto place_in_part = [&](Core core) {
    return index(core) - index(topology.first_core(level, topology.object_of(level, core)));
  };
  std::stable_sort(order.begin(), order.end(), [&](Core a, Core b) { return place_in_part(a) < place_in_part(b); });
  std::vector<Core> core_of(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) core_of[rank] = order[rank % order.size()];
  return core_of;
}

CommGraph sum_of(const std::vector<OnlineWindow>& windows) {
  CommGraph all = windows.front().traffic;
  for (std::size_t i = 1; i < windows.size(); ++i) all = sum(all, windows[i].traffic);
  return all;
}

}  // namespace

Result<std::vector<OnlineWindow>> windows_of(const Profile& profile, CollectiveModel collectives) {
  if (profile.phases.empty()) {
    return fail(Code::bad_input, at("profile"), "it has no windows of time",
                "record it with `rankloom record --window 100ms`");
  }
  std::vector<OnlineWindow> windows;
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

Result<ReplayTable> replay_online(const std::vector<OnlineWindow>& windows, const Topology& topology,
                                  const OnlineOptions& options, Progress& progress) {
  if (topology.node_count() != 1) {
    return fail(Code::bad_input, at("-t"), fmt::format("the machine has {} nodes", topology.node_count()),
                "ranks move inside a node only: name one node, such as 'package:2=3GB/s core:8=10GB/s'");
  }
  const std::uint32_t ranks = windows.front().traffic.rank_count();
  auto slots = Capacities::of(topology, ranks, {.oversubscribe = true});
  if (!slots) return propagate(slots);
  ReplayTable table;
  std::vector<Static> statics{{"block", "cores in order, as launchers do", block_placement(ranks, topology, *slots)}};
  OnlinePlanner planner(topology, statics.front().core_of, options);
  std::uint64_t moved = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto decision = planner.take(windows[i]);
    if (decision && decision->moves) moved += decision->moved;
    progress.report("windows", static_cast<double>(i + 1) / static_cast<double>(windows.size()));
  }
  table.phases = planner.phases().phases();
  table.kinds = planner.phases().kinds();
  table.decisions = planner.decisions();
  table.windows = windows.size();

  const auto add = [&](std::string name, std::string about, const char* spec, const CommGraph& graph) -> Result<void> {
    auto core_of = mapped(spec, graph, topology, *slots);
    if (!core_of) return propagate(core_of);
    statics.push_back({std::move(name), std::move(about), *std::move(core_of)});
    return {};
  };
  const CommGraph all = sum_of(windows);
  if (auto done = add("random", "any placement", "random", all); !done) return propagate(done);
  statics.push_back({"scatter", "one for each part of the machine in turn", scattered(ranks, topology)});
  for (std::size_t kind = 0; kind < table.kinds; ++kind) {
    if (auto done = add(fmt::format("best for {}", static_cast<char>('A' + kind % 26)), "auto, for one kind of phase",
                        "auto", planner.phases().traffic(kind));
        !done)
      return propagate(done);
  }
  if (auto done = add("auto", "for the sum of all windows", "auto", all); !done) return propagate(done);

  std::vector<double> cost(statics.size(), 0.0);
  double oracle = 0;
  for (const OnlineWindow& window : windows) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < statics.size(); ++i) {
      const double one = online_cost(window.traffic, topology, statics[i].core_of);
      cost[i] += one;
      least = std::min(least, one);
    }
    oracle += least;
  }
  for (std::size_t i = 0; i < statics.size(); ++i)
    table.rows.push_back({statics[i].name, statics[i].about, cost[i], 0, 0, 0});
  table.rows.push_back({"online", "phases found, moves paid for", planner.cost_online(), 0, planner.bursts(), moved});
  table.rows.push_back({"oracle", "the best static one in each window, moves free", oracle, 0, 0, 0});
  const double block = table.rows.front().cost;
  for (ReplayRow& row : table.rows) row.gain_percent = block > 0 ? 100 * (1 - row.cost / block) : 0;
  return table;
}

}  // namespace rankloom
