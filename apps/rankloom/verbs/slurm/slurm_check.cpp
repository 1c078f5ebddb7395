// SPDX-License-Identifier: Apache-2.0
// apps/verbs/slurm: `rankloom slurm check`: recomputes the routes of the jobs that run in Slurm and reports conflicts.
#include <fmt/format.h>

#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/slurm/slurm_jobs.hpp"
#include "rankloom/allocate/routing/conflict_verifier.hpp"
#include "rankloom/allocate/routing/resource_names.hpp"

namespace rankloom::app {

namespace {

constexpr int jobs_conflict = static_cast<int>(Code::infeasible);

class SlurmCheckVerb : public Verb {
 public:
  void describe(CLI::App& app) override { machine_.describe(app); }

  Result<int> run(const Session& session) override {
    auto machine = machine_.load();
    if (!machine) return propagate(machine);
    auto running = running_slurm_jobs(*machine);
    if (!running) return propagate(running);
    const std::vector<RunningJob> jobs(running->begin(), running->end());
    const AllocationMachine& allocation_machine = machine->allocator().machine();
    const Network& network = allocation_machine.network();
    const auto conflicts = verify(network, allocation_machine.exclusive(), jobs);
    if (session.json) {
      Json json{{"contention_free", conflicts.empty()}, {"jobs", Json::array()}, {"conflicts", Json::array()}};
      for (const RunningJob& job : jobs) {
        Json nodes = Json::array();
        for (const Node node : job.nodes) nodes.push_back(index(node));
        json["jobs"].push_back({{"job", job.name}, {"nodes", nodes}, {"names", machine->names_of(job.nodes)}});
      }
      for (const Conflict& conflict : conflicts)
        json["conflicts"].push_back({{"where", to_string(conflict, network, machine->names())},
                                     {"jobs", {conflict.first_job, conflict.second_job}}});
      print_json(json);
    } else {
      for (const Conflict& conflict : conflicts) print(to_string(conflict, network, machine->names()) + "\n");
      if (conflicts.empty())
        print(fmt::format("{}: no two of them share {}\n", counted(jobs.size(), "job"),
                          name_of(allocation_machine.exclusive())));
    }
    return conflicts.empty() ? success : jobs_conflict;
  }

 private:
  SlurmMachineArguments machine_;
};

}  // namespace

std::unique_ptr<Verb> make_slurm_check() {
  return std::make_unique<SlurmCheckVerb>();
}

}  // namespace rankloom::app
