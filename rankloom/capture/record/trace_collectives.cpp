// SPDX-License-Identifier: Apache-2.0
// capture/record: collectives in the trace.
#include "rankloom/capture/record/trace_collectives.hpp"

#include "rankloom/capture/record/communicators.hpp"
#include "rankloom/capture/record/trace_messages.hpp"

namespace rankloom::record {

namespace {

/// Of the messages of collectives. Only they have it, and MPIs' largest tags are mostly smaller.
constexpr int tag = 2'000'000'000;

constinit bool said_between_groups = false, said_one_sided = false;

/// The members of a communicator, as this process sees them.
class Members {
 public:
  explicit Members(CommunicatorInfo& info) : info_(info), count_(info.peers.size()), self_(info.rank) {}
  int count() const { return count_; }
  int self() const { return self_; }

  void send(int to, std::uint64_t bytes) {
    if (const int other = in_world(to); other >= 0) trace.message("send", other, tag, bytes);
  }
  void receive(int from) {
    if (const int other = in_world(from); other >= 0) trace.message("recv", other, tag, Trace::any_size);
  }
  void exchange(int to, std::uint64_t bytes, int from) {
    const int other = in_world(to);
    if (other >= 0) trace.message("isend", other, tag, bytes);
    receive(from);
    if (other >= 0) trace.wait(recorder.rank, other, tag);
  }
  /// The one so many places after this process, in a ring.
  int after(int places) const { return (self_ + places) % count_; }
  int before(int places) const { return (self_ + count_ - places) % count_; }

 private:
  int in_world(int member) { return info_.peers.in_world(member); }

  CommunicatorInfo& info_;
  int count_, self_;
};

/// By dissemination.
void write_barrier(Members& members) {
  for (int step = 1; step < members.count(); step *= 2) members.exchange(members.after(step), 0, members.before(step));
}

/// Down a binomial tree.
void write_bcast(Members& members, int root, std::uint64_t bytes) {
  const int place = members.before(root), count = members.count();
  const auto member = [&](int at) { return (at + root) % count; };
  int step = 1;
  while (step < count && (place & step) == 0) step *= 2;
  if (place != 0) members.receive(member(place - step));
  for (step /= 2; step > 0; step /= 2) {
    if (place + step < count) members.send(member(place + step), bytes);
  }
}

/// Up the same tree.
void write_reduce(Members& members, int root, std::uint64_t bytes) {
  const int place = members.before(root), count = members.count();
  const auto member = [&](int at) { return (at + root) % count; };
  for (int step = 1; step < count; step *= 2) {
    if ((place & step) != 0) return members.send(member(place - step), bytes);
    if (place + step < count) members.receive(member(place + step));
  }
}

/// Around a ring: each passes on what it got last.
template <class BytesOf>
void write_allgather(Members& members, const BytesOf& bytes_of) {
  for (int step = 1; step < members.count(); ++step)
    members.exchange(members.after(1), bytes_of(members.before(step - 1)), members.before(1));
}

/// In pairs: to the one so far ahead, from the one so far behind.
template <class BytesTo>
void write_alltoall(Members& members, const BytesTo& bytes_to) {
  for (int step = 1; step < members.count(); ++step)
    members.exchange(members.after(step), bytes_to(members.after(step)), members.before(step));
}

void write_gather(Members& members, int root, std::uint64_t bytes) {
  if (members.self() != root) return members.send(root, bytes);
  for (int step = 1; step < members.count(); ++step) members.receive(members.after(step));
}

void write_scatter(Members& members, int root, std::uint64_t bytes) {
  if (members.self() != root) return members.receive(root);
  for (int step = 1; step < members.count(); ++step) members.send(members.after(step), bytes);
}

/// Along a chain.
void write_scan(Members& members, std::uint64_t bytes) {
  if (members.self() > 0) members.receive(members.self() - 1);
  if (members.self() + 1 < members.count()) members.send(members.self() + 1, bytes);
}

void write_as_messages(Members members, CollectiveOp op, int root, std::uint64_t bytes) {
  const auto same = [&](int) { return bytes; };
  switch (op) {
    case CollectiveOp::barrier:
      return write_barrier(members);
    case CollectiveOp::bcast:
      return write_bcast(members, root, bytes);
    case CollectiveOp::reduce:
      return write_reduce(members, root, bytes);
    case CollectiveOp::gather:
      return write_gather(members, root, bytes);
    case CollectiveOp::scatter:
      return write_scatter(members, root, bytes);
    case CollectiveOp::allreduce:
      write_reduce(members, 0, bytes);
      return write_bcast(members, 0, bytes);
    case CollectiveOp::allgather:
      return write_allgather(members, same);
    case CollectiveOp::alltoall:
    case CollectiveOp::reduce_scatter:
      return write_alltoall(members, same);
    case CollectiveOp::scan:
      return write_scan(members, bytes);
  }
}

void write_of_all(CollectiveOp op, int root, std::uint64_t bytes) {
  switch (op) {
    case CollectiveOp::barrier:
      return trace.barrier();
    case CollectiveOp::bcast:
      return trace.with_root("bcast", bytes, 1, false, root);
    case CollectiveOp::reduce:
      return trace.with_root("reduce", bytes, 1, true, root);
    case CollectiveOp::gather:
      return trace.with_root("gather", bytes, 2, false, root);
    case CollectiveOp::scatter:
      return trace.with_root("scatter", bytes, 2, false, root);
    case CollectiveOp::allreduce:
      return trace.without_root("allreduce", bytes, 1, true);
    case CollectiveOp::allgather:
      return trace.without_root("allgather", bytes, 2, false);
    case CollectiveOp::alltoall:
      return trace.without_root("alltoall", bytes, 2, false);
    case CollectiveOp::scan:
      return trace.without_root("scan", bytes, 1, true);
    case CollectiveOp::reduce_scatter:
      return;  // has a list of its own
  }
}

/// What is to be written is of this communicator; nullptr: nothing is.
CommunicatorInfo* begin_of(MPI_Comm comm) {
  CommunicatorInfo& info = info_of(comm);
  if (info.is_inter) {
    leave_out("collectives between two groups", said_between_groups);
    return nullptr;
  }
  if (info.peers.size() < 2) return nullptr;
  begin_collective(info.peers.is_world() ? 0 : info.handle);
  return &info;
}

/// Whom this process gets something from in a neighbourhood, as ranks of the communicator; the caller frees it.
int* list_sources(MPI_Comm comm, int& count) {
  int kind = MPI_UNDEFINED;
  pmpi::Topo_test(comm, &kind);
  count = -1;  // the same as it sends to
  if (kind != MPI_DIST_GRAPH) return nullptr;
  int out = 0, weighted = 0;
  pmpi::Dist_graph_neighbors_count(comm, &count, &out, &weighted);
  const auto room = static_cast<std::size_t>(count) + static_cast<std::size_t>(out) + 1;
  auto* const ranks = static_cast<int*>(std::calloc(3 * room, sizeof(int)));
  if (ranks == nullptr || pmpi::Dist_graph_neighbors(comm, count, ranks, ranks + room, out, ranks + 2 * room,
                                                     ranks + room + count) != MPI_SUCCESS) {
    count = 0;
  }
  return ranks;
}

}  // namespace

void trace_collective(MPI_Comm comm, CollectiveOp op, int root, std::uint64_t bytes) {
  const Turn turn;
  CommunicatorInfo* const info = begin_of(comm);
  if (info == nullptr) return;
  if (info->peers.is_world()) {
    write_of_all(op, root, bytes);
  } else {
    write_as_messages(Members(*info), op, root, bytes);
  }
}

void trace_gatherv(MPI_Comm comm, int root, std::uint64_t own, const std::uint64_t* received) {
  const Turn turn;
  CommunicatorInfo* const info = begin_of(comm);
  if (info == nullptr) return;
  Members members(*info);
  if (members.self() != root) {
    if (own > 0) members.send(root, own);
    return;
  }
  for (int step = 1; received != nullptr && step < members.count(); ++step) {
    if (received[members.after(step)] > 0) members.receive(members.after(step));
  }
}

void trace_scatterv(MPI_Comm comm, int root, std::uint64_t own, const std::uint64_t* sent) {
  const Turn turn;
  CommunicatorInfo* const info = begin_of(comm);
  if (info == nullptr) return;
  Members members(*info);
  if (members.self() != root) {
    if (own > 0) members.receive(root);
    return;
  }
  for (int step = 1; sent != nullptr && step < members.count(); ++step) {
    if (sent[members.after(step)] > 0) members.send(members.after(step), sent[members.after(step)]);
  }
}

void trace_allgatherv(MPI_Comm comm, const std::uint64_t* received) {
  const Turn turn;
  CommunicatorInfo* const info = begin_of(comm);
  if (info == nullptr || received == nullptr) return;
  Members members(*info);
  if (info->peers.is_world()) return trace.allgatherv(received[members.self()], received, members.count());
  write_allgather(members, [&](int of) { return received[of]; });
}

void trace_alltoallv(MPI_Comm comm, const std::uint64_t* sent, const std::uint64_t* received) {
  const Turn turn;
  CommunicatorInfo* const info = begin_of(comm);
  if (info == nullptr || sent == nullptr || received == nullptr) return;
  Members members(*info);
  for (int step = 1; step < members.count(); ++step) {
    const int to = members.after(step), from = members.before(step);
    if (sent[to] > 0 && received[from] > 0) {
      members.exchange(to, sent[to], from);
    } else if (sent[to] > 0) {
      members.send(to, sent[to]);
    } else if (received[from] > 0) {
      members.receive(from);
    }
  }
}

void trace_reduce_scatter(MPI_Comm comm, const std::uint64_t* received) {
  const Turn turn;
  CommunicatorInfo* const info = begin_of(comm);
  if (info == nullptr || received == nullptr) return;
  Members members(*info);
  if (info->peers.is_world()) return trace.reducescatter(received, members.count());
  write_alltoall(members, [&](int to) { return received[to]; });
}

void trace_to_neighbours(MPI_Comm comm, const std::uint64_t* sent) {
  const Turn turn;
  CommunicatorInfo* const info = begin_of(comm);
  if (info == nullptr || sent == nullptr) return;
  const Neighbours& neighbours = neighbours_of(*info, comm);
  int count = 0;
  int* const sources = list_sources(comm, count);
  for (int i = 0; i < neighbours.count; ++i) {
    if (neighbours.ranks[i] >= 0) trace.message("isend", neighbours.ranks[i], tag, sent[i]);
  }
  if (count < 0) {
    for (int i = 0; i < neighbours.count; ++i) {
      if (neighbours.ranks[i] >= 0) trace.message("recv", neighbours.ranks[i], tag, Trace::any_size);
    }
  } else {
    Members members(*info);
    for (int i = 0; i < count; ++i) members.receive(sources[i]);
  }
  for (int i = 0; i < neighbours.count; ++i) {
    if (neighbours.ranks[i] >= 0) trace.wait(recorder.rank, neighbours.ranks[i], tag);
  }
  std::free(sources);
}

void trace_one_sided() {
  const Turn turn;
  leave_out("one-sided communication", said_one_sided);
}

}  // namespace rankloom::record
