// SPDX-License-Identifier: Apache-2.0
// capture: a rank's image while the rank still counts into it.
#include "rankloom/capture/record/live_image.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rankloom/capture/record/clock.hpp"

namespace rankloom {

namespace {

using namespace record;

auto order(const LiveTotals::Call& call) {
  return std::tie(call.communicator, call.op, call.root, call.bytes_each);
}

/// Equal keys become one.
template <class Item, class Less, class Same, class Add>
void merge_equal(std::vector<Item>& items, const Less& less, const Same& same, const Add& add) {
  std::sort(items.begin(), items.end(), less);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (kept > 0 && same(items[kept - 1], items[i])) {
      add(items[kept - 1], items[i]);
    } else {
      items[kept++] = items[i];
    }
  }
  items.resize(kept);
}

}  // namespace

std::unique_ptr<LiveImage> LiveImage::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat found {};
  if (::fstat(file, &found) == 0 && static_cast<std::uint64_t>(found.st_size) >= sizeof(RankImage)) {
    const auto size = static_cast<std::uint64_t>(found.st_size);
    void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) {
      std::unique_ptr<LiveImage> image(new LiveImage(file, static_cast<const char*>(memory), size));
      const RankImage& head = image->head();
      const bool known = __atomic_load_n(&head.ranks, __ATOMIC_ACQUIRE) > 0;
      if (known && std::memcmp(head.magic, image_magic, sizeof image_magic) == 0 && head.version == image_version &&
          head.bytes_of_head == sizeof head && head.rank < head.ranks)
        return image;
      return nullptr;
    }
  }
  ::close(file);
  return nullptr;
}

LiveImage::~LiveImage() {
  ::munmap(const_cast<char*>(base_), size_);
  ::close(file_);
}

std::string_view LiveImage::host() const {
  return {head().host, ::strnlen(head().host, sizeof head().host)};
}

bool LiveImage::ended() const {
  return __atomic_load_n(reinterpret_cast<const std::uint32_t*>(&head().ending), __ATOMIC_RELAXED) != 0;
}

/// The file never becomes shorter, so nothing that is mapped goes away.
bool LiveImage::follow_growth() {
  if (__atomic_load_n(&head().used, __ATOMIC_ACQUIRE) <= size_) return true;
  struct stat found {};
  if (::fstat(file_, &found) != 0 || static_cast<std::uint64_t>(found.st_size) <= size_) return false;
  const auto size = static_cast<std::uint64_t>(found.st_size);
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) return false;
  ::munmap(const_cast<char*>(base_), size_);
  base_ = static_cast<const char*>(memory);
  size_ = size;
  return true;
}

template <class T>
bool LiveImage::copy(std::uint64_t place, T& value) const {
  if (place == 0 || place > size_ || size_ - place < sizeof(T)) return false;
  std::memcpy(&value, base_ + place, sizeof value);
  return true;
}

bool LiveImage::read(LiveTotals& totals) {
  constexpr int tries = 4;
  for (int i = 0; i < tries; ++i) {
    if (follow_growth() && read_once(totals)) return true;
  }
  return false;
}

bool LiveImage::read_once(LiveTotals& totals) const {
  totals.pairs.clear();
  totals.calls.clear();
  const AgainImage again = head().again;
  std::uint64_t most = size_ / sizeof(PhaseImage);
  for (std::uint64_t at = head().phases; at != 0; --most) {
    PhaseImage phase;
    if (most == 0 || !copy(at, phase)) return false;
    for (std::uint32_t i = 0; i < phase.traffic.capacity; ++i) {
      TrafficImage slot;
      const std::uint64_t place = phase.traffic.slots + i * sizeof slot;
      if (!copy(place, slot)) return false;
      if (place == again.slot) {
        slot.bytes += again.bytes * again.messages;
        slot.messages += again.messages;
      }
      if (slot.messages == 0) continue;
      if (slot.other >= head().ranks || slot.kind > TrafficKind::collective) return false;
      totals.pairs.push_back({static_cast<std::uint64_t>(slot.kind) << 32 | slot.other, slot.bytes, slot.messages});
    }
    for (std::uint32_t i = 0; i < phase.collectives.capacity; ++i) {
      CollectiveImage slot;
      if (!copy(phase.collectives.slots + i * sizeof slot, slot)) return false;
      if (slot.count == 0) continue;
      if (slot.op > static_cast<std::uint32_t>(CollectiveOp::scan)) return false;
      totals.calls.push_back({slot.communicator, slot.op, slot.root, slot.bytes_each, slot.bytes, slot.count});
    }
    // Tables that were moved in the meantime were read where they are no more.
    PhaseImage now;
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
  // The rank reads both clocks seldom; on its host they are ours as well.
  const std::uint64_t passed_ticks = ticks() - head().first_tick;
  const std::uint64_t passed_ns = nanoseconds(CLOCK_MONOTONIC) - head().first_ns;
  if (passed_ticks > 0) {
    totals.seconds_in_mpi = static_cast<double>(head().ticks_in_mpi) * static_cast<double>(passed_ns) /
                            static_cast<double>(passed_ticks) / 1e9;
  }
  return true;
}

std::vector<Rank> LiveImage::members(std::uint32_t communicator) const {
  std::vector<Rank> members;
  std::uint64_t most = size_ / sizeof(CommunicatorImage);
  CommunicatorImage one;
  for (std::uint64_t at = head().communicators; at != 0 && most-- > 0 && copy(at, one); at = one.next) {
    if (one.number != communicator) continue;
    for (std::uint32_t i = 0; i < one.members; ++i) {
      std::uint32_t member = 0;
      if (!copy(at + sizeof one + i * sizeof member, member) || member >= head().ranks) return {};
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
