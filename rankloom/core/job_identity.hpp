// SPDX-License-Identifier: Apache-2.0
// core: which MPI job a process belongs to. One script may start several MPI programs, and the files of their ranks
// must not be mixed. All ranks of a job find the same text without communication. Header only and without the C++
// library, so that the preload libraries include it.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <unistd.h>

#include "rankloom/core/launcher_environment.hpp"

namespace rankloom {

/// FNV-1a.
constexpr std::uint64_t hash_text(const char* text) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100'0000'01b3;
  return hash;
}

struct JobIdentity {
  /// "pmix:1234567", "hydra:host:40123", "slurm:815.0", "process:host:4711:…"; empty: the launcher does not name its
  /// jobs, so that two jobs of one script cannot be told apart by this text.
  char text[96]{};

  bool is_known() const { return text[0] != '\0'; }
  std::uint64_t hash() const { return hash_text(text); }
};

namespace job_identity_detail {

/// Reads a file of /proc, with a zero after its end. Returns the number of bytes.
inline std::size_t read_process_file(long process, const char* name, char* to, std::size_t size) {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/%ld/%s", process, name);
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t got = ::read(file, to, size - 1);
  ::close(file);
  const std::size_t length = got > 0 ? static_cast<std::size_t>(got) : 0;
  to[length] = '\0';
  return length;
}

inline long parent_of(long process) {
  char status[512];
  if (read_process_file(process, "stat", status, sizeof status) == 0) return 0;
  const char* const name_end = std::strrchr(status, ')');  // the name of the program may contain anything
  long parent = 0;
  return name_end != nullptr && std::sscanf(name_end + 1, " %*c %ld", &parent) == 1 ? parent : 0;
}

/// MPICH's launcher tells its ranks no name of the job. Its proxy on each host, which is an ancestor of the ranks, has
/// the address of mpiexec among its arguments.
inline bool find_hydra(JobIdentity& identity) {
  if (std::getenv("PMI_RANK") == nullptr) return false;
  constexpr int max_depth = 16;
  constexpr char option[] = "--control-port";
  long process = ::getppid();
  for (int depth = 0; depth < max_depth && process > 1; ++depth, process = parent_of(process)) {
    char arguments[2048];
    const std::size_t length = read_process_file(process, "cmdline", arguments, sizeof arguments);
    for (std::size_t at = 0; at < length; at += std::strlen(arguments + at) + 1) {
      const std::size_t next = at + sizeof option;
      if (std::strcmp(arguments + at, option) != 0 || next >= length) continue;
      std::snprintf(identity.text, sizeof identity.text, "hydra:%s", arguments + next);
      return true;
    }
  }
  return false;
}

inline const char* variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace job_identity_detail

/// The job of this process. Call it after MPI_Init.
inline JobIdentity job_identity() {
  using namespace job_identity_detail;
  JobIdentity identity;
  if (!rank_from_environment()) {  // started without a launcher: a job of one process
    char host[40]{};
    ::gethostname(host, sizeof host - 1);
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);  // tells processes apart; words: ok
    std::snprintf(identity.text, sizeof identity.text, "process:%s:%ld:%lld", host, static_cast<long>(::getpid()),
                  static_cast<long long>(now.tv_sec));
    return identity;
  }
  if (find_hydra(identity)) return identity;
  struct Source {
    const char *scheme, *name, *step;
  };
  constexpr std::array sources{
      Source{"pmix", "PMIX_NAMESPACE", nullptr}, Source{"ompi", "OMPI_MCA_ess_base_jobid", nullptr},
      Source{"pals", "PALS_APID", nullptr},      Source{"flux", "FLUX_JOB_ID", nullptr},
      Source{"alps", "ALPS_APP_ID", nullptr},    Source{"slurm", "SLURM_JOB_ID", "SLURM_STEP_ID"}};
  for (const Source& source : sources) {
    const char* const name = variable(source.name);
    const char* const step = source.step != nullptr ? variable(source.step) : "";
    if (name == nullptr || step == nullptr) continue;
    std::snprintf(identity.text, sizeof identity.text, "%s:%.64s%s%.16s", source.scheme, name, *step != '\0' ? "." : "",
                  step);
    return identity;
  }
  return identity;
}

}  // namespace rankloom
