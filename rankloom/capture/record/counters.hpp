// SPDX-License-Identifier: Apache-2.0
// capture/record: what a rank counts, straight into its image: traffic and collectives of the phase it is in, time.
// Memory grows with whom it talks to and not with how often.
#pragma once

#include <bit>
#include <cstdint>

#include "rankloom/capture/record/arena.hpp"
#include "rankloom/capture/record/image.hpp"

namespace rankloom::record {

/// One thing to be counted: traffic with another rank, or a collective. Persistent requests keep such lists.
struct Item {
  enum class What : std::uint8_t { traffic, collective, outside } what = What::traffic;
  TrafficKind kind{};              // traffic
  std::uint32_t other = 0;         // traffic: the other rank; collective: its root
  std::uint32_t communicator = 0;  // collective
  std::uint32_t op = 0;            // collective
  std::uint64_t bytes = 0;
};

/// What tells messages of the program apart, as far as counting goes.
struct Sending {
  std::uintptr_t comm = 0, type = 0;
  int to = 0, count = 0;
};

class Counters {
 public:
  /// An image in this file, its time beginning now. A window of 0: phases are levels of MPI_Pcontrol.
  bool open(const char* path, std::uint64_t window_ns);

  void add_traffic(std::uint32_t other, TrafficKind kind, std::uint64_t bytes) {
    if (kind != TrafficKind::collective) ++arena_.head().sizes[std::bit_width(bytes)];
    settle();
    TrafficImage* slot = latest_ != 0 ? &arena_.at<TrafficImage>(latest_) : nullptr;
    if (slot == nullptr || slot->other != other || slot->kind != kind) {
      slot = find_traffic(other, kind);
      if (slot == nullptr) return;
    }
    slot->bytes += bytes;
    ++slot->messages;
  }

  /// Most messages are like the one before them. Those are counted without being looked up.
  bool is_again(const Sending& message) const {
    const AgainImage& again = arena_.head().again;
    // Bit by bit, for one branch instead of four.
    return ((again.comm ^ message.comm) | (again.type ^ message.type) |
            static_cast<std::uint32_t>((again.to ^ message.to) | (again.count ^ message.count))) == 0;
  }
  void add_again() { ++arena_.head().again.messages; }
  /// The traffic that was added last was this message, and will be whenever it is sent again.
  void expect(const Sending& message, std::uint64_t bytes) {
    if (latest_ == 0) return;
    arena_.head().again = {message.comm, message.type, message.to, message.count, latest_, bytes, 0};
  }

  /// What was counted again goes where it belongs. Before anything that may move slots, or count into others.
  void settle() {
    if (arena_.head().again.slot != 0) settle_again();
  }

  void count(const Item& item) {
    switch (item.what) {
      case Item::What::traffic:
        return add_traffic(item.other, item.kind, item.bytes);
      case Item::What::collective:
        return add_collective(item);
      case Item::What::outside:
        arena_.head().outside_bytes += item.bytes;
        ++arena_.head().outside_messages;
    }
  }

  /// The number of a communicator with these members (none: all ranks) and this name. 0: there is no memory for it.
  std::uint32_t number_communicator(const int* members, std::uint32_t count, const char* name);
  void rename_communicator(std::uint32_t number, const char* name);

  /// The program is at another level from now on.
  void set_level(int level, std::uint64_t now);
  /// The tick at which the phase is over.
  std::uint64_t phase_ends() const { return phase_ends_; }
  void next_window(std::uint64_t now);

  /// So long in MPI until now.
  void spend(std::uint64_t duration, std::uint64_t now) {
    RankImage& image = arena_.head();
    image.ticks_in_mpi += duration;
    image.latest_tick = now;
    if ((++calls_ & 4095) == 0) [[unlikely]]
      read_clocks();
  }
  void read_clocks();
  void close(Ending ending);

  Arena& arena() { return arena_; }

 private:
  void settle_again();
  TrafficImage* find_traffic(std::uint32_t other, TrafficKind kind);
  void add_collective(const Item& item);
  std::uint64_t write_communicator(const CommunicatorImage& head, const int* members, const char* name);
  std::uint32_t* members_of(std::uint64_t communicator) {
    return &arena_.at<std::uint32_t>(communicator + sizeof(CommunicatorImage));
  }
  char* name_of(std::uint64_t communicator) {
    const std::uint64_t members = arena_.at<CommunicatorImage>(communicator).members;
    return &arena_.at<char>(communicator + sizeof(CommunicatorImage) + members * sizeof(std::uint32_t));
  }
  PhaseImage& phase() { return arena_.at<PhaseImage>(phase_); }
  std::uint64_t find_phase(std::int64_t key, std::uint64_t now);
  void enter(std::uint64_t phase);
  void double_windows();
  void add_phase(const PhaseImage& from, std::uint64_t to);

  Arena arena_;
  std::uint64_t phase_ = 0;   // the one that is counted into
  std::uint64_t latest_ = 0;  // its slot that was counted into last
  std::uint64_t phase_ends_ = UINT64_MAX;
  std::uint64_t window_ticks_ = 0;
  std::uint64_t calls_ = 0;
  std::uint32_t communicators_ = 0;
  int instructions_ = -1;  // descriptor of the counter
};

}  // namespace rankloom::record
