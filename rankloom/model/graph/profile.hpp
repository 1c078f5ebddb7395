// SPDX-License-Identifier: Apache-2.0
// model/graph: the communication profile of one run. Collectives are stored as calls and expanded into pairs only when
// a graph is built, so that an all-to-all of thousands of ranks stays small.
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
  std::string name;           ///< As set by the program (MPI_Comm_set_name); empty: no name.
  std::vector<Rank> members;  ///< In the order of their ranks in the communicator. Empty: all ranks (MPI_COMM_WORLD).
};

/// `count` identical calls of one operation on one communicator.
struct Collective {
  std::uint32_t communicator = 0;  ///< Index into Profile::communicators.
  CollectiveOp op = CollectiveOp::barrier;
  std::uint32_t root = 0;  ///< Rank of the root in the communicator; 0 for operations without root.
  /// Of one block: the complete vector (bcast, reduce, allreduce, scan), or the data between two members.
  double bytes = 0;
  double count = 1;
};

/// How one rank spent its time.
struct RankActivity {
  double seconds_in_mpi = 0;
  double seconds_outside = 0;
  double instructions = 0;
};

/// Where the launcher placed the ranks. Ranks refer to tables, because hosts and sets of processing units repeat.
struct Locations {
  struct OfRank {
    std::uint32_t host = 0;     ///< Index into `hosts`.
    std::uint32_t cpus = 0;     ///< Index into `cpu_sets`.
    std::uint32_t threads = 0;  ///< Of the program, without those of the MPI library; 0: unknown.
  };
  std::vector<std::string> hosts;
  std::vector<std::string> cpu_sets;  ///< Processing units on which a rank may run: "0-3,8".
  std::vector<OfRank> of_ranks;       ///< One entry per rank, or empty.
};

/// A part of the run with its own traffic: a time window, or the part between two calls of MPI_Pcontrol.
struct Phase {
  std::string name;  ///< "0 s to 1 s", "level 2", or a name from the program.
  /// Seconds since MPI_Init. If a phase recurs, the first begin and the last end. Equal: the times are not known.
  double begin = 0, end = 0;
  CommGraph point_to_point;
  CommGraph expanded_collectives;       ///< As in Profile; rank_count() is 0 if there are none.
  std::vector<Collective> collectives;  ///< On the communicators of the profile.
};

struct Profile {
  CommGraph point_to_point;  ///< Includes messages of ranks to themselves.
  /// Whether messages of a rank to itself count in the cost, as in QAPLIB instances; otherwise traffic() removes them.
  bool self_traffic_counts = false;
  /// Collectives that the source of the profile expanded into pairs; rank_count() is 0 if there are none.
  CommGraph expanded_collectives;
  std::vector<Communicator> communicators;
  std::vector<Collective> collectives;
  std::vector<Phase> phases;           ///< In order of their begin; together the complete run. May be empty.
  std::vector<RankActivity> activity;  ///< One entry per rank, or empty.
  Locations locations;
  std::map<std::uint64_t, std::uint64_t>
      sizes;  ///< Histogram of message sizes: largest power of two not above the size → count.
  std::map<std::string, std::string> origin;  ///< Provenance: "program", "source", "date", …

  std::uint32_t rank_count() const { return point_to_point.rank_count(); }
};

/// Checks what every profile guarantees, whatever file it was read from: amounts are valid, members, roots and
/// communicators exist, and all parts have the same number of ranks. Errors name the file.
Result<void> check_profile(const Profile& profile, std::string_view file);

/// How collectives are expanded into traffic between pairs.
enum class CollectiveModel : std::uint8_t {
  none,       ///< Collectives are ignored.
  logical,    ///< By the data flow that the MPI standard defines: root with each member, or all pairs.
  tree,       ///< By common algorithms for any size: binomial trees, recursive doubling, rings, pairwise exchange.
  flat,       ///< Through the root (or member 0), one message per member.
  openmpi,    ///< By the algorithms of Open MPI 4, chosen by size.
  openmpi5,   ///< The same for Open MPI 5 and later, with two levels between nodes.
  mpich,      ///< By the algorithms of MPICH 4, with two levels between nodes.
  automatic,  ///< By the MPI library that was recorded; `tree` if it is not known.
};

struct CollectiveModelInfo {
  CollectiveModel model;
  std::string_view name;
  std::string_view summary;
};
std::span<const CollectiveModelInfo> collective_models();
std::string_view to_string(CollectiveOp op);
std::optional<CollectiveOp> find_collective_op(std::string_view name);

/// The model itself; instead of `automatic`, that of the MPI library in the origin of the profile.
CollectiveModel collective_model(CollectiveModel model, const Profile& profile);

/// Whether the ranks can be on several nodes, so that collectives may have two levels.
enum class NodeCount : std::uint8_t { one, several };

/// The traffic between pairs of ranks that mappers use. Messages of a rank to itself are removed unless
/// self_traffic_counts is set. Collectives that are already expanded are added unless the model is `none`. Collectives
/// of all ranks with two levels are not part of the pairs, but of CommGraph::parts(), as are the phases of the profile.
/// Moves the graph of the profile if there is nothing to add.
CommGraph traffic(Profile profile, CollectiveModel model, NodeCount nodes = NodeCount::several);

/// Fails if the expanded traffic does not fit into memory: an all-to-all of n ranks has n² pairs.
Result<void> check_traffic_fits(const Profile& profile, CollectiveModel model);

}  // namespace rankloom
