// SPDX-License-Identifier: Apache-2.0
// model/machine/network: dragonflies (Kim, Dally, Scott, Abts 2008) with minimal routing.
#include <algorithm>

#include <fmt/format.h>

#include "rankloom/model/machine/network/divider.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/model/machine/network/shape_check.hpp"

namespace rankloom {

namespace {

/// The global ports of a group are numbered router by router. Port p leads to the (p mod (groups - 1))-th of the other
/// groups. Every pair of groups has the same number of cables, `copies_`; remaining ports are unused.
class Dragonfly final : public Network {
 public:
  Dragonfly(DragonflyShape shape, std::uint32_t copies, Cost per_hop)
      : shape_(shape),
        groups_(shape.groups),
        routers_(shape.routers),
        global_(shape.global),
        copies_(copies),
        nodes_per_router_(shape.nodes),
        router_in_group_(shape.routers),
        per_hop_(per_hop) {
    nodes_ = groups_ * routers_ * shape.nodes;
    first_local_ = 2 * nodes_;
    first_global_ = first_local_ + groups_ * routers_ * (routers_ - 1);
    diameter_ = compute_diameter();
  }

  std::uint32_t node_count() const override { return nodes_; }
  std::uint32_t vertex_count() const override { return nodes_ + groups_ * routers_; }
  std::uint32_t link_count() const override { return first_global_ + groups_ * ports(); }

  std::uint32_t hops(Node from, Node to) const override {
    if (from == to) return 0;
    const Position a = position_of(from), b = position_of(to);
    if (a.group == b.group) return a.router == b.router ? 2 : 3;
    const std::uint32_t copy = choose_copy(a, b);
    return 3 + (gateway(a.group, b.group, copy) != a.router ? 1 : 0) +
           (gateway(b.group, a.group, copy) != b.router ? 1 : 0);
  }

  void route(Node from, Node to, std::vector<Link>& links) const override {
    if (from == to) return;
    const Position a = position_of(from), b = position_of(to);
    links.push_back(Link{2 * index(from)});
    if (a.group == b.group) {
      append_local(a.group, a.router, b.router, links);
    } else {
      const std::uint32_t copy = choose_copy(a, b);
      append_local(a.group, a.router, gateway(a.group, b.group, copy), links);
      links.push_back(Link{first_global_ + a.group * ports() + port(a.group, b.group, copy)});
      append_local(b.group, gateway(b.group, a.group, copy), b.router, links);
    }
    links.push_back(Link{2 * index(to) + 1});
  }

  std::pair<Vertex, Vertex> endpoints(Link link) const override {
    const std::uint32_t number = index(link);
    if (number < first_local_) {
      const Position home = position_of(Node{number / 2});
      const Vertex node{number / 2}, router = vertex(home.group, home.router);
      return number % 2 == 0 ? std::pair(node, router) : std::pair(router, node);
    }
    if (number < first_global_) {
      const std::uint32_t to = (number - first_local_) % (routers_ - 1),
                          from = (number - first_local_) / (routers_ - 1);
      const std::uint32_t group = from / routers_, router = from % routers_;
      return {vertex(group, router), vertex(group, to < router ? to : to + 1)};
    }
    const std::uint32_t group = (number - first_global_) / ports(), out = (number - first_global_) % ports();
    const std::uint32_t other = out % (groups_ - 1), copy = out / (groups_ - 1);
    const std::uint32_t target = other < group ? other : other + 1;
    return {vertex(group, out / global_), vertex(target, gateway(target, group, copy))};
  }

  Cost per_hop() const override { return per_hop_; }
  std::uint32_t diameter() const override { return diameter_; }
  std::string text() const override {
    return fmt::format("dragonfly:{},{},{},{}{}", groups_, routers_, nodes_per_router_.divisor(), global_,
                       cost_text(per_hop_));
  }
  const NetworkShape& shape() const override { return shape_; }

 private:
  struct Position {
    std::uint32_t group, router;
  };
  struct Copies {
    std::uint32_t first, end;
  };

  Position position_of(Node node) const {
    const std::uint32_t router = nodes_per_router_.quotient(index(node));
    const std::uint32_t group = router_in_group_.quotient(router);
    return {group, router - group * routers_};
  }
  Vertex vertex(std::uint32_t group, std::uint32_t router) const { return Vertex{nodes_ + group * routers_ + router}; }
  /// Used global ports per group.
  std::uint32_t ports() const { return copies_ * (groups_ - 1); }
  static std::uint32_t position_among_others(std::uint32_t group, std::uint32_t target) {
    return target < group ? target : target - 1;
  }
  std::uint32_t port(std::uint32_t group, std::uint32_t target, std::uint32_t copy) const {
    return copy * (groups_ - 1) + position_among_others(group, target);
  }
  /// The router that the cable is connected to.
  std::uint32_t gateway(std::uint32_t group, std::uint32_t target, std::uint32_t copy) const {
    return port(group, target, copy) / global_;
  }

  /// The range of cables to the position-th other group that are connected to this router.
  Copies own_copies(std::uint32_t router, std::uint32_t position) const {
    const auto copies_before = [&](std::uint64_t port_number) {  // cables whose port is below this number
      const std::uint64_t stride = groups_ - 1;
      const std::uint64_t count = port_number <= position ? 0 : (port_number - position + stride - 1) / stride;
      return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, copies_));
    };
    const std::uint64_t first_port = static_cast<std::uint64_t>(router) * global_;
    return {copies_before(first_port), copies_before(first_port + global_)};
  }

  /// Prefers a cable that is connected to both routers, then one that is connected to either; else distributes pairs of
  /// routers over all cables. Both directions have the same number of hops.
  std::uint32_t choose_copy(Position a, Position b) const {
    if (copies_ == 1) return 0;
    const Copies at_a = own_copies(a.router, position_among_others(a.group, b.group));
    const Copies at_b = own_copies(b.router, position_among_others(b.group, a.group));
    const Copies both{std::max(at_a.first, at_b.first), std::min(at_a.end, at_b.end)};
    if (both.first < both.end) return both.first;
    if (at_a.first < at_a.end) return at_a.first;
    if (at_b.first < at_b.end) return at_b.first;
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(a.router) + b.router) % copies_);
  }

  void append_local(std::uint32_t group, std::uint32_t from, std::uint32_t to, std::vector<Link>& links) const {
    if (from == to) return;
    links.push_back(Link{first_local_ + (group * routers_ + from) * (routers_ - 1) + (to < from ? to : to - 1)});
  }

  /// Between groups it is 5, unless every router has a cable to every other group. Then it is 4: the endpoints of the
  /// cables increase in the same order in both groups, so that not all pairs of routers are connected directly.
  std::uint32_t compute_diameter() const {
    if (nodes_ == 1) return 0;
    if (groups_ == 1) return routers_ == 1 ? 2 : 3;
    if (routers_ == 1) return 3;
    for (std::uint32_t position = 0; position + 1 < groups_; ++position) {
      for (std::uint32_t router = 0; router < routers_; ++router) {
        const Copies own = own_copies(router, position);
        if (own.first == own.end) return 5;
      }
    }
    return 4;
  }

  NetworkShape shape_;
  std::uint32_t groups_, routers_, global_, copies_;
  Divider nodes_per_router_, router_in_group_;
  Cost per_hop_;
  std::uint32_t nodes_ = 0, first_local_ = 0, first_global_ = 0, diameter_ = 0;
};

}  // namespace

Result<NetworkPtr> make_dragonfly(DragonflyShape shape, Cost per_hop) {
  const std::string kind = "dragonfly";
  const std::uint32_t sizes[] = {shape.groups, shape.routers, shape.nodes};
  if (auto valid = check_sizes(kind, sizes); !valid) return propagate(valid);
  if (auto valid = check_cost(kind, per_hop); !valid) return propagate(valid);
  const std::uint32_t others = shape.groups - 1;
  if (shape.global == 0) shape.global = others / shape.routers + (others % shape.routers > 0 ? 1 : 0);
  const std::uint64_t ports = static_cast<std::uint64_t>(shape.routers) * shape.global;
  if (ports < others) {
    return bad_network(
        kind,
        fmt::format("{} routers with {} global links each cannot reach {} other groups", shape.routers, shape.global,
                    others),
        fmt::format("give each router {} or more global links", (others + shape.routers - 1) / shape.routers));
  }
  const std::uint64_t copies = others == 0 ? 0 : ports / others;
  const std::uint64_t routers = capped_product(shape.groups, shape.routers);
  const std::uint64_t nodes = capped_product(routers, shape.nodes);
  const std::uint64_t links = capped_product(2, nodes) + capped_product(routers, shape.routers - 1) +
                              capped_product(shape.groups, capped_product(copies, others));
  if (auto valid = check_count(kind, nodes + routers, "vertices"); !valid) return propagate(valid);
  if (auto valid = check_count(kind, links, "links"); !valid) return propagate(valid);
  return std::make_shared<Dragonfly>(shape, static_cast<std::uint32_t>(copies), per_hop);
}

}  // namespace rankloom
