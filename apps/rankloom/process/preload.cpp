// SPDX-License-Identifier: Apache-2.0
// apps: a library of ours in front of the MPI of somebody's program.
#include "apps/rankloom/process/preload.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/processes.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

constexpr Mpi mpis[] = {
    {"openmpi", "Open MPI", "Open MPI"}, {"mpich", "MPICH", "HYDRA"}, {"mpich", "MPICH", "Intel(R) MPI"}};

/// Of the libraries that a program is linked with. MPICH and its kin are libmpich.so, or libmpi.so.12; Open MPI's
/// numbers are others.
const Mpi* mpi_of_program(const std::string& program) {
  const std::string path = output_of({"sh", "-c", "command -v -- " + shell_word(program) + " 2>/dev/null"});
  const std::string libraries = output_of({"ldd", path.substr(0, path.find('\n'))});
  if (libraries.find("libmpich.so") != libraries.npos || libraries.find("libmpi.so.12") != libraries.npos)
    return find_mpi("mpich");
  return libraries.find("libmpi.so.") != libraries.npos ? find_mpi("openmpi") : nullptr;
}

const Mpi* mpi_of_launcher(std::string_view version_text) {
  for (const Mpi& mpi : mpis) {
    if (version_text.find(mpi.version_words) != version_text.npos) return &mpi;
  }
  return version_text.find("OpenRTE") != version_text.npos ? find_mpi("openmpi") : nullptr;
}

}  // namespace

const Mpi* find_mpi(std::string_view name) {
  for (const Mpi& mpi : mpis) {
    if (mpi.name == name) return &mpi;
  }
  return nullptr;
}

StartedCommand look_at(const Argv& command, std::string_view library) {
  StartedCommand started{.words = command,
                         .launch = {},
                         .program = command[0],
                         .programs = {command[0]},
                         .version = launcher_version(command)};
  const std::size_t launcher = launcher_position(command);
  auto launch = understand_launch(command, started.version);
  if (!launch) {
    const std::string name = fs::path(command[std::min(launcher, command.size() - 1)]).filename().string();
    if (name.starts_with("mpirun") || name.starts_with("mpiexec") || name == "srun") {
      fmt::print(stderr, "rankloom: {}; {} goes into the environment of the whole command\n", launch.error().what,
                 library);
    }
    return started;
  }
  started.programs.clear();
  for (const LaunchPart& part : launch->parts) started.programs.push_back(launch->words[part.program]);
  started.program = started.programs.front();
  started.launch = *std::move(launch);
  return started;
}

const Mpi* mpi_of(const StartedCommand& started, const Mpi* given) {
  const Mpi* mpi = given;
  if (mpi == nullptr) mpi = mpi_of_program(started.program);
  if (mpi == nullptr) mpi = mpi_of_launcher(started.version);
  if (mpi == nullptr) mpi = mpi_of_launcher(output_of({"mpirun", "--version"}));
  return mpi != nullptr ? mpi : &mpis[0];
}

bool all_use(const StartedCommand& started, const Mpi& mpi) {
  return std::all_of(started.programs.begin(), started.programs.end(), [&](const std::string& program) {
    const Mpi* const used = mpi_of_program(program);
    return used != nullptr && used->name == mpi.name;
  });
}

Result<std::string> find_library(std::string_view kind, const Mpi& mpi, std::string_view title) {
  const auto found = find_beside(fmt::format("librankloom_{}_{}.so", kind, mpi.name));
  if (!found) {
    return fail(Code::environment, at(std::string(kind)),
                fmt::format("{} for {} is not beside this program", title, mpi.title),
                remedy_for_part(fmt::format("rankloom-record-{}", mpi.name), fmt::format("lib{}-dev", mpi.name)));
  }
  return *found;
}

std::pair<std::string, std::string> preload(const std::string& library) {
  const char* const others = std::getenv("LD_PRELOAD");
  return {"LD_PRELOAD", others != nullptr && *others != '\0' ? fmt::format("{}:{}", library, others) : library};
}

Result<int> run_with(const StartedCommand& started, const RankEnvironment& environment, bool output_to_errors) {
  if (started.launch) {
    auto changed =
        rewrite(*started.launch, {.leave_out = {}, .options = {}, .environment = environment, .wrapper = {}});
    if (!changed) return propagate(changed);
    return run_program(*changed, {}, output_to_errors);
  }
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(fmt::format("{}={}", name, value));
  return run_program(started.words, variables, output_to_errors);
}

}  // namespace rankloom::app
