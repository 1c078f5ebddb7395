// SPDX-License-Identifier: Apache-2.0
// capture/record: the trace of one rank as text.
#include "rankloom/capture/record/trace_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace rankloom::record {

void Text::append(const char* from, std::size_t length) {
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

void Text::clear() {
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
  if (used_ + length > room) flush();
  if (length > room) {
    if (open_ && write_at(written_, from, length, false)) written_ += length;
    return;
  }
  if (!open_) return;
  std::memcpy(buffer_ + used_, from, length);
  used_ += length;
}

void TraceFile::mend(std::uint64_t place, const char* with, std::size_t length) {
  if (!open_) return;
  if (place >= written_) {
    std::memcpy(buffer_ + (place - written_), with, length);
  } else {
    write_at(place, with, length, false);  // appended in one piece, so it is in the file as a whole
  }
}

void TraceFile::flush() {
  if (open_ && used_ > 0 && write_at(written_, buffer_, used_, false)) written_ += used_;
  used_ = 0;
}

bool TraceFile::write_at(std::uint64_t place, const char* from, std::size_t length, bool create) {
  const int before = errno;
  const int file = ::open(path_, O_WRONLY | O_CLOEXEC | (create ? O_CREAT | O_TRUNC : 0), 0666);
  bool good = file >= 0;
  while (good && length > 0) {
    const ssize_t done = ::pwrite(file, from, length, static_cast<off_t>(place));
    if (done < 0 && errno == EINTR) continue;
    good = done > 0;
    if (!good) break;
    from += done;
    place += static_cast<std::uint64_t>(done);
    length -= static_cast<std::size_t>(done);
  }
  if (!good) stop(std::strerror(errno));
  if (file >= 0) ::close(file);
  errno = before;
  return good;
}

void TraceFile::stop(const char* why) {
  open_ = false;
  used_ = 0;
  std::fprintf(stderr, "rankloom: the trace ends here: %s: %s\n", path_, why);
}

}  // namespace rankloom::record
