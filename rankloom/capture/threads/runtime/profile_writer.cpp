// SPDX-License-Identifier: Apache-2.0
// capture/threads/runtime: converts the counts of the thread registry into a profile.
#include "rankloom/capture/threads/runtime/profile_writer.hpp"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rankloom/capture/threads/runtime/chunk_writer.hpp"
#include "rankloom/capture/threads/runtime/thread_registry.hpp"
#include "rankloom/capture/threads/runtime/thread_work.hpp"
#include "rankloom/core/text/binary_size.hpp"

namespace rankloom::threads {

namespace {

constexpr std::uint64_t default_window = std::uint64_t{64} << 20;
constexpr std::uint64_t min_window = std::uint64_t{64} << 10, max_window = std::uint64_t{64} << 30;

constinit char output[PATH_MAX];  // absolute, because the program may change its working directory

std::uint64_t window_from_environment() {
  const char* const text = std::getenv("RANKLOOM_THREADS_WINDOW");
  if (text == nullptr || *text == '\0') return default_window;
  const std::optional<std::uint64_t> size = parse_binary_size(text);
  if (size && *size > 0) return *size < min_window ? min_window : *size > max_window ? max_window : *size;
  constexpr char problem[] = "rankloom: RANKLOOM_THREADS_WINDOW is not a size such as 8M or 1G: the window is 64 MiB\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, problem, sizeof problem - 1);
  return default_window;
}

/// Replaces %p in the path by the process id. False: the path is too long.
bool expand_path(char (&name)[PATH_MAX], bool is_fork_child) {
  std::size_t length = 0;
  bool named = false;
  for (const char* at = output; *at != '\0' && length + 12 < sizeof name; ++at) {
    if (at[0] == '%' && at[1] == 'p') {
      length += static_cast<std::size_t>(std::snprintf(name + length, sizeof name - length, "%d", ::getpid()));
      named = true;
      ++at;
    } else {
      name[length++] = *at;
    }
  }
  name[length] = '\0';
  if (is_fork_child && !named)
    length += static_cast<std::size_t>(std::snprintf(name + length, sizeof name - length, ".%d", ::getpid()));
  return length + 12 < sizeof name;
}

/// Maps ranks of the profile to thread entries: OpenMP thread numbers first, then the other threads in the order of
/// creation on the remaining ranks.
struct RankNumbering {
  std::uint16_t entry[max_threads]{};
  std::uint32_t count = 0;
};
constinit RankNumbering ranks;

void number_ranks() {
  constexpr std::uint16_t unassigned = UINT16_MAX;
  const std::uint32_t places = entry_count();
  ranks.count = 0;
  for (std::uint32_t number = 0; number < places; ++number)
    ranks.count += thread_entry(number).received != nullptr ? 1 : 0;
  for (std::uint32_t rank = 0; rank < ranks.count; ++rank) ranks.entry[rank] = unassigned;
  const auto has_openmp_number = [](std::uint32_t number) {
    return thread_entry(number).openmp_seen &&
           static_cast<std::uint32_t>(thread_entry(number).openmp_number) < ranks.count;
  };
  for (std::uint32_t number = 0; number < places; ++number) {
    if (thread_entry(number).received == nullptr || !has_openmp_number(number)) continue;
    std::uint16_t& entry = ranks.entry[thread_entry(number).openmp_number];
    if (entry == unassigned) entry = static_cast<std::uint16_t>(number);
  }
  std::uint32_t next = 0;
  for (std::uint32_t number = 0; number < places; ++number) {
    if (thread_entry(number).received == nullptr) continue;
    if (has_openmp_number(number) && ranks.entry[thread_entry(number).openmp_number] == number) continue;
    while (ranks.entry[next] != unassigned) ++next;
    ranks.entry[next] = static_cast<std::uint16_t>(number);
  }
}

/// A copy of the transfers between all pairs: other threads may still count, but all columns of the file must agree.
class TrafficMatrix {
 public:
  explicit TrafficMatrix(std::uint32_t size) : size_(size) {
    void* const memory = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    transfers_ = static_cast<std::uint64_t*>(memory);
    for (std::uint32_t to = 0; to < size; ++to) {
      const std::uint64_t* const received = thread_entry(ranks.entry[to]).received;
      for (std::uint32_t from = 0; from < size; ++from)
        transfers_[from * std::size_t{size} + to] = received[ranks.entry[from]];
    }
  }
  TrafficMatrix(const TrafficMatrix&) = delete;
  TrafficMatrix& operator=(const TrafficMatrix&) = delete;
  ~TrafficMatrix() {
    if (is_allocated()) ::munmap(transfers_, bytes());
  }

  bool is_allocated() const { return transfers_ != nullptr; }
  std::uint32_t size() const { return size_; }

  /// Calls visit(from, to, transfers, is_first) for every communicating pair; `is_first` for the first pair of a row.
  template <class Visit>
  void for_each_pair(const Visit& visit) const {
    for (std::uint32_t from = 0; from < size_; ++from) {
      bool is_first = true;
      for (std::uint32_t to = 0; to < size_; ++to) {
        const std::uint64_t transfers = transfers_[from * std::size_t{size_} + to];
        if (transfers == 0) continue;
        visit(from, to, transfers, is_first);
        is_first = false;
      }
    }
  }

 private:
  std::size_t bytes() const { return std::size_t{size_} * size_ * sizeof(std::uint64_t); }
  std::uint32_t size_;
  std::uint64_t* transfers_ = nullptr;
};

void write_origin(ChunkWriter& out, bool instructions) {
  out.begin("ORIG");
  const auto entry = [&](const char* key, const char* value) {
    out.put_text(key);
    out.put_text(value);
  };
  entry("loads", instructions ? "instructions" : "CPU time in microseconds");
  entry("program", program_invocation_short_name);
  entry("source", "threads: cache lines of 64 bytes that moved from one thread to another");
  out.end();
}

void write_graph(ChunkWriter& out, const TrafficMatrix& matrix, const Work* work, bool instructions) {
  constexpr std::uint32_t point_to_point = 0, with_messages = 2, with_loads = 4, reserved = 0;
  std::uint64_t edges = 0;
  matrix.for_each_pair([&](auto...) { ++edges; });
  out.begin("GRPH");
  for (const std::uint32_t word : {point_to_point, with_messages | with_loads, matrix.size(), reserved}) out.put(word);
  out.put(edges);
  out.begin("ROWS");
  std::uint32_t row = 0, degree = 0;
  const auto end_rows = [&](std::uint32_t before) {
    for (; row < before; ++row, degree = 0) out.put(degree);
  };
  matrix.for_each_pair([&](std::uint32_t from, auto...) {
    end_rows(from);
    ++degree;
  });
  end_rows(matrix.size());
  out.begin("DEST");
  std::uint32_t before = 0;
  matrix.for_each_pair([&](std::uint32_t from, std::uint32_t to, std::uint64_t, bool is_first) {
    out.keep_together(sizeof to);
    out.put(to - (is_first || out.empty() ? from : before));
    before = to;
  });
  out.begin("BYTE");
  matrix.for_each_pair(
      [&](auto, auto, std::uint64_t transfers, auto) { out.put(static_cast<double>(transfers * line_bytes)); });
  out.begin("MSGS");
  matrix.for_each_pair([&](auto, auto, std::uint64_t transfers, auto) { out.put(static_cast<double>(transfers)); });
  out.begin("LOAD");
  for (std::uint32_t rank = 0; rank < matrix.size(); ++rank)
    out.put(instructions ? work[rank].instructions
                         : static_cast<double>(static_cast<std::uint64_t>(work[rank].seconds * 1e6)));
  out.end();
}

void write_activity(ChunkWriter& out, const Work* work, std::uint32_t count, bool instructions) {
  out.begin("ACTV");
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    out.keep_together(3 * sizeof(double));
    out.put(0.0);  // seconds in MPI
    out.put(work[rank].seconds);
    out.put(instructions ? work[rank].instructions : 0.0);
  }
  out.end();
}

// Static, because the profile may be written on the small stack of a signal handler.
constinit Work work[max_threads];
constinit ChunkWriter out;
constinit char target[PATH_MAX], temporary[PATH_MAX + 16], message[PATH_MAX + 128];

/// Pipes and devices are written directly instead of being replaced by a renamed file.
bool is_device(const char* path) {
  struct stat status {};
  return ::stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

bool write_profile() {
  number_ranks();
  const TrafficMatrix matrix(ranks.count);
  if (!matrix.is_allocated()) return false;
  bool instructions = true;
  for (std::uint32_t rank = 0; rank < ranks.count; ++rank) {
    work[rank] = total_work(thread_entry(ranks.entry[rank]));
    instructions = instructions && work[rank].instructions_known;
  }
  out.put_raw("rankloom profile 1\n");
  write_origin(out, instructions);
  write_graph(out, matrix, work, instructions);
  write_activity(out, work, ranks.count, instructions);
  out.begin("END ");
  out.end(true);
  return true;
}

/// Blocks SIGXFSZ and SIGPIPE, so that a full disk or a closed pipe is an error of write() and does not end the
/// program.
class BlockedSignals {
 public:
  BlockedSignals() {
    ::sigemptyset(&blocked_);
    ::sigaddset(&blocked_, SIGXFSZ);
    ::sigaddset(&blocked_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &blocked_, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() {
    const timespec at_once{};
    while (::sigtimedwait(&blocked_, nullptr, &at_once) > 0) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t blocked_{}, before_{};
};

/// Where the C library has it, by a function that takes no memory.
const char* description_of(int error) {
#if __GLIBC_PREREQ(2, 32)
  return ::strerrordesc_np(error);
#else
  return std::strerror(error);
#endif
}

}  // namespace

std::uint64_t read_settings() {
  const char* name = std::getenv("RANKLOOM_THREADS_OUT");
  if (name == nullptr || *name == '\0') name = "rankloom-threads.%p.prof";
  std::size_t length = 0;
  if (*name != '/' && ::getcwd(output, sizeof output - 1) != nullptr) {
    length = std::strlen(output);
    output[length++] = '/';
  }
  std::snprintf(output + length, sizeof output - length, "%s", name);
  const std::uint64_t window = window_from_environment();
  std::uint64_t lines = 1;
  while (lines * 2 <= window / line_bytes) lines *= 2;
  return lines;
}

void write_profile_file(bool is_fork_child) {
  const BlockedSignals blocked;
  int error = ENAMETOOLONG;
  if (expand_path(target, is_fork_child)) {
    const bool in_place = is_device(target);
    std::snprintf(temporary, sizeof temporary, in_place ? "%s" : "%s.%d~", target, ::getpid());
    out.open(temporary);
    const bool written = write_profile() && out.close();
    if (written && (in_place || ::rename(temporary, target) == 0)) return;
    error = out.error() != 0 ? out.error() : errno;
    if (!in_place) ::unlink(temporary);
  }
  const int length = std::snprintf(message, sizeof message, "rankloom: cannot write the profile %s: %s\n", target,
                                   description_of(error));
  if (length > 0) [[maybe_unused]]
    const auto written = ::write(STDERR_FILENO, message, static_cast<std::size_t>(length));
}

}  // namespace rankloom::threads
