// SPDX-License-Identifier: Apache-2.0
// place/reorder: whether all ranks have this library.
#include "rankloom/place/reorder/library/agreement.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rankloom/core/job_identity.hpp"
#include "rankloom/place/reorder/library/negotiate.hpp"
#include "rankloom/place/reorder/library/virtual_topology.hpp"

namespace rankloom::reorder {

namespace {

using Clock = std::chrono::steady_clock;

constexpr char present = '1', withdrawn = '0';

/// Files that all ranks of the job see: one with a byte per rank, and the decision, a symbolic link, because a link is
/// created together with its content and by one rank only, on network file systems too.
struct Agreement {
  std::string announcements, decision;  // empty: this rank has not announced itself
  int rank = 0, ranks = 0;
  std::optional<bool> answer;
  std::mutex mutex;
};

/// Never destroyed, because remove_files() runs after the destructors of static objects.
Agreement& agreement() {
  static Agreement& instance = *new Agreement;
  return instance;
}

/// RANKLOOM_REORDER_DIR must be on a file system that all hosts share. On one host any directory will do.
std::string shared_directory(int ranks) {
  const char* const directory = std::getenv("RANKLOOM_REORDER_DIR");
  if (directory != nullptr && *directory == '/') return directory;
  if (local_size_from_environment().value_or(0) != static_cast<std::uint64_t>(ranks)) return {};
  return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

Clock::duration patience() {
  constexpr int default_seconds = 10;
  const char* const text = std::getenv("RANKLOOM_REORDER_WAIT");
  return std::chrono::seconds(text != nullptr && *text >= '0' && *text <= '9' ? std::atoi(text) : default_seconds);
}

bool write_mark(const Agreement& job, char mark) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < static_cast<rlim_t>(job.ranks)) return false;
  const int file = ::open(job.announcements.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return false;
  const bool written = ::pwrite(file, &mark, 1, job.rank) == 1;
  return ::close(file) == 0 && written;
}

int count_announcements(const Agreement& job) {
  const int file = ::open(job.announcements.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return 0;
  std::string marks(static_cast<std::size_t>(job.ranks), withdrawn);
  ssize_t got = 0;
  for (std::size_t at = 0; at < marks.size(); at += static_cast<std::size_t>(got)) {
    got = ::pread(file, marks.data() + at, marks.size() - at, static_cast<off_t>(at));
    if (got <= 0) break;
  }
  ::close(file);
  return static_cast<int>(std::count(marks.begin(), marks.end(), present));
}

/// Nothing: no rank has decided yet.
std::optional<bool> read_decision(const Agreement& job) {
  std::array<char, 8> text{};
  const ssize_t length = ::readlink(job.decision.c_str(), text.data(), text.size());
  if (length <= 0) return std::nullopt;
  return std::string_view(text.data(), static_cast<std::size_t>(length)) == "all";
}

/// Polls for the decision of another rank.
bool wait_for_decision(const Agreement& job) {
  for (const auto end = Clock::now() + patience(); Clock::now() < end;) {
    if (const auto decided = read_decision(job)) return *decided;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

bool decide(const Agreement& job) {
  constexpr std::chrono::milliseconds max_pause{100};
  std::chrono::milliseconds pause{1};
  int announced = 0;
  auto last_announcement = Clock::now();
  while (true) {
    if (const auto decided = read_decision(job)) return *decided;
    const int now_announced = count_announcements(job);
    if (now_announced > announced) last_announcement = Clock::now();
    announced = now_announced;
    const bool all = announced == job.ranks;
    if (all || Clock::now() - last_announcement >= patience()) {
      // Another rank may decide at the same time: the link of the first one counts.
      if (::symlink(all ? "all" : "some", job.decision.c_str()) == 0) {
        if (!all)
          std::fprintf(stderr, "rankloom: ranks are not reordered: %d of %d ranks have the library\n", announced,
                       job.ranks);
        return all;
      }
      if (const auto decided = read_decision(job)) return *decided;
      write_mark(job, withdrawn);  // this rank cannot decide, so the others must not count on it
      return wait_for_decision(job);
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, max_pause);
  }
}

/// After MPI_Finalize no rank needs the files. After an abnormal end they stay.
[[gnu::destructor]] void remove_files() {
  const Agreement& job = agreement();
  int finalized = 0;
  if (job.announcements.empty() || job.rank != 0 || record::pmpi::Finalized.get() == nullptr) return;
  if (record::pmpi::Finalized(&finalized) != MPI_SUCCESS || finalized == 0) return;
  ::unlink(job.decision.c_str());
  ::unlink(job.announcements.c_str());
}

}  // namespace

void announce() noexcept {
  try {
    Agreement& job = agreement();
    const std::lock_guard lock(job.mutex);
    if (!job.announcements.empty() || !is_enabled()) return;
    const MPI_Comm world = record::comm_world();
    if (pmpi::Comm_rank(world, &job.rank) != MPI_SUCCESS || pmpi::Comm_size(world, &job.ranks) != MPI_SUCCESS) return;
    const std::string directory = shared_directory(job.ranks);
    const JobIdentity identity = job_identity();
    if (directory.empty() || !identity.is_known()) {
      if (job.rank == 0 && job.ranks > 1 && is_verbose())
        std::fprintf(stderr,
                     "rankloom reorder: order kept: the ranks cannot agree that all of them have the library; set "
                     "RANKLOOM_REORDER_DIR to a directory that all hosts share\n");
      return;
    }
    std::array<char, 64> name{};
    std::snprintf(name.data(), name.size(), "/rankloom-reorder-%u-%016llx", static_cast<unsigned>(::getuid()),
                  static_cast<unsigned long long>(identity.hash()));
    job.announcements = directory + name.data();
    job.decision = job.announcements + ".decision";
    if (!write_mark(job, present)) job.announcements.clear();
  } catch (...) {
    // Without memory this rank does not take part, so nothing is reordered.
  }
}

bool all_ranks_take_part() noexcept {
  try {
    Agreement& job = agreement();
    const std::lock_guard lock(job.mutex);
    if (job.announcements.empty()) return false;
    if (!job.answer) job.answer = decide(job);
    return *job.answer;
  } catch (...) {
    return false;
  }
}

}  // namespace rankloom::reorder
