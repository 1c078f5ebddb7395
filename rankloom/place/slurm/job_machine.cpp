// SPDX-License-Identifier: Apache-2.0
// place/slurm: the nodes of a job as a machine.
#include "rankloom/place/slurm/job_machine.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/discover/default_costs.hpp"
#include "rankloom/model/machine/network/network.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

namespace {

bool is_node(const ObjectSpec& object) {
  return object.kind == "node" || object.kind == "host";
}

std::uint64_t core_count(const ObjectSpec& object) {
  if (object.children.empty()) return object.repeat;
  std::uint64_t cores = 0;
  for (const ObjectSpec& child : object.children) cores += core_count(child);
  return cores * object.repeat;
}

std::uint64_t gpu_count(const ObjectSpec& object) {
  std::uint64_t gpus = 0;
  for (const DeviceSpec& device : object.devices) gpus += device.kind == "gpu" ? 1 : 0;
  for (const ObjectSpec& child : object.children) gpus += gpu_count(child);
  return gpus * object.repeat;
}

void clear_capacity(ObjectSpec& object) {
  if (object.children.empty()) object.capacity = 0;
  for (ObjectSpec& child : object.children) clear_capacity(child);
}

/// The ratio of the cost between two nodes of a switch to the cost within a node, as measured by Wang 2015.
constexpr double network_to_node_ratio = 3.7;

/// The smallest inverse bandwidth between two nodes.
double cheapest_network_cost(const MachineSpec& machine) {
  if (machine.network) return machine.network->per_hop().inverse_bandwidth;
  double cheapest = 0;
  const auto visit = [&](const auto& self, const ObjectSpec& object) -> void {
    if (is_node(object)) return;
    if (object.between && (cheapest == 0 || object.between->inverse_bandwidth < cheapest))
      cheapest = object.between->inverse_bandwidth;
    for (const ObjectSpec& child : object.children) self(self, child);
  };
  visit(visit, machine.root);
  return cheapest;
}

/// The cost between two cores of a node without a description: a default, but at most that of the network.
Cost interior_cost(const MachineSpec& machine) {
  Cost cost = default_level_costs(std::vector<std::string>{"node"})[0];
  const double network_cost = cheapest_network_cost(machine);
  if (network_cost > 0) cost.inverse_bandwidth = std::min(cost.inverse_bandwidth, network_cost / network_to_node_ratio);
  return cost;
}

/// Gives the node this number of cores, unless it has them already.
void set_cores(ObjectSpec& node, std::uint32_t cores, Cost interior) {
  if (!node.children.empty() && core_count(node) == cores) return;
  if (!node.between || core_count(node) == 1) node.between = interior;
  node.children = {{.kind = "core", .name = {}, .repeat = cores, .between = {}, .os_index = {}, .children = {}}};
  node.gpu_links.clear();  // of GPUs that belonged to parts of the node
}

MachineSpec flat_machine(const SlurmStep& step) {
  MachineSpec machine;
  machine.text = "Slurm's allocation";
  machine.root.kind = "machine";
  machine.root.between = default_switch_cost(1);
  for (const JobNode& job_node : step.nodes) {
    ObjectSpec node{.kind = "node", .name = job_node.name, .between = {}, .os_index = {}, .children = {}};
    set_cores(node, job_node.tasks, interior_cost(machine));
    machine.root.children.push_back(std::move(node));
  }
  return machine;
}

void expand_repeats(ObjectSpec& object) {
  if (is_node(object)) return;
  std::vector<ObjectSpec> children;
  for (ObjectSpec& child : object.children) {
    const std::uint64_t count = std::exchange(child.repeat, 1);
    children.insert(children.end(), count, child);
  }
  object.children = std::move(children);
  for (ObjectSpec& child : object.children) expand_repeats(child);
}

void name_in_order(ObjectSpec& object, std::span<const std::string>& remaining) {
  if (is_node(object)) {
    if (remaining.empty()) return;
    object.name = remaining.front();
    remaining = remaining.subspan(1);
    return;
  }
  for (ObjectSpec& child : object.children) name_in_order(child, remaining);
}

/// Reduces a network to the nodes of the job.
class NodeExtractor {
 public:
  NodeExtractor(const SlurmStep& step, const MachineSpec& network)
      : nodes_(step.nodes), routed_(network.network != nullptr), interior_(interior_cost(network)) {
    for (const JobNode& node : step.nodes) wanted_.emplace(short_host_name(node.name), &node);
  }

  bool reduce(ObjectSpec& object) {
    if (is_node(object)) {
      const auto found = wanted_.find(std::string(short_host_name(object.name)));
      if (found == wanted_.end()) {
        if (routed_) clear_capacity(object);
        return routed_;
      }
      set_cores(object, found->second->tasks, interior_);
      object.name = found->second->name;
      return true;
    }
    std::erase_if(object.children, [&](ObjectSpec& child) { return !reduce(child); });
    return !object.children.empty();
  }

  std::string first_missing(const MachineSpec& machine) const {
    std::map<std::string, bool> present;
    collect(machine.root, present);
    for (const JobNode& node : nodes_) {
      if (!present.contains(std::string(short_host_name(node.name)))) return node.name;
    }
    return {};
  }

 private:
  static void collect(const ObjectSpec& object, std::map<std::string, bool>& present) {
    if (is_node(object)) present.emplace(short_host_name(object.name), true);
    for (const ObjectSpec& child : object.children) collect(child, present);
  }

  const std::vector<JobNode>& nodes_;
  std::map<std::string, const JobNode*> wanted_;  // by short name
  bool routed_;
  Cost interior_;
};

bool has_node_names(const ObjectSpec& object) {
  return (is_node(object) && !object.name.empty()) ||
         std::any_of(object.children.begin(), object.children.end(), has_node_names);
}

}  // namespace

Result<void> name_nodes(MachineSpec& machine, std::span<const std::string> names) {
  auto topology = Topology::build(machine);  // counts the nodes before they are expanded
  if (!topology) return propagate(topology);
  if (topology->node_count() != names.size()) {
    return fail(Code::bad_input, at(machine.text),
                fmt::format("the machine has {} nodes without names, but there are {} names", topology->node_count(),
                            names.size()),
                "describe a machine with this number of nodes, or with the names of its nodes");
  }
  expand_repeats(machine.root);
  std::span<const std::string> remaining = names;
  name_in_order(machine.root, remaining);
  if (remaining.empty()) return {};
  return fail(Code::bad_input, at(machine.text), "the machine has no level of kind node",
              "name the level of the hosts node: node:16 core:8");
}

bool fills_described_nodes(const SlurmStep& step, const MachineSpec& network) {
  struct Contents {
    std::uint64_t cores = 0, gpus = 0;
    bool operator==(const Contents&) const = default;
  };
  std::map<std::string, Contents> contents_of;  // by short name; nodes without names have an empty one
  const auto visit = [&](const auto& self, const ObjectSpec& object) -> void {
    if (is_node(object)) {
      const Contents contents{core_count(object) / object.repeat, gpu_count(object) / object.repeat};
      const auto known = contents_of.emplace(short_host_name(object.name), contents).first;
      if (known->second != contents) known->second = {};  // they differ
    }
    for (const ObjectSpec& child : object.children) self(self, child);
  };
  visit(visit, network.root);
  std::uint64_t ranks_with_gpus = 0;
  const bool filled = std::all_of(step.nodes.begin(), step.nodes.end(), [&](const JobNode& node) {
    auto found = contents_of.find(std::string(short_host_name(node.name)));
    if (found == contents_of.end()) found = contents_of.find("");
    if (found == contents_of.end() || found->second.cores != node.cpus) return false;
    if (step.gpus_per_task == 0) return std::uint64_t{node.tasks} * step.cpus_per_task == node.cpus;
    const std::uint64_t ranks = found->second.gpus / step.gpus_per_task;
    ranks_with_gpus += ranks;
    return ranks * step.gpus_per_task == found->second.gpus && ranks <= node.tasks &&
           ranks * step.cpus_per_task <= node.cpus;
  });
  return filled && (step.gpus_per_task == 0 || ranks_with_gpus == step.ranks.value_or(0));
}

Result<MachineSpec> job_machine(const SlurmStep& step, const std::optional<MachineSpec>& network) {
  if (!network) return flat_machine(step);
  MachineSpec machine = *network;
  NodeExtractor extractor(step, machine);
  if (!has_node_names(machine.root)) {
    std::vector<std::string> names;
    for (const JobNode& node : step.nodes) names.push_back(node.name);
    if (auto named = name_nodes(machine, names); !named) return propagate(named);
  }
  const std::string missing = extractor.first_missing(machine);
  if (!missing.empty()) {
    return fail(Code::bad_input, at(machine.text), fmt::format("the machine has no node {}", missing),
                "use the node names of slurm.conf in the description of the machine");
  }
  extractor.reduce(machine.root);
  machine.text = "the job's nodes in " + (machine.text.empty() ? "the machine" : machine.text);
  return machine;
}

}  // namespace rankloom
