// SPDX-License-Identifier: Apache-2.0
// discover: composes a network and the interiors of its nodes.
#include "rankloom/discover/compose.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/discover/default_costs.hpp"
#include "rankloom/discover/strings/tokens.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

namespace {

/// The ratio that Wang 2015 measured between two nodes of a switch and two cores of a node.
constexpr double network_to_node_ratio = 3.7;
/// A single message between nodes is at least this much slower than inside a node, however fast the card is.
constexpr double min_card_to_node_ratio = 1.1;

bool is_node(const ObjectSpec& object) {
  return object.kind == "node" || object.kind == "host";
}

template <class Object, class Visit>
void for_each_node(Object& object, const Visit& visit) {
  if (is_node(object)) return visit(object);
  for (auto& child : object.children) for_each_node(child, visit);
}

/// The only node of a machine; the levels of one host may also be directly below the machine.
Result<ObjectSpec> single_node(const MachineSpec& machine) {
  std::vector<const ObjectSpec*> nodes;
  std::uint64_t count = 0;
  for_each_node(machine.root, [&](const ObjectSpec& node) {
    nodes.push_back(&node);
    count += node.repeat;
  });
  if (count > 1 || machine.network) {
    return fail(Code::bad_input, at(machine.text), fmt::format("describes {} nodes instead of one", count),
                "give an hwloc XML file of one node, or a string such as \"package:2 core:16\"");
  }
  if (count == 1) return *nodes[0];
  ObjectSpec node = machine.root;
  node.kind = "node";
  return node;
}

/// The highest inverse bandwidth between two cores of one node.
double max_inverse_bandwidth_inside(const Topology& topology) {
  double maximum = 0;
  for (std::size_t level = topology.node_level() + 1; level < topology.levels().size(); ++level) {
    const auto& current = topology.levels()[level];
    if (!current.is_private() && current.cost) maximum = std::max(maximum, current.cost->inverse_bandwidth);
  }
  return maximum;
}

double min_inverse_bandwidth_outside(const Topology& topology) {
  if (topology.routed())
    return 2 * topology.network().per_hop().inverse_bandwidth;  // one hop to a switch, one hop to the other node
  double minimum = 0;
  for (std::size_t level = 0; level <= topology.node_level(); ++level) {
    const auto& current = topology.levels()[level];
    if (!current.is_private() && current.cost)
      minimum = minimum > 0 ? std::min(minimum, current.cost->inverse_bandwidth) : current.cost->inverse_bandwidth;
  }
  return minimum;
}

void scale_levels(ObjectSpec& object, double factor) {
  if (is_node(object)) return;
  if (object.between) object.between->inverse_bandwidth *= factor;
  for (ObjectSpec& child : object.children) scale_levels(child, factor);
}

Result<NetworkPtr> scaled(const NetworkPtr& network, double factor) {
  const GraphShape* const graph = graph_shape(*network);
  if (graph == nullptr) return network;  // the user chose the costs of a network in a topology string
  GraphShape shape = *graph;
  for (auto& cable : shape.cables) cable.cost.inverse_bandwidth *= factor;
  return make_graph(std::move(shape));
}

class Composer {
 public:
  Composer(MachineSpec network, const std::vector<std::string>& keep)
      : machine_(std::move(network)), keep_(keep.begin(), keep.end()) {
    for (const std::string& name : node_names(machine_)) names_.emplace(short_host_name(name));
    for (const std::string& host : keep) keep_short_.emplace(short_host_name(host));
  }

  Result<void> add(const NodeInterior& interior) {
    auto node = single_node(interior.machine);
    if (!node) return propagate(node);
    for (const MachineRemark& remark : interior.machine.remarks) machine_.remarks.push_back(remark);
    merge_channels(interior.machine.channels);
    if (interior.hosts.empty() && !default_interior_) default_interior_ = *node;
    std::vector<std::string> hosts = interior.hosts;
    if (hosts.empty() && contains(node->name)) hosts.push_back(node->name);
    for (const std::string& host : hosts) {
      if (!contains(host)) return missing(host);
      interiors_[std::string(short_host_name(host))] = *node;
    }
    has_interiors_ = true;
    return {};
  }

  Result<MachineSpec> finish() && {
    if (auto kept = drop_nodes(); !kept) return propagate(kept);
    if (auto filled = fill_nodes(); !filled) return propagate(filled);
    take_channels();
    if (auto used = use_card_rate(); !used) return propagate(used);
    if (auto raised = raise_costs(); !raised) return propagate(raised);
    return std::move(machine_);
  }

  bool contains(std::string_view host) const { return names_.contains(std::string(short_host_name(host))); }

  Failure missing(std::string_view host) const {
    return fail(Code::bad_input, at(machine_.text), fmt::format("has no node with the name {}", printable(host)),
                "compare the host names with the node names in the file of the network");
  }

 private:
  bool is_kept(const ObjectSpec& node) const {
    return keep_.empty() || keep_.contains(node.name) || keep_short_.contains(std::string(short_host_name(node.name)));
  }

  Result<void> drop_nodes() {
    if (keep_.empty()) return {};
    for (const std::string& host : keep_) {
      if (!contains(host)) return missing(host);
    }
    if (machine_.network) {
      if (auto rewired = drop_vertices(); !rewired) return rewired;
    }
    prune(machine_.root);
    return {};
  }

  /// Removes the nodes that are not kept, and objects without nodes.
  bool prune(ObjectSpec& object) const {
    if (is_node(object)) return is_kept(object);
    std::erase_if(object.children, [&](ObjectSpec& child) { return !prune(child); });
    return !object.children.empty();
  }

  Result<void> drop_vertices() {
    const GraphShape* const graph = graph_shape(*machine_.network);
    if (graph == nullptr || !graph->next.empty())
      return fail(Code::bad_input, at(machine_.text), "nodes cannot be removed from this network",
                  "exclude them instead: !node:3 in a topology string, or capacity 0 in the topology JSON");
    GraphShape shape{.nodes = 0, .vertices = 0, .cables = {}, .nodes_forward = graph->nodes_forward, .next = {}};
    std::vector<std::optional<std::uint32_t>> renamed(graph->vertices);
    for (std::uint32_t node = 0; node < graph->nodes; ++node) {
      if (is_kept(machine_.root.children[node])) renamed[node] = shape.nodes++;
    }
    shape.vertices = shape.nodes;
    for (std::uint32_t router = graph->nodes; router < graph->vertices; ++router) renamed[router] = shape.vertices++;
    for (auto cable : graph->cables) {
      const auto a = renamed[index(cable.a)], b = renamed[index(cable.b)];
      if (!a || !b) continue;
      cable.a = Vertex{*a};
      cable.b = Vertex{*b};
      shape.cables.push_back(cable);
    }
    auto network = make_graph(std::move(shape));
    if (!network) return propagate(network);
    machine_.network = std::move(*network);
    return {};
  }

  /// The costs inside this object are replaced.
  void forget_cost_origins(const ObjectSpec& object) {
    for (const ObjectSpec& child : object.children) {
      std::erase_if(machine_.channels.cost_origins, [&](const auto& entry) { return entry.kind == child.kind; });
      forget_cost_origins(child);
    }
  }

  Result<void> fill_nodes() {
    if (!has_interiors_) return {};
    std::string without;
    for_each_node(machine_.root, [&](ObjectSpec& node) {
      const auto interior = interiors_.find(std::string(short_host_name(node.name)));
      if (interior == interiors_.end() && !default_interior_) {
        without = node.name;
        return;
      }
      const ObjectSpec& inside = interior != interiors_.end() ? interior->second : *default_interior_;
      forget_cost_origins(node);
      node.between = inside.between;
      node.children = inside.children;
      node.devices = inside.devices;
      node.gpu_links = inside.gpu_links;
    });
    if (without.empty()) return {};
    return fail(Code::bad_input, at(machine_.text),
                fmt::format("no file describes the inside of {}", printable(without)),
                "give one --node TOPOLOGY without host names for all other nodes, or restrict the hosts with --hosts");
  }

  /// Widths belong to all nodes alike: the narrowest node counts. Of two origins, the less certain one counts.
  void merge_channels(const ChannelSpec& channels) {
    ChannelSpec& all = interior_channels_;
    for (const auto& [kind, messages, origin] : channels.widths) {
      const auto known = std::ranges::find(all.widths, kind, &ChannelSpec::Width::kind);
      if (known == all.widths.end()) {
        all.set_width(kind, messages, origin);
      } else {
        all.set_width(kind, std::min(messages, known->messages), std::min(origin, known->origin));
      }
    }
    for (const auto& [kind, origin] : channels.cost_origins) {
      const bool is_known =
          std::ranges::find(all.cost_origins, kind, &ChannelSpec::CostOrigin::kind) != all.cost_origins.end();
      all.set_cost_origin(kind, is_known ? std::min(origin, all.cost_origin(kind)) : origin);
    }
    all.card_rate = has_interiors_ ? std::min(all.card_rate, channels.card_rate) : channels.card_rate;
  }

  /// The channels of the nodes, unless the network has its own.
  void take_channels() {
    ChannelSpec& channels = machine_.channels;
    std::string kind_of_nodes = "node";
    for_each_node(machine_.root, [&](const ObjectSpec& node) { kind_of_nodes = node.kind; });
    for (const ChannelSpec::Width& width : interior_channels_.widths) {
      const std::string& kind = width.kind == "node" ? kind_of_nodes : width.kind;
      if (!channels.width(kind)) channels.set_width(kind, width.messages, width.origin);
    }
    for (const auto& [kind, origin] : interior_channels_.cost_origins) channels.set_cost_origin(kind, origin);
    if (channels.card_rate == 0) channels.card_rate = interior_channels_.card_rate;
  }

  /// Replaces an assumed cost between nodes by that of their cards; levels above keep their ratio to it. Of a card that
  /// is faster than a core copies, the rest becomes width.
  Result<void> use_card_rate() {
    ChannelSpec& channels = machine_.channels;
    if (channels.card_rate <= 0 || machine_.network) return {};
    auto topology = Topology::build(machine_);
    if (!topology) return propagate(topology);
    const Topology::Level& nodes = topology->levels()[topology->node_level()];
    if (!nodes.cost || nodes.is_private() || channels.cost_origin(nodes.kind) != Origin::assumed) return {};
    const double of_card = 1e9 / channels.card_rate;  // nanoseconds per byte
    const double cost = std::max(of_card, min_card_to_node_ratio * max_inverse_bandwidth_inside(*topology));
    scale_levels(machine_.root, cost / nodes.cost->inverse_bandwidth);
    if (cost == of_card) channels.set_cost_origin(nodes.kind, Origin::discovered);
    const auto cards = std::ranges::find(channels.widths, nodes.kind, &ChannelSpec::Width::kind);
    if (cards != channels.widths.end() && cards->origin == Origin::discovered)
      cards->messages = rounded_width(cards->messages * cost / of_card);
    return {};
  }

  Result<void> raise_costs() {
    auto topology = Topology::build(machine_);
    if (!topology) return propagate(topology);
    const double inside = max_inverse_bandwidth_inside(*topology), outside = min_inverse_bandwidth_outside(*topology);
    if (!has_interiors_ || outside <= 0 || inside <= 0 || outside > inside) return {};
    const double factor = network_to_node_ratio * inside / outside;
    scale_levels(machine_.root, factor);
    if (!machine_.network) return {};
    auto network = scaled(machine_.network, factor);
    if (!network) return propagate(network);
    machine_.network = std::move(*network);
    return {};
  }

  MachineSpec machine_;
  std::set<std::string> keep_, keep_short_;
  std::set<std::string> names_;                  // short host names of all nodes
  std::map<std::string, ObjectSpec> interiors_;  // by short host name
  std::optional<ObjectSpec> default_interior_;   // for nodes that have no interior of their own
  ChannelSpec interior_channels_;                // of all interiors
  bool has_interiors_ = false;
};

}  // namespace

MachineSpec flat_network(const std::vector<std::string>& hosts) {
  MachineSpec machine;
  machine.text = "list of hosts";
  machine.root.kind = "machine";
  machine.root.between = default_switch_cost(1);
  for (const std::string& host : hosts) {
    ObjectSpec core{.kind = "core", .name = {}, .between = {}, .os_index = {}, .children = {}};
    machine.root.children.push_back(
        {.kind = "node", .name = host, .between = {}, .os_index = {}, .children = {std::move(core)}});
  }
  set_cost_origins(machine, Origin::assumed);
  return machine;
}

Result<MachineSpec> compose(MachineSpec network, std::span<const NodeInterior> interiors,
                            const std::vector<std::string>& keep) {
  Composer composer(std::move(network), keep);
  for (const NodeInterior& interior : interiors) {
    if (auto added = composer.add(interior); !added) return propagate(added);
  }
  return std::move(composer).finish();
}

std::vector<std::string> node_names(const MachineSpec& machine) {
  std::vector<std::string> names;
  for_each_node(machine.root, [&](const ObjectSpec& node) {
    if (!node.name.empty()) names.push_back(node.name);
  });
  return names;
}

}  // namespace rankloom
