// SPDX-License-Identifier: Apache-2.0
// capture/record/counting: which traffic each MPI call causes.
#include "rankloom/capture/record/counting/counting_rules.hpp"

#include "rankloom/capture/record/counting/persistent_requests.hpp"
#include "rankloom/capture/record/pmpi/communicators.hpp"

namespace rankloom::record {

namespace {

void count(const CountedEvent& event) {
  if (created_request != nullptr) {
    append(*created_request, event);
  } else {
    recorder.counters.count(event);
  }
}

/// The size of a predefined datatype. Predefined datatypes are never freed; the handles of others may be reused.
struct CachedDatatype {
  std::atomic<MPI_Datatype> type{};
  std::atomic<std::uint64_t> size{0};
};
constexpr std::size_t cached_datatypes = 64;
constinit CachedDatatype cache[cached_datatypes];

CachedDatatype& slot_of(MPI_Datatype type) {
  const auto word = (Word)type;  // NOLINT: an integer in MPICH, a pointer in Open MPI
  return cache[(word >> 3 ^ word >> 9) % cached_datatypes];
}

std::uint64_t size_of(MPI_Datatype type) {
  const auto word = (Word)type;  // NOLINT
  CachedDatatype& slot = slot_of(type);
  if (slot.type.load(std::memory_order_relaxed) == type) {
    // Two threads may write the slot at the same time. The upper half of `size` repeats the handle to detect it.
    const std::uint64_t size = slot.size.load(std::memory_order_relaxed);
    if (size >> 32 == (word & UINT32_MAX)) return size & UINT32_MAX;
  }
  MPI_Count size = 0;
  pmpi::Type_size(type, &size);
  if (size <= 0) return 0;
  int integers = 0, addresses = 0, types = 0, kind = 0;
  pmpi::Type_get_envelope(type, &integers, &addresses, &types, &kind);
  if (kind == MPI_COMBINER_NAMED && size <= UINT32_MAX) {
    slot.size.store(word << 32 | static_cast<std::uint64_t>(size), std::memory_order_relaxed);
    slot.type.store(type, std::memory_order_relaxed);
  }
  return static_cast<std::uint64_t>(size);
}

void count_traffic(int world_rank, std::uint64_t bytes, TrafficKind kind) {
  if (world_rank == GroupRanks::invalid_rank) return;  // MPI reports the error
  CountedEvent event;
  event.bytes = bytes;
  if (world_rank == GroupRanks::not_in_world) {
    event.category = CountedEvent::Category::outside;
  } else {
    event.kind = kind;
    event.other = static_cast<std::uint32_t>(world_rank);
  }
  count(event);
}

/// Counts what the MPI standard defines for intercommunicators, for each pair.
void count_intercommunicator_collective(CommunicatorInfo& info, CollectiveOp op, int root, std::uint64_t bytes) {
  const auto to_all = [&] {
    for (int i = 0; i < info.group.size(); ++i) count_traffic(info.group.world_rank(i), bytes, TrafficKind::collective);
  };
  switch (op) {
    case CollectiveOp::barrier:
      return;
    case CollectiveOp::bcast:
    case CollectiveOp::scatter:
      if (root == MPI_ROOT) to_all();
      return;
    case CollectiveOp::gather:
    case CollectiveOp::reduce:
      if (root >= 0) count_traffic(info.group.world_rank(root), bytes, TrafficKind::collective);
      return;
    default:
      to_all();
  }
}

}  // namespace

std::uint64_t bytes_of(std::int64_t count, MPI_Datatype type) {
  if (count <= 0) return 0;
  return static_cast<std::uint64_t>(count) * size_of(type);
}

void count_message(MPI_Comm comm, int to, std::uint64_t bytes, TrafficKind kind) {
  if (to < 0) return;  // MPI_PROC_NULL
  if (comm == recorder.world && !recorder.threaded && created_request == nullptr) [[likely]] {
    if (to < recorder.ranks) recorder.counters.add_traffic(static_cast<std::uint32_t>(to), kind, bytes);
    return;
  }
  const CounterLock lock;
  count_traffic(comm == recorder.world ? to : info_of(comm).group.world_rank(to), bytes, kind);
}

void count_send(MPI_Comm comm, int to, int count, MPI_Datatype type) {
  const std::uint64_t bytes = bytes_of(count, type);
  count_message(comm, to, bytes);
  // The handles of other communicators and datatypes may be freed and reused for different ones.
  const bool is_permanent = comm == recorder.world && slot_of(type).type.load(std::memory_order_relaxed) == type;
  if (is_permanent && !recorder.threaded && !recorder.errors_may_return && to >= 0 && to < recorder.ranks)
    recorder.counters.remember_send({(Word)comm, (Word)type, to, count}, bytes);  // NOLINT
}

void count_one_sided(MPI_Win win, int target_rank, std::uint64_t bytes, TrafficKind kind) {
  if (target_rank < 0) return;
  const CounterLock lock;
  count_traffic(group_of(win).world_rank(target_rank), bytes, kind);
}

int neighbour_count(MPI_Comm comm) {
  const CounterLock lock;
  return neighbours_of(info_of(comm), comm).count;
}

void count_neighbour_send(MPI_Comm comm, int neighbour, std::uint64_t bytes) {
  const CounterLock lock;
  const int to = neighbours_of(info_of(comm), comm).ranks[neighbour];
  if (to >= 0 || to == GroupRanks::not_in_world) count_traffic(to, bytes, TrafficKind::sent);
}

int group_size(MPI_Comm comm) {
  const CounterLock lock;
  return info_of(comm).group.size();
}

int local_group_size(MPI_Comm comm) {
  int size = 0;
  pmpi::Comm_size(comm, &size);
  return size;
}

bool is_inter(MPI_Comm comm) {
  const CounterLock lock;
  return info_of(comm).is_inter;
}

bool is_root(MPI_Comm comm, int root) {
  const CounterLock lock;
  const CommunicatorInfo& info = info_of(comm);
  return info.is_inter ? root == MPI_ROOT : root == info.rank;
}

void count_collective(MPI_Comm comm, CollectiveOp op, int root, std::uint64_t bytes) {
  const CounterLock lock;
  CommunicatorInfo& info = info_of(comm);
  if (info.is_inter) return count_intercommunicator_collective(info, op, root, bytes);
  // Rank 0 counts for all members. A communicator of one rank causes no traffic.
  if (info.rank != 0 || info.group.size() < 2) return;
  CountedEvent event;
  event.category = CountedEvent::Category::collective;
  event.other = static_cast<std::uint32_t>(root);
  event.communicator = number_of(info);
  event.op = static_cast<std::uint32_t>(op);
  event.bytes = bytes;
  count(event);
}

void count_collective_pair(MPI_Comm comm, int to, std::uint64_t bytes) {
  if (to < 0 || bytes == 0) return;
  const CounterLock lock;
  CommunicatorInfo& info = info_of(comm);
  if (!info.is_inter && to == info.rank) return;
  count_traffic(info.group.world_rank(to), bytes, TrafficKind::collective);
}

void set_communicator_name(MPI_Comm comm, const char* name, std::size_t length) {
  const CounterLock lock;
  set_name(info_of(comm), name, length);
}

}  // namespace rankloom::record
