// SPDX-License-Identifier: Apache-2.0
// model/machine/slots: cuts the cores of a machine into slots of one shape.
#include "rankloom/model/machine/slots/slot_cutter.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace rankloom {

SlotCutter::SlotCutter(const Topology& topology, SlotShape shape)
    : topology_(topology), shape_(shape), core_level_(core_level(topology)) {
  const auto objects = static_cast<std::uint32_t>(topology.levels()[core_level_].objects);
  for (std::uint32_t object = 0; object < objects; ++object) {
    const Core first = topology.first_core(core_level_, object);
    const std::uint32_t size = index(topology.first_core(core_level_, object + 1)) - index(first);
    for (std::uint32_t i = 0; i < size; ++i) {
      if (topology.capacity(Core{index(first) + i}) == 0) continue;
      units_.push_back({first, size});
      break;
    }
  }
}

std::vector<std::size_t> SlotCutter::sizes(std::size_t level) const {
  std::vector<std::size_t> sizes;
  for (const Part& part : parts_of(level)) sizes.push_back(part.end - part.begin);
  return sizes;
}

Slots SlotCutter::cut(std::uint32_t ranks) {
  taken_.assign(units_.size(), false);
  slots_.clear();
  for (std::size_t level = core_level_ + 1; level-- > topology_.node_level();) cut_level(level);
  for (std::size_t level = core_level_ + 1; level-- > topology_.node_level() && slot_count() < ranks;)
    add_slots(level, ranks);
  std::vector<std::uint32_t> order(slot_count());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return slots_[std::size_t{a} * shape_.cores] < slots_[std::size_t{b} * shape_.cores];
  });
  Slots slots;
  std::vector<Core> leaves;
  for (const std::uint32_t slot : order) {
    leaves.clear();
    for (const std::uint32_t number : std::span(slots_).subspan(std::size_t{slot} * shape_.cores, shape_.cores)) {
      const Unit& unit = units_[number];
      std::uint32_t left = shape_.threads_per_core == 0 ? unit.size : shape_.threads_per_core;
      for (std::uint32_t i = 0; i < unit.size && left > 0; ++i) {
        const Core leaf{index(unit.first) + i};
        if (topology_.capacity(leaf) == 0) continue;
        leaves.push_back(leaf);
        --left;
      }
    }
    slots.append(leaves);
  }
  return slots;
}

std::vector<SlotCutter::Part> SlotCutter::parts_of(std::size_t level) const {
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

void SlotCutter::cut_level(std::size_t level) {
  const bool inner = level == core_level_;
  const std::vector<Part> children = inner ? std::vector<Part>{} : parts_of(level + 1);
  std::size_t child = 0;
  std::vector<std::uint32_t> free;
  for (const Part& object : parts_of(level)) {
    free.clear();
    if (inner) append_free(object, free);
    for (; child < children.size() && children[child].end <= object.end; ++child)
      if (children[child].end - children[child].begin < shape_.cores) append_free(children[child], free);
    std::size_t spare = free.size() % shape_.cores;
    for (std::size_t at = 0; at + shape_.cores <= free.size(); at += shape_.cores) {
      const std::size_t left_out = inner ? 0 : skipped(level + 1, free, at, spare);
      at += left_out;
      spare -= left_out;
      take(std::span(free).subspan(at, shape_.cores));
    }
  }
}

std::size_t SlotCutter::skipped(std::size_t part_level, std::span<const std::uint32_t> free, std::size_t at,
                                std::size_t spare) const {
  const auto part = [&](std::size_t i) { return topology_.object_of(part_level, units_[free[i]].first); };
  if (spare == 0 || at == 0 || part(at) != part(at - 1)) return 0;
  std::size_t rest = 1;
  while (rest <= spare && at + rest < free.size() && part(at + rest) == part(at)) ++rest;
  if (rest > spare || at + rest + shape_.cores > free.size()) return 0;
  const auto parts_from = [&](std::size_t begin) {
    std::size_t parts = 1;
    for (std::size_t i = begin + 1; i < begin + shape_.cores; ++i) parts += part(i) != part(i - 1) ? 1 : 0;
    return parts;
  };
  return parts_from(at + rest) < parts_from(at) ? rest : 0;
}

void SlotCutter::add_slots(std::size_t level, std::uint32_t enough) {
  // By level from the nodes on and by object: its slots.
  std::vector<std::vector<std::uint32_t>> counts;
  const auto for_each_count = [&](std::uint32_t unit, const auto& visit) {
    for (std::size_t i = 0; i < counts.size(); ++i)
      visit(counts[i][topology_.object_of(topology_.node_level() + i, units_[unit].first)]);
  };
  for (std::size_t above = topology_.node_level(); above <= level; ++above)
    counts.emplace_back(topology_.levels()[above].objects, 0);
  for (std::size_t slot = 0; slot < slot_count(); ++slot)
    for_each_count(slots_[slot * shape_.cores], [](std::uint32_t& count) { ++count; });
  // The free cores of an object, and how many slots the objects around it had when it was last looked at.
  struct Candidate {
    std::vector<std::uint32_t> loads;
    std::size_t at, end;
    bool operator==(const Candidate&) const = default;
    // Not a default operator<=>: with a precompiled header, GCC 12 does not emit the comparison of vectors that it
    // calls.
    bool operator>(const Candidate& other) const {
      if (loads != other.loads) return loads > other.loads;
      return at != other.at ? at > other.at : end > other.end;
    }
  };
  std::vector<std::uint32_t> free;
  const auto look_at = [&](std::size_t at, std::size_t end) {
    Candidate candidate{{}, at, end};
    for_each_count(free[at], [&](std::uint32_t count) { candidate.loads.push_back(count); });
    return candidate;
  };
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  for (const Part& object : parts_of(level)) {
    const std::size_t begin = free.size();
    append_free(object, free);
    if (free.size() - begin >= shape_.cores) candidates.push(look_at(begin, free.size()));
  }
  while (slot_count() < enough && !candidates.empty()) {
    const Candidate old = candidates.top();
    candidates.pop();
    Candidate now = look_at(old.at, old.end);
    if (now != old) {
      candidates.push(std::move(now));
      continue;
    }
    take(std::span(free).subspan(now.at, shape_.cores));
    for_each_count(free[now.at], [](std::uint32_t& count) { ++count; });
    if (now.end - now.at >= 2 * std::size_t{shape_.cores}) candidates.push(look_at(now.at + shape_.cores, now.end));
  }
}

void SlotCutter::append_free(Part part, std::vector<std::uint32_t>& free) const {
  for (std::size_t unit = part.begin; unit < part.end; ++unit)
    if (!taken_[unit]) free.push_back(static_cast<std::uint32_t>(unit));
}

void SlotCutter::take(std::span<const std::uint32_t> units) {
  for (const std::uint32_t unit : units) {
    slots_.push_back(unit);
    taken_[unit] = true;
  }
}

}  // namespace rankloom
