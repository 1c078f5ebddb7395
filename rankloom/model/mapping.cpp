// SPDX-License-Identifier: Apache-2.0
// model: the mapping of ranks to cores.
#include "rankloom/model/mapping.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace rankloom {

namespace {

constexpr double max_capacity = std::numeric_limits<std::uint32_t>::max();

/// The total number of slots of the machine.
std::uint64_t slot_count(const Topology& topology) {
  std::uint64_t sum = 0;
  for (const Core core : topology.cores()) sum += topology.capacity(core);
  return sum;
}

}  // namespace

Result<Capacities> Capacities::of(const Topology& topology, std::uint32_t ranks, Options options) {
  Capacities capacities;
  capacities.total_ = slot_count(topology);
  bool all_equal = true;
  for (const Core core : topology.cores()) all_equal &= topology.capacity(core) == topology.capacity(Core{0});
  capacities.common_ = topology.capacity(Core{0});
  double scale = 1;
  if (ranks > capacities.total_) {
    if (capacities.total_ == 0 || (!options.oversubscribe && options.imbalance <= 0)) {
      return fail(Code::infeasible, at("topology"),
                  fmt::format("{} ranks do not fit into {} slots", ranks, capacities.total_),
                  capacities.total_ == 0 ? "all cores have capacity 0" : "use a larger machine, or --oversubscribe");
    }
    scale = std::floor((1 + options.imbalance) *
                       std::ceil(static_cast<double>(ranks) / static_cast<double>(capacities.total_)));
  }
  const auto scaled = [&](std::uint32_t capacity) {
    return static_cast<std::uint32_t>(std::min(max_capacity, scale * capacity));
  };
  capacities.common_ = scaled(capacities.common_);
  if (!all_equal) {
    capacities.by_core_.resize(topology.core_count());
    for (const Core core : topology.cores()) capacities.by_core_[core] = scaled(topology.capacity(core));
  }
  capacities.total_ = 0;
  for (const Core core : topology.cores()) capacities.total_ += capacities[core];
  return capacities;
}

Capacities Capacities::unbounded(const Topology& topology, std::uint32_t ranks) {
  Capacities capacities;
  capacities.by_core_.resize(topology.core_count());
  for (const Core core : topology.cores()) {
    capacities.by_core_[core] = topology.capacity(core) > 0 ? ranks : 0;
    capacities.total_ += capacities.by_core_[core];
  }
  return capacities;
}

Capacities Capacities::relax_if_oversubscribed(const Topology& topology, std::uint32_t ranks) const {
  return ranks > slot_count(topology) ? unbounded(topology, ranks) : *this;
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
  return Mapping(std::move(core_of));
}

std::vector<Core> block_placement(std::uint32_t ranks, const Topology& topology, const Capacities& capacities) {
  std::vector<Core> core_of;
  core_of.reserve(ranks);
  const std::uint64_t slots = slot_count(topology);
  std::uint64_t before = 0;  // slots of the cores so far
  for (const Core core : topology.cores()) {
    // With more ranks than slots, every slot gets its share of the ranks.
    const std::uint64_t after = before + topology.capacity(core);
    const std::uint64_t end =
        ranks > slots ? (ranks * after + slots - 1) / slots : std::min<std::uint64_t>(after, ranks);
    for (std::uint32_t on_core = 0; core_of.size() < end && on_core < capacities[core]; ++on_core)
      core_of.push_back(core);
    before = after;
  }
  return core_of;
}

}  // namespace rankloom
