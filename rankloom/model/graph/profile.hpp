// SPDX-License-Identifier: Apache-2.0
// model: what was recorded of one run. Collectives are kept as what the program asked for, and become traffic between
// pairs only when a graph is asked for, so that an all-to-all of thousands of ranks stays small.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/graph/collective_op.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

struct Communicator {
  std::string name;           ///< As the program named it; empty: not named.
  std::vector<Rank> members;  ///< In the order of their ranks inside the communicator. Empty: all ranks (the world).
};

/// `count` equal calls of one operation on one communicator.
struct Collective {
  std::uint32_t communicator = 0;  ///< Index into Profile::communicators.
  CollectiveOp op = CollectiveOp::barrier;
  std::uint32_t root = 0;  ///< Position of the root in the communicator; 0 for operations without one.
  double bytes =
      0;  ///< Of one block: the whole vector (bcast, reduce, allreduce, scan), or what one member gets from another.
  double count = 1;
};

/// What one rank did with its time.
struct RankActivity {
  double seconds_in_mpi = 0;
  double seconds_outside = 0;
  double instructions = 0;
};

/// A part of the run with traffic of its own: a window of time, or what lies between two calls of MPI_Pcontrol.
struct Phase {
  std::string name;  ///< "0 s to 1 s", "level 2", or as the program named it.
  double begin = 0,
         end = 0;  ///< Seconds since the program began to communicate; phases may recur, then the first and last.
  CommGraph point_to_point;
  CommGraph expanded_collectives;       ///< As in Profile; no ranks: there are none.
  std::vector<Collective> collectives;  ///< On the profile's communicators.
};

struct Profile {
  CommGraph point_to_point;  ///< With what ranks send to themselves.
  /// What a rank sends to itself belongs to the cost, as in QAPLIB's instances; otherwise traffic() leaves it out.
  bool self_traffic_counts = false;
  /// Collectives that came already turned into pairs by whoever measured them; no ranks: none came so.
  CommGraph expanded_collectives;
  std::vector<Communicator> communicators;
  std::vector<Collective> collectives;
  std::vector<Phase> phases;                     ///< In order of their begin; together the whole run. Or empty.
  std::vector<RankActivity> activity;            ///< One for each rank, or empty.
  std::map<std::uint64_t, std::uint64_t> sizes;  ///< Messages by size: power of two not above the size → count.
  std::map<std::string, std::string> origin;     ///< Where it came from: "program", "source", "date", …

  std::uint32_t rank_count() const { return point_to_point.rank_count(); }
};

/// How collectives become traffic between pairs.
enum class CollectiveModel : std::uint8_t {
  none,     ///< Left out.
  logical,  ///< As the standard defines the result: root with each member, or all pairs.
  tree,     ///< As MPI libraries do it: binomial trees, recursive doubling, rings, pairwise exchange.
  flat,     ///< Everything through the root (or member 0), one message for each member.
};

struct CollectiveModelInfo {
  CollectiveModel model;
  std::string_view name;
  std::string_view summary;
};
std::span<const CollectiveModelInfo> collective_models();
std::string_view to_string(CollectiveOp op);
std::optional<CollectiveOp> find_collective_op(std::string_view name);

/// The traffic between pairs that a mapper sees, without what ranks send to themselves unless the profile says that it
/// counts. Collectives that came already expanded are added unless the model is `none`. Moves the profile's own graph
/// when there is nothing to add.
CommGraph traffic(Profile profile, CollectiveModel model);

/// Fails when those pairs would not fit into this machine: an all-to-all of n ranks is n² of them.
Result<void> check_traffic_fits(const Profile& profile, CollectiveModel model);

}  // namespace rankloom
