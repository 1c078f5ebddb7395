// SPDX-License-Identifier: Apache-2.0
// allocate: the jobs that a machine was given: recorded ones in the Standard Workload Format, or made by rule.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/file.hpp"
#include "rankloom/core/result.hpp"

namespace rankloom {

/// Times are seconds.
struct WorkloadJob {
  std::uint64_t number = 0;
  double submit = 0;
  double run = 0;           ///< How long it runs.
  double estimate = 0;      ///< How long its user said; never less than it runs.
  std::uint64_t tasks = 1;  ///< Processors asked for.
};

struct Workload {
  std::string name;
  std::vector<WorkloadJob> jobs;   ///< By time of submission.
  std::uint64_t machine_size = 0;  ///< Processors of the machine that the trace is from; 0: not said.
  std::uint64_t without_work = 0;  ///< Lines of jobs that never ran or asked for nothing, such as cancelled ones.
  std::uint64_t malformed = 0;     ///< Lines that are none of the format, and what is wrong with the first.
  std::uint64_t first_malformed_line = 0;
  std::string first_malformed;
};

/// Standard Workload Format 2 (Chapin et al. 1999; Parallel Workloads Archive): comments after ";", 18 numbers a line.
/// A malformed line is counted, not fatal; a file without one job is an error.
Result<Workload> read_swf(const FileContents& file);
/// From a file, also one compressed by gzip.
Result<Workload> load_workload(const std::string& path);
std::string write_swf(const Workload& workload);

/// The workload model of Lublin and Feitelson (2003), with the parameters that they publish for jobs of all kinds. What
/// it makes fits a machine of any size.
struct LublinOptions {
  std::uint64_t jobs = 10000;
  std::uint64_t nodes = 256;    ///< Of the machine: the largest job.
  double serial = 0.244;        ///< Share of jobs of one node.
  double power_of_two = 0.576;  ///< Share of parallel jobs whose size is a power of two, added to the serial share.
  std::uint64_t seed = 0;
};
Result<Workload> lublin_workload(const LublinOptions& options);

}  // namespace rankloom
