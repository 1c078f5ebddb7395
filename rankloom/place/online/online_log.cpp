// SPDX-License-Identifier: Apache-2.0
// place/online: the log of an agent as JSON.
#include "rankloom/place/online/online_log.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "rankloom/model/files/json.hpp"

namespace rankloom {

namespace {

using Json = nlohmann::ordered_json;

Json cores_json(std::span<const Core> core_of) {
  Json list = Json::array();
  for (const Core core : core_of) list.push_back(index(core));
  return list;
}

/// One [from, to, bytes, messages] per edge; ranks are numbered within the node.
Json edges_json(const CommGraph& traffic) {
  Json list = Json::array();
  for (const Rank from : traffic.ranks()) {
    for (std::size_t i = 0; i < traffic.degree(from); ++i) {
      list.push_back({index(from), index(traffic.targets(from)[i]), traffic.bytes(from)[i],
                      traffic.has_messages() ? traffic.messages(from)[i] : 1.0});
    }
  }
  return list;
}

/// One array per column, for charts.
Json history_json(const CostHistory& history) {
  Json time = Json::array(), stayed = Json::array(), online = Json::array();
  for (const CostHistory::Point& point : history.points()) {
    time.push_back(point.end);
    stayed.push_back(point.cost_without_migration);
    online.push_back(point.online);
  }
  return {{"windows_per_point", history.windows_per_point()}, {"time", time}, {"stayed", stayed}, {"online", online}};
}

Json migration_json(const Migration& migration) {
  return {{"time", migration.time},
          {"window", migration.window},
          {"bound", migration.bound},
          {"failed", migration.failed},
          {"migrated", migration.migrated},
          {"cpus", migration.cpus},
          {"loads", migration.traffic.loads()},
          {"traffic", edges_json(migration.traffic)}};
}

}  // namespace

std::string phase_kind_name(std::size_t kind) {
  constexpr std::size_t letters = 26;
  std::string name(1, static_cast<char>('A' + kind % letters));
  return kind < letters ? name : name + std::to_string(kind / letters);
}

Json to_json(const OnlinePhase& phase) {
  return {{"kind", phase_kind_name(phase.kind)},
          {"begin", phase.begin},
          {"end", phase.end},
          {"windows", phase.windows},
          {"detected_after_windows", phase.detected_after}};
}

Json to_json(const OnlineDecision& decision) {
  return {{"time", decision.time},
          {"window", decision.window},
          {"kind", phase_kind_name(decision.kind)},
          {"cost_per_second", decision.current_cost},
          {"cost_per_second_moved", decision.target_cost},
          {"remaining_seconds", decision.remaining_seconds},
          {"transition_cost", decision.transition_cost},
          {"gain", decision.gain},
          {"move_cost", decision.move_cost},
          {"min_gain", decision.min_gain},
          {"possible_loss", decision.possible_loss},
          {"loss_budget", std::isinf(decision.loss_budget) ? Json(nullptr) : Json(decision.loss_budget)},
          {"moved", decision.moved},
          {"moves", decision.moves},
          {"returns_to_start", decision.returns_to_start},
          {"reason", decision.reason},
          {"mapper_seconds", decision.mapper_seconds},
          {"mapping", cores_json(decision.target)}};
}

Json to_json(const OnlineLog& log) {
  return {{"host", log.host},
          {"entities", log.of_threads ? "threads" : "ranks"},
          {"window", log.window_seconds},
          {"seconds", log.seconds},
          {"agent_cpu_seconds", log.cpu_seconds},
          {"inconsistent_reads", log.inconsistent_reads},
          {"ranks", log.ranks},
          {"cpus", log.cpus},
          {"remarks", log.remarks},
          {"machine", log.machine.empty() ? Json(nullptr) : parse_ordered_json(log.machine)}};
}

Json to_json(const OnlineLog& log, const OnlinePlanner& planner) {
  Json json = to_json(log);
  json["windows"] = planner.windows();
  json["start"] = cores_json(planner.start());
  json["end"] = cores_json(planner.placement());
  json["phases"] = Json::array();
  for (const OnlinePhase& phase : planner.phases().phases()) json["phases"].push_back(to_json(phase));
  json["decisions"] = Json::array();
  for (const OnlineDecision& decision : planner.decisions()) json["decisions"].push_back(to_json(decision));
  json["migrations"] = Json::array();
  for (const Migration& migration : log.migrations) json["migrations"].push_back(migration_json(migration));
  json["cost"] = history_json(planner.history());
  json["effect"] = {{"online", planner.cost_online()}, {"stayed", planner.cost_without_migration()}};
  return json;
}

}  // namespace rankloom
