// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom slurm check`: do the jobs that run in Slurm now meet? By the verifier, which walks all routes.
#include <cstdlib>
#include <filesystem>
#include <unordered_map>

#include <fmt/format.h>

#include "apps/rankloom/verbs/allocation/alloc_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/allocate/scheduler/scheduler_settings.hpp"
#include "rankloom/allocate/routing/conflict_verifier.hpp"

namespace rankloom::app {

namespace {

constexpr int jobs_meet = static_cast<int>(Code::infeasible);

class SlurmCheckVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(app, {"--conf", "FILE", "the plugin's file; rankloom.conf beside slurm.conf when not given", "input"},
             conf_);
  }

  Result<int> run(const Session& session) override {
    const std::string path = conf_.empty() ? usual_conf() : conf_;
    auto file = read_file(path);
    if (!file) return propagate(file);
    auto settings = read_scheduler_settings(*file);
    if (!settings) return propagate(settings);
    auto machine = load_scheduler_machine(*settings, path);
    if (!machine) return propagate(machine);
    auto jobs = running_jobs(machine->names);
    if (!jobs) return propagate(jobs);
    const AllocationMachine& of = machine->allocator.machine();
    const auto met = verify(of.network(), of.exclusive(), *jobs);
    if (session.json) {
      Json json{{"contention_free", met.empty()}, {"jobs", Json::array()}, {"conflicts", Json::array()}};
      for (const RunningJob& job : *jobs) {
        Json nodes = Json::array();
        for (const Node node : job.nodes) nodes.push_back(index(node));
        json["jobs"].push_back({{"job", job.name}, {"nodes", nodes}});
      }
      for (const Conflict& one : met)
        json["conflicts"].push_back({{"where", to_string(one, of.network())}, {"jobs", {one.one, one.other}}});
      print_json(json);
    } else {
      for (const Conflict& one : met) print(to_string(one, of.network()) + "\n");
      if (met.empty())
        print(fmt::format("{}: no two of them share {}\n", counted(jobs->size(), "job"), name_of(of.exclusive())));
    }
    return met.empty() ? success : jobs_meet;
  }

 private:
  static std::string usual_conf() {
    const char* const conf = std::getenv("SLURM_CONF");
    const std::filesystem::path slurm = conf != nullptr ? conf : "/etc/slurm/slurm.conf";
    return (slurm.parent_path() / "rankloom.conf").string();
  }

  /// What squeue says, as nodes of the machine.
  static Result<std::vector<RunningJob>> running_jobs(const std::vector<std::string>& names) {
    std::unordered_map<std::string, Node> nodes;
    for (std::uint32_t node = 0; node < names.size(); ++node) nodes.emplace(names[node], Node{node});
    std::vector<RunningJob> jobs;
    auto status = run_lines({"squeue", "-h", "-t", "running,suspended", "-o", "%A %N"}, [&](std::string_view line) {
      const std::size_t space = line.find(' ');
      if (space == std::string_view::npos) return;
      RunningJob job{std::string(line.substr(0, space)), {}};
      for (const std::string& name : expand_node_names(line.substr(space + 1)).value_or(std::vector<std::string>{})) {
        if (const auto found = nodes.find(name); found != nodes.end()) job.nodes.push_back(found->second);
      }
      if (!job.nodes.empty()) jobs.push_back(std::move(job));
    });
    if (!status) return propagate(status);
    if (*status != 0)
      return fail(Code::environment, at("squeue"), fmt::format("it ended with status {}", *status),
                  "is slurmctld up, and SLURM_CONF right?");
    return jobs;
  }

  std::string conf_;
};

}  // namespace

std::unique_ptr<Verb> make_slurm_check() {
  return std::make_unique<SlurmCheckVerb>();
}

}  // namespace rankloom::app
