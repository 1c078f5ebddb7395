// SPDX-License-Identifier: Apache-2.0
// apps/verbs/slurm: `rankloom slurm status`: the running jobs of Slurm and their nodes, as a table or a page.
#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/evaluation/report.hpp"
#include "apps/rankloom/verbs/slurm/slurm_jobs.hpp"
#include "rankloom/allocate/routing/resource_names.hpp"
#include "rankloom/allocate/scheduler/job_monitor.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

/// How long after now the time axis ends if no running job has a time limit.
constexpr double seconds_after_now = 3600;

struct Status {
  std::vector<SlurmJob> jobs;
  std::vector<std::string> waiting;
  JobSnapshot snapshot;
  double now = 0;  ///< In seconds since 1970.
};

std::string time_of(double seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(static_cast<std::time_t>(seconds)));
}

/// "3 jobs on 8 of 64 nodes; 2 share routers; 1 waits"
std::string summary_of(const SlurmMachine& machine, const Status& status) {
  const auto resources = name_of(machine.allocator().machine().exclusive());
  const std::uint32_t sharing = status.snapshot.sharing_jobs();
  std::string text = fmt::format("{} on {} of {}; ", counted(status.jobs.size(), "job"), status.snapshot.nodes_in_use,
                                 counted(machine.names().size(), "node"));
  text += sharing == 0 ? fmt::format("none share {}", resources) : fmt::format("{} share {}", sharing, resources);
  if (!status.waiting.empty())
    text += fmt::format("; {} {}", status.waiting.size(), status.waiting.size() == 1 ? "waits" : "wait");
  return text;
}

double first_start(const Status& status) {
  double first = status.now;
  for (const SlurmJob& job : status.jobs) first = std::min(first, job.start.value_or(status.now));
  return first;
}

/// The jobs from their starts to the ends of their time limits, in seconds since `begin`.
PolicyRow jobs_over_time(const Status& status, double begin) {
  double end = status.now;
  for (const SlurmJob& job : status.jobs) end = std::max(end, job.end.value_or(status.now));
  if (end <= status.now) end = status.now + seconds_after_now;
  PolicyRow row;
  row.policy = "Slurm";
  row.jobs_run = status.jobs.size();
  for (std::size_t at = 0; at < status.jobs.size(); ++at) {
    const SlurmJob& job = status.jobs[at];
    const double start = job.start.value_or(status.now);
    JobRow shown{.id = job.name,
                 .size = static_cast<std::uint32_t>(job.nodes.size()),
                 .submit = job.submit.value_or(start) - begin,
                 .start = start - begin,
                 // A job without a limit, or one that Slurm has not ended yet.
                 .end = std::max(job.end.value_or(end), status.now + 1) - begin,
                 .nodes = {},
                 .shares_links = status.snapshot.jobs[at].shared_resources > 0};
    for (const Node node : job.nodes) shown.nodes.push_back(index(node));
    row.jobs.push_back(std::move(shown));
  }
  return row;
}

/// The nodes have the names that Slurm uses.
MachineLayout named_layout(const SlurmMachine& machine) {
  const Topology& topology = machine.allocator().machine().topology();
  MachineLayout layout = lay_out_machine(topology);
  for (MachineBox& box : layout.boxes) {
    if (box.kind == "node") box.label = machine.names()[index(topology.node_of(Core{box.first_core}))];
  }
  return layout;
}

class SlurmStatusVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    machine_.describe(app);
    machine_.describe_policy(app);
    add_text(app,
             {"-o,--output", "FILE",
              "status.html: one self-contained page with the machine and its jobs; status.svg: the jobs over time",
              "output"},
             page_);
  }

  Result<int> run(const Session& session) override {
    if (auto possible = check_page_output(page_, "--json prints the jobs"); !possible) return propagate(possible);
    auto machine = machine_.load();
    if (!machine) return propagate(machine);
    auto status = look(*machine);
    if (!status) return propagate(status);
    if (!page_.empty()) {
      if (auto written = write_report({page_of(*machine, *status), {}, {}}, page_); !written) return propagate(written);
    }
    if (session.json) {
      print_json(to_json(*machine, *status));
    } else {
      print(to_text(*machine, *status, session.width));
    }
    return success;
  }

 private:
  static Result<Status> look(const SlurmMachine& machine) {
    Status status;
    status.now = static_cast<double>(std::time(nullptr));  // shown to people (words: ok)
    auto jobs = running_slurm_jobs(machine);
    if (!jobs) return propagate(jobs);
    status.jobs = std::move(*jobs);
    auto waiting = slurm_lines({"squeue", "-h", "-t", "pending", "-S", "i", "-o", "%A"});
    if (!waiting) return propagate(waiting);
    status.waiting = std::move(*waiting);
    JobMonitor monitor(machine.allocator(), machine.policy(), machine.options());
    status.snapshot = monitor.observe(std::vector<RunningJob>(status.jobs.begin(), status.jobs.end()));
    return status;
  }

  ReportDocument page_of(const SlurmMachine& machine, const Status& status) const {
    ReportDocument document;
    document.title = fmt::format("Slurm at {}", time_of(status.now));
    document.verdict.kind = "allocation";
    document.verdict.sentence = summary_of(machine, status) + ".";
    if (status.snapshot.shared_resources > 0) {
      document.verdict.notes.push_back(fmt::format("Most shared: {}.", busiest_resource(machine, status.snapshot)));
      document.verdict.notes.push_back(fmt::format("With {}, {} of these jobs would be isolated and {} would wait.",
                                                   machine.policy().name, status.snapshot.isolated_by_policy(),
                                                   status.snapshot.waiting_by_policy()));
    }
    for (const std::string& job : status.waiting) {
      if (document.verdict.commands.size() == max_commands) break;
      document.verdict.commands.push_back(fmt::format("rankloom slurm why {}", job));
    }
    AllocationSection section;
    section.nodes = static_cast<std::uint32_t>(machine.names().size());
    section.machine = named_layout(machine);
    section.names = machine.names();
    const double begin = first_start(status);
    section.policies.push_back(jobs_over_time(status, begin));
    section.now = status.now - begin;
    document.allocation = std::move(section);
    document.reproduce.version = program_version;
    document.reproduce.commands.push_back(fmt::format("rankloom slurm status -o {}", shell_quote(page_)));
    return document;
  }

  Json to_json(const SlurmMachine& machine, const Status& status) const {
    Json json{{"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(status.now)))},
              {"nodes", machine.names().size()},
              {"nodes_in_use", status.snapshot.nodes_in_use},
              {"resource", name_of(machine.allocator().machine().exclusive())},
              {"jobs", Json::array()},
              {"waiting", status.waiting}};
    for (std::size_t at = 0; at < status.jobs.size(); ++at) {
      const SlurmJob& job = status.jobs[at];
      json["jobs"].push_back({{"job", job.name},
                              {"nodes", machine.names_of(job.nodes)},
                              {"start", job.start ? Json(*job.start) : Json()},
                              {"end", job.end ? Json(*job.end) : Json()},
                              {"shared_resources", status.snapshot.jobs[at].shared_resources}});
    }
    if (!page_.empty()) json["output"] = page_;
    return json;
  }

  std::string to_text(const SlurmMachine& machine, const Status& status, std::size_t width) const {
    std::string text = fmt::format("{}  {}\n", time_of(status.now), summary_of(machine, status));
    if (!page_.empty()) return text + fmt::format("page written to {}\n", page_);
    const auto resources = name_of(machine.allocator().machine().exclusive());
    Table table({{"job"},
                 {"nodes", Table::Align::right},
                 {"started"},
                 {"ends by"},
                 {fmt::format("shared {}", resources), Table::Align::right},
                 {"on"}});
    for (std::size_t at = 0; at < status.jobs.size(); ++at) {
      const SlurmJob& job = status.jobs[at];
      table.row({job.name, fmt::format("{}", job.nodes.size()), job.start ? time_of(*job.start) : "",
                 job.end ? time_of(*job.end) : "no limit", fmt::format("{}", status.snapshot.jobs[at].shared_resources),
                 machine.list_of(job.nodes, 4)});
    }
    if (!table.empty()) text += table.text(width);
    if (!status.waiting.empty()) text += fmt::format("next: rankloom slurm why {}\n", status.waiting.front());
    return text;
  }

  static constexpr std::size_t max_commands = 5;
  SlurmMachineArguments machine_;
  std::string page_;
};

}  // namespace

std::unique_ptr<Verb> make_slurm_status() {
  return std::make_unique<SlurmStatusVerb>();
}

}  // namespace rankloom::app
