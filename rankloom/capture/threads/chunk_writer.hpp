// SPDX-License-Identifier: Apache-2.0
// capture/threads: a profile's chunks, as docs/formats.md describes them, written with system calls alone: the runtime
// lives inside somebody's program and brings no library of its own. The reader is rankloom/model/profile_file.cpp.
#pragma once

#include <cstdint>
#include <cstring>

#include "rankloom/capture/threads/lines.hpp"

namespace rankloom::threads {

/// Numbers of one kind go into a chunk until it is full, then into the next one with the same tag. After an error
/// nothing more is written.
class RANKLOOM_HIDDEN ChunkWriter {
 public:
  constexpr ChunkWriter() = default;
  ChunkWriter(const ChunkWriter&) = delete;
  ChunkWriter& operator=(const ChunkWriter&) = delete;
  ~ChunkWriter() = default;

  void open(const char* path);

  /// Text outside of all chunks.
  void put_raw(const char* text) { write(text, std::strlen(text)); }
  /// Ends the chunk before, if it holds anything.
  void begin(const char* tag) {
    end();
    tag_ = tag;
  }
  template <class T>
  void put(T value) {
    make_room(sizeof value);
    std::memcpy(content_ + size_, &value, sizeof value);
    size_ += sizeof value;
  }
  void put_text(const char* text);
  /// What is put next, up to this size, goes into one chunk; empty() tells whether it is its beginning.
  void make_room(std::size_t bytes) {
    if (size_ + bytes > sizeof content_) end();
  }
  bool empty() const { return size_ == 0; }
  void end(bool even_if_empty = false);

  /// Whether everything was written.
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
