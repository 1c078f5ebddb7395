// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: the differences between the interfaces of slurmctld in Slurm 22.05 to 26.05. A plugin is compiled for the
// minor release whose headers are installed, and works in that release only.
#pragma once

#include <cstdint>

#include <slurm/slurm.h>
#include <slurm/slurm_version.h>

namespace rankloom::slurm {

/// The release without its micro number: 0x160500 for 22.05.8.
constexpr std::uint32_t minor_release(std::uint32_t version) {
  return version & 0xffff00U;
}

using Job = void;
using JobList = struct xlist*;  // List until 24.05, list_t* from 24.11 on

/// job_overlap_and_running: whether a job runs on one of these nodes. From 23.02 on also, whether it has one of these
/// licences.
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 2, 0)
using OverlapsAndRuns = bool(bitstr_t*, Job*);
inline bool overlaps_and_runs(OverlapsAndRuns* function, bitstr_t* nodes, Job* job) {
  return function(nodes, job);
}
#else
using OverlapsAndRuns = bool(bitstr_t*, JobList, Job*);
inline bool overlaps_and_runs(OverlapsAndRuns* function, bitstr_t* nodes, Job* job) {
  return function(nodes, nullptr, job);
}
#endif

/// Messages name a job by its number until 25.05, and by a step from 25.11 on.
template <class From, class To>
void copy_job_id(const From& from, To& to) {
  if constexpr (requires { to.job_id = from.job_id; }) {
    to.job_id = from.job_id;
  } else {
    to.step_id = from.step_id;
  }
}

/// select_p_job_test. The last arguments are structures of slurmctld, which only Slurm's own plugin reads: the cores of
/// reservations (a bitmap until 23.02), and from 24.11 on the period in which the job shall start.
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 11, 0)
#define RANKLOOM_RESERVATION_PARAMETERS void* reserved_cores
#define RANKLOOM_RESERVATION_ARGUMENTS reserved_cores
#else
#define RANKLOOM_RESERVATION_PARAMETERS void *reserved_cores, void *start_period
#define RANKLOOM_RESERVATION_ARGUMENTS reserved_cores, start_period
#endif
using JobTest = int(Job*, bitstr_t*, std::uint32_t, std::uint32_t, std::uint32_t, std::uint16_t, JobList, JobList*,
                    RANKLOOM_RESERVATION_PARAMETERS);

}  // namespace rankloom::slurm
