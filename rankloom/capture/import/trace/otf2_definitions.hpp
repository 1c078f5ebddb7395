// SPDX-License-Identifier: Apache-2.0
// capture/import/trace: the definitions of an OTF2 archive that map locations to ranks and list the members of
// communicators.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <otf2/otf2.h>
#include <tl/expected.hpp>

#include "rankloom/model/graph/profile.hpp"

namespace rankloom {

/// Maps ranks of a communicator, which events contain, to ranks of MPI_COMM_WORLD.
struct Otf2Communicator {
  std::vector<std::uint32_t> local;   ///< World rank of each member.
  std::vector<std::uint32_t> remote;  ///< World ranks of the remote group; empty: an intracommunicator.
  bool self = false;                  ///< MPI_COMM_SELF: one communicator per rank.
  bool global = false;                ///< Events contain world ranks.
  std::uint32_t index = 0;            ///< In the communicators of the profile.
  std::unordered_map<std::uint32_t, std::uint32_t> positions;  ///< World rank → index in `local`.

  std::uint32_t size() const { return self ? 1 : static_cast<std::uint32_t>(local.size()); }
  std::uint32_t position_of_rank(std::uint32_t rank) const {
    const auto found = positions.find(rank);
    return found == positions.end() ? 0 : found->second;
  }
  /// The rank in the communicator of the rank in an event; size() if it is not a member.
  std::uint32_t position_of(std::uint32_t named) const {
    if (!global) return named;
    const auto found = positions.find(named);
    return found == positions.end() ? size() : found->second;
  }
  /// The world rank of the rank in an event of process `own`.
  std::optional<std::uint32_t> world_rank(std::uint32_t own, std::uint32_t named) const {
    if (self) return own;
    const bool from_remote = !remote.empty() && !positions.contains(own);
    const auto& members = remote.empty() || from_remote ? local : remote;
    if (global && remote.empty()) return positions.contains(named) ? std::optional(named) : std::nullopt;
    return named < members.size() ? std::optional(members[named]) : std::nullopt;
  }
};

class Otf2Definitions {
 public:
  /// Reads all global definitions of the archive.
  bool read(OTF2_Reader* reader);
  /// Resolves the references between definitions, which may occur in any order.
  tl::expected<void, std::string> finish();

  const std::vector<OTF2_LocationRef>& locations() const { return locations_; }
  std::uint32_t rank_count() const { return static_cast<std::uint32_t>(world_.size()); }
  /// The rank of the process of a location; nothing: the location does not belong to an MPI process.
  std::optional<std::uint32_t> rank_of(OTF2_LocationRef location) const;
  const Otf2Communicator* find(OTF2_CommRef communicator) const;
  std::optional<OTF2_CommRef> communicator_of_window(OTF2_RmaWinRef window) const;
  /// The communicators with at least two members, in the order of Otf2Communicator::index.
  const std::vector<Communicator>& communicators() const { return communicators_; }
  /// The byte counts of collectives are the arguments of the call, as eztrace writes them, not the totals sent and
  /// received.
  bool has_call_arguments() const { return has_call_arguments_; }

 private:
  struct Group {
    OTF2_GroupType type = OTF2_GROUP_TYPE_UNKNOWN;
    bool mpi = false, global = false;
    std::vector<std::uint64_t> members;
  };
  struct Comm {
    OTF2_StringRef name = 0;
    OTF2_GroupRef group = 0;
    std::optional<OTF2_GroupRef> remote_group;
  };
  friend struct Otf2DefinitionCallbacks;

  const Group* communicator_group(OTF2_GroupRef group) const;
  tl::expected<std::vector<std::uint32_t>, std::string> ranks_of(const Group& group) const;

  std::vector<OTF2_LocationRef> locations_;
  std::unordered_map<OTF2_LocationRef, OTF2_LocationGroupRef> processes_;
  std::unordered_map<OTF2_StringRef, std::string> strings_;
  std::multimap<OTF2_GroupRef, Group> groups_;  // groups of different types may have the same id
  std::map<OTF2_CommRef, Comm> comms_;
  std::unordered_map<OTF2_RmaWinRef, OTF2_CommRef> windows_;
  bool has_call_arguments_ = false;

  std::vector<OTF2_LocationRef> world_;  // rank → location
  std::unordered_map<OTF2_LocationRef, std::uint32_t> ranks_;
  std::unordered_map<OTF2_LocationGroupRef, std::uint32_t> process_ranks_;
  std::unordered_map<OTF2_CommRef, Otf2Communicator> made_;
  std::vector<Communicator> communicators_;
};

}  // namespace rankloom
