// SPDX-License-Identifier: Apache-2.0
// map/clustering: clusters onto nodes.
#include "rankloom/map/clustering/schemes.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "rankloom/map/machine_tree.hpp"
#include "rankloom/map/places.hpp"

namespace rankloom {
namespace {

/// Numbers by index, of which the first that is at least so large is found in O(log count).
class FirstAtLeast {
 public:
  explicit FirstAtLeast(std::size_t count)
      : leaves_(std::bit_ceil(std::max<std::size_t>(1, count))), most_(2 * leaves_, 0) {}

  void set(std::size_t at, std::uint64_t value) {
    for (most_[at += leaves_] = value; at > 1; at /= 2) most_[at / 2] = std::max(most_[at], most_[at ^ 1]);
  }
  std::optional<std::size_t> find(std::uint64_t least) const {
    if (most_[1] < least) return std::nullopt;
    std::size_t at = 1;
    while (at < leaves_) at = most_[2 * at] >= least ? 2 * at : 2 * at + 1;
    return at - leaves_;
  }

 private:
  std::size_t leaves_;
  std::vector<std::uint64_t> most_;  // of a binary tree: the root is 1, the leaves are the last half
};

/// The table of idle places, and where the clusters went. The used places of a node are always its first ones: a
/// cluster starts at the first idle place of a node and runs on in order.
class IdleTable {
 public:
  IdleTable(const NodePlaces& nodes, std::size_t ranks)
      : nodes_(nodes), used_(nodes.node_count(), 0), room_(nodes.node_count()), core_of_(ranks) {
    for (std::size_t node = 0; node < nodes.node_count(); ++node) room_.set(node, idle(node));
  }

  std::uint64_t idle(std::size_t node) const { return nodes_.size_of(node) - used_[node]; }
  /// Nodes without places are never idle.
  bool is_idle(std::size_t node) const { return used_[node] == 0 && nodes_.size_of(node) > 0; }

  /// The first node whose idle places hold so many ranks; else, as an idle node can hold any cluster, the first idle
  /// one.
  std::optional<std::size_t> position_for(std::uint64_t size) {
    if (const auto whole = room_.find(size)) return whole;
    while (first_idle_ < nodes_.node_count() && !is_idle(first_idle_)) ++first_idle_;
    return first_idle_ < nodes_.node_count() ? std::optional(first_idle_) : std::nullopt;
  }

  /// Lays the ranks on idle places from this node on, and from the first again after the last.
  void lay(std::span<const std::uint32_t> ranks, std::size_t node) {
    std::size_t at = 0;
    walk(node, ranks.size(), [&](std::size_t on, std::uint64_t count) {
      for (const std::uint64_t end = at + count; at < end; ++at) {
        core_of_[ranks[at]] = nodes_.places[nodes_.ends[on] + used_[on]++];
      }
      room_.set(on, idle(on));
    });
    while (first_open_ < nodes_.node_count() && idle(first_open_) == 0) ++first_open_;
  }

  /// How many idle nodes would be used up by laying so many ranks from this node on.
  std::uint64_t idle_nodes_taken(std::size_t node, std::uint64_t size) const {
    std::uint64_t taken = 0;
    walk(node, size, [&](std::size_t on, std::uint64_t) { taken += is_idle(on) ? 1 : 0; });
    return taken;
  }

  /// The node where the idle places begin that lie directly before this node; the node itself if there are none.
  std::size_t start_of_idle_before(std::size_t node) const {
    if (!is_idle(node)) return node;  // its own first places are used
    std::size_t start = node;
    for (std::size_t before = node; before-- > 0;) {
      if (nodes_.size_of(before) == 0) continue;
      if (idle(before) > 0) start = before;
      if (!is_idle(before)) break;
    }
    return start;
  }

  std::size_t first_open() const { return first_open_; }
  std::vector<Core> placement() && { return std::move(core_of_); }

 private:
  /// Calls take(node, count) for the idle places that so many ranks would take.
  template <class Take>
  void walk(std::size_t node, std::uint64_t size, const Take& take) const {
    for (; size > 0; node = node + 1 < nodes_.node_count() ? node + 1 : 0) {
      const std::uint64_t count = std::min(size, idle(node));
      if (count > 0) take(node, count);
      size -= count;
    }
  }

  const NodePlaces& nodes_;
  std::vector<std::uint64_t> used_;
  FirstAtLeast room_;
  std::vector<Core> core_of_;
  std::size_t first_open_ = 0, first_idle_ = 0;  // none before is; both only rise
};

std::vector<Core> plain(const Groups& clusters, const NodePlaces& nodes) {
  std::vector<Core> core_of(clusters.members.size());
  for (std::size_t at = 0; at < core_of.size(); ++at) core_of[clusters.members[at]] = nodes.places[at];
  return core_of;
}

/// Algorithm 2.
std::vector<Core> first_fit(const Groups& clusters, const NodePlaces& nodes) {
  std::vector<std::uint32_t> order(clusters.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return clusters[a].size() > clusters[b].size(); });
  IdleTable table(nodes, clusters.members.size());
  for (const std::uint32_t cluster : order) {
    const auto position = table.position_for(clusters[cluster].size());
    table.lay(clusters[cluster], position.value_or(table.first_open()));
  }
  return std::move(table).placement();
}

/// Algorithm 3.
std::vector<Core> most_reservation(const Groups& clusters, const NodePlaces& nodes) {
  IdleTable table(nodes, clusters.members.size());
  for (std::uint32_t cluster = 0; cluster < clusters.size(); ++cluster) {
    const std::uint64_t size = clusters[cluster].size();
    auto position = table.position_for(size);
    if (position) {
      const std::size_t forward = table.start_of_idle_before(*position);
      if (table.idle_nodes_taken(forward, size) < table.idle_nodes_taken(*position, size)) position = forward;
    }
    table.lay(clusters[cluster], position.value_or(table.first_open()));
  }
  return std::move(table).placement();
}

}  // namespace

std::uint64_t NodePlaces::largest() const {
  std::uint64_t most = 0;
  for (std::size_t node = 0; node < node_count(); ++node) most = std::max(most, size_of(node));
  return most;
}

std::size_t NodePlaces::nodes_for(std::uint64_t ranks) const {
  std::vector<std::uint64_t> sizes;
  for (std::size_t node = 0; node < node_count(); ++node) sizes.push_back(size_of(node));
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  std::size_t count = 0;
  for (std::uint64_t held = 0; held < ranks && count < sizes.size(); ++count) held += sizes[count];
  return count;
}

NodePlaces node_places(const MapProblem& problem) {
  const Topology& topology = problem.topology;
  const MachineTree tree(topology, problem.capacities);
  const std::size_t level = topology.node_count() > 1 ? topology.node_level() : tree.root().next_level;
  NodePlaces nodes{.places = places_in_order(problem)};
  const auto count = level < topology.levels().size() ? topology.levels()[level].objects : 1;
  for (std::uint32_t node = 0; node < count; ++node) {
    const Core end =
        level < topology.levels().size() ? topology.first_core(level, node + 1) : Core{topology.core_count()};
    const auto behind = std::lower_bound(nodes.places.begin(), nodes.places.end(), end);
    nodes.ends.push_back(static_cast<std::uint64_t>(behind - nodes.places.begin()));
  }
  return nodes;
}

Scheme chosen_scheme(const Groups& clusters, const SchemeOptions& options) {
  if (options.scheme != Scheme::adaptive) return options.scheme;
  const double mean = static_cast<double>(clusters.members.size()) / std::max(1U, clusters.size());
  double squares = 0;
  for (std::uint32_t cluster = 0; cluster < clusters.size(); ++cluster) {
    const double off = static_cast<double>(clusters[cluster].size()) - mean;
    squares += off * off;
  }
  const double deviation = std::sqrt(squares / std::max(1U, clusters.size())) / std::max(1.0, mean);
  if (deviation < options.low) return Scheme::plain;
  if (deviation > options.high && clusters.size() < options.many) return Scheme::first_fit;
  return Scheme::most_reservation;
}

std::vector<Core> place_clusters(const Groups& clusters, const NodePlaces& nodes, Scheme scheme) {
  assert(clusters.members.size() <= nodes.places.size());
  switch (scheme) {
    case Scheme::first_fit:
      return first_fit(clusters, nodes);
    case Scheme::most_reservation:
      return most_reservation(clusters, nodes);
    case Scheme::plain:
    case Scheme::adaptive:
      break;
  }
  return plain(clusters, nodes);
}

}  // namespace rankloom
