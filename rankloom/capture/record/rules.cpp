// SPDX-License-Identifier: Apache-2.0
// capture/record: what each call of MPI means for who talks to whom.
#include "rankloom/capture/record/rules.hpp"

#include "rankloom/capture/record/communicators.hpp"
#include "rankloom/capture/record/requests.hpp"

namespace rankloom::record {

namespace {

void count(const Item& item) {
  if (keeping != nullptr) {
    keep(*keeping, item);
  } else {
    recorder.counters.count(item);
  }
}

/// Types that MPI brings with it are always there, so their sizes can be kept; others may be freed and their handles
/// used again.
struct KnownType {
  std::atomic<MPI_Datatype> type{};
  std::atomic<std::uint64_t> size{0};
};
constexpr std::size_t known_types = 64;
constinit KnownType known[known_types];

KnownType& slot_of(MPI_Datatype type) {
  const auto word = (Word)type;  // NOLINT: a number in one MPI, an address in the other
  return known[(word >> 3 ^ word >> 9) % known_types];
}

std::uint64_t size_of(MPI_Datatype type) {
  const auto word = (Word)type;  // NOLINT
  KnownType& slot = slot_of(type);
  if (slot.type.load(std::memory_order_relaxed) == type) {
    // Two types that want the same slot at once: the size is asked for again.
    const std::uint64_t size = slot.size.load(std::memory_order_relaxed);
    if (size >> 32 == (word & UINT32_MAX)) return size & UINT32_MAX;
  }
  MPI_Count size = 0;
  pmpi::Type_size_x(type, &size);
  if (size <= 0) return 0;
  int integers = 0, addresses = 0, types = 0, kind = 0;
  pmpi::Type_get_envelope(type, &integers, &addresses, &types, &kind);
  if (kind == MPI_COMBINER_NAMED && size <= UINT32_MAX) {
    slot.size.store(word << 32 | static_cast<std::uint64_t>(size), std::memory_order_relaxed);
    slot.type.store(type, std::memory_order_relaxed);
  }
  return static_cast<std::uint64_t>(size);
}

void count_traffic(int in_world, std::uint64_t bytes, TrafficKind kind) {
  if (in_world == Peers::nobody) return;  // MPI will refuse it
  Item item;
  item.bytes = bytes;
  if (in_world == Peers::stranger) {
    item.what = Item::What::outside;
  } else {
    item.kind = kind;
    item.other = static_cast<std::uint32_t>(in_world);
  }
  count(item);
}

/// Between two groups, by what the standard says who gets.
void count_between_groups(CommunicatorInfo& info, CollectiveOp op, int root, std::uint64_t bytes) {
  const auto to_all = [&] {
    for (int i = 0; i < info.peers.size(); ++i) count_traffic(info.peers.in_world(i), bytes, TrafficKind::collective);
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
      if (root >= 0) count_traffic(info.peers.in_world(root), bytes, TrafficKind::collective);
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
  if (comm == recorder.world && !recorder.threaded && keeping == nullptr) [[likely]] {
    if (to < recorder.ranks) recorder.counters.add_traffic(static_cast<std::uint32_t>(to), kind, bytes);
    return;
  }
  const Turn turn;
  count_traffic(comm == recorder.world ? to : info_of(comm).peers.in_world(to), bytes, kind);
}

void count_quickly(MPI_Comm comm, int to, int count, MPI_Datatype type) {
  const std::uint64_t bytes = bytes_of(count, type);
  count_message(comm, to, bytes);
  // Handles of other communicators and types may be freed and used again for what is not the same.
  const bool lasts = comm == recorder.world && slot_of(type).type.load(std::memory_order_relaxed) == type;
  if (lasts && !recorder.threaded && !recorder.may_fail && to >= 0 && to < recorder.ranks)
    recorder.counters.expect({(Word)comm, (Word)type, to, count}, bytes);  // NOLINT
}

void count_one_sided(MPI_Win window, int target, std::uint64_t bytes, TrafficKind kind) {
  if (target < 0) return;
  const Turn turn;
  count_traffic(peers_of(window).in_world(target), bytes, kind);
}

int neighbour_count(MPI_Comm comm) {
  const Turn turn;
  return neighbours_of(info_of(comm), comm).count;
}

void count_to_neighbour(MPI_Comm comm, int neighbour, std::uint64_t bytes) {
  const Turn turn;
  const int to = neighbours_of(info_of(comm), comm).ranks[neighbour];
  if (to >= 0 || to == Peers::stranger) count_traffic(to, bytes, TrafficKind::sent);
}

int peer_count(MPI_Comm comm) {
  const Turn turn;
  return info_of(comm).peers.size();
}

bool is_inter(MPI_Comm comm) {
  const Turn turn;
  return info_of(comm).is_inter;
}

bool is_root(MPI_Comm comm, int root) {
  const Turn turn;
  const CommunicatorInfo& info = info_of(comm);
  return info.is_inter ? root == MPI_ROOT : root == info.rank;
}

void count_collective(MPI_Comm comm, CollectiveOp op, int root, std::uint64_t bytes) {
  const Turn turn;
  CommunicatorInfo& info = info_of(comm);
  if (info.is_inter) return count_between_groups(info, op, root, bytes);
  // The first member counts for all. Alone, nobody talks.
  if (info.rank != 0 || info.peers.size() < 2) return;
  Item item;
  item.what = Item::What::collective;
  item.other = static_cast<std::uint32_t>(root);
  item.communicator = number_of(info);
  item.op = static_cast<std::uint32_t>(op);
  item.bytes = bytes;
  count(item);
}

void count_share(MPI_Comm comm, int to, std::uint64_t bytes) {
  if (to < 0 || bytes == 0) return;
  const Turn turn;
  CommunicatorInfo& info = info_of(comm);
  if (!info.is_inter && to == info.rank) return;
  count_traffic(info.peers.in_world(to), bytes, TrafficKind::collective);
}

void name_communicator(MPI_Comm comm, const char* name, std::size_t length) {
  const Turn turn;
  set_name(info_of(comm), name, length);
}

}  // namespace rankloom::record
