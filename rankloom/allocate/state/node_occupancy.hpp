// SPDX-License-Identifier: Apache-2.0
// allocate: who is where at one moment. Policies read it; the command, the replay and Slurm's plugin write it.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/allocate/state/bitset.hpp"
#include "rankloom/allocate/routing/allocation_machine.hpp"

namespace rankloom {

/// The nodes of one job, as a policy chose them.
struct Allotment {
  std::vector<Node> nodes;  ///< In rising order.
  std::vector<Node>
      kept;       ///< Nodes beside these that nobody else may have while the job runs: the rest of its template.
  Bits passages;  ///< f_rule(nodes): what its messages pass.
  std::uint32_t diameter = 0;
  bool closed = false;  ///< When it was chosen, no other job passed any of these.
};

/// Nodes in use or away, and how many jobs pass each passage. A copy is cheap (bits), so that planners can look ahead.
class Occupancy {
 public:
  explicit Occupancy(const AllocationMachine& machine);

  /// Nodes that a new job may have.
  const Bits& free() const { return free_; }
  std::uint32_t free_count() const { return free_count_; }
  /// Passages that some job passes, or that are dead.
  const Bits& held() const { return held_; }

  void add(const Allotment& allotment);
  void remove(const Allotment& allotment);

  /// A drained node takes no new job; a failed one also passes nothing on where it is its own router. A job that is
  /// there goes on.
  void drain(Node node, bool failed);
  void resume(Node node);
  bool drained(Node node) const { return away_[index(node)] != 0; }

  /// Its nodes are free, and if it is said to be closed, nobody passes what it passes.
  bool fits(const Allotment& allotment) const;

 private:
  enum Away : std::uint8_t { here, drained_only, dead };
  void take(Node node);
  void give_back(Node node);
  void hold(std::uint32_t passage) {
    if (holders_[passage]++ == 0) held_.set(passage);
  }
  void let_go(std::uint32_t passage) {
    if (--holders_[passage] == 0) held_.reset(passage);
  }

  Bits free_, held_;
  std::uint32_t free_count_ = 0;
  std::vector<std::uint16_t> users_;    // by node: jobs on it
  std::vector<std::uint16_t> holders_;  // by passage
  std::vector<std::uint8_t> away_;      // by node
  bool nodes_route_ = false;            // a node is a router of its own, so that its failure is a hole in the network
};

}  // namespace rankloom
