// SPDX-License-Identifier: Apache-2.0
// allocate: nodes for a job of somebody else's queue: what a batch system knows at one moment (who runs where until
// when, which nodes the job may have) turned into the nodes that it should get, now or later. Keeps no state of its
// own: whoever asks says what there is, so that a restarted scheduler gets the same answers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rankloom/allocate/policy.hpp"

namespace rankloom {

/// A job that runs.
struct ScheduledJob {
  std::vector<Node> nodes;  ///< In rising order.
  double end = 0;           ///< When it ends at the latest, in seconds of any clock.
};

/// What a waiting job may have.
struct NodeRequest {
  std::uint32_t nodes = 1;
  Bits usable;                      ///< By node; all others are holes, whoever is on them.
  std::vector<Node> required = {};  ///< Nodes that must be among its own.
  PlaceOptions place = {};
};

struct Plan {
  double start = 0;
  Allotment allotment = {};
};

/// The machine at one moment. Making it costs one f_rule for each running job; a question costs a copy of the bits and
/// one search, and one more for each halving of the running jobs when the answer lies in the future.
class SchedulerView {
 public:
  /// The allocator and the policy must outlive it. Two jobs may share a node; what they do is theirs.
  SchedulerView(const Allocator& allocator, const PolicyInfo& policy, std::vector<ScheduledJob> running);

  /// The same, while also this shape is taken: the plan for a job that waits with a higher priority.
  void keep_for_another(const Allotment& planned) { occupancy_.add(planned); }

  /// Beside all that run.
  std::optional<Allotment> now(const NodeRequest& request) const;
  /// When enough of the running jobs have ended: the first moment at which the policy finds a place, and that place.
  /// None: not even on the empty machine.
  std::optional<Plan> later(const NodeRequest& request) const;
  /// On the empty machine, with the same holes.
  std::optional<Allotment> ever(const NodeRequest& request) const;

 private:
  std::optional<Allotment> find(Occupancy occupancy, const NodeRequest& request) const;

  const Allocator* allocator_;
  const PolicyInfo* policy_;
  std::vector<double> ends_;           // rising
  std::vector<Allotment> allotments_;  // in the same order
  Occupancy occupancy_;
};

/// Nodes for a job some of whose nodes are given. With none given, the policy's answer; otherwise the policy is asked
/// in ever wider neighbourhoods of the given nodes; of its answers that hold them the narrowest counts, and if none
/// does, the nearest nodes are taken, provided that they meet nobody or the fallback allows it.
std::optional<Allotment> place_around(const Allocator& allocator, const Occupancy& occupancy, const PolicyInfo& policy,
                                      std::uint32_t nodes, std::span<const Node> required, const PlaceOptions& options);

/// What a user may say of his job in a free text such as Slurm's --comment: "rankloom:fallback=diameter". Words of
/// others are left alone; of several the last counts.
std::optional<Fallback> fallback_in(std::string_view text);

}  // namespace rankloom
