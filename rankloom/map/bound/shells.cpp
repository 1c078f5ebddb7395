// SPDX-License-Identifier: Apache-2.0
// map/bound: how much room there is near a core.
#include "rankloom/map/bound/shells.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <tuple>

#include "rankloom/core/parallel.hpp"
#include "rankloom/model/network/networks.hpp"

namespace rankloom {
namespace {

/// Nodes of a network without symmetry that are looked at pair by pair.
constexpr std::uint32_t most_nodes = 2048;

PairCost least_of(PairCost a, PairCost b) {
  return {std::min(a.per_byte, b.per_byte), std::min(a.per_message, b.per_message)};
}

PairCost distance_between(const Distance& distance, Core p, Core q) {
  return std::visit([&](const auto& concrete) { return concrete(p, q); }, distance);
}

/// How many ranks the fullest object of a level holds.
std::uint64_t most_places(const MapProblem& problem, std::size_t level) {
  const std::uint64_t objects = problem.topology.levels()[level].objects;
  std::uint64_t most = 0;
  for (std::uint32_t object = 0; object < objects; ++object) {
    const std::uint32_t begin = index(problem.topology.first_core(level, object));
    const std::uint32_t end = index(problem.topology.first_core(level, object + 1));
    std::uint64_t places = 0;
    if (problem.capacities.one_each()) {
      places = end - begin;
    } else {
      for (std::uint32_t core = begin; core < end; ++core) places += problem.capacities[Core{core}];
    }
    most = std::max(most, places);
  }
  return most;
}

/// The least cost between cores that part at this level; none where none do.
std::optional<PairCost> cost_of_parting(const Topology& topology, const Distance& distance, std::size_t level) {
  std::optional<PairCost> least;
  for (std::uint32_t object = 0; object + 1 < topology.levels()[level].objects; ++object) {
    const Core one = topology.first_core(level, object);
    const Core next = topology.first_core(level, object + 1);
    if (topology.parting_level(one, next) != level) continue;
    const PairCost here = distance_between(distance, one, next);
    least = least ? least_of(*least, here) : here;
    if (topology.levels()[level].cost) break;  // the same everywhere
  }
  return least;
}

/// The objects of the levels from `highest` down, nearest first: within `places` places a pair costs at least `inside`.
struct Ring {
  std::uint64_t places;
  PairCost inside;
};

/// The cost of each ring is that of no ring outside it: where a farther level is cheaper than a nearer one, which no
/// real machine has, the nearer one is taken to be as cheap.
std::vector<Ring> rings(const MapProblem& problem, const Distance& distance, std::size_t highest) {
  const Topology& topology = problem.topology;
  std::vector<Ring> outside_in;
  std::optional<PairCost> least;
  for (std::size_t level = highest; level <= topology.levels().size(); ++level) {
    // Inside an object of the level above, pairs part at this one; at the end they share a core.
    const bool core = level == topology.levels().size();
    const auto parting =
        core ? std::optional(distance_between(distance, Core{0}, Core{0})) : cost_of_parting(topology, distance, level);
    if (!parting) continue;
    least = least ? least_of(*least, *parting) : *parting;
    const std::uint64_t places = level == 0 ? problem.capacities.total() : most_places(problem, level - 1);
    outside_in.push_back({places, *least});
  }
  return {outside_in.rbegin(), outside_in.rend()};
}

Shells shells_of_tree(const MapProblem& problem, const Distance& distance) {
  const auto around = rings(problem, distance, 0);
  Shells result{around[0].inside, distance_between(distance, Core{0}, Core{0}), {}};
  for (std::size_t at = 0; at + 1 < around.size(); ++at) {
    const PairCost inside = around[at].inside;
    const PairCost outside = around[at + 1].inside;
    result.shells.push_back(
        {around[at].places, {outside.per_byte - inside.per_byte, outside.per_message - inside.per_message}, true});
  }
  return result;
}

/// So many places at this cost.
struct Stock {
  double cost;
  std::uint64_t places;
};

/// The costs of the nearest places around any node, each at least as low as around every node.
class NearestPlaces {
 public:
  explicit NearestPlaces(std::uint64_t count) : least_(count, std::numeric_limits<double>::infinity()) {}

  /// What is around one node, in any order.
  void meet(std::vector<Stock>& around) {
    std::sort(around.begin(), around.end(), [](const Stock& a, const Stock& b) { return a.cost < b.cost; });
    const std::lock_guard lock(mutex_);
    std::size_t at = 0;
    for (const Stock& stock : around) {
      for (std::uint64_t place = 0; place < stock.places && at < least_.size(); ++place, ++at) {
        least_[at] = std::min(least_[at], stock.cost);
      }
      if (at == least_.size()) return;
    }
  }

  /// Where the costs rise there is a shell.
  template <class ToPair>
  void add_to(Shells& result, double& nearest, ToPair to_pair) const {
    if (least_.empty() || !(least_[0] < std::numeric_limits<double>::infinity())) return;
    nearest = least_[0];
    for (std::size_t at = 1; at < least_.size(); ++at) {
      // Beyond the last place nobody can sit; whoever has more partners than there are places does not exist.
      if (!(least_[at] < std::numeric_limits<double>::infinity())) return;
      if (least_[at] > least_[at - 1]) result.shells.push_back({at + 1, to_pair(least_[at] - least_[at - 1]), false});
    }
  }

 private:
  std::mutex mutex_;
  std::vector<double> least_;
};

/// The nodes whose surroundings are at least as near as those of any other, or all of them.
std::vector<Node> nodes_to_look_at(const Topology& topology) {
  if (topology.routed()) {
    if (const auto* const mesh = std::get_if<MeshShape>(&topology.network().shape())) {
      // Around the middle of a mesh no ball has fewer nodes than elsewhere; on a torus all are alike.
      std::uint32_t middle = 0;
      for (const std::uint32_t size : mesh->sizes) middle = middle * size + size / 2;
      return {Node{middle}};
    }
  }
  return {topology.nodes().begin(), topology.nodes().end()};
}

/// Networks and tables: which nodes are near is asked node by node; inside one, the largest node stands for all.
Shells shells_of_network(const MapProblem& problem, const Distance& distance, std::uint64_t partners) {
  const Topology& topology = problem.topology;
  const auto inside = rings(problem, distance, topology.node_level() + 1);
  const auto looked_at = nodes_to_look_at(topology);
  std::vector<std::uint64_t> room;  // by node
  for (const Node node : topology.nodes()) {
    std::uint64_t places = 0;
    const std::size_t level = topology.node_level();
    for (std::uint32_t core = index(topology.first_core(level, index(node)));
         core < index(topology.first_core(level, index(node) + 1)); ++core) {
      places += problem.capacities[Core{core}];
    }
    room.push_back(places);
  }
  // One node stands for all only where all hold as many.
  if (looked_at.size() < room.size()) room.assign(room.size(), *std::max_element(room.begin(), room.end()));

  NearestPlaces bytes(partners), messages(partners);
  parallel_chunks(looked_at.size(), 16, [&](std::size_t begin, std::size_t end) {
    std::vector<Stock> by_bytes, by_messages;
    for (std::size_t at = begin; at < end; ++at) {
      if (room[index(looked_at[at])] == 0) continue;
      const Core here = topology.first_core(topology.node_level(), index(looked_at[at]));
      by_bytes.clear();
      by_messages.clear();
      const auto add = [&](PairCost cost, std::uint64_t places) {
        by_bytes.push_back({cost.per_byte, places});
        by_messages.push_back({cost.per_message, places});
      };
      std::uint64_t before = 1;  // the rank itself
      for (const Ring& ring : inside) {
        if (ring.places <= before) continue;
        // A core of a table may be at any distance from itself.
        add(topology.is_matrix() ? distance_between(distance, here, here) : ring.inside, ring.places - before);
        before = ring.places;
      }
      for (const Node other : topology.nodes()) {
        if (index(other) == index(looked_at[at]) || room[index(other)] == 0) continue;
        const Core there = topology.first_core(topology.node_level(), index(other));
        add(least_of(distance_between(distance, here, there), distance_between(distance, there, here)),
            room[index(other)]);
      }
      bytes.meet(by_bytes);
      messages.meet(by_messages);
    }
  });

  Shells result{{}, distance_between(distance, Core{0}, Core{0}), {}};
  for (const Core core : topology.cores()) {
    if (!topology.is_matrix()) break;
    result.self = least_of(result.self, distance_between(distance, core, core));
  }
  bytes.add_to(result, result.nearest.per_byte, [](double step) { return PairCost{step, 0}; });
  messages.add_to(result, result.nearest.per_message, [](double step) { return PairCost{0, step}; });
  return result;
}

/// For networks too large to look at: every node is the neighbour of every other.
Shells shells_of_large_network(const MapProblem& problem, const Distance& distance) {
  const PairCost same = distance_between(distance, Core{0}, Core{0});
  const Cost least = problem.topology.least_cost();
  PairCost apart = same;  // for quality no pair is nearer than the cores of one node
  if (problem.model == CostModel::bytes) apart = {least.gap, 0};
  if (problem.model == CostModel::time) apart = {least.gap, least.latency};
  if (problem.model == CostModel::hopbytes) apart = {0, 0};  // inside a node nothing is a hop
  Shells result{same, same, {}};
  result.shells.push_back(
      {most_places(problem, problem.topology.levels().size() - 1),
       {std::max(0.0, apart.per_byte - same.per_byte), std::max(0.0, apart.per_message - same.per_message)},
       true});
  return result;
}

}  // namespace

Shells shells_of(const MapProblem& problem, std::uint64_t partners) {
  const Topology& topology = problem.topology;
  const Distance distance = make_distance(topology, problem.model);
  if (!topology.routed() && !topology.is_matrix()) return shells_of_tree(problem, distance);
  const std::size_t rows = nodes_to_look_at(topology).size();
  if (rows > most_nodes && !topology.is_matrix()) return shells_of_large_network(problem, distance);
  return shells_of_network(problem, distance, partners);
}

}  // namespace rankloom
