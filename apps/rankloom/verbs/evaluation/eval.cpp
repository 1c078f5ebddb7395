// SPDX-License-Identifier: Apache-2.0
// apps/verbs/evaluation: `rankloom eval`: scores mappings and compares them. On huge instances it computes only the
// chosen cost model and the levels.
#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "apps/rankloom/arguments/mapper_arguments.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/arguments/simulation_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/evaluate/metrics.hpp"
#include "rankloom/model/prediction/bottlenecks.hpp"
#include "rankloom/model/prediction/flow_prediction.hpp"
#include "rankloom/report/document/document_json.hpp"
#include "rankloom/report/terminal/progress_display.hpp"
#include "rankloom/report/terminal/progress_part.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

struct Score {
  std::string name;
  double cost = 0;
  Metrics metrics;  ///< Always with levels, with the rest only if complete.
  bool complete = false;
  double seconds = 0;                           ///< Time of the scoring.
  std::optional<PredictedTime> predicted = {};  ///< Of the communication, by the analytic model.
  std::optional<double> by_flows = {};          ///< The same time, by the prediction by flows, if the program is small.
  std::optional<SimulationResult> simulated = {};
};

class EvalVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_repeated(app,
                 {"MAPPING", "MAPPING", "mapping files, plain or JSON, or mappers of `rankloom list mappers` to run",
                  "input", "", true},
                 names_);
    problem_.describe(app, "-p,--profile");
    run_.describe(app);
    add_switch(
        app, "--all",
        fmt::format("compute every cost model and link even with more than {} million edges", many_edges / 1'000'000),
        all_, "output");
    add_switch(app, "--links", "show the links with the most traffic", links_, "output");
    add_switch(app, "--simulate", "replay the program with each mapping on a SimGrid simulation of the machine",
               simulate_, "prediction");
    simulation_.describe_replay(app);
  }

  Result<int> run(const Session& session) override {
    width_ = session.width;
    const ThreadLimit limit(run_.threads);
    ProgressDisplay progress(stderr, session.progress);
    if (auto prepared = simulation_.prepare(); !prepared) return propagate(prepared);
    auto instance = problem_.load(progress, simulate_);
    if (!instance) return propagate(instance);
    run_.choose_model(problem_, *instance);
    auto platform = Platform::of(instance->topology, simulation_.factors);
    // Without wires (a distance matrix, for example) there is no prediction, which is an error only if one is
    // requested.
    if (!platform && (simulate_ || platform.error().code == Code::usage)) return propagate(platform);
    std::vector<Score> scores;
    std::vector<SimulationRequest> requests;
    for (const std::string& name : names_) {
      ProgressPart part(progress, scores.size(), names_.size());
      auto placement = given_placement(name, *instance, problem_.fit(), run_, part);
      if (!placement) return propagate(placement);
      part.report("scoring " + name, -1);
      scores.push_back(score(name, *instance, *placement));
      if (platform && complete(*instance)) {
        scores.back().predicted = predict_time(instance->graph, *platform, *placement);
        scores.back().by_flows = predict_by_flows(instance->graph, *platform, *placement);
      }
      if (!simulate_) continue;
      requests.push_back(simulation_.request(instance->topology));
      requests.back().jobs.push_back({.name = name, .traces = {}, .core_of = std::move(*placement), .start = 0});
    }
    if (simulate_) {
      if (auto done = simulate_all(*instance, requests, scores, progress); !done) return propagate(done);
    }
    progress.finish();
    if (session.json) {
      print_json(to_json(*instance, scores));
    } else {
      print(summary(*instance, scores));
    }
    return success;
  }

 private:
  /// With many edges, other cost models, link loads and predictions take minutes.
  bool complete(const Instance& instance) const { return all_ || instance.graph.edge_count() <= many_edges; }

  Score score(const std::string& name, const Instance& instance, std::span<const Core> core_of) const {
    const auto start = std::chrono::steady_clock::now();
    Score score{.name = name, .cost = 0, .metrics = {}, .complete = complete(instance), .seconds = 0};
    if (score.complete) {
      score.metrics = measure(instance.graph, instance.topology, core_of);
    } else {
      score.metrics.levels = level_traffic(instance.graph, instance.topology, core_of);
    }
    auto& costs = score.metrics.costs;
    const auto known =
        std::find_if(costs.begin(), costs.end(), [&](const auto& cost) { return cost.first == run_.model; });
    score.cost =
        known != costs.end() ? known->second : evaluate(instance.graph, instance.topology, core_of, run_.model);
    if (known == costs.end()) costs.emplace_back(run_.model, score.cost);
    score.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return score;
  }

  Result<void> simulate_all(const Instance& instance, std::vector<SimulationRequest>& requests,
                            std::vector<Score>& scores, Progress& progress) {
    progress.report("writing traces", -1);
    auto sources = simulation_.set_traces(problem_.profile, instance, requests);
    if (!sources) return propagate(sources);
    auto results = simulate(requests, simulation_.options, progress);
    if (!results) return propagate(results);
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i].simulated = std::move((*results)[i]);
    if (!sources->empty()) replay_source_ = std::move(sources->front());
    return {};
  }

  Json to_json(const Instance& instance, const std::vector<Score>& scores) const {
    Json json = problem_.json(instance, run_.model);
    json["edges"] = instance.graph.edge_count();
    json["profile_ms"] = instance.profile_seconds * 1000;
    json["topology_ms"] = instance.topology_seconds * 1000;
    if (replay_source_) json["simulation"] = replay_source_->json();
    json["default_placement"] = instance.default_name;
    json["mappings"] = Json::array();
    for (const Score& score : scores) json["mappings"].push_back(to_json(score));
    return json;
  }

  static Json to_json(const Score& score) {
    const Metrics& metrics = score.metrics;
    Json json{{"name", score.name}, {"cost", score.cost}, {"costs", Json::object()}, {"levels", Json::array()}};
    for (const auto& [model, value] : metrics.costs) json["costs"][std::string(info(model).name)] = value;
    for (const LevelTraffic& level : metrics.levels)
      json["levels"].push_back({{"level", level.level}, {"bytes", level.bytes}, {"messages", level.messages}});
    if (score.complete) {
      json["average_hops"] = metrics.average_hops;
      json["nodes_used"] = metrics.nodes_used;
      json["cores_used"] = metrics.cores_used;
      json["max_ranks_per_core"] = metrics.max_ranks_per_core;
      json["load_imbalance"] = metrics.load_imbalance;
      json["load"] = load_json(metrics.load);
      json["links"] = Json::array();
      for (const LinkLoad& link : metrics.heaviest_links)
        json["links"].push_back({{"from", link.from}, {"to", link.to}, {"bytes", link.bytes}});
    }
    if (score.predicted) {
      json["predicted_seconds"] = score.predicted->seconds;
      json["bottlenecks"] = bottlenecks_json(score.predicted->bottlenecks);
    }
    if (score.by_flows) json["predicted_by_flows_seconds"] = *score.by_flows;
    if (score.simulated) {
      json["simulated_seconds"] = score.simulated->seconds;
      json["simulation_ms"] = score.simulated->wall_seconds * 1000;
    }
    json["time_ms"] = score.seconds * 1000;
    return json;
  }

  std::string summary(const Instance& instance, const std::vector<Score>& scores) const {
    std::string text = fmt::format("{}, {} on {}\n\n", counted(instance.graph.rank_count(), "rank"),
                                   counted(instance.graph.edge_count(), "edge"), counted_cores(instance.topology));
    text += costs(scores) + "\n" + levels(scores);
    if (scores[0].predicted || scores[0].simulated) text += "\n" + times(scores);
    if (!instance.graph.loads().empty() && complete(instance)) text += "\n" + loads(scores);
    if (links_) text += "\n" + links(scores);
    double seconds = 0;
    for (const Score& score : scores) seconds += score.seconds;
    text += fmt::format(
        "\n{} {}, machine {}, scoring {}\n", problem_.profile.is_pattern() ? "pattern generated in" : "profile read in",
        format_seconds(instance.profile_seconds), format_seconds(instance.topology_seconds), format_seconds(seconds));
    if (!complete(instance)) text += "only the chosen cost model was computed; --all computes every model and link\n";
    return text;
  }

  /// One row per mapping, with the chosen cost model first.
  std::string costs(const std::vector<Score>& scores) const {
    std::vector<std::pair<CostModel, double>> models = scores[0].metrics.costs;
    std::stable_partition(models.begin(), models.end(), [&](const auto& model) { return model.first == run_.model; });
    std::vector<Table::Column> columns{{"mapping"}};
    for (const auto& [model, value] : models) columns.push_back({std::string(info(model).name), Table::Align::right});
    if (scores[0].complete) columns.push_back({"hops", Table::Align::right});
    if (scores.size() > 1) columns.push_back({""});
    Table table(columns);
    for (const Score& score : scores) {
      std::vector<std::string> row{score.name};
      for (const auto& [model, of_first] : models) {
        const auto cell = std::find_if(score.metrics.costs.begin(), score.metrics.costs.end(),
                                       [&, wanted = model](const auto& cost) { return cost.first == wanted; });
        row.push_back(cost_text(model, cell->second));
      }
      if (score.complete) row.push_back(fmt::format("{:.2f}", score.metrics.average_hops));
      if (scores.size() > 1) row.push_back(relative_cost(score, scores));
      table.row(std::move(row));
    }
    return table.text(width_);
  }

  /// "best", or how much more this mapping costs than the best one.
  std::string relative_cost(const Score& score, const std::vector<Score>& scores) const {
    double best = objective(run_.model, score.cost);
    for (const Score& other : scores) best = std::min(best, objective(run_.model, other.cost));
    const double cost = objective(run_.model, score.cost);
    if (cost == best) return "best";
    return excess(best, cost, "worse");
  }

  /// Bytes across each level of the machine; levels without traffic in any mapping are omitted.
  std::string levels(const std::vector<Score>& scores) const {
    std::vector<Table::Column> columns{{"bytes between"}};
    std::vector<std::size_t> shown;
    for (std::size_t level = 0; level < scores[0].metrics.levels.size(); ++level) {
      const bool carries = std::any_of(scores.begin(), scores.end(),
                                       [&](const Score& score) { return score.metrics.levels[level].bytes > 0; });
      if (!carries) continue;
      shown.push_back(level);
      const std::string& kind = scores[0].metrics.levels[level].level;
      columns.push_back({kind == "same core" ? kind : plural(kind), Table::Align::right});
    }
    if (shown.empty()) return "  no traffic\n";
    Table table(columns);
    for (const Score& score : scores) {
      std::vector<std::string> row{score.name};
      for (const std::size_t level : shown) row.push_back(format_bytes(score.metrics.levels[level].bytes));
      table.row(std::move(row));
    }
    return table.text(width_);
  }

  /// Seconds by the analytic model, with what limits them, and by simulation.
  std::string times(const std::vector<Score>& scores) const {
    const bool simulated = scores[0].simulated.has_value(), by_flows = scores[0].by_flows.has_value();
    std::vector<Table::Column> columns{{"time"}, {"predicted", Table::Align::right}};
    if (by_flows) columns.push_back({"by flows", Table::Align::right});
    if (simulated) columns.push_back({"simulated", Table::Align::right});
    if (scores.size() > 1) columns.push_back({""});
    columns.push_back({"limited by"});
    Table table(columns);
    const auto time_of = [&](const Score& score) {
      return simulated ? score.simulated->seconds : by_flows ? *score.by_flows : score.predicted->seconds;
    };
    double best = time_of(scores[0]);
    for (const Score& score : scores) best = std::min(best, time_of(score));
    for (const Score& score : scores) {
      std::vector<std::string> row{score.name, score.predicted ? format_seconds(score.predicted->seconds) : "-"};
      if (by_flows) row.push_back(format_seconds(*score.by_flows));
      if (simulated) row.push_back(format_seconds(score.simulated->seconds));
      if (scores.size() > 1) row.push_back(time_of(score) == best ? "best" : excess(best, time_of(score), "longer"));
      row.push_back(score.predicted ? first_bottleneck(score.predicted->bottlenecks) : "-");
      table.row(std::move(row));
    }
    std::string text = table.text(width_);
    if (replay_source_) text += fmt::format("  simulated: {}\n", replay_source_->summary());
    return text;
  }

  std::string loads(const std::vector<Score>& scores) const {
    Table table({{"heaviest core"}, {"load", Table::Align::right}, {"above the lower bound", Table::Align::right}});
    for (const Score& score : scores) {
      const LoadBalance& load = score.metrics.load;
      table.row({score.name, cost_number(load.heaviest_core), percent(100 * load.imbalance())});
    }
    return table.text(width_);
  }

  std::string links(const std::vector<Score>& scores) const {
    Table table({{"hottest links"}, {}, {"", Table::Align::right}});
    for (const Score& score : scores) {
      for (const LinkLoad& link : score.metrics.heaviest_links)
        table.row({score.name, fmt::format("{} → {}", link.from, link.to), format_bytes(link.bytes)});
      if (score.metrics.heaviest_links.empty())
        table.row({score.name, score.complete ? "no traffic between nodes" : "not computed: see --all"});
    }
    return table.text(width_);
  }

  std::vector<std::string> names_;
  ProblemArguments problem_;
  RunArguments run_;
  std::size_t width_ = default_width;
  bool all_ = false;
  bool links_ = false;
  bool simulate_ = false;
  SimulationArguments simulation_;
  std::optional<ReplaySource> replay_source_;
};

}  // namespace

std::unique_ptr<Verb> make_eval() {
  return std::make_unique<EvalVerb>();
}

}  // namespace rankloom::app
