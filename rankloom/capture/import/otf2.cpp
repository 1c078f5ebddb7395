// SPDX-License-Identifier: Apache-2.0
// capture: reads OTF2 archives (Score-P, eztrace, TAU, …) through libotf2: definitions first, then the events of each
// location, added up as they come.
#include <mutex>

#include <otf2/otf2.h>

#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/otf2_definitions.hpp"
#include "rankloom/capture/import/reading.hpp"
#include "rankloom/capture/import/tally.hpp"

namespace rankloom {

namespace {

constexpr const char* incomplete =
    "copy the archive whole: the anchor file (.otf2), the definitions (.def) and the folder of the same name; "
    "or record again";

/// libotf2 prints its errors unless told otherwise. While this lives, the first one is kept instead; one at a time,
/// because the library has only one place for it.
class QuietErrors {
 public:
  QuietErrors() : lock_(mutex()), before_(OTF2_Error_RegisterCallback(keep, this)) {}
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
  ~QuietErrors() { OTF2_Error_RegisterCallback(before_, nullptr); }
  std::string text() const { return first_.empty() ? "" : " (libotf2: " + first_ + ")"; }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static OTF2_ErrorCode keep(void* self, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char*,
                             va_list) {
    auto& first = static_cast<QuietErrors*>(self)->first_;
    if (first.empty()) first = OTF2_Error_GetDescription(code);
    return code;
  }
  std::scoped_lock<std::mutex> lock_;
  OTF2_ErrorCallback before_;
  std::string first_;
};

/// What the events of all locations add up to.
class EventTally {
 public:
  explicit EventTally(const Otf2Definitions& definitions) : definitions_(definitions) {}

  void begin_location(std::optional<std::uint32_t> rank) { rank_ = rank; }
  const std::optional<std::string>& mistake() const { return mistake_; }
  TrafficTally& traffic() { return traffic_; }
  SizeTally& sizes() { return sizes_; }
  CollectiveTally& collectives() { return collectives_; }

  void send(OTF2_CommRef communicator, std::uint32_t receiver, double bytes) {
    const auto to = partner(communicator, receiver);
    if (!to) return;
    traffic_.add(*rank_, *to, bytes);
    sizes_.add(bytes);
  }
  void put(OTF2_RmaWinRef window, std::uint32_t remote, double bytes, bool fetched) {
    const auto communicator = definitions_.communicator_of_window(window);
    const auto other = communicator ? partner(*communicator, remote) : std::nullopt;
    if (!other) return;
    traffic_.add(fetched ? *other : *rank_, fetched ? *rank_ : *other, bytes);
    sizes_.add(bytes);
  }
  void collective(OTF2_CollectiveOp op, OTF2_CommRef communicator, std::uint32_t root, double sent, double received) {
    if (!rank_) return;
    const auto kind = kind_of(op);
    const Otf2Communicator* const group = definitions_.find(communicator);
    if (group == nullptr) return fault(fmt::format("communicator {} is not defined", communicator));
    if (!kind || group->size() < 2) return;
    CollectiveTally::Call call{.communicator = group->index, .op = *kind};
    if (has_root(*kind)) {
      call.root = group->position_of(root);
      if (call.root >= group->size())
        return fault(fmt::format("root {} in a communicator of {} members", root, group->size()));
      if (group->local[call.root] == *rank_) return;  // the others tell what flows
    }
    call.bytes = definitions_.blocks() ? block(op, sent, received, *group) : share(op, sent, received, *group);
    collectives_.add(*rank_, call);
  }

 private:
  void fault(std::string what) {
    if (!mistake_) mistake_ = std::move(what);
  }

  /// The rank in the world; nothing for MPI_PROC_NULL (-2) and the like.
  std::optional<std::uint32_t> partner(OTF2_CommRef communicator, std::uint32_t position) {
    if (!rank_ || position >= UINT32_MAX - 1) return std::nullopt;
    const Otf2Communicator* const group = definitions_.find(communicator);
    if (group == nullptr) {
      fault(fmt::format("communicator {} is not defined", communicator));
      return std::nullopt;
    }
    const auto rank = group->world_rank(*rank_, position);
    if (!rank) fault(fmt::format("receiver {} in a communicator of {} members", position, group->size()));
    return rank;
  }

  static std::optional<CollectiveOp> kind_of(OTF2_CollectiveOp op) {
    switch (op) {
      case OTF2_COLLECTIVE_OP_BARRIER:
        return CollectiveOp::barrier;
      case OTF2_COLLECTIVE_OP_BCAST:
        return CollectiveOp::bcast;
      case OTF2_COLLECTIVE_OP_GATHER:
      case OTF2_COLLECTIVE_OP_GATHERV:
        return CollectiveOp::gather;
      case OTF2_COLLECTIVE_OP_SCATTER:
      case OTF2_COLLECTIVE_OP_SCATTERV:
        return CollectiveOp::scatter;
      case OTF2_COLLECTIVE_OP_ALLGATHER:
      case OTF2_COLLECTIVE_OP_ALLGATHERV:
        return CollectiveOp::allgather;
      case OTF2_COLLECTIVE_OP_ALLTOALL:
      case OTF2_COLLECTIVE_OP_ALLTOALLV:
      case OTF2_COLLECTIVE_OP_ALLTOALLW:
        return CollectiveOp::alltoall;
      case OTF2_COLLECTIVE_OP_ALLREDUCE:
        return CollectiveOp::allreduce;
      case OTF2_COLLECTIVE_OP_REDUCE:
        return CollectiveOp::reduce;
      case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
      case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
        return CollectiveOp::reduce_scatter;
      case OTF2_COLLECTIVE_OP_SCAN:
      case OTF2_COLLECTIVE_OP_EXSCAN:
        return CollectiveOp::scan;
      default:
        return std::nullopt;  // handles made and freed
    }
  }

  /// Bytes of a block from what eztrace writes: the amounts of the call itself, those of one member where they are
  /// equal, of all together where they are not.
  static double block(OTF2_CollectiveOp op, double sent, double received, const Otf2Communicator& group) {
    switch (op) {
      case OTF2_COLLECTIVE_OP_ALLGATHERV:
        return received / group.size();
      case OTF2_COLLECTIVE_OP_ALLTOALLV:
      case OTF2_COLLECTIVE_OP_ALLTOALLW:
      case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
        return sent / group.size();
      case OTF2_COLLECTIVE_OP_GATHER:
      case OTF2_COLLECTIVE_OP_GATHERV:
        return sent;
      case OTF2_COLLECTIVE_OP_SCATTER:
      case OTF2_COLLECTIVE_OP_SCATTERV:
        return received;
      default:
        return std::max(sent, received);
    }
  }

  /// The same from what Score-P writes: all that goes out of and comes into a member.
  double share(OTF2_CollectiveOp op, double sent, double received, const Otf2Communicator& group) const {
    const double size = group.size(), position = group.position_of_rank(*rank_);
    switch (op) {
      case OTF2_COLLECTIVE_OP_ALLREDUCE:
      case OTF2_COLLECTIVE_OP_ALLGATHER:
      case OTF2_COLLECTIVE_OP_ALLGATHERV:
        return received / size;
      case OTF2_COLLECTIVE_OP_ALLTOALL:
      case OTF2_COLLECTIVE_OP_ALLTOALLV:
      case OTF2_COLLECTIVE_OP_ALLTOALLW:
      case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
      case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
        return sent / size;
      case OTF2_COLLECTIVE_OP_SCAN:
        return received / (position + 1);
      case OTF2_COLLECTIVE_OP_EXSCAN:
        return position > 0 ? received / position : sent / (size - 1);
      case OTF2_COLLECTIVE_OP_BCAST:
      case OTF2_COLLECTIVE_OP_SCATTER:
      case OTF2_COLLECTIVE_OP_SCATTERV:
        return received;
      default:
        return sent;
    }
  }

  const Otf2Definitions& definitions_;
  std::optional<std::uint32_t> rank_;  // of the location that is being read; nothing: not of MPI
  TrafficTally traffic_;
  SizeTally sizes_;
  CollectiveTally collectives_;
  std::optional<std::string> mistake_;
};

EventTally& tally(void* data) {
  return *static_cast<EventTally*>(data);
}

using EventCallbacks = std::unique_ptr<OTF2_EvtReaderCallbacks, void (*)(OTF2_EvtReaderCallbacks*)>;

EventCallbacks event_callbacks() {
  EventCallbacks callbacks(OTF2_EvtReaderCallbacks_New(), OTF2_EvtReaderCallbacks_Delete);
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(
      callbacks.get(), [](OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*,
                          std::uint32_t receiver, OTF2_CommRef communicator, std::uint32_t, std::uint64_t length) {
        tally(data).send(communicator, receiver, static_cast<double>(length));
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(
      callbacks.get(),
      [](OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*, std::uint32_t receiver,
         OTF2_CommRef communicator, std::uint32_t, std::uint64_t length, std::uint64_t) {
        tally(data).send(communicator, receiver, static_cast<double>(length));
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(
      callbacks.get(),
      [](OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*, OTF2_CollectiveOp op,
         OTF2_CommRef communicator, std::uint32_t root, std::uint64_t sent, std::uint64_t received) {
        tally(data).collective(op, communicator, root, static_cast<double>(sent), static_cast<double>(received));
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
      callbacks.get(),
      [](OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*, OTF2_CollectiveOp op,
         OTF2_CommRef communicator, std::uint32_t root, std::uint64_t sent, std::uint64_t received, std::uint64_t) {
        tally(data).collective(op, communicator, root, static_cast<double>(sent), static_cast<double>(received));
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_EvtReaderCallbacks_SetRmaPutCallback(
      callbacks.get(), [](OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*,
                          OTF2_RmaWinRef window, std::uint32_t remote, std::uint64_t bytes, std::uint64_t) {
        tally(data).put(window, remote, static_cast<double>(bytes), false);
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_EvtReaderCallbacks_SetRmaGetCallback(
      callbacks.get(), [](OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*,
                          OTF2_RmaWinRef window, std::uint32_t remote, std::uint64_t bytes, std::uint64_t) {
        tally(data).put(window, remote, static_cast<double>(bytes), true);
        return OTF2_CALLBACK_SUCCESS;
      });
  return callbacks;
}

/// Local definitions first: they translate the numbers in the events to those of the whole archive.
bool read_location(OTF2_Reader* reader, const OTF2_EvtReaderCallbacks* callbacks, OTF2_LocationRef location,
                   EventTally& events) {
  std::uint64_t read = 0;
  if (OTF2_DefReader* const definitions = OTF2_Reader_GetDefReader(reader, location)) {
    if (OTF2_Reader_ReadAllLocalDefinitions(reader, definitions, &read) != OTF2_SUCCESS) return false;
    OTF2_Reader_CloseDefReader(reader, definitions);
  }
  OTF2_EvtReader* const source = OTF2_Reader_GetEvtReader(reader, location);
  if (source == nullptr) return false;
  OTF2_Reader_RegisterEvtCallbacks(reader, source, callbacks, &events);
  const bool done = OTF2_Reader_ReadAllLocalEvents(reader, source, &read) == OTF2_SUCCESS;
  OTF2_Reader_CloseEvtReader(reader, source);
  return done;
}

}  // namespace

Result<Imported> read_otf2(const FileContents& file) {
  const QuietErrors errors;
  const auto failed = [&](std::string what, std::string hint) {
    return fail(Code::bad_input, at(file.name()), std::move(what) + errors.text(), std::move(hint));
  };
  const std::unique_ptr<OTF2_Reader, OTF2_ErrorCode (*)(OTF2_Reader*)> reader(OTF2_Reader_Open(file.name().c_str()),
                                                                              OTF2_Reader_Close);
  if (!reader) return failed("cannot be opened as an OTF2 archive", incomplete);
  OTF2_Reader_SetSerialCollectiveCallbacks(reader.get());
  Otf2Definitions definitions;
  if (!definitions.read(reader.get())) return failed("its definitions cannot be read", incomplete);
  if (auto ready = definitions.finish(); !ready) return failed(ready.error(), "record the MPI part of the program too");

  for (const OTF2_LocationRef location : definitions.locations()) OTF2_Reader_SelectLocation(reader.get(), location);
  OTF2_Reader_OpenDefFiles(reader.get());
  if (OTF2_Reader_OpenEvtFiles(reader.get()) != OTF2_SUCCESS) return failed("its events are not there", incomplete);
  const EventCallbacks callbacks = event_callbacks();
  EventTally events(definitions);
  for (const OTF2_LocationRef location : definitions.locations()) {
    const auto rank = definitions.rank_of(location);
    events.begin_location(rank);
    if (!read_location(reader.get(), callbacks.get(), location, events) && rank)
      return failed(fmt::format("the events of rank {} (location {}) cannot be read", *rank, location), incomplete);
    if (events.mistake()) return failed(fmt::format("location {}: {}", location, *events.mistake()), incomplete);
  }
  OTF2_Reader_CloseDefFiles(reader.get());
  OTF2_Reader_CloseEvtFiles(reader.get());

  Imported result = imported(events.traffic().build(definitions.rank_count()), file, "otf2");
  result.profile.communicators = definitions.communicators();
  events.collectives().finish(result.profile);
  result.profile.sizes = events.sizes().sizes();
  return result;
}

}  // namespace rankloom
