// SPDX-License-Identifier: Apache-2.0
// place/reorder: a machine description from the hosts and bindings of processes.
#include "rankloom/place/reorder/process_bindings.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/discover/discover.hpp"

namespace rankloom::reorder {

namespace {

/// Natural order: numbers in names compare as numbers, so n2 comes before n10.
bool natural_less(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view text) { return std::min(text.find_first_not_of("0123456789"), text.size()); };
  while (!a.empty() && !b.empty()) {
    const std::size_t digits_a = digits(a), digits_b = digits(b);
    if (digits_a > 0 && digits_b > 0) {
      const std::string_view number_a = a.substr(0, digits_a), number_b = b.substr(0, digits_b);
      if (digits_a != digits_b) return digits_a < digits_b;
      if (number_a != number_b) return number_a < number_b;
      a.remove_prefix(digits_a);
      b.remove_prefix(digits_b);
    } else {
      if (a[0] != b[0]) return a[0] < b[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

std::vector<std::string> sorted_hosts(const std::vector<ProcessBinding>& bindings) {
  std::vector<std::string> hosts;
  hosts.reserve(bindings.size());
  for (const ProcessBinding& binding : bindings) hosts.push_back(binding.host);
  std::sort(hosts.begin(), hosts.end(), [](const std::string& a, const std::string& b) {
    return natural_less(a, b) || (!natural_less(b, a) && a < b);
  });
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

using NodeByHost = std::map<std::string, Node, std::less<>>;

struct NamedMachine {
  Topology topology;
  NodeByHost nodes;
};

/// The node of each host by name; nothing if a host is missing.
std::optional<NodeByHost> find_by_name(const Topology& topology, const std::vector<std::string>& hosts) {
  std::map<std::string, Node, std::less<>> by_name, by_short_name;
  for (const Node node : topology.nodes()) {
    const std::string name = topology.node_name(node);
    by_name.emplace(name, node);
    by_short_name.emplace(short_host_name(name), node);
  }
  NodeByHost nodes;
  for (const std::string& host : hosts) {
    auto at = by_name.find(host);
    if (at == by_name.end()) {
      at = by_short_name.find(short_host_name(host));
      if (at == by_short_name.end()) return std::nullopt;
    }
    nodes.emplace(host, at->second);
  }
  return nodes;
}

bool has_interiors(const Topology& topology) {
  return topology.core_count() > topology.node_count();
}

Result<NamedMachine> load_named_machine(const std::vector<std::string>& hosts, const std::string& text,
                                        const std::vector<NodeInterior>& interiors) {
  if (text.empty()) {
    auto spec = compose(flat_network(hosts), interiors, {});
    if (!spec) return propagate(spec);
    auto topology = Topology::build(*std::move(spec));
    if (!topology) return propagate(topology);
    auto nodes = find_by_name(*topology, hosts);
    if (!nodes)
      return fail(Code::bad_input, at("hosts"), "two hosts have the same name", "give every host a different name");
    return NamedMachine{*std::move(topology), *std::move(nodes)};
  }
  auto spec = load_machine(text);
  if (!spec) return propagate(spec);
  auto topology = Topology::build(*spec);
  if (!topology) return propagate(topology);
  if (auto nodes = find_by_name(*topology, hosts)) {
    if (has_interiors(*topology) || interiors.empty()) return NamedMachine{*std::move(topology), *std::move(nodes)};
    // The machine describes only the network, so the interiors of its nodes come from the hosts.
    auto filled = compose(*std::move(spec), interiors, hosts);
    if (!filled) return NamedMachine{*std::move(topology), *std::move(nodes)};
    auto complete = Topology::build(*std::move(filled));
    if (!complete) return propagate(complete);
    auto complete_nodes = find_by_name(*complete, hosts);
    if (!complete_nodes) return NamedMachine{*std::move(topology), *std::move(nodes)};
    return NamedMachine{*std::move(complete), *std::move(complete_nodes)};
  }
  if (topology->node_count() != hosts.size()) {
    return fail(Code::bad_input, at(text),
                fmt::format("it has {} nodes and no node for some of the {} hosts of the program",
                            topology->node_count(), hosts.size()),
                "give its nodes the names of the hosts, or describe a machine with one node per host");
  }
  NodeByHost nodes_in_order;
  for (std::uint32_t node = 0; node < hosts.size(); ++node) nodes_in_order.emplace(hosts[node], Node{node});
  return NamedMachine{*std::move(topology), std::move(nodes_in_order)};
}

/// The cores of a node with these processing units; empty if the node lacks one of the units.
std::vector<Core> cores_of(const Topology& topology, Node node, const std::vector<std::uint32_t>& units) {
  const Core first = topology.first_core(topology.node_level(), index(node));
  const Core end = topology.first_core(topology.node_level(), index(node) + 1);
  std::vector<Core> cores;
  for (std::uint32_t core = index(first); core < index(end); ++core) {
    const std::uint32_t unit = topology.os_index(Core{core});
    if (std::find(units.begin(), units.end(), unit) != units.end()) cores.push_back(Core{core});
  }
  return cores.size() == units.size() ? cores : std::vector<Core>();
}

/// Replaces every object of one kind by a single core whose capacity is the number of processes in the object.
class ObjectCollapser {
 public:
  /// `sorted_cores` contains the core of each process.
  ObjectCollapser(std::string kind, bool is_node, std::vector<Core> sorted_cores)
      : kind_(std::move(kind)), is_node_(is_node), sorted_cores_(std::move(sorted_cores)) {}

  ObjectSpec operator()(const ObjectSpec& object) {
    ObjectSpec result = object;
    result.repeat = 1;
    result.os_index = {};
    if (object.kind == kind_ || object.children.empty()) return collapse(std::move(result), leaf_count(object));
    result.children.clear();
    for (const ObjectSpec& child : object.children) {
      for (std::uint64_t copy = 0; copy < child.repeat; ++copy) result.children.push_back((*this)(child));
    }
    return result;
  }

  /// By new core: the first of the old cores that it replaces.
  const std::vector<std::uint32_t>& first_cores() const { return first_cores_; }

 private:
  ObjectSpec collapse(ObjectSpec object, std::uint32_t leaves) {
    const auto begin = std::lower_bound(sorted_cores_.begin(), sorted_cores_.end(), Core{next_});
    const auto end = std::lower_bound(begin, sorted_cores_.end(), Core{next_ + leaves});
    first_cores_.push_back(next_);
    next_ += leaves;
    const auto capacity = static_cast<std::uint32_t>(end - begin);
    object.children.clear();
    if (is_node_) {
      object.children.push_back(
          {.kind = "core", .name = {}, .between = {}, .capacity = capacity, .os_index = {}, .children = {}});
    } else {
      object.capacity = capacity;
    }
    return object;
  }

  static std::uint32_t leaf_count(const ObjectSpec& object) {
    if (object.children.empty()) return 1;
    std::uint64_t count = 0;
    for (const ObjectSpec& child : object.children) count += child.repeat * leaf_count(child);
    return static_cast<std::uint32_t>(count);
  }

  std::string kind_;
  bool is_node_;
  std::vector<Core> sorted_cores_;
  std::uint32_t next_ = 0;
  std::vector<std::uint32_t> first_cores_;
};

}  // namespace

Result<SlotMachine> build_slot_machine(const std::vector<ProcessBinding>& bindings, const std::string& machine,
                                       const std::vector<NodeInterior>& interiors) {
  auto named = load_named_machine(sorted_hosts(bindings), machine, interiors);
  if (!named) return propagate(named);
  const Topology& topology = named->topology;
  std::size_t level = topology.levels().size() - 1;  // the innermost level whose objects every binding distinguishes
  std::vector<Core> core_of;
  for (const ProcessBinding& binding : bindings) {
    const Node node = named->nodes.at(binding.host);
    const std::vector<Core> cores = cores_of(topology, node, binding.units);
    core_of.push_back(cores.empty() ? topology.first_core(topology.node_level(), index(node)) : cores[0]);
    if (cores.empty()) level = topology.node_level();
    for (const Core core : cores) {
      while (level > topology.node_level() && topology.object_of(level, core) != topology.object_of(level, cores[0]))
        --level;
    }
  }
  std::vector<Core> sorted_cores = core_of;
  std::sort(sorted_cores.begin(), sorted_cores.end());
  ObjectCollapser collapse(topology.levels()[level].kind, level == topology.node_level(), std::move(sorted_cores));
  MachineSpec spec{.root = collapse(topology.spec().root),
                   .network = topology.spec().network,
                   .text = "process bindings",
                   .remarks = {}};
  auto slots = Topology::build(std::move(spec));
  if (!slots) return propagate(slots);
  const auto& first_cores = collapse.first_cores();
  for (Core& core : core_of) {
    const auto next = std::upper_bound(first_cores.begin(), first_cores.end(), index(core));
    core = Core{static_cast<std::uint32_t>(next - first_cores.begin() - 1)};
  }
  return SlotMachine{*std::move(slots), std::move(core_of)};
}

}  // namespace rankloom::reorder
