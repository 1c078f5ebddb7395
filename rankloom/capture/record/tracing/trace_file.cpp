// SPDX-License-Identifier: Apache-2.0
// capture/record/tracing: the text file of a rank's trace.
#include "rankloom/capture/record/tracing/trace_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace rankloom::record {

void TextBuffer::append(const char* from, std::size_t length) {
  if (size + length > capacity) {
    const std::size_t larger = (size + length) * 2;
    void* const moved = std::realloc(bytes, larger);
    if (moved == nullptr) {
      failed = true;
      return;
    }
    bytes = static_cast<char*>(moved);
    capacity = larger;
  }
  std::memcpy(bytes + size, from, length);
  size += length;
}

void TextBuffer::clear() {
  std::free(bytes);
  *this = {};
}

bool TraceFile::open(const char* path) {
  if (std::strlen(path) >= sizeof path_) return false;
  std::memcpy(path_, path, std::strlen(path) + 1);
  open_ = true;
  write_at(0, nullptr, 0, true);
  return open_;
}

void TraceFile::append(const char* from, std::size_t length) {
  if (used_ + length > buffer_size) flush();
  if (length > buffer_size) {
    if (open_ && write_at(written_, from, length, false)) written_ += length;
    return;
  }
  if (!open_) return;
  std::memcpy(buffer_ + used_, from, length);
  used_ += length;
}

void TraceFile::overwrite(std::uint64_t offset, const char* with, std::size_t length) {
  if (!open_) return;
  if (offset >= written_) {
    std::memcpy(buffer_ + (offset - written_), with, length);
  } else {
    write_at(offset, with, length, false);  // lines are flushed as a whole, so the file contains all of it
  }
}

void TraceFile::flush() {
  if (open_ && used_ > 0 && write_at(written_, buffer_, used_, false)) written_ += used_;
  used_ = 0;
}

bool TraceFile::write_at(std::uint64_t offset, const char* from, std::size_t length, bool create) {
  const int errno_before = errno;
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < offset + length) {  // SIGXFSZ would end the program
    stop(std::strerror(EFBIG));
    return false;
  }
  const int file = ::open(path_, O_WRONLY | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0), 0666);
  bool good = file >= 0;
  while (good && length > 0) {
    const ssize_t done = ::pwrite(file, from, length, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    good = done > 0;
    if (!good) break;
    from += done;
    offset += static_cast<std::uint64_t>(done);
    length -= static_cast<std::size_t>(done);
  }
  if (!good) stop(std::strerror(errno));
  if (file >= 0) ::close(file);
  errno = errno_before;
  return good;
}

void TraceFile::stop(const char* why) {
  open_ = false;
  used_ = 0;
  std::fprintf(stderr, "rankloom: the trace is incomplete, cannot write %s: %s\n", path_, why);
}

}  // namespace rankloom::record
