// SPDX-License-Identifier: Apache-2.0
// apps: results of any verb, told apart by their content.
#include "apps/rankloom/verbs/evaluation/report_input.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "rankloom/core/sha256.hpp"
#include "rankloom/map/bound/lower_bound.hpp"
#include "rankloom/model/json_cursor.hpp"
#include "rankloom/report/document/describe.hpp"
#include "rankloom/report/document/results.hpp"
#include "rankloom/report/document/verdict.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

bool is_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_mapper(const std::string& name) {
  return find_mapper(name.substr(0, name.find(':'))) != nullptr;
}

/// One number a line and nothing else.
bool is_plain_mapping(std::string_view text) {
  bool in_number = false, number_ended = false, any = false;
  for (const char c : text.substr(0, 4096)) {
    if (c >= '0' && c <= '9') {
      if (number_ended) return false;
      in_number = any = true;
    } else if (c == '\n') {
      in_number = number_ended = false;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      number_ended = number_ended || in_number;
      in_number = false;
    } else {
      return false;
    }
  }
  return any;
}

/// The name of its file, without the way there.
std::string title_of(const ProfileArguments& profile) {
  return profile.is_pattern() ? profile.profile : fs::path(profile.profile).filename().string();
}

std::string machine_words(const Topology& topology) {
  const std::uint32_t nodes = topology.node_count(), cores = topology.core_count();
  if (topology.is_matrix()) return "a table of distances";
  const bool even = cores % nodes == 0;
  return even ? fmt::format("{} of {}", counted(nodes, "node"), counted(cores / nodes, "core"))
              : fmt::format("{}, {}", counted(nodes, "node"), counted(cores, "core"));
}

}  // namespace

void ReportArguments::describe(CLI::App& app) {
  add_repeated(app,
               {"RESULT", "RESULT",
                "a folder of `tune`, a mapping file or a mapper's name (with -p and -t), a profile, or the JSON of "
                "compare, eval, alloc replay --detail or online; several are joined",
                "input", "", true},
               results);
  problem.describe(app, "-p,--profile", false);
  run.describe(app);
}

std::string ReportArguments::words() const {
  std::string text = "rankloom report";
  for (const std::string& name : results) text += " " + shell_word(name);
  const bool named = std::find(results.begin(), results.end(), problem.profile.profile) != results.end();
  if (!tuned_ && !problem.profile.profile.empty() && !named) {
    text += problem.words(" -p ");
  } else if (!tuned_ && problem.topology.given()) {
    text += " " + problem.topology.text();
  }
  if (!tuned_ && named && problem.fit.oversubscribe) text += " --oversubscribe";
  if (run.seed != 0) text += fmt::format(" --seed {}", run.seed);
  if (run.model != CostModel::bytes) text += fmt::format(" --model {}", info(run.model).name);
  return text;
}

void ReportArguments::note_file(const std::string& path, ReportDocument& document) {
  auto& files = document.reproduce.files;
  const auto known = [&](const SourceFile& file) { return file.name == path; };
  if (!is_file(path) || std::any_of(files.begin(), files.end(), known)) return;
  const auto text = read_file(path);
  if (text) files.push_back({path, sha256(text->view()), text->view().size()});
}

Result<void> ReportArguments::take_profile(const std::string& name) {
  if (!problem.profile.profile.empty() && problem.profile.profile != name) {
    return fail(Code::usage, at(name), fmt::format("{} is a profile already", problem.profile.profile),
                "a report is of one program: name one profile");
  }
  problem.profile.profile = name;
  return {};
}

Result<void> ReportArguments::take_tune(const std::string& folder, ReportDocument& document) {
  const auto inside = [&](const char* name) { return (fs::path(folder) / name).string(); };
  auto file = read_file(inside("result.json"));
  if (!file) {
    return fail(Code::bad_input, at(folder), "is a folder without a result.json of `rankloom tune`",
                "name a folder that tune wrote, such as app.tune; a folder of a recording goes behind -p");
  }
  auto json = parse_json(*file);
  if (!json) return propagate(json);
  if (auto read = read_tune(*json, file->name(), document); !read) return propagate(read);
  note_file(inside("result.json"), document);
  tuned_ = true;
  const auto use = [&](const char* name, const char* key, std::string& field, const char* option) -> Result<void> {
    if (!field.empty()) return {};
    if (is_file(inside(name))) {
      field = inside(name);
    } else if (json->contains(key) && (*json)[key].is_string()) {
      field = (*json)[key].get<std::string>();
    } else {
      return fail(Code::bad_input, at(folder), fmt::format("holds no {}", name),
                  fmt::format("name it as it was given to tune, with {}", option));
    }
    return {};
  };
  if (auto found = use("app.prof", "profile", problem.profile.profile, "-p"); !found) return found;
  if (problem.topology.hierarchy.empty()) {
    if (auto found = use("machine.json", "topology", problem.topology.topology, "-t"); !found) return found;
  }
  problem.fit.oversubscribe = true;  // as tune does where there are more ranks than cores
  if (is_file(inside("mapping.txt"))) placements_.push_back(inside("mapping.txt"));
  const std::string command = json->at("command");
  if (document.verdict.kind == "gain") {
    document.verdict.commands.push_back(fmt::format("rankloom run {} -t {} -- {}", shell_word(inside("mapping.txt")),
                                                    shell_word(problem.topology.topology), command));
  }
  return {};
}

Result<void> ReportArguments::take_json(const std::string& name, const FileContents& file, ReportDocument& document) {
  auto json = parse_json(file);
  if (!json) return propagate(json);
  const auto kind = kind_of_result(*json);
  if (!kind) {
    return fail(Code::bad_input, at(name), "is JSON of none of the results that a report can show",
                "make it with map, compare, eval, alloc replay --detail or online, and --json");
  }
  note_file(name, document);
  switch (*kind) {
    case ResultKind::mapping:
      placements_.push_back(name);
      return {};
    case ResultKind::comparison:
      return read_comparison(*json, name, document);
    case ResultKind::evaluation:
      return read_evaluation(*json, name, document);
    case ResultKind::replay:
      return read_replay(*json, name, document);
    case ResultKind::online:
      return read_online(*json, name, document);
    case ResultKind::tune:
      return take_tune(fs::path(name).has_parent_path() ? fs::path(name).parent_path().string() : ".", document);
    case ResultKind::topology:
      break;
  }
  return fail(Code::usage, at(name), "is a machine, not a result", "name it with -t, and what ran on it as RESULT");
}

Result<void> ReportArguments::take(const std::string& name, ReportDocument& document) {
  std::error_code ignored;
  if (name.starts_with("gen:")) return take_profile(name);
  if (fs::is_directory(name, ignored)) return take_tune(name, document);
  if (!fs::exists(name, ignored)) {
    if (is_mapper(name)) {
      placements_.push_back(name);
      return {};
    }
    return fail(Code::bad_input, at(name), "is no file, no folder and no mapper",
                "name a result such as app.tune, mapping.txt or compare.json; rankloom list mappers");
  }
  auto file = read_file(name);
  if (!file) return propagate(file);
  const std::string_view text = file->view();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos)
    return fail(Code::bad_input, at(name), "is empty", "make it anew: the verb that wrote it may have failed");
  if (text[first] == '{') return take_json(name, *file, document);
  if (!is_plain_mapping(text)) return take_profile(name);
  placements_.push_back(name);
  return {};
}

Result<void> ReportArguments::show_profile(ReportDocument& document, Progress& progress) {
  progress.report("reading the profile", -1);
  auto imported = problem.profile.load();
  if (!imported) return propagate(imported);
  if (auto fits = check_traffic_fits(imported->profile, problem.profile.collectives); !fits) return propagate(fits);
  describe_profile(imported->profile, document);
  const std::uint32_t ranks = imported->profile.rank_count();
  describe_traffic(traffic(std::move(imported->profile), problem.profile.collectives), document);
  if (document.title.empty()) document.title = fmt::format("{}: {}", title_of(problem.profile), counted(ranks, "rank"));
  return {};
}

Result<void> ReportArguments::compare_placements(LoadedReport& report, Progress& progress) {
  ReportDocument& document = report.document;
  auto instance = problem.load(progress, true);
  if (!instance) return propagate(instance);
  const Capacities room = instance->capacities.bounded_by_work(instance->topology, instance->graph.rank_count());
  if (placements_.empty() && !tuned_) placements_.emplace_back("auto");
  Placements placements{
      block_placement(instance->graph.rank_count(), instance->topology, instance->capacities), {}, {}, run.model};
  // Of several the best is shown as the proposal, and all stand in the table.
  double best = 0;
  std::vector<MapperRow> rows{{"block", evaluate(instance->graph, instance->topology, placements.before, run.model), 0,
                               std::nullopt, 1, false, "the default order"}};
  for (const std::string& name : placements_) {
    auto placement = named_placement(name, *instance, room, run, progress);
    if (!placement) return propagate(placement);
    const double cost = evaluate(instance->graph, instance->topology, *placement, run.model);
    if (name != "block") rows.push_back({name, cost, 0, std::nullopt, 1, false, {}});
    if (!placements.after.empty() && objective(run.model, cost) >= best) continue;
    best = objective(run.model, cost);
    placements.after = std::move(*placement);
    placements.after_label = name;
  }
  for (MapperRow& row : rows) {
    const auto known = std::find_if(document.mappers.begin(), document.mappers.end(),
                                    [&](const MapperRow& other) { return other.name == row.name; });
    MapperRow& shown = known != document.mappers.end() ? *known : document.mappers.emplace_back(row);
    shown.chosen = row.name == placements.after_label;
  }
  if (!document.lower_bound) {
    const MapProblem whole{instance->graph, instance->topology, instance->capacities, run.model, {}};
    const auto bound = lower_bound(whole);
    if (bound) document.lower_bound = objective(run.model, *bound);
  }
  progress.report("what changes", -1);
  describe_profile(*instance->profile, document);
  document.title = fmt::format("{} on {}", title_of(problem.profile), machine_words(instance->topology));
  // What an evaluation said of the same orders gives way to what is computed here.
  document.orders.clear();
  document.levels.clear();
  describe_placements(std::move(instance->graph), instance->topology, std::move(placements), document);
  report.topology = std::move(instance->topology);
  return {};
}

void ReportArguments::add_commands(ReportDocument& document) const {
  if (tuned_ || document.verdict.kind != "gain" || document.orders.size() < 2 || !problem.topology.given()) return;
  std::string mapping = document.orders.back().label;
  auto& commands = document.verdict.commands;
  if (!is_file(mapping)) {
    commands.push_back(fmt::format("rankloom map {} -a {}{} -o mapping.txt", problem.words(""), shell_word(mapping),
                                   run.seed != 0 ? fmt::format(" --seed {}", run.seed) : ""));
    mapping = "mapping.txt";
  }
  commands.push_back(fmt::format("rankloom run {} {} -- mpirun -n {} ./app", shell_word(mapping),
                                 problem.topology.text(), document.orders.back().core_of.size()));
}

Result<LoadedReport> ReportArguments::load(Progress& progress) {
  LoadedReport report;
  ReportDocument& document = report.document;
  document.reproduce.seed = run.seed;
  for (const std::string& name : results) {
    if (auto taken = take(name, document); !taken) return propagate(taken);
  }
  const std::string command = words();
  const bool has_profile = !problem.profile.profile.empty();
  if (!placements_.empty() && !has_profile) {
    return fail(Code::usage, at(placements_.front()), "is a mapping, and who talks to whom is not known",
                "add -p PROFILE and -t TOPOLOGY");
  }
  if (!has_profile && problem.topology.given() && !document.allocation)
    return fail(Code::usage, at("-t"), "a machine without a program shows nothing", "add a profile");
  if (has_profile && (problem.topology.given() || !placements_.empty())) {
    if (auto compared = compare_placements(report, progress); !compared) return propagate(compared);
  } else if (has_profile) {
    if (auto shown = show_profile(document, progress); !shown) return propagate(shown);
  }
  conclude(document);
  add_commands(document);
  document.reproduce.commands.push_back(command + " -o report.html");
  for (const std::string& name : placements_) note_file(name, document);
  note_file(problem.profile.profile, document);
  note_file(problem.topology.topology, document);
  return report;
}

}  // namespace rankloom::app
