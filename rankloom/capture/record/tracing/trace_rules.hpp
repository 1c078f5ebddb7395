// SPDX-License-Identifier: Apache-2.0
// capture/record/tracing: what each MPI call writes into the trace. The wrappers generated from
// wrappers/trace_table.txt call the functions of TraceRules after the MPI call, with its arguments, which are decoded
// for the language binding.
#pragma once

#include <cstdlib>
#include <type_traits>

#include "rankloom/capture/record/counting/counting_rules.hpp"
#include "rankloom/capture/record/tracing/trace_collectives.hpp"
#include "rankloom/capture/record/tracing/trace_messages.hpp"

namespace rankloom::record {

/// An int output argument of a call.
inline int output_value(Word word, int at = 0) {
  return reinterpret_cast<const int*>(word)[at];
}

/// Whether the program passed MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE.
template <class L>
bool is_ignored(Word status) {
  if constexpr (std::is_base_of_v<Fortran, L>) {
    static const Word status_ignore = reinterpret_cast<Word>(find_symbol("mpi_fortran_status_ignore_"));
    static const Word statuses_ignore = reinterpret_cast<Word>(find_symbol("mpi_fortran_statuses_ignore_"));
    return status != 0 && (status == status_ignore || status == statuses_ignore);
  } else {
    return status == reinterpret_cast<Word>(MPI_STATUS_IGNORE) || status == reinterpret_cast<Word>(MPI_STATUSES_IGNORE);
  }
}

/// The status of a call, also if the program ignores it. Fortran statuses have the layout of C statuses in both MPI
/// libraries.
template <class L>
class StatusCapture {
 public:
  StatusCapture(bool counts, Word status) : status_(status) {
    if (counts && is_ignored<L>(status)) status_ = reinterpret_cast<Word>(&storage_);
  }
  StatusCapture(const StatusCapture&) = delete;
  StatusCapture& operator=(const StatusCapture&) = delete;
  Word status() const { return status_; }

 private:
  MPI_Status storage_[2]{};  // a Fortran status may be larger
  Word status_;
};

/// The request handles before a call that may complete requests and then overwrites their handles.
template <class L>
class RequestSnapshot {
 public:
  RequestSnapshot(bool counts, int count, Word requests, Word statuses) : statuses_(statuses) {
    if (!counts || count <= 0) return;
    const auto size = static_cast<std::size_t>(count);
    handles_ = size <= small_size ? small_ : static_cast<Word*>(std::malloc(size * sizeof(Word)));
    if (handles_ == nullptr) return;
    count_ = count;
    bool status_needed = false;
    for (int i = 0; i < count; ++i) {
      handles_[i] = L::request(requests, i);
      status_needed |= needs_status(handles_[i]);
    }
    if (!status_needed || !is_ignored<L>(statuses)) return;
    storage_ = std::calloc(size + 1, sizeof(MPI_Status));
    if (storage_ != nullptr) statuses_ = reinterpret_cast<Word>(storage_);
  }
  ~RequestSnapshot() {
    if (handles_ != small_) std::free(handles_);
    std::free(storage_);
  }
  RequestSnapshot(const RequestSnapshot&) = delete;
  RequestSnapshot& operator=(const RequestSnapshot&) = delete;
  Word statuses() const { return statuses_; }

  void all() const {
    for (int i = 0; i < count_; ++i) complete(i, i);
  }
  void all_if(Word flag) const {
    if (output_value(flag) != 0) all();
  }
  void any(Word index) const { complete(output_value(index) - first_index, 0); }
  void any_if(Word index, Word flag) const {
    if (output_value(flag) != 0) any(index);
  }
  void some(Word done, Word indices) const {
    for (int i = 0; i < output_value(done); ++i) complete(output_value(indices, i) - first_index, i);
  }

 private:
  static constexpr int first_index = std::is_base_of_v<Fortran, L> ? 1 : 0;
  static constexpr std::size_t small_size = 16;

  void complete(int at, int status) const {
    if (at < 0 || at >= count_) return;  // MPI_UNDEFINED
    const bool has_status = storage_ != nullptr || !is_ignored<L>(statuses_);
    trace_completed(handles_[at], has_status ? reinterpret_cast<const MPI_Status*>(statuses_) + status : nullptr);
  }

  Word small_[small_size];
  Word* handles_ = small_;
  int count_ = 0;
  Word statuses_;
  void* storage_ = nullptr;
};

/// One function per rule of trace_table.txt, for the arguments of a call in one language binding. With root
/// MPI_PROC_NULL (in the root's group of an intercommunicator) no other argument has a meaning.
template <class L>
struct TraceRules {
  static void send(Word count, Word datatype, Word dest, Word tag, Word comm) {
    trace_send(message(count, datatype, dest, tag, comm));
  }
  static void bsend(Word count, Word datatype, Word dest, Word tag, Word comm) {
    trace_buffered_send(message(count, datatype, dest, tag, comm));
  }
  static void recv(Word count, Word datatype, Word source, Word tag, Word comm, Word status) {
    trace_receive(message(count, datatype, source, tag, comm), reinterpret_cast<const MPI_Status*>(status));
  }
  static void sendrecv(Word count, Word datatype, Word dest, Word tag, Word recvcount, Word recvtype, Word source,
                       Word recvtag, Word comm, Word status) {
    trace_sendrecv(message(count, datatype, dest, tag, comm), message(recvcount, recvtype, source, recvtag, comm),
                   reinterpret_cast<const MPI_Status*>(status));
  }
  /// One request for both messages: the trace waits for the receive only.
  static void isendrecv(Word count, Word datatype, Word dest, Word tag, Word recvcount, Word recvtype, Word source,
                        Word recvtag, Word comm, Word request) {
    bsend(count, datatype, dest, tag, comm);
    irecv(recvcount, recvtype, source, recvtag, comm, request);
  }

  static void isend(Word count, Word datatype, Word dest, Word tag, Word comm, Word request) {
    trace_isend(message(count, datatype, dest, tag, comm), L::request(request), Use::once);
  }
  static void irecv(Word count, Word datatype, Word source, Word tag, Word comm, Word request) {
    trace_ireceive(message(count, datatype, source, tag, comm), L::request(request), Use::once);
  }
  static void send_init(Word count, Word datatype, Word dest, Word tag, Word comm, Word request) {
    trace_isend(message(count, datatype, dest, tag, comm), L::request(request), Use::persistent);
  }
  static void recv_init(Word count, Word datatype, Word source, Word tag, Word comm, Word request) {
    trace_ireceive(message(count, datatype, source, tag, comm), L::request(request), Use::persistent);
  }
  static void psend_init(Word partitions, Word count, Word datatype, Word dest, Word tag, Word comm, Word request) {
    trace_isend(partitioned(partitions, count, datatype, dest, tag, comm), L::request(request), Use::persistent);
  }
  static void precv_init(Word partitions, Word count, Word datatype, Word source, Word tag, Word comm, Word request) {
    trace_ireceive(partitioned(partitions, count, datatype, source, tag, comm), L::request(request), Use::persistent);
  }
  static void start(Word request) { trace_start(L::request(request)); }
  static void startall(Word count, Word requests) {
    for (int i = 0; i < L::number(count); ++i) trace_start(L::request(requests, i));
  }
  static void cancel(Word request) { trace_cancel(L::request(request)); }
  static void request_free(Word request_handle) { trace_request_free(request_handle); }

  static void mprobe(Word comm, Word message, Word status) {
    trace_matched_probe(L::comm(comm), message_handle(message), reinterpret_cast<const MPI_Status*>(status));
  }
  static void improbe(Word comm, Word flag, Word message, Word status) {
    if (output_value(flag) != 0) mprobe(comm, message, status);
  }
  static void mrecv(Word count, Word datatype, Word message) { trace_matched_receive(message, bytes(count, datatype)); }
  static void imrecv(Word count, Word datatype, Word message, Word request) {
    trace_matched_ireceive(message, bytes(count, datatype), L::request(request));
  }
  /// The handle of a matched message as a hash key; in Fortran, handles are integers.
  static Word message_handle(Word message) {
    if constexpr (std::is_base_of_v<Fortran, L>) {
      return static_cast<Word>(output_value(message));
    } else {
      return (Word) * reinterpret_cast<const MPI_Message*>(message);  // NOLINT
    }
  }

  static void barrier(Word comm) { trace_collective(L::comm(comm), CollectiveOp::barrier, 0, 0); }
  static void bcast(Word count, Word datatype, Word root, Word comm) {
    if (L::number(root) == MPI_PROC_NULL) return;
    trace_collective(L::comm(comm), CollectiveOp::bcast, L::number(root), bytes(count, datatype));
  }
  static void reduce(Word count, Word datatype, Word root, Word comm) {
    if (L::number(root) == MPI_PROC_NULL) return;
    trace_collective(L::comm(comm), CollectiveOp::reduce, L::number(root), bytes(count, datatype));
  }
  static void allreduce(Word count, Word datatype, Word comm) {
    trace_collective(L::comm(comm), CollectiveOp::allreduce, 0, bytes(count, datatype));
  }
  static void scan(Word count, Word datatype, Word comm) {
    trace_collective(L::comm(comm), CollectiveOp::scan, 0, bytes(count, datatype));
  }
  static void reduce_scatter_block(Word count, Word datatype, Word comm) {
    const int members = group_size(L::comm(comm));
    const ByteCounts received(members);
    for (int i = 0; received.get() != nullptr && i < members; ++i) received.get()[i] = bytes(count, datatype);
    trace_reduce_scatter(L::comm(comm), received.get());
  }
  static void reduce_scatter(Word counts, Word datatype, Word comm) {
    const int members = local_group_size(L::comm(comm));
    const ByteCounts received(members);
    read(received, members, counts, datatype);
    trace_reduce_scatter(L::comm(comm), received.get());
  }
  static void gather(Word sendcount, Word sendtype, Word recvcount, Word recvtype, Word root, Word comm) {
    if (L::number(root) == MPI_PROC_NULL) return;
    const bool receives = is_root(L::comm(comm), L::number(root));
    trace_collective(L::comm(comm), CollectiveOp::gather, L::number(root),
                     receives ? bytes(recvcount, recvtype) : bytes(sendcount, sendtype));
  }
  static void scatter(Word sendcount, Word sendtype, Word recvcount, Word recvtype, Word root, Word comm) {
    if (L::number(root) == MPI_PROC_NULL) return;
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
    const int members = group_size(L::comm(comm));
    const ByteCounts received(members);
    read(received, members, recvcounts, recvtype);
    trace_allgatherv(L::comm(comm), received.get());
  }
  static void gatherv(Word sendcount, Word sendtype, Word recvcounts, Word recvtype, Word root, Word comm) {
    if (L::number(root) == MPI_PROC_NULL) return;
    const bool receives = is_root(L::comm(comm), L::number(root));
    const int members = receives ? group_size(L::comm(comm)) : 0;
    const ByteCounts received(members);
    read(received, members, recvcounts, recvtype);
    trace_gatherv(L::comm(comm), L::number(root), receives ? 0 : bytes(sendcount, sendtype), received.get());
  }
  static void scatterv(Word sendcounts, Word sendtype, Word recvcount, Word recvtype, Word root, Word comm) {
    if (L::number(root) == MPI_PROC_NULL) return;
    const bool sends = is_root(L::comm(comm), L::number(root));
    const int members = sends ? group_size(L::comm(comm)) : 0;
    const ByteCounts sent(members);
    read(sent, members, sendcounts, sendtype);
    trace_scatterv(L::comm(comm), L::number(root), sends ? 0 : bytes(recvcount, recvtype), sent.get());
  }
  static void alltoallv(Word sendbuf, Word sendcounts, Word sendtype, Word recvcounts, Word recvtype, Word comm) {
    const bool in_place = L::is_in_place(sendbuf);
    const int members = group_size(L::comm(comm));
    const ByteCounts sent(members), received(members);
    read(received, members, recvcounts, recvtype);
    read(sent, members, in_place ? recvcounts : sendcounts, in_place ? recvtype : sendtype);
    trace_alltoallv(L::comm(comm), sent.get(), received.get());
  }
  static void alltoallw(Word sendbuf, Word sendcounts, Word sendtypes, Word recvcounts, Word recvtypes, Word comm) {
    const bool in_place = L::is_in_place(sendbuf);
    const int members = group_size(L::comm(comm));
    const ByteCounts sent(members), received(members);
    read_typed(received, members, recvcounts, recvtypes);
    read_typed(sent, members, in_place ? recvcounts : sendcounts, in_place ? recvtypes : sendtypes);
    trace_alltoallv(L::comm(comm), sent.get(), received.get());
  }
  static void neighbor_alltoall(Word count, Word datatype, Word comm) {
    const int members = neighbour_count(L::comm(comm));
    const ByteCounts sent(members);
    for (int i = 0; sent.get() != nullptr && i < members; ++i) sent.get()[i] = bytes(count, datatype);
    trace_neighbor_alltoallv(L::comm(comm), sent.get());
  }
  static void neighbor_alltoallv(Word counts, Word datatype, Word comm) {
    const int members = neighbour_count(L::comm(comm));
    const ByteCounts sent(members);
    read(sent, members, counts, datatype);
    trace_neighbor_alltoallv(L::comm(comm), sent.get());
  }
  static void neighbor_alltoallw(Word counts, Word datatypes, Word comm) {
    const int members = neighbour_count(L::comm(comm));
    const ByteCounts sent(members);
    read_typed(sent, members, counts, datatypes);
    trace_neighbor_alltoallv(L::comm(comm), sent.get());
  }
  static void one_sided() { trace_one_sided(); }

 private:
  static std::uint64_t bytes(Word count, Word datatype) { return bytes_of(L::count(count), L::datatype(datatype)); }
  static Message message(Word count, Word datatype, Word partner, Word tag, Word comm) {
    return {L::comm(comm), L::number(partner), L::number(tag), bytes(count, datatype)};
  }
  static Message partitioned(Word partitions, Word count, Word datatype, Word partner, Word tag, Word comm) {
    return {L::comm(comm), L::number(partner), L::number(tag),
            bytes_of(L::number(partitions) * L::large_count(count), L::datatype(datatype))};
  }
  static void read(const ByteCounts& amounts, int members, Word counts, Word datatype) {
    for (int i = 0; amounts.get() != nullptr && i < members; ++i)
      amounts.get()[i] = bytes_of(L::count(counts, i), L::datatype(datatype));
  }
  /// The datatype of an empty block may be invalid.
  static void read_typed(const ByteCounts& amounts, int members, Word counts, Word datatypes) {
    for (int i = 0; amounts.get() != nullptr && i < members; ++i) {
      const std::int64_t count = L::count(counts, i);
      amounts.get()[i] = count > 0 ? bytes_of(count, L::datatype(datatypes, i)) : 0;
    }
  }
};

}  // namespace rankloom::record
