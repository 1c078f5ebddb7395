// SPDX-License-Identifier: Apache-2.0
// capture/record: what each call of MPI means for who talks to whom. The wrappers that are made from mpi_table.txt call
// these with the words of the call; here they are read in the language of the call.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "rankloom/capture/record/languages.hpp"
#include "rankloom/capture/record/recorder.hpp"
#include "rankloom/capture/record/requests.hpp"
#include "rankloom/model/collective_op.hpp"

namespace rankloom::record {

/// Bytes of so many elements: what is sent, without holes between them.
std::uint64_t bytes_of(std::int64_t count, MPI_Datatype type);

// Traffic. Peers that are MPI_PROC_NULL are nobody.
void count_message(MPI_Comm comm, int to, std::uint64_t bytes, TrafficKind kind = TrafficKind::sent);
/// The same of so many elements, for calls that must cost next to nothing.
void count_quickly(MPI_Comm comm, int to, int count, MPI_Datatype type);
void count_one_sided(MPI_Win window, int target, std::uint64_t bytes, TrafficKind kind);
void count_to_neighbour(MPI_Comm comm, int neighbour, std::uint64_t bytes);
int neighbour_count(MPI_Comm comm);

/// A collective with equal blocks.
void count_collective(MPI_Comm comm, CollectiveOp op, int root, std::uint64_t bytes);
/// What this process contributes to a collective whose pairs exchange different amounts.
void count_share(MPI_Comm comm, int to, std::uint64_t bytes);
/// Ranks on the side to which this process sends.
int peer_count(MPI_Comm comm);
bool is_root(MPI_Comm comm, int root);
bool is_inter(MPI_Comm comm);
void name_communicator(MPI_Comm comm, const char* name, std::size_t length);

/// The rules, for the words of one call in one language.
template <class L>
struct Rules {
  static void begin() { record::begin(); }
  static void finish() { record::finish(); }
  static void abandon() { record::abandon(); }
  static void expect_failures() { record::expect_failures(); }
  static void set_level(Word level) {
    const Turn turn;
    recorder.counters.set_level(L::number(level), ticks());
  }
  static void name(Word comm, Word text, Word length) {
    const auto* const name = reinterpret_cast<const char*>(text);
    name_communicator(L::comm(comm), name, std::is_same_v<L, Fortran> ? trimmed(name, length) : std::strlen(name));
  }

  static void send(Word count, Word type, Word to, Word, Word comm) {
    count_message(L::comm(comm), L::number(to), bytes(count, type));
  }
  static bool is_again(Word count, Word type, Word to, Word comm) {
    return recorder.counters.is_again(
        {(Word)L::comm(comm), (Word)L::type(type), L::number(to), L::number(count)});  // NOLINT
  }
  static void send_quickly(Word count, Word type, Word to, Word comm) {
    count_quickly(L::comm(comm), L::number(to), L::number(count), L::type(type));
  }
  static void isend(Word count, Word type, Word to, Word tag, Word comm) { send(count, type, to, tag, comm); }
  static void partitioned(Word partitions, Word count, Word type, Word to, Word comm) {
    // The count is an MPI_Count in every form of this function.
    count_message(L::comm(comm), L::number(to), bytes_of(L::number(partitions) * LargeC::count(count), L::type(type)));
  }
  static void sendrecv(Word count, Word type, Word to, Word tag, Word, Word, Word, Word, Word comm) {
    send(count, type, to, tag, comm);
  }

  static void start(Word request) { start_request(L::request(request)); }
  static void start_all(Word number, Word requests) {
    for (int i = 0; i < L::number(number); ++i) start_request(L::request(requests, i));
  }
  static void forget(Word request) { forget_request(L::request(request)); }

  static void barrier(Word comm) { count_collective(L::comm(comm), CollectiveOp::barrier, 0, 0); }
  static void bcast(Word count, Word type, Word root, Word comm) {
    count_collective(L::comm(comm), CollectiveOp::bcast, L::number(root), bytes(count, type));
  }
  static void reduce(Word count, Word type, Word root, Word comm) {
    count_collective(L::comm(comm), CollectiveOp::reduce, L::number(root), bytes(count, type));
  }
  static void allreduce(Word count, Word type, Word comm) {
    count_collective(L::comm(comm), CollectiveOp::allreduce, 0, bytes(count, type));
  }
  static void scan(Word count, Word type, Word comm) {
    count_collective(L::comm(comm), CollectiveOp::scan, 0, bytes(count, type));
  }
  static void reduce_scatter_block(Word count, Word type, Word comm) {
    count_collective(L::comm(comm), CollectiveOp::reduce_scatter, 0, bytes(count, type));
  }
  static void reduce_scatter(Word counts, Word type, Word comm) {
    count_collective(L::comm(comm), CollectiveOp::reduce_scatter, 0, mean_bytes(counts, type, comm));
  }
  /// Which side of the call is valid depends on where the root is; MPI_IN_PLACE stands only where it is not.
  static void gather(Word sendcount, Word sendtype, Word recvcount, Word recvtype, Word root, Word comm) {
    const bool receives = is_root(L::comm(comm), L::number(root));
    count_collective(L::comm(comm), CollectiveOp::gather, L::number(root),
                     receives ? bytes(recvcount, recvtype) : bytes(sendcount, sendtype));
  }
  static void scatter(Word sendcount, Word sendtype, Word recvcount, Word recvtype, Word root, Word comm) {
    const bool sends = is_root(L::comm(comm), L::number(root));
    count_collective(L::comm(comm), CollectiveOp::scatter, L::number(root),
                     sends ? bytes(sendcount, sendtype) : bytes(recvcount, recvtype));
  }
  /// The receiving side is valid also in place; between two groups, where nothing is in place, the sides differ.
  static void allgather(Word sendcount, Word sendtype, Word recvcount, Word recvtype, Word comm) {
    count_collective(L::comm(comm), CollectiveOp::allgather, 0,
                     is_inter(L::comm(comm)) ? bytes(sendcount, sendtype) : bytes(recvcount, recvtype));
  }
  static void allgatherv(Word sendcount, Word sendtype, Word recvcounts, Word recvtype, Word comm) {
    count_collective(L::comm(comm), CollectiveOp::allgather, 0,
                     is_inter(L::comm(comm)) ? bytes(sendcount, sendtype) : mean_bytes(recvcounts, recvtype, comm));
  }
  static void alltoall(Word sendcount, Word sendtype, Word recvcount, Word recvtype, Word comm) {
    count_collective(L::comm(comm), CollectiveOp::alltoall, 0,
                     is_inter(L::comm(comm)) ? bytes(sendcount, sendtype) : bytes(recvcount, recvtype));
  }
  static void gatherv(Word sendcount, Word sendtype, Word root, Word comm) {
    if (L::number(root) >= 0 && !is_root(L::comm(comm), L::number(root)))
      count_share(L::comm(comm), L::number(root), bytes(sendcount, sendtype));
  }
  static void scatterv(Word sendcounts, Word sendtype, Word root, Word comm) {
    if (!is_root(L::comm(comm), L::number(root))) return;
    for (int i = 0; i < peer_count(L::comm(comm)); ++i)
      count_share(L::comm(comm), i, bytes_of(L::count(sendcounts, i), L::type(sendtype)));
  }
  static void alltoallv(Word sendbuf, Word sendcounts, Word sendtype, Word recvcounts, Word recvtype, Word comm) {
    // In place, what goes to a rank is what comes from it.
    const bool in_place = L::is_in_place(sendbuf);
    const MPI_Datatype type = L::type(in_place ? recvtype : sendtype);
    for (int i = 0; i < peer_count(L::comm(comm)); ++i)
      count_share(L::comm(comm), i, bytes_of(L::count(in_place ? recvcounts : sendcounts, i), type));
  }
  static void alltoallw(Word sendbuf, Word sendcounts, Word sendtypes, Word recvcounts, Word recvtypes, Word comm) {
    const bool in_place = L::is_in_place(sendbuf);
    for (int i = 0; i < peer_count(L::comm(comm)); ++i) {
      const std::int64_t count = L::count(in_place ? recvcounts : sendcounts, i);
      if (count > 0) count_share(L::comm(comm), i, bytes_of(count, L::type(in_place ? recvtypes : sendtypes, i)));
    }
  }
  static void to_neighbours(Word count, Word type, Word comm) {
    for (int i = 0; i < neighbour_count(L::comm(comm)); ++i) count_to_neighbour(L::comm(comm), i, bytes(count, type));
  }
  static void to_neighbours_v(Word counts, Word type, Word comm) {
    for (int i = 0; i < neighbour_count(L::comm(comm)); ++i)
      count_to_neighbour(L::comm(comm), i, bytes_of(L::count(counts, i), L::type(type)));
  }
  static void to_neighbours_w(Word counts, Word types, Word comm) {
    for (int i = 0; i < neighbour_count(L::comm(comm)); ++i)
      count_to_neighbour(L::comm(comm), i, bytes_of(L::count(counts, i), L::type(types, i)));
  }

  static void put(Word count, Word type, Word target, Word window) {
    count_one_sided(L::window(window), L::number(target), bytes(count, type), TrafficKind::sent);
  }
  static void get(Word count, Word type, Word target, Word window) {
    count_one_sided(L::window(window), L::number(target), bytes(count, type), TrafficKind::pulled);
  }
  static void exchange(Word count, Word type, Word rcount, Word rtype, Word target, Word op, Word window) {
    if (L::op(op) != op_none()) put(count, type, target, window);
    get(rcount, rtype, target, window);
  }
  static void fetch(Word type, Word target, Word op, Word window) {
    const std::uint64_t one = bytes_of(1, L::type(type));
    if (L::op(op) != op_none()) count_one_sided(L::window(window), L::number(target), one, TrafficKind::sent);
    count_one_sided(L::window(window), L::number(target), one, TrafficKind::pulled);
  }
  /// The value to compare with goes along.
  static void compare_and_swap(Word type, Word target, Word window) {
    const std::uint64_t one = bytes_of(1, L::type(type));
    count_one_sided(L::window(window), L::number(target), 2 * one, TrafficKind::sent);
    count_one_sided(L::window(window), L::number(target), one, TrafficKind::pulled);
  }

 private:
  static std::uint64_t bytes(Word count, Word type) { return bytes_of(L::count(count), L::type(type)); }
  static std::uint64_t mean_bytes(Word counts, Word type, Word comm) {
    const int members = peer_count(L::comm(comm));
    std::int64_t all = 0;
    for (int i = 0; i < members; ++i) all += L::count(counts, i);
    return members > 0 ? bytes_of(all, L::type(type)) / static_cast<std::uint64_t>(members) : 0;
  }
  static std::size_t trimmed(const char* text, std::size_t length) {
    while (length > 0 && text[length - 1] == ' ') --length;
    return length;
  }
};

}  // namespace rankloom::record
