// SPDX-License-Identifier: Apache-2.0
// report/document: machines and time as JSON.
#include "rankloom/report/document/allocation_json.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace rankloom {

namespace {

using Json = nlohmann::ordered_json;
constexpr double unit_x = 8, unit_y = 16;

Json box_json(const MachineBox& box) {
  return {{"kind", box.kind},        {"label", box.label},       {"x", box.x * unit_x},          {"y", box.y * unit_y},
          {"w", box.width * unit_x}, {"h", box.height * unit_y}, {"first_core", box.first_core}, {"cores", box.cores}};
}

/// How many nodes were in use, at each moment when that changed.
Json busy_json(const std::vector<JobRow>& jobs) {
  std::map<double, std::int64_t> changes;
  for (const JobRow& job : jobs) {
    changes[job.start] += job.size;
    changes[job.end] -= job.size;
  }
  Json times = Json::array(), nodes = Json::array();
  std::int64_t busy = 0;
  for (const auto& [time, change] : changes) {
    if (change == 0) continue;
    busy += change;
    times.push_back(time);
    nodes.push_back(busy);
  }
  return {{"time", std::move(times)}, {"nodes", std::move(nodes)}};
}

Json policy_json(const PolicyRow& row) {
  Json json{{"policy", row.policy},
            {"utilisation", row.utilisation},
            {"contention_free", row.contention_free},
            {"bounded_slowdown", row.bounded_slowdown},
            {"mean_wait", row.mean_wait},
            {"jobs_run", row.jobs_run},
            {"jobs", Json::array()}};
  for (const JobRow& job : row.jobs) {
    json["jobs"].push_back({{"id", job.id},
                            {"size", job.size},
                            {"submit", job.submit},
                            {"start", job.start},
                            {"end", job.end},
                            {"nodes", ranges(job.nodes)},
                            {"shares_links", job.shares_links}});
  }
  if (!row.jobs_note.empty()) json["jobs_note"] = row.jobs_note;
  if (!row.jobs.empty()) json["busy"] = busy_json(row.jobs);
  return json;
}

}  // namespace

std::string ranges(std::vector<std::uint32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string text;
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t end = begin + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[begin]);
    if (end - begin > 1) text += fmt::format("-{}", numbers[end - 1]);
    begin = end;
  }
  return text;
}

Json machine_json(const MachineLayout& machine) {
  Json json{{"size", {machine.width * unit_x, machine.height * unit_y}}, {"levels", Json::array()}};
  for (const MachineLayout::Level& level : machine.levels) {
    Json row{{"kind", level.kind}, {"count", level.count}, {"label", level.label}};
    if (level.has_cost) {
      row["gap"] = level.gap;
      row["latency"] = level.latency;
    }
    json["levels"].push_back(std::move(row));
  }
  json["boxes"] = Json::array();
  for (std::size_t at = 0; at < machine.boxes.size(); ++at) {
    Json box{{"id", at}, {"parent", machine.boxes[at].parent}};
    box.update(box_json(machine.boxes[at]));
    box["template"] = machine.boxes[at].inside;
    json["boxes"].push_back(std::move(box));
  }
  json["templates"] = Json::array();
  for (const MachineTemplate& shape : machine.templates) {
    Json boxes = Json::array();
    for (const MachineBox& box : shape.boxes) boxes.push_back(box_json(box));
    json["templates"].push_back(
        {{"w", shape.width * unit_x}, {"h", shape.height * unit_y}, {"boxes", std::move(boxes)}});
  }
  if (!machine.wires.empty()) json["wires"] = machine.wires;
  json["cores"] = machine.cores;
  if (!machine.note.empty()) json["note"] = machine.note;
  return json;
}

Json allocation_json(const AllocationSection& allocation) {
  Json json{{"trace", allocation.trace}, {"nodes", allocation.nodes}};
  if (allocation.machine) json["machine"] = machine_json(*allocation.machine);
  json["policies"] = Json::array();
  for (const PolicyRow& row : allocation.policies) json["policies"].push_back(policy_json(row));
  return json;
}

Json online_json(const OnlineSection& online) {
  Json json{{"program", online.program},
            {"windows", online.windows},
            {"window_s", online.window_seconds},
            {"nodes", Json::array()}};
  for (const OnlineNode& node : online.nodes) {
    Json row{{"name", node.name}, {"ranks", node.ranks}, {"seconds", node.seconds}, {"phases", Json::array()}};
    for (const auto& phase : node.phases)
      row["phases"].push_back({{"kind", phase.kind}, {"begin", phase.begin}, {"end", phase.end}});
    row["bursts"] = Json::array();
    for (const auto& [at, moved] : node.bursts) row["bursts"].push_back({{"at", at}, {"moved", moved}});
    row["cost"] = {{"time", node.decision_time}, {"stayed", node.cost_stayed}, {"online", node.cost_online}};
    row["effect"] = {{"stayed", node.stayed}, {"online", node.online}};
    json["nodes"].push_back(std::move(row));
  }
  if (online.restart) json["restart"] = {{"cost_mapped", online.restart->second}, {"cost_now", online.restart->first}};
  return json;
}

}  // namespace rankloom
