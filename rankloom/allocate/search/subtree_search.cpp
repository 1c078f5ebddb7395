// SPDX-License-Identifier: Apache-2.0
// allocate/search: isolated sets in switch trees and fat trees. The lowest switch with enough free nodes gives the
// smallest diameter (Zhang 2014, Theorems 4 and 5); among switches of equal height the search takes the one with the
// fewest free nodes.
//
// With `routers`, a job uses every switch between its nodes and therefore needs switches that no other job uses. With
// `links`, a job below one leaf switch uses only the cables of its direct nodes; a job across several children of a
// switch uses ports above these children. D-mod-k routing gives each destination one port (node mod ports), so that
// jobs can share a switch if the ports of their nodes differ. This is the condition of Jigsaw (HPDC 2021) for a fixed
// routing.
#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/allocate/search/isolated_search.hpp"
#include "rankloom/allocate/search/subtrees.hpp"

namespace rankloom {

namespace {

constexpr std::uint32_t no_subtree = std::numeric_limits<std::uint32_t>::max();
/// Number of children that serve as seeds. More seeds rarely succeed where these fail.
constexpr std::size_t max_seeds = 4;
/// Number of switches of one height that are candidates for a job.
constexpr std::size_t max_tops = 3;

/// The numbers below `count` with the highest values, in descending order of value.
template <class Value>
std::vector<std::size_t> highest_values(std::size_t count, const Value& value) {
  std::vector<std::pair<std::uint32_t, std::size_t>> order;
  for (std::size_t i = 0; i < count; ++i) order.emplace_back(value(i), i);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < std::min(count, max_seeds); ++i) chosen.push_back(order[i].second);
  return chosen;
}

using PortMask = std::vector<std::uint8_t>;  // by port; 1: free

/// The ports above one child of a switch, and the free nodes that messages can reach through them.
struct ChildPorts {
  std::vector<Node> nodes;  // reachable from above
  std::vector<std::uint32_t> nodes_behind_port;
  PortMask free_up;  // no other job sends up through the port

  /// Number of nodes that this child adds if these ports are free in the other children.
  std::uint32_t gain(const PortMask& free_ports) const {
    std::uint32_t sum = 0;
    for (std::size_t port = 0; port < nodes_behind_port.size(); ++port)
      sum += (free_ports[port] & free_up[port]) * nodes_behind_port[port];
    return sum;
  }
};

struct ChildSet {
  std::vector<std::size_t> chosen;  // children
  PortMask free_ports;              // free in all of them
};

/// Starts with the seed and repeatedly adds the child with the largest gain until there are enough nodes. Nothing if
/// that takes `max_children` children or no further child helps.
std::optional<ChildSet> grow_set(const std::vector<ChildPorts>& all, std::size_t seed, std::uint32_t nodes,
                                 std::size_t max_children) {
  ChildSet set{{seed}, all[seed].free_up};
  while (set.chosen.size() < max_children) {
    std::uint32_t sum = 0;
    for (const std::size_t i : set.chosen) sum += all[i].gain(set.free_ports);
    if (sum >= nodes && set.chosen.size() > 1) return set;
    std::size_t next = all.size();
    std::uint32_t largest_gain = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (std::find(set.chosen.begin(), set.chosen.end(), i) != set.chosen.end()) continue;
      if (const std::uint32_t value = all[i].gain(set.free_ports); value > largest_gain) largest_gain = value, next = i;
    }
    if (next == all.size()) break;
    set.chosen.push_back(next);
    for (std::size_t port = 0; port < set.free_ports.size(); ++port) set.free_ports[port] &= all[next].free_up[port];
  }
  return std::nullopt;
}

class SubtreeSearch final : public IsolatedSearch {
 public:
  explicit SubtreeSearch(const AllocationMachine& machine)
      : machine_(machine), tree_(machine.network()), switch_of_(machine.node_count(), no_subtree) {
    for (std::uint32_t i = 0; i < tree_.subtrees().size(); ++i) {
      for (const Node node : tree_.direct_nodes(tree_.subtrees()[i])) switch_of_[index(node)] = i;
    }
  }

  std::optional<Allocation> find_isolated(const Occupancy& occupancy, std::uint32_t nodes, Objective objective,
                                          const IsolationLimits& limits) const override;
  std::vector<Candidate> find_candidates(const Occupancy& occupancy, std::uint32_t nodes, const IsolationLimits& limits,
                                         std::size_t max) const override;
  std::optional<Allocation> find_template(const Occupancy& occupancy, std::uint32_t nodes) const override;
  Allocation find_nearest(const Occupancy& occupancy, std::uint32_t nodes) const override;

 private:
  /// What is free below each subtree; built once per search.
  struct View {
    const Occupancy& occupancy;
    std::vector<std::uint32_t> free;       // free nodes
    std::vector<std::uint32_t> reachable;  // free nodes that unused switches or ports connect to the top
    std::vector<bool> unused;              // no job uses the top switches (routers) or the ports above (links)
  };
  View make_view(const Occupancy& occupancy) const;
  bool is_unused(const Occupancy& occupancy, const Subtree& subtree) const;

  std::optional<std::vector<Node>> find_below(const View& view, std::uint32_t top, std::uint32_t nodes) const;
  std::vector<ChildPorts> children_by_port(const View& view, std::uint32_t top, std::uint32_t ports) const;
  std::optional<std::vector<Node>> find_by_ports(const View& view, std::uint32_t top, std::uint32_t nodes) const;
  void choose_below(const View& view, std::uint32_t subtree, std::uint32_t nodes, std::vector<Node>& chosen) const;
  std::vector<Node> choose_evenly(const View& view, std::uint32_t top, std::uint32_t nodes) const;
  void collect_free_nodes(const View& view, std::uint32_t subtree, std::vector<Node>& found) const;
  Candidate make_candidate(const View& view, Allocation allocation) const;
  Node best_single(const View& view) const;
  std::optional<Allocation> make_allocation(const Occupancy& occupancy, std::vector<Node> nodes,
                                            std::uint32_t top) const;

  AllocationMachine machine_;
  Subtrees tree_;
  std::vector<std::uint32_t> switch_of_;  // the subtree whose top switch a node is connected to, by node
};

bool SubtreeSearch::is_unused(const Occupancy& occupancy, const Subtree& subtree) const {
  const Bitset& used = occupancy.used_resources();
  const bool routers = machine_.exclusive() == Exclusive::routers;
  const std::uint32_t first = routers ? subtree.first_top : subtree.first_link;
  const std::uint32_t end = first + (routers ? subtree.tops : 2 * subtree.ports);
  for (std::uint32_t at = first; at < end; at += 64) {
    if (used.window(at, std::min(64U, end - at)) != 0) return false;
  }
  return true;
}

SubtreeSearch::View SubtreeSearch::make_view(const Occupancy& occupancy) const {
  const auto subtrees = tree_.subtrees();
  View view{occupancy, std::vector<std::uint32_t>(subtrees.size()), std::vector<std::uint32_t>(subtrees.size()),
            std::vector<bool>(subtrees.size())};
  for (std::uint32_t i = 0; i < subtrees.size(); ++i) {  // children precede their parents
    const Subtree& subtree = subtrees[i];
    std::uint32_t direct = 0;
    for (const Node node : tree_.direct_nodes(subtree)) direct += occupancy.free_nodes().test(index(node)) ? 1 : 0;
    view.free[i] += direct;
    view.reachable[i] += direct;
    view.unused[i] = is_unused(occupancy, subtree);
    if (subtree.parent == i) continue;
    view.free[subtree.parent] += view.free[i];
    if (view.unused[i]) view.reachable[subtree.parent] += view.reachable[i];
  }
  return view;
}

/// Chooses n nodes below a subtree from as few children as possible; the last child is the smallest one that is large
/// enough.
void SubtreeSearch::choose_below(const View& view, std::uint32_t subtree, std::uint32_t nodes,
                                 std::vector<Node>& chosen) const {
  std::vector<std::uint32_t> children;
  for (const std::uint32_t child : tree_.children(subtree)) {
    if (view.unused[child] && view.reachable[child] > 0) children.push_back(child);
  }
  std::stable_sort(children.begin(), children.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return view.reachable[a] > view.reachable[b]; });
  std::uint32_t left = nodes;
  for (std::size_t i = 0; i < children.size() && left > 0; ++i) {
    std::size_t at = i;
    if (view.reachable[children[i]] > left) {  // the last child: the smallest one with enough nodes
      while (at + 1 < children.size() && view.reachable[children[at + 1]] >= left) ++at;
    }
    const std::uint32_t count = std::min(left, view.reachable[children[at]]);
    choose_below(view, children[at], count, chosen);
    left -= count;
  }
  for (const Node node : tree_.direct_nodes(tree_.subtrees()[subtree])) {
    if (left > 0 && view.occupancy.free_nodes().test(index(node))) {
      chosen.push_back(node);
      --left;
    }
  }
}

void SubtreeSearch::collect_free_nodes(const View& view, std::uint32_t subtree, std::vector<Node>& found) const {
  for (const Node node : tree_.direct_nodes(tree_.subtrees()[subtree])) {
    if (view.occupancy.free_nodes().test(index(node))) found.push_back(node);
  }
  for (const std::uint32_t child : tree_.children(subtree)) {
    if (view.unused[child]) collect_free_nodes(view, child, found);
  }
}

std::vector<ChildPorts> SubtreeSearch::children_by_port(const View& view, std::uint32_t top,
                                                        std::uint32_t ports) const {
  const Bitset& used = view.occupancy.used_resources();
  std::vector<ChildPorts> all;
  for (const std::uint32_t number : tree_.children(top)) {
    const Subtree& subtree = tree_.subtrees()[number];
    ChildPorts& child = all.emplace_back();
    child.nodes_behind_port.resize(ports);
    child.free_up.resize(ports);
    for (std::uint32_t port = 0; port < ports; ++port) child.free_up[port] = used.test(subtree.port(port)) ? 0 : 1;
    collect_free_nodes(view, number, child.nodes);
    std::erase_if(child.nodes, [&](Node node) { return used.test(subtree.port(index(node) % ports) + 1); });
    for (const Node node : child.nodes) ++child.nodes_behind_port[index(node) % ports];
  }
  return all;
}

/// Links only: children whose ports are partly in use. A node is usable if its port is free in every other chosen
/// child. Children are added one by one while the ports that are free in all of them still provide enough nodes.
std::optional<std::vector<Node>> SubtreeSearch::find_by_ports(const View& view, std::uint32_t top,
                                                              std::uint32_t nodes) const {
  const auto children = tree_.children(top);
  if (children.size() < 2) return std::nullopt;
  const std::uint32_t ports = tree_.subtrees()[children[0]].ports;
  if (ports < 2 || view.free[top] < nodes || view.reachable[top] >= nodes) return std::nullopt;
  const std::vector<ChildPorts> all = children_by_port(view, top, ports);
  std::optional<ChildSet> best;
  for (const std::size_t seed :
       highest_values(all.size(), [&](std::size_t i) { return all[i].gain(all[i].free_up); })) {
    auto grown = grow_set(all, seed, nodes, best ? best->chosen.size() : all.size() + 1);
    if (grown) best = std::move(grown);
  }
  if (!best) return std::nullopt;
  // As few ports as possible, so that other jobs can use the remaining ones.
  std::vector<Node> candidates;
  for (const std::size_t i : best->chosen) {
    for (const Node node : all[i].nodes) {
      if (best->free_ports[index(node) % ports] != 0) candidates.push_back(node);
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](Node a, Node b) { return index(a) % ports < index(b) % ports; });
  candidates.resize(nodes);
  return candidates;
}

std::optional<std::vector<Node>> SubtreeSearch::find_below(const View& view, std::uint32_t top,
                                                           std::uint32_t nodes) const {
  if (view.reachable[top] < nodes) return std::nullopt;
  std::vector<Node> chosen;
  choose_below(view, top, nodes, chosen);
  return chosen;
}

/// A job of one node sends no messages, so it takes the node that is least useful to others: below a switch or port
/// that is in use, else where the fewest nodes are free.
Node SubtreeSearch::best_single(const View& view) const {
  std::uint32_t best = no_subtree;
  std::pair<bool, std::uint32_t> best_key{true, no_subtree};
  for (std::uint32_t i = 0; i < tree_.subtrees().size(); ++i) {
    const auto direct = tree_.direct_nodes(tree_.subtrees()[i]);
    const bool any = std::any_of(direct.begin(), direct.end(),
                                 [&](Node node) { return view.occupancy.free_nodes().test(index(node)); });
    const std::pair<bool, std::uint32_t> key{view.unused[i], view.free[i]};
    if (any && (best == no_subtree || key < best_key)) best = i, best_key = key;
  }
  const auto direct = tree_.direct_nodes(tree_.subtrees()[best]);
  return *std::find_if(direct.begin(), direct.end(),
                       [&](Node node) { return view.occupancy.free_nodes().test(index(node)); });
}

std::optional<Allocation> SubtreeSearch::make_allocation(const Occupancy& occupancy, std::vector<Node> nodes,
                                                         std::uint32_t top) const {
  Allocation allocation;
  std::sort(nodes.begin(), nodes.end());
  allocation.nodes = std::move(nodes);
  allocation.shared_resources = Bitset(machine_.route_footprint().resource_count());
  machine_.route_footprint().add_resources(allocation.nodes, allocation.shared_resources);
  allocation.diameter = allocation.nodes.size() > 1 ? tree_.subtrees()[top].diameter : 0;
  allocation.isolated = !occupancy.conflicts_with(allocation.shared_resources);
  return allocation;
}

std::optional<Allocation> SubtreeSearch::find_isolated(const Occupancy& occupancy, std::uint32_t nodes, Objective,
                                                       const IsolationLimits&) const {
  if (occupancy.free_count() < nodes) return std::nullopt;
  const View view = make_view(occupancy);
  if (nodes == 1) return make_allocation(occupancy, {best_single(view)}, 0);
  const bool routers = machine_.exclusive() == Exclusive::routers;
  for (const auto& tops : tree_.by_height()) {
    std::uint32_t best = no_subtree;
    std::pair<std::uint32_t, bool> best_key{no_subtree, true};
    for (const std::uint32_t top : tops) {
      if (view.reachable[top] < nodes || (routers && !view.unused[top])) continue;
      const std::pair<std::uint32_t, bool> key{view.reachable[top], view.unused[top]};
      if (best == no_subtree || key < best_key) best = top, best_key = key;
    }
    if (best != no_subtree) {
      auto allocation = make_allocation(occupancy, *find_below(view, best, nodes), best);
      if (allocation->isolated) return allocation;
    }
    if (routers) continue;
    for (const std::uint32_t top : tops) {
      if (auto chosen = find_by_ports(view, top, nodes)) {
        auto allocation = make_allocation(occupancy, std::move(*chosen), top);
        if (allocation->isolated) return allocation;
      }
    }
  }
  return std::nullopt;
}

/// n nodes below a subtree, the same number from each child if possible, from as few children as possible: two halves
/// of a job that exchange little get a child each.
std::vector<Node> SubtreeSearch::choose_evenly(const View& view, std::uint32_t top, std::uint32_t nodes) const {
  std::vector<std::uint32_t> children;
  for (const std::uint32_t child : tree_.children(top)) {
    if (view.unused[child] && view.reachable[child] > 0) children.push_back(child);
  }
  std::stable_sort(children.begin(), children.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return view.reachable[a] > view.reachable[b]; });
  for (std::uint32_t count = 2; count <= children.size(); ++count) {
    const std::uint32_t share = (nodes + count - 1) / count;
    if (share > view.reachable[children[count - 1]]) continue;
    // The smallest children that are large enough leave the large ones to others.
    std::size_t last = count - 1;
    while (last + 1 < children.size() && view.reachable[children[last + 1]] >= share) ++last;
    std::vector<Node> chosen;
    for (std::uint32_t i = 0; i < count; ++i)
      choose_below(view, children[last - i], nodes / count + (i < nodes % count ? 1 : 0), chosen);
    return chosen;
  }
  return {};
}

Candidate SubtreeSearch::make_candidate(const View& view, Allocation allocation) const {
  std::vector<std::uint32_t> switches;
  for (const Node node : allocation.nodes) switches.push_back(switch_of_[index(node)]);
  std::sort(switches.begin(), switches.end());
  std::vector<std::uint32_t> sizes;
  std::uint32_t left = 0;  // free nodes of the same switches
  for (std::size_t i = 0; i < switches.size();) {
    std::size_t end = i;
    while (end < switches.size() && switches[end] == switches[i]) ++end;
    for (const Node node : tree_.direct_nodes(tree_.subtrees()[switches[i]]))
      left += view.occupancy.free_nodes().test(index(node)) ? 1 : 0;
    sizes.push_back(static_cast<std::uint32_t>(end - i));
    left -= sizes.back();
    i = end;
  }
  std::sort(sizes.rbegin(), sizes.rend());
  constexpr std::size_t max_shown = 8;
  std::string shape = fmt::format(
      "{} switch{} with {}", sizes.size(), sizes.size() == 1 ? "" : "es",
      fmt::join(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(std::min(sizes.size(), max_shown)), "+"));
  shape += sizes.size() > max_shown ? "+… nodes" : " nodes";
  const double packing_cost = static_cast<double>(allocation.nodes.size()) + 0.25 * left;
  return {std::move(allocation), std::move(shape), packing_cost};
}

std::vector<Candidate> SubtreeSearch::find_candidates(const Occupancy& occupancy, std::uint32_t nodes,
                                                      const IsolationLimits& limits, std::size_t max) const {
  std::vector<Candidate> result;
  if (nodes == 1) {
    if (auto single = find_isolated(occupancy, nodes, Objective::min_diameter, limits))
      result.push_back({*std::move(single), "1 node", 1});
    return result;
  }
  if (occupancy.free_count() < nodes) return result;
  const View view = make_view(occupancy);
  const bool routers = machine_.exclusive() == Exclusive::routers;
  const auto add = [&](std::vector<Node> chosen, std::uint32_t top) {
    if (chosen.size() != nodes || result.size() >= max) return;
    auto allocation = make_allocation(occupancy, std::move(chosen), top);
    const bool known = std::any_of(result.begin(), result.end(), [&](const Candidate& candidate) {
      return candidate.allocation.nodes == allocation->nodes;
    });
    if (allocation->isolated && !known) result.push_back(make_candidate(view, *std::move(allocation)));
  };
  std::size_t heights = 0;
  for (const auto& tops : tree_.by_height()) {
    std::vector<std::uint32_t> feasible;
    for (const std::uint32_t top : tops) {
      if (view.reachable[top] >= nodes && (!routers || view.unused[top])) feasible.push_back(top);
    }
    std::stable_sort(feasible.begin(), feasible.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair<std::uint32_t, bool>(view.reachable[a], view.unused[a]) <
             std::pair<std::uint32_t, bool>(view.reachable[b], view.unused[b]);
    });
    const std::size_t before = result.size();
    for (std::size_t i = 0; i < std::min(feasible.size(), max_tops); ++i) {
      add(*find_below(view, feasible[i], nodes), feasible[i]);
      add(choose_evenly(view, feasible[i], nodes), feasible[i]);
    }
    if (!routers && result.size() == before) {
      for (const std::uint32_t top : tops) {
        if (auto chosen = find_by_ports(view, top, nodes)) add(std::move(*chosen), top);
        if (result.size() > before) break;
      }
    }
    // A larger diameter is worth a look, the next ones are not.
    if (result.size() > before && ++heights == 2) break;
  }
  return result;
}

std::optional<Allocation> SubtreeSearch::find_template(const Occupancy& occupancy, std::uint32_t nodes) const {
  if (occupancy.free_count() < nodes) return std::nullopt;
  if (nodes == 1) {
    std::uint32_t first = 0;
    while (!occupancy.free_nodes().test(first)) ++first;
    return make_allocation(occupancy, {Node{first}}, 0);
  }
  const View view = make_view(occupancy);
  const bool routers = machine_.exclusive() == Exclusive::routers;
  for (const auto& tops : tree_.by_height()) {
    bool large_enough = false;
    for (const std::uint32_t top : tops) {
      const auto below = tree_.nodes_below(tree_.subtrees()[top]);
      large_enough = large_enough || below.size() >= nodes;
      if (below.size() < nodes || view.free[top] < below.size() || (routers && !view.unused[top])) continue;
      std::vector<Node> all(below.begin(), below.end());
      std::sort(all.begin(), all.end());
      auto allocation = make_allocation(occupancy, {all.begin(), all.begin() + nodes}, top);
      if (!allocation->isolated) continue;
      allocation->reserved.assign(all.begin() + nodes, all.end());
      return allocation;
    }
    if (large_enough) break;  // larger subtrees have a larger diameter than the template
  }
  return std::nullopt;
}

Allocation SubtreeSearch::find_nearest(const Occupancy& occupancy, std::uint32_t nodes) const {
  const View view = make_view(occupancy);
  for (const auto& tops : tree_.by_height()) {
    std::uint32_t best = no_subtree;
    for (const std::uint32_t top : tops) {
      if (view.free[top] >= nodes && (best == no_subtree || view.free[top] < view.free[best])) best = top;
    }
    if (best == no_subtree) continue;
    std::vector<Node> chosen;
    for (const Node node : tree_.nodes_below(tree_.subtrees()[best])) {
      if (chosen.size() < nodes && occupancy.free_nodes().test(index(node))) chosen.push_back(node);
    }
    return *make_allocation(occupancy, std::move(chosen), best);
  }
  return {};
}

}  // namespace

std::unique_ptr<IsolatedSearch> make_subtree_search(const AllocationMachine& machine) {
  return std::make_unique<SubtreeSearch>(machine);
}

}  // namespace rankloom
