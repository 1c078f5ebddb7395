// SPDX-License-Identifier: Apache-2.0
// capture/record/tracing: collectives in the trace.
#include "rankloom/capture/record/tracing/trace_collectives.hpp"

#include "rankloom/capture/record/pmpi/communicators.hpp"
#include "rankloom/capture/record/tracing/trace_messages.hpp"

namespace rankloom::record {

namespace {

/// The tag of all messages of collectives. It is larger than the MPI_TAG_UB of most MPI libraries.
constexpr int collective_tag = 2'000'000'000;

constinit bool warned_intercommunicator = false, warned_one_sided = false;

/// The members of a communicator, seen from this process.
class Members {
 public:
  explicit Members(CommunicatorInfo& info) : info_(info), count_(info.group.size()), self_(info.rank) {}
  int count() const { return count_; }
  int self() const { return self_; }

  void send(int to, std::uint64_t bytes) {
    if (const int other = translate(to); other >= 0) trace.message("send", other, collective_tag, bytes);
  }
  void receive(int from) {
    if (const int other = translate(from); other >= 0) trace.message("recv", other, collective_tag, Trace::any_size);
  }
  void exchange(int to, std::uint64_t bytes, int from) {
    const int other = translate(to);
    if (other >= 0) trace.message("isend", other, collective_tag, bytes);
    receive(from);
    if (other >= 0) trace.wait(recorder.rank, other, collective_tag);
  }
  /// The member `distance` ranks after this process, or before it, in a ring.
  int after(int distance) const { return (self_ + distance) % count_; }
  int before(int distance) const { return (self_ + count_ - distance) % count_; }

 private:
  int translate(int member) { return info_.group.world_rank(member); }

  CommunicatorInfo& info_;
  int count_, self_;
};

/// Dissemination barrier.
void write_barrier(Members& members) {
  for (int step = 1; step < members.count(); step *= 2) members.exchange(members.after(step), 0, members.before(step));
}

/// Binomial tree.
void write_bcast(Members& members, int root, std::uint64_t bytes) {
  const int position = members.before(root), count = members.count();
  const auto member = [&](int at) { return (at + root) % count; };
  int step = 1;
  while (step < count && (position & step) == 0) step *= 2;
  if (position != 0) members.receive(member(position - step));
  for (step /= 2; step > 0; step /= 2) {
    if (position + step < count) members.send(member(position + step), bytes);
  }
}

/// The same binomial tree upwards.
void write_reduce(Members& members, int root, std::uint64_t bytes) {
  const int position = members.before(root), count = members.count();
  const auto member = [&](int at) { return (at + root) % count; };
  for (int step = 1; step < count; step *= 2) {
    if ((position & step) != 0) return members.send(member(position - step), bytes);
    if (position + step < count) members.receive(member(position + step));
  }
}

/// Ring: every member forwards the block that it received last.
template <class BytesOf>
void write_allgather(Members& members, const BytesOf& bytes_of) {
  for (int step = 1; step < members.count(); ++step)
    members.exchange(members.after(1), bytes_of(members.before(step - 1)), members.before(1));
}

/// Pairwise exchange: in step i, to the member i ranks after this one, from the member i ranks before it.
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

/// Linear chain.
void write_scan(Members& members, std::uint64_t bytes) {
  if (members.self() > 0) members.receive(members.self() - 1);
  if (members.self() + 1 < members.count()) members.send(members.self() + 1, bytes);
}

void write_point_to_point(Members members, CollectiveOp op, int root, std::uint64_t bytes) {
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

void write_world_collective(CollectiveOp op, int root, std::uint64_t bytes) {
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
      return;  // trace_reduce_scatter writes it with the count of each rank
  }
}

/// The communicator of a collective that is traced; nullptr: the collective is not traced.
CommunicatorInfo* begin_communicator(MPI_Comm comm) {
  CommunicatorInfo& info = info_of(comm);
  if (info.is_inter) {
    warn_not_traced("collectives of intercommunicators", warned_intercommunicator);
    return nullptr;
  }
  if (info.group.size() < 2) return nullptr;
  begin_collective(info.group.is_world() ? 0 : info.handle);
  return &info;
}

/// The sources of a distributed graph topology, as ranks of the communicator; the caller frees the array. Count -1: the
/// sources are the destinations.
int* list_sources(MPI_Comm comm, int& count) {
  int kind = MPI_UNDEFINED;
  pmpi::Topo_test(comm, &kind);
  count = -1;
  if (kind != MPI_DIST_GRAPH) return nullptr;
  int outdegree = 0, weighted = 0;
  pmpi::Dist_graph_neighbors_count(comm, &count, &outdegree, &weighted);
  const auto degree = static_cast<std::size_t>(count) + static_cast<std::size_t>(outdegree) + 1;
  auto* const ranks = static_cast<int*>(std::calloc(3 * degree, sizeof(int)));
  if (ranks == nullptr || pmpi::Dist_graph_neighbors(comm, count, ranks, ranks + degree, outdegree, ranks + 2 * degree,
                                                     ranks + degree + count) != MPI_SUCCESS) {
    count = 0;
  }
  return ranks;
}

}  // namespace

void trace_collective(MPI_Comm comm, CollectiveOp op, int root, std::uint64_t bytes) {
  const CounterLock lock;
  CommunicatorInfo* const info = begin_communicator(comm);
  if (info == nullptr) return;
  if (info->group.is_world()) {
    write_world_collective(op, root, bytes);
  } else {
    write_point_to_point(Members(*info), op, root, bytes);
  }
}

void trace_gatherv(MPI_Comm comm, int root, std::uint64_t bytes, const std::uint64_t* received) {
  const CounterLock lock;
  CommunicatorInfo* const info = begin_communicator(comm);
  if (info == nullptr) return;
  Members members(*info);
  if (members.self() != root) {
    if (bytes > 0) members.send(root, bytes);
    return;
  }
  for (int step = 1; received != nullptr && step < members.count(); ++step) {
    if (received[members.after(step)] > 0) members.receive(members.after(step));
  }
}

void trace_scatterv(MPI_Comm comm, int root, std::uint64_t bytes, const std::uint64_t* sent) {
  const CounterLock lock;
  CommunicatorInfo* const info = begin_communicator(comm);
  if (info == nullptr) return;
  Members members(*info);
  if (members.self() != root) {
    if (bytes > 0) members.receive(root);
    return;
  }
  for (int step = 1; sent != nullptr && step < members.count(); ++step) {
    if (sent[members.after(step)] > 0) members.send(members.after(step), sent[members.after(step)]);
  }
}

void trace_allgatherv(MPI_Comm comm, const std::uint64_t* received) {
  const CounterLock lock;
  CommunicatorInfo* const info = begin_communicator(comm);
  if (info == nullptr || received == nullptr) return;
  Members members(*info);
  if (info->group.is_world()) return trace.allgatherv(received[members.self()], received, members.count());
  write_allgather(members, [&](int of) { return received[of]; });
}

void trace_alltoallv(MPI_Comm comm, const std::uint64_t* sent, const std::uint64_t* received) {
  const CounterLock lock;
  CommunicatorInfo* const info = begin_communicator(comm);
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
  const CounterLock lock;
  CommunicatorInfo* const info = begin_communicator(comm);
  if (info == nullptr || received == nullptr) return;
  Members members(*info);
  if (info->group.is_world()) return trace.reducescatter(received, members.count());
  write_alltoall(members, [&](int to) { return received[to]; });
}

void trace_neighbor_alltoallv(MPI_Comm comm, const std::uint64_t* sent) {
  const CounterLock lock;
  CommunicatorInfo* const info = begin_communicator(comm);
  if (info == nullptr || sent == nullptr) return;
  const Neighbours& neighbours = neighbours_of(*info, comm);
  int count = 0;
  int* const sources = list_sources(comm, count);
  for (int i = 0; i < neighbours.count; ++i) {
    if (neighbours.ranks[i] >= 0) trace.message("isend", neighbours.ranks[i], collective_tag, sent[i]);
  }
  if (count < 0) {
    for (int i = 0; i < neighbours.count; ++i) {
      if (neighbours.ranks[i] >= 0) trace.message("recv", neighbours.ranks[i], collective_tag, Trace::any_size);
    }
  } else {
    Members members(*info);
    for (int i = 0; i < count; ++i) members.receive(sources[i]);
  }
  for (int i = 0; i < neighbours.count; ++i) {
    if (neighbours.ranks[i] >= 0) trace.wait(recorder.rank, neighbours.ranks[i], collective_tag);
  }
  std::free(sources);
}

void trace_one_sided() {
  const CounterLock lock;
  warn_not_traced("one-sided communication", warned_one_sided);
}

}  // namespace rankloom::record
