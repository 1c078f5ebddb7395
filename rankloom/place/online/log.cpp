// SPDX-License-Identifier: Apache-2.0
// place/online: what an agent leaves behind.
#include "rankloom/place/online/log.hpp"

namespace rankloom {

namespace {

using Json = nlohmann::ordered_json;

Json cores_json(std::span<const Core> core_of) {
  Json list = Json::array();
  for (const Core core : core_of) list.push_back(index(core));
  return list;
}

/// [from, to, bytes, messages] each, by ranks of the node.
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

/// Columns, for pictures.
Json history_json(const CostHistory& history) {
  Json time = Json::array(), stayed = Json::array(), online = Json::array();
  for (const CostHistory::Point& point : history.points()) {
    time.push_back(point.end);
    stayed.push_back(point.stayed);
    online.push_back(point.online);
  }
  return {{"windows_each", history.windows_each()}, {"time", time}, {"stayed", stayed}, {"online", online}};
}

Json burst_json(const OnlineBurst& burst) {
  return {{"time", burst.time},
          {"window", burst.window},
          {"bound", burst.bound},
          {"failed", burst.failed},
          {"migrated", burst.migrated},
          {"cpus", burst.cpus},
          {"loads", burst.traffic.loads()},
          {"traffic", edges_json(burst.traffic)}};
}

}  // namespace

std::string kind_name(std::size_t kind) {
  constexpr std::size_t letters = 26;
  std::string name(1, static_cast<char>('A' + kind % letters));
  return kind < letters ? name : name + std::to_string(kind / letters);
}

Json to_json(const OnlinePhase& phase) {
  return {{"kind", kind_name(phase.kind)},
          {"begin", phase.begin},
          {"end", phase.end},
          {"windows", phase.windows},
          {"found_after_windows", phase.found_after}};
}

Json to_json(const OnlineDecision& decision) {
  return {{"time", decision.time},
          {"window", decision.window},
          {"kind", kind_name(decision.kind)},
          {"cost_per_second", decision.cost_now},
          {"cost_per_second_moved", decision.cost_target},
          {"expected_rest", decision.rest},
          {"cost_after", decision.after},
          {"gain", decision.gain},
          {"price", decision.price},
          {"moved", decision.moved},
          {"moves", decision.moves},
          {"back", decision.back},
          {"why", decision.why},
          {"mapper_seconds", decision.mapper_seconds},
          {"mapping", cores_json(decision.target)}};
}

Json to_json(const OnlineLog& log) {
  return {{"host", log.host},
          {"of", log.of_threads ? "threads" : "ranks"},
          {"window", log.window_seconds},
          {"seconds", log.seconds},
          {"agent_cpu_seconds", log.cpu_seconds},
          {"torn_readings", log.torn},
          {"ranks", log.ranks},
          {"cpus", log.cpus},
          {"remarks", log.remarks},
          {"machine", log.machine.empty() ? Json(nullptr) : Json::parse(log.machine, nullptr, false)}};
}

Json to_json(const OnlineLog& log, const OnlinePlanner& planner) {
  Json json = to_json(log);
  json["windows"] = planner.windows();
  json["start"] = cores_json(planner.start());
  json["end"] = cores_json(planner.now());
  json["phases"] = Json::array();
  for (const OnlinePhase& phase : planner.phases().phases()) json["phases"].push_back(to_json(phase));
  json["decisions"] = Json::array();
  for (const OnlineDecision& decision : planner.decisions()) json["decisions"].push_back(to_json(decision));
  json["bursts"] = Json::array();
  for (const OnlineBurst& burst : log.bursts) json["bursts"].push_back(burst_json(burst));
  json["cost"] = history_json(planner.history());
  json["effect"] = {{"online", planner.cost_online()}, {"stayed", planner.cost_stayed()}};
  return json;
}

}  // namespace rankloom
