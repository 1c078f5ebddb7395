// SPDX-License-Identifier: Apache-2.0
// apps/verbs/allocation: `rankloom alloc replay`: compares policies on a recorded workload.
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/allocation/alloc_arguments.hpp"
#include "apps/rankloom/verbs/allocation/job_traffic.hpp"
#include "rankloom/allocate/workload/workload_replay.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/model/files/json.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/place/joint/joint_model.hpp"
#include "rankloom/report/document/document_json.hpp"
#include "rankloom/report/terminal/progress_display.hpp"
#include "rankloom/report/terminal/progress_part.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

constexpr const char* default_mapper = "auto:effort=fast";

class AllocReplay : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(app,
             {"WORKLOAD", "FILE", "a workload in the Standard Workload Format, plain or compressed with gzip", "input",
              "", true},
             trace_);
    topology_.describe(app);
    policy_.describe_policy(app,
                            "policies of `rankloom list policies`, separated by commas; with patterns, '+' and a "
                            "mapper after a policy says "
                            "how its jobs are mapped: first-fit+block; by default closed-best,first-fit, with patterns "
                            "closed-fit,closed-best,first-fit+block",
                            true);
    policy_.describe_exclusive(app);
    policy_.describe_limits(app);
    policy_.describe_fallback(app);
    describe_fit(app, fit_);
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
    add_switch(app, "--patterns",
               "give the jobs of a workload without patterns the default ones: run times then depend on the nodes of a "
               "job, on the mapping of its ranks, and on the jobs with which it shares links",
               patterns_, "workload");
    add_text(
        app,
        {"--pattern-list", "LIST", "as --patterns, with these patterns, as in `rankloom gen workload`", "workload"},
        pattern_list_);
    add_value(app, {"--pattern-seed", "N", "seed of the choice of patterns", "workload", "0"},
              [this](std::string_view value) -> Result<void> {
                const auto number = parse_number(value);
                if (!number || *number < 0 || *number > 9e15)
                  return bad_value("--pattern-seed", value, "a whole number");
                pattern_seed_ = static_cast<std::uint64_t>(*number);
                return {};
              });
    add_value(app,
              {"--moldable", "X",
               "with patterns: a job may start on X times fewer to X times as many nodes as it requests, on the number "
               "with the earliest predicted end, waiting included",
               "workload", "1"},
              [this](std::string_view value) -> Result<void> {
                const auto number = parse_number(value);
                if (!number || *number < 1 || *number > 1000)
                  return bad_value("--moldable", value, "a factor of at least 1, such as 4");
                options_.moldable = *number;
                return {};
              });
    add_value(
        app,
        {"--headroom", "X",
         "closed-fit: the fraction of the nodes that a long job that overtakes others leaves free for short ones, "
         "as an isolated set; 0: none",
         "policy", fmt::format("{}, at most {} nodes", options_.headroom.share, options_.headroom.max_nodes)},
        [this](std::string_view value) -> Result<void> {
          const auto number = parse_number(value);
          if (!number || *number < 0 || *number > 0.5)
            return bad_value("--headroom", value, "a fraction from 0 to 0.5, such as 0.06");
          options_.headroom.share = *number;
          options_.headroom.max_nodes = std::numeric_limits<std::uint32_t>::max();
          return {};
        });
    add_value(app,
              {"--short-job", "SECONDS",
               "closed-fit: a job whose user estimates no more leaves no headroom; the longer a job, the more",
               "policy", format_value(options_.headroom.short_seconds)},
              [this](std::string_view value) -> Result<void> {
                const auto number = parse_number(value);
                if (!number || *number < 0 || *number > 1e9)
                  return bad_value("--short-job", value, "a number of seconds of at least 0, such as 3600");
                options_.headroom.short_seconds = *number;
                return {};
              });
    add_text(app,
             {"--mapper", "MAPPER", "with patterns: the mapper for policies without '+'", "workload", default_mapper},
             mapper_);
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
    const Exclusive exclusive = policy_.exclusive.value_or(default_exclusive(*topology));
    const Allocator allocator(AllocationMachine(*std::move(topology), exclusive));
    options_.allocation = policy_.allocation;
    options_.allocation.fit = fit_;
    if (patterns_ || !pattern_list_.empty()) {
      auto applications = applications_of(pattern_list_);
      if (!applications) return propagate(applications);
      assign_applications(*workload, *std::move(applications), pattern_seed_);
    }
    with_patterns_ = !workload->applications.empty();
    if (options_.moldable > 1 && !with_patterns_)
      return fail(Code::usage, at("--moldable"), "the run time on other numbers of nodes needs jobs with patterns",
                  "add --patterns, or make the workload with `rankloom gen workload --patterns`");
    if (policy_.policies.empty()) {
      policy_.policies = {*find_policy("closed-best"), *find_policy("first-fit")};
      policy_.mappers = {"", with_patterns_ ? "block" : ""};
      if (with_patterns_) {
        policy_.policies.insert(policy_.policies.begin(), *find_policy("closed-fit"));
        policy_.mappers.insert(policy_.mappers.begin(), "");
      }
    }
    std::vector<ReplayResult> results;
    {
      ProgressDisplay progress(stderr, session.progress);
      for (std::size_t i = 0; i < policy_.policies.size(); ++i) {
        ProgressPart part(progress, i, policy_.policies.size());
        auto result = replay_policy(allocator, i, *workload, part);
        if (!result) return propagate(result);
        results.push_back(*result);
      }
    }
    if (session.json) {
      print_json(to_json(*workload, allocator.machine(), results));
    } else {
      print(to_text(*workload, allocator.machine(), results, session.width));
    }
    return success;
  }

 private:
  /// Every policy begins with an empty memory of mappings, so that decision times are comparable.
  Result<ReplayResult> replay_policy(const Allocator& allocator, std::size_t number, const Workload& workload,
                                     Progress& progress) {
    const std::string& own_mapper = policy_.mappers[number];
    if (!with_patterns_) {
      if (!own_mapper.empty())
        return fail(Code::usage, at("--policy"), fmt::format("'+{}' needs jobs with patterns", own_mapper),
                    "add --patterns, or make the workload with `rankloom gen workload --patterns`");
      return replay(allocator, *policy_.policies[number], workload, options_, progress);
    }
    auto model =
        JointModel::create(allocator.machine(), workload.applications, own_mapper.empty() ? mapper_ : own_mapper);
    if (!model) return propagate(model);
    options_.communication = model->get();
    auto result = replay(allocator, *policy_.policies[number], workload, options_, progress);
    options_.communication = nullptr;
    return result;
  }

  /// "first-fit+block"
  std::string name_of_policy(std::size_t number) const {
    const std::string& mapper = policy_.mappers[number];
    return mapper.empty() ? std::string(policy_.policies[number]->name)
                          : fmt::format("{}+{}", policy_.policies[number]->name, mapper);
  }

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
    for (std::size_t i = 0; i < results.size(); ++i) {
      const ReplayResult& result = results[i];
      json["policies"].push_back({{"policy", name_of_policy(i)},
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
      if (with_patterns_) {
        Json& row = json["policies"].back();
        row["communicating_jobs"] = result.communicating;
        row["mean_communication_s"] = result.mean_communication;
        row["communication_ratio"] = result.communication_ratio;
        row["decision_p99_s"] = result.slowest_decision;
        if (options_.moldable > 1) row["reshaped_jobs"] = result.reshaped;
      }
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
      if (job.application == 0) continue;
      list.back()["application"] = job.application;
      list.back()["communication"] = job.communication;
    }
    return list;
  }

  std::string to_text(const Workload& workload, const AllocationMachine& machine, std::span<const ReplayResult> results,
                      std::size_t width) const {
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
                 {with_patterns_ ? "communication" : "", Align::right},
                 {with_patterns_ ? "makespan" : "", Align::right},
                 {options_.moldable > 1 ? "reshaped" : "", Align::right},
                 {"decisions/s", Align::right}});
    for (std::size_t i = 0; i < results.size(); ++i) {
      const ReplayResult& result = results[i];
      table.row({name_of_policy(i), percent(100 * result.utilisation), format_seconds(result.mean_wait),
                 factor(result.bounded_slowdown), percent(100 * result.contention_free()),
                 fmt::format("{:.1f}", result.mean_diameter), percent(100 * result.fragmentation),
                 options_.verify ? format_count(static_cast<double>(result.conflicts)) : "",
                 with_patterns_ ? percent(100 * result.communication_ratio) : "",
                 with_patterns_ ? format_seconds(result.makespan) : "",
                 options_.moldable > 1 ? format_count(static_cast<double>(result.reshaped)) : "",
                 format_count(std::round(result.decisions_per_second()))});
    }
    text += table.text(width);
    if (with_patterns_)
      text += "\ncommunication: mean time in communication, in percent of the recorded run on consecutive nodes\n";
    if (options_.moldable > 1) text += "reshaped: jobs that ran on another number of nodes than they requested\n";
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
  FitOptions fit_;
  ReplayOptions options_;
  bool patterns_ = false, with_patterns_ = false;
  std::string pattern_list_;
  std::uint64_t pattern_seed_ = 0;
  std::string mapper_ = default_mapper;
};

}  // namespace

std::unique_ptr<Verb> make_alloc_replay() {
  return std::make_unique<AllocReplay>();
}

}  // namespace rankloom::app
