// SPDX-License-Identifier: Apache-2.0
// apps/bind: a process that looks at the threads of a rank while it runs. It is a process of its own, because the
// program replaces rankloom-bind, and a child of the program would be noticed by its calls of wait.
#include "apps/bind/thread_watcher.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rankloom::bind {

namespace {

constexpr std::size_t max_threads = 1024;
constexpr int first_milliseconds = 100, max_samples = 12;  // the last one after seven minutes
/// A library that discovers the machine, such as hwloc, binds a thread to one processor after the other, for some
/// hundredths of a second each on a virtual machine. Threads elsewhere than their rank must stay there for this time.
constexpr int settle_milliseconds = 250, max_reads = 8;

/// "0-3,8" after a key of a status file; empty if it cannot be read.
std::string allowed_cpus(const std::string& thread) {
  constexpr std::string_view key = "Cpus_allowed_list:";
  std::ifstream file(thread + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t begin = line.find_first_not_of(" \t", key.size());
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

/// Processor time in ticks of the clock: the fields utime and stime, counted after the name, which may contain blanks.
std::uint64_t processor_time(const std::string& thread) {
  std::ifstream file(thread + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  std::uint64_t user = 0, system = 0;
  fields >> user >> system;
  return user + system;
}

/// Where the threads may run; with their processor times.
struct Sample {
  std::string cpus, text;
  bool all_at_home = true;  // the processors of all threads are those that the rank was bound to
};

Sample sample(const std::string& process, const std::string& home) {
  Sample found;
  DIR* const folder = ::opendir((process + "/task").c_str());
  if (folder == nullptr) return found;
  std::size_t threads = 0;
  while (const dirent* const entry = ::readdir(folder)) {
    if (entry->d_name[0] == '.' || ++threads > max_threads) continue;
    const std::string thread = process + "/task/" + entry->d_name;
    const std::string cpus = allowed_cpus(thread);
    if (cpus.empty()) continue;
    found.cpus += " " + cpus;
    found.all_at_home = found.all_at_home && cpus == home;
    found.text += " " + cpus + ":" + std::to_string(processor_time(thread));
  }
  ::closedir(folder);
  return found;
}

/// When the process has started, in ticks since the start of the system; empty: there is none of this number.
std::string start_time(const std::string& process) {
  std::ifstream file(process + "/stat");
  std::string line, field;
  std::getline(file, line);
  std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
  for (int number = 3; number <= 22; ++number) fields >> field;
  return fields ? field : std::string();
}

/// A process that is not a child of this one.
class Watched {
 public:
  explicit Watched(pid_t process)
      : folder_("/proc/" + std::to_string(process)),
        start_(start_time(folder_)),
        file_(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))) {}

  const std::string& folder() const { return folder_; }
  int file() const { return file_; }

  /// Waits until the process ends or the time is over; false: it has ended.
  bool runs_for(int milliseconds) const {
    if (file_ >= 0) {
      pollfd ended{.fd = file_, .events = POLLIN, .revents = 0};
      return ::poll(&ended, 1, milliseconds) == 0;
    }
    constexpr int step = 100;  // Linux before 5.3 cannot wait for a process that is not a child
    for (int waited = 0; waited < milliseconds; waited += step) {
      ::poll(nullptr, 0, step);
      if (start_.empty() || start_time(folder_) != start_) return false;
    }
    return true;
  }

 private:
  std::string folder_, start_;
  int file_;
};

/// Threads that are where they were bound to, or that stay elsewhere; empty: the process has ended, or its threads do
/// not stay anywhere.
std::string settled_sample(const Watched& process, const std::string& home) {
  Sample last = sample(process.folder(), home);
  if (last.all_at_home) return last.text;
  for (int read = 1; read < max_reads && process.runs_for(settle_milliseconds); ++read) {
    Sample now = sample(process.folder(), home);
    if (now.all_at_home || now.cpus == last.cpus) return now.text;
    last = std::move(now);
  }
  return {};
}

void append(const std::string& file, const std::string& line) {
  const int out = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (out < 0) return;
  [[maybe_unused]] const ssize_t written = ::write(out, line.data(), line.size());
  ::close(out);
}

[[noreturn]] void watch(pid_t watched, const std::string& beginning, const std::string& file) {
  const Watched process(watched);
  const std::string home = allowed_cpus("/proc/self");
  // Launchers wait until all copies of the rank's files are closed.
  for (int other = 0; other < static_cast<int>(::sysconf(_SC_OPEN_MAX)) && other < (1 << 16); ++other)
    if (other != process.file()) ::close(other);
  int wait = first_milliseconds;
  for (int number = 0; number < max_samples && process.runs_for(wait); ++number, wait *= 2) {
    const std::string threads = settled_sample(process, home);
    if (threads.empty()) continue;
    std::string line = beginning;
    append(file, line.append(" threads").append(threads).append("\n"));
  }
  std::_Exit(0);
}

}  // namespace

void start_thread_watcher(const std::string& beginning, const std::string& file) {
  const pid_t watched = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    if (::fork() == 0) watch(watched, beginning, file);
    std::_Exit(0);
  }
  if (child > 0) ::waitpid(child, nullptr, 0);
}

}  // namespace rankloom::bind
