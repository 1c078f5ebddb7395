// SPDX-License-Identifier: Apache-2.0
// place/joint: maps the ranks of jobs onto sets of nodes, and estimates the time of their communication there. Results
// are kept by the shape of the set, so that the second box of a shape costs a lookup.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rankloom/core/progress.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/map/mapper.hpp"
#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/platform.hpp"
#include "rankloom/place/joint/node_set.hpp"

namespace rankloom {

/// The traffic of a job. Jobs with equal ids have equal graphs.
struct JobTraffic {
  std::uint64_t id = 0;
  const CommGraph& graph;
};

/// Not thread-safe. Memory: 8 bytes per rank for each job and shape, up to a limit; then it begins again.
class TrafficMapper {
 public:
  /// `mapper` is a row of `rankloom list mappers` with options; "block" is the launcher's default placement: ranks in
  /// ascending order of the nodes. Fails for unknown mappers, and for a distance matrix.
  static Result<TrafficMapper> create(const Topology& topology, std::string_view mapper);

  /// For everything but place().
  static Result<TrafficMapper> create_without_mapper(const Topology& topology);

  /// Predicted seconds of communication on these nodes, without the mapper: of the best of several orders of the nodes.
  /// If the deadline has passed, of one of them, and nothing is kept.
  double estimate(const JobTraffic& job, std::span<const Node> nodes, const Deadline& deadline = {});
  /// How many sets of this many nodes can be estimated in some ten milliseconds; at least 2. Depends on the job and the
  /// network alone, so that equal requests get equal answers.
  std::size_t affordable_sets(const JobTraffic& job, std::size_t nodes) const;
  /// The core of each rank by the mapper; not slower than the estimate, nor than ranks in the order of the nodes, which
  /// have slots for all of them.
  std::vector<Core> place(const JobTraffic& job, std::span<const Node> nodes, const Deadline& deadline = {});
  /// The same without the mapper: the best of several orders of the nodes.
  std::vector<Core> place_in_order(const JobTraffic& job, std::span<const Node> nodes,
                                   const Deadline& deadline = {}) const;
  /// The launcher's default placement.
  std::vector<Core> block(std::uint32_t ranks, std::span<const Node> nodes) const;

  const Platform& platform() const { return platform_; }
  /// How many estimates were computed, and how many were found by their shape.
  std::uint64_t computed() const { return computed_; }
  std::uint64_t reused() const { return reused_; }

 private:
  /// Where a rank is: a node of the set, and a slot of the node.
  struct SlotInSet {
    std::uint32_t node = 0, slot = 0;
  };
  struct Placed {
    std::vector<Core> core_of;
    double seconds = 0;
  };

  static constexpr std::size_t all_orders = 3;

  TrafficMapper(const Topology& topology, Platform platform, ConfiguredMapper mapper);
  /// Of what is kept for a job and all sets of a shape.
  static std::string key_of(const JobTraffic& job, const NodeSet& set);
  void keep_better(const CommGraph& graph, std::vector<Core> core_of, Placed& best) const;
  Placed in_best_order(const JobTraffic& job, const NodeSet& set, std::size_t max_orders,
                       const Deadline& deadline) const;
  Placed compute(const JobTraffic& job, const NodeSet& set, const Deadline& deadline) const;
  double steps(const JobTraffic& job, std::size_t nodes) const;
  std::size_t affordable_orders(const JobTraffic& job, std::size_t nodes) const;
  std::vector<Core> map_in_box(const CommGraph& graph, const NodeSet& set, const MapRun& run) const;
  std::vector<Core> map_in_machine(const CommGraph& graph, const NodeSet& set, const MapRun& run) const;
  std::vector<SlotInSet> slots_in(const NodeSet& set, std::span<const Core> core_of) const;
  std::vector<Core> cores_of(std::span<const SlotInSet> slots, std::span<const Node> nodes) const;
  void count_kept(std::size_t slots);

  Topology topology_;
  Platform platform_;
  ConfiguredMapper mapper_;
  bool is_block_;
  std::vector<std::vector<Core>> slots_of_node_;  // the cores that take ranks, by node; a core as often as its capacity
  std::unordered_map<std::string, std::vector<SlotInSet>> mapped_;  // by job and shape
  std::unordered_map<std::string, double> estimates_;               // by job and shape
  std::size_t kept_slots_ = 0;                                      // in units of a slot
  std::uint64_t computed_ = 0, reused_ = 0;
};

}  // namespace rankloom
