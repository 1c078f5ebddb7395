// SPDX-License-Identifier: Apache-2.0
// capture/threads/runtime: writes the chunks of a profile (docs/formats.md) with system calls only: the runtime is
// loaded into the user's program and must not depend on other libraries. The reader is
// rankloom/model/files/profile_file.cpp.
#pragma once

#include <cstdint>
#include <cstring>

#include "rankloom/capture/threads/runtime/cache_lines.hpp"

namespace rankloom::threads {

/// Numbers with the same tag go into one chunk until it is full, then into another chunk with the same tag. After an
/// error, nothing more is written.
class RANKLOOM_HIDDEN ChunkWriter {
 public:
  constexpr ChunkWriter() = default;
  ChunkWriter(const ChunkWriter&) = delete;
  ChunkWriter& operator=(const ChunkWriter&) = delete;
  ~ChunkWriter() = default;

  void open(const char* path);

  /// Writes text outside of chunks.
  void put_raw(const char* text) { write(text, std::strlen(text)); }
  /// Ends the current chunk, if it is not empty.
  void begin(const char* tag) {
    end();
    tag_ = tag;
  }
  template <class T>
  void put(T value) {
    keep_together(sizeof value);
    std::memcpy(content_ + size_, &value, sizeof value);
    size_ += sizeof value;
  }
  void put_text(const char* text);
  /// Ensures that the next bytes are in one chunk; empty() then tells whether they begin the chunk.
  void keep_together(std::size_t bytes) {
    if (size_ + bytes > sizeof content_) end();
  }
  bool empty() const { return size_ == 0; }
  void end(bool even_if_empty = false);

  /// Returns whether everything was written.
  bool close();
  int error() const { return error_; }

 private:
  void write(const void* bytes, std::size_t size);
  int file_ = -1;
  int error_ = 0;
  const char* tag_ = "";
  std::size_t size_ = 0;
  alignas(16) char content_[16384]{};
};

}  // namespace rankloom::threads
