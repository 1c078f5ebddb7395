// SPDX-License-Identifier: Apache-2.0
// apps/verbs/slurm: `rankloom slurm check`: recomputes the routes of the jobs that run in Slurm and reports conflicts.
#include <cstdlib>
#include <filesystem>
#include <unordered_map>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/allocate/routing/conflict_verifier.hpp"
#include "rankloom/allocate/routing/resource_names.hpp"
#include "rankloom/allocate/scheduler/scheduler_settings.hpp"
#include "rankloom/core/text/hostlist.hpp"

namespace rankloom::app {

namespace {

constexpr int jobs_conflict = static_cast<int>(Code::infeasible);

class SlurmCheckVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(app,
             {"--conf", "FILE",
              "the configuration of rankloom's Slurm plugin; by default rankloom.conf next to slurm.conf", "input"},
             conf_);
  }

  Result<int> run(const Session& session) override {
    const std::string path = conf_.empty() ? default_conf() : conf_;
    auto file = read_file(path);
    if (!file) return propagate(file);
    auto settings = read_scheduler_settings(*file);
    if (!settings) return propagate(settings);
    auto machine = load_scheduler_machine(*settings, path);
    if (!machine) return propagate(machine);
    auto jobs = running_jobs(machine->names);
    if (!jobs) return propagate(jobs);
    const AllocationMachine& allocation_machine = machine->allocator.machine();
    const Network& network = allocation_machine.network();
    const auto conflicts = verify(network, allocation_machine.exclusive(), *jobs);
    if (session.json) {
      Json json{{"contention_free", conflicts.empty()}, {"jobs", Json::array()}, {"conflicts", Json::array()}};
      for (const RunningJob& job : *jobs) {
        Json nodes = Json::array(), names = Json::array();
        for (const Node node : job.nodes) {
          nodes.push_back(index(node));
          names.push_back(machine->names[index(node)]);
        }
        json["jobs"].push_back({{"job", job.name}, {"nodes", nodes}, {"names", names}});
      }
      for (const Conflict& conflict : conflicts)
        json["conflicts"].push_back({{"where", to_string(conflict, network, machine->names)},
                                     {"jobs", {conflict.first_job, conflict.second_job}}});
      print_json(json);
    } else {
      for (const Conflict& conflict : conflicts) print(to_string(conflict, network, machine->names) + "\n");
      if (conflicts.empty())
        print(fmt::format("{}: no two of them share {}\n", counted(jobs->size(), "job"),
                          name_of(allocation_machine.exclusive())));
    }
    return conflicts.empty() ? success : jobs_conflict;
  }

 private:
  static std::string default_conf() {
    const char* const conf = std::getenv("SLURM_CONF");
    const std::filesystem::path slurm = conf != nullptr ? conf : "/etc/slurm/slurm.conf";
    return (slurm.parent_path() / "rankloom.conf").string();
  }

  /// The jobs that squeue lists, with their nodes as nodes of the machine.
  static Result<std::vector<RunningJob>> running_jobs(const std::vector<std::string>& names) {
    std::unordered_map<std::string, Node> nodes;
    for (std::uint32_t node = 0; node < names.size(); ++node) nodes.emplace(names[node], Node{node});
    std::vector<RunningJob> jobs;
    auto status = run_lines({"squeue", "-h", "-t", "running,suspended", "-o", "%A %N"}, [&](std::string_view line) {
      const std::size_t space = line.find(' ');
      if (space == std::string_view::npos) return;
      RunningJob job{std::string(line.substr(0, space)), {}};
      for (const std::string& name : expand_hostlist(line.substr(space + 1)).value_or(std::vector<std::string>{})) {
        if (const auto found = nodes.find(name); found != nodes.end()) job.nodes.push_back(found->second);
      }
      if (!job.nodes.empty()) jobs.push_back(std::move(job));
    });
    if (!status) return propagate(status);
    if (*status != 0)
      return fail(Code::environment, at("squeue"), fmt::format("it ended with exit status {}", *status),
                  "check that slurmctld runs and that SLURM_CONF is right");
    return jobs;
  }

  std::string conf_;
};

}  // namespace

std::unique_ptr<Verb> make_slurm_check() {
  return std::make_unique<SlurmCheckVerb>();
}

}  // namespace rankloom::app
