// SPDX-License-Identifier: Apache-2.0
// core/system: file descriptors and pipes that close themselves, and locks on files. Standard library and POSIX only,
// like process.hpp.
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rankloom {

/// An open file that is closed at the end of the scope.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    close();
    number_ = std::exchange(other.number_, -1);
    return *this;
  }
  ~Descriptor() { close(); }
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  /// A program may have closed its standard streams. Files that become standard streams of a child must have other
  /// numbers, because dup2 to one of them would overwrite the next.
  void move_above_standard_streams() {
    if (number_ < 0 || number_ > STDERR_FILENO) return;
    const int copy = ::fcntl(number_, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close();
    number_ = copy;
  }

 private:
  int number_ = -1;
};

/// Both ends of a pipe; not open if it could not be created, with errno.
struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
  bool is_open() const { return read_end.is_open() && write_end.is_open(); }
};

inline Pipe to_pipe(const std::array<int, 2>& ends) {
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  pipe.read_end.move_above_standard_streams();
  pipe.write_end.move_above_standard_streams();
  return pipe;
}

inline Pipe make_pipe() {
  std::array<int, 2> ends{-1, -1};
  return ::pipe2(ends.data(), O_CLOEXEC) == 0 ? to_pipe(ends) : Pipe();
}

/// A socket instead of a pipe: writing to a child that has ended then returns an error and raises no SIGPIPE.
inline Pipe make_socket() {
  std::array<int, 2> ends{-1, -1};
  return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0 ? to_pipe(ends) : Pipe();
}

/// The files of this process that are open and not standard streams. Empty without /proc.
inline std::vector<int> other_open_files() {
  std::vector<int> numbers;
  DIR* const directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) return numbers;
  while (const dirent* const entry = ::readdir(directory)) {
    const int number = entry->d_name[0] == '.' ? -1 : std::atoi(entry->d_name);
    if (number > STDERR_FILENO && number != ::dirfd(directory)) numbers.push_back(number);
  }
  ::closedir(directory);
  return numbers;
}

/// The next exec closes all files but the standard streams.
inline void close_other_files_on_exec() {
  // Linux 5.11; the C library has a function for it from 2.34 on.
  constexpr long close_range_call = 436;
  constexpr unsigned int on_exec = 4;
  if (::syscall(close_range_call, STDERR_FILENO + 1, ~0U, on_exec) == 0) return;
  for (const int number : other_open_files()) ::fcntl(number, F_SETFD, FD_CLOEXEC);
}

enum class LockResult : std::uint8_t {
  locked,       ///< Until the descriptor is closed or the process ends, also by SIGKILL.
  held,         ///< Another process has the lock.
  unsupported,  ///< The file system has no locks.
};

inline LockResult try_lock(const Descriptor& file) {
  while (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return LockResult::held;
    if (errno != EINTR) return LockResult::unsupported;
  }
  return LockResult::locked;
}

/// The name of this host. Locks of some shared file systems are not visible on other hosts, so a process removes only
/// leftovers of its own host.
inline std::string locking_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Whether `path` is still a name of the open file. Between opening and locking a file, another process may have
/// removed or replaced it.
inline bool is_name_of(const char* path, const Descriptor& file) {
  struct stat named {
  }, opened{};
  return ::lstat(path, &named) == 0 && ::fstat(file.number(), &opened) == 0 && named.st_dev == opened.st_dev &&
         named.st_ino == opened.st_ino;
}

}  // namespace rankloom
