// SPDX-License-Identifier: Apache-2.0
// map/machine: a machine without the leaves that no rank may use.
#include "rankloom/map/machine/usable_machine.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "rankloom/model/machine/platform.hpp"

namespace rankloom {

namespace {

/// Copies the description of a machine without some of its leaves. Costs are copied from the topology, because a
/// missing cost depends on the levels below.
class SpecCopy {
 public:
  explicit SpecCopy(const MapProblem& problem) : problem_(problem) {}

  /// The copy of one object, without its repeats; no children: none of its leaves may be used.
  ObjectSpec copy(const ObjectSpec& object) {
    ObjectSpec result{.kind = object.kind, .name = {}, .between = {}, .os_index = {}, .children = {}};
    if (object.children.empty()) {
      const Core leaf{next_leaf_++};
      result.kind = "slot";
      result.capacity = problem_.capacities.slots(problem_.topology, leaf);
      result.rail = object.rail;
      if (result.capacity > 0) usable_.push_back(leaf);
      return result;
    }
    std::optional<Core> first;
    for (const ObjectSpec& child : object.children) {
      for (std::uint64_t i = 0; i < child.repeat; ++i) {
        const Core begin{next_leaf_};
        ObjectSpec part = copy(child);
        if (!first) first = begin;
        if (*first != begin && !result.between && !is_network(object))
          result.between = problem_.topology.level_cost(*first, begin);
        bool usable = child.children.empty() ? part.capacity > 0 : !part.children.empty();
        if (!usable && is_network(object)) {  // a network without one of its nodes is another network
          part = first_leaf(child);
          usable_.push_back(begin);
          usable = true;
        }
        if (usable) append_with_repeat(result.children, std::move(part));
      }
    }
    return result;
  }

  std::vector<Core> take_usable() { return std::move(usable_); }

 private:
  /// The object with its first leaf alone, which must not be used.
  static ObjectSpec first_leaf(const ObjectSpec& object) {
    ObjectSpec result{.kind = object.kind, .name = {}, .between = {}, .os_index = {}, .children = {}};
    if (object.children.empty()) {
      result.kind = "slot";
      result.capacity = 0;
    } else {
      result.children.push_back(first_leaf(object.children.front()));
    }
    return result;
  }

  bool is_network(const ObjectSpec& object) const {
    return problem_.topology.routed() && &object == &problem_.topology.spec().root;
  }

  const MapProblem& problem_;
  std::uint32_t next_leaf_ = 0;
  std::vector<Core> usable_;
};

}  // namespace

std::vector<Core> UsableMachine::to_original(std::span<const Core> core_of) const {
  std::vector<Core> result;
  result.reserve(core_of.size());
  for (const Core core : core_of) result.push_back(original[index(core)]);
  return result;
}

std::vector<Core> UsableMachine::from_original(std::span<const Core> core_of) const {
  std::vector<Core> result;
  result.reserve(core_of.size());
  for (const Core core : core_of) {
    const auto found = std::lower_bound(original.begin(), original.end(), core);
    assert(found != original.end() && *found == core);
    result.push_back(Core{static_cast<std::uint32_t>(found - original.begin())});
  }
  return result;
}

std::optional<UsableMachine> usable_machine(const MapProblem& problem) {
  const Topology& topology = problem.topology;
  const auto cores = topology.cores();
  const auto is_usable = [&](Core core) { return problem.capacities.slots(topology, core) > 0; };
  if (topology.is_matrix() || std::all_of(cores.begin(), cores.end(), is_usable)) return std::nullopt;
  if (problem.graph.rank_count() > problem.capacities.slot_count(topology)) return std::nullopt;
  if (!std::all_of(problem.start.begin(), problem.start.end(), is_usable)) return std::nullopt;
  SpecCopy copy(problem);
  MachineSpec spec{
      .root = copy.copy(topology.spec().root), .network = topology.spec().network, .text = {}, .remarks = {}};
  if (spec.root.children.empty()) return std::nullopt;
  std::vector<Core> original = copy.take_usable();
  auto built = Topology::build(std::move(spec));
  if (!built || built->core_count() != original.size()) return std::nullopt;
  Capacities capacities = problem.capacities.of_cores(original);
  return UsableMachine{with_channels_of(*built, topology), std::move(capacities), std::move(original)};
}

}  // namespace rankloom
