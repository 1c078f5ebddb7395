// SPDX-License-Identifier: Apache-2.0
// capture/record/tracing: messages and requests in the trace.
#include "rankloom/capture/record/tracing/trace_messages.hpp"

#include <cstdio>
#include <cstdlib>
#include <new>

#include "rankloom/capture/record/pmpi/communicators.hpp"

namespace rankloom::record {

namespace {

/// The format has no communicators. Tags of other communicators than MPI_COMM_WORLD are offset, so that their messages
/// do not match those of MPI_COMM_WORLD.
constexpr int tag_offset = 1'000'000'000;

struct PostedRequest {
  PostedRequest* next = nullptr;  // in the same bucket, the oldest first
  Word request = 0;
  int partner = 0, tag = 0;  // as in the trace
  std::uint64_t bytes = 0;
  LinePosition position;
  bool receives = false, persistent = false, active = true;
  bool is_wildcard = false;  // a receive with MPI_ANY_SOURCE or MPI_ANY_TAG
  bool cancelled = false;    // the program called MPI_Cancel
  bool in_world = true;
  MPI_Group group{};  // of a wildcard receive in another communicator, which may be freed before the completion
  // A collective:
  TextBuffer text;
  bool is_collective = false, is_pending = false;
  Word communicator = 0;
  PostedRequest* next_pending = nullptr;
};

constexpr std::size_t buckets = 4096;
constinit PostedRequest* table[buckets];
constinit PostedRequest* first_pending = nullptr;
constinit PostedRequest** last_pending = &first_pending;
thread_local constinit Word deferred_communicator __attribute__((tls_model("initial-exec"))) = 0;
constinit bool warned_spawned = false;

PostedRequest*& bucket(Word request) {
  return table[request * 0x9e37'79b9'7f4a'7c15 >> 52];
}

/// MPI libraries return the same handle for all sends that complete immediately; the oldest request is found.
PostedRequest** find(Word request) {
  for (PostedRequest** link = &bucket(request); *link != nullptr; link = &(*link)->next) {
    if ((*link)->request == request) return link;
  }
  return nullptr;
}

PostedRequest* add(Word request) {
  void* const memory = std::malloc(sizeof(PostedRequest));
  if (memory == nullptr) return nullptr;
  auto* const posted = new (memory) PostedRequest;
  posted->request = request;
  PostedRequest** link = &bucket(request);
  while (*link != nullptr) link = &(*link)->next;
  *link = posted;
  return posted;
}

void remove(PostedRequest** link) {
  PostedRequest* const posted = *link;
  *link = posted->next;
  if (posted->is_wildcard && !posted->in_world) pmpi::Group_free(&posted->group);
  posted->text.clear();
  std::free(posted);
}

int tag_in_trace(int tag, bool in_world) {
  return in_world || tag >= tag_offset || tag < 0 ? tag : tag + tag_offset;
}

/// A message with the rank and tag that the trace contains.
struct TracedMessage {
  bool exists = false;
  bool in_world = true;
  int partner = 0, tag = 0;
};

TracedMessage translate(const Message& message) {
  TracedMessage result{.in_world = message.comm == recorder.world};
  if (message.partner == MPI_PROC_NULL) return result;
  result.exists = true;
  result.tag = message.tag == MPI_ANY_TAG ? Trace::any_tag : tag_in_trace(message.tag, result.in_world);
  if (message.partner == MPI_ANY_SOURCE) {
    result.partner = Trace::any_source;
    return result;
  }
  result.partner = result.in_world ? message.partner : info_of(message.comm).group.world_rank(message.partner);
  if (result.partner == GroupRanks::not_in_world)
    warn_not_traced("messages to and from spawned processes", warned_spawned);
  result.exists = result.partner >= 0;
  return result;
}

/// The received message, with the actual source and tag.
TracedMessage translate(Message message, const MPI_Status* status) {
  if (message.partner == MPI_ANY_SOURCE) message.partner = status->MPI_SOURCE;
  if (message.tag == MPI_ANY_TAG) message.tag = status->MPI_TAG;
  return translate(message);
}

/// SimGrid takes a receive of 0 bytes for one of unknown size and blocks, so the smallest size is 1. Messages of other
/// communicators may match in a different order in a replay, so their receives accept any size.
std::uint64_t received_bytes(std::uint64_t bytes, bool in_world) {
  return !in_world ? Trace::any_size : bytes > 0 ? bytes : 1;
}

void write_post(PostedRequest& posted) {
  posted.active = true;
  posted.cancelled = false;
  if (posted.is_collective) {
    posted.is_pending = true;
    posted.next_pending = nullptr;
    *last_pending = &posted;
    last_pending = &posted.next_pending;
  } else if (!posted.receives) {
    posted.position = trace.message("isend", posted.partner, posted.tag, posted.bytes);
  } else if (posted.is_wildcard) {
    posted.position = trace.wildcard_receive("irecv", posted.partner, posted.tag, posted.bytes);
  } else {
    posted.position = trace.message("irecv", posted.partner, posted.tag, posted.bytes);
  }
}

void post(const TracedMessage& message, std::uint64_t bytes, bool receives, Word request, Use use) {
  PostedRequest* const posted = add(request);
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

/// Source and tag of a completed receive. False: the status does not contain them.
bool resolve_wildcard(const PostedRequest& posted, const MPI_Status* status, int& partner, int& tag) {
  partner = posted.partner;
  tag = posted.tag;
  if (!posted.is_wildcard) return true;
  if (status == nullptr) return false;
  if (partner == Trace::any_source) {
    partner = status->MPI_SOURCE;
    if (partner >= 0 && !posted.in_world) {
      pmpi::Group_translate_ranks(posted.group, 1, &status->MPI_SOURCE, recorder.world_group, &partner);
    }
  }
  if (tag == Trace::any_tag) tag = tag_in_trace(status->MPI_TAG, posted.in_world);
  return partner >= 0 && partner < recorder.ranks && tag >= 0;
}

void write_completion(PostedRequest& posted, const MPI_Status* status) {
  int was_cancelled = 0, partner = 0, tag = 0;
  if (posted.cancelled && status != nullptr) pmpi::Test_cancelled(status, &was_cancelled);
  if (was_cancelled != 0 || !resolve_wildcard(posted, status, partner, tag)) return trace.cancel_line(posted.position);
  if (posted.is_wildcard) trace.resolve_wildcard(posted.position, "irecv", partner, tag);
  if (posted.receives) {
    trace.wait(partner, recorder.rank, tag);
  } else {
    trace.wait(recorder.rank, partner, tag);
  }
}

/// Writes the collectives that were posted on a communicator, up to `last`; nullptr: all.
void write_pending(Word communicator, const PostedRequest* last) {
  PostedRequest** link = &first_pending;
  bool done = false;
  while (*link != nullptr && !done) {
    PostedRequest* const posted = *link;
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

/// A key for the handle of a matched message that differs from the keys of requests.
Word matched_message_key(Word message) {
  return ~message;
}

}  // namespace

void warn_not_traced(const char* what, bool& warned) {
  if (warned || recorder.rank != 0 || !trace.is_open()) return;
  warned = true;
  std::fprintf(stderr, "rankloom: not in the trace: %s\n", what);
}

void trace_send(const Message& message) {
  const CounterLock lock;
  const TracedMessage to = translate(message);
  if (to.exists) trace.message("send", to.partner, to.tag, message.bytes);
}

void trace_buffered_send(const Message& message) {
  const CounterLock lock;
  const TracedMessage to = translate(message);
  if (to.exists) trace.message("isend", to.partner, to.tag, message.bytes);
}

void trace_receive(const Message& message, const MPI_Status* status) {
  const CounterLock lock;
  const TracedMessage from = translate(message, status);
  if (from.exists) trace.message("recv", from.partner, from.tag, received_bytes(message.bytes, from.in_world));
}

void trace_sendrecv(const Message& out, const Message& in, const MPI_Status* status) {
  const CounterLock lock;
  const TracedMessage to = translate(out), from = translate(in, status);
  if (to.exists) trace.message("isend", to.partner, to.tag, out.bytes);
  if (from.exists) trace.message("recv", from.partner, from.tag, received_bytes(in.bytes, from.in_world));
  if (to.exists) trace.wait(recorder.rank, to.partner, to.tag);
}

void trace_isend(const Message& message, Word request, Use use) {
  const CounterLock lock;
  if (const TracedMessage to = translate(message); to.exists) post(to, message.bytes, false, request, use);
}

void trace_ireceive(const Message& message, Word request, Use use) {
  const CounterLock lock;
  const TracedMessage from = translate(message);
  if (!from.exists) return;
  if (from.partner != Trace::any_source && from.tag != Trace::any_tag)
    return post(from, message.bytes, true, request, use);
  PostedRequest* const posted = add(request);
  if (posted == nullptr) return;
  posted->partner = from.partner;
  posted->tag = from.tag;
  posted->bytes = received_bytes(message.bytes, from.in_world);
  posted->receives = posted->is_wildcard = true;
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
  const CounterLock lock;
  if (PostedRequest** const link = find(request)) write_post(**link);
}

void trace_cancel(Word request) {
  const CounterLock lock;
  if (PostedRequest** const link = find(request)) (*link)->cancelled = true;
}

void trace_request_free(Word request) {
  const CounterLock lock;
  if (PostedRequest** const link = find(request); link != nullptr && !(*link)->is_pending) remove(link);
}

bool needs_status(Word request) {
  const CounterLock lock;
  PostedRequest** const link = find(request);
  return link != nullptr && ((*link)->is_wildcard || (*link)->cancelled);
}

void trace_completed(Word request, const MPI_Status* status) {
  const CounterLock lock;
  PostedRequest** const link = find(request);
  if (link == nullptr || !(*link)->active) return;
  PostedRequest& posted = **link;
  if (!posted.is_collective) {
    write_completion(posted, status);
  } else if (posted.is_pending) {
    write_pending(posted.communicator, &posted);
  }
  posted.active = false;
  if (!posted.persistent) remove(link);
}

void trace_matched_probe(MPI_Comm comm, Word message, const MPI_Status* status) {
  const CounterLock lock;
  const TracedMessage from = translate({comm, status->MPI_SOURCE, status->MPI_TAG, 0});
  PostedRequest* const posted = from.exists ? add(matched_message_key(message)) : nullptr;
  if (posted == nullptr) return;
  posted->partner = from.partner;
  posted->tag = from.tag;
  posted->in_world = from.in_world;
}

void trace_matched_receive(Word message, std::uint64_t bytes) {
  const CounterLock lock;
  PostedRequest** const link = find(matched_message_key(message));
  if (link == nullptr) return;
  trace.message("recv", (*link)->partner, (*link)->tag, received_bytes(bytes, (*link)->in_world));
  remove(link);
}

void trace_matched_ireceive(Word message, std::uint64_t bytes, Word request) {
  const CounterLock lock;
  PostedRequest** const link = find(matched_message_key(message));
  if (link == nullptr) return;
  const TracedMessage from{true, (*link)->in_world, (*link)->partner, (*link)->tag};
  remove(link);
  post(from, bytes, true, request, Use::once);
}

DeferredCollective::DeferredCollective(Word request, Use use) : request_(request), use_(use) {
  deferred_text = &text_;
}

DeferredCollective::~DeferredCollective() {
  deferred_text = nullptr;
  const CounterLock lock;
  PostedRequest* const posted = text_.size > 0 && !text_.failed ? add(request_) : nullptr;
  if (posted == nullptr) {
    text_.clear();
    return;
  }
  posted->is_collective = true;
  posted->communicator = deferred_communicator;
  posted->text = text_;
  posted->persistent = use_ == Use::persistent;
  posted->active = false;
  if (!posted->persistent) write_post(*posted);
}

void begin_collective(Word communicator) {
  if (deferred_text != nullptr) {
    deferred_communicator = communicator;
  } else if (first_pending != nullptr) {
    write_pending(communicator, nullptr);
  }
}

}  // namespace rankloom::record
