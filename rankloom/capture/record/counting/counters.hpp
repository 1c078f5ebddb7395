// SPDX-License-Identifier: Apache-2.0
// capture/record/counting: the counters of a rank, kept in its RankRecord: traffic and collectives of the current
// phase, and time. Memory grows with the number of communication partners, not with the number of messages.
#pragma once

#include <bit>
#include <cstdint>

#include "rankloom/capture/record/counting/arena.hpp"
#include "rankloom/capture/record/rank_record.hpp"

namespace rankloom::record {

/// One event to be counted: a message, or a collective. A persistent request holds a list of them.
struct CountedEvent {
  enum class Category : std::uint8_t { traffic, collective, outside } category = Category::traffic;
  TrafficKind kind{};              // traffic
  std::uint32_t other = 0;         // traffic: the other rank; collective: its root
  std::uint32_t communicator = 0;  // collective
  std::uint32_t op = 0;            // collective
  std::uint64_t bytes = 0;
};

/// The arguments of a send that determine what is counted.
struct SendSignature {
  std::uintptr_t comm = 0, type = 0;
  int to = 0, count = 0;
};

class Counters {
 public:
  /// Begins a RankRecord in the file of the arena; its time starts now. Window 0: phases are levels of MPI_Pcontrol.
  bool open(std::uint64_t window_ns);

  void add_traffic(std::uint32_t other, TrafficKind kind, std::uint64_t bytes) {
    if (kind != TrafficKind::collective) ++arena_.head().sizes[std::bit_width(bytes)];
    flush();
    TrafficRecord* slot = latest_slot_ != 0 ? &arena_.at<TrafficRecord>(latest_slot_) : nullptr;
    if (slot == nullptr || slot->other != other || slot->kind != kind) {
      slot = find_traffic(other, kind);
      if (slot == nullptr) return;
    }
    slot->bytes += bytes;
    ++slot->messages;
  }

  /// Most sends repeat the previous one. Repetitions are counted without a hash table lookup.
  bool repeats_last_send(const SendSignature& message) const {
    const LastSendCache& last_send = arena_.head().last_send;
    // Bitwise, for one branch instead of four.
    return ((last_send.comm ^ message.comm) | (last_send.type ^ message.type) |
            static_cast<std::uint32_t>((last_send.to ^ message.to) | (last_send.count ^ message.count))) == 0;
  }
  void count_repeat() { ++arena_.head().last_send.messages; }
  /// The traffic added last belongs to this send. Repetitions of the send count as the same traffic.
  void remember_send(const SendSignature& message, std::uint64_t bytes) {
    if (latest_slot_ == 0) return;
    arena_.head().last_send = {message.comm, message.type, message.to, message.count, latest_slot_, bytes, 0};
  }

  /// Adds the counts of the LastSendCache to its TrafficRecord. Call before slots move or other slots are counted into.
  void flush() {
    if (arena_.head().last_send.slot != 0) flush_last_send();
  }

  void count(const CountedEvent& event) {
    switch (event.category) {
      case CountedEvent::Category::traffic:
        return add_traffic(event.other, event.kind, event.bytes);
      case CountedEvent::Category::collective:
        return add_collective(event);
      case CountedEvent::Category::outside:
        arena_.head().outside_bytes += event.bytes;
        ++arena_.head().outside_messages;
    }
  }

  /// The number of the communicator with these members (none: all ranks) and this name. 0: no memory.
  std::uint32_t number_communicator(const int* members, std::uint32_t count, const char* name);
  void rename_communicator(std::uint32_t number, const char* name);

  /// MPI_Pcontrol: the program enters the phase of this level.
  void set_level(int level, std::uint64_t now);
  /// The tick at which the current time window ends.
  std::uint64_t phase_end() const { return phase_end_; }
  void enter_window(std::uint64_t now);

  /// Adds the duration of a call that ends now.
  void add_time(std::uint64_t duration, std::uint64_t now) {
    RankRecord& record = arena_.head();
    record.ticks_in_mpi += duration;
    record.latest_tick = now;
    if ((++calls_ & 4095) == 0) [[unlikely]]
      read_clocks();
  }
  void read_clocks();
  void close(Ending ending);

  Arena& arena() { return arena_; }

 private:
  void flush_last_send();
  TrafficRecord* find_traffic(std::uint32_t other, TrafficKind kind);
  void add_collective(const CountedEvent& event);
  std::uint64_t write_communicator(const CommunicatorRecord& head, const int* members, const char* name);
  std::uint32_t* members_of(std::uint64_t communicator) {
    return &arena_.at<std::uint32_t>(communicator + sizeof(CommunicatorRecord));
  }
  char* name_of(std::uint64_t communicator) {
    const std::uint64_t members = arena_.at<CommunicatorRecord>(communicator).members;
    return &arena_.at<char>(communicator + sizeof(CommunicatorRecord) + members * sizeof(std::uint32_t));
  }
  PhaseRecord& phase() { return arena_.at<PhaseRecord>(phase_); }
  std::uint64_t find_phase(std::int64_t key, std::uint64_t now);
  void enter(std::uint64_t phase);
  void double_window_length();
  void merge_phase(const PhaseRecord& from, std::uint64_t to);

  Arena arena_;
  std::uint64_t phase_ = 0;        // offset of the current phase
  std::uint64_t latest_slot_ = 0;  // offset of the TrafficRecord that was counted into last
  std::uint64_t phase_end_ = UINT64_MAX;
  std::uint64_t window_ticks_ = 0;
  std::uint64_t calls_ = 0;
  std::uint32_t communicators_ = 0;
  int instruction_counter_ = -1;  // a file descriptor of perf_event_open
};

}  // namespace rankloom::record
