// SPDX-License-Identifier: Apache-2.0
// map/baseline: one rank for each node in turn, as launchers do when asked to spread.
#include <cassert>

#include "rankloom/map/baseline/baselines.hpp"

namespace rankloom {
namespace {

class RoundRobin final : public Mapper {
 public:
  Result<Placement> place(const MapProblem& problem, const MapRun&) const override {
    return Placement{round_robin_placement(problem.graph.rank_count(), problem.topology, problem.capacities), {}, {}};
  }
};

/// Hands out the capacities of one node: each core one, then each that has more a second one, and so on.
class NodeSlots {
 public:
  NodeSlots(std::uint32_t first, std::uint32_t end) : first_(first), end_(end), next_(first) {}

  /// The next slot's core; the end mark when the node is full.
  std::uint32_t take(const Capacities& capacities) {
    while (true) {
      for (; next_ < end_; ++next_) {
        if (capacities[Core{next_}] > round_) {
          taken_in_round_ = true;
          return next_++;
        }
      }
      if (!taken_in_round_) return end_;
      next_ = first_;
      taken_in_round_ = false;
      ++round_;
    }
  }
  std::uint32_t end() const { return end_; }

 private:
  std::uint32_t first_, end_, next_;
  std::uint32_t round_ = 0;
  bool taken_in_round_ = false;
};

}  // namespace

std::vector<Core> round_robin_placement(std::uint32_t ranks, const Topology& topology, const Capacities& capacities) {
  std::vector<NodeSlots> open;
  for (const Node node : topology.nodes()) {
    open.emplace_back(index(topology.first_core(topology.node_level(), index(node))),
                      index(topology.first_core(topology.node_level(), index(node) + 1)));
  }
  std::vector<Core> core_of;
  core_of.reserve(ranks);
  while (core_of.size() < ranks) {
    std::size_t still_open = 0;
    for (std::size_t at = 0; at < open.size() && core_of.size() < ranks; ++at) {
      const std::uint32_t core = open[at].take(capacities);
      if (core == open[at].end()) continue;
      core_of.push_back(Core{core});
      open[still_open++] = open[at];
    }
    if (core_of.size() == ranks) break;
    assert(still_open > 0 && "Capacities::of checked that the ranks fit");
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(still_open), open.end());
  }
  return core_of;
}

std::unique_ptr<Mapper> make_round_robin() {
  return std::make_unique<RoundRobin>();
}

}  // namespace rankloom
