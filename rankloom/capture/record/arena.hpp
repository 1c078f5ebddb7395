// SPDX-License-Identifier: Apache-2.0
// capture/record: the memory of a rank's image: a mapped file that grows, or plain memory where no file can be had.
#pragma once

#include <cstdint>

#include <sys/types.h>

#include "rankloom/capture/record/image.hpp"

namespace rankloom::record {

class Arena {
 public:
  /// Begins an empty image in this file; a file that cannot be had (a full disk) is no reason to fail. False: there is
  /// not even memory.
  bool open(const char* path);

  RankImage& head() const { return *reinterpret_cast<RankImage*>(base_); }
  template <class T>
  T& at(std::uint64_t place) const {
    return *reinterpret_cast<T*>(base_ + place);
  }
  /// Zeroed memory; the image may move. 0: there is none.
  std::uint64_t allocate(std::uint64_t bytes);
  /// Memory that is used again; blocks are powers of two.
  void release(std::uint64_t place, std::uint64_t bytes);

  /// The image's file is not needed any more.
  void remove_file();
  bool has_file() const { return path_[0] != '\0'; }

 private:
  bool grow(std::uint64_t bytes);
  bool still_ours() const;

  char* base_ = nullptr;
  std::uint64_t size_ = 0;
  int file_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  char path_[4096]{};
  std::uint64_t free_[48]{};  // by size: lists of released blocks, each with the next one's place in it
};

}  // namespace rankloom::record
