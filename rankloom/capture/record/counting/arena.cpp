// SPDX-License-Identifier: Apache-2.0
// capture/record/counting: the memory of a RankRecord.
#include "rankloom/capture/record/counting/arena.hpp"

#include <bit>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rankloom::record {

namespace {

constexpr std::uint64_t first_size = 16 << 10;
constexpr std::uint64_t min_block = 64;

/// Extends the file with allocated blocks. A store into a mapped hole on a full disk would end the program with SIGBUS.
bool extend(int file, std::uint64_t from, std::uint64_t to) {
  return ::posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(to - from)) == 0;
}

/// Moves the descriptor to a high number, because programs close and reuse low ones.
int move_descriptor_up(int file) {
  constexpr int min_descriptor = 300;
  const int high = ::fcntl(file, F_DUPFD_CLOEXEC, min_descriptor);
  if (high < 0) return file;
  ::close(file);
  return high;
}

}  // namespace

bool Arena::open(const char* path) {
  const std::size_t length = std::strlen(path);
  if (length < sizeof path_) {
    file_ = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file_ >= 0) file_ = move_descriptor_up(file_);
    if (file_ >= 0 && !extend(file_, 0, first_size)) {
      ::close(file_);
      ::unlink(path);
      file_ = -1;
    }
  }
  void* memory = MAP_FAILED;
  if (file_ >= 0) {
    memory = ::mmap(nullptr, first_size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    std::memcpy(path_, path, length + 1);
    struct stat status {};
    ::fstat(file_, &status);
    device_ = status.st_dev;
    inode_ = status.st_ino;
  } else {
    memory = ::mmap(nullptr, first_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (memory == MAP_FAILED) return false;
  base_ = static_cast<char*>(memory);
  size_ = first_size;
  RankRecord& record = head();
  record = RankRecord{};
  std::memcpy(record.magic, rank_record_magic, sizeof rank_record_magic);
  record.version = rank_record_version;
  record.bytes_of_head = sizeof(RankRecord);
  record.used = (sizeof(RankRecord) + 7) / 8 * 8;
  return true;
}

/// A program may close descriptors that it did not open, and the number may then refer to a file of the program.
bool Arena::owns_descriptor() const {
  struct stat status {};
  return file_ >= 0 && ::fstat(file_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

bool Arena::grow(std::uint64_t bytes) {
  std::uint64_t wanted = size_ * 2;
  while (wanted < bytes) wanted *= 2;
  if (owns_descriptor() && extend(file_, size_, wanted)) {
    void* const moved = ::mremap(base_, size_, wanted, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) return false;
    base_ = static_cast<char*>(moved);
  } else {
    // There is no file, or the disk is full now: continue in anonymous memory.
    void* const memory = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    std::memcpy(memory, base_, size_);
    ::munmap(base_, size_);
    base_ = static_cast<char*>(memory);
    if (owns_descriptor()) ::close(file_);
    file_ = -1;
    remove_file();
  }
  size_ = wanted;
  return true;
}

std::uint64_t Arena::allocate(std::uint64_t bytes) {
  const std::uint64_t block = std::bit_ceil(bytes < min_block ? min_block : bytes);
  std::uint64_t& list = free_[std::countr_zero(block)];
  if (list != 0) {
    const std::uint64_t offset = list;
    list = at<std::uint64_t>(offset);
    std::memset(base_ + offset, 0, block);
    return offset;
  }
  const std::uint64_t offset = head().used;
  if (offset + block > size_ && !grow(offset + block)) return 0;
  head().used = offset + block;
  return offset;
}

void Arena::release(std::uint64_t offset, std::uint64_t bytes) {
  if (offset == 0) return;
  const std::uint64_t block = std::bit_ceil(bytes < min_block ? min_block : bytes);
  std::uint64_t& list = free_[std::countr_zero(block)];
  at<std::uint64_t>(offset) = list;
  list = offset;
}

void Arena::remove_file() {
  if (path_[0] == '\0') return;
  ::unlink(path_);
  path_[0] = '\0';
}

}  // namespace rankloom::record
