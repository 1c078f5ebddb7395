// SPDX-License-Identifier: Apache-2.0
// capture/record: the recorder inside one process, from the first call of MPI to the last.
#include "rankloom/capture/record/recorder.hpp"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sched.h>
#include <unistd.h>

#include "rankloom/capture/record/communicators.hpp"
#include "rankloom/capture/record/gather.hpp"
#if defined(RANKLOOM_TRACE)
#include "rankloom/capture/record/trace.hpp"
#endif

extern char* program_invocation_name;

namespace rankloom::record {

constinit Recorder recorder;
thread_local constinit int depth = 0;

namespace {

#if defined(OPEN_MPI)
constexpr const char* built_for = "Open MPI";
constexpr const char* families[] = {"Open MPI"};
#else
constexpr const char* built_for = "MPICH";
constexpr const char* families[] = {"MPICH", "Intel(R) MPI", "MVAPICH"};  // they share one binary interface
#endif

#if !defined(RANKLOOM_TRACE)
/// In the recorder that only counts.
struct NoTrace {
  static void open(int) {}
  static void close() {}
  static void enter(std::uint64_t) {}
  static void leave() {}
};
constexpr NoTrace trace;
#endif

constinit std::atomic_flag beginning;
constinit pid_t process = 0;
constinit char output[PATH_MAX];

/// Launchers tell ranks who they are before MPI does.
bool speaks_for_all() {
  for (const char* const variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    if (const char* const value = std::getenv(variable)) return std::strcmp(value, "0") == 0;
  }
  return true;
}

void complain(const char* what) {
  if (speaks_for_all()) std::fprintf(stderr, "rankloom: nothing is recorded: %s\n", what);
}

bool is_our_mpi(char* version) {
  int length = 0;
  if (find_symbol("PMPI_Get_library_version") == nullptr) return false;
  pmpi::Get_library_version(version, &length);
  for (const char* const family : families) {
    if (std::strstr(version, family) != nullptr) return true;
  }
  return false;
}

bool mpi_runs() {
  int yes = 0, over = 0;
  if (find_symbol("PMPI_Initialized") == nullptr) return false;
  pmpi::Initialized(&yes);
  if (yes != 0) pmpi::Finalized(&over);
  return yes != 0 && over == 0;
}

/// An absolute path: the program may go to another folder.
bool choose_output() {
  const char* const wanted = std::getenv("RANKLOOM_RECORD_OUT");
  const char* const name = wanted != nullptr && *wanted != '\0' ? wanted : "rankloom.recording";
  std::size_t length = 0;
  if (*name != '/') {
    if (::getcwd(output, sizeof output - 2) == nullptr) return false;
    length = std::strlen(output);
    output[length++] = '/';
  }
  if (length + std::strlen(name) + 32 > sizeof output) return false;
  std::memcpy(output + length, name, std::strlen(name) + 1);
  return true;
}

std::uint64_t window_from_environment() {
  const char* const text = std::getenv("RANKLOOM_RECORD_WINDOW_NS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
}

/// MPI's default: who makes a mistake is ended.
bool errors_are_fatal() {
  MPI_Errhandler handler{};
  if (pmpi::Comm_get_errhandler(recorder.world, &handler) != MPI_SUCCESS) return false;
  const bool fatal = handler == errors_are_fatal_handler();
  pmpi::Errhandler_free(&handler);
  return fatal;
}

bool is_spawned() {
  MPI_Comm parent{};
  pmpi::Comm_get_parent(&parent);
  return parent != comm_null();
}

template <std::size_t size>
void copy(char (&to)[size], const char* from) {
  const std::size_t length = ::strnlen(from, size - 1);
  std::memcpy(to, from, length);
  to[length] = '\0';
}

void describe(RankImage& image, const char* version) {
  image.rank = static_cast<std::uint32_t>(recorder.rank);
  image.process = static_cast<std::uint32_t>(::getpid());
  ::gethostname(image.host, sizeof image.host - 1);
  copy(image.program, program_invocation_name);
  copy(image.mpi, version);
  if (char* const line = std::strpbrk(image.mpi, ",\n")) *line = '\0';
  // Last: who watches an image while it is filled takes it for one from then on.
  __atomic_store_n(&image.ranks, static_cast<std::uint32_t>(recorder.ranks), __ATOMIC_RELEASE);
}

State start() {
  constinit static char version[8192 + 1];
  if (!is_our_mpi(version)) {
    char message[256];
    std::snprintf(message, sizeof message,
                  "the program runs another MPI than %s, for which this recorder was built; name the right one with "
                  "rankloom record --mpi",
                  built_for);
    complain(message);
    return State::off;
  }
  if (is_spawned()) return State::off;  // a world of its own; what its parents send to it is counted there
  recorder.world = comm_world();
  pmpi::Comm_rank(recorder.world, &recorder.rank);
  pmpi::Comm_size(recorder.world, &recorder.ranks);
  pmpi::Comm_group(recorder.world, &recorder.world_group);
  int level = 0;
  pmpi::Query_thread(&level);
  recorder.threaded = level == MPI_THREAD_MULTIPLE;
  recorder.may_fail = !errors_are_fatal();
  if (!choose_output()) {
    complain("the path of the recording is too long");
    return State::off;
  }
  char piece[PATH_MAX];
  std::snprintf(piece, sizeof piece, "%s.%d", output, recorder.rank);
  if (!recorder.counters.open(piece, window_from_environment())) {
    complain("there is no memory for it");
    return State::off;
  }
  describe(recorder.counters.arena().head(), version);
  open_communicators();
  process = ::getpid();
  trace.open(recorder.rank);
  return State::on;
}

/// Programs that never call MPI_Finalize, or do so where we do not see it.
[[gnu::destructor]] void end_with_the_process() {
  if (recorder.state.load() != State::on || process != ::getpid()) return;
  recorder.state.store(State::off);
  recorder.counters.close(Ending::exited);
  trace.close();
}

}  // namespace

bool begin() {
  if (recorder.state.load(std::memory_order_acquire) != State::unknown) {
    return recorder.state.load(std::memory_order_acquire) == State::on;
  }
  ++depth;
  if (mpi_runs()) {
    while (beginning.test_and_set(std::memory_order_acquire)) ::sched_yield();
    if (recorder.state.load(std::memory_order_acquire) == State::unknown) {
      recorder.state.store(start(), std::memory_order_release);
    }
    beginning.clear(std::memory_order_release);
  }
  --depth;
  return recorder.state.load(std::memory_order_acquire) == State::on;
}

void finish() {
  if (recorder.state.load() != State::on) return;
  recorder.state.store(State::off);
  recorder.counters.close(Ending::finalized);
  trace.close();
  Arena& arena = recorder.counters.arena();
  // Whoever launched us may know of ranks that could not come: then nobody waits for them, and the pieces stay.
  const char* const together = std::getenv("RANKLOOM_RECORD_GATHER");
  if (together != nullptr && std::strcmp(together, "0") == 0) return;
  if (gather(arena.head(), output)) {
    arena.remove_file();
  } else if (!arena.has_file()) {
    complain("the recording can be written nowhere (is the disk full?)");
  }
}

void abandon() {
  const Turn turn;
  recorder.counters.close(Ending::aborted);
  trace.close();
}

void expect_failures() {
  const Turn turn;
  recorder.may_fail = true;
  recorder.counters.settle();
}

void Call::start() {
  begin_ = ticks();
  if constexpr (is_tracing) {
    const Turn turn;
    trace.enter(begin_);
  }
  if (begin_ < recorder.counters.phase_ends()) return;
  const Turn turn;
  if (begin_ >= recorder.counters.phase_ends()) recorder.counters.next_window(begin_);
}

void Call::stop() const {
  const std::uint64_t now = ticks();
  pace_.learn(now - begin_);
  if (recorder.state.load(std::memory_order_relaxed) != State::on) return;
  const Turn turn;
  recorder.counters.spend((now - begin_) * weight_, now);
  trace.leave();
}

void Turn::wait() {
  while (recorder.busy.test_and_set(std::memory_order_acquire)) ::sched_yield();
}

}  // namespace rankloom::record
