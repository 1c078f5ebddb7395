// SPDX-License-Identifier: Apache-2.0
// capture/record: what each call of MPI means for the trace. The wrappers that are made from trace_table.txt call these
// after the call, with its words; here they are read in the language of the call.
#pragma once

#include <cstdlib>
#include <type_traits>

#include "rankloom/capture/record/rules.hpp"
#include "rankloom/capture/record/trace_collectives.hpp"
#include "rankloom/capture/record/trace_messages.hpp"

namespace rankloom::record {

/// A number that a call gave back.
inline int given(Word word, int at = 0) {
  return reinterpret_cast<const int*>(word)[at];
}

/// Whether the program does not want to see a status, or several.
template <class L>
bool is_ignored(Word status) {
  if constexpr (std::is_same_v<L, Fortran>) {
    static const Word one = reinterpret_cast<Word>(find_symbol("mpi_fortran_status_ignore_"));
    static const Word many = reinterpret_cast<Word>(find_symbol("mpi_fortran_statuses_ignore_"));
    return status != 0 && (status == one || status == many);
  } else {
    return status == reinterpret_cast<Word>(MPI_STATUS_IGNORE) || status == reinterpret_cast<Word>(MPI_STATUSES_IGNORE);
  }
}

template <class L>
bool succeeded(int outcome, [[maybe_unused]] Word ierror) {
  if constexpr (std::is_same_v<L, Fortran>) {
    return ierror == 0 || given(ierror) == MPI_SUCCESS;
  } else {
    return outcome == MPI_SUCCESS;
  }
}

/// The status of a call, also when the program ignores it. In both MPIs Fortran's are laid out as C's.
template <class L>
class Heard {
 public:
  Heard(bool counts, Word status) : word_(status) {
    if (counts && is_ignored<L>(status)) word_ = reinterpret_cast<Word>(&own_);
  }
  Heard(const Heard&) = delete;
  Heard& operator=(const Heard&) = delete;
  Word word() const { return word_; }

 private:
  MPI_Status own_[2]{};  // MPIs' Fortran may have larger ones
  Word word_;
};

/// Requests before a call that may complete some of them: then their handles are gone.
template <class L>
class Watch {
 public:
  Watch(bool counts, int count, Word requests, Word statuses) : statuses_(statuses) {
    if (!counts || count <= 0) return;
    const auto room = static_cast<std::size_t>(count);
    before_ = room <= few ? small_ : static_cast<Word*>(std::malloc(room * sizeof(Word)));
    if (before_ == nullptr) return;
    count_ = count;
    bool wanted = false;
    for (int i = 0; i < count; ++i) {
      before_[i] = L::request(requests, i);
      wanted |= needs_status(before_[i]);
    }
    if (!wanted || !is_ignored<L>(statuses)) return;
    own_ = std::calloc(room + 1, sizeof(MPI_Status));
    if (own_ != nullptr) statuses_ = reinterpret_cast<Word>(own_);
  }
  ~Watch() {
    if (before_ != small_) std::free(before_);
    std::free(own_);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  Word statuses() const { return statuses_; }

  void all() const {
    for (int i = 0; i < count_; ++i) complete(i, i);
  }
  void all_if(Word flag) const {
    if (given(flag) != 0) all();
  }
  void any(Word index) const { complete(given(index) - first, 0); }
  void any_if(Word index, Word flag) const {
    if (given(flag) != 0) any(index);
  }
  void some(Word done, Word indices) const {
    for (int i = 0; i < given(done); ++i) complete(given(indices, i) - first, i);
  }

 private:
  static constexpr int first = std::is_same_v<L, Fortran> ? 1 : 0;
  static constexpr std::size_t few = 16;

  void complete(int at, int status) const {
    if (at < 0 || at >= count_) return;  // MPI_UNDEFINED
    const bool there = own_ != nullptr || !is_ignored<L>(statuses_);
    trace_completed(before_[at], there ? reinterpret_cast<const MPI_Status*>(statuses_) + status : nullptr);
  }

  Word small_[few];
  Word* before_ = small_;
  int count_ = 0;
  Word statuses_;
  void* own_ = nullptr;
};

/// The rules, for the words of one call in one language.
template <class L>
struct TraceRules {
  static void send(Word count, Word type, Word to, Word tag, Word comm) {
    trace_send(message(count, type, to, tag, comm));
  }
  static void bsend(Word count, Word type, Word to, Word tag, Word comm) {
    trace_buffered_send(message(count, type, to, tag, comm));
  }
  static void recv(Word count, Word type, Word from, Word tag, Word comm, Word status) {
    trace_receive(message(count, type, from, tag, comm), reinterpret_cast<const MPI_Status*>(status));
  }
  static void sendrecv(Word count, Word type, Word to, Word tag, Word recvcount, Word recvtype, Word from, Word recvtag,
                       Word comm, Word status) {
    trace_exchange(message(count, type, to, tag, comm), message(recvcount, recvtype, from, recvtag, comm),
                   reinterpret_cast<const MPI_Status*>(status));
  }
  /// One request for both: only what is received is waited for.
  static void isendrecv(Word count, Word type, Word to, Word tag, Word recvcount, Word recvtype, Word from,
                        Word recvtag, Word comm, Word request) {
    bsend(count, type, to, tag, comm);
    irecv(recvcount, recvtype, from, recvtag, comm, request);
  }

  static void isend(Word count, Word type, Word to, Word tag, Word comm, Word request) {
    trace_isend(message(count, type, to, tag, comm), L::request(request), Use::once);
  }
  static void irecv(Word count, Word type, Word from, Word tag, Word comm, Word request) {
    trace_ireceive(message(count, type, from, tag, comm), L::request(request), Use::once);
  }
  static void send_init(Word count, Word type, Word to, Word tag, Word comm, Word request) {
    trace_isend(message(count, type, to, tag, comm), L::request(request), Use::persistent);
  }
  static void recv_init(Word count, Word type, Word from, Word tag, Word comm, Word request) {
    trace_ireceive(message(count, type, from, tag, comm), L::request(request), Use::persistent);
  }
  static void psend_init(Word partitions, Word count, Word type, Word to, Word tag, Word comm, Word request) {
    trace_isend(partitioned(partitions, count, type, to, tag, comm), L::request(request), Use::persistent);
  }
  static void precv_init(Word partitions, Word count, Word type, Word from, Word tag, Word comm, Word request) {
    trace_ireceive(partitioned(partitions, count, type, from, tag, comm), L::request(request), Use::persistent);
  }
  static void start(Word request) { trace_start(L::request(request)); }
  static void startall(Word number, Word requests) {
    for (int i = 0; i < L::number(number); ++i) trace_start(L::request(requests, i));
  }
  static void cancel(Word request) { trace_cancel(L::request(request)); }
  static void forget(Word request) { trace_forget(request); }

  static void mprobe(Word comm, Word message, Word status) {
    trace_found(L::comm(comm), found(message), reinterpret_cast<const MPI_Status*>(status));
  }
  static void improbe(Word comm, Word flag, Word message, Word status) {
    if (given(flag) != 0) mprobe(comm, message, status);
  }
  static void mrecv(Word count, Word type, Word message) { trace_found_receive(message, bytes(count, type)); }
  static void imrecv(Word count, Word type, Word message, Word request) {
    trace_found_ireceive(message, bytes(count, type), L::request(request));
  }
  /// What tells found messages apart; in Fortran, numbers do.
  static Word found(Word message) {
    if constexpr (std::is_same_v<L, Fortran>) {
      return static_cast<Word>(given(message));
    } else {
      return (Word) * reinterpret_cast<const MPI_Message*>(message);  // NOLINT
    }
  }

  static void barrier(Word comm) { trace_collective(L::comm(comm), CollectiveOp::barrier, 0, 0); }
  static void bcast(Word count, Word type, Word root, Word comm) {
    trace_collective(L::comm(comm), CollectiveOp::bcast, L::number(root), bytes(count, type));
  }
  static void reduce(Word count, Word type, Word root, Word comm) {
    trace_collective(L::comm(comm), CollectiveOp::reduce, L::number(root), bytes(count, type));
  }
  static void allreduce(Word count, Word type, Word comm) {
    trace_collective(L::comm(comm), CollectiveOp::allreduce, 0, bytes(count, type));
  }
  static void scan(Word count, Word type, Word comm) {
    trace_collective(L::comm(comm), CollectiveOp::scan, 0, bytes(count, type));
  }
  static void reduce_scatter_block(Word count, Word type, Word comm) {
    const int members = peer_count(L::comm(comm));
    const Amounts received(members);
    for (int i = 0; received.get() != nullptr && i < members; ++i) received.get()[i] = bytes(count, type);
    trace_reduce_scatter(L::comm(comm), received.get());
  }
  static void reduce_scatter(Word counts, Word type, Word comm) {
    const int members = peer_count(L::comm(comm));
    const Amounts received(members);
    read(received, members, counts, type);
    trace_reduce_scatter(L::comm(comm), received.get());
  }
  static void gather(Word sendcount, Word sendtype, Word recvcount, Word recvtype, Word root, Word comm) {
    const bool receives = is_root(L::comm(comm), L::number(root));
    trace_collective(L::comm(comm), CollectiveOp::gather, L::number(root),
                     receives ? bytes(recvcount, recvtype) : bytes(sendcount, sendtype));
  }
  static void scatter(Word sendcount, Word sendtype, Word recvcount, Word recvtype, Word root, Word comm) {
    const bool sends = is_root(L::comm(comm), L::number(root));
    trace_collective(L::comm(comm), CollectiveOp::scatter, L::number(root),
                     sends ? bytes(sendcount, sendtype) : bytes(recvcount, recvtype));
  }
  static void allgather(Word recvcount, Word recvtype, Word comm) {
    trace_collective(L::comm(comm), CollectiveOp::allgather, 0, bytes(recvcount, recvtype));
  }
  static void alltoall(Word recvcount, Word recvtype, Word comm) {
    trace_collective(L::comm(comm), CollectiveOp::alltoall, 0, bytes(recvcount, recvtype));
  }
  static void allgatherv(Word recvcounts, Word recvtype, Word comm) {
    if (is_inter(L::comm(comm))) return;
    const int members = peer_count(L::comm(comm));
    const Amounts received(members);
    read(received, members, recvcounts, recvtype);
    trace_allgatherv(L::comm(comm), received.get());
  }
  static void gatherv(Word sendcount, Word sendtype, Word recvcounts, Word recvtype, Word root, Word comm) {
    const bool receives = is_root(L::comm(comm), L::number(root));
    const int members = receives ? peer_count(L::comm(comm)) : 0;
    const Amounts received(members);
    read(received, members, recvcounts, recvtype);
    trace_gatherv(L::comm(comm), L::number(root), receives ? 0 : bytes(sendcount, sendtype), received.get());
  }
  static void scatterv(Word sendcounts, Word sendtype, Word recvcount, Word recvtype, Word root, Word comm) {
    const bool sends = is_root(L::comm(comm), L::number(root));
    const int members = sends ? peer_count(L::comm(comm)) : 0;
    const Amounts sent(members);
    read(sent, members, sendcounts, sendtype);
    trace_scatterv(L::comm(comm), L::number(root), sends ? 0 : bytes(recvcount, recvtype), sent.get());
  }
  static void alltoallv(Word sendbuf, Word sendcounts, Word sendtype, Word recvcounts, Word recvtype, Word comm) {
    const bool in_place = L::is_in_place(sendbuf);
    const int members = peer_count(L::comm(comm));
    const Amounts sent(members), received(members);
    read(received, members, recvcounts, recvtype);
    read(sent, members, in_place ? recvcounts : sendcounts, in_place ? recvtype : sendtype);
    trace_alltoallv(L::comm(comm), sent.get(), received.get());
  }
  static void alltoallw(Word sendbuf, Word sendcounts, Word sendtypes, Word recvcounts, Word recvtypes, Word comm) {
    const bool in_place = L::is_in_place(sendbuf);
    const int members = peer_count(L::comm(comm));
    const Amounts sent(members), received(members);
    read_typed(received, members, recvcounts, recvtypes);
    read_typed(sent, members, in_place ? recvcounts : sendcounts, in_place ? recvtypes : sendtypes);
    trace_alltoallv(L::comm(comm), sent.get(), received.get());
  }
  static void to_neighbours(Word count, Word type, Word comm) {
    const int members = neighbour_count(L::comm(comm));
    const Amounts sent(members);
    for (int i = 0; sent.get() != nullptr && i < members; ++i) sent.get()[i] = bytes(count, type);
    trace_to_neighbours(L::comm(comm), sent.get());
  }
  static void to_neighbours_v(Word counts, Word type, Word comm) {
    const int members = neighbour_count(L::comm(comm));
    const Amounts sent(members);
    read(sent, members, counts, type);
    trace_to_neighbours(L::comm(comm), sent.get());
  }
  static void to_neighbours_w(Word counts, Word types, Word comm) {
    const int members = neighbour_count(L::comm(comm));
    const Amounts sent(members);
    read_typed(sent, members, counts, types);
    trace_to_neighbours(L::comm(comm), sent.get());
  }
  static void one_sided() { trace_one_sided(); }

 private:
  static std::uint64_t bytes(Word count, Word type) { return bytes_of(L::count(count), L::type(type)); }
  static Message message(Word count, Word type, Word partner, Word tag, Word comm) {
    return {L::comm(comm), L::number(partner), L::number(tag), bytes(count, type)};
  }
  static Message partitioned(Word partitions, Word count, Word type, Word partner, Word tag, Word comm) {
    return {L::comm(comm), L::number(partner), L::number(tag),
            bytes_of(L::number(partitions) * LargeC::count(count), L::type(type))};
  }
  static void read(const Amounts& to, int members, Word counts, Word type) {
    for (int i = 0; to.get() != nullptr && i < members; ++i) to.get()[i] = bytes_of(L::count(counts, i), L::type(type));
  }
  /// Types of empty blocks may be anything.
  static void read_typed(const Amounts& to, int members, Word counts, Word types) {
    for (int i = 0; to.get() != nullptr && i < members; ++i) {
      const std::int64_t count = L::count(counts, i);
      to.get()[i] = count > 0 ? bytes_of(count, L::type(types, i)) : 0;
    }
  }
};

}  // namespace rankloom::record
