// SPDX-License-Identifier: Apache-2.0
// capture/record/tracing: the text file of a rank's trace. Lines are buffered, and written lines can be overwritten.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

namespace rankloom::record {

/// A buffer that grows. When memory runs out, text is lost and `failed` is set.
struct TextBuffer {
  char* bytes = nullptr;
  std::size_t size = 0, capacity = 0;
  bool failed = false;

  void append(const char* from, std::size_t length);
  void clear();  ///< Frees the memory.
};

/// The file is open only while text is written, because a program may close descriptors that it did not open. If a
/// write fails, stop() prints the reason, and nothing more is written; the program continues.
class TraceFile {
 public:
  /// Creates an empty file, which must not exist: it belongs to another MPI program of the same script. After a
  /// failure, all other functions do nothing.
  bool open(const char* path);
  void append(const char* from, std::size_t length);
  /// Overwrites appended text at this offset.
  void overwrite(std::uint64_t offset, const char* with, std::size_t length);
  /// The offset of the next line.
  std::uint64_t offset() const { return written_ + used_; }
  void flush();
  bool is_open() const { return open_; }
  void close() { open_ = false; }

 private:
  void stop(const char* why);
  bool write_at(std::uint64_t offset, const char* from, std::size_t length, bool create);

  static constexpr std::size_t buffer_size = std::size_t{64} * 1024;
  bool open_ = false;
  std::uint64_t written_ = 0;
  std::size_t used_ = 0;
  char path_[PATH_MAX]{};
  char buffer_[buffer_size]{};
};

}  // namespace rankloom::record
