// SPDX-License-Identifier: Apache-2.0
// capture/record: the recorder of one process, from MPI_Init to MPI_Finalize.
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sched.h>
#include <unistd.h>

#include "rankloom/capture/record/call_timer.hpp"
#include "rankloom/capture/record/pmpi/communicators.hpp"
#if defined(RANKLOOM_TRACE)
#include "rankloom/capture/record/tracing/trace.hpp"
#endif
#include "rankloom/core/launcher_environment.hpp"

extern char* program_invocation_name;

namespace rankloom::record {

constinit Recorder recorder;
thread_local constinit int reentrancy_depth = 0;

namespace {

#if defined(OPEN_MPI)
constexpr const char* built_for = "Open MPI";
constexpr const char* families[] = {"Open MPI"};
#else
constexpr const char* built_for = "MPICH";
constexpr const char* families[] = {"MPICH", "Intel(R) MPI", "MVAPICH"};  // they share the MPICH ABI
#endif

#if !defined(RANKLOOM_TRACE)
/// The library that only counts has no trace.
struct NoTrace {
  static void open(int) {}
  static void close() {}
  static void enter(std::uint64_t) {}
  static void leave() {}
};
constexpr NoTrace trace;
#endif

constinit std::atomic_flag beginning;
constinit pid_t recording_process = 0;
constinit char output[PATH_MAX];

/// Prints why this process does not record. Only rank 0 prints; before MPI_Init, its rank is known from the launcher's
/// environment.
void report_not_recorded(const char* why) {
  if (rank_from_environment().value_or(0) == 0) std::fprintf(stderr, "rankloom: nothing is recorded: %s\n", why);
}
void report_not_recorded(const char* what, int error) {
  char message[256];
  std::snprintf(message, sizeof message, "%s: %s", what, std::strerror(error));
  report_not_recorded(message);
}

bool is_supported_mpi(char* version) {
  int length = 0;
  if (find_symbol("PMPI_Get_library_version") == nullptr) return false;
  pmpi::Get_library_version(version, &length);
  for (const char* const family : families) {
    if (std::strstr(version, family) != nullptr) return true;
  }
  return false;
}

bool is_mpi_initialized() {
  int initialized = 0, finalized = 0;
  if (find_symbol("PMPI_Initialized") == nullptr) return false;
  pmpi::Initialized(&initialized);
  if (initialized != 0) pmpi::Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

/// An absolute path, because the program may change its working directory. Sets errno if it returns false.
bool choose_output() {
  const char* const requested = std::getenv("RANKLOOM_RECORD_OUT");
  const char* const name = requested != nullptr && *requested != '\0' ? requested : "rankloom.recording";
  std::size_t length = 0;
  if (*name != '/') {
    if (::getcwd(output, sizeof output - 2) == nullptr) return false;
    length = std::strlen(output);
    output[length++] = '/';
  }
  if (length + std::strlen(name) + 32 > sizeof output) {
    errno = ENAMETOOLONG;
    return false;
  }
  std::memcpy(output + length, name, std::strlen(name) + 1);
  return true;
}

std::uint64_t window_from_environment() {
  const char* const text = std::getenv("RANKLOOM_RECORD_WINDOW_NS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
}

/// The default error handler of MPI, which aborts the program.
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

void describe(RankRecord& record, const char* version) {
  record.rank = static_cast<std::uint32_t>(recorder.rank);
  record.process = static_cast<std::uint32_t>(::getpid());
  ::gethostname(record.host, sizeof record.host - 1);
  copy(record.program, program_invocation_name);
  copy(record.mpi, version);
  if (char* const line = std::strpbrk(record.mpi, ",\n")) *line = '\0';
  // Last: a LiveRankRecord accepts the file as soon as `ranks` is set.
  __atomic_store_n(&record.ranks, static_cast<std::uint32_t>(recorder.ranks), __ATOMIC_RELEASE);
}

State start() {
  constinit static char version[8192 + 1];
  if (!is_supported_mpi(version)) {
    char message[256];
    std::snprintf(
        message, sizeof message,
        "the program uses another MPI library than %s, for which this recorder was built; choose the recorder "
        "with rankloom record --mpi",
        built_for);
    report_not_recorded(message);
    return State::off;
  }
  if (is_spawned()) return State::off;  // its MPI_COMM_WORLD is another one; the parent counts its messages to it
  recorder.world = comm_world();
  pmpi::Comm_rank(recorder.world, &recorder.rank);
  pmpi::Comm_size(recorder.world, &recorder.ranks);
  pmpi::Comm_group(recorder.world, &recorder.world_group);
  int level = 0;
  pmpi::Query_thread(&level);
  recorder.threaded = level == MPI_THREAD_MULTIPLE;
  recorder.errors_may_return = !errors_are_fatal();
  if (!choose_output()) {
    report_not_recorded("cannot determine the path of the recording", errno);
    return State::off;
  }
  char rank_file[PATH_MAX];
  std::snprintf(rank_file, sizeof rank_file, "%s.%d", output, recorder.rank);
  if (!recorder.counters.open(rank_file, window_from_environment())) {
    report_not_recorded("cannot allocate the counters", errno);
    return State::off;
  }
  describe(recorder.counters.arena().head(), version);
  open_communicators();
  recording_process = ::getpid();
  trace.open(recorder.rank);
  return State::on;
}

/// For programs that end without MPI_Finalize.
[[gnu::destructor]] void close_at_exit() {
  if (recorder.state.load() != State::on || recording_process != ::getpid()) return;
  recorder.state.store(State::off);
  recorder.counters.close(Ending::exited);
  trace.close();
}

}  // namespace

bool begin() {
  if (recorder.state.load(std::memory_order_acquire) != State::unknown) {
    return recorder.state.load(std::memory_order_acquire) == State::on;
  }
  ++reentrancy_depth;
  if (is_mpi_initialized()) {
    while (beginning.test_and_set(std::memory_order_acquire)) ::sched_yield();
    if (recorder.state.load(std::memory_order_acquire) == State::unknown) {
      recorder.state.store(start(), std::memory_order_release);
    }
    beginning.clear(std::memory_order_release);
  }
  --reentrancy_depth;
  return recorder.state.load(std::memory_order_acquire) == State::on;
}

void finish() {
  if (recorder.state.load() != State::on) return;
  recorder.state.store(State::off);
  recorder.counters.close(Ending::finalized);
  trace.close();
  Arena& arena = recorder.counters.arena();
  // If `rankloom record` cannot exclude ranks without a recorder, the others must not wait for them: the rank files
  // stay.
  const char* const gather_setting = std::getenv("RANKLOOM_RECORD_GATHER");
  if (gather_setting != nullptr && std::strcmp(gather_setting, "0") == 0) return;
  const int error = gather(arena.head(), output);
  if (error == 0) {
    arena.remove_file();
  } else if (!arena.has_file()) {
    report_not_recorded("cannot write the recording", error);
  }
}

void record_abort() {
  const CounterLock lock;
  recorder.counters.close(Ending::aborted);
  trace.close();
}

void expect_returned_errors() {
  const CounterLock lock;
  recorder.errors_may_return = true;
  recorder.counters.flush();
}

void Call::start() {
  begin_ = ticks();
  if constexpr (is_tracing) {
    const CounterLock lock;
    trace.enter(begin_);
  }
  if (begin_ < recorder.counters.phase_end()) return;
  const CounterLock lock;
  if (begin_ >= recorder.counters.phase_end()) recorder.counters.enter_window(begin_);
}

void Call::stop() const {
  const std::uint64_t now = ticks();
  sampler_.add_sample(now - begin_);
  if (recorder.state.load(std::memory_order_relaxed) != State::on) return;
  const CounterLock lock;
  recorder.counters.add_time((now - begin_) * weight_, now);
  trace.leave();
}

void CounterLock::acquire() {
  while (recorder.locked.test_and_set(std::memory_order_acquire)) ::sched_yield();
}

}  // namespace rankloom::record
