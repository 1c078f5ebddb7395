// SPDX-License-Identifier: Apache-2.0
// apps/verbs/machine: measures the communication costs of a machine with an MPI benchmark. The functions of
// `rankloom topo probe`, also called by `rankloom tune`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/discover/probe/probe_analysis.hpp"

namespace rankloom::app {

struct ProbeArguments {
  std::vector<std::string> launcher;  ///< The command that starts MPI programs: "mpirun", "-n", "16".
  std::string topology;  ///< A known machine, of which only the costs are measured; empty: the levels are measured too.
  std::string table;     ///< A file with a recorded table of times, analysed instead of a measurement.
  std::string keep;      ///< The file to save the table of times to; empty: it is not saved.
  std::string mpi;       ///< "openmpi", "mpich" or "default"; empty: detected from the launcher.
  double seconds = 5;    ///< Time limit of the rounds in which all ranks communicate in pairs.
  std::optional<std::uint64_t> rounds;
  std::optional<std::uint64_t> alone;  ///< Pairs that are measured again while all other ranks are idle.
  ProbeOptions options;

  /// Receives lines of the launcher's output that do not belong to the table.
  std::function<void(std::string_view)> other_output = [](std::string_view) {};
  std::string error_log = {};  ///< The file for the launcher's standard error; empty: this program's standard error.
};

/// The measured or recorded table of times.
Result<ProbeTable> probe_table(const ProbeArguments& arguments);
/// The machine that explains the times.
Result<ProbedMachine> analyse_table(const ProbeArguments& arguments, const ProbeTable& table);
/// Both of the above.
Result<ProbedMachine> probe_machine(const ProbeArguments& arguments);

}  // namespace rankloom::app
