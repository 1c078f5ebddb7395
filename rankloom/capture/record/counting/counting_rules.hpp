// SPDX-License-Identifier: Apache-2.0
// capture/record/counting: which traffic each MPI call causes. The wrappers generated from wrappers/mpi_table.txt call
// the functions of Rules with the arguments of the MPI call, which are decoded for the language binding of the call.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "rankloom/capture/record/counting/clock.hpp"
#include "rankloom/capture/record/counting/persistent_requests.hpp"
#include "rankloom/capture/record/pmpi/language_bindings.hpp"
#include "rankloom/capture/record/recorder.hpp"
#include "rankloom/model/graph/collective_op.hpp"

namespace rankloom::record {

/// Bytes of `count` elements by the size of the datatype, not by its extent.
std::uint64_t bytes_of(std::int64_t count, MPI_Datatype datatype);

// Messages. MPI_PROC_NULL as destination counts nothing.
void count_message(MPI_Comm comm, int dest, std::uint64_t bytes, TrafficKind kind = TrafficKind::sent);
/// The same for `count` elements of a datatype; remembers the send in the LastSendCache.
void count_send(MPI_Comm comm, int dest, int count, MPI_Datatype datatype);
void count_one_sided(MPI_Win win, int target_rank, std::uint64_t bytes, TrafficKind kind);
void count_neighbour_send(MPI_Comm comm, int neighbour, std::uint64_t bytes);
int neighbour_count(MPI_Comm comm);

/// A collective with equal blocks.
void count_collective(MPI_Comm comm, CollectiveOp op, int root, std::uint64_t bytes);
/// What this process sends to one rank in a collective with a count for each pair.
void count_collective_pair(MPI_Comm comm, int dest, std::uint64_t bytes);
/// Size of the group to which this process sends: of an intercommunicator, the remote group.
int group_size(MPI_Comm comm);
/// Size of the group of this process.
int local_group_size(MPI_Comm comm);
bool is_root(MPI_Comm comm, int root);
bool is_inter(MPI_Comm comm);
void set_communicator_name(MPI_Comm comm, const char* name, std::size_t length);

/// One function per rule of mpi_table.txt, for the arguments of a call in one language binding.
template <class L>
struct Rules {
  static void init() { record::begin(); }
  static void finalize() { record::finish(); }
#if defined(RANKLOOM_SESSIONS)
  static void session_init(Word session) {
    record::begin_session(L::session(session));
  }
  static void session_finalize() {
    record::finish_session();
  }
#endif
  static void abort() {
    record::record_abort();
  }
  static void set_errhandler() {
    record::expect_returned_errors();
  }
  static void pcontrol(Word level) {
    const CounterLock lock;
    recorder.counters.set_level(L::number(level), ticks());
  }
  static void comm_set_name(Word comm, Word comm_name, Word length) {
    const auto* const name = reinterpret_cast<const char*>(comm_name);
    set_communicator_name(L::comm(comm), name,
                          std::is_base_of_v<Fortran, L> ? trimmed_length(name, length) : std::strlen(name));
  }

  static void send(Word count, Word datatype, Word dest, Word, Word comm) {
    count_message(L::comm(comm), L::number(dest), bytes(count, datatype));
  }
  static bool repeats_last_send(Word count, Word datatype, Word dest, Word comm) {
    return recorder.counters.repeats_last_send(
        {(Word)L::comm(comm), (Word)L::datatype(datatype), L::number(dest), L::number(count)});  // NOLINT
  }
  static void send_fast_path(Word count, Word datatype, Word dest, Word comm) {
    count_send(L::comm(comm), L::number(dest), L::number(count), L::datatype(datatype));
  }
  static void isend(Word count, Word datatype, Word dest, Word tag, Word comm) {
    send(count, datatype, dest, tag, comm);
  }
  static void psend_init(Word partitions, Word count, Word datatype, Word dest, Word comm) {
    count_message(L::comm(comm), L::number(dest),
                  bytes_of(L::number(partitions) * L::large_count(count), L::datatype(datatype)));
  }
  static void sendrecv(Word count, Word datatype, Word dest, Word tag, Word, Word, Word, Word, Word comm) {
    send(count, datatype, dest, tag, comm);
  }

  static void start(Word request) {
    start_request(L::request(request));
  }
  static void startall(Word count, Word requests) {
    for (int i = 0; i < L::number(count); ++i) start_request(L::request(requests, i));
  }
  static void request_free(Word request) {
    free_request(L::request(request));
  }

  static void barrier(Word comm) {
    count_collective(L::comm(comm), CollectiveOp::barrier, 0, 0);
  }
  static void bcast(Word count, Word datatype, Word root, Word comm) {
    if (is_bystander(root)) return;
    count_collective(L::comm(comm), CollectiveOp::bcast, L::number(root), bytes(count, datatype));
  }
  static void reduce(Word count, Word datatype, Word root, Word comm) {
    if (is_bystander(root)) return;
    count_collective(L::comm(comm), CollectiveOp::reduce, L::number(root), bytes(count, datatype));
  }
  static void allreduce(Word count, Word datatype, Word comm) {
    count_collective(L::comm(comm), CollectiveOp::allreduce, 0, bytes(count, datatype));
  }
  static void scan(Word count, Word datatype, Word comm) {
    count_collective(L::comm(comm), CollectiveOp::scan, 0, bytes(count, datatype));
  }
  static void reduce_scatter_block(Word count, Word datatype, Word comm) {
    count_collective(L::comm(comm), CollectiveOp::reduce_scatter, 0, bytes(count, datatype));
  }
  static void reduce_scatter(Word counts, Word datatype, Word comm) {
    // Of an intercommunicator, the counts belong to the local group, which receives the result of the other group.
    count_collective(L::comm(comm), CollectiveOp::reduce_scatter, 0,
                     mean_bytes(counts, local_group_size(L::comm(comm)), datatype, comm));
  }
  /// The root reads its receive arguments, other ranks their send arguments. MPI_IN_PLACE occurs only on the other
  /// side.
  static void gather(Word sendcount, Word sendtype, Word recvcount, Word recvtype, Word root, Word comm) {
    if (is_bystander(root)) return;
    const bool receives = is_root(L::comm(comm), L::number(root));
    count_collective(L::comm(comm), CollectiveOp::gather, L::number(root),
                     receives ? bytes(recvcount, recvtype) : bytes(sendcount, sendtype));
  }
  static void scatter(Word sendcount, Word sendtype, Word recvcount, Word recvtype, Word root, Word comm) {
    if (is_bystander(root)) return;
    const bool sends = is_root(L::comm(comm), L::number(root));
    count_collective(L::comm(comm), CollectiveOp::scatter, L::number(root),
                     sends ? bytes(sendcount, sendtype) : bytes(recvcount, recvtype));
  }
  /// The receive arguments are also valid with MPI_IN_PLACE. In an intercommunicator, which does not allow
  /// MPI_IN_PLACE, both sides may differ.
  static void allgather(Word sendcount, Word sendtype, Word recvcount, Word recvtype, Word comm) {
    count_collective(L::comm(comm), CollectiveOp::allgather, 0,
                     is_inter(L::comm(comm)) ? bytes(sendcount, sendtype) : bytes(recvcount, recvtype));
  }
  static void allgatherv(Word sendcount, Word sendtype, Word recvcounts, Word recvtype, Word comm) {
    count_collective(L::comm(comm), CollectiveOp::allgather, 0,
                     is_inter(L::comm(comm)) ? bytes(sendcount, sendtype)
                                             : mean_bytes(recvcounts, group_size(L::comm(comm)), recvtype, comm));
  }
  static void alltoall(Word sendcount, Word sendtype, Word recvcount, Word recvtype, Word comm) {
    count_collective(L::comm(comm), CollectiveOp::alltoall, 0,
                     is_inter(L::comm(comm)) ? bytes(sendcount, sendtype) : bytes(recvcount, recvtype));
  }
  static void gatherv(Word sendcount, Word sendtype, Word root, Word comm) {
    if (L::number(root) >= 0 && !is_root(L::comm(comm), L::number(root)))
      count_collective_pair(L::comm(comm), L::number(root), bytes(sendcount, sendtype));
  }
  static void scatterv(Word sendcounts, Word sendtype, Word root, Word comm) {
    if (!is_root(L::comm(comm), L::number(root))) return;
    for (int i = 0; i < group_size(L::comm(comm)); ++i)
      count_collective_pair(L::comm(comm), i, bytes_of(L::count(sendcounts, i), L::datatype(sendtype)));
  }
  static void alltoallv(Word sendbuf, Word sendcounts, Word sendtype, Word recvcounts, Word recvtype, Word comm) {
    // With MPI_IN_PLACE, a rank sends as much to another rank as it receives from it.
    const bool in_place = L::is_in_place(sendbuf);
    const MPI_Datatype datatype = L::datatype(in_place ? recvtype : sendtype);
    for (int i = 0; i < group_size(L::comm(comm)); ++i)
      count_collective_pair(L::comm(comm), i, bytes_of(L::count(in_place ? recvcounts : sendcounts, i), datatype));
  }
  static void alltoallw(Word sendbuf, Word sendcounts, Word sendtypes, Word recvcounts, Word recvtypes, Word comm) {
    const bool in_place = L::is_in_place(sendbuf);
    for (int i = 0; i < group_size(L::comm(comm)); ++i) {
      const std::int64_t count = L::count(in_place ? recvcounts : sendcounts, i);
      if (count > 0)
        count_collective_pair(L::comm(comm), i, bytes_of(count, L::datatype(in_place ? recvtypes : sendtypes, i)));
    }
  }
  static void neighbor_alltoall(Word count, Word datatype, Word comm) {
    for (int i = 0; i < neighbour_count(L::comm(comm)); ++i)
      count_neighbour_send(L::comm(comm), i, bytes(count, datatype));
  }
  static void neighbor_alltoallv(Word counts, Word datatype, Word comm) {
    for (int i = 0; i < neighbour_count(L::comm(comm)); ++i)
      count_neighbour_send(L::comm(comm), i, bytes_of(L::count(counts, i), L::datatype(datatype)));
  }
  static void neighbor_alltoallw(Word counts, Word datatypes, Word comm) {
    for (int i = 0; i < neighbour_count(L::comm(comm)); ++i)
      count_neighbour_send(L::comm(comm), i, bytes_of(L::count(counts, i), L::datatype(datatypes, i)));
  }

  static void put(Word count, Word datatype, Word target_rank, Word win) {
    count_one_sided(L::win(win), L::number(target_rank), bytes(count, datatype), TrafficKind::sent);
  }
  static void get(Word count, Word datatype, Word target_rank, Word win) {
    count_one_sided(L::win(win), L::number(target_rank), bytes(count, datatype), TrafficKind::pulled);
  }
  static void get_accumulate(Word count, Word datatype, Word result_count, Word result_datatype, Word target_rank,
                             Word op, Word win) {
    if (L::op(op) != op_no_op()) put(count, datatype, target_rank, win);
    get(result_count, result_datatype, target_rank, win);
  }
  static void fetch_and_op(Word datatype, Word target_rank, Word op, Word win) {
    const std::uint64_t element = bytes_of(1, L::datatype(datatype));
    if (L::op(op) != op_no_op()) count_one_sided(L::win(win), L::number(target_rank), element, TrafficKind::sent);
    count_one_sided(L::win(win), L::number(target_rank), element, TrafficKind::pulled);
  }
  /// The origin sends the new value and the value to compare with.
  static void compare_and_swap(Word datatype, Word target_rank, Word win) {
    const std::uint64_t element = bytes_of(1, L::datatype(datatype));
    count_one_sided(L::win(win), L::number(target_rank), 2 * element, TrafficKind::sent);
    count_one_sided(L::win(win), L::number(target_rank), element, TrafficKind::pulled);
  }

 private:
  static std::uint64_t bytes(Word count, Word datatype) {
    return bytes_of(L::count(count), L::datatype(datatype));
  }
  /// In an intercommunicator, the processes of the root's group that are not the root: no other argument has a meaning.
  static bool is_bystander(Word root) {
    return L::number(root) == MPI_PROC_NULL;
  }
  /// The mean block for each member of the group to which this process sends.
  static std::uint64_t mean_bytes(Word counts, int count, Word datatype, Word comm) {
    const int members = group_size(L::comm(comm));
    std::int64_t sum = 0;
    for (int i = 0; i < count; ++i) sum += L::count(counts, i);
    return members > 0 ? bytes_of(sum, L::datatype(datatype)) / static_cast<std::uint64_t>(members) : 0;
  }
  static std::size_t trimmed_length(const char* text, std::size_t length) {
    while (length > 0 && text[length - 1] == ' ') --length;
    return length;
  }
};

}  // namespace rankloom::record
