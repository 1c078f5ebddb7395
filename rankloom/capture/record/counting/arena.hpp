// SPDX-License-Identifier: Apache-2.0
// capture/record/counting: the memory of a RankRecord: a memory-mapped file that grows, or anonymous memory if the file
// cannot be created or extended (full disk, missing permission). Recording never fails because of a file.
#pragma once

#include <atomic>
#include <cstdint>

#include <sys/types.h>

#include "rankloom/capture/record/rank_record.hpp"

namespace rankloom::record {

class Arena {
 public:
  /// Creates the file for the record, which must not exist. Returns 0 or an errno. Call before open().
  int create_file(const char* path);
  /// Begins an empty record in the file, or in anonymous memory if there is none. False: no memory.
  bool open();

  RankRecord& head() const { return *reinterpret_cast<RankRecord*>(base_); }
  template <class T>
  T& at(std::uint64_t offset) const {
    return *reinterpret_cast<T*>(base_ + offset);
  }
  /// The offset of zeroed memory; the record may move. 0: no memory.
  std::uint64_t allocate(std::uint64_t bytes);
  /// Returns a block to the free list of its size, which is a power of two.
  void release(std::uint64_t offset, std::uint64_t bytes);

  /// Deletes the file; the record stays mapped.
  void remove_file();
  bool has_file() const { return path_[0] != '\0'; }
  /// Whether create_file() has succeeded, even if the file could not grow since.
  bool had_file() const { return inode_ != 0; }
  bool is_open() const { return base_ != nullptr; }
  /// Writes a record without a file into this one, which must not exist. Returns 0 or an errno.
  int save(const char* path);
  /// The record is being moved to another address, by the code that a signal interrupted or by another thread.
  bool is_moving() const { return moving_.load(std::memory_order_relaxed); }

 private:
  bool grow(std::uint64_t bytes);
  bool move_to(std::uint64_t size);
  bool move_to_anonymous_memory(std::uint64_t size);

  char* base_ = nullptr;
  std::uint64_t size_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  char path_[4096]{};
  std::atomic<bool> moving_{false};
  std::uint64_t free_[48]{};  // by size: lists of released blocks, each block holds the offset of the next one
};

}  // namespace rankloom::record
