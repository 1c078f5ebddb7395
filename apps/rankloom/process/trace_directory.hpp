// SPDX-License-Identifier: Apache-2.0
// apps/process: the directory of a trace: one file per rank, and a file that lists them.
#pragma once

#include <optional>
#include <string>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/output_directory.hpp"
#include "rankloom/core/system/temporary_directory.hpp"

namespace rankloom::app {

/// The file in a directory of traces that lists the files of all ranks, for smpirun -replay.
inline constexpr const char* trace_list = "smpi_simgrid.txt";

/// The ranks write to a temporary directory inside the directory that the user names. Their files replace those of an
/// earlier trace after the program has ended.
class TraceDirectory {
 public:
  /// Fails if the directory contains a trace that rankloom did not write.
  Result<void> create(const std::string& directory, OutputDirectory::Existing existing);
  /// Where the ranks write; empty before create().
  std::string path() const { return ranks_ ? ranks_->path() : std::string(); }
  /// Moves the files of the ranks to the user's directory and lists them. Fails if the trace is not complete. The
  /// number of ranks is 0 if it is not known.
  Result<void> publish(std::size_t rank_count);

 private:
  std::optional<OutputDirectory> output_;
  std::optional<TemporaryDirectory> ranks_;
};

}  // namespace rankloom::app
