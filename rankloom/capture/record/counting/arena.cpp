// SPDX-License-Identifier: Apache-2.0
// capture/record/counting: the memory of a RankRecord.
#include "rankloom/capture/record/counting/arena.hpp"

#include <bit>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rankloom::record {

namespace {

constexpr std::uint64_t first_size = 16 << 10;
constexpr std::uint64_t min_block = 64;

/// A file that exceeds RLIMIT_FSIZE would end the program with SIGXFSZ.
bool is_allowed_size(std::uint64_t bytes) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

/// Extends the file with allocated blocks, because a store into a mapped hole on a full disk would end the program with
/// SIGBUS. Returns 0 or an errno.
int extend(int file, std::uint64_t from, std::uint64_t to) {
  if (!is_allowed_size(to)) return EFBIG;
  int error = 0;
  do error = ::posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(to - from));
  while (error == EINTR);
  return error;
}

/// Returns a descriptor, or -1 and sets errno.
int create(const char* path) {
  const int file = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file >= 0) ::fchmod(file, 0644);  // a umask of the program may make the file unreadable
  return file;
}

/// Returns 0 or an errno.
int write_all(int file, const char* from, std::uint64_t bytes) {
  if (!is_allowed_size(bytes)) return EFBIG;
  while (bytes > 0) {
    const ssize_t written = ::write(file, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    from += written;
    bytes -= static_cast<std::uint64_t>(written);
  }
  return 0;
}

}  // namespace

int Arena::create_file(const char* path) {
  const std::size_t length = std::strlen(path);
  if (length >= sizeof path_) return ENAMETOOLONG;
  const int file = create(path);
  if (file < 0) return errno;
  int error = extend(file, 0, first_size);
  if (error == 0) {
    // No descriptor stays open: a program may close or reuse descriptors that it did not open.
    void* const memory = ::mmap(nullptr, first_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    struct stat status {};
    if (memory == MAP_FAILED || ::fstat(file, &status) != 0) {
      error = errno;
    } else {
      base_ = static_cast<char*>(memory);
      device_ = status.st_dev;
      inode_ = status.st_ino;
      std::memcpy(path_, path, length + 1);
    }
  }
  ::close(file);
  if (error != 0) ::unlink(path);
  return error;
}

bool Arena::open() {
  if (base_ == nullptr) {
    void* const memory = ::mmap(nullptr, first_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    base_ = static_cast<char*>(memory);
  }
  size_ = first_size;
  RankRecord& record = head();
  record = RankRecord{};
  std::memcpy(record.magic, rank_record_magic, sizeof rank_record_magic);
  record.version = rank_record_version;
  record.bytes_of_head = sizeof(RankRecord);
  record.used = (sizeof(RankRecord) + 7) / 8 * 8;
  return true;
}

bool Arena::grow(std::uint64_t bytes) {
  std::uint64_t wanted = size_ * 2;
  while (wanted < bytes) wanted *= 2;
  moving_.store(true, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const bool moved = move_to(wanted);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  moving_.store(false, std::memory_order_relaxed);
  return moved;
}

bool Arena::move_to(std::uint64_t size) {
  if (!has_file()) return move_to_anonymous_memory(size);
  const int file = ::open(path_, O_RDWR | O_CLOEXEC);
  struct stat status {};
  const bool extended = file >= 0 && ::fstat(file, &status) == 0 && status.st_dev == device_ &&
                        status.st_ino == inode_ && extend(file, size_, size) == 0;
  if (file >= 0) ::close(file);
  if (!extended) return move_to_anonymous_memory(size);
  void* const moved = ::mremap(base_, size_, size, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) return false;
  base_ = static_cast<char*>(moved);
  size_ = size;
  return true;
}

/// There is no file, or the disk is full now. The file is no longer complete, so it is deleted.
bool Arena::move_to_anonymous_memory(std::uint64_t size) {
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  std::memcpy(memory, base_, size_);
  if (has_file()) head().ranks = 0;  // readers ignore the file if it cannot be deleted
  remove_file();
  ::munmap(base_, size_);
  base_ = static_cast<char*>(memory);
  size_ = size;
  return true;
}

int Arena::save(const char* path) {
  const std::size_t length = std::strlen(path);
  if (length >= sizeof path_) return ENAMETOOLONG;
  const int file = create(path);
  if (file < 0) return errno;
  int error = write_all(file, base_, head().used);
  if (::close(file) != 0 && error == 0) error = errno;
  if (error != 0) {
    ::unlink(path);
  } else {
    std::memcpy(path_, path, length + 1);
  }
  return error;
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
