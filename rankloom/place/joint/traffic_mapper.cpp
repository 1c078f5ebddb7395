// SPDX-License-Identifier: Apache-2.0
// place/joint: maps the ranks of jobs onto sets of nodes.
#include "rankloom/place/joint/traffic_mapper.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "rankloom/map/run.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/model/mapping.hpp"
#include "rankloom/model/prediction/predict.hpp"

namespace rankloom {

namespace {

/// The objects of the nodes of a routed network, in order.
std::vector<const ObjectSpec*> node_objects(const MachineSpec& spec) {
  std::vector<const ObjectSpec*> nodes;
  for (const ObjectSpec& child : spec.root.children) nodes.insert(nodes.end(), child.repeat, &child);
  return nodes;
}

void exclude(ObjectSpec& object) {
  if (object.children.empty()) object.capacity = 0;
  for (ObjectSpec& child : object.children) exclude(child);
}

/// A copy of a node without its name, which must be unique.
ObjectSpec copy_of(const ObjectSpec& node) {
  ObjectSpec copy = node;
  copy.repeat = 1;
  copy.name.clear();
  return copy;
}

/// The bounding box of a set as a machine of its own: mappers recognise it, and do not see the rest of the network.
/// Nodes of the box that are not part of the set must not be used. A box that goes around a ring in all dimensions is a
/// torus; around some of them it is a mesh, because a machine is one or the other.
Result<Topology> box_machine(const Topology& whole, const NodeSet& set) {
  const auto& mesh = std::get<MeshShape>(whole.network().shape());
  std::vector<std::uint32_t> extents;
  bool torus = mesh.torus;
  for (const std::uint32_t extent : set.extents) {
    if (extent > 1) extents.push_back(extent);
    const bool is_ring = std::find(mesh.sizes.begin(), mesh.sizes.end(), extent) != mesh.sizes.end();
    if (extent > 1 && !is_ring) torus = false;
  }
  if (extents.empty()) extents.push_back(1);
  auto network = make_mesh(extents, torus, whole.network().per_hop());
  if (!network) return propagate(network);
  MachineSpec spec{.root = {.kind = "machine", .name = {}, .between = {}, .os_index = {}, .children = {}},
                   .network = *network,
                   .text = {},
                   .remarks = {}};
  const auto nodes = node_objects(whole.spec());
  std::uint32_t at = 0;
  for (std::uint32_t position = 0; position < (*network)->node_count(); ++position) {
    const bool is_used = at < set.nodes.size() && set.positions[at] == position;
    ObjectSpec node = copy_of(*nodes[index(set.nodes[is_used ? at : 0])]);
    if (is_used) {
      ++at;
    } else {
      exclude(node);
    }
    append_with_repeat(spec.root.children, std::move(node));
  }
  auto built = Topology::build(std::move(spec));
  if (!built) return built;
  return with_channels_of(*built, whole);
}

}  // namespace

Result<TrafficMapper> TrafficMapper::create(const Topology& topology, std::string_view mapper) {
  auto configured = make_mapper(mapper);
  if (!configured) return propagate(configured);
  auto platform = Platform::of(topology);
  if (!platform) return propagate(platform);
  return TrafficMapper(topology, std::move(*platform), std::move(*configured));
}

std::vector<TrafficMapper::SlotInSet> TrafficMapper::slots_in(const NodeSet& set, std::span<const Core> core_of) const {
  std::unordered_map<std::uint32_t, std::uint32_t> node_in_set;
  for (std::uint32_t at = 0; at < set.nodes.size(); ++at) node_in_set.emplace(index(set.nodes[at]), at);
  std::unordered_map<std::uint32_t, std::uint32_t> ranks_on_core;
  std::vector<SlotInSet> result;
  for (const Core core : core_of) {
    const Node node = topology_.node_of(core);
    const auto& slots = slots_of_node_[index(node)];
    // The slots of a core are consecutive; its ranks get them in order.
    const auto first = static_cast<std::uint32_t>(std::find(slots.begin(), slots.end(), core) - slots.begin());
    result.push_back({node_in_set.at(index(node)), first + ranks_on_core[index(core)]++});
  }
  return result;
}

std::vector<Core> TrafficMapper::cores_of(std::span<const SlotInSet> slots, std::span<const Node> nodes) const {
  std::vector<Core> result;
  result.reserve(slots.size());
  for (const SlotInSet& slot : slots) result.push_back(slots_of_node_[index(nodes[slot.node])][slot.slot]);
  return result;
}

/// Maps onto the box as a machine of its own, then translates the cores. Empty if the mapper fails.
std::vector<Core> TrafficMapper::map_in_box(const CommGraph& graph, const NodeSet& set, const MapRun& run) const {
  auto machine = box_machine(topology_, set);
  if (!machine) return {};
  auto capacities = Capacities::of(*machine, graph.rank_count(), {});
  if (!capacities) return {};
  const MapProblem problem{graph, *machine, *capacities, CostModel::predicted, {}};
  auto result = run_mapper(mapper_, problem, run);
  if (!result) return {};
  std::vector<std::uint32_t> node_at(machine->node_count());  // in the set, by position
  for (std::uint32_t at = 0; at < set.positions.size(); ++at) node_at[set.positions[at]] = at;
  std::vector<Core> core_of;
  for (const Core core : result->mapping.cores()) {
    const Node node = machine->node_of(core);
    const std::uint32_t in_node = index(core) - index(machine->first_core(machine->node_level(), index(node)));
    const Node target = set.nodes[node_at[index(node)]];
    core_of.push_back(Core{index(topology_.first_core(topology_.node_level(), index(target))) + in_node});
  }
  return core_of;
}

/// Maps onto the machine, of which only the nodes of the set may be used. Empty if the mapper fails.
std::vector<Core> TrafficMapper::map_in_machine(const CommGraph& graph, const NodeSet& set, const MapRun& run) const {
  IdVector<Core, std::uint32_t> slots(topology_.core_count(), 0);
  for (const Node node : set.nodes) {
    for (const Core core : slots_of_node_[index(node)]) ++slots[core];
  }
  const Capacities capacities = Capacities::of_slots(std::move(slots));
  const std::vector<Core> start = block(graph.rank_count(), set.nodes);
  const MapProblem problem{graph, topology_, capacities, CostModel::predicted, {}};
  auto result = run_mapper(mapper_, problem, run, {.default_placement = start});
  if (!result) return {};
  return {result->mapping.cores().begin(), result->mapping.cores().end()};
}

TrafficMapper::Placed TrafficMapper::compute(const JobTraffic& job, const NodeSet& set,
                                             const Deadline& deadline) const {
  Placed best = in_best_order(job, set, all_orders, deadline);
  if (set.nodes.size() == 1 || deadline.passed()) return best;
  const MapRun run{.seed = 0, .deadline = deadline};
  std::vector<Core> core_of =
      set.extents.empty() ? map_in_machine(job.graph, set, run) : map_in_box(job.graph, set, run);
  if (!core_of.empty()) keep_better(job.graph, std::move(core_of), best);
  return best;
}

std::vector<Core> TrafficMapper::place(const JobTraffic& job, std::span<const Node> nodes, const Deadline& deadline) {
  const std::uint32_t ranks = job.graph.rank_count();
  if (is_block_) return block(ranks, nodes);
  const NodeSet set = canonical_node_set(topology_.network(), nodes);
  std::string key = key_of(job, set);
  Placed best;
  if (const auto found = mapped_.find(key); found != mapped_.end()) {
    best.core_of = cores_of(found->second, set.nodes);
    best.seconds = predict(job.graph, platform_, best.core_of).seconds;
  } else {
    count_kept(ranks);
    best = compute(job, set, deadline);
    if (!deadline.passed()) mapped_.emplace(std::move(key), slots_in(set, best.core_of));
  }
  keep_better(job.graph, block(ranks, nodes), best);
  return best.core_of;
}

}  // namespace rankloom
