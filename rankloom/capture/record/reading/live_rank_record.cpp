// SPDX-License-Identifier: Apache-2.0
// capture/record/reading: reads the RankRecord of a running rank.
#include "rankloom/capture/record/reading/live_rank_record.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rankloom/capture/record/counting/clock.hpp"

namespace rankloom {

namespace {

using namespace record;

auto order(const LiveTotals::Call& call) {
  return std::tie(call.communicator, call.op, call.root, call.bytes_each);
}

/// Sorts the items and merges those with equal keys.
template <class Item, class Less, class Same, class Add>
void merge_equal(std::vector<Item>& items, const Less& less, const Same& same, const Add& add) {
  std::sort(items.begin(), items.end(), less);
  std::size_t merged = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (merged > 0 && same(items[merged - 1], items[i])) {
      add(items[merged - 1], items[i]);
    } else {
      items[merged++] = items[i];
    }
  }
  items.resize(merged);
}

}  // namespace

std::unique_ptr<LiveRankRecord> LiveRankRecord::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat status {};
  if (::fstat(file, &status) == 0 && static_cast<std::uint64_t>(status.st_size) >= sizeof(RankRecord)) {
    const auto size = static_cast<std::uint64_t>(status.st_size);
    void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) {
      std::unique_ptr<LiveRankRecord> record(new LiveRankRecord(file, static_cast<const char*>(memory), size));
      const RankRecord& head = record->head();
      const bool is_described = __atomic_load_n(&head.ranks, __ATOMIC_ACQUIRE) > 0;
      if (is_described && std::memcmp(head.magic, rank_record_magic, sizeof rank_record_magic) == 0 &&
          head.version == rank_record_version && head.bytes_of_head == sizeof head && head.rank < head.ranks)
        return record;
      return nullptr;
    }
  }
  ::close(file);
  return nullptr;
}

LiveRankRecord::~LiveRankRecord() {
  ::munmap(const_cast<char*>(base_), size_);
  ::close(file_);
}

std::string_view LiveRankRecord::host() const {
  return {head().host, ::strnlen(head().host, sizeof head().host)};
}

bool LiveRankRecord::is_same_job(const LiveRankRecord& other) const {
  const RankRecord &a = head(), &b = other.head();
  return a.ranks == b.ranks && a.repeat == b.repeat && std::memcmp(a.job, b.job, sizeof a.job) == 0;
}

bool LiveRankRecord::ended() const {
  return __atomic_load_n(reinterpret_cast<const std::uint32_t*>(&head().ending), __ATOMIC_RELAXED) != 0;
}

/// The file never shrinks, so mapped pages stay valid.
bool LiveRankRecord::follow_growth() {
  if (__atomic_load_n(&head().used, __ATOMIC_ACQUIRE) <= size_) return true;
  struct stat status {};
  if (::fstat(file_, &status) != 0 || static_cast<std::uint64_t>(status.st_size) <= size_) return false;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) return false;
  ::munmap(const_cast<char*>(base_), size_);
  base_ = static_cast<const char*>(memory);
  size_ = size;
  return true;
}

template <class T>
bool LiveRankRecord::copy(std::uint64_t offset, T& value) const {
  if (offset == 0 || offset > size_ || size_ - offset < sizeof(T)) return false;
  std::memcpy(&value, base_ + offset, sizeof value);
  return true;
}

bool LiveRankRecord::read(LiveTotals& totals) {
  constexpr int attempts = 4;
  for (int i = 0; i < attempts; ++i) {
    if (follow_growth() && read_once(totals)) return true;
  }
  return false;
}

bool LiveRankRecord::read_once(LiveTotals& totals) const {
  totals.pairs.clear();
  totals.calls.clear();
  const LastSendCache last_send = head().last_send;
  std::uint64_t left = size_ / sizeof(PhaseRecord);  // bounds a walk along a broken list
  std::uint64_t unclaimed = size_;                   // tables do not overlap, except in a broken list
  const auto claim = [&](std::uint64_t bytes) {
    const bool fits = bytes <= unclaimed;
    unclaimed -= fits ? bytes : 0;
    return fits;
  };
  for (std::uint64_t at = head().phases; at != 0; --left) {
    PhaseRecord phase;
    if (left == 0 || !copy(at, phase)) return false;
    if (!claim(phase.traffic.capacity * sizeof(TrafficRecord)) ||
        !claim(phase.collectives.capacity * sizeof(CollectiveRecord)))
      return false;
    for (std::uint32_t i = 0; i < phase.traffic.capacity; ++i) {
      TrafficRecord slot;
      const std::uint64_t offset = phase.traffic.slots + i * sizeof slot;
      if (!copy(offset, slot)) return false;
      if (offset == last_send.slot) {
        slot.bytes += last_send.bytes * last_send.messages;
        slot.messages += last_send.messages;
      }
      if (slot.messages == 0) continue;
      if (slot.other >= head().ranks || slot.kind > TrafficKind::collective) return false;
      totals.pairs.push_back({static_cast<std::uint64_t>(slot.kind) << 32 | slot.other, slot.bytes, slot.messages});
    }
    for (std::uint32_t i = 0; i < phase.collectives.capacity; ++i) {
      CollectiveRecord slot;
      if (!copy(phase.collectives.slots + i * sizeof slot, slot)) return false;
      if (slot.count == 0) continue;
      if (slot.op > static_cast<std::uint32_t>(CollectiveOp::scan)) return false;
      totals.calls.push_back({slot.communicator, slot.op, slot.root, slot.bytes_each, slot.bytes, slot.count});
    }
    // A table that moved during the reading was read at its old offset.
    PhaseRecord now;
    if (!copy(at, now) || now.traffic.slots != phase.traffic.slots || now.collectives.slots != phase.collectives.slots)
      return false;
    at = now.next;
  }
  merge_equal(
      totals.pairs, [](const auto& a, const auto& b) { return a.key < b.key; },
      [](const auto& a, const auto& b) { return a.key == b.key; },
      [](auto& to, const auto& from) {
        to.bytes += from.bytes;
        to.messages += from.messages;
      });
  merge_equal(
      totals.calls, [](const auto& a, const auto& b) { return order(a) < order(b); },
      [](const auto& a, const auto& b) { return a.same_call(b); },
      [](auto& to, const auto& from) {
        to.bytes += from.bytes;
        to.count += from.count;
      });
  // The rank rarely reads both clocks; the reader runs on the same host and reads them itself.
  const std::uint64_t passed_ticks = ticks() - head().first_tick;
  const std::uint64_t passed_ns = nanoseconds(CLOCK_MONOTONIC) - head().first_ns;
  if (passed_ticks > 0) {
    totals.seconds_in_mpi = static_cast<double>(head().ticks_in_mpi) * static_cast<double>(passed_ns) /
                            static_cast<double>(passed_ticks) / 1e9;
  }
  return true;
}

std::vector<Rank> LiveRankRecord::members(std::uint32_t communicator) const {
  std::vector<Rank> members;
  std::uint64_t left = size_ / sizeof(CommunicatorRecord);
  CommunicatorRecord record;
  for (std::uint64_t at = head().communicators; at != 0 && left-- > 0 && copy(at, record); at = record.next) {
    if (record.number != communicator) continue;
    for (std::uint32_t i = 0; i < record.members; ++i) {
      std::uint32_t member = 0;
      if (!copy(at + sizeof record + i * sizeof member, member) || member >= head().ranks) return {};
      members.push_back(Rank{member});
    }
    break;
  }
  return members;
}

LiveTotals difference(const LiveTotals& before, LiveTotals& latest) {
  LiveTotals result;
  auto old = before.pairs.begin();
  for (LiveTotals::Pair& pair : latest.pairs) {
    while (old != before.pairs.end() && old->key < pair.key) ++old;
    LiveTotals::Pair change = pair;
    if (old != before.pairs.end() && old->key == pair.key) {
      pair.bytes = std::max(pair.bytes, old->bytes);
      pair.messages = std::max(pair.messages, old->messages);
      change.bytes = pair.bytes - old->bytes;
      change.messages = pair.messages - old->messages;
    }
    if (change.messages > 0) result.pairs.push_back(change);
  }
  auto known = before.calls.begin();
  for (LiveTotals::Call& call : latest.calls) {
    while (known != before.calls.end() && order(*known) < order(call)) ++known;
    LiveTotals::Call change = call;
    if (known != before.calls.end() && known->same_call(call)) {
      call.bytes = std::max(call.bytes, known->bytes);
      call.count = std::max(call.count, known->count);
      change.bytes = call.bytes - known->bytes;
      change.count = call.count - known->count;
    }
    if (change.count > 0) result.calls.push_back(change);
  }
  result.seconds_in_mpi = std::max(0.0, latest.seconds_in_mpi - before.seconds_in_mpi);
  return result;
}

}  // namespace rankloom
