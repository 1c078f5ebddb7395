// SPDX-License-Identifier: Apache-2.0
// allocate/search: isolated sets in networks without a formula for route footprints (dragonflies, arbitrary graphs). A
// set grows greedily from a seed node, closest nodes first. A node is added only if its routes to and from all nodes of
// the set use no router or link that is in use.
#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>

#include <fmt/format.h>

#include "rankloom/allocate/search/isolated_search.hpp"
#include "rankloom/allocate/search/nearest.hpp"

namespace rankloom {

namespace {

/// The routers or links on the routes between one node and every other node, in both directions, as one array.
struct RouteRow {
  std::vector<std::uint32_t> first, shared_resources;
  std::span<const std::uint32_t> to(Node node) const {
    return std::span(shared_resources).subspan(first[index(node)], first[index(node) + 1] - first[index(node)]);
  }
};

/// Computes rows on first use and caches them up to a memory limit.
class RouteCache {
 public:
  explicit RouteCache(const AllocationMachine& machine) : machine_(machine), rows_(machine.node_count()) {}

  std::shared_ptr<const RouteRow> row(Node from) const {
    const std::lock_guard lock(mutex_);
    if (rows_[index(from)]) return rows_[index(from)];
    auto row = make(from);
    cached_ += row->shared_resources.size() + row->first.size();
    if (cached_ <= max_cached) rows_[index(from)] = row;
    return row;
  }

 private:
  static constexpr std::size_t max_cached = std::size_t{64} << 20;  // numbers of 4 bytes

  std::shared_ptr<const RouteRow> make(Node from) const {
    auto row = std::make_shared<RouteRow>();
    Bitset resources(machine_.route_footprint().resource_count());
    for (std::uint32_t to = 0; to < machine_.node_count(); ++to) {
      row->first.push_back(static_cast<std::uint32_t>(row->shared_resources.size()));
      if (Node{to} == from) continue;
      resources.clear();
      const Node pair[] = {from, Node{to}};
      walk_routes(machine_.network(), machine_.exclusive(), pair, resources);
      resources.for_each([&](std::uint32_t resource) { row->shared_resources.push_back(resource); });
    }
    row->first.push_back(static_cast<std::uint32_t>(row->shared_resources.size()));
    return row;
  }

  AllocationMachine machine_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const RouteRow>> rows_;
  mutable std::size_t cached_ = 0;
};

class GreedySearch final : public IsolatedSearch {
 public:
  explicit GreedySearch(const AllocationMachine& machine)
      : machine_(machine), routes_(machine), min_diameters_(machine.node_count() + 1, unknown) {}

  std::optional<Allocation> find_isolated(const Occupancy& occupancy, std::uint32_t nodes, Objective objective,
                                          const IsolationLimits&) const override {
    if (occupancy.free_count() < nodes) return std::nullopt;
    std::optional<Allocation> best;
    std::pair<std::size_t, std::size_t> best_score;
    std::uint64_t steps = 0;
    occupancy.free_nodes().for_each([&](std::uint32_t seed) {
      if (best && (nodes == 1 || best->diameter == 0 || steps > max_steps)) return;
      auto grown = grow(occupancy, Node{seed}, nodes, steps);
      if (!grown) return;
      const std::size_t resources = grown->shared_resources.count();
      const auto score = objective == Objective::min_diameter ? std::pair(std::size_t{grown->diameter}, resources)
                                                              : std::pair(resources, std::size_t{grown->diameter});
      if (best && score >= best_score) return;
      best_score = score;
      best = std::move(grown);
    });
    return best;
  }

  /// The sets of the seeds with the smallest diameter and the fewest routers or links.
  std::vector<Candidate> find_candidates(const Occupancy& occupancy, std::uint32_t nodes, const IsolationLimits&,
                                         std::size_t max) const override {
    if (occupancy.free_count() < nodes) return {};
    struct Grown {
      std::uint32_t diameter;
      std::size_t resources;
      Allocation allocation;
    };
    std::vector<Grown> all;
    std::uint64_t steps = 0;
    occupancy.free_nodes().for_each([&](std::uint32_t seed) {
      if (!all.empty() && (nodes == 1 || steps > max_steps)) return;
      auto grown = grow(occupancy, Node{seed}, nodes, steps);
      if (!grown) return;
      const bool known = std::any_of(all.begin(), all.end(),
                                     [&](const Grown& other) { return other.allocation.nodes == grown->nodes; });
      if (known) return;
      const std::size_t resources = grown->shared_resources.count();
      all.push_back({grown->diameter, resources, *std::move(grown)});
    });
    std::stable_sort(all.begin(), all.end(), [](const Grown& a, const Grown& b) {
      return std::pair(a.diameter, a.resources) < std::pair(b.diameter, b.resources);
    });
    std::size_t fewest = all.empty() ? 0 : all[0].resources;
    for (const Grown& grown : all) fewest = std::min(fewest, grown.resources);
    std::vector<Candidate> result;
    for (Grown& grown : all) {
      if (result.size() == max) break;
      const double packing_cost = nodes + 0.25 * static_cast<double>(grown.resources - fewest);
      result.push_back({std::move(grown.allocation), fmt::format("set of diameter {}", grown.diameter), packing_cost});
    }
    return result;
  }

  std::optional<Allocation> find_template(const Occupancy& occupancy, std::uint32_t nodes) const override {
    if (occupancy.free_count() < nodes) return std::nullopt;
    const std::uint32_t target_diameter = min_diameter(nodes);
    std::optional<Allocation> found;
    std::uint64_t steps = 0;
    occupancy.free_nodes().for_each([&](std::uint32_t seed) {
      if (found || steps > max_steps) return;
      auto grown = grow(occupancy, Node{seed}, nodes, steps);
      if (grown && grown->diameter <= target_diameter) found = std::move(grown);
    });
    return found;
  }

  Allocation find_nearest(const Occupancy& occupancy, std::uint32_t nodes) const override {
    return make_allocation(machine_, occupancy,
                           nearest_around_centre(machine_.network(), occupancy.free_nodes(), nodes));
  }

 private:
  static constexpr std::uint32_t unknown = UINT32_MAX;
  /// Routes examined per search; some tenths of a second. The set of the first seed always grows to its full size.
  static constexpr std::uint64_t max_steps = 2'000'000;

  std::optional<Allocation> grow(const Occupancy& occupancy, Node seed, std::uint32_t nodes,
                                 std::uint64_t& steps) const {
    Allocation allocation{{seed}, {}, Bitset(machine_.route_footprint().resource_count()), 0, true};
    const auto seed_routes = routes_.row(seed);
    const auto is_unused = [&](std::span<const std::uint32_t> shared_resources) {
      ++steps;
      return std::none_of(shared_resources.begin(), shared_resources.end(),
                          [&](std::uint32_t resource) { return occupancy.used_resources().test(resource); });
    };
    std::vector<Node> candidates;
    occupancy.free_nodes().for_each([&](std::uint32_t node) {
      if (Node{node} != seed && is_unused(seed_routes->to(Node{node}))) candidates.push_back(Node{node});
    });
    if (candidates.size() + 1 < nodes) return std::nullopt;
    const Network& network = machine_.network();
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](Node a, Node b) { return network.hops(seed, a) < network.hops(seed, b); });
    for (const Node node : candidates) {
      if (allocation.nodes.size() == nodes) break;
      const auto row = routes_.row(node);
      const bool reaches_all = std::all_of(allocation.nodes.begin(), allocation.nodes.end(),
                                           [&](Node chosen) { return is_unused(row->to(chosen)); });
      if (!reaches_all) continue;
      for (const Node chosen : allocation.nodes) {
        for (const std::uint32_t resource : row->to(chosen)) allocation.shared_resources.set(resource);
        allocation.diameter = std::max({allocation.diameter, network.hops(node, chosen), network.hops(chosen, node)});
      }
      allocation.nodes.push_back(node);
    }
    if (allocation.nodes.size() < nodes) return std::nullopt;
    std::sort(allocation.nodes.begin(), allocation.nodes.end());
    return allocation;
  }

  /// The smallest diameter of n nodes on the empty machine.
  std::uint32_t min_diameter(std::uint32_t nodes) const {
    const std::lock_guard lock(mutex_);
    if (min_diameters_[nodes] == unknown) {
      const auto best = find_isolated(Occupancy(machine_), nodes, Objective::min_diameter, {});
      min_diameters_[nodes] = best ? best->diameter : machine_.network().diameter();
    }
    return min_diameters_[nodes];
  }

  AllocationMachine machine_;
  RouteCache routes_;
  mutable std::mutex mutex_;
  mutable std::vector<std::uint32_t> min_diameters_;  // by number of nodes
};

}  // namespace

std::unique_ptr<IsolatedSearch> make_greedy_search(const AllocationMachine& machine) {
  return std::make_unique<GreedySearch>(machine);
}

}  // namespace rankloom
