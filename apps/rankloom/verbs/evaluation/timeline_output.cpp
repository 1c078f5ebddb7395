// SPDX-License-Identifier: Apache-2.0
// apps/verbs/evaluation: timelines of simulated runs, as text and as JSON.
#include "apps/rankloom/verbs/evaluation/timeline_output.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/report/layout/machine_layout.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

std::vector<std::string> path_levels(const Timeline& timeline, const Topology& topology) {
  std::vector<std::string> levels;
  for (std::size_t level = 0; level < timeline.path_messages.size(); ++level)
    levels.push_back(level < topology.levels().size() ? level_label(topology, level) : "on the same core");
  return levels;
}

std::string share(double part, double whole) {
  return fmt::format("{:.1f} %", whole > 0 ? 100 * part / whole : 0.0);
}

double sum(const std::vector<double>& seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

/// "critical path of block: 3 ms: 75.0 % messages between nodes, 25.0 % computation; 12 steps"
std::string path_line(const NamedTimeline& named, const Topology& topology) {
  const Timeline& timeline = *named.timeline;
  const double whole = timeline.path_compute + timeline.path_collectives + sum(timeline.path_messages);
  std::vector<std::pair<double, std::string>> parts{{timeline.path_compute, "computation"},
                                                    {timeline.path_collectives, "collectives"}};
  const std::vector<std::string> levels = path_levels(timeline, topology);
  for (std::size_t level = 0; level < levels.size(); ++level)
    parts.emplace_back(timeline.path_messages[level], "messages " + levels[level]);
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [seconds, what] : parts) {
    if (seconds > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", share(seconds, whole), what);
  }
  return fmt::format("  critical path of {}: {}{}{}; {}\n", named.name, format_seconds(whole), text.empty() ? "" : ": ",
                     text, counted(timeline.path_steps, "step"));
}

}  // namespace

std::string timeline_text(std::span<const NamedTimeline> timelines, const Topology& topology, std::size_t width) {
  Table table({{"share of the time of all ranks"},
               {"computation", Table::Align::right},
               {"transfer", Table::Align::right},
               {"waiting", Table::Align::right},
               {"ended", Table::Align::right}});
  for (const auto& [name, timeline] : timelines) {
    const double all = timeline->seconds * timeline->ranks;
    const double compute = sum(timeline->rank_compute), transfer = sum(timeline->rank_transfer),
                 wait = sum(timeline->rank_wait);
    table.row({name, share(compute, all), share(transfer, all), share(wait, all),
               share(std::max(0.0, all - compute - transfer - wait), all)});
  }
  std::string text = "\n" + table.text(width) + "\n";
  for (const NamedTimeline& named : timelines) text += path_line(named, topology);
  return text;
}

Json timeline_json(const Timeline& timeline, const Topology& topology) {
  Json json = to_json(timeline);
  json["path_levels"] = path_levels(timeline, topology);
  return json;
}

}  // namespace rankloom::app
