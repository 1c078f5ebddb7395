// SPDX-License-Identifier: Apache-2.0
// allocate/state: which nodes and which routers or links are in use at one moment. Policies read it; the command line,
// the workload replay and the Slurm plugin update it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rankloom/allocate/routing/allocation_machine.hpp"
#include "rankloom/allocate/state/bitset.hpp"

namespace rankloom {

/// The nodes of one job, as a policy chose them.
struct Allocation {
  std::vector<Node> nodes;     ///< In ascending order.
  std::vector<Node> reserved;  ///< Further nodes that no other job may use meanwhile: the rest of the job's template.
  /// The route footprint of the nodes: the routers or links that the messages of the job use.
  Bitset shared_resources;
  std::uint32_t diameter = 0;
  bool isolated = false;  ///< When the nodes were chosen, no other job used any of the shared resources.
};

/// Nodes that are in use or unavailable, and the number of jobs that use each router or link. Copies are cheap (bits),
/// so that schedulers can plan ahead on a copy.
class Occupancy {
 public:
  explicit Occupancy(const AllocationMachine& machine);

  /// Nodes that a new job may use.
  const Bitset& free_nodes() const { return free_nodes_; }
  std::uint32_t free_count() const { return free_count_; }
  /// Routers or links that some job uses, or that have failed.
  const Bitset& used_resources() const { return used_resources_; }
  /// Whether some job already uses one of these routers or links.
  bool conflicts_with(const Bitset& shared_resources) const { return shared_resources.intersects(used_resources_); }

  /// Whether no job runs.
  bool is_idle() const {
    return std::all_of(jobs_on_node_.begin(), jobs_on_node_.end(), [](std::uint16_t jobs) { return jobs == 0; });
  }

  void add(const Allocation& allocation);
  void remove(const Allocation& allocation);

  /// A drained node accepts no new job. A failed node of a mesh or torus also forwards no messages. Jobs that already
  /// run on the node continue.
  void drain(Node node, bool failed);
  void resume(Node node);
  bool is_available(Node node) const { return availability_[index(node)] == Availability::available; }

  /// Whether its nodes are free and, if it is isolated, no other job uses its routers or links.
  bool fits(const Allocation& allocation) const;

 private:
  enum class Availability : std::uint8_t { available, drained, failed };
  void occupy(Node node);
  void release(Node node);
  void acquire_resource(std::uint32_t resource) {
    if (users_of_resource_[resource]++ == 0) used_resources_.set(resource);
  }
  void release_resource(std::uint32_t resource) {
    if (--users_of_resource_[resource] == 0) used_resources_.reset(resource);
  }

  Bitset free_nodes_, used_resources_;
  std::uint32_t free_count_ = 0;
  std::vector<std::uint16_t> jobs_on_node_;
  std::vector<std::uint16_t> users_of_resource_;
  std::vector<Availability> availability_;  // by node
  bool nodes_are_routers_ = false;          // the failure of a node also removes a router
};

/// The allocation of given nodes: computes their footprint and diameter, and whether they are isolated.
Allocation make_allocation(const AllocationMachine& machine, const Occupancy& occupancy, std::vector<Node> nodes);

}  // namespace rankloom
