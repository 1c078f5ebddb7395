// SPDX-License-Identifier: Apache-2.0
// discover: a network and the insides of its nodes as one machine.
#include "rankloom/discover/compose.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "rankloom/discover/default_costs.hpp"
#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/discover/strings/tokens.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

namespace {

/// Wang 2015 measured 3.7 between two nodes of a switch against 1 within a node.
constexpr double network_to_node = 3.7;

bool is_node(const ObjectSpec& object) {
  return object.kind == "node" || object.kind == "host";
}

template <class Object, class Visit>
void for_each_node(Object& object, const Visit& visit) {
  if (is_node(object)) return visit(object);
  for (auto& child : object.children) for_each_node(child, visit);
}

/// Its single node; the levels of one host may also stand right below the machine.
Result<ObjectSpec> only_node(const MachineSpec& machine) {
  std::vector<const ObjectSpec*> nodes;
  std::uint64_t count = 0;
  for_each_node(machine.root, [&](const ObjectSpec& node) {
    nodes.push_back(&node);
    count += node.repeat;
  });
  if (count > 1 || machine.network) {
    return fail(Code::bad_input, at(machine.text),
                fmt::format("describes {} nodes, where the inside of one is asked for", count),
                "give an hwloc file of one node, or a string such as \"package:2 core:16\"");
  }
  if (count == 1) return *nodes[0];
  ObjectSpec node = machine.root;
  node.kind = "node";
  return node;
}

/// The dearest gap inside a node that sends between two of its cores.
double dearest_inside(const Topology& topology) {
  double dearest = 0;
  for (std::size_t level = topology.node_level() + 1; level < topology.levels().size(); ++level) {
    const auto& here = topology.levels()[level];
    if (!here.is_private() && here.cost) dearest = std::max(dearest, here.cost->inverse_bandwidth);
  }
  return dearest;
}

double cheapest_outside(const Topology& topology) {
  if (topology.routed()) return 2 * topology.network().per_hop().inverse_bandwidth;  // a node, a switch, a node
  double cheapest = 0;
  for (std::size_t level = 0; level <= topology.node_level(); ++level) {
    const auto& here = topology.levels()[level];
    if (!here.is_private() && here.cost) cheapest = cheapest > 0 ? std::min(cheapest, here.cost->inverse_bandwidth) : here.cost->inverse_bandwidth;
  }
  return cheapest;
}

void scale_levels(ObjectSpec& object, double factor) {
  if (is_node(object)) return;
  if (object.between) object.between->inverse_bandwidth *= factor;
  for (ObjectSpec& child : object.children) scale_levels(child, factor);
}

Result<NetworkPtr> scaled(const NetworkPtr& network, double factor) {
  const GraphShape* const graph = graph_shape(*network);
  if (graph == nullptr) return network;  // a string's network has the costs its writer wanted
  GraphShape shape = *graph;
  for (auto& cable : shape.cables) cable.cost.inverse_bandwidth *= factor;
  return make_graph(std::move(shape));
}

class Composer {
 public:
  Composer(MachineSpec network, const std::vector<std::string>& keep)
      : machine_(std::move(network)), keep_(keep.begin(), keep.end()) {
    for (const std::string& name : named_nodes(machine_)) names_.emplace(short_host_name(name));
    for (const std::string& host : keep) keep_short_.emplace(short_host_name(host));
  }

  Result<void> add(const NodeInterior& interior) {
    auto node = only_node(interior.machine);
    if (!node) return propagate(node);
    for (const MachineRemark& remark : interior.machine.remarks) machine_.remarks.push_back(remark);
    if (interior.hosts.empty() && !others_) others_ = *node;
    std::vector<std::string> hosts = interior.hosts;
    if (hosts.empty() && contains(node->name)) hosts.push_back(node->name);
    for (const std::string& host : hosts) {
      if (!contains(host)) return missing(host);
      inside_[std::string(short_host_name(host))] = *node;
    }
    has_interiors_ = true;
    return {};
  }

  Result<MachineSpec> finish() && {
    if (auto kept = drop_nodes(); !kept) return propagate(kept);
    if (auto filled = fill_nodes(); !filled) return propagate(filled);
    if (auto raised = raise_costs(); !raised) return propagate(raised);
    return std::move(machine_);
  }

  bool contains(std::string_view host) const { return names_.contains(std::string(short_host_name(host))); }

  Failure missing(std::string_view host) const {
    return fail(Code::bad_input, at(machine_.text), fmt::format("has no node called {}", shown(host)),
                "are the hosts called otherwise in the network's file?");
  }

 private:
  bool stays(const ObjectSpec& node) const {
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

  /// Objects without nodes go too.
  bool prune(ObjectSpec& object) const {
    if (is_node(object)) return stays(object);
    std::erase_if(object.children, [&](ObjectSpec& child) { return !prune(child); });
    return !object.children.empty();
  }

  Result<void> drop_vertices() {
    const GraphShape* const graph = graph_shape(*machine_.network);
    if (graph == nullptr || !graph->next.empty())
      return fail(Code::bad_input, at(machine_.text), "nodes cannot be taken out of this network",
                  "close them instead: !node:3 in a topology string, capacity 0 in JSON");
    GraphShape shape{.nodes = 0, .vertices = 0, .cables = {}, .nodes_forward = graph->nodes_forward, .next = {}};
    std::vector<std::optional<std::uint32_t>> renamed(graph->vertices);
    for (std::uint32_t node = 0; node < graph->nodes; ++node) {
      if (stays(machine_.root.children[node])) renamed[node] = shape.nodes++;
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

  Result<void> fill_nodes() {
    if (!has_interiors_) return {};
    std::string without;
    for_each_node(machine_.root, [&](ObjectSpec& node) {
      const auto own = inside_.find(std::string(short_host_name(node.name)));
      if (own == inside_.end() && !others_) {
        without = node.name;
        return;
      }
      const ObjectSpec& inside = own != inside_.end() ? own->second : *others_;
      node.between = inside.between;
      node.children = inside.children;
    });
    if (without.empty()) return {};
    return fail(Code::bad_input, at(machine_.text), fmt::format("nothing says what is inside {}", shown(without)),
                "give one interior without hosts for all other nodes, or name the hosts to keep");
  }

  Result<void> raise_costs() {
    auto topology = Topology::build(machine_);
    if (!topology) return propagate(topology);
    const double inside = dearest_inside(*topology), outside = cheapest_outside(*topology);
    if (!has_interiors_ || outside <= 0 || inside <= 0 || outside > inside) return {};
    const double factor = network_to_node * inside / outside;
    scale_levels(machine_.root, factor);
    if (!machine_.network) return {};
    auto network = scaled(machine_.network, factor);
    if (!network) return propagate(network);
    machine_.network = std::move(*network);
    return {};
  }

  MachineSpec machine_;
  std::set<std::string> keep_, keep_short_;
  std::set<std::string> names_;               // short, of all nodes
  std::map<std::string, ObjectSpec> inside_;  // by short name
  std::optional<ObjectSpec> others_;          // what all other nodes are like
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

std::vector<std::string> named_nodes(const MachineSpec& machine) {
  std::vector<std::string> names;
  for_each_node(machine.root, [&](const ObjectSpec& node) {
    if (!node.name.empty()) names.push_back(node.name);
  });
  return names;
}

}  // namespace rankloom
