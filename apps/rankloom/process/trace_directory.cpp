// SPDX-License-Identifier: Apache-2.0
// apps/process: the directory of a trace.
#include "apps/rankloom/process/trace_directory.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "rankloom/core/system/file.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

std::string trace_file(std::size_t rank) {
  return fmt::format("rank-{}.txt", rank);
}

/// The names in a directory that files of a trace have.
std::vector<std::string> trace_files_in(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if ((name.starts_with("rank-") && name.ends_with(".txt")) || name == trace_list) names.push_back(name);
  }
  return names;
}

/// Fails if a rank has no trace, or did not call MPI_Finalize. The error names the files where the user finds them.
Result<void> check_complete(const fs::path& directory, const fs::path& published, std::size_t rank_count) {
  std::error_code error;
  for (std::size_t rank = 0; rank < rank_count; ++rank) {
    const std::string name = trace_file(rank);
    if (!fs::exists(directory / name, error)) {
      return fail(Code::environment, at(published.string()), fmt::format("the trace of rank {} is missing", rank),
                  "name a directory that has the same path on all hosts: a replay needs the trace of every rank");
    }
    const auto text = read_file((directory / name).string());
    if (!text || !text->view().ends_with(" finalize\n")) {
      return fail(Code::environment, at((published / name).string()),
                  fmt::format("the trace of rank {} is truncated", rank),
                  "record again: a rank was killed or the disk is full, and a replay needs complete traces");
    }
  }
  return {};
}

}  // namespace

Result<void> TraceDirectory::create(const std::string& directory, OutputDirectory::Existing existing) {
  constexpr const char* hint = "name a directory that can be created or written, on a file system that all ranks share";
  auto output = OutputDirectory::open(directory, existing);
  if (!output) {
    Error& error = output.error();
    if (error.code == Code::environment)
      error = {error.code, error.where, "the trace cannot be written there: " + error.what, hint};
    return propagate(output);
  }
  // The number of ranks is not known yet, so every file that looks like a trace must be replaceable.
  if (auto reserved = output->reserve(trace_files_in(directory)); !reserved) return reserved;
  auto ranks = TemporaryDirectory::make(directory, ".rankloom-trace-");
  if (!ranks) {
    ranks.error().hint = hint;
    return propagate(ranks);
  }
  output_.emplace(*std::move(output));
  ranks_.emplace(*std::move(ranks));
  return {};
}

Result<void> TraceDirectory::publish(std::size_t rank_count) {
  const fs::path from = ranks_->path(), to = output_->path();
  std::error_code error;
  std::vector<std::string> written = trace_files_in(from);
  if (written.empty()) {
    return fail(Code::environment, at(to.string()), "no rank wrote a trace",
                "name a directory that has the same path on all hosts: a replay needs the trace of every rank");
  }
  rank_count = std::max(rank_count, written.size());
  auto complete = check_complete(from, to, rank_count);
  written.emplace_back(trace_list);
  if (auto reserved = output_->reserve(written); !reserved) return complete ? reserved : complete;
  written.pop_back();
  // The list goes first and comes last: it never lists files of two traces.
  output_->remove(trace_list);
  for (const std::string& name : trace_files_in(to)) output_->remove(name);
  for (const std::string& name : written) {
    fs::rename(from / name, to / name, error);
    if (error) {
      return fail(Code::environment, at((to / name).string()), fmt::format("cannot be replaced: {}", error.message()),
                  "check the permissions of the directory, and record again");
    }
  }
  if (!complete) return complete;
  // Absolute paths, because a replay looks for relative ones in its own working directory.
  std::string names;
  for (std::size_t rank = 0; rank < rank_count; ++rank) names += (to / trace_file(rank)).string() + "\n";
  return write_file(output_->file(trace_list), names);
}

}  // namespace rankloom::app
