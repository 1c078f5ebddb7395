// SPDX-License-Identifier: Apache-2.0
// apps/process: runs a program with the recorder in its ranks and reads the profile that they write.
#include "apps/rankloom/process/recording_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "apps/rankloom/output.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/capture/record/reading/recording.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/files/profile_file.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

/// The directory of a trace: one file per rank, and a file that lists them.
namespace trace_directory {

fs::path file_of(const fs::path& directory, std::size_t rank) {
  return directory / fmt::format("rank-{}.txt", rank);
}

/// Creates the directory and removes the trace of an earlier run from it.
Result<void> prepare(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error || !fs::is_directory(directory, error) || ::access(directory.c_str(), W_OK | X_OK) != 0) {
    return fail(Code::environment, at(directory.string()), "the trace cannot be written there",
                "name a directory that can be created or written, on a file system that all ranks share");
  }
  std::vector<fs::path> old{directory / trace_list};
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("rank-") && name.ends_with(".txt")) old.push_back(entry.path());
  }
  for (const fs::path& file : old) fs::remove(file, error);
  return {};
}

/// Whether the rank called MPI_Finalize.
bool is_complete(const fs::path& file) {
  auto text = read_file(file.string());
  return text && text->view().ends_with(" finalize\n");
}

/// Lists absolute paths, because a replay looks for relative ones in its own working directory.
Result<void> write_list(const fs::path& directory, std::size_t ranks) {
  std::string names;
  std::error_code error;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const fs::path file = file_of(directory, rank);
    if (!fs::exists(file, error)) {
      return fail(Code::environment, at(directory.string()), fmt::format("the trace of rank {} is missing", rank),
                  "name a directory that has the same path on all hosts: a replay needs the trace of every rank");
    }
    if (!is_complete(file)) {
      return fail(Code::environment, at(file.string()), fmt::format("the trace of rank {} is truncated", rank),
                  "record again: a rank was killed or the disk is full, and a replay needs complete traces");
    }
    names += file.string() + "\n";
  }
  return write_file((directory / trace_list).string(), names);
}

}  // namespace trace_directory

Result<Profile> read_profile_file(const fs::path& path) {
  auto imported = import_path(path.string());
  if (!imported) return propagate(imported);
  return std::move(imported->profile);
}

/// Concatenates the files of the ranks. The head of each file says how much of it is used.
Result<Profile> join_rank_files(const std::vector<fs::path>& files) {
  std::string all;
  for (const fs::path& path : files) {
    auto file = read_file(path.string());
    if (!file) return propagate(file);
    all += used_part_of_rank_file(file->view());
  }
  auto imported = import_profile(FileContents("the recording", std::move(all)), "recording");
  if (!imported) return propagate(imported);
  return std::move(imported->profile);
}

Environment recorder_environment(const RecordArguments& arguments, const std::string& recorder,
                                 const std::string& trace, const fs::path& directory) {
  Environment environment{preload(recorder),
                          {"RANKLOOM_RECORD_OUT", (directory / "recording").string()},
                          {"RANKLOOM_THREADS_OUT", (directory / "threads.%p.prof").string()}};
  if (arguments.window_ns > 0)
    environment.emplace_back("RANKLOOM_RECORD_WINDOW_NS", fmt::format("{:.0f}", arguments.window_ns));
  if (!trace.empty()) environment.emplace_back("RANKLOOM_RECORD_TRACE", trace);
  return environment;
}

}  // namespace

RecordingDirectory::RecordingDirectory(const fs::path& output) {
  std::string name = (fs::absolute(output).parent_path() / ".rankloom-record-XXXXXX").string();
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

RecordingDirectory::~RecordingDirectory() {
  std::error_code ignored;
  if (good()) fs::remove_all(path_, ignored);
}

Result<Profile> collect_recording(const fs::path& directory, const std::string& program, const Mpi& mpi) {
  std::vector<fs::path> rank_files, thread_profiles;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("recording.")) rank_files.push_back(entry.path());
    if (name.starts_with("threads.")) thread_profiles.push_back(entry.path());
  }
  std::sort(rank_files.begin(), rank_files.end());
  if (!rank_files.empty()) return join_rank_files(rank_files);
  if (thread_profiles.size() == 1) return read_profile_file(thread_profiles[0]);
  return fail(Code::environment, at(program), "nothing was recorded: no rank of the program called this MPI",
              fmt::format("the recorder of {} was used; name another MPI with --mpi. A program that is linked "
                          "statically or does not use MPI cannot be recorded",
                          mpi.title));
}

Result<RecordResult> record_program(const RecordArguments& arguments) {
  const ProgramCommand command = inspect_command(arguments.command, "the recorder");
  const Mpi& mpi = *mpi_of(command, arguments.mpi);
  RecordResult result;
  result.output =
      !arguments.output.empty() ? arguments.output : fs::path(command.program).filename().string() + ".prof";
  if (auto writable = check_output(result.output); !writable) return propagate(writable);
  auto recorder = find_library(arguments.trace.empty() ? "record" : "trace", mpi, "the recorder");
  if (!recorder) return propagate(recorder);
  if (!arguments.trace.empty()) {
    result.trace = fs::absolute(arguments.trace).lexically_normal().string();
    if (auto prepared = trace_directory::prepare(result.trace); !prepared) return propagate(prepared);
  }
  const RecordingDirectory directory(result.output);
  if (!directory.good()) {
    return fail(Code::environment, at(result.output), "a temporary directory cannot be created next to this file",
                "write to another directory with -o");
  }
  auto status = run_with_environment(
      command, recorder_environment(arguments, *recorder, result.trace, directory.path()), arguments.streams);
  if (!status) return propagate(status);
  result.status = *status;
  // The program has run. Whatever happens to the profile now, the exit status is that of the program.
  auto profile = collect_recording(directory.path(), command.program, mpi);
  if (profile) {
    if (auto written = write_file(result.output, [&](Sink& sink) { return write_profile(*profile, sink); }); !written)
      profile = propagate(written);
  }
  if (!profile) {
    result.error = profile.error();
    return result;
  }
  result.profile = std::move(*profile);
  if (!result.trace.empty()) {
    if (auto listed = trace_directory::write_list(result.trace, result.profile->rank_count()); !listed)
      result.trace_error = listed.error();
  }
  return result;
}

}  // namespace rankloom::app
