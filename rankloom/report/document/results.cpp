// SPDX-License-Identifier: Apache-2.0
// report/document: results of mapping verbs, read into a document.
#include "rankloom/report/document/results.hpp"

#include <fmt/format.h>

#include "rankloom/report/document/result_reading.hpp"

namespace rankloom {

using Json = nlohmann::json;

std::optional<ResultKind> kind_of_result(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto has = [&](const char* key) { return json.contains(key); };
  if (has("format") && json["format"] == "rankloom online 1") return ResultKind::online;
  if (has("policies") && has("trace")) return ResultKind::replay;
  if (has("mappers") && has("cost_default")) return ResultKind::comparison;
  if (has("mappings") && json["mappings"].is_array()) return ResultKind::evaluation;
  if (has("folder") && has("speedup")) return ResultKind::tune;
  if (has("mapping")) return ResultKind::mapping;
  if (has("machine") || has("root")) return ResultKind::topology;
  return std::nullopt;
}

Result<void> read_comparison(const Json& json, const std::string& source, ReportDocument& document) {
  return reading(source, "rankloom compare --json", [&] {
    document.model = json.at("model");
    document.cost_default = json.at("cost_default").get<double>();
    if (json.at("lower_bound").is_number()) document.lower_bound = json.at("lower_bound").get<double>();
    for (const Json& row : json.at("mappers")) {
      document.mappers.push_back({row.at("mapper"), row.at("cost"), row.at("cost_spread"),
                                  row.at("time_ms").get<double>(), json.at("runs"), false, row.at("note")});
    }
    for (const Json& row : json.at("skipped"))
      document.verdict.notes.push_back(
          fmt::format("Left out: {} ({}).", row.at("mapper").get<std::string>(), row.at("why").get<std::string>()));
    if (document.title.empty()) document.title = fmt::format("Mappers on {}", json.at("profile").get<std::string>());
    document.reproduce.seed = json.at("seed");
  });
}

Result<void> read_evaluation(const Json& json, const std::string& source, ReportDocument& document) {
  return reading(source, "rankloom eval --json", [&] {
    const Json& mappings = json.at("mappings");
    if (document.model.empty()) document.model = json.at("model");
    for (const Json& row : mappings)
      document.mappers.push_back({row.at("name"), row.at("cost"), 0, std::nullopt, 1, false, {}});
    if (document.title.empty()) document.title = fmt::format("Mappings of {}", json.at("profile").get<std::string>());
    if (mappings.size() < 2 || !document.levels.empty()) return;
    // Without the profile itself, these figures are what there is to compare: of the default order, or of the first
    // one, and of the last other one.
    std::size_t first = 0;
    while (first + 1 < mappings.size() && mappings[first].at("name") != "block") ++first;
    const bool has_default = mappings[first].at("name") == "block";
    if (!has_default) first = 0;
    const Json& before = mappings[first];
    const Json& after = mappings[first + 1 == mappings.size() ? first - 1 : mappings.size() - 1];
    document.orders = {
        {"before", has_default ? default_order : before.at("name").get<std::string>(), {}, before.at("cost")},
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
    document.verdict.simulated = pair("simulated_seconds");
  });
}

Result<void> read_tune(const Json& json, const std::string& source, ReportDocument& document) {
  return reading(source, "rankloom tune", [&] {
    Verdict& verdict = document.verdict;
    const bool gain = json.at("gain");
    verdict.kind = gain ? "gain" : "none";
    std::string predicted;
    if (json.contains("simulated")) {
      const Json& simulated = json["simulated"];
      verdict.simulated = {simulated.at("now_seconds"), simulated.at("placed_seconds")};
      predicted = fmt::format("; simulated {:.2f}", simulated.at("speedup").get<double>());
    }
    if (json.at("speedup").is_number()) {
      Measured measured;
      measured.before = json.at("before_seconds").get<std::vector<double>>();
      measured.after = json.at("after_seconds").get<std::vector<double>>();
      measured.speedup = json.at("speedup");
      measured.spread = json.at("speedup_spread");
      const std::string runs =
          measured.before.size() == 1 ? "1 run each" : fmt::format("{} runs each", measured.before.size());
      verdict.sentence = gain ? fmt::format("{:.2f} ± {:.2f} times faster than the default order ({}){}.",
                                            measured.speedup, measured.spread, runs, predicted)
                              : fmt::format("{} ({:.2f} ± {:.2f}, {}){}: keep the default order.",
                                            json.value("slower", false) ? "Slower, not faster" : "No measurable gain",
                                            measured.speedup, measured.spread, runs, predicted);
      if (json.at("verified").is_boolean())
        verdict.notes.push_back(json.at("verified").get<bool>() ? "Every rank was proved to be where it was asked."
                                                                : "Not every rank could be proved to be in its place.");
      verdict.measured = std::move(measured);
    } else {
      verdict.sentence = fmt::format("No gain to expect{}: keep the default order. Nothing was run.", predicted);
    }
    if (json.contains("reason")) verdict.notes.push_back("Why: " + json["reason"].get<std::string>() + ".");
    if (json.contains("use") && !json["use"].get<std::string>().empty()) verdict.commands.push_back(json["use"]);
    document.reproduce.commands.push_back("rankloom tune -- " + json.at("command").get<std::string>());
  });
}

}  // namespace rankloom
