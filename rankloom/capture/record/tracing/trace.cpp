// SPDX-License-Identifier: Apache-2.0
// capture/record/tracing: formats the lines of a trace.
#include "rankloom/capture/record/tracing/trace.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "rankloom/capture/record/counting/clock.hpp"

namespace rankloom::record {

constinit Trace trace;
thread_local constinit TextBuffer* deferred_text = nullptr;

namespace {

// SimGrid's datatype codes. SimGrid counts elements in an int, so larger messages are written as doubles.
constexpr int double_code = 0, byte_code = 6;
struct Amount {
  explicit Amount(std::uint64_t bytes, bool large)
      : count(large ? (bytes + 7) / 8 : bytes), code(large ? double_code : byte_code) {}
  explicit Amount(std::uint64_t bytes) : Amount(bytes, bytes > INT_MAX) {}
  std::uint64_t count;
  int code;
};

/// CPU time of this thread at the end of its last call.
thread_local constinit std::uint64_t cpu_time_at_call_end __attribute__((tls_model("initial-exec"))) = 0;

constexpr int padded_width = 10;  // the digits of the largest int

/// Writes a number with leading zeros, so that it can be overwritten by any other; a minus sign replaces a zero.
void write_padded(char* to, int number) {
  const bool negative = number < 0;
  auto rest = static_cast<unsigned>(negative ? -number : number);
  for (int i = padded_width - 1; i >= 0; --i, rest /= 10) to[i] = static_cast<char>('0' + rest % 10);
  if (negative) to[0] = '-';
}

}  // namespace

/// Builds one line.
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
  Line& padded_number(int value) {
    text_[length_++] = ' ';
    write_padded(text_ + length_, value);
    length_ += padded_width;
    return *this;
  }
  LinePosition end() {
    text_[length_++] = '\n';
    return trace.put(text_, length_);
  }
  /// Moves the beginning of a long line into a growing buffer.
  void move_to(TextBuffer& text) {
    text.append(text_, length_);
    length_ = 0;
  }

 private:
  char text_[160];
  std::size_t length_ = 0;
};

void Trace::open(int rank) {
  const char* const directory = std::getenv("RANKLOOM_RECORD_TRACE");
  if (directory == nullptr || *directory == '\0') return;
  char path[PATH_MAX];
  const int length = std::snprintf(path, sizeof path, "%s/rank-%d.txt", directory, rank);
  if (length < 0 || length >= PATH_MAX || !file_.open(path)) return;
  rank_length_ = static_cast<std::size_t>(std::snprintf(rank_, sizeof rank_, "%d ", rank));
  nanoseconds_per_tick_ = 1 / ticks_per_nanosecond();
  Line("init").end();
  leave();
}

/// A rank that shares its processor computes only while it runs. Reading the CPU time takes longer than reading the
/// tick counter, so it is read for long gaps only: a preempted rank does not run for a whole scheduler time slice.
void Trace::enter(std::uint64_t now) {
  if (now <= call_end_) return;
  auto gap = static_cast<std::uint64_t>(static_cast<double>(now - call_end_) * nanoseconds_per_tick_);
  call_end_ = now;
  constexpr std::uint64_t long_gap = 20'000;
  if (gap > long_gap) gap = std::min(gap, nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu_time_at_call_end);
  unwritten_ += gap;
}

void Trace::leave() {
  cpu_time_at_call_end = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  call_end_ = ticks();  // after the recorder's own work, which is not part of the program
}

void Trace::close() {
  if (!is_open()) return;
  Line("finalize").end();
  file_.flush();
  file_.close();
}

LinePosition Trace::put(const char* from, std::size_t length) {
  if (deferred_text != nullptr) {
    deferred_text->append(from, length);
    return {};
  }
  write_compute();
  const LinePosition position{file_.offset(), length};
  file_.append(from, length);
  return position;
}

void Trace::write_compute() {
  const std::uint64_t work = unwritten_;
  unwritten_ = 0;
  if (work > 0) Line("compute").number(work).end();
}

void Trace::write(const TextBuffer& text) {
  if (text.size == 0) return;
  write_compute();
  file_.append(text.bytes, text.size);
}

LinePosition Trace::message(const char* action, int partner, int tag, std::uint64_t bytes) {
  const Amount amount(bytes);
  return Line(action).number(partner).number(tag).number(amount.count).number(amount.code).end();
}

LinePosition Trace::wildcard_receive(const char* action, int partner, int tag, std::uint64_t bytes) {
  const Amount amount(bytes);
  return Line(action).padded_number(partner).padded_number(tag).number(amount.count).number(amount.code).end();
}

void Trace::resolve_wildcard(const LinePosition& receive, const char* action, int partner, int tag) {
  char text[2 * padded_width + 1];
  write_padded(text, partner);
  text[padded_width] = ' ';
  write_padded(text + padded_width + 1, tag);
  file_.overwrite(receive.offset + rank_length_ + std::strlen(action) + 1, text, sizeof text);
}

/// "compute 000…" has the same length as the line.
void Trace::cancel_line(const LinePosition& line) {
  if (line.length == 0) return;
  char text[160];
  std::memset(text, '0', sizeof text);
  std::memcpy(text, rank_, rank_length_);
  std::memcpy(text + rank_length_, "compute ", 8);  // NOLINT(bugprone-not-null-terminated-result): part of a line
  file_.overwrite(line.offset, text, line.length - 1);
}

void Trace::wait(int from, int to, int tag) {
  Line("wait").number(from).number(to).number(tag).end();
}

void Trace::barrier() {
  Line("barrier").end();
}

void Trace::with_root(const char* action, std::uint64_t bytes, int amounts, bool computes, int root) {
  const Amount amount(bytes);
  Line line(action);
  for (int i = 0; i < amounts; ++i) line.number(amount.count);
  if (computes) line.number(0);
  line.number(root);
  for (int i = 0; i < amounts; ++i) line.number(amount.code);
  line.end();
}

void Trace::without_root(const char* action, std::uint64_t bytes, int amounts, bool computes) {
  const Amount amount(bytes);
  Line line(action);
  for (int i = 0; i < amounts; ++i) line.number(amount.count);
  if (computes) line.number(0);
  for (int i = 0; i < amounts; ++i) line.number(amount.code);
  line.end();
}

void Trace::allgatherv(std::uint64_t own, const std::uint64_t* received, int ranks) {
  std::uint64_t all = 0;
  for (int i = 0; i < ranks; ++i) all += received[i];
  const bool large = all > INT_MAX;
  TextBuffer text;
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
  TextBuffer text;
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
