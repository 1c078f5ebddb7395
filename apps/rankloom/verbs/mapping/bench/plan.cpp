// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping/bench: which runs an experiment consists of.
#include "apps/rankloom/verbs/mapping/bench/plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/evaluate/experiment/instance_packs.hpp"

namespace rankloom::app {

namespace {

constexpr std::string_view pack_prefix = "pack:", pattern_prefix = "gen:";

/// "stencil2d" of "gen:stencil2d:size=8x8"; "files" of a file.
std::string class_of(const std::string& graph) {
  if (!graph.starts_with(pattern_prefix)) return "files";
  return graph.substr(pattern_prefix.size(), graph.find(':', pattern_prefix.size()) - pattern_prefix.size());
}

bool contains_all(const Json& larger, const Json& smaller) {
  return std::all_of(smaller.begin(), smaller.end(),
                     [&](const Json& entry) { return std::find(larger.begin(), larger.end(), entry) != larger.end(); });
}

}  // namespace

Json BenchSettings::json() const {
  return {{"model", model},
          {"threads", threads},
          {"budget_ms", budget ? Json(budget->count()) : Json()},
          {"time_limit_ms", time_limit.count()}};
}

std::vector<BenchRun> BenchPlan::runs() const {
  std::vector<BenchRun> runs;
  for (const BenchInstance& instance : instances) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      for (const std::string& mapper : mappers) {
        if (budgets.empty()) runs.push_back({&instance, mapper, first_seed + seed});
        for (const auto budget : budgets) runs.push_back({&instance, mapper, first_seed + seed, budget});
      }
    }
  }
  return runs;
}

Json BenchPlan::json() const {
  Json list = Json::array();
  for (const BenchInstance& instance : instances) list.push_back({instance.graph, instance.machine});
  Json plan{{"experiment", 1},    {"settings", settings.json()}, {"instances", std::move(list)},
            {"mappers", mappers}, {"first_seed", first_seed},    {"seeds", seeds}};
  for (const auto budget : budgets) plan["budgets_ms"].push_back(budget.count());
  return plan;
}

Result<void> BenchPlan::check_continues(const Json& earlier, const std::string& file) const {
  const auto differs = [&](std::string_view what) {
    return fail(Code::usage, at(file), fmt::format("this directory contains another experiment: {}", what),
                "choose another directory with -o, or replace the results with --force");
  };
  const Json now = json();
  const auto same_type = [&](const char* key) {
    return earlier.contains(key) && earlier.at(key).type() == now.at(key).type();
  };
  for (const char* key : {"settings", "instances", "mappers", "seeds"})
    if (!earlier.is_object() || !same_type(key)) return differs("its file is malformed");
  if (earlier.at("settings") != now.at("settings")) return differs("its model, budget, threads or time limit differ");
  if (!contains_all(now.at("instances"), earlier.at("instances"))) return differs("it has other graphs or machines");
  if (!contains_all(now.at("mappers"), earlier.at("mappers"))) return differs("it has other mappers");
  const Json none = Json::array(), earlier_budgets = earlier.value("budgets_ms", none),
             budgets_now = now.value("budgets_ms", none);
  if (earlier_budgets.empty() != budgets_now.empty() || !contains_all(budgets_now, earlier_budgets))
    return differs("it has other budgets");
  if (earlier.value("first_seed", Json()) != now.at("first_seed") || earlier.at("seeds") > now.at("seeds"))
    return differs("it has other seeds");
  return {};
}

std::string run_key(const std::string& graph, const std::string& machine, const std::string& mapper, std::uint64_t seed,
                    std::optional<std::chrono::milliseconds> budget) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", graph, machine, mapper, seed, budget ? budget->count() : 0);
}

Result<std::vector<std::chrono::milliseconds>> read_budgets(const std::string& text) {
  std::vector<std::chrono::milliseconds> budgets;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const auto budget = parse_nanoseconds(word, 1e9);
    if (!budget || *budget < 1e6 || *budget > 1e18) {
      return fail(Code::usage, at("--budgets"), fmt::format("'{}' is not a time of at least 1 ms", word),
                  "times separated by commas, such as 10ms,100ms,1s");
    }
    budgets.emplace_back(static_cast<std::int64_t>(*budget / 1e6));
    begin = end + 1;
  }
  std::sort(budgets.begin(), budgets.end());
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  return budgets;
}

bool is_pack(const std::string& graph) {
  return graph.starts_with(pack_prefix);
}

Result<std::vector<BenchInstance>> bench_instances(const std::vector<std::string>& graphs,
                                                   const std::vector<std::string>& machines, std::string& model) {
  std::vector<BenchInstance> instances;
  const bool model_is_given = !model.empty();
  for (const std::string& graph : graphs) {
    if (!is_pack(graph)) {
      if (machines.empty()) instances.push_back({graph, "", class_of(graph)});
      for (const std::string& machine : machines) instances.push_back({graph, machine, class_of(graph)});
      continue;
    }
    auto pack = find_instance_pack(std::string_view(graph).substr(pack_prefix.size()));
    if (!pack) return propagate(pack);
    const std::string pack_model((*pack)->model);
    if (!model_is_given && !model.empty() && model != pack_model) {
      return fail(Code::usage, at(graph),
                  fmt::format("this set has costs in the model {}, another one in {}", pack_model, model),
                  "run them one after the other, or choose one model with --model");
    }
    if (!model_is_given) model = pack_model;
    for (const PackInstance& row : (*pack)->instances) {
      BenchInstance instance{std::string(row.graph), std::string(row.machine), std::string(row.instance_class)};
      if (row.best_known > 0 && model == pack_model) instance.best_known = {row.best_known, std::string(row.found_by)};
      instances.push_back(std::move(instance));
    }
  }
  return instances;
}

std::vector<std::string> with_efforts(const std::vector<std::string>& mappers,
                                      const std::vector<std::string>& efforts) {
  if (efforts.empty()) return mappers;
  std::vector<std::string> result;
  for (const std::string& mapper : mappers) {
    if (mapper != "auto") {
      result.push_back(mapper);
      continue;
    }
    for (const std::string& effort : efforts) result.push_back("auto:effort=" + effort);
  }
  return result;
}

}  // namespace rankloom::app
