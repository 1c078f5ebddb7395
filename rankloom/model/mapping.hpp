// SPDX-License-Identifier: Apache-2.0
// model: who sits where. The value that map produces and place consumes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// How many ranks each core may hold in one problem.
class Capacities {
 public:
  struct Options {
    bool oversubscribe = false;  ///< Allow several ranks on a core when there are more ranks than places.
    double imbalance = 0.0;      ///< Then a core may hold (1 + imbalance) x its fair share, rounded up.
  };

  /// Fails (infeasible) when the ranks do not fit.
  static Result<Capacities> of(const Topology& topology, std::uint32_t ranks, Options options);

  /// Any number of ranks on every core that may be used at all, for mappers that bound a core's work instead.
  static Capacities unbounded(const Topology& topology, std::uint32_t ranks);
  /// These capacities where there is a place for every rank; unbounded where somebody shares a core in every placement.
  Capacities bounded_by_work(const Topology& topology, std::uint32_t ranks) const;

  std::uint32_t operator[](Core core) const { return by_core_.empty() ? everywhere_ : by_core_[core]; }
  std::uint64_t total() const { return total_; }
  /// Every core holds at most one rank.
  bool one_each() const { return by_core_.empty() && everywhere_ == 1; }

 private:
  IdVector<Core, std::uint32_t> by_core_;  // empty: the same everywhere
  std::uint32_t everywhere_ = 1;
  std::uint64_t total_ = 0;
};

/// Rank → core; every rank has a core of the topology, and no core holds more ranks than it has capacities.
class Mapping {
 public:
  /// Checks; says which rank or core is wrong. `source` names the mapping in the message.
  static Result<Mapping> checked(std::vector<Core> core_of, const Topology& topology, const Capacities& capacities,
                                 const std::string& source = "mapping");

  std::uint32_t rank_count() const { return static_cast<std::uint32_t>(core_of_.size()); }
  Core operator[](Rank rank) const { return core_of_[rank]; }
  std::span<const Core> cores() const { return core_of_; }
  bool operator==(const Mapping&) const = default;

 private:
  explicit Mapping(std::vector<Core> core_of) : core_of_(std::move(core_of)) {}
  IdVector<Rank, Core> core_of_;
};

/// What launchers do by default: fill the cores in topology order, each up to its capacities; when every core may hold
/// several ranks, consecutive ranks share a core and cores get equal numbers (the first ones one more).
std::vector<Core> block_placement(std::uint32_t ranks, const Topology& topology, const Capacities& capacities);

}  // namespace rankloom
