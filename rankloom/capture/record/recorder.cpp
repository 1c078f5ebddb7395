// SPDX-License-Identifier: Apache-2.0
// capture/record: the recorder of one process, from MPI_Init to MPI_Finalize. It never communicates with other ranks,
// so it cannot block a program in which a rank has no recorder: each rank writes its own file.
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rankloom/capture/record/call_timer.hpp"
#include "rankloom/capture/record/pmpi/communicators.hpp"
#if defined(RANKLOOM_TRACE)
#include "rankloom/capture/record/tracing/trace.hpp"
#endif
#include "rankloom/core/job_identity.hpp"
#include "rankloom/core/system/cpu_set.hpp"

namespace rankloom::record {

constinit Recorder recorder;
thread_local constinit int reentrancy_depth = 0;

namespace {

#if defined(RANKLOOM_MPI_ABI)
constexpr const char* built_for = "one with the ABI of MPI 5";
#elif defined(OPEN_MPI)
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
constinit char mpi_version[8192 + 1];
#if defined(RANKLOOM_SESSIONS)
constinit std::atomic<int> sessions{0};
constinit bool begun_by_session = false;
#endif

/// In large jobs, one rank of each host reports.
bool should_report() {
  constexpr int max_reporting_ranks = 64;
  return recorder.ranks <= max_reporting_ranks || local_rank_from_environment().value_or(0) == 0;
}

/// Says what is wrong in this rank. If all ranks have the same reason, only rank 0 prints; before MPI_Init, its rank is
/// known from the launcher's environment.
void report_not_recorded(const char* why, bool concerns_all_ranks) {
  const auto rank = static_cast<unsigned long long>(rank_from_environment().value_or(0));
  if (concerns_all_ranks ? rank == 0 : should_report())
    std::fprintf(stderr, "rankloom: rank %llu is not recorded: %s\n", rank, why);
}

#if defined(RANKLOOM_MPI_ABI)
/// Libraries with other handles have no such function, or return -1.
bool has_expected_handles() {
  int major = -1, minor = -1;
  return pmpi::Abi_get_version.get() != nullptr && pmpi::Abi_get_version(&major, &minor) == MPI_SUCCESS &&
         major == MPI_ABI_VERSION;
}
#else
/// Libraries with the ABI of MPI 5 have the same names, but other handles.
bool has_expected_handles() {
  auto* const abi_version = reinterpret_cast<int (*)(int*, int*)>(find_symbol("PMPI_Abi_get_version"));
  int major = -1, minor = -1;
  if (abi_version != nullptr && abi_version(&major, &minor) == MPI_SUCCESS && major >= 0) return false;
  for (const char* const family : families) {
    if (std::strstr(mpi_version, family) != nullptr) return true;
  }
  return false;
}
#endif

bool is_supported_mpi() {
  int length = 0;
  if (pmpi::Get_library_version.get() != nullptr) {
    pmpi::Get_library_version(mpi_version, &length);
    if (has_expected_handles()) return true;
  }
  char message[256];
  std::snprintf(message, sizeof message,
                "the program uses another MPI library than %s, for which this recorder was built; choose the recorder "
                "with rankloom record --mpi",
                built_for);
  report_not_recorded(message, true);
  return false;
}

bool is_mpi_initialized() {
  int initialized = 0, finalized = 0;
  if (pmpi::Initialized.get() == nullptr) return false;
  pmpi::Initialized(&initialized);
  if (initialized != 0) pmpi::Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

/// The file of this rank: PREFIX.JOB.RANK, and in which directories it can be.
class PieceFile {
 public:
  /// Chooses absolute paths, because the program may change its working directory.
  void choose() {
    job_ = job_identity();
    const char* const requested = std::getenv("RANKLOOM_RECORD_OUT");
    const char* const name = requested != nullptr && *requested != '\0' ? requested : "rankloom.recording";
    std::size_t length = 0;
    if (*name != '/') {
      if (::getcwd(prefix_, sizeof prefix_ - 2) == nullptr) prefix_error_ = errno;
      length = std::strlen(prefix_);
      prefix_[length++] = '/';
    }
    if (length + std::strlen(name) + max_suffix > sizeof prefix_) prefix_error_ = ENAMETOOLONG;
    std::snprintf(prefix_ + length, sizeof prefix_ - length, "%s", name);
    const char* const temporary = std::getenv("TMPDIR");
    std::snprintf(spare_prefix_, sizeof spare_prefix_, "%.*s/rankloom-record-%016llx", PATH_MAX / 2,
                  temporary != nullptr && *temporary == '/' ? temporary : "/tmp",
                  static_cast<unsigned long long>(hash_text(prefix_)));
  }

  /// Calls use(path), which returns 0 or an errno, for the first name that does not exist: where the file belongs, or
  /// else in the directory for temporary files. Returns 0 or the first errno.
  template <class Use>
  int find_place(const Use& use) {
    const int error = prefix_error_ != 0 ? prefix_error_ : find_name(prefix_, use);
    if (error == 0) return 0;
    if (find_name(spare_prefix_, use) != 0) return error;
    report_spare(error);
    return 0;
  }

  std::uint32_t repeat() const { return repeat_; }
  const JobIdentity& job() const { return job_; }
  const char* prefix() const { return prefix_; }

 private:
  static constexpr std::size_t max_suffix = 48;

  template <class Use>
  int find_name(const char* prefix, const Use& use) {
    constexpr std::uint32_t max_repeats = 1000;
    int error = EEXIST;
    for (repeat_ = 0; repeat_ < max_repeats; ++repeat_) {
      char path[PATH_MAX + max_suffix], number[16] = "";
      if (repeat_ > 0) std::snprintf(number, sizeof number, "-%u", repeat_);
      std::snprintf(path, sizeof path, "%s.%016llx%s.%d", prefix, static_cast<unsigned long long>(job_.hash()), number,
                    recorder.rank);
      error = use(path);
      if (error != EEXIST) break;
    }
    return error;
  }

  void report_spare(int error) const {
    if (!should_report()) return;
    char host[64]{};
    ::gethostname(host, sizeof host - 1);
    std::fprintf(stderr, "rankloom: rank %d cannot write %s.*: %s. Its recording is on %s: %s.*\n", recorder.rank,
                 prefix_, std::strerror(error), host, spare_prefix_);
  }

  JobIdentity job_;
  std::uint32_t repeat_ = 0;
  int prefix_error_ = 0;
  char prefix_[PATH_MAX]{};
  char spare_prefix_[PATH_MAX]{};
};
constinit PieceFile piece;

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

/// The number of threads of this process; 0 if it is unknown. Allocates nothing: it is called while a program ends.
std::uint32_t count_threads() {
  const int folder = ::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return 0;
  struct Entry {  // as the kernel returns it
    std::uint64_t inode, offset;
    std::uint16_t length;
    std::uint8_t type;
    char name[1];
  };
  alignas(Entry) char buffer[4096];
  std::uint32_t threads = 0;
  for (;;) {
    const long size = ::syscall(SYS_getdents64, folder, buffer, sizeof buffer);
    if (size <= 0) break;
    for (long at = 0; at < size;) {
      Entry entry;
      std::memcpy(&entry, buffer + at, sizeof entry);
      if (entry.name[0] != '.') ++threads;
      at += entry.length;
    }
  }
  ::close(folder);
  return threads;
}

void describe(RankRecord& record) {
  record.rank = static_cast<std::uint32_t>(recorder.rank);
  record.process = static_cast<std::uint32_t>(::getpid());
  record.repeat = piece.repeat();
  record.started_ns = nanoseconds(CLOCK_REALTIME);  // tells runs apart; words: ok
  copy(record.job, piece.job().text);
  ::gethostname(record.host, sizeof record.host - 1);
  if (const auto allowed = CpuSet::allowed()) {
    for (std::uint32_t cpu = 0; cpu < std::min<std::uint32_t>(allowed->capacity(), max_recorded_cpus); ++cpu) {
      if (allowed->contains(cpu)) record.cpus[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
    }
  }
  record.first_threads = count_threads();
  copy(record.program, program_invocation_name);
  copy(record.mpi, mpi_version);
  if (char* const line = std::strpbrk(record.mpi, ",\n")) *line = '\0';
  // Last: a LiveRankRecord accepts the file as soon as `ranks` is set.
  __atomic_store_n(&record.ranks, static_cast<std::uint32_t>(recorder.ranks), __ATOMIC_RELEASE);
}

/// Begins or continues the record; the group of all ranks is known.
State open_record() {
  pmpi::Group_rank(recorder.world_group, &recorder.rank);
  pmpi::Group_size(recorder.world_group, &recorder.ranks);
  Arena& arena = recorder.counters.arena();
  if (!arena.is_open()) {
    piece.choose();
    piece.find_place([&](const char* path) { return arena.create_file(path); });
    if (!recorder.counters.open(window_from_environment())) {
      report_not_recorded("there is no memory for its counters", false);
      return State::off;
    }
    describe(arena.head());
    recording_process = ::getpid();
    trace.open(recorder.rank);
  }
  arena.head().ending = Ending::none;
  open_communicators();
  return State::on;
}

State start() {
  if (!is_supported_mpi()) return State::off;
  if (is_spawned()) return State::off;  // its MPI_COMM_WORLD is another one; the parent counts its messages to it
  recorder.world = comm_world();
  pmpi::Comm_group(recorder.world, &recorder.world_group);
  int level = 0;
  pmpi::Query_thread(&level);
  recorder.threaded = level == MPI_THREAD_MULTIPLE;
  recorder.errors_may_return = !errors_are_fatal();
  return open_record();
}

#if defined(RANKLOOM_SESSIONS)
State start_with(MPI_Session session) {
  if (!is_supported_mpi()) return State::off;
  if (pmpi::Group_from_session_pset(session, "mpi://WORLD", &recorder.world_group) != MPI_SUCCESS)
    return State::unknown;
  recorder.world = comm_world();  // valid only if the program also calls MPI_Init
  recorder.threaded = true;       // each session has its own level
  begun_by_session = true;
  return open_record();
}
#endif

/// Sets the state by start() if it is unknown.
template <class Start>
void begin_by(const Start& start) {
  ++reentrancy_depth;
  while (beginning.test_and_set(std::memory_order_acquire)) ::sched_yield();
  if (recorder.state.load(std::memory_order_acquire) == State::unknown)
    recorder.state.store(start(), std::memory_order_release);
  beginning.clear(std::memory_order_release);
  --reentrancy_depth;
}

void close_record(Ending ending) {
  recorder.counters.close(ending);
  trace.close();
  Arena& arena = recorder.counters.arena();
  if (arena.has_file()) return;
  const int error = piece.find_place([&](const char* path) {
    // A file that could not grow or be deleted may exist under the first name; the rank belongs to the same job as
    // before.
    if (!arena.had_file()) arena.head().repeat = piece.repeat();
    return arena.save(path);
  });
  if (error != 0 && should_report())
    std::fprintf(stderr, "rankloom: the recording of rank %d is lost: cannot write %s.*: %s\n", recorder.rank,
                 piece.prefix(), std::strerror(error));
}

/// For programs that end without MPI_Finalize.
[[gnu::destructor]] void close_at_exit() {
  if (recorder.state.load() != State::on || recording_process != ::getpid()) return;
  recorder.state.store(State::off);
  if (!recorder.counters.arena().is_moving()) close_record(Ending::exited);
}

}  // namespace

bool begin() {
  if (recorder.state.load(std::memory_order_acquire) == State::unknown && is_mpi_initialized()) begin_by(start);
  return recorder.state.load(std::memory_order_acquire) == State::on;
}

#if defined(RANKLOOM_SESSIONS)
void begin_session(MPI_Session session) {
  ++sessions;
  if (recorder.state.load(std::memory_order_acquire) == State::unknown) begin_by([&] { return start_with(session); });
}

/// After the last session MPI objects are invalid, but the program may create another session.
void finish_session() {
  if (--sessions > 0 || !begun_by_session || is_mpi_initialized()) return;
  const CounterLock lock;
  if (recorder.state.load() != State::on) return;
  recorder.state.store(State::unknown);
  forget_communicators();
  close_record(Ending::finalized);
}
#endif

void finish() {
  if (recorder.state.load() != State::on) return;
  recorder.state.store(State::off);
  recorder.counters.arena().head().last_threads = count_threads();
  close_record(Ending::finalized);
}

void record_abort() {
  if (recorder.state.load() != State::on || recording_process != ::getpid()) return;
  // If the recorder was interrupted in the middle of a change, its record stays as it is: it is complete but for the
  // reason of the end.
  if (!CounterLock::acquire_unless_held()) return;
  if (!recorder.counters.arena().is_moving()) close_record(Ending::aborted);
  CounterLock::release();
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

bool CounterLock::acquire_unless_held() {
  constexpr int attempts = 1000;
  if (!recorder.threaded) return true;
  for (int i = 0; i < attempts; ++i, ::sched_yield()) {
    if (!recorder.locked.test_and_set(std::memory_order_acquire)) return true;
  }
  return false;
}

void CounterLock::release() {
  if (recorder.threaded) recorder.locked.clear(std::memory_order_release);
}

}  // namespace rankloom::record
