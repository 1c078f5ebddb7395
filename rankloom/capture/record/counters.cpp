// SPDX-License-Identifier: Apache-2.0
// capture/record: what a rank counts.
#include "rankloom/capture/record/counters.hpp"

#include <cstring>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rankloom/capture/record/clock.hpp"

namespace rankloom::record {

namespace {

constexpr std::uint32_t most_windows = 256;  // then two become one
constexpr std::uint32_t most_phases = 1024;  // further levels count as the one before them
constexpr std::uint32_t most_sizes = 1024;   // of collectives in a phase; then sizes are rounded down to powers of two
constexpr std::int64_t first_level = 1;      // MPI_Pcontrol's own default

std::uint64_t mix(std::uint64_t value) {
  value *= 0x9e37'79b9'7f4a'7c15;
  return value ^ value >> 29;
}

std::uint64_t hash(const TrafficImage& slot) {
  return mix(std::uint64_t{slot.other} << 2 | static_cast<std::uint64_t>(slot.kind));
}
bool is_same(const TrafficImage& a, const TrafficImage& b) {
  return a.other == b.other && a.kind == b.kind;
}
bool is_free(const TrafficImage& slot) {
  return slot.messages == 0;
}
void add(TrafficImage& to, const TrafficImage& from) {
  to.bytes += from.bytes;
  to.messages += from.messages;
}

std::uint64_t hash(const CollectiveImage& slot) {
  return mix(mix(std::uint64_t{slot.communicator} << 32 | slot.root) + slot.op) + mix(slot.bytes_each);
}
bool is_same(const CollectiveImage& a, const CollectiveImage& b) {
  return a.communicator == b.communicator && a.op == b.op && a.root == b.root && a.bytes_each == b.bytes_each;
}
bool is_free(const CollectiveImage& slot) {
  return slot.count == 0;
}
void add(CollectiveImage& to, const CollectiveImage& from) {
  to.bytes += from.bytes;
  to.count += from.count;
}

/// The slot of this key, or the free one where it belongs.
template <class Slot>
Slot& probe(Slot* slots, std::uint32_t capacity, const Slot& key) {
  std::uint64_t at = mix(hash(key)) & (capacity - 1);
  while (!is_free(slots[at]) && !is_same(slots[at], key)) at = (at + 1) & (capacity - 1);
  return slots[at];
}

/// Adds to the slot with the key of `one`; the table is inside the image at `table`, which may move. The place of the
/// slot; 0: there is no memory.
template <class Slot>
std::uint64_t add_to(Arena& arena, std::uint64_t table, const Slot& one) {
  if (arena.at<TableImage>(table).used * 2 >= arena.at<TableImage>(table).capacity) {
    const TableImage old = arena.at<TableImage>(table);
    const std::uint32_t capacity = old.capacity == 0 ? 8 : old.capacity * 2;
    const std::uint64_t slots = arena.allocate(capacity * sizeof(Slot));
    if (slots == 0) return 0;
    for (std::uint32_t i = 0; i < old.capacity; ++i) {
      const Slot& slot = (&arena.at<Slot>(old.slots))[i];
      if (!is_free(slot)) probe(&arena.at<Slot>(slots), capacity, slot) = slot;
    }
    arena.at<TableImage>(table) = {slots, capacity, old.used};
    arena.release(old.slots, old.capacity * sizeof(Slot));
  }
  TableImage& now = arena.at<TableImage>(table);
  Slot& slot = probe(&arena.at<Slot>(now.slots), now.capacity, one);
  if (is_free(slot)) {
    ++now.used;
    slot = one;
  } else {
    add(slot, one);
  }
  return now.slots + static_cast<std::uint64_t>(&slot - &arena.at<Slot>(now.slots)) * sizeof(Slot);
}

std::uint64_t traffic_of(std::uint64_t phase) {
  return phase + offsetof(PhaseImage, traffic);
}
std::uint64_t collectives_of(std::uint64_t phase) {
  return phase + offsetof(PhaseImage, collectives);
}

int open_instruction_counter() {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.config = PERF_COUNT_HW_INSTRUCTIONS;
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  wanted.inherit = 1;
  const long low = ::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (low < 0) return -1;
  constexpr int lowest = 300;
  const int high = ::fcntl(static_cast<int>(low), F_DUPFD_CLOEXEC, lowest);
  ::close(static_cast<int>(low));
  return high;
}

/// Programs that close all descriptors and open their own must not find us reading from those.
bool is_counter(int descriptor) {
  constexpr char name[] = "anon_inode:[perf_event]";
  char path[32] = "/proc/self/fd/", target[32];
  char digits[12];
  int count = 0;
  for (int rest = descriptor; rest > 0; rest /= 10) digits[count++] = static_cast<char>('0' + rest % 10);
  for (std::size_t end = std::strlen(path); count > 0; path[end] = '\0') path[end++] = digits[--count];
  const ssize_t length = ::readlink(path, target, sizeof target);
  return length == sizeof name - 1 && std::memcmp(target, name, sizeof name - 1) == 0;
}

}  // namespace

bool Counters::open(const char* path, std::uint64_t window_ns) {
  if (!arena_.open(path)) return false;
  RankImage& image = arena_.head();
  image.window_ns = window_ns;
  image.first_tick = image.last_tick = image.latest_tick = ticks();
  image.first_ns = image.last_ns = nanoseconds(CLOCK_MONOTONIC);
  instructions_ = open_instruction_counter();
  if (window_ns > 0) {
    window_ticks_ = static_cast<std::uint64_t>(static_cast<double>(window_ns) * ticks_per_nanosecond());
    if (window_ticks_ == 0) window_ticks_ = 1;
    phase_ends_ = image.first_tick + window_ticks_;
  }
  enter(find_phase(window_ns > 0 ? 0 : first_level, arena_.head().first_tick));
  return phase_ != 0;
}

TrafficImage* Counters::find_traffic(std::uint32_t other, TrafficKind kind) {
  // A slot that is in use has messages; this one gets its first from the caller.
  latest_ = add_to(arena_, traffic_of(phase_), TrafficImage{other, kind, 0, 1});
  if (latest_ == 0) return nullptr;
  TrafficImage& slot = arena_.at<TrafficImage>(latest_);
  --slot.messages;
  return &slot;
}

void Counters::settle_again() {
  const AgainImage again = arena_.head().again;
  arena_.head().again = {};
  auto& slot = arena_.at<TrafficImage>(again.slot);
  slot.bytes += again.bytes * again.messages;
  slot.messages += again.messages;
  arena_.head().sizes[std::bit_width(again.bytes)] += again.messages;
}

void Counters::add_collective(const Item& item) {
  const bool round = phase().collectives.used >= most_sizes && item.bytes > 0;
  CollectiveImage one;
  one.communicator = item.communicator;
  one.op = item.op;
  one.root = item.other;
  one.bytes_each = round ? std::bit_floor(item.bytes) : item.bytes;
  one.bytes = item.bytes;
  one.count = 1;
  add_to(arena_, collectives_of(phase_), one);
}

std::uint64_t Counters::write_communicator(const CommunicatorImage& head, const int* members, const char* name) {
  const std::uint64_t place = arena_.allocate(sizeof head + head.members * sizeof(std::uint32_t) + head.name_length);
  if (place == 0) return 0;
  arena_.at<CommunicatorImage>(place) = head;
  if (members != nullptr) std::memcpy(members_of(place), members, head.members * sizeof(std::uint32_t));
  std::memcpy(name_of(place), name, head.name_length);
  return place;
}

std::uint32_t Counters::number_communicator(const int* members, std::uint32_t count, const char* name) {
  const auto length = static_cast<std::uint32_t>(std::strlen(name));
  std::uint64_t hash = mix(count + 1);
  for (std::uint32_t i = 0; i < count; ++i) hash = mix(hash + static_cast<std::uint64_t>(members[i]));
  for (std::uint64_t at = arena_.head().communicators; at != 0; at = arena_.at<CommunicatorImage>(at).next) {
    const CommunicatorImage& known = arena_.at<CommunicatorImage>(at);
    if (known.hash == hash && known.members == count && known.name_length == length &&
        (count == 0 || std::memcmp(members_of(at), members, count * sizeof(std::uint32_t)) == 0) &&
        std::memcmp(name_of(at), name, length) == 0) {
      return known.number;
    }
  }
  const std::uint64_t place =
      write_communicator({arena_.head().communicators, communicators_ + 1, count, length, 0, hash}, members, name);
  if (place == 0) return 0;
  arena_.head().communicators = place;
  return ++communicators_;
}

void Counters::rename_communicator(std::uint32_t number, const char* name) {
  std::uint64_t before = 0, old = arena_.head().communicators;
  while (old != 0 && arena_.at<CommunicatorImage>(old).number != number) {
    before = old;
    old = arena_.at<CommunicatorImage>(old).next;
  }
  if (old == 0) return;
  CommunicatorImage head = arena_.at<CommunicatorImage>(old);
  const std::uint64_t bytes = sizeof head + head.members * sizeof(std::uint32_t) + head.name_length;
  head.name_length = static_cast<std::uint32_t>(std::strlen(name));
  const std::uint64_t place = write_communicator(head, nullptr, name);
  if (place == 0) return;
  std::memcpy(members_of(place), members_of(old), head.members * sizeof(std::uint32_t));
  (before == 0 ? arena_.head().communicators : arena_.at<CommunicatorImage>(before).next) = place;
  arena_.release(old, bytes);
}

std::uint64_t Counters::find_phase(std::int64_t key, std::uint64_t now) {
  std::uint64_t last = 0;
  std::uint32_t count = 0;
  for (std::uint64_t at = arena_.head().phases; at != 0; at = arena_.at<PhaseImage>(at).next) {
    if (arena_.at<PhaseImage>(at).key == key) return at;
    last = at;
    ++count;
  }
  if (count > most_phases) return 0;
  const std::uint64_t place = arena_.allocate(sizeof(PhaseImage));
  if (place == 0) return 0;
  PhaseImage& fresh = arena_.at<PhaseImage>(place);
  fresh.key = key;
  fresh.begin = fresh.end = now;
  (last == 0 ? arena_.head().phases : arena_.at<PhaseImage>(last).next) = place;
  return place;
}

void Counters::enter(std::uint64_t phase) {
  if (phase == 0) return;  // no memory, or too many: go on counting into the one before
  phase_ = phase;
  latest_ = 0;
}

void Counters::set_level(int level, std::uint64_t now) {
  settle();
  if (arena_.head().window_ns != 0) return;
  phase().end = now;
  enter(find_phase(level, now));
}

void Counters::next_window(std::uint64_t now) {
  settle();
  phase().end = phase_ends_;
  std::uint64_t number = (now - arena_.head().first_tick) / window_ticks_;
  while (number >= most_windows) {
    double_windows();
    number = (now - arena_.head().first_tick) / window_ticks_;
  }
  enter(find_phase(static_cast<std::int64_t>(number), arena_.head().first_tick + number * window_ticks_));
  phase_ends_ = arena_.head().first_tick + (number + 1) * window_ticks_;
}

/// Windows 2k and 2k+1 become window k of twice the length.
void Counters::double_windows() {
  const std::uint64_t old = arena_.head().phases;
  arena_.head().phases = 0;
  for (std::uint64_t at = old, next = 0; at != 0; at = next) {
    const PhaseImage from = arena_.at<PhaseImage>(at);
    next = from.next;
    add_phase(from, find_phase(from.key / 2, from.begin));
    arena_.release(from.traffic.slots, from.traffic.capacity * sizeof(TrafficImage));
    arena_.release(from.collectives.slots, from.collectives.capacity * sizeof(CollectiveImage));
    arena_.release(at, sizeof(PhaseImage));
  }
  arena_.head().window_ns *= 2;
  window_ticks_ *= 2;
}

void Counters::add_phase(const PhaseImage& from, std::uint64_t to) {
  if (to == 0) return;
  arena_.at<PhaseImage>(to).end = from.end;
  for (std::uint32_t i = 0; i < from.traffic.capacity; ++i) {
    const TrafficImage slot = (&arena_.at<TrafficImage>(from.traffic.slots))[i];
    if (!is_free(slot)) add_to(arena_, traffic_of(to), slot);
  }
  for (std::uint32_t i = 0; i < from.collectives.capacity; ++i) {
    const CollectiveImage slot = (&arena_.at<CollectiveImage>(from.collectives.slots))[i];
    if (!is_free(slot)) add_to(arena_, collectives_of(to), slot);
  }
}

void Counters::read_clocks() {
  RankImage& image = arena_.head();
  image.last_tick = ticks();
  image.last_ns = nanoseconds(CLOCK_MONOTONIC);
  image.cpu_ns = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
}

void Counters::close(Ending ending) {
  settle();
  read_clocks();
  RankImage& image = arena_.head();
  if (image.ending == Ending::none) image.ending = ending;
  phase().end = image.last_tick;
  std::uint64_t count = 0;
  if (instructions_ >= 0 && is_counter(instructions_) && ::read(instructions_, &count, sizeof count) == sizeof count) {
    image.instructions = count;
    image.has_instructions = 1;
  }
}

}  // namespace rankloom::record
