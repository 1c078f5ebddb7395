// SPDX-License-Identifier: Apache-2.0
// apps/verbs/evaluation: loads what `rankloom report` is given: results of any verb, recognised by their content.
#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verbs/evaluation/report.hpp"
#include "rankloom/core/system/sha256.hpp"
#include "rankloom/map/bound/lower_bound.hpp"
#include "rankloom/model/files/json.hpp"
#include "rankloom/model/files/mapping_file.hpp"
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

/// One number per line and nothing else but comments.
bool is_plain_mapping(std::string_view text) {
  bool in_number = false, number_ended = false, any = false, comment = false;
  for (const char c : text.substr(0, 4096)) {
    comment = c != '\n' && (comment || (c == '#' && !in_number && !number_ended));
    if (comment) continue;
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

std::string title_of(const ProfileArguments& profile) {
  return profile.is_pattern() ? profile.profile : fs::path(profile.profile).filename().string();
}

/// What does not depend on the order of the results.
void finish(ReportDocument& document, const std::string& command) {
  document.reproduce.version = program_version;
  document.reproduce.commands.push_back(command + " -o report.html");
  write_verdict(document);
}

/// Reports with the same title, of several machines or cost models, are named after their files.
void tell_titles_apart(LoadedReport& report) {
  std::vector<ReportDocument*> documents{&report.document};
  for (ReportDocument& other : report.others) documents.push_back(&other);
  std::map<std::string, int> times;
  for (const ReportDocument* document : documents) ++times[document->title];
  for (ReportDocument* document : documents) {
    if (times[document->title] > 1 && document->problem)
      document->title += fmt::format(" ({})", document->problem->second);
  }
}

std::string machine_size(const Topology& topology) {
  if (topology.is_matrix()) return "a distance matrix";
  const std::uint64_t nodes = topology.node_count(), cores = count_cores(topology);
  const bool even = cores % nodes == 0 && cores == topology.core_count();
  return even ? fmt::format("{} of {}", counted(nodes, "node"), counted(cores / nodes, "core"))
              : fmt::format("{}, {}", counted(nodes, "node"), counted_cores(topology));
}

}  // namespace

const char* const program_version = "rankloom " RANKLOOM_VERSION;

void ReportArguments::describe(CLI::App& app) {
  add_repeated(
      app,
      {"RESULT", "RESULT",
       "an output directory of `tune`, a mapping file or the name of a mapper (both need -p and -t), a profile, or "
       "the JSON output of compare, eval, simulate --timeline, alloc replay --detail or online; several results are "
       "combined",
       "input", "", true},
      results);
  problem.describe(app, "-p,--profile", false);
  run.describe(app);
}

std::string ReportArguments::command() const {
  std::string text = "rankloom report";
  for (const std::string& name : results) text += " " + shell_quote(name);
  const bool named = std::find(results.begin(), results.end(), problem.profile.profile) != results.end();
  if (!tuned_ && !problem.profile.profile.empty() && !named) {
    text += problem.command_line(" -p ");
  } else if (!tuned_ && problem.topology.given()) {
    text += " " + problem.topology.text();
  }
  if (!tuned_ && named && problem.oversubscribe) text += " --oversubscribe";
  return text + run.command_line();
}

void record_checksum(const std::string& path, ReportDocument& document) {
  auto& files = document.reproduce.files;
  const auto known = [&](const SourceFile& file) { return file.name == path; };
  if (!is_file(path) || std::any_of(files.begin(), files.end(), known)) return;
  const auto text = read_file(path);
  if (text) files.push_back({path, sha256(text->view()), text->view().size()});
}

Result<void> ReportArguments::set_profile(const std::string& name) {
  if (!problem.profile.profile.empty() && problem.profile.profile != name) {
    return fail(Code::usage, at(name), fmt::format("this is a second profile, after {}", problem.profile.profile),
                "name one profile: a report describes one program");
  }
  problem.profile.profile = name;
  return {};
}

Result<void> ReportArguments::add_tune_directory(const std::string& directory, ReportDocument& document) {
  const auto inside = [&](const char* name) { return (fs::path(directory) / name).string(); };
  auto file = read_file(inside("result.json"));
  if (!file) {
    return fail(Code::bad_input, at(directory), "this directory contains no result.json of `rankloom tune`",
                "name a directory that tune wrote, such as app.tune; a directory of a recording is given with -p");
  }
  auto json = parse_json(*file);
  if (!json) return propagate(json);
  if (auto read = read_tune(*json, file->name(), document); !read) return propagate(read);
  record_checksum(inside("result.json"), document);
  tuned_ = true;
  const auto use = [&](const char* name, const char* key, std::string& field, const char* option) -> Result<void> {
    if (!field.empty()) return {};
    if (is_file(inside(name))) {
      field = inside(name);
    } else if (json->contains(key) && (*json)[key].is_string()) {
      field = (*json)[key].get<std::string>();
    } else {
      return fail(Code::bad_input, at(directory), fmt::format("this directory contains no {}", name),
                  fmt::format("name the file with {}, as for tune", option));
    }
    return {};
  };
  if (auto found = use("app.prof", "profile", problem.profile.profile, "-p"); !found) return found;
  if (problem.topology.hierarchy.empty()) {
    if (auto found = use("machine.json", "topology", problem.topology.topology, "-t"); !found) return found;
  }
  problem.oversubscribe = true;  // as tune does if there are more ranks than cores
  const std::string chosen = inside(json->contains("threads_per_core") ? "mapping-smt.txt" : "mapping.txt");
  if (is_file(chosen)) {
    placements_.push_back(chosen);
    auto mapping_file = read_file(chosen);
    if (!mapping_file) return propagate(mapping_file);
    auto mapping = read_mapping(*mapping_file);
    if (!mapping) return propagate(mapping);
    problem.slot = SlotArguments::of(mapping->shapes);
  }
  const std::string command = json->at("command");
  if (document.verdict.kind == "gain") {
    document.verdict.commands.push_back(
        json->value("run", fmt::format("rankloom run {} -t {} -- {}", shell_quote(chosen),
                                       shell_quote(problem.topology.topology), command)));
  }
  return {};
}

Result<void> ReportArguments::add_costs(const std::string& name, const nlohmann::json& json, ResultKind kind,
                                        ReportDocument& document) {
  ReportDocument* home = &document;
  if (!belongs_to(json, document)) {
    const auto known = std::find_if(others_.begin(), others_.end(),
                                    [&](const ReportDocument& other) { return belongs_to(json, other); });
    home = known != others_.end() ? &*known : &others_.emplace_back();
  }
  record_checksum(name, *home);
  if (kind == ResultKind::simulation) return read_simulation(json, name, *home);
  return kind == ResultKind::comparison ? read_comparison(json, name, *home) : read_evaluation(json, name, *home);
}

Result<void> ReportArguments::add_json(const std::string& name, const FileContents& file, ReportDocument& document) {
  auto json = parse_json(file);
  if (!json) return propagate(json);
  if (json->is_object() && json->contains("problems") && (*json)["problems"].is_array()) {
    for (const nlohmann::json& problem_json : (*json)["problems"]) {
      if (auto added = add_costs(name, problem_json, ResultKind::comparison, document); !added) return added;
    }
    return {};
  }
  const auto kind = kind_of_result(*json);
  if (kind == ResultKind::comparison || kind == ResultKind::evaluation || kind == ResultKind::simulation)
    return add_costs(name, *json, *kind, document);
  if (!kind) {
    return fail(Code::bad_input, at(name), "this JSON is not a result that a report can show",
                "use the --json output of map, compare, eval, simulate --timeline, alloc replay --detail or online");
  }
  record_checksum(name, document);
  switch (*kind) {
    case ResultKind::mapping:
      placements_.push_back(name);
      return {};
    case ResultKind::comparison:
    case ResultKind::evaluation:
    case ResultKind::simulation:
    case ResultKind::replay:
      return read_replay(*json, name, document);
    case ResultKind::online:
      return read_online(*json, name, document);
    case ResultKind::tune:
      return add_tune_directory(fs::path(name).has_parent_path() ? fs::path(name).parent_path().string() : ".",
                                document);
    case ResultKind::topology:
      break;
  }
  return fail(Code::usage, at(name), "this is a machine, not a result", "give it with -t, and name a result as RESULT");
}

Result<void> ReportArguments::add_result(const std::string& name, ReportDocument& document) {
  std::error_code ignored;
  if (name.starts_with("gen:")) return set_profile(name);
  if (fs::is_directory(name, ignored)) return add_tune_directory(name, document);
  if (!fs::exists(name, ignored)) {
    if (is_mapper(name)) {
      placements_.push_back(name);
      return {};
    }
    return fail(Code::bad_input, at(name), "there is no file, directory or mapper of this name",
                "name a result such as app.tune, mapping.txt or compare.json, or a mapper of `rankloom list mappers`");
  }
  auto file = read_file(name);
  if (!file) return propagate(file);
  const std::string_view text = file->view();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos)
    return fail(Code::bad_input, at(name), "the file is empty",
                "create it again: the verb that wrote it may have failed");
  if (text[first] == '{') return add_json(name, *file, document);
  if (!is_plain_mapping(text)) return set_profile(name);
  placements_.push_back(name);
  return {};
}

Result<void> ReportArguments::describe_profile_only(ReportDocument& document, Progress& progress) {
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
  run.choose_model(problem, *instance);
  if (const auto known = document.problem ? find_cost_model(document.problem->first.model) : std::nullopt;
      known && !run.model_is_given) {
    run.model = *known;
    run.model_is_given = true;
  }
  const std::string source = problem.profile.profile;
  if (document.problem && !document.problem->first.model.empty() &&
      document.problem->first.model != info(run.model).name) {
    return fail(Code::usage, at("--model"),
                fmt::format("{} has costs of the model {}, the report of the mapping uses {}", document.problem->second,
                            document.problem->first.model, info(run.model).name),
                fmt::format("add --model {}", document.problem->first.model));
  }
  // What was read for another problem becomes a report of its own. A result of `tune` has one problem.
  const ProblemId id = instance->id(run.model);
  if (!tuned_ && !belongs_to(id, document)) {
    const auto known = std::find_if(others_.begin(), others_.end(),
                                    [&](const ReportDocument& other) { return belongs_to(id, other); });
    if (known != others_.end()) {
      std::swap(document, *known);
    } else {
      others_.push_back(std::exchange(document, ReportDocument()));
    }
  }
  if (auto fits = add_problem(id, source, document); !fits) return propagate(fits);
  if (placements_.empty() && !tuned_) placements_.emplace_back("auto");
  const std::string& before = instance->default_name;
  ComparedPlacements placements{instance->default_placement, before, {}, {}, run.model, problem.slot.shapes()};
  // The cheapest placement is shown as the proposal; the table lists all of them.
  double best = 0;
  std::vector<MapperRow> rows{{before, evaluate(instance->graph, instance->topology, placements.before, run.model), 0,
                               std::nullopt, 1, false,
                               !instance->has_recorded() ? "the launcher's default placement"
                                                         : "the launcher's placement when the program was recorded"}};
  for (const std::string& name : placements_) {
    auto placement = given_placement(name, *instance, problem.fit(), run, progress);
    if (!placement) return propagate(placement);
    const double cost = evaluate(instance->graph, instance->topology, *placement, run.model);
    if (name != before) rows.push_back({name, cost, 0, std::nullopt, 1, false, {}});
    if (!placements.after.empty() && objective(run.model, cost) >= best) continue;
    best = objective(run.model, cost);
    placements.after = std::move(*placement);
    placements.after_label = name;
  }
  const bool gains = best < objective(run.model, rows.front().cost);
  for (MapperRow& row : rows) {
    const auto known = std::find_if(document.mappers.begin(), document.mappers.end(),
                                    [&](const MapperRow& other) { return other.name == row.name; });
    MapperRow& shown = known != document.mappers.end() ? *known : document.mappers.emplace_back(row);
    shown.chosen = row.name == (gains ? placements.after_label : before);
  }
  if (!document.lower_bound) {
    // Given placements need not obey the limits of computed ones.
    const Capacities capacities =
        instance->limits.any() ? instance->capacities_of_given(problem.fit()) : instance->capacities;
    const MapProblem map_problem{instance->graph, instance->topology, capacities, run.model, {}};
    const auto bound = lower_bound(map_problem);
    if (bound) document.lower_bound = objective(run.model, *bound);
  }
  progress.report("comparing the placements", -1);
  describe_profile(*instance->profile, document);
  document.title = fmt::format("{} on {}", title_of(problem.profile), machine_size(instance->topology));
  // What is computed here replaces the values of an evaluation file for the same placements.
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
    commands.push_back(fmt::format("rankloom map {} -a {}{} -o mapping.txt", problem.command_line(""),
                                   shell_quote(mapping), run.command_line()));
    mapping = "mapping.txt";
  }
  commands.push_back(fmt::format("rankloom run {} {} -- mpirun -n {} ./app", shell_quote(mapping),
                                 problem.topology.text(), document.orders.back().core_of.size()));
}

Result<LoadedReport> ReportArguments::load(Progress& progress) {
  LoadedReport report;
  ReportDocument& document = report.document;
  document.reproduce.version = program_version;
  document.reproduce.seed = run.seed;
  for (const std::string& name : results) {
    if (auto added = add_result(name, document); !added) return propagate(added);
  }
  const std::string report_command = command();
  const bool has_profile = !problem.profile.profile.empty();
  if (!placements_.empty() && !has_profile) {
    return fail(Code::usage, at(placements_.front()),
                "this is a mapping; a report of it needs the profile and the machine",
                "add -p PROFILE and -t TOPOLOGY");
  }
  if (!has_profile && problem.topology.given() && !document.allocation)
    return fail(Code::usage, at("-t"), "a report needs a profile or a result",
                "add -p PROFILE, or use `rankloom topo show TOPOLOGY -o machine.html` for the machine alone");
  if (has_profile && (problem.topology.given() || !placements_.empty())) {
    if (auto compared = compare_placements(report, progress); !compared) return propagate(compared);
  } else if (has_profile) {
    if (auto shown = describe_profile_only(document, progress); !shown) return propagate(shown);
  }
  for (const std::string& name : placements_) record_checksum(name, document);
  record_checksum(problem.profile.profile, document);
  record_checksum(problem.topology.topology, document);
  report.others = std::move(others_);
  finish(document, report_command);
  add_commands(document);
  for (ReportDocument& other : report.others) finish(other, report_command);
  tell_titles_apart(report);
  return report;
}

}  // namespace rankloom::app
