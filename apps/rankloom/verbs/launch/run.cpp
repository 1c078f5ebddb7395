// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom run`: launch the user's command where the mapping says, and prove that every rank is there.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "apps/rankloom/arguments/deployment_arguments.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/core/file.hpp"
#include "rankloom/place/virtual_cluster/virtual_cluster.hpp"
#include "rankloom/place/launch_plan.hpp"
#include "rankloom/place/verify.hpp"
#include "rankloom/report/table.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

/// Where the launcher's files and the reports are: the folder that the user named, or one that goes with the run. It is
/// made where the user stands, because that is where the ranks' hosts find his program, too.
class RunFolder {
 public:
  RunFolder() = default;
  ~RunFolder() {
    std::error_code error;
    if (temporary_) fs::remove_all(path_, error);
  }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }

  Result<void> make(const std::string& wanted) {
    std::error_code error;
    if (!wanted.empty()) {
      path_ = fs::absolute(wanted, error).lexically_normal().string();
      fs::remove_all(fs::path(path_) / "report", error);
    } else {
      std::string pattern = (fs::current_path(error) / ".rankloom-run-XXXXXX").string();
      if (::mkdtemp(pattern.data()) == nullptr) {
        return fail(Code::environment, at(fs::current_path(error).string()),
                    fmt::format("no folder can be made here: {}", std::strerror(errno)),
                    "name one that all hosts see, with -o FOLDER");
      }
      path_ = pattern;
      temporary_ = true;
    }
    fs::create_directories(fs::path(path_) / "report", error);
    if (error)
      return fail(Code::environment, at(path_), fmt::format("this folder cannot be made: {}", error.message()),
                  "name one that all hosts see, with -o FOLDER");
    return {};
  }

 private:
  std::string path_;
  bool temporary_ = false;
};

class RunVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    input_.describe(app);
    add_repeated(app, {"COMMAND", "WORD", "behind --: the launcher, its options, the program", "input", "", true},
                 command_);
    add_text(app, {"--program", "WORD", "where the program begins, when an option before it is not known", "input"},
             program_);
    add_switch(app, "--strict", "fail with status 5 when a rank is not where it was asked", strict_, "placement");
    add_switch(app, "--lab", "on the hosts of `rankloom lab up`, which are then the machine unless -t names one", lab_,
               "placement");
    add_switch(app, "--dry-run", "show what would be run, and run nothing", dry_run_, "output");
    add_text(
        app,
        {"-o,--output", "FOLDER", "keep the launcher's files and the reports here; all hosts must see it", "output"},
        output_);
  }

  Result<int> run(const Session& session) override {
    if (lab_) {
      if (auto entered = enter(); !entered) return propagate(entered);
    }
    auto deployment = input_.load();
    if (!deployment) return propagate(deployment);
    if (auto named = check_names(*deployment); !named) return propagate(named);
    auto command = understand();
    if (!command) return propagate(command);
    RunFolder folder;
    if (dry_run_) {
      auto plan = plan_launch(*command, *deployment, surroundings(output_.empty() ? "FOLDER" : output_));
      if (!plan) return propagate(plan);
      return show(session, *plan);
    }
    // Before a folder is made: is there anything to refuse?
    if (auto plan = plan_launch(*command, *deployment, surroundings("FOLDER")); !plan) return propagate(plan);
    if (auto made = folder.make(output_); !made) return propagate(made);
    auto plan = plan_launch(*command, *deployment, surroundings(folder.path()));
    if (!plan) return propagate(plan);
    return launch(session, *plan, *deployment, folder.path());
  }

 private:
  /// From here on this process is on the lab's first host.
  Result<void> enter() {
    const char* const inside = std::getenv("RANKLOOM_LAB");
    auto lab = find_virtual_cluster(inside != nullptr ? inside : VirtualClusterOptions().name);
    if (!lab) return propagate(lab);
    if (!input_.topology.given()) input_.machine = virtual_cluster_machine(*lab);
    return enter_virtual_host(*lab, lab->hosts.front().name);
  }

  /// Numbered nodes cannot be launched on; one node alone is this machine.
  Result<void> check_names(Deployment& deployment) const {
    if (input_.names_hosts(deployment)) return {};
    if (deployment.topology.node_count() == 1) {
      deployment.hosts[Node{0}] = this_host();  // Open MPI's seq does not know "localhost"
      return {};
    }
    return fail(Code::usage, at("-t"), "the topology only numbers its nodes, so there is nowhere to launch",
                "name them with --hosts a,b,.. in the order of the topology");
  }

  Result<LaunchCommand> understand() const { return understand_launch(command_, launcher_version(command_), program_); }

  LaunchSurroundings surroundings(const std::string& folder) const {
    return {folder, find_beside("rankloom-bind").value_or("rankloom-bind"), input_.bind,
            std::getenv("SLURM_JOB_ID") != nullptr};
  }

  static Result<int> show(const Session& session, const LaunchPlan& plan) {
    if (session.json) {
      Json files = Json::array();
      for (const LauncherFile& file : plan.files) files.push_back({{"name", file.name}, {"content", file.content}});
      print_json(Json{{"command", plan.command.text()}, {"replaced", plan.replaced}, {"files", files}});
      return success;
    }
    for (const LauncherFile& file : plan.files) print(fmt::format("# {}\n{}\n", file.name, file.content));
    for (const std::string& option : plan.replaced) print(fmt::format("# in the place of {}\n", option));
    print(plan.command.text() + "\n");
    return success;
  }

  Result<int> launch(const Session& session, const LaunchPlan& plan, const Deployment& deployment,
                     const std::string& folder) const {
    for (const LauncherFile& file : plan.files) {
      if (auto written = write_file(folder + "/" + file.name, file.content); !written) return propagate(written);
    }
    auto status = run_program(plan.command.words, plan.command.environment, session.json);
    if (!status) return propagate(status);
    auto reports = collect(folder + "/report");
    if (!reports) return propagate(reports);
    const Verification seen = verify(deployment, input_.bind, *reports, this_host());
    if (session.json) {
      print_json(to_json(seen, *status, plan));
    } else {
      fmt::print(stderr, "{}", to_text(seen, *status));
    }
    if (*status == 0 && strict_ && !seen.all()) return static_cast<int>(Code::environment);
    return *status;
  }

  static Result<std::vector<SeatReport>> collect(const std::string& folder) {
    std::vector<SeatReport> all;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      auto file = read_file(entry.path().string());
      if (!file) return propagate(file);
      auto reports = read_reports(*file);
      if (!reports) return propagate(reports);
      all.insert(all.end(), reports->begin(), reports->end());
    }
    return all;
  }

  static Json to_json(const Verification& seen, int status, const LaunchPlan& plan) {
    Json differences = Json::array();
    for (const Difference& one : seen.differences)
      differences.push_back({{"rank", index(one.rank)}, {"asked", one.asked}, {"found", one.found}});
    return {{"verified", seen.all()},        {"ranks", seen.ranks},        {"confirmed", seen.confirmed},
            {"silent", seen.silent},         {"differences", differences}, {"status", status},
            {"command", plan.command.text()}};
  }

  static std::string to_text(const Verification& seen, int status) {
    if (seen.all()) return fmt::format("rankloom: {} of {} ranks where asked\n", seen.confirmed, seen.ranks);
    std::string text = fmt::format("rankloom: only {} of {} ranks where asked\n", seen.confirmed, seen.ranks);
    constexpr std::size_t shown = 20;
    Table table({{"rank", Table::Align::right}, {"asked"}, {"found"}});
    for (std::size_t i = 0; i < std::min(shown, seen.differences.size()); ++i) {
      const Difference& one = seen.differences[i];
      table.row({fmt::format("{}", index(one.rank)), one.asked, one.found});
    }
    text += table.text();
    if (seen.differences.size() > shown) text += fmt::format("  and {} more\n", seen.differences.size() - shown);
    if (seen.silent == seen.ranks && status != 0)
      text +=
          "  hint: the launcher gave up before it started a rank; Open MPI does so without a word when a slot of the "
          "rankfile does not exist on its host: check the processing units in the topology\n";
    else if (seen.silent > 0)
      text += "  hint: ranks that did not report may run where this folder is not seen; name a shared one with -o\n";
    return text;
  }

  DeploymentArguments input_;
  std::vector<std::string> command_;
  std::string program_;
  std::string output_;
  bool strict_ = false;
  bool lab_ = false;
  bool dry_run_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_run() {
  return std::make_unique<RunVerb>();
}

}  // namespace rankloom::app
