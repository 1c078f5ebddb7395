// SPDX-License-Identifier: Apache-2.0
// model/machine: cuts a machine into slots.
#include "rankloom/model/machine/slots.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

namespace rankloom {

namespace {

/// A core of the machine with at least one usable leaf.
struct Unit {
  Core first{};
  std::uint32_t size = 0;  // all its leaves, usable or not
};

class SlotCutter {
 public:
  SlotCutter(const Topology& topology, std::uint32_t ranks, SlotShape shape)
      : topology_(topology), ranks_(ranks), shape_(shape) {
    core_level_ = topology.levels().size() - (has_hardware_threads(topology) ? 2 : 1);
    find_units();
  }

  std::size_t unit_count() const { return units_.size(); }

  /// The largest number of usable cores on a node.
  std::size_t largest_node() const {
    std::size_t largest = 0;
    for (const Part& node : parts_of(topology_.node_level())) largest = std::max(largest, node.end - node.begin);
    return largest;
  }

  /// Calls visit(units) for every slot, in order.
  template <class Visit>
  void cut(const Visit& visit) {
    taken_.assign(units_.size(), false);
    for (std::size_t level = core_level_ + 1; level-- > topology_.node_level();) cut_level(level, Split::unavoidable);
    for (std::size_t level = core_level_ + 1; level-- > topology_.node_level() && slot_count() < ranks_;)
      cut_level(level, Split::any);
    std::vector<std::uint32_t> order(slot_count());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return slots_[std::size_t{a} * shape_.cores] < slots_[std::size_t{b} * shape_.cores];
    });
    for (const std::uint32_t slot : order)
      visit(std::span(slots_).subspan(std::size_t{slot} * shape_.cores, shape_.cores));
  }

  /// The leaves of a unit that a rank uses.
  template <class Visit>
  void for_each_leaf(std::uint32_t unit, const Visit& visit) const {
    std::uint32_t left = shape_.threads_per_core == 0 ? units_[unit].size : shape_.threads_per_core;
    for (std::uint32_t i = 0; i < units_[unit].size && left > 0; ++i) {
      const Core leaf{index(units_[unit].first) + i};
      if (topology_.capacity(leaf) == 0) continue;
      visit(leaf);
      --left;
    }
  }

 private:
  /// An object of a level: its range of units.
  struct Part {
    std::size_t begin, end;
  };
  /// Whether slots may contain cores of several parts of an object that are as large as a slot.
  enum class Split : std::uint8_t { unavoidable, any };

  std::size_t slot_count() const { return slots_.size() / shape_.cores; }

  void find_units() {
    const auto objects = static_cast<std::uint32_t>(topology_.levels()[core_level_].objects);
    for (std::uint32_t object = 0; object < objects; ++object) {
      const Core first = topology_.first_core(core_level_, object);
      const std::uint32_t size = index(topology_.first_core(core_level_, object + 1)) - index(first);
      for (std::uint32_t i = 0; i < size; ++i) {
        if (topology_.capacity(Core{index(first) + i}) == 0) continue;
        units_.push_back({first, size});
        break;
      }
    }
  }

  std::vector<Part> parts_of(std::size_t level) const {
    std::vector<Part> parts;
    std::size_t begin = 0;
    while (begin < units_.size()) {
      const std::uint32_t object = topology_.object_of(level, units_[begin].first);
      std::size_t end = begin + 1;
      while (end < units_.size() && topology_.object_of(level, units_[end].first) == object) ++end;
      parts.push_back({begin, end});
      begin = end;
    }
    return parts;
  }

  /// Makes slots of free cores inside each object of the level.
  void cut_level(std::size_t level, Split split) {
    const bool inner = level == core_level_;
    const std::vector<Part> children = inner ? std::vector<Part>{} : parts_of(level + 1);
    std::size_t child = 0;
    std::vector<std::uint32_t> free;
    for (const Part& object : parts_of(level)) {
      free.clear();
      const auto add = [&](const Part& part) {
        for (std::size_t unit = part.begin; unit < part.end; ++unit)
          if (!taken_[unit]) free.push_back(static_cast<std::uint32_t>(unit));
      };
      if (inner) add(object);
      for (; child < children.size() && children[child].end <= object.end; ++child) {
        const bool large = children[child].end - children[child].begin >= shape_.cores;
        if (!large || split == Split::any) add(children[child]);
      }
      for (std::size_t at = 0; at + shape_.cores <= free.size(); at += shape_.cores) {
        if (split == Split::any && slot_count() >= ranks_) return;
        for (const std::uint32_t unit : std::span(free).subspan(at, shape_.cores)) {
          slots_.push_back(unit);
          taken_[unit] = true;
        }
      }
    }
  }

  const Topology& topology_;
  std::uint32_t ranks_;
  SlotShape shape_;
  std::size_t core_level_ = 0;
  std::vector<Unit> units_;
  std::vector<bool> taken_;           // by unit
  std::vector<std::uint32_t> slots_;  // the units of one slot after the other
};

}  // namespace

/// Chooses slots of cores for groups of GPUs.
class GpuSlots {
 public:
  GpuSlots(const Topology& topology, const Slots& slots) : topology_(topology), slots_(slots), gpus_of_(slots.count()) {
    for (const Topology::Device& device : topology.devices()) {
      if (device.kind == "gpu") devices_.push_back(&device);
    }
  }

  Slots choose(std::uint32_t gpus_per_slot) {
    for (std::size_t begin = 0, end = 0; begin < devices_.size(); begin = end) {
      while (end < devices_.size() && devices_[end]->node == devices_[begin]->node) ++end;
      choose_on_node(std::span(devices_).subspan(begin, end - begin), gpus_per_slot);
    }
    Slots chosen;
    chosen.gpus_per_slot_ = gpus_per_slot;
    for (std::size_t slot = 0; slot < slots_.count(); ++slot) {
      if (gpus_of_[slot].empty()) continue;
      const auto leaves = slots_.leaves(slot);
      chosen.leaves_.insert(chosen.leaves_.end(), leaves.begin(), leaves.end());
      chosen.ends_.push_back(static_cast<std::uint32_t>(chosen.leaves_.size()));
      std::sort(gpus_of_[slot].begin(), gpus_of_[slot].end());
      chosen.gpus_.insert(chosen.gpus_.end(), gpus_of_[slot].begin(), gpus_of_[slot].end());
    }
    return chosen;
  }

 private:
  /// GPUs of one slot, and the cores near all of them.
  struct Group {
    Core first{}, end{};
    std::vector<std::uint32_t> numbers;
    auto width() const { return index(end) - index(first); }
  };

  void choose_on_node(std::span<const Topology::Device* const> gpus, std::uint32_t gpus_per_slot) {
    std::vector<const Topology::Device*> order(gpus.begin(), gpus.end());
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
      return std::tuple(index(a->first), index(a->end), a->number) <
             std::tuple(index(b->first), index(b->end), b->number);
    });
    std::vector<Group> groups;
    for (std::size_t at = 0; at + gpus_per_slot <= order.size(); at += gpus_per_slot) {
      Group group{order[at]->first, order[at]->end, {}};
      for (const Topology::Device* const gpu : std::span(order).subspan(at, gpus_per_slot)) {
        group.first = std::min(group.first, gpu->first);
        group.end = std::max(group.end, gpu->end);
        group.numbers.push_back(gpu->number);
      }
      groups.push_back(std::move(group));
    }
    // GPUs with few cores near them choose first.
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Group& a, const Group& b) { return a.width() < b.width(); });
    std::vector<Group> left;
    for (std::size_t begin = 0, end = 0; begin < groups.size(); begin = end) {
      while (end < groups.size() && groups[end].first == groups[begin].first && groups[end].end == groups[begin].end)
        ++end;
      spread(std::span(groups).subspan(begin, end - begin), groups[begin].first, groups[begin].end, left);
    }
    // The others take any slots of the node.
    const std::size_t level = topology_.node_level();
    const std::uint32_t node = index(gpus[0]->node);
    std::vector<Group> without_slot;
    spread(left, topology_.first_core(level, node), topology_.first_core(level, node + 1), without_slot);
  }

  /// Gives the groups free slots inside a range of cores, at even distances; those without a slot are left over.
  void spread(std::span<Group> groups, Core first, Core end, std::vector<Group>& left) {
    std::vector<std::size_t> free;
    for (std::size_t slot = first_slot_at(first); slot < slots_.count() && slots_.leaves(slot)[0] < end; ++slot) {
      if (slots_.leaves(slot).back() < end && gpus_of_[slot].empty()) free.push_back(slot);
    }
    const std::size_t placed = std::min(groups.size(), free.size());
    for (std::size_t i = 0; i < placed; ++i) gpus_of_[free[i * free.size() / placed]] = groups[i].numbers;
    left.insert(left.end(), groups.begin() + static_cast<std::ptrdiff_t>(placed), groups.end());
  }

  std::size_t first_slot_at(Core core) const {
    std::size_t low = 0, high = slots_.count();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (slots_.leaves(middle)[0] < core)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  const Topology& topology_;
  const Slots& slots_;
  std::vector<const Topology::Device*> devices_;
  std::vector<std::vector<std::uint32_t>> gpus_of_;  // by slot
};

bool has_hardware_threads(const Topology& topology) {
  const auto levels = topology.levels();
  if (topology.is_matrix() || levels.size() < 2) return false;
  const std::string& kind = levels.back().kind;
  return (kind == "pu" || kind == "thread") && levels[levels.size() - 2].kind == "core";
}

Result<Slots> Slots::cut(const Topology& topology, std::uint32_t ranks, SlotShape shape) {
  Slots slots;
  const bool threads = has_hardware_threads(topology);
  if (shape.cores == 1 && !threads && shape.gpus == 0) return slots;
  if (topology.is_matrix()) {
    return fail(Code::usage, at("--cores-per-rank"), "a distance matrix has no cores that could form a slot",
                "leave it out, or give a machine with levels");
  }
  SlotCutter cutter(topology, ranks, shape);
  // More ranks than cores: every hardware thread is a slot, unless the user asks for whole cores. A core may also have
  // one hardware thread only.
  const bool few_cores = shape == SlotShape{} && ranks > cutter.unit_count();
  const bool one_leaf_each = shape.cores == 1 && cutter.unit_count() == topology.core_count();
  if (few_cores || (one_leaf_each && shape.gpus == 0)) return slots;
  if (const std::size_t largest = cutter.largest_node(); shape.cores > largest) {
    return fail(Code::infeasible, at("--cores-per-rank"),
                fmt::format("a rank of {} cores does not fit on a node of {}", shape.cores, largest),
                "give each rank fewer cores");
  }
  const auto cut_for = [&](SlotCutter& machine) {
    Slots all;
    machine.cut([&](std::span<const std::uint32_t> units) {
      for (const std::uint32_t unit : units)
        machine.for_each_leaf(unit, [&](Core leaf) { all.leaves_.push_back(leaf); });
      all.ends_.push_back(static_cast<std::uint32_t>(all.leaves_.size()));
    });
    return all;
  };
  slots = cut_for(cutter);
  if (shape.gpus == 0) return slots;
  Slots chosen = GpuSlots(topology, slots).choose(shape.gpus);
  if (chosen.count() <
      ranks) {  // as many slots as possible on nodes with GPUs, even if they contain cores of two caches
    SlotCutter all_cores(topology, std::numeric_limits<std::uint32_t>::max(), shape);
    if (Slots more = GpuSlots(topology, cut_for(all_cores)).choose(shape.gpus); more.count() > chosen.count())
      chosen = std::move(more);
  }
  if (chosen.count() > 0) return chosen;
  return fail(Code::infeasible, at("--gpus-per-rank"), fmt::format("no node of the machine has {} GPUs", shape.gpus),
              "give a machine with its GPUs, as `rankloom topo discover` finds it, or \"node:4 gpu:4 core:16\"");
}

}  // namespace rankloom
