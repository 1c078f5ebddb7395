// SPDX-License-Identifier: Apache-2.0
// report/document: reads the JSON output of other verbs into a document.
#include "rankloom/report/document/results.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "rankloom/core/result.hpp"
#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/evaluate/statistics.hpp"
#include "rankloom/model/files/json.hpp"
#include "rankloom/model/files/topology_json.hpp"

namespace rankloom {

namespace {

/// Runs `read`, which may throw the exceptions of the JSON library and of whole_number().
template <class Read>
Result<void> reading(const std::string& source, std::string_view writer, const Read& read) {
  try {
    read();
    return {};
  } catch (const std::exception& error) {
    // "[json.exception.out_of_range.403] key 'x' not found" → "key 'x' not found"
    std::string_view what = error.what();
    if (const auto end = what.find("] "); what.starts_with('[') && end != std::string_view::npos)
      what.remove_prefix(end + 2);
    return fail(Code::bad_input, at(source), fmt::format("not an output of `{}`: {}", writer, what),
                fmt::format("write it again with `{}`", writer));
  }
}

/// The problem of a comparison or an evaluation; results of older versions have no digests.
ProblemId problem_of(const nlohmann::json& json) {
  return {.graph = json.value("graph_digest", ""),
          .machine = json.value("machine_digest", ""),
          .slots = json.value("slots", std::uint64_t{0}),
          .model = json.contains("replayed") ? "" : json.at("model")};  // a simulation has no costs
}

/// A problem without costs has no model.
bool same_model(const ProblemId& a, const ProblemId& b) {
  return a.model.empty() || b.model.empty() || a.model == b.model;
}

/// Of a mapping of an evaluation; results of older versions have none.
std::vector<Bottleneck> bottlenecks_of(const nlohmann::json& mapping) {
  std::vector<Bottleneck> bottlenecks;
  if (!mapping.contains("bottlenecks")) return bottlenecks;
  for (const nlohmann::json& row : mapping["bottlenecks"])
    bottlenecks.push_back({row.at("name"), row.at("bytes"), row.at("seconds")});
  return bottlenecks;
}

void note_version(const nlohmann::json& json, const std::string& source, ReportDocument& document) {
  const std::string version = "rankloom " + json.value("version", "");
  if (json.contains("version") && !document.reproduce.version.empty() && document.reproduce.version != version)
    document.verdict.notes.push_back(fmt::format("{} was written by {}.", source, version));
}

Failure second_result(const std::string& source, std::string_view what) {
  return fail(Code::usage, at(source), fmt::format("this is a second {}", what),
              "a report shows one; write a report for each");
}

}  // namespace

using Json = nlohmann::json;

Result<void> add_problem(const ProblemId& problem, const std::string& source, ReportDocument& document) {
  if (!document.problem) {
    document.problem = {problem, source};
    return {};
  }
  ProblemId& known = document.problem->first;
  const std::string& first = document.problem->second;
  const auto differs = [&](std::string_view what) {
    return fail(Code::usage, at(source), fmt::format("another {} than that of {}", what, first),
                "costs of different problems cannot be compared: write a report for each");
  };
  if (!same_model(problem, known)) return differs("cost model");
  if (problem.graph.empty() || known.graph.empty()) {
    return fail(Code::bad_input, at(problem.graph.empty() ? source : first),
                "this result of an older version does not say for which program and machine it was computed",
                "write it again, or report it alone");
  }
  if (problem.graph != known.graph) return differs("communication graph");
  if (problem.machine != known.machine) return differs("machine");
  if (problem.slots != known.slots) return differs("number of slots (--oversubscribe, --imbalance)");
  if (known.model.empty()) known.model = problem.model;
  return {};
}

bool belongs_to(const ProblemId& problem, const ReportDocument& document) {
  if (!document.problem) return true;
  const ProblemId& known = document.problem->first;
  if (problem.graph.empty() || known.graph.empty()) return true;
  return problem.graph == known.graph && problem.machine == known.machine && problem.slots == known.slots &&
         same_model(problem, known);
}

bool belongs_to(const Json& result, const ReportDocument& document) {
  try {
    return belongs_to(problem_of(result), document);
  } catch (const std::exception&) {
    return true;
  }
}

std::optional<ResultKind> kind_of_result(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto has = [&](const char* key) { return json.contains(key); };
  if (has("format") && json["format"] == "rankloom online 1") return ResultKind::online;
  if (has("policies") && has("trace")) return ResultKind::replay;
  if (has("mappers") && has("cost_default")) return ResultKind::comparison;
  if (has("replayed") && has("mappings")) return ResultKind::simulation;
  if (has("mappings") && json["mappings"].is_array()) return ResultKind::evaluation;
  if (has("folder") && has("speedup")) return ResultKind::tune;
  if (has("mapping")) return ResultKind::mapping;
  if (has("machine") || has("root")) return ResultKind::topology;
  return std::nullopt;
}

Result<void> read_comparison(const Json& json, const std::string& source, ReportDocument& document) {
  Result<void> fits;
  auto read = reading(source, "rankloom compare --json", [&] {
    fits = add_problem(problem_of(json), source, document);
    if (!fits) return;
    note_version(json, source, document);
    document.model = json.at("model");
    document.cost_default = json.at("cost_default").get<double>();
    if (json.at("lower_bound").is_number()) {
      // The tighter one of two; for a model in which larger is better, it is an upper bound.
      const double bound = json.at("lower_bound").get<double>();
      const bool tighter = !document.lower_bound || (document.larger_is_better() ? bound < *document.lower_bound
                                                                                 : bound > *document.lower_bound);
      if (tighter) document.lower_bound = bound;
    }
    for (const Json& row : json.at("mappers")) {
      document.mappers.push_back({row.at("mapper"), row.at("cost"), row.at("cost_spread"),
                                  row.at("time_ms").get<double>(), whole_number(json.at("runs")), false,
                                  row.at("note")});
    }
    for (const Json& row : json.at("skipped"))
      document.verdict.notes.push_back(
          fmt::format("Left out: {} ({}).", row.at("mapper").get<std::string>(), row.at("why").get<std::string>()));
    if (document.title.empty()) document.title = fmt::format("Mappers on {}", json.at("profile").get<std::string>());
    document.reproduce.seed = whole_number(json.at("seed"));
  });
  return read ? fits : read;
}

Result<void> read_simulation(const Json& json, const std::string& source, ReportDocument& document) {
  for (const Json& row : json["mappings"]) {
    if (row.is_object() && row.contains("timeline")) continue;
    return fail(Code::bad_input, at(source), "this simulation has no timelines",
                "write it again with `rankloom simulate --timeline --json`");
  }
  Result<void> fits;
  auto read = reading(source, "rankloom simulate --timeline --json", [&] {
    fits = add_problem(problem_of(json), source, document);
    if (!fits) return;
    note_version(json, source, document);
    for (const Json& row : json.at("mappings")) {
      const Json& timeline = row.at("timeline");
      document.timelines.push_back(
          {row.at("name"), timeline_from_json(timeline), timeline.at("path_levels").get<std::vector<std::string>>()});
      if (document.timelines.back().levels.size() != document.timelines.back().timeline.path_messages.size())
        throw std::invalid_argument("the levels of the critical path do not agree");
    }
    if (document.title.empty()) document.title = fmt::format("{}, simulated", json.at("profile").get<std::string>());
  });
  return read ? fits : read;
}

Result<void> read_evaluation(const Json& json, const std::string& source, ReportDocument& document) {
  Result<void> fits;
  auto read = reading(source, "rankloom eval --json", [&] {
    fits = add_problem(problem_of(json), source, document);
    if (!fits) return;
    note_version(json, source, document);
    const Json& mappings = json.at("mappings");
    document.model = json.at("model");
    for (const Json& row : mappings)
      document.mappers.push_back({row.at("name"), row.at("cost"), 0, std::nullopt, 1, false, {}});
    if (document.title.empty()) document.title = fmt::format("Mappings of {}", json.at("profile").get<std::string>());
    if (mappings.size() < 2 || !document.levels.empty()) return;
    // Without the profile, only these figures can be compared: those of the default placement, or of the first mapping,
    // and those of the best other mapping.
    std::size_t first = 0;
    const std::string default_name = json.value("default_placement", "block");
    const auto is_default = [&](const auto& mapping) {
      return mapping.at("name") == default_name || mapping.at("name") == "recorded";
    };
    while (first + 1 < mappings.size() && !is_default(mappings[first])) ++first;
    const bool has_default = is_default(mappings[first]);
    if (!has_default) first = 0;
    std::size_t best = first == 0 ? 1 : 0;
    for (std::size_t other = best + 1; other < mappings.size(); ++other) {
      const double cost = mappings[other].at("cost"), best_cost = mappings[best].at("cost");
      if (other != first && (document.larger_is_better() ? cost > best_cost : cost < best_cost)) best = other;
    }
    const Json& before = mappings[first];
    const Json& after = mappings[best];
    const std::string name = before.at("name");
    document.default_is_first = has_default;
    document.orders = {{"before", has_default ? label_of_default(name) : name, {}, before.at("cost")},
                       {"after", after.at("name"), {}, after.at("cost")}};
    if (has_default) document.cost_default = before.at("cost").get<double>();
    for (std::size_t at = 0; at < before.at("levels").size(); ++at) {
      const Json& one = before.at("levels").at(at);
      const Json& other = after.at("levels").at(at);
      const std::string level = one.at("level");
      document.levels.push_back({level == "same core" ? "on the same core" : "parting at " + level, one.at("bytes"),
                                 one.at("messages"), other.at("bytes"), other.at("messages")});
    }
    const auto pair = [&](const char* key) -> std::optional<std::pair<double, double>> {
      if (!before.contains(key) || !after.contains(key)) return std::nullopt;
      return std::pair{before.at(key).get<double>(), after.at(key).get<double>()};
    };
    document.verdict.predicted = pair("predicted_seconds");
    document.verdict.bottlenecks_before = bottlenecks_of(before);
    document.verdict.bottlenecks_after = bottlenecks_of(after);
    document.verdict.simulated = pair("simulated_seconds");
  });
  return read ? fits : read;
}

namespace {

/// The mappings that `tune --candidates` ran to find the fastest.
std::string candidates_note(const nlohmann::json& candidates, const nlohmann::json& result) {
  const std::string unit = result.value("rate_unit", "");
  std::string text = "Candidates that ran before the comparison, which uses other runs:";
  for (const nlohmann::json& row : candidates) {
    const unsigned nodes = row.at("nodes");
    text += fmt::format("{} {} on {} node{}", text.ends_with(':') ? "" : ";", row.at("goal").get<std::string>(), nodes,
                        nodes == 1 ? "" : "s");
    const bool rates = row.contains("rates");
    const auto values = row.at(rates ? "rates" : "seconds").get<std::vector<double>>();
    if (row.contains("status")) {
      text += fmt::format(" exited with status {}", row["status"].get<int>());
    } else if (values.empty()) {
      text += " not run";
    } else {
      const double middle = median(values);
      text += " " + (rates ? fmt::format("{:.4g}{}{}", middle, unit.empty() ? "" : " ", unit) : format_seconds(middle));
    }
    if (row.at("chosen").get<bool>()) text += " (chosen)";
  }
  return text + ".";
}

}  // namespace

Result<void> read_tune(const Json& json, const std::string& source, ReportDocument& document) {
  if (!document.verdict.kind.empty()) return second_result(source, "result of `tune`");
  return reading(source, "rankloom tune", [&] {
    Verdict& verdict = document.verdict;
    const bool gain = json.at("gain");
    verdict.kind = gain ? "gain" : "none";
    std::string predicted;
    const bool rates = json.contains("before_rates");
    if (json.contains("simulated")) {
      const Json& simulated = json["simulated"];
      if (!rates) verdict.simulated = {simulated.at("now_seconds"), simulated.at("placed_seconds")};
      predicted = fmt::format("; simulated {:.2f}", simulated.at("speedup").get<double>());
    }
    if (json.at("speedup").is_number()) {
      Measured measured;
      measured.before = json.at(rates ? "before_rates" : "before_seconds").get<std::vector<double>>();
      measured.after = json.at(rates ? "after_rates" : "after_seconds").get<std::vector<double>>();
      if (rates) measured.unit = json.value("rate_unit", "");
      measured.speedup = json.at("speedup");
      measured.spread = json.at("speedup_spread");
      const std::string runs =
          measured.before.size() == 1 ? "1 run each" : fmt::format("{} runs each", measured.before.size());
      // Results of earlier versions have a spread and no interval.
      const std::string range =
          json.contains("confidence")
              ? fmt::format("{:.2f} to {:.2f} with {:.0f} % confidence, {}", json.at("speedup_low").get<double>(),
                            json.at("speedup_high").get<double>(), 100 * json.at("confidence").get<double>(), runs)
              : fmt::format("± {:.2f}, {}", measured.spread, runs);
      const std::string verdict_name = json.value("verdict", json.value("slower", false) ? "slower" : "same");
      const unsigned threads = json.value("threads_per_core", 0U);
      const std::string with =
          threads == 0 ? "" : fmt::format("With {} hardware thread{} per core: ", threads, threads == 1 ? "" : "s");
      verdict.sentence =
          gain ? fmt::format("{}{:.2f} times {} the default placement ({}){}.", with, measured.speedup,
                             rates ? "the rate of" : "faster than", range, predicted)
               : fmt::format("{}{} ({:.2f} {}: {}){}: keep the default placement.", with,
                             verdict_name == "slower"              ? "Slower, not faster"
                             : verdict_name.starts_with("faster_") ? "Faster, but not because of the placement"
                                                                   : "No measurable difference",
                             json.value("measured_speedup", measured.speedup),
                             rates ? "times the rate" : "times as fast", range, predicted);
      if (json.at("verified").is_boolean())
        verdict.notes.push_back(json.at("verified").get<bool>() ? "The placement of every rank was verified."
                                                                : "The placement of some ranks could not be verified.");
      verdict.measured = std::move(measured);
    } else {
      verdict.sentence =
          json.contains("before_seconds") || rates
              ? "No verdict: there are too few runs."
              : fmt::format("No gain expected{}: keep the default placement. Nothing was run.", predicted);
    }
    if (json.contains("candidates")) verdict.notes.push_back(candidates_note(json["candidates"], json));
    if (json.contains("reason")) verdict.notes.push_back("Why: " + json["reason"].get<std::string>() + ".");
    if (json.contains("use") && !json["use"].get<std::string>().empty()) verdict.commands.push_back(json["use"]);
    document.reproduce.commands.push_back("rankloom tune -- " + json.at("command").get<std::string>());
  });
}

namespace {

using Json = nlohmann::json;

constexpr std::size_t max_jobs = 20'000;
constexpr std::size_t max_nodes_of_jobs = std::size_t{1} << 25;
constexpr std::uint32_t max_node = max_nodes_of_jobs - 1;

Result<void> read_jobs(const Json& list, std::uint32_t nodes, const std::string& source, PolicyRow& policy) {
  std::size_t nodes_of_jobs = 0;
  for (const Json& row : list) {
    if (policy.jobs.size() == max_jobs || nodes_of_jobs > max_nodes_of_jobs) {
      policy.jobs_note = fmt::format("the first {} of {} jobs to start", policy.jobs.size(), list.size());
      break;
    }
    const std::string text = row.at("nodes").get<std::string>();
    auto where = nodes > 0 ? parse_number_ranges(text, std::min(nodes - 1, max_node)) : std::nullopt;
    if (!where) {
      return fail(Code::bad_input, at(source), fmt::format("'{}' is not a list of nodes below {}", text, nodes),
                  "write it again with `rankloom alloc replay --detail --json`");
    }
    nodes_of_jobs += where->size();
    policy.jobs.push_back({row.at("id"), whole_number_32(row.at("size")), row.at("submit"), row.at("start"),
                           row.at("end"), std::move(*where), row.at("shares_links")});
  }
  return {};
}

OnlineNode online_node(const Json& json) {
  OnlineNode node;
  node.name = json.at("host");
  for (const Json& rank : json.at("ranks")) node.ranks.push_back(whole_number_32(rank));
  node.seconds = json.at("seconds");
  if (!json.contains("phases")) return node;  // its agent made no plan
  for (const Json& phase : json.at("phases"))
    node.phases.push_back({phase.at("kind"), phase.at("begin"), phase.at("end")});
  for (const Json& burst : json.at("migrations"))
    node.migrations.emplace_back(burst.at("time"), whole_number_32(burst.at("bound")));
  for (const Json& decision : json.at("decisions")) {
    const double stayed = decision.at("cost_per_second"), moved = decision.at("cost_per_second_moved");
    node.decision_time.push_back(decision.at("time"));
    node.cost_without_migration.push_back(stayed);
    node.cost_online.push_back(decision.at("moves").get<bool>() ? moved : stayed);
  }
  node.total_cost_without_migration = json.at("effect").at("stayed");
  node.total_cost_online = json.at("effect").at("online");
  return node;
}

}  // namespace

Result<void> read_replay(const Json& json, const std::string& source, ReportDocument& document) {
  if (document.allocation) return second_result(source, "replay of `alloc replay`");
  Result<void> inside;
  auto read = reading(source, "rankloom alloc replay --detail --json", [&] {
    AllocationSection section;
    section.nodes = whole_number_32(json.at("nodes"));
    section.trace = json.at("trace");
    for (const Json& row : json.at("policies")) {
      PolicyRow policy{row.at("policy"),
                       row.at("utilisation"),
                       row.at("contention_free"),
                       row.at("bounded_slowdown"),
                       row.at("mean_wait_s"),
                       whole_number(row.at("jobs")),
                       {},
                       {}};
      if (row.contains("job_list")) inside = read_jobs(row["job_list"], section.nodes, source, policy);
      if (!inside) return;
      section.policies.push_back(std::move(policy));
    }
    if (json.contains("machine")) {
      auto spec = read_machine_json(FileContents(source, dump_json(json["machine"])));
      auto topology = spec ? Topology::build(*std::move(spec)) : Result<Topology>(propagate(spec));
      if (!topology) {
        inside = propagate(topology);
        return;
      }
      section.machine = lay_out_machine(*topology);
    }
    if (document.title.empty())
      document.title = fmt::format("{} on {} nodes", section.trace.substr(section.trace.rfind('/') + 1), section.nodes);
    document.allocation = std::move(section);
  });
  return read ? inside : read;
}

Result<void> read_online(const Json& json, const std::string& source, ReportDocument& document) {
  if (document.online) return second_result(source, "log of `online`");
  return reading(source, "rankloom online", [&] {
    OnlineSection section;
    section.program = json.at("program");
    for (const Json& node : json.at("nodes")) {
      section.nodes.push_back(online_node(node));
      section.window_seconds = node.at("window");
      if (node.contains("windows")) section.windows = std::max(section.windows, whole_number(node["windows"]));
    }
    const Json& restart = json.at("restart");
    if (restart.is_object() && restart.contains("cost"))
      section.restart = {restart.at("cost"), restart.at("cost_mapped")};
    for (const Json& host : json.at("missing_agents"))
      document.verdict.notes.push_back(fmt::format("The agent of {} left no log.", host.get<std::string>()));
    if (document.title.empty()) document.title = fmt::format("{} while it ran", section.program);
    document.online = std::move(section);
  });
}

}  // namespace rankloom
