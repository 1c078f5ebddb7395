// SPDX-License-Identifier: Apache-2.0
// allocate: closed sets in networks without a formula (dragonflies, arbitrary graphs): grown from a seed, nearest nodes
// first, each taken only if its routes to and from all that are in already pass nothing that is held.
#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>

#include "rankloom/allocate/search/nearest.hpp"
#include "rankloom/allocate/search/isolated_search.hpp"

namespace rankloom {

namespace {

/// What the routes between one node and every other pass, both ways, one after another.
struct RouteRow {
  std::vector<std::uint32_t> first, passages;
  std::span<const std::uint32_t> to(Node node) const {
    return std::span(passages).subspan(first[index(node)], first[index(node) + 1] - first[index(node)]);
  }
};

/// Rows are found when they are first asked for and kept up to a limit of memory.
class RouteCache {
 public:
  explicit RouteCache(const AllocationMachine& machine) : machine_(machine), rows_(machine.node_count()) {}

  std::shared_ptr<const RouteRow> row(Node from) const {
    const std::lock_guard lock(mutex_);
    if (rows_[index(from)]) return rows_[index(from)];
    auto row = make(from);
    kept_ += row->passages.size() + row->first.size();
    if (kept_ <= most_kept) rows_[index(from)] = row;
    return row;
  }

 private:
  static constexpr std::size_t most_kept = std::size_t{64} << 20;  // numbers of 4 bytes

  std::shared_ptr<const RouteRow> make(Node from) const {
    auto row = std::make_shared<RouteRow>();
    Bits passed(machine_.rule().passage_count());
    for (std::uint32_t to = 0; to < machine_.node_count(); ++to) {
      row->first.push_back(static_cast<std::uint32_t>(row->passages.size()));
      if (Node{to} == from) continue;
      passed.clear();
      const Node pair[] = {from, Node{to}};
      walk_routes(machine_.network(), machine_.exclusive(), pair, passed);
      passed.each([&](std::uint32_t passage) { row->passages.push_back(passage); });
    }
    row->first.push_back(static_cast<std::uint32_t>(row->passages.size()));
    return row;
  }

  AllocationMachine machine_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const RouteRow>> rows_;
  mutable std::size_t kept_ = 0;
};

class GrowingSearch final : public ClosedSearch {
 public:
  explicit GrowingSearch(const AllocationMachine& machine)
      : machine_(machine), routes_(machine), least_(machine.node_count() + 1, unknown) {}

  std::optional<Allotment> closed(const Occupancy& occupancy, std::uint32_t nodes, Prefer prefer,
                                  const ClosedLimits&) const override {
    if (occupancy.free_count() < nodes) return std::nullopt;
    std::optional<Allotment> best;
    std::pair<std::size_t, std::size_t> least;
    std::uint64_t steps = 0;
    occupancy.free().each([&](std::uint32_t seed) {
      if (best && (nodes == 1 || best->diameter == 0 || steps > most_steps)) return;
      auto grown = grow(occupancy, Node{seed}, nodes, steps);
      if (!grown) return;
      const std::size_t passed = grown->passages.count();
      const auto score = prefer == Prefer::least_diameter ? std::pair(std::size_t{grown->diameter}, passed)
                                                          : std::pair(passed, std::size_t{grown->diameter});
      if (best && score >= least) return;
      least = score;
      best = std::move(grown);
    });
    return best;
  }

  std::optional<Allotment> closed_minimum(const Occupancy& occupancy, std::uint32_t nodes) const override {
    if (occupancy.free_count() < nodes) return std::nullopt;
    const std::uint32_t least = least_diameter(nodes);
    std::optional<Allotment> found;
    std::uint64_t steps = 0;
    occupancy.free().each([&](std::uint32_t seed) {
      if (found || steps > most_steps) return;
      auto grown = grow(occupancy, Node{seed}, nodes, steps);
      if (grown && grown->diameter <= least) found = std::move(grown);
    });
    return found;
  }

  Allotment nearest(const Occupancy& occupancy, std::uint32_t nodes) const override {
    Allotment allotment;
    allotment.nodes = nearest_around_a_node(machine_.network(), occupancy.free(), nodes);
    allotment.passages = Bits(machine_.rule().passage_count());
    machine_.rule().add_passages(allotment.nodes, allotment.passages);
    allotment.diameter = diameter_of(machine_.network(), allotment.nodes);
    allotment.closed = !allotment.passages.meets(occupancy.held());
    return allotment;
  }

 private:
  static constexpr std::uint32_t unknown = UINT32_MAX;
  /// Routes looked at for one answer; some tenths of a second. The first seed is always grown to its end.
  static constexpr std::uint64_t most_steps = 2'000'000;

  std::optional<Allotment> grow(const Occupancy& occupancy, Node seed, std::uint32_t nodes,
                                std::uint64_t& steps) const {
    Allotment allotment{{seed}, {}, Bits(machine_.rule().passage_count()), 0, true};
    const auto own = routes_.row(seed);
    const auto passable = [&](std::span<const std::uint32_t> passages) {
      ++steps;
      return std::none_of(passages.begin(), passages.end(),
                          [&](std::uint32_t passage) { return occupancy.held().test(passage); });
    };
    std::vector<Node> others;
    occupancy.free().each([&](std::uint32_t node) {
      if (Node{node} != seed && passable(own->to(Node{node}))) others.push_back(Node{node});
    });
    if (others.size() + 1 < nodes) return std::nullopt;
    const Network& network = machine_.network();
    std::stable_sort(others.begin(), others.end(),
                     [&](Node a, Node b) { return network.hops(seed, a) < network.hops(seed, b); });
    for (const Node node : others) {
      if (allotment.nodes.size() == nodes) break;
      const auto row = routes_.row(node);
      const bool reaches_all = std::all_of(allotment.nodes.begin(), allotment.nodes.end(),
                                           [&](Node chosen) { return passable(row->to(chosen)); });
      if (!reaches_all) continue;
      for (const Node chosen : allotment.nodes) {
        for (const std::uint32_t passage : row->to(chosen)) allotment.passages.set(passage);
        allotment.diameter = std::max({allotment.diameter, network.hops(node, chosen), network.hops(chosen, node)});
      }
      allotment.nodes.push_back(node);
    }
    if (allotment.nodes.size() < nodes) return std::nullopt;
    std::sort(allotment.nodes.begin(), allotment.nodes.end());
    return allotment;
  }

  /// On the empty machine.
  std::uint32_t least_diameter(std::uint32_t nodes) const {
    const std::lock_guard lock(mutex_);
    if (least_[nodes] == unknown) {
      const auto best = closed(Occupancy(machine_), nodes, Prefer::least_diameter, {});
      least_[nodes] = best ? best->diameter : machine_.network().diameter();
    }
    return least_[nodes];
  }

  AllocationMachine machine_;
  RouteCache routes_;
  mutable std::mutex mutex_;
  mutable std::vector<std::uint32_t> least_;  // by nodes
};

}  // namespace

std::unique_ptr<ClosedSearch> make_growing_search(const AllocationMachine& machine) {
  return std::make_unique<GrowingSearch>(machine);
}

}  // namespace rankloom
