// SPDX-License-Identifier: Apache-2.0
// model: who sits where.
#include "rankloom/model/mapping.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace rankloom {

namespace {

constexpr double most_slots = std::numeric_limits<std::uint32_t>::max();

/// How many ranks the machine holds when none has to share beyond what the cores are made for.
std::uint64_t places(const Topology& topology) {
  std::uint64_t sum = 0;
  for (const Core core : topology.cores()) sum += topology.capacity(core);
  return sum;
}

}  // namespace

Result<Capacities> Capacities::of(const Topology& topology, std::uint32_t ranks, Options options) {
  Capacities capacities;
  capacities.total_ = places(topology);
  bool equal = true;
  for (const Core core : topology.cores()) equal &= topology.capacity(core) == topology.capacity(Core{0});
  capacities.everywhere_ = topology.capacity(Core{0});
  double scale = 1;
  if (ranks > capacities.total_) {
    if (capacities.total_ == 0 || (!options.oversubscribe && options.imbalance <= 0)) {
      return fail(Code::infeasible, at("topology"),
                  fmt::format("{} ranks do not fit on {} places", ranks, capacities.total_),
                  capacities.total_ == 0 ? "every core is marked as not to be used"
                                         : "use a larger machine, or --oversubscribe");
    }
    scale = std::floor((1 + options.imbalance) *
                       std::ceil(static_cast<double>(ranks) / static_cast<double>(capacities.total_)));
  }
  const auto scaled = [&](std::uint32_t capacity) {
    return static_cast<std::uint32_t>(std::min(most_slots, scale * capacity));
  };
  capacities.everywhere_ = scaled(capacities.everywhere_);
  if (!equal) {
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

Capacities Capacities::bounded_by_work(const Topology& topology, std::uint32_t ranks) const {
  return ranks > places(topology) ? unbounded(topology, ranks) : *this;
}

Result<Mapping> Mapping::checked(std::vector<Core> core_of, const Topology& topology, const Capacities& capacities,
                                 const std::string& source) {
  IdVector<Core, std::uint32_t> used(topology.core_count(), 0);
  for (std::uint32_t rank = 0; rank < core_of.size(); ++rank) {
    const Core core = core_of[rank];
    if (index(core) >= topology.core_count()) {
      return fail(Code::bad_input, at(source, rank + 1),
                  fmt::format("rank {} is put on core {}, but there are cores 0 to {}", rank, index(core),
                              topology.core_count() - 1),
                  "is it a mapping for another machine?");
    }
    if (++used[core] > capacities[core]) {
      return fail(
          Code::bad_input, at(source, rank + 1),
          fmt::format("rank {} is one too many on core {}, which has room for {}", rank, index(core), capacities[core]),
          "allow it with --oversubscribe, or move it");
    }
  }
  return Mapping(std::move(core_of));
}

std::vector<Core> block_placement(std::uint32_t ranks, const Topology& topology, const Capacities& capacities) {
  std::vector<Core> core_of;
  core_of.reserve(ranks);
  const std::uint64_t capacity = places(topology);
  std::uint64_t before = 0;  // capacity of the cores already passed
  for (const Core core : topology.cores()) {
    // When there are more ranks than places, every place gets its fair share of the ranks.
    const std::uint64_t after = before + topology.capacity(core);
    const std::uint64_t upto =
        ranks > capacity ? (ranks * after + capacity - 1) / capacity : std::min<std::uint64_t>(after, ranks);
    for (std::uint32_t on_core = 0; core_of.size() < upto && on_core < capacities[core]; ++on_core)
      core_of.push_back(core);
    before = after;
  }
  return core_of;
}

}  // namespace rankloom
