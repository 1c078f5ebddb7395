// SPDX-License-Identifier: Apache-2.0
// model/machine: cuts a machine into slots.
#include "rankloom/model/machine/slots.hpp"

#include <algorithm>
#include <numeric>

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

std::string option_text(SlotShape shape) {
  std::string text;
  if (shape.cores != 1) text += fmt::format("--cores-per-rank {}", shape.cores);
  if (shape.threads_per_core != 0)
    text += fmt::format("{}--threads-per-core {}", text.empty() ? "" : " ", shape.threads_per_core);
  return text;
}

bool has_hardware_threads(const Topology& topology) {
  const auto levels = topology.levels();
  if (topology.is_matrix() || levels.size() < 2) return false;
  const std::string& kind = levels.back().kind;
  return (kind == "pu" || kind == "thread") && levels[levels.size() - 2].kind == "core";
}

Result<Slots> Slots::cut(const Topology& topology, std::uint32_t ranks, SlotShape shape) {
  Slots slots;
  const bool threads = has_hardware_threads(topology);
  if (shape.cores == 1 && !threads) return slots;
  if (topology.is_matrix()) {
    return fail(Code::usage, at("--cores-per-rank"), "a distance matrix has no cores that could form a slot",
                "leave it out, or give a machine with levels");
  }
  SlotCutter cutter(topology, ranks, shape);
  // More ranks than cores: every hardware thread is a slot, unless the user asks for whole cores. A core may also have
  // one hardware thread only.
  const bool few_cores = shape == SlotShape{} && ranks > cutter.unit_count();
  if (few_cores || (shape.cores == 1 && cutter.unit_count() == topology.core_count())) return slots;
  if (const std::size_t largest = cutter.largest_node(); shape.cores > largest) {
    return fail(Code::infeasible, at("--cores-per-rank"),
                fmt::format("a rank of {} cores does not fit on a node of {}", shape.cores, largest),
                "give each rank fewer cores");
  }
  cutter.cut([&](std::span<const std::uint32_t> units) {
    for (const std::uint32_t unit : units)
      cutter.for_each_leaf(unit, [&](Core leaf) { slots.leaves_.push_back(leaf); });
    slots.ends_.push_back(static_cast<std::uint32_t>(slots.leaves_.size()));
  });
  return slots;
}

}  // namespace rankloom
