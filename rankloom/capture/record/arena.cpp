// SPDX-License-Identifier: Apache-2.0
// capture/record: the memory of a rank's image.
#include "rankloom/capture/record/arena.hpp"

#include <bit>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rankloom::record {

namespace {

constexpr std::uint64_t first_size = 16 << 10;
constexpr std::uint64_t least_block = 64;

/// Makes the file this long with blocks of its own: writing into a mapped hole of a full disk would end the program.
bool extend(int file, std::uint64_t from, std::uint64_t to) {
  return ::posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(to - from)) == 0;
}

/// Out of the way of programs that close or reuse low numbers.
int raise(int file) {
  constexpr int lowest = 300;
  const int high = ::fcntl(file, F_DUPFD_CLOEXEC, lowest);
  if (high < 0) return file;
  ::close(file);
  return high;
}

}  // namespace

bool Arena::open(const char* path) {
  const std::size_t length = std::strlen(path);
  if (length < sizeof path_) {
    file_ = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file_ >= 0) file_ = raise(file_);
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
    struct stat found {};
    ::fstat(file_, &found);
    device_ = found.st_dev;
    inode_ = found.st_ino;
  } else {
    memory = ::mmap(nullptr, first_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (memory == MAP_FAILED) return false;
  base_ = static_cast<char*>(memory);
  size_ = first_size;
  RankImage& image = head();
  image = RankImage{};
  std::memcpy(image.magic, image_magic, sizeof image_magic);
  image.version = image_version;
  image.bytes_of_head = sizeof(RankImage);
  image.used = (sizeof(RankImage) + 7) / 8 * 8;
  return true;
}

/// Programs may close descriptors that they never opened, and get the number for a file of their own.
bool Arena::still_ours() const {
  struct stat found {};
  return file_ >= 0 && ::fstat(file_, &found) == 0 && found.st_dev == device_ && found.st_ino == inode_;
}

bool Arena::grow(std::uint64_t bytes) {
  std::uint64_t wanted = size_ * 2;
  while (wanted < bytes) wanted *= 2;
  if (still_ours() && extend(file_, size_, wanted)) {
    void* const moved = ::mremap(base_, size_, wanted, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) return false;
    base_ = static_cast<char*>(moved);
  } else {
    // Without a file, or with one on a disk that is full now: go on in plain memory.
    void* const memory = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    std::memcpy(memory, base_, size_);
    ::munmap(base_, size_);
    base_ = static_cast<char*>(memory);
    if (still_ours()) ::close(file_);
    file_ = -1;
    remove_file();
  }
  size_ = wanted;
  return true;
}

std::uint64_t Arena::allocate(std::uint64_t bytes) {
  const std::uint64_t block = std::bit_ceil(bytes < least_block ? least_block : bytes);
  std::uint64_t& list = free_[std::countr_zero(block)];
  if (list != 0) {
    const std::uint64_t place = list;
    list = at<std::uint64_t>(place);
    std::memset(base_ + place, 0, block);
    return place;
  }
  const std::uint64_t place = head().used;
  if (place + block > size_ && !grow(place + block)) return 0;
  head().used = place + block;
  return place;
}

void Arena::release(std::uint64_t place, std::uint64_t bytes) {
  if (place == 0) return;
  const std::uint64_t block = std::bit_ceil(bytes < least_block ? least_block : bytes);
  std::uint64_t& list = free_[std::countr_zero(block)];
  at<std::uint64_t>(place) = list;
  list = place;
}

void Arena::remove_file() {
  if (path_[0] == '\0') return;
  ::unlink(path_);
  path_[0] = '\0';
}

}  // namespace rankloom::record
