// SPDX-License-Identifier: Apache-2.0
// apps/process: launches a program as a mapping places it and verifies where every rank runs.
#include "apps/rankloom/process/placed_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
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

/// Whether rankloom-bind wrote the file: it contains reports of the host after which it is named.
bool is_report_file(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error))) return false;
  const auto file = read_file(path.string());
  if (!file) return false;
  const auto reports = read_reports(*file);
  return reports && std::all_of(reports->begin(), reports->end(),
                                [&](const BindingReport& report) { return report.host == path.filename().string(); });
}

/// The reports of earlier runs in a directory. Fails if it contains anything else: users may have a directory of this
/// name.
Result<std::vector<fs::path>> earlier_reports(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> reports;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (!is_report_file(entry.path())) {
      return fail(Code::usage, at(entry.path().string()),
                  "the ranks write their reports to this directory, but this is not a report",
                  "name another directory with -o, or move the directory 'report' away");
    }
    reports.push_back(entry.path());
  }
  return reports;
}

}  // namespace

Result<void> RunDirectory::create(const std::string& name, OutputDirectory::Existing existing) {
  std::error_code error;
  if (!name.empty()) {
    path_ = fs::absolute(name, error).lexically_normal().string();
    auto kept = OutputDirectory::open(path_, existing);
    if (!kept) return propagate(kept);
    kept_.emplace(*std::move(kept));
  } else {
    // Open MPI 5 cannot read a rankfile whose path contains a dash.
    auto temporary = TemporaryDirectory::make(fs::current_path(error).string(), ".rankloom_run_");
    if (!temporary) {
      temporary.error().hint = name_a_shared_directory;
      return propagate(temporary);
    }
    temporary_.emplace(*std::move(temporary));
    path_ = temporary_->path();
  }
  return {};
}

Result<void> RunDirectory::write(const std::vector<LauncherFile>& files) {
  const fs::path report_directory = fs::path(path_) / "report";
  auto reports = earlier_reports(report_directory);
  if (!reports) return propagate(reports);
  if (kept_) {
    if (auto written = write_launcher_files(files, *kept_); !written) return written;
  } else {
    for (const LauncherFile& file : files)
      if (auto written = write_file(temporary_->file(file.name), file.content); !written) return written;
  }
  std::error_code error;
  for (const fs::path& report : *reports) fs::remove(report, error);
  fs::create_directory(report_directory, error);
  if (fs::is_directory(report_directory, error)) return {};
  return fail(Code::environment, at(report_directory.string()), "this directory cannot be created",
              name_a_shared_directory);
}

Result<void> write_launcher_files(const std::vector<LauncherFile>& files, OutputDirectory& directory) {
  std::vector<OutputFile> outputs;
  outputs.reserve(files.size());
  for (const LauncherFile& file : files) outputs.push_back({file.name, file.content});
  return directory.write(outputs);
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
  LaunchContext context{directory, find_installed("rankloom-bind").value_or("rankloom-bind"), bind};
  context.is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  context.in_slurm_job = context.is_set("SLURM_JOB_ID");
  std::error_code error;
  context.working_directory = fs::current_path(error).string();
  return context;
}

Result<LaunchPlan> plan_unchanged(const LaunchCommand& command, const LaunchContext& context) {
  Argv wrapper{context.wrapper, "--report", (fs::path(context.directory) / "report").string()};
  if (context.threads) wrapper.emplace_back("--threads");
  wrapper.emplace_back("-");
  auto changed = rewrite(command, {.wrapper = std::move(wrapper)});
  if (!changed) return propagate(changed);
  return LaunchPlan{{}, {}, *std::move(changed), {}, {}};
}

Result<std::vector<BindingReport>> read_rank_reports(const RunDirectory& directory) {
  auto all = read_all_reports(fs::path(directory.path()) / "report");
  if (!all) return all;
  std::stable_sort(all->begin(), all->end(),
                   [](const BindingReport& a, const BindingReport& b) { return a.rank < b.rank; });
  std::vector<BindingReport> last;
  for (BindingReport& report : *all) {
    if (!last.empty() && last.back().rank == report.rank) last.pop_back();
    last.push_back(std::move(report));
  }
  return last;
}

Result<PlacedRun> run_placed(const LaunchPlan& plan, const Deployment& deployment, EmitOptions::Bind bind,
                             RunDirectory& directory, const ProgramStreams& streams) {
  if (auto written = directory.write(plan.files); !written) return propagate(written);
  const auto begin = std::chrono::steady_clock::now();
  PlacedRun run;
  run.status = run_program(plan.command.argv(), plan.environment, streams);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  // Damaged reports are like missing ones: they must not hide the status of the program.
  const auto reports = read_all_reports(fs::path(directory.path()) / "report");
  run.verification = verify(deployment, bind, reports.value_or(std::vector<BindingReport>()), host_name());
  return run;
}

}  // namespace rankloom::app
