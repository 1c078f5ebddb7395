// SPDX-License-Identifier: Apache-2.0
// apps/process: runs a program with the recorder in its ranks and reads the profile that they write.
#include "apps/rankloom/process/recording_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/profile_store.hpp"
#include "apps/rankloom/process/trace_directory.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/capture/record/reading/recording.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/files/profile_file.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* recording_directory_name = ".rankloom-record-";

Result<Profile> read_profile_file(const fs::path& path) {
  auto imported = import_path(path.string());
  if (!imported) return propagate(imported);
  return std::move(imported->profile);
}

/// Recording directories next to an output file whose run was killed: no process holds their lock.
std::vector<RecordedJob> interrupted_jobs(const fs::path& output) {
  std::vector<RecordedJob> jobs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::absolute(output).parent_path(), error)) {
    if (!entry.path().filename().string().starts_with(recording_directory_name)) continue;
    const Descriptor lock(::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!lock.is_open() || ::flock(lock.number(), LOCK_EX | LOCK_NB) != 0) continue;
    const auto found = find_recorded_jobs(entry.path().string());
    jobs.insert(jobs.end(), found.begin(), found.end());
  }
  return jobs;
}

/// "app.prof", 2 → "app-2.prof". A file of this name that is not a profile belongs to the user: the next number is
/// used.
std::string numbered_output(const std::string& output, std::size_t number) {
  const fs::path path(output);
  while (true) {
    const fs::path numbered =
        path.parent_path() / fmt::format("{}-{}{}", path.stem().string(), number, path.extension().string());
    std::error_code error;
    if (!fs::exists(fs::symlink_status(numbered, error))) return numbered.string();
    const auto file = read_file(numbered.string());
    if (file && is_profile_file(file->view())) return numbered.string();
    ++number;
  }
}

/// The profiles of all MPI programs of a recording, or of the threads of programs without MPI.
Result<std::vector<Profile>> read_recording_directory(const fs::path& directory, const std::string& program,
                                                      const Mpi& mpi) {
  std::vector<Profile> profiles;
  for (const RecordedJob& job : recorded_jobs(directory)) {
    auto imported = read_recorded_job(job);
    if (!imported) return propagate(imported);
    profiles.push_back(std::move(imported->profile));
  }
  if (!profiles.empty()) return profiles;
  for (const std::string& file : files_with_prefix((directory / "threads").string())) {
    auto profile = read_profile_file(file);
    if (!profile) return propagate(profile);
    profiles.push_back(std::move(*profile));
  }
  if (!profiles.empty()) return profiles;
  return fail(Code::environment, at(program), "nothing was recorded: no rank of the program called this MPI",
              fmt::format("the recorder of {} was used; name another MPI with --mpi. A program that is linked "
                          "statically or does not use MPI cannot be recorded",
                          mpi.title));
}

Result<void> write_profiles(RecordResult& result, const std::string& output, const fs::path& directory,
                            const std::string& program, const Mpi& mpi) {
  auto profiles = read_recording_directory(directory, program, mpi);
  if (!profiles) return propagate(profiles);
  for (std::size_t i = 0; i < profiles->size(); ++i) {
    Profile& profile = (*profiles)[i];
    const std::string file = i == 0 ? output : numbered_output(output, i + 1);
    auto written = write_file(file, [&](Sink& sink) { return write_profile(profile, sink); });
    if (!written) return written;
    result.profiles.push_back({file, std::move(profile)});
  }
  return {};
}

/// Keeps copies for `rankloom run --auto`, if the store can be written.
void store_profiles(const ProgramCommand& command, std::vector<RecordedProfile>& profiles) {
  const auto store = ProfileStore::of_user();
  if (!store) return;
  for (RecordedProfile& recorded : profiles) {
    const std::uint32_t ranks = recorded.profile.rank_count();
    const auto name = recorded.profile.origin.find("program");
    const bool known = command.launch && profiles.size() == 1;
    if (ranks < 2 || (!known && name == recorded.profile.origin.end())) continue;
    const StoredProgram program = known ? stored_program(*command.launch, ranks) : stored_program(name->second, ranks);
    if (!program.path.empty()) recorded.stored = store->add(program, recorded.profile).value_or(std::string());
  }
}

Result<void> publish_trace(TraceDirectory& trace, const RecordResult& result) {
  if (result.profiles.size() > 1) {
    return fail(Code::environment, at(result.trace),
                fmt::format("the command started {} MPI programs, whose ranks wrote to the same files of the trace",
                            result.profiles.size()),
                "record each program alone");
  }
  return trace.publish(result.profiles.empty() ? 0 : result.profiles.front().profile.rank_count());
}

/// The pieces of a recording directory that are in the directory for temporary files of this host.
std::vector<std::string> pieces_elsewhere(const fs::path& directory) {
  std::error_code error;
  const std::string temporary = fs::temp_directory_path(error).string();
  std::vector<std::string> files = files_with_prefix(spare_prefix(temporary, recording_prefix(directory)));
  std::erase_if(files, [](const std::string& file) {
    struct stat status {};
    return ::lstat(file.c_str(), &status) != 0 || status.st_uid != ::geteuid();
  });
  return files;
}

Environment recorder_environment(const RecordArguments& arguments, const PreloadedLibrary& recorder,
                                 const std::string& trace, const fs::path& directory) {
  Environment environment{recorder.variable(),
                          {"RANKLOOM_RECORD_OUT", recording_prefix(directory)},
                          {"RANKLOOM_THREADS_OUT", (directory / "threads.%p.prof").string()}};
  if (arguments.window_ns > 0)
    environment.emplace_back("RANKLOOM_RECORD_WINDOW_NS", fmt::format("{:.0f}", arguments.window_ns));
  if (!trace.empty()) environment.emplace_back("RANKLOOM_RECORD_TRACE", trace);
  return environment;
}

}  // namespace

RecordingDirectory::RecordingDirectory(const fs::path& output) {
  std::string name = (fs::absolute(output).parent_path() / fmt::format("{}XXXXXX", recording_directory_name)).string();
  if (::mkdtemp(name.data()) == nullptr) return;
  path_ = name;
  lock_ = Descriptor(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock_.is_open()) (void)::flock(lock_.number(), LOCK_EX | LOCK_NB);
}

RecordingDirectory::~RecordingDirectory() {
  std::error_code ignored;
  if (!good()) return;
  if (kept_) {
    fs::remove(path_, ignored);  // only if it is empty
    return;
  }
  remove_recording(path_);
}

void remove_recording(const fs::path& directory) {
  std::error_code ignored;
  for (const std::string& file : pieces_elsewhere(directory)) fs::remove(file, ignored);
  fs::remove_all(directory, ignored);
}

Error RecordingDirectory::keep(Error error) {
  std::string commands;
  for (const RecordedJob& job : recorded_jobs(path_))
    commands += fmt::format("{}rankloom import {} -o FILE", commands.empty() ? "" : "; ", shell_quote(job.prefix()));
  if (commands.empty()) return error;
  kept_ = true;
  error.hint +=
      fmt::format("{}the recording of the ranks is kept; read it with: {}", error.hint.empty() ? "" : ". ", commands);
  return error;
}

std::string recording_prefix(const fs::path& directory) {
  return (directory / "recording").string();
}

std::vector<RecordedJob> recorded_jobs(const fs::path& directory) {
  std::vector<std::string> files = files_with_prefix(recording_prefix(directory));
  for (std::string& file : pieces_elsewhere(directory)) files.push_back(std::move(file));
  return group_by_job(files);
}

Result<Profile> collect_recording(const fs::path& directory, const std::string& program, const Mpi& mpi) {
  auto profiles = read_recording_directory(directory, program, mpi);
  if (!profiles) return propagate(profiles);
  return std::move(profiles->front());
}

Result<RecordResult> record_program(const RecordArguments& arguments) {
  const ProgramCommand command = inspect_command(arguments.command, "the recorder");
  const Mpi& mpi = *mpi_of(command, arguments.mpi);
  RecordResult result;
  const std::string output =
      !arguments.output.empty() ? arguments.output : fs::path(command.program).filename().string() + ".prof";
  if (arguments.output.empty()) {
    if (auto replaceable = check_default_output(output, is_profile_file); !replaceable) return propagate(replaceable);
  }
  if (auto writable = check_output(output); !writable) return propagate(writable);
  auto recorder = find_library(arguments.trace.empty() ? "record" : "trace", mpi, "the recorder");
  if (!recorder) return propagate(recorder);
  TraceDirectory trace;
  if (!arguments.trace.empty()) {
    result.trace = fs::absolute(arguments.trace).lexically_normal().string();
    if (auto created = trace.create(result.trace, arguments.existing); !created) return propagate(created);
  }
  for (const RecordedJob& job : interrupted_jobs(output))
    print_note(fmt::format(
        "an earlier recording of {} was interrupted; read it with: rankloom import {} -o FILE, and remove {}",
        job.program, shell_quote(job.prefix()), shell_quote(fs::path(job.prefix()).parent_path().string())));
  RecordingDirectory directory(output);
  if (!directory.good()) {
    return fail(Code::environment, at(output), "a temporary directory cannot be created next to this file",
                "write to another directory with -o");
  }
  auto preloaded = PreloadedLibrary::make(*recorder, directory.path());
  if (!preloaded) return propagate(preloaded);
  auto status = run_with_environment(
      command, recorder_environment(arguments, *preloaded, trace.path(), directory.path()), arguments.streams);
  if (!status) return propagate(status);
  result.status = *status;
  // The program has run. Whatever happens to the profile now, the exit status is that of the program.
  if (auto written = write_profiles(result, output, directory.path(), command.program, mpi); !written) {
    result.error = directory.keep(written.error());
    if (directory.is_kept()) result.kept = directory.path().string();
  }
  if (result.status == 0) store_profiles(command, result.profiles);
  if (!result.trace.empty()) {
    if (auto published = publish_trace(trace, result); !published) result.trace_error = published.error();
  }
  return result;
}

}  // namespace rankloom::app
