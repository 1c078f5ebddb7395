// SPDX-License-Identifier: Apache-2.0
// place: the nodes of a job as a machine.
#include "rankloom/place/slurm/job_machine.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "rankloom/discover/default_costs.hpp"
#include "rankloom/discover/host_names.hpp"
#include "rankloom/model/network.hpp"
#include "rankloom/model/topology.hpp"

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

void close(ObjectSpec& object) {
  if (object.children.empty()) object.capacity = 0;
  for (ObjectSpec& child : object.children) close(child);
}

/// Wang 2015 measured 3.7 between two nodes of a switch against 1 within a node.
constexpr double network_to_node = 3.7;

/// The smallest cost of leaving a node.
double cheapest_outside(const MachineSpec& machine) {
  if (machine.network) return machine.network->per_hop().gap;
  double cheapest = 0;
  const auto visit = [&](const auto& self, const ObjectSpec& object) -> void {
    if (is_node(object)) return;
    if (object.between && (cheapest == 0 || object.between->gap < cheapest)) cheapest = object.between->gap;
    for (const ObjectSpec& child : object.children) self(self, child);
  };
  visit(visit, machine.root);
  return cheapest;
}

/// Between two cores of a node of which nobody says what is inside: a usual one, but never dearer than the network.
Cost cost_inside(const MachineSpec& machine) {
  Cost cost = default_sharing_costs(std::vector<std::string>{"node"})[0];
  const double outside = cheapest_outside(machine);
  if (outside > 0) cost.gap = std::min(cost.gap, outside / network_to_node);
  return cost;
}

/// As many plain cores as the node shall hold ranks, unless that is what is inside already.
void fill(ObjectSpec& node, std::uint32_t cores, Cost inside) {
  if (!node.children.empty() && core_count(node) == cores) return;
  if (!node.between || core_count(node) == 1) node.between = inside;
  node.children = {{.kind = "core", .name = {}, .repeat = cores, .between = {}, .os_index = {}, .children = {}}};
}

MachineSpec flat_machine(const SlurmStep& step) {
  MachineSpec machine;
  machine.text = "Slurm's allocation";
  machine.root.kind = "machine";
  machine.root.between = default_switch_cost(1);
  for (const JobNode& job_node : step.nodes) {
    ObjectSpec node{.kind = "node", .name = job_node.name, .between = {}, .os_index = {}, .children = {}};
    fill(node, job_node.tasks, cost_inside(machine));
    machine.root.children.push_back(std::move(node));
  }
  return machine;
}

void write_out(ObjectSpec& object) {
  if (is_node(object)) return;
  std::vector<ObjectSpec> children;
  for (ObjectSpec& child : object.children) {
    const std::uint64_t count = std::exchange(child.repeat, 1);
    children.insert(children.end(), count, child);
  }
  object.children = std::move(children);
  for (ObjectSpec& child : object.children) write_out(child);
}

void name_in_order(ObjectSpec& object, std::span<const std::string>& left) {
  if (is_node(object)) {
    if (left.empty()) return;
    object.name = left.front();
    left = left.subspan(1);
    return;
  }
  for (ObjectSpec& child : object.children) name_in_order(child, left);
}

/// Takes the nodes of the job out of a network.
class Extractor {
 public:
  Extractor(const SlurmStep& step, const MachineSpec& network)
      : in_order_(step.nodes), routed_(network.network != nullptr), inside_(cost_inside(network)) {
    for (const JobNode& node : step.nodes) wanted_.emplace(short_name(node.name), &node);
  }

  bool keep(ObjectSpec& object) {
    if (is_node(object)) {
      const auto found = wanted_.find(std::string(short_name(object.name)));
      if (found == wanted_.end()) {
        if (routed_) close(object);
        return routed_;
      }
      fill(object, found->second->tasks, inside_);
      object.name = found->second->name;
      return true;
    }
    std::erase_if(object.children, [&](ObjectSpec& child) { return !keep(child); });
    return !object.children.empty();
  }

  std::string first_missing(const MachineSpec& machine) const {
    std::map<std::string, bool> there;
    collect(machine.root, there);
    for (const JobNode& node : in_order_) {
      if (!there.contains(std::string(short_name(node.name)))) return node.name;
    }
    return {};
  }

 private:
  static void collect(const ObjectSpec& object, std::map<std::string, bool>& there) {
    if (is_node(object)) there.emplace(short_name(object.name), true);
    for (const ObjectSpec& child : object.children) collect(child, there);
  }

  const std::vector<JobNode>& in_order_;
  std::map<std::string, const JobNode*> wanted_;  // by short name
  bool routed_;
  Cost inside_;
};

bool has_names(const ObjectSpec& object) {
  return (is_node(object) && !object.name.empty()) ||
         std::any_of(object.children.begin(), object.children.end(), has_names);
}

}  // namespace

Result<void> name_nodes(MachineSpec& machine, std::span<const std::string> names) {
  auto topology = Topology::build(machine);  // knows how many there are, before they are written out
  if (!topology) return propagate(topology);
  if (topology->node_count() != names.size()) {
    return fail(Code::bad_input, at(machine.text),
                fmt::format("the machine only numbers its nodes, and has {} for {} names", topology->node_count(),
                            names.size()),
                "describe the machine with the names of its nodes");
  }
  write_out(machine.root);
  std::span<const std::string> left = names;
  name_in_order(machine.root, left);
  if (left.empty()) return {};
  return fail(Code::bad_input, at(machine.text), "the level that holds the hosts is not called node",
              "call it so: node:16 core:8");
}

Result<MachineSpec> machine_of_job(const SlurmStep& step, const std::optional<MachineSpec>& network) {
  if (!network) return flat_machine(step);
  MachineSpec machine = *network;
  Extractor extractor(step, machine);
  if (!has_names(machine.root)) {
    std::vector<std::string> names;
    for (const JobNode& node : step.nodes) names.push_back(node.name);
    if (auto named = name_nodes(machine, names); !named) return propagate(named);
  }
  const std::string missing = extractor.first_missing(machine);
  if (!missing.empty()) {
    return fail(Code::bad_input, at(machine.text), fmt::format("has no node called {}", missing),
                "are the nodes called otherwise in the machine's description?");
  }
  extractor.keep(machine.root);
  machine.text = "the job's nodes in " + (machine.text.empty() ? "the machine" : machine.text);
  return machine;
}

}  // namespace rankloom
