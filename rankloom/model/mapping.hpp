// SPDX-License-Identifier: Apache-2.0
// model: the mapping of ranks to cores. map/ produces this value, place/ uses it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/slots/slots.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// The capacity of each core: the maximum number of ranks on it. A rank that occupies several leaves of the machine is
/// on the first leaf of its slot; the others have capacity 0. `total()` is the sum, more than the slots of the machine
/// if oversubscribed. If ranks occupy slots of several shapes, a slot may begin at any core (see MixedSlots); mappers
/// get the slots of one layout instead (see run_mapper).
class Capacities {
 public:
  struct Options {
    bool oversubscribe = false;  ///< Allow more ranks than slots.
    double imbalance = 0.0;      ///< With more ranks than slots: a core takes up to (1 + imbalance) x the average.
    SlotShapes shapes = {};      ///< What a rank occupies.
  };

  /// Fails (infeasible) if there are more ranks than slots and the options do not allow this.
  static Result<Capacities> of(const Topology& topology, std::uint32_t ranks, const Options& options);

  /// What the machine says of every leaf, whatever the ranks occupy.
  static Capacities of_leaves(const Topology& topology);

  /// These numbers of ranks, of a machine without oversubscription.
  static Capacities of_slots(IdVector<Core, std::uint32_t> slots);

  /// Any number of ranks on every usable core, for mappers that limit the load of a core instead of the number of
  /// ranks.
  static Capacities unbounded(const Topology& topology, std::uint32_t ranks);
  /// These capacities if every rank has a slot; unbounded() if there are more ranks than slots, because then mappers
  /// balance the load of the cores.
  Capacities relax_if_oversubscribed(const Topology& topology, std::uint32_t ranks) const;

  std::uint32_t operator[](Core core) const { return by_core_.empty() ? common_ : by_core_[core]; }
  /// The capacities of some cores, as those of a machine that consists of them.
  Capacities of_cores(std::span<const Core> cores) const;

  /// How many ranks the core takes if it is not oversubscribed.
  std::uint32_t slots(const Topology& topology, Core core) const {
    if (are_slots_) return by_core_[core];
    return has_slots_ ? std::min(by_core_[core], 1U) : topology.capacity(core);
  }
  std::uint64_t total() const { return total_; }
  /// The number of slots of the machine.
  std::uint64_t slot_count(const Topology& topology) const;
  /// What the ranks occupy, if their slots have several shapes; nullptr: one shape.
  const SlotShapes* mixed_shapes() const { return mixed_shapes_.get(); }
  /// Whether the capacity of every core is 1.
  bool is_one_each() const { return by_core_.empty() && common_ == 1; }

 private:
  static Result<Capacities> of_mixed(const Topology& topology, std::uint32_t ranks, const SlotShapes& shapes);
  std::uint64_t sum(const Topology& topology) const;

  IdVector<Core, std::uint32_t> by_core_;  // empty: all equal
  std::uint32_t common_ = 1;
  std::uint64_t total_ = 0;
  bool has_slots_ = false;  // only the first leaves of slots have a capacity
  bool are_slots_ = false;  // by_core_ contains the slots, whatever the machine says
  std::shared_ptr<const SlotShapes> mixed_shapes_;
};

/// The hint of a mapping that exceeds the capacity of a core.
inline constexpr const char* move_rank_hint = "move the rank to another core";

/// Rank → core. Every core exists in the topology, and no core has more ranks than its capacity.
class Mapping {
 public:
  /// Validates the cores; an error names the rank and the core. `source` names the mapping in the error.
  static Result<Mapping> create(std::vector<Core> core_of, const Topology& topology, const Capacities& capacities,
                                const std::string& source = "mapping");

  std::uint32_t rank_count() const { return static_cast<std::uint32_t>(core_of_.size()); }
  Core operator[](Rank rank) const { return core_of_[rank]; }
  std::span<const Core> cores() const { return core_of_; }
  bool operator==(const Mapping&) const = default;

 private:
  explicit Mapping(std::vector<Core> core_of) : core_of_(std::move(core_of)) {}
  IdVector<Rank, Core> core_of_;
};

/// The launchers' default placement (block): fills the cores in topology order, each up to its capacity. With more
/// ranks than slots, consecutive ranks share a core and every slot gets the same number of ranks, or one more. With
/// slots of several shapes, it fills the nodes with one shape after the other.
std::vector<Core> block_placement(std::uint32_t ranks, const Topology& topology, const Capacities& capacities);

}  // namespace rankloom
