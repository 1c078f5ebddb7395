// SPDX-License-Identifier: Apache-2.0
// capture/record/counting: the counters of a rank.
#include "rankloom/capture/record/counting/counters.hpp"

#include <cstring>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rankloom/capture/record/counting/clock.hpp"

namespace rankloom::record {

namespace {

constexpr std::uint32_t max_windows = 256;  // beyond this, two windows are merged into one
constexpr std::uint32_t max_phases = 1024;  // traffic of further levels counts for the current phase
constexpr std::uint32_t max_sizes = 1024;   // of collectives in a phase; further sizes become powers of two
constexpr std::int64_t first_level = 1;     // the default level of MPI_Pcontrol

std::uint64_t mix(std::uint64_t value) {
  value *= 0x9e37'79b9'7f4a'7c15;
  return value ^ value >> 29;
}

std::uint64_t hash(const TrafficRecord& slot) {
  return mix(std::uint64_t{slot.other} << 2 | static_cast<std::uint64_t>(slot.kind));
}
bool is_same(const TrafficRecord& a, const TrafficRecord& b) {
  return a.other == b.other && a.kind == b.kind;
}
bool is_free(const TrafficRecord& slot) {
  return slot.messages == 0;
}
void add(TrafficRecord& to, const TrafficRecord& from) {
  to.bytes += from.bytes;
  to.messages += from.messages;
}

std::uint64_t hash(const CollectiveRecord& slot) {
  return mix(mix(std::uint64_t{slot.communicator} << 32 | slot.root) + slot.op) + mix(slot.bytes_each);
}
bool is_same(const CollectiveRecord& a, const CollectiveRecord& b) {
  return a.communicator == b.communicator && a.op == b.op && a.root == b.root && a.bytes_each == b.bytes_each;
}
bool is_free(const CollectiveRecord& slot) {
  return slot.count == 0;
}
void add(CollectiveRecord& to, const CollectiveRecord& from) {
  to.bytes += from.bytes;
  to.count += from.count;
}

/// The slot with this key, or the free slot in which the key belongs.
template <class Slot>
Slot& probe(Slot* slots, std::uint32_t capacity, const Slot& key) {
  std::uint64_t at = mix(hash(key)) & (capacity - 1);
  while (!is_free(slots[at]) && !is_same(slots[at], key)) at = (at + 1) & (capacity - 1);
  return slots[at];
}

/// Adds `value` to the slot with its key, in the hash table at offset `table`. The record may move. Returns the offset
/// of the slot; 0: no memory.
template <class Slot>
std::uint64_t add_to(Arena& arena, std::uint64_t table, const Slot& value) {
  if (arena.at<HashTableRecord>(table).used * 2 >= arena.at<HashTableRecord>(table).capacity) {
    const HashTableRecord old = arena.at<HashTableRecord>(table);
    const std::uint32_t capacity = old.capacity == 0 ? 8 : old.capacity * 2;
    const std::uint64_t slots = arena.allocate(capacity * sizeof(Slot));
    if (slots == 0) return 0;
    for (std::uint32_t i = 0; i < old.capacity; ++i) {
      const Slot& slot = (&arena.at<Slot>(old.slots))[i];
      if (!is_free(slot)) probe(&arena.at<Slot>(slots), capacity, slot) = slot;
    }
    arena.at<HashTableRecord>(table) = {slots, capacity, old.used};
    arena.release(old.slots, old.capacity * sizeof(Slot));
  }
  HashTableRecord& now = arena.at<HashTableRecord>(table);
  Slot& slot = probe(&arena.at<Slot>(now.slots), now.capacity, value);
  if (is_free(slot)) {
    ++now.used;
    slot = value;
  } else {
    add(slot, value);
  }
  return now.slots + static_cast<std::uint64_t>(&slot - &arena.at<Slot>(now.slots)) * sizeof(Slot);
}

std::uint64_t traffic_of(std::uint64_t phase) {
  return phase + offsetof(PhaseRecord, traffic);
}
std::uint64_t collectives_of(std::uint64_t phase) {
  return phase + offsetof(PhaseRecord, collectives);
}

int open_instruction_counter() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.inherit = 1;
  const long low = ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (low < 0) return -1;
  constexpr int min_descriptor = 300;  // programs close and reuse low numbers
  const int high = ::fcntl(static_cast<int>(low), F_DUPFD_CLOEXEC, min_descriptor);
  ::close(static_cast<int>(low));
  return high;
}

/// A program may have closed our descriptor, and the number may now refer to a file of the program.
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

bool Counters::open(std::uint64_t window_ns) {
  if (!arena_.open()) return false;
  RankRecord& record = arena_.head();
  record.window_ns = window_ns;
  record.first_tick = record.last_tick = record.latest_tick = ticks();
  record.first_ns = record.last_ns = nanoseconds(CLOCK_MONOTONIC);
  instruction_counter_ = open_instruction_counter();
  if (window_ns > 0) {
    window_ticks_ = static_cast<std::uint64_t>(static_cast<double>(window_ns) * ticks_per_nanosecond());
    if (window_ticks_ == 0) window_ticks_ = 1;
    phase_end_ = record.first_tick + window_ticks_;
  }
  enter(find_phase(window_ns > 0 ? 0 : first_level, arena_.head().first_tick));
  return phase_ != 0;
}

TrafficRecord* Counters::find_traffic(std::uint32_t other, TrafficKind kind) {
  // A slot with 0 messages is free, so it is added with one message, which the caller counts again.
  latest_slot_ = add_to(arena_, traffic_of(phase_), TrafficRecord{other, kind, 0, 1});
  if (latest_slot_ == 0) return nullptr;
  TrafficRecord& slot = arena_.at<TrafficRecord>(latest_slot_);
  --slot.messages;
  return &slot;
}

void Counters::flush_last_send() {
  const LastSendCache last_send = arena_.head().last_send;
  arena_.head().last_send = {};
  auto& slot = arena_.at<TrafficRecord>(last_send.slot);
  slot.bytes += last_send.bytes * last_send.messages;
  slot.messages += last_send.messages;
  arena_.head().sizes[std::bit_width(last_send.bytes)] += last_send.messages;
}

void Counters::add_collective(const CountedEvent& event) {
  const bool round = phase().collectives.used >= max_sizes && event.bytes > 0;
  CollectiveRecord call;
  call.communicator = event.communicator;
  call.op = event.op;
  call.root = event.other;
  call.bytes_each = round ? std::bit_floor(event.bytes) : event.bytes;
  call.bytes = event.bytes;
  call.count = 1;
  add_to(arena_, collectives_of(phase_), call);
}

std::uint64_t Counters::write_communicator(const CommunicatorRecord& head, const int* members, const char* name) {
  const std::uint64_t offset = arena_.allocate(sizeof head + head.members * sizeof(std::uint32_t) + head.name_length);
  if (offset == 0) return 0;
  arena_.at<CommunicatorRecord>(offset) = head;
  if (members != nullptr) std::memcpy(members_of(offset), members, head.members * sizeof(std::uint32_t));
  std::memcpy(name_of(offset), name, head.name_length);
  return offset;
}

std::uint32_t Counters::number_communicator(const int* members, std::uint32_t count, const char* name) {
  const auto length = static_cast<std::uint32_t>(std::strlen(name));
  std::uint64_t hash = mix(count + 1);
  for (std::uint32_t i = 0; i < count; ++i) hash = mix(hash + static_cast<std::uint64_t>(members[i]));
  for (std::uint64_t at = arena_.head().communicators; at != 0; at = arena_.at<CommunicatorRecord>(at).next) {
    const CommunicatorRecord& known = arena_.at<CommunicatorRecord>(at);
    if (known.hash == hash && known.members == count && known.name_length == length &&
        (count == 0 || std::memcmp(members_of(at), members, count * sizeof(std::uint32_t)) == 0) &&
        std::memcmp(name_of(at), name, length) == 0) {
      return known.number;
    }
  }
  const std::uint64_t offset =
      write_communicator({arena_.head().communicators, communicators_ + 1, count, length, 0, hash}, members, name);
  if (offset == 0) return 0;
  arena_.head().communicators = offset;
  return ++communicators_;
}

void Counters::rename_communicator(std::uint32_t number, const char* name) {
  std::uint64_t before = 0, old = arena_.head().communicators;
  while (old != 0 && arena_.at<CommunicatorRecord>(old).number != number) {
    before = old;
    old = arena_.at<CommunicatorRecord>(old).next;
  }
  if (old == 0) return;
  CommunicatorRecord head = arena_.at<CommunicatorRecord>(old);
  const std::uint64_t bytes = sizeof head + head.members * sizeof(std::uint32_t) + head.name_length;
  head.name_length = static_cast<std::uint32_t>(std::strlen(name));
  const std::uint64_t offset = write_communicator(head, nullptr, name);
  if (offset == 0) return;
  std::memcpy(members_of(offset), members_of(old), head.members * sizeof(std::uint32_t));
  (before == 0 ? arena_.head().communicators : arena_.at<CommunicatorRecord>(before).next) = offset;
  arena_.release(old, bytes);
}

std::uint64_t Counters::find_phase(std::int64_t key, std::uint64_t now) {
  std::uint64_t last = 0;
  std::uint32_t count = 0;
  for (std::uint64_t at = arena_.head().phases; at != 0; at = arena_.at<PhaseRecord>(at).next) {
    if (arena_.at<PhaseRecord>(at).key == key) return at;
    last = at;
    ++count;
  }
  if (count > max_phases) return 0;
  const std::uint64_t offset = arena_.allocate(sizeof(PhaseRecord));
  if (offset == 0) return 0;
  PhaseRecord& fresh = arena_.at<PhaseRecord>(offset);
  fresh.key = key;
  fresh.begin = fresh.end = now;
  (last == 0 ? arena_.head().phases : arena_.at<PhaseRecord>(last).next) = offset;
  return offset;
}

void Counters::enter(std::uint64_t phase) {
  if (phase == 0) return;  // no memory or too many phases: continue to count into the current one
  phase_ = phase;
  latest_slot_ = 0;
}

void Counters::set_level(int level, std::uint64_t now) {
  flush();
  if (arena_.head().window_ns != 0) return;
  phase().end = now;
  enter(find_phase(level, now));
}

void Counters::enter_window(std::uint64_t now) {
  flush();
  phase().end = phase_end_;
  std::uint64_t number = (now - arena_.head().first_tick) / window_ticks_;
  while (number >= max_windows) {
    double_window_length();
    number = (now - arena_.head().first_tick) / window_ticks_;
  }
  enter(find_phase(static_cast<std::int64_t>(number), arena_.head().first_tick + number * window_ticks_));
  phase_end_ = arena_.head().first_tick + (number + 1) * window_ticks_;
}

/// Merges windows 2k and 2k+1 into window k of twice the length.
void Counters::double_window_length() {
  const std::uint64_t old = arena_.head().phases;
  arena_.head().phases = 0;
  for (std::uint64_t at = old, next = 0; at != 0; at = next) {
    const PhaseRecord from = arena_.at<PhaseRecord>(at);
    next = from.next;
    merge_phase(from, find_phase(from.key / 2, from.begin));
    arena_.release(from.traffic.slots, from.traffic.capacity * sizeof(TrafficRecord));
    arena_.release(from.collectives.slots, from.collectives.capacity * sizeof(CollectiveRecord));
    arena_.release(at, sizeof(PhaseRecord));
  }
  arena_.head().window_ns *= 2;
  window_ticks_ *= 2;
}

void Counters::merge_phase(const PhaseRecord& from, std::uint64_t to) {
  if (to == 0) return;
  arena_.at<PhaseRecord>(to).end = from.end;
  for (std::uint32_t i = 0; i < from.traffic.capacity; ++i) {
    const TrafficRecord slot = (&arena_.at<TrafficRecord>(from.traffic.slots))[i];
    if (!is_free(slot)) add_to(arena_, traffic_of(to), slot);
  }
  for (std::uint32_t i = 0; i < from.collectives.capacity; ++i) {
    const CollectiveRecord slot = (&arena_.at<CollectiveRecord>(from.collectives.slots))[i];
    if (!is_free(slot)) add_to(arena_, collectives_of(to), slot);
  }
}

void Counters::read_clocks() {
  RankRecord& record = arena_.head();
  record.last_tick = ticks();
  record.last_ns = nanoseconds(CLOCK_MONOTONIC);
  record.cpu_ns = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
}

void Counters::close(Ending ending) {
  flush();
  read_clocks();
  RankRecord& record = arena_.head();
  if (record.ending == Ending::none) record.ending = ending;
  phase().end = record.last_tick;
  std::uint64_t count = 0;
  if (instruction_counter_ >= 0 && is_counter(instruction_counter_) &&
      ::read(instruction_counter_, &count, sizeof count) == sizeof count) {
    record.instructions = count;
    record.has_instructions = 1;
  }
}

}  // namespace rankloom::record
