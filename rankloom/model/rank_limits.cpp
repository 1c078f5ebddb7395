// SPDX-License-Identifier: Apache-2.0
// model: how many ranks may share the memory of a node, package or NUMA node.
#include "rankloom/model/rank_limits.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace rankloom {

namespace {

/// A level of the machine whose objects have memory, with its limit.
struct MemoryLevel {
  std::size_t level = 0;
  std::uint32_t RankLimits::*limit = nullptr;
};

/// Top down: the nodes, and the packages and NUMA nodes where the machine has them.
std::vector<MemoryLevel> memory_levels(const Topology& topology) {
  std::vector<MemoryLevel> levels{{topology.node_level(), &RankLimits::per_node}};
  for (std::size_t level = topology.node_level() + 1; level < topology.levels().size(); ++level) {
    const std::string& kind = topology.levels()[level].kind;
    if (kind == "package" || kind == "socket") levels.push_back({level, &RankLimits::per_package});
    if (kind == "numa") levels.push_back({level, &RankLimits::per_numa});
  }
  return levels;
}

/// The slots of nodes, packages and NUMA nodes.
class MemoryTree {
 public:
  MemoryTree(const Topology& topology, const Capacities& capacities, std::span<const Core> keep)
      : topology_(topology),
        capacities_(capacities),
        levels_(memory_levels(topology)),
        slots_before_(prefix_sums([&](Core core) { return capacities.slots(topology, core); })),
        kept_(topology.core_count(), 0) {
    for (const Core core : keep) ++kept_[core];
    kept_before_ = prefix_sums([&](Core core) { return kept_[core]; });
  }

  /// How many ranks fit.
  std::uint64_t total(RankLimits limits) const {
    std::uint64_t sum = 0;
    for (const Node node : topology_.nodes()) sum += room(0, index(node), limits);
    return sum;
  }

  Capacities choose(RankLimits limits) {
    IdVector<Core, std::uint32_t> slots(topology_.core_count(), 0);
    for (const Node node : topology_.nodes()) choose_in(0, index(node), room(0, index(node), limits), limits, slots);
    return Capacities::of_slots(std::move(slots));
  }

 private:
  template <class Number>
  std::vector<std::uint64_t> prefix_sums(const Number& number) const {
    std::vector<std::uint64_t> sums{0};
    sums.reserve(std::size_t{topology_.core_count()} + 1);
    for (const Core core : topology_.cores()) sums.push_back(sums.back() + number(core));
    return sums;
  }

  struct Range {
    std::uint32_t begin, end;
  };

  Range cores_of(std::size_t depth, std::uint32_t object) const {
    const std::size_t level = levels_[depth].level;
    return {index(topology_.first_core(level, object)), index(topology_.first_core(level, object + 1))};
  }

  bool is_last(std::size_t depth) const { return depth + 1 == levels_.size(); }

  /// The parts of the object on the next level.
  Range parts_of(std::size_t depth, std::uint32_t object) const {
    const Range cores = cores_of(depth, object);
    const std::size_t next = levels_[depth + 1].level;
    return {topology_.object_of(next, Core{cores.begin}), topology_.object_of(next, Core{cores.end - 1}) + 1};
  }

  std::uint64_t room(std::size_t depth, std::uint32_t object, RankLimits limits) const {
    std::uint64_t room = 0;
    if (is_last(depth)) {
      const Range cores = cores_of(depth, object);
      room = slots_before_[cores.end] - slots_before_[cores.begin];
    } else {
      const Range parts = parts_of(depth, object);
      for (std::uint32_t part = parts.begin; part < parts.end; ++part) room += this->room(depth + 1, part, limits);
    }
    const std::uint32_t limit = limits.*levels_[depth].limit;
    return limit == 0 ? room : std::min<std::uint64_t>(room, limit);
  }

  struct Part {
    std::uint32_t object;
    std::uint64_t count, room;
  };

  /// Raises the smallest counts until their sum is `sum`, the first ones first. O(parts x log sum).
  static void fill_evenly(std::vector<Part>& parts, std::uint64_t sum) {
    const auto at_level = [](const Part& part, std::uint64_t level) {
      return std::max(part.count, std::min(part.room, level));
    };
    const auto sum_at = [&](std::uint64_t level) {
      std::uint64_t total = 0;
      for (const Part& part : parts) total += at_level(part, level);
      return total;
    };
    std::uint64_t level = 0, too_high = sum + 1;
    while (too_high - level > 1) {
      const std::uint64_t middle = level + (too_high - level) / 2;
      (sum_at(middle) <= sum ? level : too_high) = middle;
    }
    std::uint64_t left = sum - std::min(sum, sum_at(level));
    for (Part& part : parts) {
      part.count = at_level(part, level);
      if (left == 0 || part.count != level || part.count >= part.room) continue;
      ++part.count;
      --left;
    }
  }

  void choose_in(std::size_t depth, std::uint32_t object, std::uint64_t count, RankLimits limits,
                 IdVector<Core, std::uint32_t>& slots) const {
    if (is_last(depth)) return choose_slots(cores_of(depth, object), count, slots);
    std::vector<Part> parts;
    const Range objects = parts_of(depth, object);
    for (std::uint32_t part = objects.begin; part < objects.end; ++part) {
      const Range cores = cores_of(depth + 1, part);
      parts.push_back({part, kept_before_[cores.end] - kept_before_[cores.begin], room(depth + 1, part, limits)});
    }
    fill_evenly(parts, count);
    for (const Part& part : parts) choose_in(depth + 1, part.object, part.count, limits, slots);
  }

  void choose_slots(Range cores, std::uint64_t count, IdVector<Core, std::uint32_t>& slots) const {
    std::vector<Core> others;
    const std::uint64_t wanted = count;
    for (Core core{cores.begin}; index(core) < cores.end; core = Core{index(core) + 1}) {
      slots[core] = kept_[core];
      count -= std::min<std::uint64_t>(count, kept_[core]);
      const std::uint32_t all = capacities_.slots(topology_, core);
      const std::uint64_t unused = all - std::min(all, kept_[core]);
      others.insert(others.end(), std::min(unused, wanted), core);
    }
    count = std::min<std::uint64_t>(count, others.size());
    for (std::uint64_t i = 0; i < count; ++i) ++slots[others[i * others.size() / count]];
  }

  const Topology& topology_;
  const Capacities& capacities_;
  std::vector<MemoryLevel> levels_;
  std::vector<std::uint64_t> slots_before_, kept_before_;  // before each core
  IdVector<Core, std::uint32_t> kept_;
};

}  // namespace

RankLimits limits_of(std::span<const Core> core_of, const Topology& topology) {
  RankLimits limits;
  for (const auto& [level, limit] : memory_levels(topology)) {
    std::vector<std::uint32_t> ranks(topology.levels()[level].objects, 0);
    for (const Core core : core_of) limits.*limit = std::max(limits.*limit, ++ranks[topology.object_of(level, core)]);
  }
  return limits;
}

std::uint32_t nodes_used(std::span<const Core> core_of, const Topology& topology) {
  std::vector<std::uint8_t> used(topology.node_count(), 0);
  for (const Core core : core_of) used[index(topology.node_of(core))] = 1;
  return static_cast<std::uint32_t>(std::count(used.begin(), used.end(), 1));
}

RankLimits even_limits(std::uint32_t ranks, const Topology& topology, const Capacities& capacities) {
  const MemoryTree tree(topology, capacities, {});
  RankLimits limits;
  for (const MemoryLevel& level : memory_levels(topology)) {
    std::uint32_t too_few = 0, enough = std::max(1U, ranks);
    while (enough - too_few > 1) {
      const std::uint32_t middle = too_few + (enough - too_few) / 2;
      limits.*level.limit = middle;
      (tree.total(limits) >= ranks ? enough : too_few) = middle;
    }
    limits.*level.limit = enough;
  }
  return limits;
}

Result<Capacities> limit_ranks(const Capacities& capacities, const Topology& topology, RankLimits limits,
                               std::uint32_t ranks, std::span<const Core> keep) {
  // Ranks that share slots are not limited: --oversubscribe asks for it.
  if (!limits.any() || topology.is_matrix() || ranks > capacities.slot_count(topology)) return capacities;
  MemoryTree tree(topology, capacities, keep);
  const std::uint64_t total = tree.total(limits);
  if (total == capacities.slot_count(topology)) return capacities;
  if (total < ranks) {
    return fail(Code::infeasible, at("--ranks-per-node"),
                fmt::format("{} ranks do not fit on {} nodes, which take {} with this limit", ranks,
                            topology.node_count(), total),
                "allow more ranks per node, or use more nodes");
  }
  return tree.choose(limits);
}

}  // namespace rankloom
