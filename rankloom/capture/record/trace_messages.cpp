// SPDX-License-Identifier: Apache-2.0
// capture/record: messages and requests in the trace.
#include "rankloom/capture/record/trace_messages.hpp"

#include <cstdio>
#include <cstdlib>
#include <new>

#include "rankloom/capture/record/communicators.hpp"

namespace rankloom::record {

namespace {

/// The format knows no communicators. Tags of all but the world's are moved, so that those are apart at least.
constexpr int tags_of_others = 1'000'000'000;

struct Posted {
  Posted* next = nullptr;  // of those whose requests fall into the same bucket, the oldest first
  Word request = 0;
  int partner = 0, tag = 0;  // as in the trace
  std::uint64_t bytes = 0;
  Place place;
  bool receives = false, persistent = false, active = true;
  bool is_open = false;    // whom it is from, or its tag, is told in the end
  bool cancelled = false;  // the program wanted so
  bool in_world = true;
  MPI_Group group{};  // of an open receive elsewhere: a communicator may be freed before
  // A collective:
  Text text;
  bool is_collective = false, is_pending = false;
  Word communicator = 0;
  Posted* next_pending = nullptr;
};

constexpr std::size_t buckets = 4096;
constinit Posted* table[buckets];
constinit Posted* first_pending = nullptr;
constinit Posted** last_pending = &first_pending;
thread_local constinit Word communicator_of_text __attribute__((tls_model("initial-exec"))) = 0;
constinit bool said_strangers = false;

Posted*& bucket(Word request) {
  return table[request * 0x9e37'79b9'7f4a'7c15 >> 52];
}

/// MPIs give one handle to all sends that are complete at once: the oldest is meant.
Posted** find(Word request) {
  for (Posted** link = &bucket(request); *link != nullptr; link = &(*link)->next) {
    if ((*link)->request == request) return link;
  }
  return nullptr;
}

Posted* add(Word request) {
  void* const memory = std::malloc(sizeof(Posted));
  if (memory == nullptr) return nullptr;
  auto* const posted = new (memory) Posted;
  posted->request = request;
  Posted** link = &bucket(request);
  while (*link != nullptr) link = &(*link)->next;
  *link = posted;
  return posted;
}

void remove(Posted** link) {
  Posted* const posted = *link;
  *link = posted->next;
  if (posted->is_open && !posted->in_world) pmpi::Group_free(&posted->group);
  posted->text.clear();
  std::free(posted);
}

int tag_in_trace(int tag, bool in_world) {
  return in_world || tag >= tags_of_others || tag < 0 ? tag : tag + tags_of_others;
}

/// A message as the trace writes it.
struct Translated {
  bool exists = false;
  bool in_world = true;
  int partner = 0, tag = 0;
};

Translated translate(const Message& message) {
  Translated result{.in_world = message.comm == recorder.world};
  if (message.partner == MPI_PROC_NULL) return result;
  result.exists = true;
  result.tag = message.tag == MPI_ANY_TAG ? Trace::with_any_tag : tag_in_trace(message.tag, result.in_world);
  if (message.partner == MPI_ANY_SOURCE) {
    result.partner = Trace::from_anybody;
    return result;
  }
  result.partner = result.in_world ? message.partner : info_of(message.comm).peers.in_world(message.partner);
  if (result.partner == Peers::stranger) leave_out("messages to and from processes that were spawned", said_strangers);
  result.exists = result.partner >= 0;
  return result;
}

/// Of a receive: what really came.
Translated translate(Message message, const MPI_Status* status) {
  if (message.partner == MPI_ANY_SOURCE) message.partner = status->MPI_SOURCE;
  if (message.tag == MPI_ANY_TAG) message.tag = status->MPI_TAG;
  return translate(message);
}

/// Replays wait for a message of unknown size when a receive says 0. Of communicators that the trace cannot tell apart,
/// messages may come in another order.
std::uint64_t received_bytes(std::uint64_t bytes, bool in_world) {
  return !in_world ? Trace::any_size : bytes > 0 ? bytes : 1;
}

void write_post(Posted& posted) {
  posted.active = true;
  posted.cancelled = false;
  if (posted.is_collective) {
    posted.is_pending = true;
    posted.next_pending = nullptr;
    *last_pending = &posted;
    last_pending = &posted.next_pending;
  } else if (!posted.receives) {
    posted.place = trace.message("isend", posted.partner, posted.tag, posted.bytes);
  } else if (posted.is_open) {
    posted.place = trace.open_receive("irecv", posted.partner, posted.tag, posted.bytes);
  } else {
    posted.place = trace.message("irecv", posted.partner, posted.tag, posted.bytes);
  }
}

void post(const Translated& message, std::uint64_t bytes, bool receives, Word request, Use use) {
  Posted* const posted = add(request);
  if (posted == nullptr) return;
  posted->partner = message.partner;
  posted->tag = message.tag;
  posted->in_world = message.in_world;
  posted->receives = receives;
  posted->bytes = receives ? received_bytes(bytes, message.in_world) : bytes;
  posted->persistent = use == Use::persistent;
  if (posted->persistent) {
    posted->active = false;
  } else {
    write_post(*posted);
  }
}

/// What is known of an open receive only when it is complete.
bool settle(const Posted& posted, const MPI_Status* status, int& partner, int& tag) {
  partner = posted.partner;
  tag = posted.tag;
  if (!posted.is_open) return true;
  if (status == nullptr) return false;
  if (partner == Trace::from_anybody) {
    partner = status->MPI_SOURCE;
    if (partner >= 0 && !posted.in_world) {
      pmpi::Group_translate_ranks(posted.group, 1, &status->MPI_SOURCE, recorder.world_group, &partner);
    }
  }
  if (tag == Trace::with_any_tag) tag = tag_in_trace(status->MPI_TAG, posted.in_world);
  return partner >= 0 && partner < recorder.ranks && tag >= 0;
}

void write_completion(Posted& posted, const MPI_Status* status) {
  int was_cancelled = 0, partner = 0, tag = 0;
  if (posted.cancelled && status != nullptr) pmpi::Test_cancelled(status, &was_cancelled);
  if (was_cancelled != 0 || !settle(posted, status, partner, tag)) return trace.cross_out(posted.place);
  if (posted.is_open) trace.tell_partner(posted.place, "irecv", partner, tag);
  if (posted.receives) {
    trace.wait(partner, recorder.rank, tag);
  } else {
    trace.wait(recorder.rank, partner, tag);
  }
}

/// Collectives that were posted on a communicator, up to this one; nullptr: all.
void write_pending(Word communicator, const Posted* last) {
  Posted** link = &first_pending;
  bool done = false;
  while (*link != nullptr && !done) {
    Posted* const posted = *link;
    if (posted->communicator != communicator) {
      link = &posted->next_pending;
      continue;
    }
    done = posted == last;
    *link = posted->next_pending;
    posted->is_pending = false;
    trace.write(posted->text);
  }
  for (last_pending = &first_pending; *last_pending != nullptr; last_pending = &(*last_pending)->next_pending) {
  }
}

/// Handles of found messages and of requests may be the same.
Word key_of_found(Word message) {
  return ~message;
}

}  // namespace

void leave_out(const char* what, bool& said) {
  if (said || recorder.rank != 0 || !trace.is_open()) return;
  said = true;
  std::fprintf(stderr, "rankloom: not in the trace: %s\n", what);
}

void trace_send(const Message& message) {
  const Turn turn;
  const Translated to = translate(message);
  if (to.exists) trace.message("send", to.partner, to.tag, message.bytes);
}

void trace_buffered_send(const Message& message) {
  const Turn turn;
  const Translated to = translate(message);
  if (to.exists) trace.message("isend", to.partner, to.tag, message.bytes);
}

void trace_receive(const Message& message, const MPI_Status* status) {
  const Turn turn;
  const Translated from = translate(message, status);
  if (from.exists) trace.message("recv", from.partner, from.tag, received_bytes(message.bytes, from.in_world));
}

void trace_exchange(const Message& out, const Message& in, const MPI_Status* status) {
  const Turn turn;
  const Translated to = translate(out), from = translate(in, status);
  if (to.exists) trace.message("isend", to.partner, to.tag, out.bytes);
  if (from.exists) trace.message("recv", from.partner, from.tag, received_bytes(in.bytes, from.in_world));
  if (to.exists) trace.wait(recorder.rank, to.partner, to.tag);
}

void trace_isend(const Message& message, Word request, Use use) {
  const Turn turn;
  if (const Translated to = translate(message); to.exists) post(to, message.bytes, false, request, use);
}

void trace_ireceive(const Message& message, Word request, Use use) {
  const Turn turn;
  const Translated from = translate(message);
  if (!from.exists) return;
  if (from.partner != Trace::from_anybody && from.tag != Trace::with_any_tag)
    return post(from, message.bytes, true, request, use);
  Posted* const posted = add(request);
  if (posted == nullptr) return;
  posted->partner = from.partner;
  posted->tag = from.tag;
  posted->bytes = received_bytes(message.bytes, from.in_world);
  posted->receives = posted->is_open = true;
  posted->persistent = use == Use::persistent;
  posted->active = false;
  posted->in_world = from.in_world;
  if (!from.in_world) {
    if (info_of(message.comm).is_inter) {
      pmpi::Comm_remote_group(message.comm, &posted->group);
    } else {
      pmpi::Comm_group(message.comm, &posted->group);
    }
  }
  if (!posted->persistent) write_post(*posted);
}

void trace_start(Word request) {
  const Turn turn;
  if (Posted** const link = find(request)) write_post(**link);
}

void trace_cancel(Word request) {
  const Turn turn;
  if (Posted** const link = find(request)) (*link)->cancelled = true;
}

void trace_forget(Word request) {
  const Turn turn;
  if (Posted** const link = find(request); link != nullptr && !(*link)->is_pending) remove(link);
}

bool needs_status(Word request) {
  const Turn turn;
  Posted** const link = find(request);
  return link != nullptr && ((*link)->is_open || (*link)->cancelled);
}

void trace_completed(Word request, const MPI_Status* status) {
  const Turn turn;
  Posted** const link = find(request);
  if (link == nullptr || !(*link)->active) return;
  Posted& posted = **link;
  if (!posted.is_collective) {
    write_completion(posted, status);
  } else if (posted.is_pending) {
    write_pending(posted.communicator, &posted);
  }
  posted.active = false;
  if (!posted.persistent) remove(link);
}

void trace_found(MPI_Comm comm, Word message, const MPI_Status* status) {
  const Turn turn;
  const Translated from = translate({comm, status->MPI_SOURCE, status->MPI_TAG, 0});
  Posted* const posted = from.exists ? add(key_of_found(message)) : nullptr;
  if (posted == nullptr) return;
  posted->partner = from.partner;
  posted->tag = from.tag;
  posted->in_world = from.in_world;
}

void trace_found_receive(Word message, std::uint64_t bytes) {
  const Turn turn;
  Posted** const link = find(key_of_found(message));
  if (link == nullptr) return;
  trace.message("recv", (*link)->partner, (*link)->tag, received_bytes(bytes, (*link)->in_world));
  remove(link);
}

void trace_found_ireceive(Word message, std::uint64_t bytes, Word request) {
  const Turn turn;
  Posted** const link = find(key_of_found(message));
  if (link == nullptr) return;
  const Translated from{true, (*link)->in_world, (*link)->partner, (*link)->tag};
  remove(link);
  post(from, bytes, true, request, Use::once);
}

Deferred::Deferred(Word request, Use use) : request_(request), use_(use) {
  making = &text_;
}

Deferred::~Deferred() {
  making = nullptr;
  const Turn turn;
  Posted* const posted = text_.size > 0 && !text_.failed ? add(request_) : nullptr;
  if (posted == nullptr) {
    text_.clear();
    return;
  }
  posted->is_collective = true;
  posted->communicator = communicator_of_text;
  posted->text = text_;
  posted->persistent = use_ == Use::persistent;
  posted->active = false;
  if (!posted->persistent) write_post(*posted);
}

void begin_collective(Word communicator) {
  if (making != nullptr) {
    communicator_of_text = communicator;
  } else if (first_pending != nullptr) {
    write_pending(communicator, nullptr);
  }
}

}  // namespace rankloom::record
