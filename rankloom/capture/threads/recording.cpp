// SPDX-License-Identifier: Apache-2.0
// capture/threads: the roster and its counts become a profile.
#include "rankloom/capture/threads/recording.hpp"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rankloom/capture/threads/chunk_writer.hpp"
#include "rankloom/capture/threads/roster.hpp"
#include "rankloom/capture/threads/work.hpp"

namespace rankloom::threads {

namespace {

constexpr std::uint64_t default_window = std::uint64_t{64} << 20;
constexpr std::uint64_t least_window = std::uint64_t{64} << 10, largest_window = std::uint64_t{64} << 30;

constinit char output[PATH_MAX];  // absolute: the program may go to another folder

std::uint64_t read_size(const char* text) {
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text, &end, 10);
  const char* const units = "KMG";
  const char* const unit = *end != '\0' ? std::strchr(units, *end & ~0x20) : nullptr;
  return number << (unit != nullptr ? 10 * (unit - units + 1) : 0);
}

/// The pattern with the process id in place of %p. False: it does not fit.
bool name_file(char (&name)[PATH_MAX], bool is_fork_child) {
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

/// Which place becomes which rank: OpenMP's numbers first, all others fill the gaps and follow in the order of
/// creation.
struct Ranks {
  std::uint16_t place[most_threads]{};
  std::uint32_t count = 0;
};
constinit Ranks ranks;

void number_ranks() {
  constexpr std::uint16_t nobody = UINT16_MAX;
  const std::uint32_t places = places_in_use();
  ranks.count = 0;
  for (std::uint32_t number = 0; number < places; ++number) ranks.count += place(number).received != nullptr ? 1 : 0;
  for (std::uint32_t rank = 0; rank < ranks.count; ++rank) ranks.place[rank] = nobody;
  const auto has_openmp_number = [](std::uint32_t number) {
    return place(number).openmp_seen && static_cast<std::uint32_t>(place(number).openmp_number) < ranks.count;
  };
  for (std::uint32_t number = 0; number < places; ++number) {
    if (place(number).received == nullptr || !has_openmp_number(number)) continue;
    std::uint16_t& wanted = ranks.place[place(number).openmp_number];
    if (wanted == nobody) wanted = static_cast<std::uint16_t>(number);
  }
  std::uint32_t next = 0;
  for (std::uint32_t number = 0; number < places; ++number) {
    if (place(number).received == nullptr) continue;
    if (has_openmp_number(number) && ranks.place[place(number).openmp_number] == number) continue;
    while (ranks.place[next] != nobody) ++next;
    ranks.place[next] = static_cast<std::uint16_t>(number);
  }
}

/// Lines moved from each rank to each, in one piece: threads may still run, and all columns of the file must agree.
class Matrix {
 public:
  explicit Matrix(std::uint32_t size) : size_(size) {
    void* const memory = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    moves_ = static_cast<std::uint64_t*>(memory);
    for (std::uint32_t to = 0; to < size; ++to) {
      const std::uint64_t* const received = place(ranks.place[to]).received;
      for (std::uint32_t from = 0; from < size; ++from)
        moves_[from * std::size_t{size} + to] = received[ranks.place[from]];
    }
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() {
    if (good()) ::munmap(moves_, bytes());
  }

  bool good() const { return moves_ != nullptr; }
  std::uint32_t size() const { return size_; }

  /// Calls step(from, to, moves, starts) for every pair that talks; `starts` at the first of a row.
  template <class Step>
  void for_pairs(const Step& step) const {
    for (std::uint32_t from = 0; from < size_; ++from) {
      bool starts = true;
      for (std::uint32_t to = 0; to < size_; ++to) {
        const std::uint64_t moves = moves_[from * std::size_t{size_} + to];
        if (moves == 0) continue;
        step(from, to, moves, starts);
        starts = false;
      }
    }
  }

 private:
  std::size_t bytes() const { return std::size_t{size_} * size_ * sizeof(std::uint64_t); }
  std::uint32_t size_;
  std::uint64_t* moves_ = nullptr;
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

void write_graph(ChunkWriter& out, const Matrix& matrix, const Work* work, bool instructions) {
  constexpr std::uint32_t point_to_point = 0, with_messages = 2, with_loads = 4, reserved = 0;
  std::uint64_t edges = 0;
  matrix.for_pairs([&](auto...) { ++edges; });
  out.begin("GRPH");
  for (const std::uint32_t word : {point_to_point, with_messages | with_loads, matrix.size(), reserved}) out.put(word);
  out.put(edges);
  out.begin("ROWS");
  std::uint32_t row = 0, degree = 0;
  const auto end_rows = [&](std::uint32_t before) {
    for (; row < before; ++row, degree = 0) out.put(degree);
  };
  matrix.for_pairs([&](std::uint32_t from, auto...) {
    end_rows(from);
    ++degree;
  });
  end_rows(matrix.size());
  out.begin("DEST");
  std::uint32_t before = 0;
  matrix.for_pairs([&](std::uint32_t from, std::uint32_t to, std::uint64_t, bool starts) {
    out.make_room(sizeof to);
    out.put(to - (starts || out.empty() ? from : before));
    before = to;
  });
  out.begin("BYTE");
  matrix.for_pairs([&](auto, auto, std::uint64_t moves, auto) { out.put(static_cast<double>(moves * line_bytes)); });
  out.begin("MSGS");
  matrix.for_pairs([&](auto, auto, std::uint64_t moves, auto) { out.put(static_cast<double>(moves)); });
  out.begin("LOAD");
  for (std::uint32_t rank = 0; rank < matrix.size(); ++rank)
    out.put(instructions ? work[rank].instructions
                         : static_cast<double>(static_cast<std::uint64_t>(work[rank].seconds * 1e6)));
  out.end();
}

void write_activity(ChunkWriter& out, const Work* work, std::uint32_t count, bool instructions) {
  out.begin("ACTV");
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    out.make_room(3 * sizeof(double));
    out.put(0.0);  // no time in MPI
    out.put(work[rank].seconds);
    out.put(instructions ? work[rank].instructions : 0.0);
  }
  out.end();
}

// All of this is used once, at the end, perhaps on the small stack of a signal handler.
constinit Work work[most_threads];
constinit ChunkWriter out;
constinit char target[PATH_MAX], temporary[PATH_MAX + 16], message[PATH_MAX + 128];

/// A pipe or /dev/null is written to, not replaced.
bool is_device(const char* path) {
  struct stat status {};
  return ::stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

bool write_profile() {
  number_ranks();
  const Matrix matrix(ranks.count);
  if (!matrix.good()) return false;
  bool instructions = true;
  for (std::uint32_t rank = 0; rank < ranks.count; ++rank) {
    work[rank] = work_so_far(place(ranks.place[rank]));
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

/// A full disk or a reader that went away is told by an error, not by a signal that ends the program.
class QuietSignals {
 public:
  QuietSignals() {
    ::sigemptyset(&quiet_);
    ::sigaddset(&quiet_, SIGXFSZ);
    ::sigaddset(&quiet_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &quiet_, &before_);
  }
  QuietSignals(const QuietSignals&) = delete;
  QuietSignals& operator=(const QuietSignals&) = delete;
  ~QuietSignals() {
    const timespec at_once{};
    while (::sigtimedwait(&quiet_, nullptr, &at_once) > 0) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t quiet_{}, before_{};
};

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
  const char* const text = std::getenv("RANKLOOM_THREADS_WINDOW");
  std::uint64_t window = text != nullptr ? read_size(text) : default_window;
  window = window < least_window ? (window == 0 ? default_window : least_window) : window;
  window = window > largest_window ? largest_window : window;
  std::uint64_t lines = 1;
  while (lines * 2 <= window / line_bytes) lines *= 2;
  return lines;
}

void write_recording(bool is_fork_child) {
  const QuietSignals quiet;
  int error = ENAMETOOLONG;
  if (name_file(target, is_fork_child)) {
    const bool in_place = is_device(target);
    std::snprintf(temporary, sizeof temporary, in_place ? "%s" : "%s.%d~", target, ::getpid());
    out.open(temporary);
    const bool written = write_profile() && out.close();
    if (written && (in_place || ::rename(temporary, target) == 0)) return;
    error = out.error() != 0 ? out.error() : errno;
    if (!in_place) ::unlink(temporary);
  }
  const int length = std::snprintf(message, sizeof message, "rankloom: the recording %s was not written: %s\n", target,
                                   ::strerrordesc_np(error));
  if (length > 0) [[maybe_unused]]
    const auto told = ::write(STDERR_FILENO, message, static_cast<std::size_t>(length));
}

}  // namespace rankloom::threads
