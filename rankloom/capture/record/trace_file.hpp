// SPDX-License-Identifier: Apache-2.0
// capture/record: the trace of one rank as text: lines on their way into its file, some of which are mended later.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

namespace rankloom::record {

/// Lines that are not in the file yet. Grows as needed; without memory, lines are lost and `failed` says so.
struct Text {
  char* bytes = nullptr;
  std::size_t size = 0, capacity = 0;
  bool failed = false;

  void append(const char* from, std::size_t length);
  void clear();  ///< Gives the memory back.
};

/// The file of a rank. It is open only while something is written: a program may close descriptors that it did not
/// open.
class TraceFile {
 public:
  /// Begins an empty file. On failure everything that follows does nothing.
  bool open(const char* path);
  void append(const char* from, std::size_t length);
  /// Overwrites what was appended at this place.
  void mend(std::uint64_t place, const char* with, std::size_t length);
  /// Where the next line will stand.
  std::uint64_t place() const { return written_ + used_; }
  void flush();
  bool is_open() const { return open_; }
  void close() { open_ = false; }

 private:
  void stop(const char* why);
  bool write_at(std::uint64_t place, const char* from, std::size_t length, bool create);

  static constexpr std::size_t room = 64 * 1024;
  bool open_ = false;
  std::uint64_t written_ = 0;
  std::size_t used_ = 0;
  char path_[PATH_MAX]{};
  char buffer_[room]{};
};

}  // namespace rankloom::record
