// SPDX-License-Identifier: Apache-2.0
// apps/verbs/slurm: `rankloom slurm watch`: which running jobs of Slurm share routers or links, at intervals.
#include <chrono>
#include <ctime>
#include <thread>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/slurm/slurm_jobs.hpp"
#include "rankloom/allocate/routing/resource_names.hpp"
#include "rankloom/allocate/scheduler/job_monitor.hpp"

namespace rankloom::app {

namespace {

constexpr std::string_view metrics_header = "# Written by rankloom slurm watch.\n";

bool is_metrics_file(std::string_view content) {
  return content.starts_with(metrics_header);
}

class SlurmWatchVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    machine_.describe(app);
    machine_.describe_policy(app);
    add_value(app, {"--interval", "TIME", "the time between two looks: 30s, 5min", "watch", "30s"},
              [this](std::string_view value) -> Result<void> {
                const auto nanoseconds = parse_nanoseconds(value, 1e9);
                if (!nanoseconds || *nanoseconds < 1e8 || *nanoseconds > 1e15)
                  return bad_value("--interval", value, "a time of at least 100ms, such as 30s or 5min");
                interval_ = std::chrono::milliseconds(static_cast<std::int64_t>(*nanoseconds / 1e6));
                return {};
              });
    add_value(app, {"--count", "N", "how often to look; by default until the command is interrupted", "watch"},
              set_count("--count", count_));
    add_text(app,
             {"--prometheus", "FILE",
              "write the figures of each look to this file, in the text format of Prometheus, for node_exporter's "
              "textfile collector (FILE.prom)",
              "output"},
             metrics_);
    add_switch(app, "--force", "replace the file of --prometheus even if rankloom did not write it", force_, "output");
  }

  Result<int> run(const Session& session) override {
    if (!metrics_.empty()) {
      if (auto writable = check_output(metrics_); !writable) return propagate(writable);
      if (auto own = check_default_output(metrics_, is_metrics_file); !own && !force_) return propagate(own);
    }
    auto machine = machine_.load();
    if (!machine) return propagate(machine);
    JobMonitor monitor(machine->allocator(), machine->policy(), machine->options());
    for (std::uint64_t looks = 0; count_ == 0 || looks < count_; ++looks) {
      if (looks > 0) std::this_thread::sleep_for(interval_);
      const std::time_t now = std::time(nullptr);  // shown to people (words: ok)
      auto jobs = running_slurm_jobs(*machine);
      if (!jobs) {
        if (looks == 0) return propagate(jobs);
        print_note(to_string(jobs.error()));  // slurmctld may be restarting
        continue;
      }
      const JobSnapshot snapshot = monitor.observe(std::vector<RunningJob>(jobs->begin(), jobs->end()));
      if (session.json) {
        print_json(to_json(*machine, snapshot, now));
      } else {
        print(to_text(*machine, snapshot, now));
      }
      if (auto flushed = check_standard_output(); !flushed) return propagate(flushed);
      if (metrics_.empty()) continue;
      if (auto written = write_file(metrics_, to_metrics(*machine, snapshot, now)); !written) return propagate(written);
    }
    return success;
  }

 private:
  static Json to_json(const SlurmMachine& machine, const JobSnapshot& snapshot, std::time_t now) {
    Json json{{"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now))},
              {"nodes", machine.names().size()},
              {"nodes_in_use", snapshot.nodes_in_use},
              {"jobs_sharing", snapshot.sharing_jobs()},
              {"resource", name_of(machine.allocator().machine().exclusive())},
              {"shared_resources", snapshot.shared_resources},
              {"busiest", nullptr},
              {"policy",
               {{"name", machine.policy().name},
                {"isolated", snapshot.isolated_by_policy()},
                {"waiting", snapshot.waiting_by_policy()}}},
              {"jobs", Json::array()}};
    if (snapshot.shared_resources > 0)
      json["busiest"] = {{"where", busiest_resource(machine, snapshot)}, {"jobs", snapshot.jobs_on_busiest}};
    for (const JobSnapshot::Job& job : snapshot.jobs) {
      json["jobs"].push_back({{"job", job.name},
                              {"nodes", job.nodes},
                              {"resources", job.resources},
                              {"shared_resources", job.shared_resources},
                              {"policy_nodes", machine.names_of(job.chosen)},
                              {"policy_isolated", job.would_be_isolated}});
    }
    return json;
  }

  static std::string to_text(const SlurmMachine& machine, const JobSnapshot& snapshot, std::time_t now) {
    const auto resources = name_of(machine.allocator().machine().exclusive());
    std::string text =
        fmt::format("{:%Y-%m-%d %H:%M:%S}  {} on {} of {}; ", fmt::localtime(now), counted(snapshot.jobs.size(), "job"),
                    snapshot.nodes_in_use, counted(machine.names().size(), "node"));
    text += snapshot.sharing_jobs() == 0 ? fmt::format("none share {}", resources)
                                         : fmt::format("{} share {}", snapshot.sharing_jobs(), resources);
    text += fmt::format("; with {} {} would be isolated", machine.policy().name, snapshot.isolated_by_policy());
    if (snapshot.waiting_by_policy() > 0) text += fmt::format(" and {} would wait", snapshot.waiting_by_policy());
    text += '\n';
    if (snapshot.shared_resources > 0) text += "  " + busiest_resource(machine, snapshot) + '\n';
    return text;
  }

  static std::string to_metrics(const SlurmMachine& machine, const JobSnapshot& snapshot, std::time_t now) {
    std::string text(metrics_header);
    const auto add = [&](std::string_view name, std::string_view help, std::string_view labels, double value) {
      const std::string start = fmt::format("# HELP rankloom_slurm_{} ", name);
      if (text.find(start) == std::string::npos)
        text += fmt::format("{}{}\n# TYPE rankloom_slurm_{} gauge\n", start, help, name);
      text += fmt::format("rankloom_slurm_{}{} {}\n", name, labels, format_value(value));
    };
    const auto resources = fmt::format("{{resource=\"{}\"}}", name_of(machine.allocator().machine().exclusive()));
    const auto nodes = static_cast<double>(machine.names().size());
    add("nodes", "Nodes of the machine by use.", "{state=\"used\"}", snapshot.nodes_in_use);
    add("nodes", "", "{state=\"unused\"}", nodes - snapshot.nodes_in_use);
    add("jobs", "Running jobs.", "", static_cast<double>(snapshot.jobs.size()));
    add("jobs_sharing", "Running jobs whose messages share a resource with another job.", resources,
        snapshot.sharing_jobs());
    add("shared_resources", "Resources that the messages of several jobs use.", resources, snapshot.shared_resources);
    add("busiest_resource_jobs", "Jobs that use the resource that most jobs use, if several do.", resources,
        static_cast<double>(snapshot.jobs_on_busiest.size()));
    const auto policy = [&](std::string_view state) {
      return fmt::format("{{policy=\"{}\",state=\"{}\"}}", machine.policy().name, state);
    };
    add("policy_jobs", "What the policy would have done with the running jobs.", policy("isolated"),
        snapshot.isolated_by_policy());
    add("policy_jobs", "", policy("waiting"), snapshot.waiting_by_policy());
    add("last_update_seconds", "When these figures were written, in seconds since 1970.", "", static_cast<double>(now));
    return text;
  }

  SlurmMachineArguments machine_;
  std::chrono::milliseconds interval_{30'000};
  std::uint64_t count_ = 0;
  std::string metrics_;
  bool force_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_slurm_watch() {
  return std::make_unique<SlurmWatchVerb>();
}

}  // namespace rankloom::app
