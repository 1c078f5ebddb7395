// SPDX-License-Identifier: Apache-2.0
// capture: the definitions of an OTF2 archive, as far as they tell which rank a location is and who is in a
// communicator.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <otf2/otf2.h>
#include <tl/expected.hpp>

#include "rankloom/model/profile.hpp"

namespace rankloom {

/// Positions in a communicator, which is what events speak of, and ranks in the world.
struct Otf2Communicator {
  std::vector<std::uint32_t> local;   ///< Rank of each member.
  std::vector<std::uint32_t> remote;  ///< Of the other side of an intercommunicator; empty: there is none.
  bool self = false;                  ///< MPI_COMM_SELF: one for each rank.
  bool global = false;                ///< Events name ranks of the world.
  std::uint32_t index = 0;            ///< In the profile's list.
  std::unordered_map<std::uint32_t, std::uint32_t> positions;  ///< Rank → place in `local`.

  std::uint32_t size() const { return self ? 1 : static_cast<std::uint32_t>(local.size()); }
  std::uint32_t position_of_rank(std::uint32_t rank) const {
    const auto found = positions.find(rank);
    return found == positions.end() ? 0 : found->second;
  }
  /// The place of what an event names; not below size() when it is not in there.
  std::uint32_t position_of(std::uint32_t named) const {
    if (!global) return named;
    const auto found = positions.find(named);
    return found == positions.end() ? size() : found->second;
  }
  /// Whom a rank means by a number.
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
  /// All global definitions of the archive.
  bool read(OTF2_Reader* reader);
  /// Puts them together, in whatever order they came.
  tl::expected<void, std::string> finish();

  const std::vector<OTF2_LocationRef>& locations() const { return locations_; }
  std::uint32_t rank_count() const { return static_cast<std::uint32_t>(world_.size()); }
  /// A thread belongs to the rank of its process; nothing: to none.
  std::optional<std::uint32_t> rank_of(OTF2_LocationRef location) const;
  const Otf2Communicator* find(OTF2_CommRef communicator) const;
  std::optional<OTF2_CommRef> communicator_of_window(OTF2_RmaWinRef window) const;
  /// Those of two members or more, as Otf2Communicator::index counts them.
  const std::vector<Communicator>& communicators() const { return communicators_; }
  /// Amounts of collectives are those of the call, as eztrace has it, not all that goes in and out.
  bool blocks() const { return blocks_; }

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
  std::multimap<OTF2_GroupRef, Group> groups_;  // numbers may be taken twice, by groups of different types
  std::map<OTF2_CommRef, Comm> comms_;
  std::unordered_map<OTF2_RmaWinRef, OTF2_CommRef> windows_;
  bool blocks_ = false;

  std::vector<OTF2_LocationRef> world_;  // rank → location
  std::unordered_map<OTF2_LocationRef, std::uint32_t> ranks_;
  std::unordered_map<OTF2_LocationGroupRef, std::uint32_t> process_ranks_;
  std::unordered_map<OTF2_CommRef, Otf2Communicator> made_;
  std::vector<Communicator> communicators_;
};

}  // namespace rankloom
