// SPDX-License-Identifier: Apache-2.0
// model: the mapping of ranks to cores.
#include "rankloom/model/mapping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "rankloom/model/machine/slots/mixed_slots.hpp"

namespace rankloom {

namespace {

constexpr double max_capacity = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Capacities Capacities::of_leaves(const Topology& topology) {
  Capacities capacities;
  capacities.common_ = topology.capacity(Core{0});
  const auto cores = topology.cores();
  if (!std::all_of(cores.begin(), cores.end(),
                   [&](Core core) { return topology.capacity(core) == capacities.common_; })) {
    capacities.by_core_.resize(topology.core_count());
    for (const Core core : cores) capacities.by_core_[core] = topology.capacity(core);
  }
  capacities.total_ = capacities.sum(topology);
  return capacities;
}

Result<Capacities> Capacities::of(const Topology& topology, std::uint32_t ranks, const Options& options) {
  if (auto named = options.shapes.check(ranks); !named) return propagate(named);
  const SlotShapes shapes = options.shapes.of_first(ranks);
  if (shapes.differ()) return of_mixed(topology, ranks, shapes);
  auto slots = Slots::cut(topology, ranks, shapes.common());
  if (!slots) return propagate(slots);
  Capacities capacities = of_leaves(topology);
  if (!slots->are_leaves()) {
    capacities.has_slots_ = true;
    capacities.by_core_.assign(topology.core_count(), 0);
    for (std::size_t slot = 0; slot < slots->count(); ++slot) capacities.by_core_[slots->leaves(slot)[0]] = 1;
  }
  const std::uint64_t total = capacities.sum(topology);
  double scale = 1;
  if (ranks > total) {
    if (total == 0 || (!options.oversubscribe && options.imbalance <= 0)) {
      return fail(Code::infeasible, at("topology"), fmt::format("{} ranks do not fit into {} slots", ranks, total),
                  total == 0                 ? "all cores have capacity 0"
                  : shapes.common().gpus > 0 ? "use a larger machine, or let ranks share GPUs: --ranks-per-gpu"
                                             : "use a larger machine, or --oversubscribe");
    }
    scale = std::floor((1 + options.imbalance) * std::ceil(static_cast<double>(ranks) / static_cast<double>(total)));
  }
  const auto scaled = [&](std::uint32_t capacity) {
    return static_cast<std::uint32_t>(std::min(max_capacity, scale * capacity));
  };
  capacities.common_ = scaled(capacities.common_);
  for (std::uint32_t& capacity : capacities.by_core_) capacity = scaled(capacity);
  capacities.total_ = capacities.sum(topology);
  return capacities;
}

Result<Capacities> Capacities::of_mixed(const Topology& topology, std::uint32_t ranks, const SlotShapes& shapes) {
  if (topology.is_matrix()) {
    return fail(Code::usage, at(option_text(shapes)), "a distance matrix has no cores that could form a slot",
                "leave it out, or give a machine with levels");
  }
  if (shapes.any([](const SlotShape& shape) { return shape.ranks_per_gpu > 1; })) {
    return fail(Code::usage, at("--ranks-per-gpu"), "ranks with different numbers of cores or GPUs cannot share GPUs",
                "give all ranks the same numbers, or leave it out");
  }
  const MixedSlots slots(topology, shapes, ranks);
  if (slots.layouts().empty()) {
    return fail(Code::infeasible, at("topology"),
                fmt::format("{} ranks with {} do not fit onto the machine", ranks, option_text(shapes)),
                "use a larger machine, or give each rank fewer cores");
  }
  Capacities capacities;
  capacities.by_core_.assign(topology.core_count(), 0);
  for (const Core core : slots.first_leaves()) capacities.by_core_[core] = 1;
  capacities.has_slots_ = true;
  capacities.total_ = ranks;
  capacities.mixed_shapes_ = std::make_shared<const SlotShapes>(shapes);
  return capacities;
}

Capacities Capacities::of_slots(IdVector<Core, std::uint32_t> slots) {
  Capacities capacities;
  capacities.total_ = std::accumulate(slots.begin(), slots.end(), std::uint64_t{0});
  capacities.by_core_ = std::move(slots);
  capacities.are_slots_ = true;
  return capacities;
}

Capacities Capacities::unbounded(const Topology& topology, std::uint32_t ranks) {
  Capacities capacities;
  capacities.by_core_.resize(topology.core_count());
  for (const Core core : topology.cores()) capacities.by_core_[core] = topology.capacity(core) > 0 ? ranks : 0;
  capacities.total_ = capacities.sum(topology);
  return capacities;
}

Capacities Capacities::relax_if_oversubscribed(const Topology& topology, std::uint32_t ranks) const {
  if (ranks <= slot_count(topology)) return *this;
  if (!has_slots_) return unbounded(topology, ranks);
  Capacities capacities = *this;
  for (std::uint32_t& capacity : capacities.by_core_) capacity = capacity > 0 ? ranks : 0;
  capacities.total_ = capacities.sum(topology);
  return capacities;
}

Capacities Capacities::of_cores(std::span<const Core> cores) const {
  Capacities capacities;
  capacities.common_ = cores.empty() ? 1 : (*this)[cores[0]];
  for (const Core core : cores) capacities.total_ += (*this)[core];
  if (std::all_of(cores.begin(), cores.end(), [&](Core core) { return (*this)[core] == capacities.common_; }))
    return capacities;
  capacities.by_core_.reserve(cores.size());
  for (const Core core : cores) capacities.by_core_.push_back((*this)[core]);
  return capacities;
}

std::uint64_t Capacities::sum(const Topology& topology) const {
  std::uint64_t sum = 0;
  for (const Core core : topology.cores()) sum += (*this)[core];
  return sum;
}

std::uint64_t Capacities::slot_count(const Topology& topology) const {
  std::uint64_t sum = 0;
  for (const Core core : topology.cores()) sum += slots(topology, core);
  return sum;
}

Result<Mapping> Mapping::create(std::vector<Core> core_of, const Topology& topology, const Capacities& capacities,
                                const std::string& source) {
  IdVector<Core, std::uint32_t> used(topology.core_count(), 0);
  for (std::uint32_t rank = 0; rank < core_of.size(); ++rank) {
    const Core core = core_of[rank];
    if (index(core) >= topology.core_count()) {
      return fail(
          Code::bad_input, at(source, rank + 1),
          fmt::format("rank {} is on core {}, but the cores are 0 to {}", rank, index(core), topology.core_count() - 1),
          "check that the mapping was made for this machine");
    }
    if (++used[core] > capacities[core]) {
      return fail(
          Code::bad_input, at(source, rank + 1),
          fmt::format("rank {} exceeds the capacity of core {}, which is {}", rank, index(core), capacities[core]),
          move_rank_hint);
    }
  }
  if (const SlotShapes* const shapes = capacities.mixed_shapes()) {
    const MixedSlots slots(topology, *shapes, static_cast<std::uint32_t>(core_of.size()));
    if (auto valid = slots.check(core_of, source); !valid) return propagate(valid);
  }
  return Mapping(std::move(core_of));
}

std::vector<Core> block_placement(std::uint32_t ranks, const Topology& topology, const Capacities& capacities) {
  if (const SlotShapes* const shapes = capacities.mixed_shapes()) {
    auto layouts = MixedSlots(topology, *shapes, ranks).layouts();
    return std::move(layouts.front());
  }
  std::vector<Core> core_of;
  core_of.reserve(ranks);
  const std::uint64_t slots = capacities.slot_count(topology);
  std::uint64_t before = 0;  // slots of the cores so far
  for (const Core core : topology.cores()) {
    // With more ranks than slots, every slot gets its share of the ranks.
    const std::uint64_t after = before + capacities.slots(topology, core);
    const std::uint64_t end =
        ranks > slots ? (ranks * after + slots - 1) / slots : std::min<std::uint64_t>(after, ranks);
    for (std::uint32_t on_core = 0; core_of.size() < end && on_core < capacities[core]; ++on_core)
      core_of.push_back(core);
    before = after;
  }
  return core_of;
}

}  // namespace rankloom
