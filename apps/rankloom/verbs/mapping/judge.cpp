// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping: `rankloom map --judge`.
#include "apps/rankloom/verbs/mapping/judge.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/map/local_search/migration_cost.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

const char* judge_name(JudgeKind kind) {
  return kind == JudgeKind::predict ? "predict" : "simulate";
}

}  // namespace

Json Judgement::json() const {
  Json json{{"judge", judge_name(kind)}, {"candidates", Json::array()}};
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const CandidateMapping& candidate = candidates[i];
    Json row{{"goal", candidate.goal},
             {"nodes", candidate.nodes},
             {"cost", candidate.cost},
             {"predicted_seconds", candidate.predicted_seconds}};
    if (!simulated_seconds.empty()) row["simulated_seconds"] = simulated_seconds[i];
    row["chosen"] = i == chosen;
    json["candidates"].push_back(std::move(row));
  }
  return json;
}

std::string Judgement::text(std::size_t width) const {
  std::vector<Table::Column> columns{{"candidate"}, {"predicted", Table::Align::right}};
  if (!simulated_seconds.empty()) columns.push_back({"simulated", Table::Align::right});
  columns.push_back({""});
  Table table(columns);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    std::vector<std::string> row{candidates[i].name(), format_seconds(candidates[i].predicted_seconds)};
    if (!simulated_seconds.empty()) row.push_back(format_seconds(simulated_seconds[i]));
    row.emplace_back(i == chosen ? "chosen" : "");
    table.row(std::move(row));
  }
  return table.text(width);
}

Result<void> Judge::prepare() {
  if (kind_ != JudgeKind::simulate) return {};
  if (auto prepared = simulation_.prepare(); !prepared) return prepared;
  if (!simulation_.options.simulator.empty()) return {};
  return fail(Code::environment, at("--judge simulate"), "the program rankloom-simulate is not installed",
              fmt::format("{}; or use --judge predict, which needs no simulator", simulation_.options.install_hint));
}

Result<Judgement> Judge::choose(std::vector<CandidateMapping> candidates, const ProfileArguments& from,
                                const Instance& instance, Progress& progress) const {
  Judgement judgement{kind_, std::move(candidates), {}};
  if (kind_ == JudgeKind::predict) return judgement;
  std::vector<std::span<const Core>> placements;
  for (const CandidateMapping& candidate : judgement.candidates) placements.push_back(candidate.mapping.cores());
  auto seconds = simulation_.simulate_placements(from, instance, placements, progress);
  if (!seconds) return propagate(seconds);
  judgement.chosen = static_cast<std::size_t>(std::min_element(seconds->begin(), seconds->end()) - seconds->begin());
  judgement.simulated_seconds = *std::move(seconds);
  return judgement;
}

MapResult with_choice(MapResult result, const Judgement& judgement, const MapProblem& problem) {
  const CandidateMapping& choice = judgement.choice();
  result.mapping = choice.mapping;
  result.cost = choice.cost;
  result.fell_back = choice.is_default;
  result.note = fmt::format("the candidate {} has the shortest {} time", choice.name(),
                            judgement.kind == JudgeKind::predict ? "predicted" : "simulated");
  if (!problem.start.empty()) result.moved = moved_ranks(problem.start, result.mapping.cores());
  return result;
}

}  // namespace rankloom::app
