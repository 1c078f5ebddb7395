// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping: `rankloom map`: maps a profile onto a machine.
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "apps/rankloom/arguments/mapper_arguments.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/mapping/judge.hpp"
#include "apps/rankloom/verbs/mapping/timing.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/evaluate/metrics.hpp"
#include "rankloom/model/files/mapping_file.hpp"
#include "rankloom/model/machine/origins.hpp"
#include "rankloom/model/prediction/bottlenecks.hpp"
#include "rankloom/report/document/document_json.hpp"
#include "rankloom/report/terminal/progress_display.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

/// The traffic across a level with the default placement and with the mapping.
struct LevelChange {
  LevelTraffic before, after;
};

/// The predicted times with the default placement and with the mapping.
struct TimeChange {
  PredictedTime before, after;
};

struct Comparison {
  std::vector<LevelChange> levels;
  std::optional<TimeChange> times;  ///< None for a distance matrix, and with many edges.
};

class MapVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    problem_.describe(app, "PROFILE");
    mapper_.describe(app);
    run_.describe(app);
    mapper_.external.describe(app);
    add_text(app,
             {"--start", "MAPPING", "the initial mapping, a file or a mapper, for mappers that improve one", "run"},
             start_);
    add_value(
        app,
        {"--migration-cost", "X|N%",
         "cost of moving a rank from its core in --start; N%: percent of the average cost of a rank there", "run"},
        [this](std::string_view value) -> Result<void> {
          migration_cost_is_percent_ = value.ends_with('%');
          if (migration_cost_is_percent_) value.remove_suffix(1);
          migration_cost_ = parse_number(value);
          if (!migration_cost_ || !is_amount(*migration_cost_))
            return bad_value("--migration-cost", value, "a number of at least 0, or a percentage such as 5%");
          return {};
        });
    add_switch(app, "--no-bound", "do not compute a lower bound on the cost", no_bound_, "run");
    add_switch(app, "--raw", "keep a result even if it costs more than the launcher's default placement", raw_, "run");
    add_choice(
        app,
        {"--judge", "predict|simulate",
         "run the mapper for several cost models, on few and on more nodes, and keep the mapping with the "
         "shortest time: predicted by arithmetic, or simulated by SimGrid; by default the cost in --model decides",
         "run"},
        std::vector<std::pair<std::string_view, JudgeKind>>{{"predict", JudgeKind::predict},
                                                            {"simulate", JudgeKind::simulate}},
        judge_);
    exclude(app, "--judge", "--raw");
    exclude(app, "--judge", "--migration-cost");
    add_text(app, {"-o,--output", "FILE", "the file to write the mapping to; by default standard output", "output"},
             output_);
    add_value(app,
              {"--format", "plain|json",
               "plain: one core number per line, line i for rank i; json: the complete result", "output", "plain"},
              [this](std::string_view value) -> Result<void> {
                if (value != "plain" && value != "json") return bad_value("--format", value, "plain or json");
                as_json_ = value == "json";
                return {};
              });
    add_switch(app, "--timing", "also print where the CPU time of the mapper went, as a tree of its steps", timed_,
               "output");
  }

  Result<int> run(const Session& session) override {
    if (auto writable = check_output(output_); !writable) return propagate(writable);
    auto mapper = mapper_.make();
    if (!mapper) return propagate(mapper);
    if (!start_.empty() && !mapper->info->takes_start) return cannot_start_from_mapping(*mapper);

    if (start_.empty() && migration_cost_) {
      return fail(Code::usage, at("--migration-cost"), "a migration cost needs the mapping that ranks move away from",
                  "add --start MAPPING");
    }

    // The initial mapping need not obey the limits of the recorded placement.
    if (!start_.empty() && !problem_.spread && !problem_.ranks_per_node) problem_.spread = Spread::pack;
    const ThreadLimit limit(run_.threads);
    ProgressDisplay progress(stderr, session.progress);
    std::optional<Judge> judge;
    if (judge_) {
      judge.emplace(*judge_);
      if (auto prepared = judge->prepare(); !prepared) return propagate(prepared);
    }
    auto instance = problem_.load(progress, judge && judge->needs_profile());
    if (!instance) return propagate(instance);
    run_.choose_model(problem_, *instance);
    auto result = solve(*mapper, *instance, judge, progress);
    if (!result) return propagate(result);
    const Comparison comparison{compare_levels(*instance, *result), compare_times(*instance, *result)};
    progress.finish();
    return deliver(session, *instance, *result, comparison);
  }

 private:
  static Failure cannot_start_from_mapping(const ConfiguredMapper& mapper) {
    std::string names;
    for (const MapperInfo& row : mappers()) {
      if (row.takes_start) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
    }
    return fail(Code::usage, at("--start"),
                fmt::format("the mapper {} does not take an initial mapping", mapper.info->name),
                fmt::format("mappers that do: {}", names));
  }

  Result<MapResult> solve(const ConfiguredMapper& mapper, const Instance& instance, const std::optional<Judge>& judge,
                          Progress& progress) {
    std::vector<Core> start;
    if (!start_.empty()) {
      auto placement = named_placement(start_, instance, instance.capacities, run_, progress);
      if (!placement) return propagate(placement);
      start = std::move(*placement);
    } else {
      auto given = given_start(mapper, instance);
      if (!given) return propagate(given);
      start = std::move(*given);
    }
    progress.report("mapping" + run_.limit_text(), -1);
    const MapProblem problem{
        instance.graph, instance.topology, instance.capacities, run_.model, start, migration_cost(instance, start)};
    std::optional<Measurement> measurement;
    if (timed_) measurement.emplace("mapping");
    auto result = run_mapper(
        mapper, problem, run_.run(run_.seed, progress),
        {.default_placement = instance.default_placement, .keep_worse = raw_, .compute_lower_bound = !no_bound_});
    if (measurement) timing_ = measurement->finish();
    if (result && start_.empty()) result->moved.reset();  // the placement of -a file:FILE is not a start
    if (!result || !judge) return result;
    progress.report("mapping for other goals" + run_.limit_text(), -1);
    auto candidates =
        candidate_mappings(mapper, problem, run_.run(run_.seed, progress), instance.default_placement, *result);
    if (!candidates) return propagate(candidates);
    auto judgement = judge->choose(*std::move(candidates), problem_.profile, instance, progress);
    if (!judgement) return propagate(judgement);
    judgement_ = *std::move(judgement);
    return with_choice(*std::move(result), *judgement_, problem);
  }

  double migration_cost(const Instance& instance, const std::vector<Core>& start) const {
    if (!migration_cost_ || start.empty() || !migration_cost_is_percent_) return migration_cost_.value_or(0);
    const double cost = evaluate(instance.graph, instance.topology, start, run_.model);
    return *migration_cost_ / 100 * std::abs(cost) / static_cast<double>(start.size());
  }

  static std::vector<LevelChange> compare_levels(const Instance& instance, const MapResult& result) {
    const auto before = level_traffic(instance.graph, instance.topology, instance.default_placement);
    const auto after = level_traffic(instance.graph, instance.topology, result.mapping.cores());
    std::vector<LevelChange> levels;
    for (std::size_t level = 0; level < before.size(); ++level) levels.push_back({before[level], after[level]});
    return levels;
  }

  static std::optional<TimeChange> compare_times(const Instance& instance, const MapResult& result) {
    const auto platform = Platform::of(instance.topology);
    if (!platform || instance.graph.edge_count() > many_edges) return std::nullopt;
    return TimeChange{predict_time(instance.graph, *platform, instance.default_placement),
                      predict_time(instance.graph, *platform, result.mapping.cores())};
  }

  Result<int> deliver(const Session& session, const Instance& instance, const MapResult& result,
                      const Comparison& comparison) const {
    const bool to_file = !output_.empty() && output_ != "-";
    const std::string json = session.json || as_json_ ? to_line(to_json(instance, result, comparison)) : std::string();
    if (to_file || !session.json) {
      auto written = as_json_ ? write_file(or_standard_output(output_), json)
                              : write_file(or_standard_output(output_), [&](Sink& sink) -> Result<void> {
                                  write_plain_mapping(result.mapping.cores(), sink, problem_.slot.shapes());
                                  return {};
                                });
      if (!written) return propagate(written);
    }
    if (session.json) {
      print(json);
    } else if (to_file) {
      print(summary(instance, result, comparison, session.width));
    } else if (session.err_is_terminal) {
      print_to_stderr(summary(instance, result, comparison, session.width));
    } else if (timing_) {
      print_to_stderr(timing_text(*timing_, session.width));
    }
    return success;
  }

  Json to_json(const Instance& instance, const MapResult& result, const Comparison& comparison) const {
    Json json{{"mapper", result.mapper}, {"seed", result.seed}};
    json.update(problem_.json(instance, result.model));
    json["cost"] = result.cost;
    json["cost_default"] = result.cost_default;
    json["default_placement"] = instance.default_name;
    json["gain_percent"] = gain(result);
    json["lower_bound"] = result.lower_bound ? Json(*result.lower_bound) : Json();
    json["gap_percent"] = result.lower_bound ? Json(gap_percent(result.cost, *result.lower_bound)) : Json();
    if (result.moved) json["moved"] = *result.moved;
    json["time_ms"] = result.time_ms;
    if (result.usage)
      json["process"] = {{"cpu_seconds", result.usage->cpu_seconds}, {"peak_bytes", result.usage->peak_bytes}};
    json["edges"] = instance.graph.edge_count();
    json["fell_back"] = result.fell_back;
    json["note"] = result.note;
    if (result.load) json["load"] = load_json(*result.load);
    if (result.model == CostModel::predicted) json["assumed"] = assumed_numbers(instance.topology);
    if (judgement_) json.update(judgement_->json());
    if (timing_) json["timing"] = timing_json(*timing_);
    json["nodes_used"] = nodes_used(result.mapping.cores(), instance.topology);
    if (comparison.times) {
      const auto& [before, after] = *comparison.times;
      json["predicted_seconds"] = after.seconds;
      json["predicted_seconds_default"] = before.seconds;
      json["bottlenecks"] = bottlenecks_json(after.bottlenecks);
      json["bottlenecks_default"] = bottlenecks_json(before.bottlenecks);
    }
    json["levels"] = Json::array();
    for (const auto& [before, after] : comparison.levels) {
      json["levels"].push_back({{"level", after.level},
                                {"bytes", after.bytes},
                                {"bytes_default", before.bytes},
                                {"messages", after.messages},
                                {"messages_default", before.messages}});
    }
    Json cores = Json::array();
    for (const Core core : result.mapping.cores()) cores.push_back(index(core));
    json["mapping"] = std::move(cores);
    return json;
  }

  static double gain(const MapResult& result) {
    return gain_percent(result.cost_default, result.cost, info(result.model).larger_is_better);
  }

  std::string summary(const Instance& instance, const MapResult& result, const Comparison& comparison,
                      std::size_t width) const {
    std::string text =
        fmt::format("{} on {} by {} in {}\n\n", counted(instance.graph.rank_count(), "rank"),
                    counted_cores(instance.topology), result.mapper, format_seconds(result.time_ms / 1000));
    Table table({{""},
                 {instance.has_recorded() ? "recorded placement" : "default placement", Table::Align::right},
                 {"mapped", Table::Align::right},
                 {""}});
    table.row(
        {result.model == CostModel::predicted ? "predicted time" : fmt::format("cost ({})", info(result.model).name),
         cost_text(result.model, result.cost_default), cost_text(result.model, result.cost),
         change(result.cost_default, result.cost)});
    if (comparison.times && result.model != CostModel::predicted) {
      const auto& [before, after] = *comparison.times;
      table.row({"predicted time", format_seconds(before.seconds), format_seconds(after.seconds),
                 change(before.seconds, after.seconds)});
    }
    const std::uint32_t nodes_before = nodes_used(instance.default_placement, instance.topology);
    const std::uint32_t nodes_after = nodes_used(result.mapping.cores(), instance.topology);
    if (nodes_before != nodes_after) {
      table.row(
          {"nodes in use", format_count(nodes_before), format_count(nodes_after), change(nodes_before, nodes_after)});
    }
    for (const auto& [before, after] : comparison.levels) {
      if (before.bytes == 0 && after.bytes == 0) continue;
      const std::string where =
          after.level == "same core" ? "within a core" : fmt::format("between {}", plural(after.level));
      table.row({where, format_bytes(before.bytes), format_bytes(after.bytes), change(before.bytes, after.bytes)});
    }
    text += table.text(width);
    if (result.load) text += fmt::format("\n  {}\n", load_sentence(*result.load));
    if (judgement_) text += "\n" + judgement_->text(width);
    if (timing_) text += "\n" + timing_text(*timing_, width);
    const std::string assumed = result.model == CostModel::predicted ? assumed_line(instance.topology) : "";
    const std::string remarks = bottlenecks_remark(comparison, width) + limits_remark(instance) +
                                slots_remark(instance) + assumed + remarks_on(result, judgement_.has_value());
    text += "\n" + remarks + (remarks.empty() ? "" : "\n");
    text += fmt::format("next: rankloom eval {} {} {}{}\n",
                        shell_quote(output_.empty() || output_ == "-" ? "FILE" : output_), instance.default_name,
                        problem_.command_line("--profile "), run_.command_line());
    text += fmt::format("      rankloom compare {}{}\n", problem_.command_line(""), run_.command_line());
    return text;
  }

  /// What limits the predicted time.
  static std::string bottlenecks_remark(const Comparison& comparison, std::size_t width) {
    if (!comparison.times) return {};
    const auto& [before, after] = *comparison.times;
    if (before.bottlenecks.empty() && after.bottlenecks.empty()) return {};
    const std::string now = bottleneck_sentence(after.bottlenecks);
    if (now == bottleneck_sentence(before.bottlenecks)) return fmt::format("  limited by: {}\n", now);
    Table table({{}, {}});
    table.row({"limited before by:", first_bottleneck(before.bottlenecks)});
    table.row({"limited now by:", now});
    return table.text(width);
  }

  std::string limits_remark(const Instance& instance) const {
    if (!instance.limits.any()) return {};
    std::string text;
    const auto add = [&text](std::uint32_t limit, std::string_view where) {
      if (limit > 0) text += fmt::format("{}{} per {}", text.empty() ? "" : ", ", limit, where);
    };
    add(instance.limits.per_node, "node");
    add(instance.limits.per_package, "package");
    add(instance.limits.per_numa, "NUMA node");
    const bool recorded = !problem_.spread && !problem_.ranks_per_node;
    return fmt::format("  limit of ranks: {}{}\n", text,
                       recorded ? ", as recorded; --spread pack places them without it" : "");
  }

  std::string slots_remark(const Instance& instance) const {
    const SlotShapes shapes = problem_.slot.shapes().of_first(instance.graph.rank_count());
    if (shapes.differ() || shapes.common().cores == 1 || instance.topology.is_matrix()) return {};
    const std::uint32_t cores = cores_of_one_memory(instance.topology, instance.graph.rank_count(), shapes.common());
    if (cores == 0 || cores == shapes.common().cores) return {};
    const std::string& kind = instance.topology.levels()[memory_level(instance.topology)].kind;
    return fmt::format("  some ranks have cores of several {}; with --cores-per-rank {} none has\n",
                       kind == "numa" ? "NUMA nodes" : plural(kind), cores);
  }

  /// `judged`: by another measure than the cost.
  static std::string remarks_on(const MapResult& result, bool judged) {
    std::string text;
    if (result.lower_bound && *result.lower_bound != 0) {
      const bool larger_is_better = info(result.model).larger_is_better;
      text += fmt::format("  {}\n", bound_sentence(result.cost, *result.lower_bound, larger_is_better));
    }
    if (result.moved) {
      text +=
          fmt::format("  {} of {} moved from their core in --start\n", format_count(static_cast<double>(*result.moved)),
                      counted(result.mapping.rank_count(), "rank"));
    }
    if (result.fell_back) {
      text += "  no mapping better than the launcher's default placement was found\n";
    } else if (result.cost == result.cost_default && !result.load && !judged) {
      text += "  the launcher's default placement costs the same: no change is needed\n";
    }
    if (!result.note.empty() && !result.fell_back) text += fmt::format("  note: {}\n", result.note);
    return text;
  }

  ProblemArguments problem_;
  MapperArguments mapper_;
  RunArguments run_;
  std::string start_;
  std::optional<double> migration_cost_;
  bool migration_cost_is_percent_ = false;
  std::string output_;
  bool raw_ = false;
  bool no_bound_ = false;
  std::optional<JudgeKind> judge_;
  std::optional<Judgement> judgement_;  // with --judge
  bool timed_ = false;
  std::optional<SectionTime> timing_;  // with --timing
  bool as_json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_map() {
  return std::make_unique<MapVerb>();
}

}  // namespace rankloom::app
