// SPDX-License-Identifier: Apache-2.0
// capture/record: a trace of what this rank does: the lines.
#include "rankloom/capture/record/trace.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "rankloom/capture/record/clock.hpp"

namespace rankloom::record {

constinit Trace trace;
thread_local constinit Text* making = nullptr;

namespace {

// SimGrid's codes of types. It counts elements in an int: what is larger is told in larger elements.
constexpr int code_of_double = 0, code_of_byte = 6;
struct Amount {
  explicit Amount(std::uint64_t bytes, bool large)
      : count(large ? (bytes + 7) / 8 : bytes), code(large ? code_of_double : code_of_byte) {}
  explicit Amount(std::uint64_t bytes) : Amount(bytes, bytes > INT_MAX) {}
  std::uint64_t count;
  int code;
};

/// Of this thread, when its last call ended.
thread_local constinit std::uint64_t processor_time_left __attribute__((tls_model("initial-exec"))) = 0;

constexpr int wide = 10;  // digits, as many as an int can have

/// With zeros in front; a minus counts as a digit.
void write_wide(char* to, int number) {
  const bool negative = number < 0;
  auto rest = static_cast<unsigned>(negative ? -number : number);
  for (int i = wide - 1; i >= 0; --i, rest /= 10) to[i] = static_cast<char>('0' + rest % 10);
  if (negative) to[0] = '-';
}

}  // namespace

/// A line that is being written.
class Line {
 public:
  explicit Line(const char* action) {
    std::memcpy(text_, trace.rank_, trace.rank_length_);
    length_ = trace.rank_length_;
    while (*action != '\0') text_[length_++] = *action++;
  }
  Line& number(std::uint64_t value) {
    char digits[20];
    int count = 0;
    do digits[count++] = static_cast<char>('0' + value % 10);
    while ((value /= 10) > 0);
    text_[length_++] = ' ';
    while (count > 0) text_[length_++] = digits[--count];
    return *this;
  }
  Line& number(int value) { return number(static_cast<std::uint64_t>(value)); }
  Line& wide_number(int value) {
    text_[length_++] = ' ';
    write_wide(text_ + length_, value);
    length_ += wide;
    return *this;
  }
  Place end() {
    text_[length_++] = '\n';
    return trace.put(text_, length_);
  }
  /// What is there until now, as the beginning of a longer one.
  void move_to(Text& text) {
    text.append(text_, length_);
    length_ = 0;
  }

 private:
  char text_[160];
  std::size_t length_ = 0;
};

void Trace::open(int rank) {
  const char* const folder = std::getenv("RANKLOOM_RECORD_TRACE");
  if (folder == nullptr || *folder == '\0') return;
  char path[PATH_MAX];
  const int length = std::snprintf(path, sizeof path, "%s/rank-%d.txt", folder, rank);
  if (length < 0 || length >= PATH_MAX || !file_.open(path)) return;
  rank_length_ = static_cast<std::size_t>(std::snprintf(rank_, sizeof rank_, "%d ", rank));
  nanoseconds_per_tick_ = 1 / ticks_per_nanosecond();
  Line("init").end();
  leave();
}

/// Ranks that share a processor work only while they have it. Asking for that takes longer than reading the clock, and
/// who loses a processor loses it for long.
void Trace::enter(std::uint64_t now) {
  if (now <= left_) return;
  auto gap = static_cast<std::uint64_t>(static_cast<double>(now - left_) * nanoseconds_per_tick_);
  left_ = now;
  constexpr std::uint64_t long_gap = 20'000;
  if (gap > long_gap) gap = std::min(gap, nanoseconds(CLOCK_THREAD_CPUTIME_ID) - processor_time_left);
  outside_ += gap;
}

void Trace::leave() {
  processor_time_left = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  left_ = ticks();  // what we did ourselves is not the program's work
}

void Trace::close() {
  if (!is_open()) return;
  Line("finalize").end();
  file_.flush();
  file_.close();
}

Place Trace::put(const char* from, std::size_t length) {
  if (making != nullptr) {
    making->append(from, length);
    return {};
  }
  tell_work();
  const Place place{file_.place(), length};
  file_.append(from, length);
  return place;
}

void Trace::tell_work() {
  const std::uint64_t work = outside_;
  outside_ = 0;
  if (work > 0) Line("compute").number(work).end();
}

void Trace::write(const Text& text) {
  if (text.size == 0) return;
  tell_work();
  file_.append(text.bytes, text.size);
}

Place Trace::message(const char* action, int partner, int tag, std::uint64_t bytes) {
  const Amount amount(bytes);
  return Line(action).number(partner).number(tag).number(amount.count).number(amount.code).end();
}

Place Trace::open_receive(const char* action, int partner, int tag, std::uint64_t bytes) {
  const Amount amount(bytes);
  return Line(action).wide_number(partner).wide_number(tag).number(amount.count).number(amount.code).end();
}

void Trace::tell_partner(const Place& receive, const char* action, int partner, int tag) {
  char text[2 * wide + 1];
  write_wide(text, partner);
  text[wide] = ' ';
  write_wide(text + wide + 1, tag);
  file_.mend(receive.at + rank_length_ + std::strlen(action) + 1, text, sizeof text);
}

/// No work, in as many digits as there is room for.
void Trace::cross_out(const Place& line) {
  if (line.length == 0) return;
  char text[160];
  std::memset(text, '0', sizeof text);
  std::memcpy(text, rank_, rank_length_);
  std::memcpy(text + rank_length_, "compute ", 8);
  file_.mend(line.at, text, line.length - 1);
}

void Trace::wait(int from, int to, int tag) {
  Line("wait").number(from).number(to).number(tag).end();
}

void Trace::barrier() {
  Line("barrier").end();
}

void Trace::with_root(const char* action, std::uint64_t bytes, int amounts, bool works, int root) {
  const Amount amount(bytes);
  Line line(action);
  for (int i = 0; i < amounts; ++i) line.number(amount.count);
  if (works) line.number(0);
  line.number(root);
  for (int i = 0; i < amounts; ++i) line.number(amount.code);
  line.end();
}

void Trace::without_root(const char* action, std::uint64_t bytes, int amounts, bool works) {
  const Amount amount(bytes);
  Line line(action);
  for (int i = 0; i < amounts; ++i) line.number(amount.count);
  if (works) line.number(0);
  for (int i = 0; i < amounts; ++i) line.number(amount.code);
  line.end();
}

void Trace::allgatherv(std::uint64_t own, const std::uint64_t* received, int ranks) {
  std::uint64_t all = 0;
  for (int i = 0; i < ranks; ++i) all += received[i];
  const bool large = all > INT_MAX;
  Text text;
  Line line("allgatherv");
  line.number(Amount(own, large).count);
  for (int i = 0; i < ranks; ++i) {
    line.move_to(text);
    line.number(Amount(received[i], large).count);
  }
  line.number(Amount(0, large).code).number(Amount(0, large).code);
  line.move_to(text);
  text.append("\n", 1);
  if (!text.failed) put(text.bytes, text.size);
  text.clear();
}

void Trace::reducescatter(const std::uint64_t* received, int ranks) {
  std::uint64_t all = 0;
  for (int i = 0; i < ranks; ++i) all += received[i];
  const bool large = all > INT_MAX;
  Text text;
  Line line("reducescatter");
  for (int i = 0; i < ranks; ++i) {
    line.move_to(text);
    line.number(Amount(received[i], large).count);
  }
  line.number(0).number(Amount(0, large).code);
  line.move_to(text);
  text.append("\n", 1);
  if (!text.failed) put(text.bytes, text.size);
  text.clear();
}

}  // namespace rankloom::record
