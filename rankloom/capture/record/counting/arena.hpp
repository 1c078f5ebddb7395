// SPDX-License-Identifier: Apache-2.0
// capture/record/counting: the memory of a RankRecord: a memory-mapped file that grows, or anonymous memory if the file
// cannot be created or extended (full disk, missing permission). Recording never fails because of a file.
#pragma once

#include <cstdint>

#include <sys/types.h>

#include "rankloom/capture/record/rank_record.hpp"

namespace rankloom::record {

class Arena {
 public:
  /// Begins an empty record in this file, or in anonymous memory if the file cannot be created. False: no memory.
  bool open(const char* path);

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

 private:
  bool grow(std::uint64_t bytes);
  bool owns_descriptor() const;

  char* base_ = nullptr;
  std::uint64_t size_ = 0;
  int file_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  char path_[4096]{};
  std::uint64_t free_[48]{};  // by size: lists of released blocks, each block holds the offset of the next one
};

}  // namespace rankloom::record
