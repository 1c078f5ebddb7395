// SPDX-License-Identifier: Apache-2.0
// allocate: closed sets in switch trees and fat trees. The lowest switch that holds enough is the least diameter (Zhang
// 2014, Theorems 4 and 5); among equals the one with the least room to spare.
//
// With `routers`, a job passes every switch between its nodes, so it takes switches that no other job passes. With
// `links`, a job inside one switch passes nothing but its own cables; a job across the children of a switch passes
// ports above these. D-mod-k routing gives each destination a port of its own (node mod ports), so jobs can share a
// switch as long as the positions of their nodes differ: this is the condition of Jigsaw (HPDC 2021) for a fixed
// routing.
#include <algorithm>
#include <limits>

#include "rankloom/allocate/search/isolated_search.hpp"
#include "rankloom/allocate/search/subtrees.hpp"

namespace rankloom {

namespace {

constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();
/// Children from which a set is begun; more seldom find one where these do not.
constexpr std::size_t most_seeds = 4;

/// The numbers below `count` with the highest values, those first.
template <class Value>
std::vector<std::size_t> richest(std::size_t count, const Value& value) {
  std::vector<std::pair<std::uint32_t, std::size_t>> order;
  for (std::size_t i = 0; i < count; ++i) order.emplace_back(value(i), i);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < std::min(count, most_seeds); ++i) chosen.push_back(order[i].second);
  return chosen;
}

using Ports = std::vector<std::uint8_t>;  // 1: free

/// A child of a switch as those see it that send over its ports.
struct PortedChild {
  std::vector<Node> nodes;        // that a message can come down to
  std::vector<std::uint32_t> at;  // by port: how many of them
  Ports leaves;                   // a message may leave

  /// Nodes that can be had when these ports are free elsewhere.
  std::uint32_t gain(const Ports& open) const {
    std::uint32_t sum = 0;
    for (std::size_t port = 0; port < at.size(); ++port) sum += (open[port] & leaves[port]) * at[port];
    return sum;
  }
};

struct PortedSet {
  std::vector<std::size_t> chosen;  // children
  Ports open;                       // free in all of them
};

/// Adds to the seed the child that gives most, again and again, until there are enough nodes; none when that takes
/// `too_many` children or there are no more.
std::optional<PortedSet> grow(const std::vector<PortedChild>& all, std::size_t seed, std::uint32_t nodes,
                              std::size_t too_many) {
  PortedSet set{{seed}, all[seed].leaves};
  while (set.chosen.size() < too_many) {
    std::uint32_t sum = 0;
    for (const std::size_t i : set.chosen) sum += all[i].gain(set.open);
    if (sum >= nodes && set.chosen.size() > 1) return set;
    std::size_t next = all.size();
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (std::find(set.chosen.begin(), set.chosen.end(), i) != set.chosen.end()) continue;
      if (const std::uint32_t value = all[i].gain(set.open); value > most) most = value, next = i;
    }
    if (next == all.size()) break;
    set.chosen.push_back(next);
    for (std::size_t port = 0; port < set.open.size(); ++port) set.open[port] &= all[next].leaves[port];
  }
  return std::nullopt;
}

class SubtreeSearch final : public ClosedSearch {
 public:
  explicit SubtreeSearch(const AllocationMachine& machine) : machine_(machine), tree_(machine.network()) {}

  std::optional<Allotment> closed(const Occupancy& occupancy, std::uint32_t nodes, Prefer prefer,
                                  const ClosedLimits& limits) const override;
  std::optional<Allotment> closed_minimum(const Occupancy& occupancy, std::uint32_t nodes) const override;
  Allotment nearest(const Occupancy& occupancy, std::uint32_t nodes) const override;

 private:
  /// What is free below each subtree; made once for each question.
  struct View {
    const Occupancy& occupancy;
    std::vector<std::uint32_t> free;   // nodes
    std::vector<std::uint32_t> reach;  // of these, how many can be reached from its top over parts that nobody passes
    std::vector<bool> clean;           // its tops (routers) or the ports above it (links) are passed by nobody
  };
  View look(const Occupancy& occupancy) const;
  bool is_clean(const Occupancy& occupancy, const Subtree& part) const;

  std::optional<std::vector<Node>> under(const View& view, std::uint32_t top, std::uint32_t nodes) const;
  std::vector<PortedChild> children_by_port(const View& view, std::uint32_t top, std::uint32_t ports) const;
  std::optional<std::vector<Node>> by_ports(const View& view, std::uint32_t top, std::uint32_t nodes) const;
  void fill(const View& view, std::uint32_t part, std::uint32_t nodes, std::vector<Node>& chosen) const;
  void collect(const View& view, std::uint32_t part, std::vector<Node>& found) const;
  Node best_single(const View& view) const;
  std::optional<Allotment> finish(const Occupancy& occupancy, std::vector<Node> nodes, std::uint32_t top) const;

  AllocationMachine machine_;
  TreeView tree_;
};

bool SubtreeSearch::is_clean(const Occupancy& occupancy, const Subtree& part) const {
  const Bits& held = occupancy.held();
  const bool routers = machine_.exclusive() == Exclusive::routers;
  const std::uint32_t first = routers ? part.first_top : part.first_link;
  const std::uint32_t end = first + (routers ? part.tops : 2 * part.ports);
  for (std::uint32_t at = first; at < end; at += 64) {
    if (held.window(at, std::min(64U, end - at)) != 0) return false;
  }
  return true;
}

SubtreeSearch::View SubtreeSearch::look(const Occupancy& occupancy) const {
  const auto parts = tree_.parts();
  View view{occupancy, std::vector<std::uint32_t>(parts.size()), std::vector<std::uint32_t>(parts.size()),
            std::vector<bool>(parts.size())};
  for (std::uint32_t i = 0; i < parts.size(); ++i) {  // children before their parents
    const Subtree& part = parts[i];
    std::uint32_t own = 0;
    for (const Node node : tree_.own_nodes(part)) own += occupancy.free().test(index(node)) ? 1 : 0;
    view.free[i] += own;
    view.reach[i] += own;
    view.clean[i] = is_clean(occupancy, part);
    if (part.parent == i) continue;
    view.free[part.parent] += view.free[i];
    if (view.clean[i]) view.reach[part.parent] += view.reach[i];
  }
  return view;
}

/// n nodes below a part, from as few of its children as possible, the last of them the one that they fill best.
void SubtreeSearch::fill(const View& view, std::uint32_t part, std::uint32_t nodes, std::vector<Node>& chosen) const {
  std::vector<std::uint32_t> children;
  for (const std::uint32_t child : tree_.children(part)) {
    if (view.clean[child] && view.reach[child] > 0) children.push_back(child);
  }
  std::stable_sort(children.begin(), children.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return view.reach[a] > view.reach[b]; });
  std::uint32_t left = nodes;
  for (std::size_t i = 0; i < children.size() && left > 0; ++i) {
    std::size_t at = i;
    if (view.reach[children[i]] > left) {  // the last one: the smallest that holds what is left
      while (at + 1 < children.size() && view.reach[children[at + 1]] >= left) ++at;
    }
    const std::uint32_t count = std::min(left, view.reach[children[at]]);
    fill(view, children[at], count, chosen);
    left -= count;
  }
  for (const Node node : tree_.own_nodes(tree_.parts()[part])) {
    if (left > 0 && view.occupancy.free().test(index(node))) {
      chosen.push_back(node);
      --left;
    }
  }
}

void SubtreeSearch::collect(const View& view, std::uint32_t part, std::vector<Node>& found) const {
  for (const Node node : tree_.own_nodes(tree_.parts()[part])) {
    if (view.occupancy.free().test(index(node))) found.push_back(node);
  }
  for (const std::uint32_t child : tree_.children(part)) {
    if (view.clean[child]) collect(view, child, found);
  }
}

std::vector<PortedChild> SubtreeSearch::children_by_port(const View& view, std::uint32_t top,
                                                         std::uint32_t ports) const {
  const Bits& held = view.occupancy.held();
  std::vector<PortedChild> all;
  for (const std::uint32_t number : tree_.children(top)) {
    const Subtree& part = tree_.parts()[number];
    PortedChild& child = all.emplace_back();
    child.at.resize(ports);
    child.leaves.resize(ports);
    for (std::uint32_t port = 0; port < ports; ++port) child.leaves[port] = held.test(part.port(port)) ? 0 : 1;
    collect(view, number, child.nodes);
    std::erase_if(child.nodes, [&](Node node) { return held.test(part.port(index(node) % ports) + 1); });
    for (const Node node : child.nodes) ++child.at[index(node) % ports];
  }
  return all;
}

/// Links only: children whose ports are passed by others in part. A node serves if every other chosen child has the
/// port of this node free, so children are added one by one while the ports that all of them have free still give
/// enough.
std::optional<std::vector<Node>> SubtreeSearch::by_ports(const View& view, std::uint32_t top,
                                                         std::uint32_t nodes) const {
  const auto children = tree_.children(top);
  if (children.size() < 2) return std::nullopt;
  const std::uint32_t ports = tree_.parts()[children[0]].ports;
  if (ports < 2 || view.free[top] < nodes || view.reach[top] >= nodes) return std::nullopt;
  const std::vector<PortedChild> all = children_by_port(view, top, ports);
  std::optional<PortedSet> best;
  for (const std::size_t seed : richest(all.size(), [&](std::size_t i) { return all[i].gain(all[i].leaves); })) {
    auto grown = grow(all, seed, nodes, best ? best->chosen.size() : all.size() + 1);
    if (grown) best = std::move(grown);
  }
  if (!best) return std::nullopt;
  // As few ports as possible: those that are left serve other jobs.
  std::vector<Node> candidates;
  for (const std::size_t i : best->chosen) {
    for (const Node node : all[i].nodes) {
      if (best->open[index(node) % ports] != 0) candidates.push_back(node);
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](Node a, Node b) { return index(a) % ports < index(b) % ports; });
  candidates.resize(nodes);
  return candidates;
}

std::optional<std::vector<Node>> SubtreeSearch::under(const View& view, std::uint32_t top, std::uint32_t nodes) const {
  if (view.reach[top] < nodes) return std::nullopt;
  std::vector<Node> chosen;
  fill(view, top, nodes, chosen);
  return chosen;
}

/// A job that sends nothing goes where it hurts least: below a switch or port that others pass, else where the fewest
/// nodes are free.
Node SubtreeSearch::best_single(const View& view) const {
  std::uint32_t best = nothing;
  std::pair<bool, std::uint32_t> least{true, nothing};
  for (std::uint32_t i = 0; i < tree_.parts().size(); ++i) {
    const auto own = tree_.own_nodes(tree_.parts()[i]);
    const bool any =
        std::any_of(own.begin(), own.end(), [&](Node node) { return view.occupancy.free().test(index(node)); });
    const std::pair<bool, std::uint32_t> key{view.clean[i], view.free[i]};
    if (any && (best == nothing || key < least)) best = i, least = key;
  }
  const auto own = tree_.own_nodes(tree_.parts()[best]);
  return *std::find_if(own.begin(), own.end(), [&](Node node) { return view.occupancy.free().test(index(node)); });
}

std::optional<Allotment> SubtreeSearch::finish(const Occupancy& occupancy, std::vector<Node> nodes,
                                               std::uint32_t top) const {
  Allotment allotment;
  std::sort(nodes.begin(), nodes.end());
  allotment.nodes = std::move(nodes);
  allotment.passages = Bits(machine_.rule().passage_count());
  machine_.rule().add_passages(allotment.nodes, allotment.passages);
  allotment.diameter = allotment.nodes.size() > 1 ? tree_.parts()[top].diameter : 0;
  allotment.closed = !allotment.passages.meets(occupancy.held());
  return allotment;
}

std::optional<Allotment> SubtreeSearch::closed(const Occupancy& occupancy, std::uint32_t nodes, Prefer,
                                               const ClosedLimits&) const {
  if (occupancy.free_count() < nodes) return std::nullopt;
  const View view = look(occupancy);
  if (nodes == 1) return finish(occupancy, {best_single(view)}, 0);
  const bool routers = machine_.exclusive() == Exclusive::routers;
  for (const auto& tops : tree_.by_height()) {
    std::uint32_t best = nothing;
    std::pair<std::uint32_t, bool> least{nothing, true};
    for (const std::uint32_t top : tops) {
      if (view.reach[top] < nodes || (routers && !view.clean[top])) continue;
      const std::pair<std::uint32_t, bool> key{view.reach[top], view.clean[top]};
      if (best == nothing || key < least) best = top, least = key;
    }
    if (best != nothing) {
      auto allotment = finish(occupancy, *under(view, best, nodes), best);
      if (allotment->closed) return allotment;
    }
    if (routers) continue;
    for (const std::uint32_t top : tops) {
      if (auto chosen = by_ports(view, top, nodes)) {
        auto allotment = finish(occupancy, std::move(*chosen), top);
        if (allotment->closed) return allotment;
      }
    }
  }
  return std::nullopt;
}

std::optional<Allotment> SubtreeSearch::closed_minimum(const Occupancy& occupancy, std::uint32_t nodes) const {
  if (occupancy.free_count() < nodes) return std::nullopt;
  if (nodes == 1) {
    std::uint32_t first = 0;
    while (!occupancy.free().test(first)) ++first;
    return finish(occupancy, {Node{first}}, 0);
  }
  const View view = look(occupancy);
  const bool routers = machine_.exclusive() == Exclusive::routers;
  for (const auto& tops : tree_.by_height()) {
    bool large_enough = false;
    for (const std::uint32_t top : tops) {
      const auto below = tree_.nodes_below(tree_.parts()[top]);
      large_enough = large_enough || below.size() >= nodes;
      if (below.size() < nodes || view.free[top] < below.size() || (routers && !view.clean[top])) continue;
      std::vector<Node> all(below.begin(), below.end());
      std::sort(all.begin(), all.end());
      auto allotment = finish(occupancy, {all.begin(), all.begin() + nodes}, top);
      if (!allotment->closed) continue;
      allotment->kept.assign(all.begin() + nodes, all.end());
      return allotment;
    }
    if (large_enough) break;  // larger subtrees are not minimal
  }
  return std::nullopt;
}

Allotment SubtreeSearch::nearest(const Occupancy& occupancy, std::uint32_t nodes) const {
  const View view = look(occupancy);
  for (const auto& tops : tree_.by_height()) {
    std::uint32_t best = nothing;
    for (const std::uint32_t top : tops) {
      if (view.free[top] >= nodes && (best == nothing || view.free[top] < view.free[best])) best = top;
    }
    if (best == nothing) continue;
    std::vector<Node> chosen;
    for (const Node node : tree_.nodes_below(tree_.parts()[best])) {
      if (chosen.size() < nodes && occupancy.free().test(index(node))) chosen.push_back(node);
    }
    return *finish(occupancy, std::move(chosen), best);
  }
  return {};
}

}  // namespace

std::unique_ptr<ClosedSearch> make_subtree_search(const AllocationMachine& machine) {
  return std::make_unique<SubtreeSearch>(machine);
}

}  // namespace rankloom
