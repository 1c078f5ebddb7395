// SPDX-License-Identifier: Apache-2.0
// apps/process: launches a program as a mapping places it and verifies where every rank runs.
#include "apps/rankloom/process/placed_run.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "rankloom/core/system/file.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* name_a_shared_directory = "name a directory that all hosts share with -o DIRECTORY";

Result<std::vector<BindingReport>> read_all_reports(const fs::path& directory) {
  std::vector<BindingReport> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    auto file = read_file(entry.path().string());
    if (!file) return propagate(file);
    auto reports = read_reports(*file);
    if (!reports) return propagate(reports);
    all.insert(all.end(), reports->begin(), reports->end());
  }
  return all;
}

}  // namespace

RunDirectory::~RunDirectory() {
  std::error_code error;
  if (temporary_) fs::remove_all(path_, error);
}

Result<void> RunDirectory::create(const std::string& name) {
  std::error_code error;
  if (!name.empty()) {
    path_ = fs::absolute(name, error).lexically_normal().string();
    fs::remove_all(fs::path(path_) / "report", error);
  } else {
    std::string pattern = (fs::current_path(error) / ".rankloom-run-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      return fail(Code::environment, at(fs::current_path(error).string()),
                  fmt::format("a temporary directory cannot be created here: {}", std::strerror(errno)),
                  name_a_shared_directory);
    }
    path_ = pattern;
    temporary_ = true;
  }
  fs::create_directories(fs::path(path_) / "report", error);
  if (error) {
    return fail(Code::environment, at(path_), fmt::format("this directory cannot be created: {}", error.message()),
                name_a_shared_directory);
  }
  return {};
}

Result<void> write_launcher_files(const std::vector<LauncherFile>& files, const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    return fail(Code::environment, at(directory), fmt::format("this directory cannot be created: {}", error.message()),
                "choose a directory that can be written");
  }
  for (const LauncherFile& file : files) {
    if (auto written = write_file((fs::path(directory) / file.name).string(), file.content); !written) return written;
  }
  return {};
}

Result<void> require_host_names(Deployment& deployment, bool named) {
  if (named) return {};
  if (deployment.topology.node_count() == 1) {
    deployment.hosts[Node{0}] = host_name();  // Open MPI's --map-by seq does not accept "localhost"
    return {};
  }
  return fail(Code::usage, at("-t"),
              "the topology numbers its nodes but does not name them, so ranks cannot be launched",
              "name the nodes with --hosts a,b,.. in the order of the topology");
}

LaunchContext launch_context(const std::string& directory, EmitOptions::Bind bind) {
  return {directory, find_installed("rankloom-bind").value_or("rankloom-bind"), bind,
          std::getenv("SLURM_JOB_ID") != nullptr};
}

Result<PlacedRun> run_placed(const LaunchPlan& plan, const Deployment& deployment, EmitOptions::Bind bind,
                             const std::string& directory, const ProgramStreams& streams) {
  if (auto written = write_launcher_files(plan.files, directory); !written) return propagate(written);
  const auto begin = std::chrono::steady_clock::now();
  PlacedRun run;
  run.status = run_program(plan.command.argv(), plan.environment, streams);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  auto reports = read_all_reports(fs::path(directory) / "report");
  if (!reports) return propagate(reports);
  run.verification = verify(deployment, bind, *reports, host_name());
  return run;
}

}  // namespace rankloom::app
