// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom online --replay`.
#include "apps/rankloom/verbs/launch/online_replay.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/rankloom/output.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/model/files/json_cursor.hpp"
#include "rankloom/place/online/online_log.hpp"
#include "rankloom/place/online/online_replay.hpp"
#include "rankloom/report/phase_timeline.hpp"
#include "rankloom/report/progress_bar.hpp"
#include "rankloom/report/table.hpp"

namespace rankloom::app {

namespace {

Json table_json(const OnlineReplayTable& table) {
  Json rows = Json::array(), phases = Json::array(), decisions = Json::array();
  for (const OnlineReplayRow& row : table.rows) {
    rows.push_back({{"name", row.name},
                    {"about", row.description},
                    {"cost", row.cost},
                    {"gain_percent", row.gain_percent},
                    {"migrations", row.migrations},
                    {"moved", row.moved}});
  }
  for (const OnlinePhase& phase : table.phases) phases.push_back(to_json(phase));
  for (const OnlineDecision& decision : table.decisions) decisions.push_back(to_json(decision));
  return {
      {"windows", table.windows}, {"kinds", table.kinds}, {"rows", rows}, {"phases", phases}, {"decisions", decisions}};
}

std::string table_text(const OnlineReplayTable& table, double seconds) {
  std::vector<double> moves;
  for (const OnlineDecision& decision : table.decisions) {
    if (decision.moves) moves.push_back(decision.time);
  }
  std::string text = fmt::format("{}, {} of {}\n\n", counted(table.windows, "window"),
                                 counted(table.phases.size(), "phase"), counted(table.kinds, "kind"));
  text += phase_timeline(table.phases, moves, seconds) + "\n";
  Table costs({{"mapping"},
               {"cost", Table::Align::right},
               {"against block", Table::Align::right},
               {"moves", Table::Align::right},
               {""}});
  for (const OnlineReplayRow& row : table.rows) {
    costs.row({row.name, format_seconds(row.cost), change(table.rows.front().cost, row.cost),
               row.moved > 0 ? fmt::format("{} in {}", row.moved, row.migrations) : "", row.description});
  }
  return text + costs.text() +
         "\n  cost: seconds of all ranks together in communication, by the model; moves included\n";
}

}  // namespace

Result<int> replay_windows(const ReplayArguments& arguments, const Session& session) {
  if (auto possible = check_output(arguments.output); !possible) return propagate(possible);
  auto imported = import_path(arguments.profile);
  if (!imported) return propagate(imported);
  auto topology = load_topology(arguments.machine);
  if (!topology) return propagate(topology);
  auto windows = windows_from_profile(imported->profile, CollectiveModel::tree);
  if (!windows) {
    Error error = std::move(windows).error();
    error.where = at(arguments.profile);
    return Failure(std::move(error));
  }
  ProgressBar progress(stderr, session.err_is_terminal && !session.json);
  auto table = replay_online(*windows, *topology, arguments.online, progress);
  if (!table) return propagate(table);
  const Json json = table_json(*table);
  if (!arguments.output.empty()) {
    if (auto written = write_file(arguments.output, dump_json(json, 1) + "\n"); !written) return propagate(written);
  }
  if (session.json) {
    print_json(json);
  } else {
    print(table_text(*table, windows->back().end));
  }
  return success;
}

}  // namespace rankloom::app
