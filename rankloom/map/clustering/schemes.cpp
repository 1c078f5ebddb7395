// SPDX-License-Identifier: Apache-2.0
// map/clustering: the placement schemes Plain, First-Fit and Most-Reservation.
#include "rankloom/map/clustering/schemes.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "rankloom/core/max_segment_tree.hpp"
#include "rankloom/map/machine/machine_tree.hpp"
#include "rankloom/map/slot_numbering.hpp"

namespace rankloom {
namespace {

/// The paper's table of idle cores (here: idle slots), and the placement so far. The used slots of a node are always
/// its first ones, because a cluster starts at the first idle slot of a node and continues in order.
class IdleTable {
 public:
  IdleTable(const NodeSlots& nodes, std::size_t ranks)
      : nodes_(nodes), used_(nodes.node_count(), 0), idle_slots_(nodes.node_count()), core_of_(ranks) {
    for (std::size_t node = 0; node < nodes.node_count(); ++node) idle_slots_.set(node, idle(node));
  }

  std::uint64_t idle(std::size_t node) const { return nodes_.size_of(node) - used_[node]; }
  /// Nodes without slots are never idle.
  bool is_idle(std::size_t node) const { return used_[node] == 0 && nodes_.size_of(node) > 0; }

  /// The first node with enough idle slots for a cluster of this size. Otherwise the first idle node, because "an idle
  /// node can hold any cluster" (4.4).
  std::optional<std::size_t> position_for(std::uint64_t size) {
    if (const auto fitting = idle_slots_.first_at_or_after(0, size)) return fitting;
    while (first_idle_ < nodes_.node_count() && !is_idle(first_idle_)) ++first_idle_;
    return first_idle_ < nodes_.node_count() ? std::optional(first_idle_) : std::nullopt;
  }

  /// Places the ranks on idle slots from this node on; after the last node it continues with the first.
  void place(std::span<const std::uint32_t> ranks, std::size_t start) {
    std::size_t at = 0;
    for_idle_slots(start, ranks.size(), [&](std::size_t node, std::uint64_t count) {
      for (const std::uint64_t end = at + count; at < end; ++at) {
        core_of_[ranks[at]] = nodes_.slots[nodes_.ends[node] + used_[node]++];
      }
      idle_slots_.set(node, idle(node));
    });
    while (first_open_ < nodes_.node_count() && idle(first_open_) == 0) ++first_open_;
  }

  /// The number of idle nodes that a cluster of this size would occupy if it started at this node.
  std::uint64_t idle_nodes_taken(std::size_t start, std::uint64_t size) const {
    std::uint64_t taken = 0;
    for_idle_slots(start, size, [&](std::size_t node, std::uint64_t) { taken += is_idle(node) ? 1 : 0; });
    return taken;
  }

  /// The node where the contiguous idle slots directly before this node begin; the node itself if there are none.
  std::size_t start_of_idle_before(std::size_t node) const {
    if (!is_idle(node)) return node;  // its first slots are used
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
  /// Calls take(node, count) for the idle slots that a cluster of this size would occupy.
  template <class Take>
  void for_idle_slots(std::size_t node, std::uint64_t size, const Take& take) const {
    for (; size > 0; node = node + 1 < nodes_.node_count() ? node + 1 : 0) {
      const std::uint64_t count = std::min(size, idle(node));
      if (count > 0) take(node, count);
      size -= count;
    }
  }

  const NodeSlots& nodes_;
  std::vector<std::uint64_t> used_;
  MaxSegmentTree<std::uint64_t> idle_slots_;  // by node
  std::vector<Core> core_of_;
  // The first node with an idle slot, and a lower bound of the first idle node. Both only increase.
  std::size_t first_open_ = 0, first_idle_ = 0;
};

/// Plain: the clusters one after another on consecutive slots.
std::vector<Core> plain(const Groups& clusters, const NodeSlots& nodes) {
  std::vector<Core> core_of(clusters.members.size());
  for (std::size_t at = 0; at < core_of.size(); ++at) core_of[clusters.members[at]] = nodes.slots[at];
  return core_of;
}

/// First-Fit, Algorithm 2.
std::vector<Core> first_fit(const Groups& clusters, const NodeSlots& nodes) {
  std::vector<std::uint32_t> order(clusters.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return clusters[a].size() > clusters[b].size(); });
  IdleTable table(nodes, clusters.members.size());
  for (const std::uint32_t cluster : order) {
    const auto position = table.position_for(clusters[cluster].size());
    table.place(clusters[cluster], position.value_or(table.first_open()));
  }
  return std::move(table).placement();
}

/// Most-Reservation, Algorithm 3.
std::vector<Core> most_reservation(const Groups& clusters, const NodeSlots& nodes) {
  IdleTable table(nodes, clusters.members.size());
  for (std::uint32_t cluster = 0; cluster < clusters.size(); ++cluster) {
    const std::uint64_t size = clusters[cluster].size();
    auto position = table.position_for(size);
    if (position) {
      const std::size_t forward = table.start_of_idle_before(*position);
      if (table.idle_nodes_taken(forward, size) < table.idle_nodes_taken(*position, size)) position = forward;
    }
    table.place(clusters[cluster], position.value_or(table.first_open()));
  }
  return std::move(table).placement();
}

}  // namespace

std::uint64_t NodeSlots::largest() const {
  std::uint64_t max_size = 0;
  for (std::size_t node = 0; node < node_count(); ++node) max_size = std::max(max_size, size_of(node));
  return max_size;
}

std::size_t NodeSlots::needed_for(std::uint64_t ranks) const {
  std::vector<std::uint64_t> sizes;
  for (std::size_t node = 0; node < node_count(); ++node) sizes.push_back(size_of(node));
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  std::size_t count = 0;
  for (std::uint64_t capacity = 0; capacity < ranks && count < sizes.size(); ++count) capacity += sizes[count];
  return count;
}

NodeSlots node_slots(const MapProblem& problem) {
  const Topology& topology = problem.topology;
  const MachineTree tree(topology, problem.capacities);
  const std::size_t level = topology.node_count() > 1 ? topology.node_level() : tree.root().next_level;
  NodeSlots nodes{.slots = slots_in_core_order(problem)};
  const auto count = level < topology.levels().size() ? topology.levels()[level].objects : 1;
  for (std::uint32_t node = 0; node < count; ++node) {
    const Core end =
        level < topology.levels().size() ? topology.first_core(level, node + 1) : Core{topology.core_count()};
    const auto after = std::lower_bound(nodes.slots.begin(), nodes.slots.end(), end);
    nodes.ends.push_back(static_cast<std::uint64_t>(after - nodes.slots.begin()));
  }
  return nodes;
}

Scheme choose_scheme(const Groups& clusters, const SchemeOptions& options) {
  if (options.scheme != Scheme::adaptive) return options.scheme;
  const double mean = static_cast<double>(clusters.members.size()) / std::max(1U, clusters.size());
  double squares = 0;
  for (std::uint32_t cluster = 0; cluster < clusters.size(); ++cluster) {
    const double difference = static_cast<double>(clusters[cluster].size()) - mean;
    squares += difference * difference;
  }
  const double deviation = std::sqrt(squares / std::max(1U, clusters.size())) / std::max(1.0, mean);
  if (deviation < options.low) return Scheme::plain;
  if (deviation > options.high && clusters.size() < options.many) return Scheme::first_fit;
  return Scheme::most_reservation;
}

std::vector<Core> place_clusters(const Groups& clusters, const NodeSlots& nodes, Scheme scheme) {
  assert(clusters.members.size() <= nodes.slots.size());
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
