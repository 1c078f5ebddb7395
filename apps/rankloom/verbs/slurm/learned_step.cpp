// SPDX-License-Identifier: Apache-2.0
// apps/verbs/slurm: `srun --rankloom=learn`.
#include "apps/rankloom/verbs/slurm/learned_step.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/rankloom/process/preload.hpp"
#include "apps/rankloom/process/profile_store.hpp"
#include "apps/rankloom/process/recording_run.hpp"
#include "apps/rankloom/verbs/slurm/slurm_jobs.hpp"
#include "rankloom/allocate/scheduler/scheduler_settings.hpp"
#include "rankloom/capture/record/reading/recording.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/split.hpp"
#include "rankloom/model/files/profile_file.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* option_name = "--rankloom=learn";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string user_name() {
  const struct passwd* const user = ::getpwuid(::geteuid());  // NOLINT(concurrency-mt-unsafe): verbs run in one thread
  return user != nullptr ? user->pw_name : std::to_string(::geteuid());
}

/// The executable with the scripts among its arguments: "python a.py" and "python b.py" are two programs.
LearnedRun run_of(const std::string& job, const std::vector<std::string>& programs, std::uint32_t ranks) {
  LearnedRun run{.job = job, .program = {}, .ranks = ranks};
  for (const std::string& program : programs) {
    run.program += (run.program.empty() ? "" : " ") + program;
    struct stat status {};
    if (::stat(program.c_str(), &status) != 0) continue;
    run.program_bytes += static_cast<std::uint64_t>(status.st_size);
    const std::int64_t written = std::int64_t{1'000'000'000} * status.st_mtim.tv_sec + status.st_mtim.tv_nsec;
    run.program_written_ns = std::max(run.program_written_ns, written);
  }
  return run;
}

Result<const Mpi*> mpi_of_programs(const std::vector<std::string>& programs, const std::string& given) {
  if (!given.empty()) {
    const Mpi* const mpi = find_mpi(given);
    if (mpi != nullptr) return mpi;
    return fail(Code::usage, at(option_name), fmt::format("\"mpi={}\" is not a known MPI", given),
                "use mpi=openmpi, mpi=mpich or mpi=abi");
  }
  for (const std::string& program : programs) {
    if (const Mpi* const mpi = mpi_of_program(program); mpi != nullptr) return mpi;
  }
  return nullptr;
}

Result<StepRecording> begin_recording(const LearnedProfiles& profiles, const LearnedRun& run, const Mpi& mpi) {
  auto library = find_library("record", mpi, "the recorder");
  if (!library) return propagate(library);
  if (!fits_ld_preload(*library)) {
    return fail(Code::environment, at(*library),
                "ld.so cannot preload this library: its path contains a blank or a colon",
                "install rankloom in a directory without blanks and colons");
  }
  auto directory = profiles.begin_recording(run);
  if (!directory) return propagate(directory);
  return StepRecording{*directory, recording_prefix(*directory), *std::move(library)};
}

/// Fails unless all ranks of the program have reached MPI_Finalize.
Result<void> check_complete(const RecordedJob& recorded, const LearnedRun& run) {
  if (recorded.ranks != run.ranks || recorded.files.size() != recorded.ranks) {
    return fail(Code::bad_input, at(run.program),
                fmt::format("no profile is stored: {} of {} ranks were recorded", recorded.files.size(), run.ranks),
                "check that the recorder is installed on all nodes, and that they share the directory of the profiles");
  }
  for (const std::string& name : recorded.files) {
    auto file = read_file(name);
    if (!file) return propagate(file);
    const auto piece = describe_rank_piece(file->view());
    if (piece && piece->finalized) continue;
    return fail(Code::bad_input, at(run.program),
                fmt::format("no profile is stored: rank {} ended without MPI_Finalize", piece ? piece->rank : 0),
                "the next run is recorded again");
  }
  return {};
}

Result<std::string> profile_bytes(const Profile& profile) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const file = ::open_memstream(&text, &size);
  if (file == nullptr)
    return fail(Code::environment, at(option_name), "the profile does not fit into memory", "free some memory");
  Sink sink(file);
  auto written = write_profile(profile, sink);
  const bool complete = std::fclose(file) == 0 && !sink.failed();
  const std::unique_ptr<char, void (*)(void*)> owner(text, std::free);
  if (!written) return propagate(written);
  if (!complete)
    return fail(Code::environment, at(option_name), "the profile does not fit into memory", "free some memory");
  return std::string(text, size);
}

}  // namespace

Result<LearnedStore> learned_store(const std::string& config) {
  LearnedStore store;
  std::string site;
  const std::string path = config.empty() ? (slurm_directory() / "rankloom.conf").string() : config;
  std::error_code ignored;
  if (!config.empty() || fs::exists(path, ignored)) {
    auto file = read_file(path);
    if (!file) return propagate(file);
    auto settings = read_scheduler_settings(*file);
    if (!settings) return propagate(settings);
    site = settings->profiles;
    store.limits.max_profiles = settings->max_profiles;
  }
  const std::string data = data_directory(variable("XDG_DATA_HOME"), variable("HOME"));
  if (site.empty() && data.empty()) {
    return fail(Code::environment, at(option_name), "HOME is not set, so learned profiles have no directory",
                "set HOME or XDG_DATA_HOME, or `profiles =` in rankloom.conf");
  }
  store.directory = learned_directory(site, user_name(), data);
  return store;
}

Result<LearnedStep> learn_step(const std::string& job, const StepRequest& request, const LaunchCommand& command,
                               const SlurmStep& step, const SlurmNetwork& network) {
  if (step.nodes.empty()) {
    return fail(Code::usage, at(option_name), "srun runs outside of a job",
                "run srun inside salloc or sbatch: its ranks can only be placed on the nodes of a job");
  }
  const auto default_ranks = static_cast<std::uint32_t>(step.nodes.size());
  const std::uint32_t ranks = step.ranks.value_or(step.node_count.value_or(default_ranks));
  if (ranks < 2) return LearnedStep{};
  const StoredProgram program = stored_program(command, ranks);
  std::vector<std::string> programs{program.path};
  for (std::string& script : split(program.scripts, '\n')) programs.push_back(std::move(script));
  auto mpi = mpi_of_programs(programs, request.mpi);
  if (!mpi) return propagate(mpi);
  if (*mpi == nullptr) {
    if (request.set_by_job) return LearnedStep{};  // other steps of the job may have something to learn
    return LearnedStep{.note = fmt::format("learn: {} is not linked with an MPI that rankloom knows, so it is not "
                                           "recorded; name the MPI of a script with --rankloom=learn,mpi=openmpi",
                                           program.path)};
  }
  const LearnedRun run = run_of(job, programs, ranks);
  auto store = learned_store(network.config);
  if (!store) return propagate(store);
  auto profiles = LearnedProfiles::open(store->directory, store->limits);
  if (!profiles) return propagate(profiles);
  auto found = profiles->find(run);
  if (!found) return propagate(found);
  if (!found->file.empty()) {
    StepRequest mapped = request;
    mapped.file = found->file;
    mapped.map = true;
    auto placement = place_step(mapped, step, network);
    if (!placement) return propagate(placement);
    return LearnedStep{.placement = *std::move(placement)};
  }
  auto recording = begin_recording(*profiles, run, **mpi);
  if (!recording) return propagate(recording);
  return LearnedStep{.recording = *std::move(recording),
                     .note = fmt::format("learn: {}this run is recorded, and the next one of job {} with {} ranks is "
                                         "placed by its profile",
                                         found->why.empty() ? "" : found->why + "; ", job, ranks)};
}

Result<LearnedRun> add_recording(const LearnedStore& store, const std::string& directory) {
  auto run = recorded_run(directory);
  if (!run) return run;
  const auto added = [&]() -> Result<void> {
    const std::vector<RecordedJob> recorded = recorded_jobs(directory);
    if (recorded.empty()) {
      return fail(Code::bad_input, at(run->program), "no profile is stored: no rank called MPI_Init",
                  "check that the recorder is installed on all nodes, and that they share the directory of the "
                  "profiles; name the MPI of a script with --rankloom=learn,mpi=openmpi");
    }
    if (auto complete = check_complete(recorded.front(), *run); !complete) return complete;
    auto imported = read_recorded_job(recorded.front());
    if (!imported) return propagate(imported);
    auto bytes = profile_bytes(imported->profile);
    if (!bytes) return propagate(bytes);
    auto profiles = LearnedProfiles::open(store.directory, store.limits);
    if (!profiles) return propagate(profiles);
    return profiles->add(*run, *bytes);
  }();
  remove_recording(directory);
  if (!added) return tl::unexpected(added.error());
  return run;
}

}  // namespace rankloom::app
