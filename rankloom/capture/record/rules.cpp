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

void count_traffic(int in_world, std::uint64_t bytes, TrafficKind kind) {
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
  MPI_Count size = 0;
  pmpi::Type_size_x(type, &size);
  return size > 0 ? static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size) : 0;
}

void count_message(MPI_Comm comm, int to, std::uint64_t bytes, TrafficKind kind) {
  if (to < 0) return;  // MPI_PROC_NULL
  const Turn turn;
  count_traffic(comm == recorder.world ? to : info_of(comm).peers.in_world(to), bytes, kind);
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
