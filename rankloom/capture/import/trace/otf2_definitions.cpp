// SPDX-License-Identifier: Apache-2.0
// capture/import/trace: the definitions of an OTF2 archive.
#include "rankloom/capture/import/trace/otf2_definitions.hpp"

#include <memory>
#include <numeric>

#include <fmt/format.h>

namespace rankloom {

struct Otf2DefinitionCallbacks {
  static Otf2Definitions& self(void* data) { return *static_cast<Otf2Definitions*>(data); }

  static OTF2_CallbackCode string(void* data, OTF2_StringRef id, const char* text) {
    self(data).strings_[id] = text;
    self(data).has_call_arguments_ |= std::string_view(text).starts_with("EZTrace");
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode location(void* data, OTF2_LocationRef id, OTF2_StringRef, OTF2_LocationType, std::uint64_t,
                                    OTF2_LocationGroupRef process) {
    if (self(data).processes_.emplace(id, process).second) self(data).locations_.push_back(id);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode group(void* data, OTF2_GroupRef id, OTF2_StringRef, OTF2_GroupType type,
                                 OTF2_Paradigm paradigm, OTF2_GroupFlag flags, std::uint32_t count,
                                 const std::uint64_t* members) {
    self(data).groups_.emplace(id, Otf2Definitions::Group{type,
                                                          paradigm == OTF2_PARADIGM_MPI,
                                                          (flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0,
                                                          {members, members + count}});
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode comm(void* data, OTF2_CommRef id, OTF2_StringRef name, OTF2_GroupRef group, OTF2_CommRef,
                                OTF2_CommFlag) {
    self(data).comms_[id] = {name, group, std::nullopt};
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode inter_comm(void* data, OTF2_CommRef id, OTF2_StringRef name, OTF2_GroupRef group,
                                      OTF2_GroupRef remote, OTF2_CommRef, OTF2_CommFlag) {
    self(data).comms_[id] = {name, group, remote};
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode window(void* data, OTF2_RmaWinRef id, OTF2_StringRef, OTF2_CommRef comm, OTF2_RmaWinFlag) {
    self(data).windows_[id] = comm;
    return OTF2_CALLBACK_SUCCESS;
  }
};

bool Otf2Definitions::read(OTF2_Reader* reader) {
  OTF2_GlobalDefReader* const source = OTF2_Reader_GetGlobalDefReader(reader);
  if (source == nullptr) return false;
  using Callbacks = Otf2DefinitionCallbacks;
  const std::unique_ptr<OTF2_GlobalDefReaderCallbacks, void (*)(OTF2_GlobalDefReaderCallbacks*)> callbacks(
      OTF2_GlobalDefReaderCallbacks_New(), OTF2_GlobalDefReaderCallbacks_Delete);
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks.get(), Callbacks::string);
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks.get(), Callbacks::location);
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks.get(), Callbacks::group);
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks.get(), Callbacks::comm);
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(callbacks.get(), Callbacks::inter_comm);
  OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(callbacks.get(), Callbacks::window);
  OTF2_Reader_RegisterGlobalDefCallbacks(reader, source, callbacks.get(), this);
  std::uint64_t read = 0;
  return OTF2_Reader_ReadAllGlobalDefinitions(reader, source, &read) == OTF2_SUCCESS;
}

tl::expected<void, std::string> Otf2Definitions::finish() {
  for (const auto& [id, group] : groups_) {
    if (group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS && group.mpi && world_.empty()) world_ = group.members;
  }
  if (world_.empty()) return tl::unexpected<std::string>("the archive contains no MPI ranks");
  for (std::uint32_t rank = 0; rank < world_.size(); ++rank) {
    const auto process = processes_.find(world_[rank]);
    if (process == processes_.end())
      return tl::unexpected(fmt::format("rank {} is location {}, which is not defined", rank, world_[rank]));
    if (!ranks_.emplace(world_[rank], rank).second)
      return tl::unexpected(fmt::format("location {} has two ranks", world_[rank]));
    process_ranks_.emplace(process->second, rank);
  }
  for (const auto& [id, comm] : comms_) {
    const Group* const group = communicator_group(comm.group);
    if (group == nullptr || !group->mpi) continue;
    Otf2Communicator made;
    made.self = group->type == OTF2_GROUP_TYPE_COMM_SELF;
    made.global = group->global;
    auto local = ranks_of(*group);
    if (!local) return tl::unexpected(local.error());
    made.local = std::move(*local);
    if (comm.remote_group) {
      const Group* const remote = communicator_group(*comm.remote_group);
      auto members = remote == nullptr ? std::vector<std::uint32_t>() : ranks_of(*remote);
      if (!members) return tl::unexpected(members.error());
      made.remote = std::move(*members);
    }
    for (std::uint32_t i = 0; i < made.local.size(); ++i) {
      if (!made.positions.emplace(made.local[i], i).second)
        return tl::unexpected(fmt::format("rank {} occurs twice in communicator {}", made.local[i], id));
    }
    if (made.size() > 1) {
      made.index = static_cast<std::uint32_t>(communicators_.size());
      std::vector<Rank> members;
      for (const std::uint32_t rank : made.local) members.push_back(Rank{rank});
      const bool world = members.size() == world_.size() && std::is_sorted(members.begin(), members.end());
      if (world) members.clear();
      communicators_.push_back({strings_[comm.name], std::move(members)});
    }
    made_.emplace(id, std::move(made));
  }
  return {};
}

const Otf2Definitions::Group* Otf2Definitions::communicator_group(OTF2_GroupRef id) const {
  const Group* found = nullptr;
  const auto [begin, end] = groups_.equal_range(id);
  for (auto at = begin; at != end; ++at) {
    const OTF2_GroupType type = at->second.type;
    if (type == OTF2_GROUP_TYPE_COMM_GROUP || type == OTF2_GROUP_TYPE_COMM_SELF) return &at->second;
    if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS) found = &at->second;
  }
  return found;
}

/// The members of a communicator's group are world ranks; the group of MPI locations contains location ids.
tl::expected<std::vector<std::uint32_t>, std::string> Otf2Definitions::ranks_of(const Group& group) const {
  std::vector<std::uint32_t> ranks(group.members.size());
  if (group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
    std::iota(ranks.begin(), ranks.end(), 0u);
    return ranks;
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (group.members[i] >= world_.size())
      return tl::unexpected(
          fmt::format("a communicator has member {}, but there are {} ranks", group.members[i], world_.size()));
    ranks[i] = static_cast<std::uint32_t>(group.members[i]);
  }
  return ranks;
}

std::optional<std::uint32_t> Otf2Definitions::rank_of(OTF2_LocationRef location) const {
  if (const auto found = ranks_.find(location); found != ranks_.end()) return found->second;
  const auto process = processes_.find(location);
  if (process == processes_.end()) return std::nullopt;
  const auto found = process_ranks_.find(process->second);
  return found == process_ranks_.end() ? std::nullopt : std::optional(found->second);
}

const Otf2Communicator* Otf2Definitions::find(OTF2_CommRef communicator) const {
  const auto found = made_.find(communicator);
  return found == made_.end() ? nullptr : &found->second;
}

std::optional<OTF2_CommRef> Otf2Definitions::communicator_of_window(OTF2_RmaWinRef window) const {
  const auto found = windows_.find(window);
  return found == windows_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace rankloom
