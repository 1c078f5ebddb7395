// SPDX-License-Identifier: Apache-2.0
// capture/import/trace: reads OTF2 archives (Score-P, eztrace, TAU, …) with libotf2: first the definitions, then the
// events of each location, which are accumulated.
#include <mutex>

#include <otf2/otf2.h>

#include "rankloom/capture/import/accumulators.hpp"
#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/text_reading.hpp"
#include "rankloom/capture/import/trace/otf2_definitions.hpp"

namespace rankloom {

namespace {

constexpr const char* incomplete =
    "copy the complete archive: the anchor file (.otf2), the definitions (.def) and the directory of the same name; "
    "or record again";

/// Stores the first error of libotf2 instead of printing it. Only one object exists at a time, because the error
/// callback of libotf2 is global.
class ErrorCapture {
 public:
  ErrorCapture() : lock_(mutex()), before_(OTF2_Error_RegisterCallback(store, this)) {}
  ErrorCapture(const ErrorCapture&) = delete;
  ErrorCapture& operator=(const ErrorCapture&) = delete;
  ~ErrorCapture() { OTF2_Error_RegisterCallback(before_, nullptr); }
  std::string text() const { return first_.empty() ? "" : " (libotf2: " + first_ + ")"; }

 private:
  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static OTF2_ErrorCode store(void* self, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char*,
                              va_list) {
    auto& first = static_cast<ErrorCapture*>(self)->first_;
    if (first.empty()) first = OTF2_Error_GetDescription(code);
    return code;
  }
  std::scoped_lock<std::mutex> lock_;
  OTF2_ErrorCallback before_;
  std::string first_;
};

/// Accumulates the events of all locations.
class EventAccumulator {
 public:
  explicit EventAccumulator(const Otf2Definitions& definitions) : definitions_(definitions) {}

  void begin_location(std::optional<std::uint32_t> rank) { rank_ = rank; }
  const std::optional<std::string>& error() const { return error_; }
  TrafficAccumulator& traffic() { return traffic_; }
  SizeHistogram& sizes() { return sizes_; }
  CollectiveAccumulator& collectives() { return collectives_; }

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
    if (group == nullptr) return set_error(fmt::format("communicator {} is not defined", communicator));
    if (!kind || group->size() < 2) return;
    CollectiveAccumulator::Call call{.communicator = group->index, .op = *kind};
    if (has_root(*kind)) {
      call.root = group->position_of(root);
      if (call.root >= group->size())
        return set_error(fmt::format("root {} in a communicator of {} members", root, group->size()));
      if (group->local[call.root] == *rank_) return;  // the other members report the data flow
    }
    call.bytes = definitions_.has_call_arguments() ? block_from_arguments(op, sent, received, *group)
                                                   : block_from_totals(op, sent, received, *group);
    collectives_.add(*rank_, call);
  }

 private:
  void set_error(std::string what) {
    if (!error_) error_ = std::move(what);
  }

  /// The rank in MPI_COMM_WORLD; nothing for MPI_PROC_NULL (-2) and other special values.
  std::optional<std::uint32_t> partner(OTF2_CommRef communicator, std::uint32_t position) {
    if (!rank_ || position >= UINT32_MAX - 1) return std::nullopt;
    const Otf2Communicator* const group = definitions_.find(communicator);
    if (group == nullptr) {
      set_error(fmt::format("communicator {} is not defined", communicator));
      return std::nullopt;
    }
    const auto rank = group->world_rank(*rank_, position);
    if (!rank) set_error(fmt::format("receiver {} in a communicator of {} members", position, group->size()));
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
        return std::nullopt;  // creation and destruction of handles
    }
  }

  /// Bytes of a block from the values of eztrace: the arguments of the call, of one member where the counts are equal,
  /// and the sum over all members where they are not.
  static double block_from_arguments(OTF2_CollectiveOp op, double sent, double received,
                                     const Otf2Communicator& group) {
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

  /// The same from the values of Score-P: the total bytes that a member sends and receives.
  double block_from_totals(OTF2_CollectiveOp op, double sent, double received, const Otf2Communicator& group) const {
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
  std::optional<std::uint32_t> rank_;  // of the current location; nothing: not an MPI process
  TrafficAccumulator traffic_;
  SizeHistogram sizes_;
  CollectiveAccumulator collectives_;
  std::optional<std::string> error_;
};

EventAccumulator& accumulator(void* data) {
  return *static_cast<EventAccumulator*>(data);
}

using EventCallbacks = std::unique_ptr<OTF2_EvtReaderCallbacks, void (*)(OTF2_EvtReaderCallbacks*)>;

EventCallbacks event_callbacks() {
  EventCallbacks callbacks(OTF2_EvtReaderCallbacks_New(), OTF2_EvtReaderCallbacks_Delete);
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(
      callbacks.get(), [](OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*,
                          std::uint32_t receiver, OTF2_CommRef communicator, std::uint32_t, std::uint64_t length) {
        accumulator(data).send(communicator, receiver, static_cast<double>(length));
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(
      callbacks.get(),
      [](OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*, std::uint32_t receiver,
         OTF2_CommRef communicator, std::uint32_t, std::uint64_t length, std::uint64_t) {
        accumulator(data).send(communicator, receiver, static_cast<double>(length));
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(
      callbacks.get(),
      [](OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*, OTF2_CollectiveOp op,
         OTF2_CommRef communicator, std::uint32_t root, std::uint64_t sent, std::uint64_t received) {
        accumulator(data).collective(op, communicator, root, static_cast<double>(sent), static_cast<double>(received));
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
      callbacks.get(),
      [](OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*, OTF2_CollectiveOp op,
         OTF2_CommRef communicator, std::uint32_t root, std::uint64_t sent, std::uint64_t received, std::uint64_t) {
        accumulator(data).collective(op, communicator, root, static_cast<double>(sent), static_cast<double>(received));
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_EvtReaderCallbacks_SetRmaPutCallback(
      callbacks.get(), [](OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*,
                          OTF2_RmaWinRef window, std::uint32_t remote, std::uint64_t bytes, std::uint64_t) {
        accumulator(data).put(window, remote, static_cast<double>(bytes), false);
        return OTF2_CALLBACK_SUCCESS;
      });
  OTF2_EvtReaderCallbacks_SetRmaGetCallback(
      callbacks.get(), [](OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data, OTF2_AttributeList*,
                          OTF2_RmaWinRef window, std::uint32_t remote, std::uint64_t bytes, std::uint64_t) {
        accumulator(data).put(window, remote, static_cast<double>(bytes), true);
        return OTF2_CALLBACK_SUCCESS;
      });
  return callbacks;
}

/// Reads the local definitions first: they map the ids in the events to global ids.
bool read_location(OTF2_Reader* reader, const OTF2_EvtReaderCallbacks* callbacks, OTF2_LocationRef location,
                   EventAccumulator& events) {
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
  const ErrorCapture errors;
  const auto failed = [&](std::string what, std::string hint) {
    return fail(Code::bad_input, at(file.name()), std::move(what) + errors.text(), std::move(hint));
  };
  const std::unique_ptr<OTF2_Reader, OTF2_ErrorCode (*)(OTF2_Reader*)> reader(OTF2_Reader_Open(file.name().c_str()),
                                                                              OTF2_Reader_Close);
  if (!reader) return failed("the file cannot be opened as an OTF2 archive", incomplete);
  OTF2_Reader_SetSerialCollectiveCallbacks(reader.get());
  Otf2Definitions definitions;
  if (!definitions.read(reader.get())) return failed("the definitions cannot be read", incomplete);
  if (auto ready = definitions.finish(); !ready)
    return failed(ready.error(), "record the MPI calls of the program too");

  for (const OTF2_LocationRef location : definitions.locations()) OTF2_Reader_SelectLocation(reader.get(), location);
  OTF2_Reader_OpenDefFiles(reader.get());
  if (OTF2_Reader_OpenEvtFiles(reader.get()) != OTF2_SUCCESS) return failed("the event files are missing", incomplete);
  const EventCallbacks callbacks = event_callbacks();
  EventAccumulator events(definitions);
  for (const OTF2_LocationRef location : definitions.locations()) {
    const auto rank = definitions.rank_of(location);
    events.begin_location(rank);
    if (!read_location(reader.get(), callbacks.get(), location, events) && rank)
      return failed(fmt::format("the events of rank {} (location {}) cannot be read", *rank, location), incomplete);
    if (events.error()) return failed(fmt::format("location {}: {}", location, *events.error()), incomplete);
  }
  OTF2_Reader_CloseDefFiles(reader.get());
  OTF2_Reader_CloseEvtFiles(reader.get());

  Imported result = make_imported(events.traffic().build(definitions.rank_count()), file, "otf2");
  result.profile.communicators = definitions.communicators();
  events.collectives().finish(result.profile);
  result.profile.sizes = events.sizes().sizes();
  return result;
}

}  // namespace rankloom
