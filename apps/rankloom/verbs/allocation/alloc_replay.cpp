// SPDX-License-Identifier: Apache-2.0
// apps/verbs/allocation: `rankloom alloc replay`: compares policies on a recorded workload.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/allocation/alloc_arguments.hpp"
#include "rankloom/allocate/workload/workload_replay.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/model/files/json.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/report/document/document_json.hpp"
#include "rankloom/report/terminal/progress_bar.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

class AllocReplay : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(app,
             {"WORKLOAD", "FILE", "a workload in the Standard Workload Format, plain or compressed with gzip", "input",
              "", true},
             trace_);
    topology_.describe(app);
    policy_.describe_policy(
        app, "policies of `rankloom list policies`, separated by commas; by default closed-best,first-fit", true);
    policy_.describe_exclusive(app);
    policy_.describe_limits(app);
    policy_.describe_fallback(app);
    add_value(app,
              {"--queue", "fcfs|easy|conservative",
               "queueing: first come first served, EASY or conservative backfilling; a reservation is a set of nodes",
               "workload", "easy"},
              [this](std::string_view value) -> Result<void> {
                for (const Queue queue : {Queue::fcfs, Queue::easy, Queue::conservative}) {
                  if (name_of(queue) != value) continue;
                  options_.queue = queue;
                  return {};
                }
                return bad_value("--queue", value, "one of: fcfs, easy, conservative");
              });
    add_value(
        app,
        {"--load", "X",
         "scale the times between arrivals so that the jobs request this fraction of the machine; by default unchanged",
         "workload"},
        [this](std::string_view value) -> Result<void> {
          const auto number = parse_number(value);
          if (!number || *number <= 0 || *number > 100)
            return bad_value("--load", value, "a fraction above 0, such as 1.0");
          options_.load = *number;
          return {};
        });
    add_value(app, {"--jobs", "N", "replay only the first N jobs", "workload"}, set_count("--jobs", options_.jobs));
    add_value(app, {"--depth", "N", "conservative: how many jobs get a reservation", "workload", "100"},
              set_count("--depth", options_.depth));
    add_switch(app, "--detail",
               "with --json: include every job with its times and nodes, and the machine, for `rankloom report`",
               options_.keep_jobs, "output");
    add_switch(app, "--verify", "recompute all routes at every start of a job and count conflicts", options_.verify,
               "output");
  }

  Result<int> run(const Session& session) override {
    auto workload = load_workload(trace_);
    if (!workload) return propagate(workload);
    if (!topology_.given())
      return fail(Code::usage, at("-t"), "the machine is missing", "add -t \"mesh:10x10 core:1\", or a topology file");
    auto topology = topology_.load();
    if (!topology) return propagate(topology);
    if (topology->is_matrix())
      return fail(Code::bad_input, at("-t"), "a distance matrix has no routes", "name a machine with a network");
    const Exclusive exclusive = policy_.exclusive.value_or(default_exclusive(topology->network()));
    const Allocator allocator(AllocationMachine(*std::move(topology), exclusive));
    options_.allocation = policy_.allocation;
    if (policy_.policies.empty()) policy_.policies = {*find_policy("closed-best"), *find_policy("first-fit")};
    std::vector<ReplayResult> results;
    {
      ProgressBar progress(stderr, session.err_is_terminal && !session.json);
      for (const PolicyInfo* policy : policy_.policies) {
        auto result = replay(allocator, *policy, *workload, options_, progress);
        if (!result) return propagate(result);
        results.push_back(*result);
      }
    }
    if (session.json) {
      print_json(to_json(*workload, allocator.machine(), results));
    } else {
      print(to_text(*workload, allocator.machine(), results));
    }
    return success;
  }

 private:
  Json to_json(const Workload& workload, const AllocationMachine& machine,
               std::span<const ReplayResult> results) const {
    Json json{{"trace", trace_},
              {"nodes", machine.node_count()},
              {"cores_per_node", machine.cores_per_node()},
              {"exclusive", name_of(machine.exclusive())},
              {"queue", name_of(options_.queue)},
              {"load", options_.load > 0 ? Json(options_.load) : Json()},
              {"malformed_lines", workload.malformed},
              {"jobs_without_work", workload.without_work},
              {"policies", Json::array()}};
    for (const ReplayResult& result : results) {
      json["policies"].push_back({{"policy", result.policy},
                                  {"jobs", result.jobs},
                                  {"too_large", result.too_large},
                                  {"utilisation", result.utilisation},
                                  {"mean_wait_s", result.mean_wait},
                                  {"bounded_slowdown", result.bounded_slowdown},
                                  {"contention_free", result.contention_free()},
                                  {"mean_diameter", result.mean_diameter},
                                  {"fragmentation", result.fragmentation},
                                  {"makespan_s", result.makespan},
                                  {"decisions", result.decisions},
                                  {"decisions_per_s", result.decisions_per_second()}});
      if (options_.verify) json["policies"].back()["conflicts"] = result.conflicts;
      if (options_.keep_jobs) json["policies"].back()["job_list"] = job_list(result);
    }
    if (options_.keep_jobs) json["machine"] = parse_ordered_json(write_machine_json(machine.topology().spec()));
    return json;
  }

  static Json job_list(const ReplayResult& result) {
    Json list = Json::array();
    for (const ReplayedJob& job : result.job_list) {
      std::vector<std::uint32_t> nodes;
      for (const Node node : job.nodes) nodes.push_back(index(node));
      list.push_back({{"id", std::to_string(job.number)},
                      {"size", nodes.size()},
                      {"submit", job.submit},
                      {"start", job.start},
                      {"end", job.end},
                      {"nodes", ranges(nodes)},
                      {"shares_links", job.had_conflict}});
    }
    return list;
  }

  std::string to_text(const Workload& workload, const AllocationMachine& machine,
                      std::span<const ReplayResult> results) const {
    std::string text = fmt::format("{} on {}: {}, queue {}{}, no two jobs share {}\n\n", trace_,
                                   machine.network().text(), counted(results[0].jobs, "job"), name_of(options_.queue),
                                   options_.load > 0 ? fmt::format(", load {}", format_value(options_.load)) : "",
                                   name_of(machine.exclusive()));
    using Align = Table::Align;
    Table table({{"policy"},
                 {"utilisation", Align::right},
                 {"wait", Align::right},
                 {"slowdown", Align::right},
                 {"isolated", Align::right},
                 {"diameter", Align::right},
                 {"fragmentation", Align::right},
                 {options_.verify ? "conflicts" : "", Align::right},
                 {"decisions/s", Align::right}});
    for (const ReplayResult& result : results) {
      table.row({std::string(result.policy), percent(100 * result.utilisation), format_seconds(result.mean_wait),
                 factor(result.bounded_slowdown), percent(100 * result.contention_free()),
                 fmt::format("{:.1f}", result.mean_diameter), percent(100 * result.fragmentation),
                 options_.verify ? format_count(static_cast<double>(result.conflicts)) : "",
                 format_count(std::round(result.decisions_per_second()))});
    }
    text += table.text();
    if (workload.malformed > 0)
      text += fmt::format("\n{} skipped as malformed; the first is line {}: {}\n", counted(workload.malformed, "line"),
                          workload.first_malformed_line, workload.first_malformed);
    if (workload.without_work > 0)
      text += fmt::format("\n{} skipped: never ran\n", counted(workload.without_work, "job"));
    if (results[0].too_large > 0)
      text += fmt::format("\n{} skipped: larger than the machine\n", counted(results[0].too_large, "job"));
    return text;
  }

  std::string trace_;
  TopologyArguments topology_;
  PolicyArguments policy_;
  ReplayOptions options_;
};

}  // namespace

std::unique_ptr<Verb> make_alloc_replay() {
  return std::make_unique<AllocReplay>();
}

}  // namespace rankloom::app
