// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch: `rankloom online`: runs the user's command with an agent on each node, which moves ranks to other
// processing units of the node when the communication pattern changes.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/preload.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/process/recording_run.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/model/files/json.hpp"
#include "rankloom/model/files/profile_file.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/place/launchers.hpp"
#include "rankloom/place/online/online_log.hpp"
#include "rankloom/place/online/online_replay.hpp"
#include "rankloom/place/online/restart_gain.hpp"
#include "rankloom/report/terminal/phase_timeline.hpp"
#include "rankloom/report/terminal/progress_display.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

/// Reads the logs of all agents, and waits a short time for agents that still write theirs.
std::vector<Json> collect_logs(const fs::path& directory, double window_seconds, std::vector<std::string>& missing) {
  std::vector<std::string> hosts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("agent.")) hosts.push_back(name.substr(std::string_view("agent.").size()));
  }
  std::sort(hosts.begin(), hosts.end());
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(10 * window_seconds + 1);
  std::vector<Json> logs;
  for (const std::string& host : hosts) {
    const fs::path path = directory / fmt::format("log.{}.json", host);
    // An agent of this host that ended without a log was killed. For other hosts this cannot be checked.
    const auto ended = [&] {
      auto number = read_file((directory / ("agent." + host)).string());
      const long process = number ? std::strtol(std::string(number->view()).c_str(), nullptr, 10) : 0;
      return host == host_name() && process > 0 && ::kill(static_cast<pid_t>(process), 0) != 0;
    };
    while (!fs::exists(path, error) && std::chrono::steady_clock::now() < until && !ended())
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    auto text = read_file(path.string());
    Json log = text ? parse_ordered_json(text->view()) : Json();
    if (log.is_object()) {
      logs.push_back(std::move(log));
    } else {
      missing.push_back(host);
    }
  }
  return logs;
}

std::optional<RestartNode> node_of(const Json& log) {
  if (!log.contains("start") || log["machine"].is_null()) return std::nullopt;
  auto machine = read_machine_json(FileContents("machine", dump_json(log["machine"])));
  if (!machine) return std::nullopt;
  return RestartNode{log["host"], *std::move(machine), log["ranks"], log["start"]};
}

/// Whether the executable is linked with the thread recorder.
bool has_thread_recorder(const std::string& path) {
  const auto file = read_file(path);
  return file &&
         file->view().starts_with(
             "\x7f"
             "ELF") &&
         file->view().find("librankloom_threads.so") != std::string_view::npos;
}

/// The first argument that names a program with the thread recorder (compiled by `rankloom cc`).
std::optional<std::string> program_with_threads(const Argv& command) {
  for (const std::string& argument : command) {
    if (const std::string path = find_program(argument); !path.empty() && has_thread_recorder(path)) return argument;
  }
  return std::nullopt;
}

struct ReplayArguments {
  std::string profile;
  std::string machine;
  std::string output;
  OnlineOptions online;
};

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

std::string table_text(const OnlineReplayTable& table, double seconds, std::size_t width) {
  std::vector<double> moves;
  for (const OnlineDecision& decision : table.decisions) {
    if (decision.moves) moves.push_back(decision.time);
  }
  std::string text = fmt::format("{}, {} of {}\n\n", counted(table.windows, "window"),
                                 counted(table.phases.size(), "phase"), counted(table.kinds, "kind"));
  text += phase_timeline(table.phases, moves, seconds) + "\n";
  Table costs({{"mapping"},
               {"cost", Table::Align::right},
               {"relative to block", Table::Align::right},
               {"moves", Table::Align::right},
               {""}});
  for (const OnlineReplayRow& row : table.rows) {
    costs.row({row.name, format_seconds(row.cost), change(table.rows.front().cost, row.cost),
               row.moved > 0 ? fmt::format("{} in {}", row.moved, row.migrations) : "", row.description});
  }
  return text + costs.text(width) +
         "\n  cost: communication time summed over all ranks, by the model, including the cost of moves\n";
}

/// Replays recorded windows with the online planner and with mappings that never change.
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
  ProgressDisplay progress(stderr, session.progress);
  auto table = replay_online(*windows, *topology, arguments.online, progress);
  if (!table) return propagate(table);
  const Json json = table_json(*table);
  if (!arguments.output.empty()) {
    if (auto written = write_file(arguments.output, dump_json(json, 1) + "\n"); !written) return propagate(written);
  }
  if (session.json) {
    print_json(json);
  } else {
    print(table_text(*table, windows->back().end, session.width));
  }
  return success;
}

constexpr const char* log_format = "rankloom online 1";

bool is_online_log(std::string_view content) {
  constexpr std::size_t beginning = 80;
  return content.substr(0, beginning).find(fmt::format("\"{}\"", log_format)) != std::string_view::npos;
}

class OnlineVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(
        app,
        {"-o,--output", "FILE", "the log to write, with phases, decisions and their effect", "output", "online.json"},
        output_);
    add_text(app, {"--profile", "FILE", "also write the profile of the complete run", "output"}, profile_);
    add_time(app, {"--window", "TIME", "how often an agent reads the counters of its ranks", "moving", "100ms"},
             window_seconds_);
    add_time(app, {"--move-cost", "TIME", "time that a moved rank loses, mainly by cold caches", "moving", "200us"},
             online_.move_seconds);
    add_value(app,
              {"--max-loss", "PERCENT|none",
               "move only if the cost cannot exceed that without moves by more than this, by the model", "moving", "2"},
              [this](std::string_view text) -> Result<void> {
                const auto percent = text == "none" ? std::numeric_limits<double>::infinity() : parse_number(text);
                if (!percent || *percent < 0) return bad_value("--max-loss", text, "a percentage such as 2, or none");
                online_.max_loss = *percent / 100;
                return {};
              });
    add_switch(app, "--migrate-pages", "on a node with several NUMA nodes, move the memory pages of a rank too",
               migrate_pages_, "moving");
    add_text(app, {"-t,--topology", "FILE|STRING", "the inside of a node, instead of what hwloc reports", "input"},
             machine_);
    add_text(
        app,
        {"--replay", "PROFILE",
         "run nothing: compute what moving ranks would have gained for this profile of `record --window` on the node "
         "of -t",
         "input"},
        replay_);
    add_value(
        app, {"--mpi", "openmpi|mpich|abi", "the MPI implementation of the program, if it cannot be detected", "input"},
        [this](std::string_view text) -> Result<void> {
          mpi_ = find_mpi(text);
          if (mpi_ == nullptr) return bad_value("--mpi", text, "openmpi, mpich or abi");
          return {};
        });
    add_repeated(app, {"COMMAND", "COMMAND", "after --: the command that starts the program", "input"}, command_);
  }

  Result<int> run(const Session& session) override {
    if (!replay_.empty()) {
      if (machine_.empty())
        return fail(Code::usage, at("--replay"), "the machine to replay on is missing", "add -t with one node");
      return replay_windows({replay_, machine_, output_, online_}, session);
    }
    if (command_.empty())
      return fail(Code::usage, at("online"), "the command to run is missing",
                  "add it after --: rankloom online -- mpirun -n 4 ./app");
    if (output_.empty()) {
      output_ = "online.json";
      if (auto replaceable = check_default_output(output_, is_online_log); !replaceable) return propagate(replaceable);
    }
    if (auto possible = check_output(output_); !possible) return propagate(possible);
    if (auto possible = check_output(profile_); !possible) return propagate(possible);
    if (auto launch = parse_launch_command(command_, launcher_version(command_)); !launch) {
      const auto program = program_with_threads(command_);
      if (!program) return not_launched(std::move(launch).error());
      watches_threads_ = true;
      program_ = *program;
    }
    RecordingDirectory directory(output_);
    if (!directory.good())
      return fail(Code::environment, at(output_), "no directory can be created next to this file",
                  "choose another file with -o");
    auto argv = watches_threads_ ? agent_wrapper(directory.path()) : prepare(directory.path());
    if (!argv) return propagate(argv);
    if (watches_threads_) argv->insert(argv->end(), command_.begin(), command_.end());
    const int status = run_program(*argv, watches_threads_ ? thread_environment(directory.path()) : Argv{},
                                   ProgramStreams::ours(session.json));
    // The program has ended: errors of the log do not change the exit status, which is the program's.
    const Json log = make_log(directory, status);
    if (auto written = write_file(output_, dump_json(log, 1) + "\n"); !written) show_error(written.error(), false);
    if (session.json) {
      print_json(log);
    } else {
      print_log(log);
    }
    return status;
  }

 private:
  static void add_time(CLI::App& app, const OptionText& text, double& seconds) {
    const std::string name = text.names;
    add_value(app, text, [name, &seconds](std::string_view value) -> Result<void> {
      const auto time = parse_nanoseconds(value, 1e9);
      if (!time || *time < 0 || (name == "--window" && *time < 1e6))
        return bad_value(name, value,
                         name == "--window" ? "a time of at least 1ms, such as 100ms" : "a time such as 200us");
      seconds = *time / 1e9;
      return {};
    });
  }

  /// The error for a command that neither starts ranks nor is a program with the thread recorder.
  Failure not_launched(Error error) const {
    const std::string name = fs::path(command_[std::min(launcher_position(command_), command_.size() - 1)]).filename();
    if (!is_launcher_name(name)) {
      error.code = Code::usage;
      error.what = fmt::format("'{}' is neither a launcher nor a program that records its threads", name);
      error.hint = "start the program with mpirun, mpiexec or srun, or compile it with `rankloom cc` or `rankloom c++`";
    }
    return Failure(std::move(error));
  }

  Result<Argv> prepare(const fs::path& directory) {
    const ProgramCommand started = inspect_command(command_, "the recorder");
    program_ = started.program;
    mpi_ = mpi_of(started, mpi_);
    auto recorder = find_library("record", *mpi_, "the recorder");
    if (!recorder) return propagate(recorder);
    auto wrapper = agent_wrapper(directory);
    if (!wrapper) return propagate(wrapper);
    auto preloaded = PreloadedLibrary::make(*recorder, directory);
    if (!preloaded) return propagate(preloaded);
    preloaded_.emplace(*std::move(preloaded));
    const Environment environment{preloaded_->variable(), {"RANKLOOM_RECORD_OUT", recording_prefix(directory)}};
    if (!started.launch)
      return fail(Code::usage, at(command_[0]), "the command cannot be read a second time",
                  "write the programs on the command line, separated by :");
    auto changed = rewrite(*started.launch, {.environment = environment, .wrapper = *wrapper});
    if (!changed) return propagate(changed);
    return changed->argv();
  }

  /// The arguments in front of the program: rankloom-agent and its options.
  Result<Argv> agent_wrapper(const fs::path& directory) const {
    const auto agent = find_installed("rankloom-agent");
    if (!agent) {
      return fail(Code::environment, at("online"), "rankloom-agent is missing", "build or install all of rankloom");
    }
    Argv wrapper{*agent,
                 "--window",
                 fmt::format("{}ns", 1e9 * window_seconds_),
                 "--move-cost",
                 fmt::format("{}ns", 1e9 * online_.move_seconds),
                 "--max-loss",
                 std::isinf(online_.max_loss) ? "none" : fmt::format("{}", 100 * online_.max_loss)};
    if (migrate_pages_) wrapper.emplace_back("--migrate-pages");
    if (!machine_.empty()) {
      auto file = write_machine(directory);
      if (!file) return propagate(file);
      wrapper.insert(wrapper.end(), {"--machine", *file});
    }
    wrapper.emplace_back("--");
    return wrapper;
  }

  /// The recorder counts in a file that the agent reads, and writes its profile into `directory` unless the user named
  /// a file.
  static Argv thread_environment(const fs::path& directory) {
    Argv variables{fmt::format("RANKLOOM_THREADS_LIVE={}", (directory / "threads").string())};
    if (std::getenv("RANKLOOM_THREADS_OUT") == nullptr)
      variables.push_back(fmt::format("RANKLOOM_THREADS_OUT={}", (directory / "threads.prof").string()));
    return variables;
  }

  /// Writes the machine of -t next to the logs, because agents on other hosts may not see the user's file.
  Result<std::string> write_machine(const fs::path& directory) const {
    auto spec = load_machine(machine_);
    if (!spec) return propagate(spec);
    const std::string text = write_machine_json(*spec);
    auto topology = Topology::build(*std::move(spec));
    if (!topology) return propagate(topology);
    if (topology->node_count() != 1) {
      return fail(Code::usage, at("-t"),
                  fmt::format("the machine has {} nodes, but ranks move only inside a node", topology->node_count()),
                  "give the inside of one node, such as \"package:2 core:8\"");
    }
    std::string file = (directory / "machine.json").string();
    if (auto written = write_file(file, text); !written) return propagate(written);
    return file;
  }

  Json make_log(RecordingDirectory& recording, int status) {
    const fs::path& directory = recording.path();
    std::vector<std::string> missing;
    Json log{{"format", log_format}, {"program", program_}, {"status", status}};
    const std::vector<Json> logs = collect_logs(directory, window_seconds_, missing);
    log["nodes"] = logs;
    log["missing_agents"] = missing;
    log["restart"] = nullptr;
    if (watches_threads_) return thread_log(directory, std::move(log));
    auto profile = collect_recording(directory, program_, *mpi_);
    if (!profile) {
      log["error"] = profile.error().what;
      return log;
    }
    if (!profile_.empty()) {
      auto written = write_file(profile_, [&](Sink& sink) { return write_profile(*profile, sink); });
      if (!written) show_error(recording.keep(written.error()), false);
    }
    log["restart"] = restart(logs, *std::move(profile));
    return log;
  }

  Json thread_log(const fs::path& directory, Json log) const {
    for (const Json& node : log["nodes"])
      if (node["ranks"].empty()) log["error"] = "nothing was moved: no two threads ran at the same time";
    if (profile_.empty()) return log;
    const auto profile = read_file((directory / "threads.prof").string());
    if (!profile) {
      show_error(profile.error(), false);
    } else if (auto written = write_file(profile_, profile->view()); !written) {
      show_error(written.error(), false);
    }
    return log;
  }

  static Json restart(const std::vector<Json>& logs, Profile profile) {
    std::vector<RestartNode> nodes;
    for (const Json& log : logs) {
      auto node = node_of(log);
      if (!node) return nullptr;
      nodes.push_back(*std::move(node));
    }
    if (nodes.empty() || !check_traffic_fits(profile, CollectiveModel::tree)) return nullptr;
    const auto gain = restart_gain(traffic(std::move(profile), CollectiveModel::tree), nodes);
    if (!gain) return {{"error", gain.error().what}};
    return {{"cost", gain->cost_start},
            {"cost_mapped", gain->cost_mapped},
            {"bytes_between_nodes", gain->bytes_start},
            {"bytes_between_nodes_mapped", gain->bytes_mapped}};
  }

  void print_log(const Json& log) const {
    for (const Json& node : log["nodes"]) print_node(node);
    for (const Json& host : log["missing_agents"])
      print_note(
          fmt::format("{}: the agent wrote no log, perhaps because it was killed; the program continued without it",
                      host.get<std::string>()));
    if (log.contains("error")) print_note(log["error"].get<std::string>());
    const Json& restart = log["restart"];
    if (restart.is_object() && restart.contains("cost")) {
      const double now = restart["cost"], mapped = restart["cost_mapped"];
      print_note(fmt::format(
          "a restart with the mapping of `auto`: {} communication time, by the model{}", change(now, mapped),
          log["nodes"].size() > 1
              ? fmt::format("; {} instead of {} between nodes, which moves inside nodes cannot change",
                            format_bytes(restart["bytes_between_nodes_mapped"]),
                            format_bytes(restart["bytes_between_nodes"]))
              : ""));
    } else if (restart.is_object() && restart.contains("error")) {
      print_note("the gain of a restart is unknown: " + restart["error"].get<std::string>());
    }
    print_note(fmt::format("log written to {}", output_));
  }

  static void print_node(const Json& node) {
    const std::string host = node["host"];
    for (const Json& remark : node["remarks"]) print_note(fmt::format("{}: {}", host, remark.get<std::string>()));
    if (!node.contains("phases")) return;
    std::vector<OnlinePhase> phases;
    std::size_t kinds = 0;
    for (const Json& phase : node["phases"]) {
      const std::string kind = phase["kind"];
      const std::size_t number = static_cast<std::size_t>(kind[0] - 'A') +
                                 26 * (kind.size() > 1 ? std::strtoul(kind.c_str() + 1, nullptr, 10) : 0);
      phases.push_back({number, phase["begin"], phase["end"], phase["windows"], phase["detected_after_windows"]});
      kinds = std::max(kinds, number + 1);
    }
    std::vector<double> moves;
    std::uint64_t bound = 0, failed = 0;
    for (const Json& migration : node["migrations"]) {
      moves.push_back(migration["time"]);
      bound += migration["bound"].get<std::uint64_t>();
      failed += migration["failed"].get<std::uint64_t>();
    }
    const double seconds = node["seconds"];
    print_note(fmt::format("{}: {}, {} in {}, {} of {}; {} in {}{}", host,
                           counted(node["ranks"].size(), node["entities"] == "threads" ? "thread" : "rank"),
                           counted(node["windows"].get<std::uint64_t>(), "window"), format_seconds(seconds),
                           counted(phases.size(), "phase"), counted(kinds, "kind"), counted(bound, "move"),
                           counted(moves.size(), "migration"), failed > 0 ? fmt::format(", {} failed", failed) : ""));
    print_to_stderr(phase_timeline(phases, moves, seconds));
    const double stayed = node["effect"]["stayed"], online = node["effect"]["online"];
    if (!moves.empty())
      print_note(
          fmt::format("{}: {} communication time than without moves, by the model", host, change(stayed, online)));
    if (seconds > 0)
      print_note(fmt::format("{}: the agent used {:.2f} % of a core", host,
                             100 * node["agent_cpu_seconds"].get<double>() / seconds));
  }

  std::string output_, profile_, machine_, replay_, program_;
  double window_seconds_ = 0.1;
  bool migrate_pages_ = false;
  OnlineOptions online_;
  bool watches_threads_ = false;
  const Mpi* mpi_ = nullptr;
  std::optional<PreloadedLibrary> preloaded_;  ///< Until the program has ended.
  Argv command_;
};

}  // namespace

std::unique_ptr<Verb> make_online() {
  return std::make_unique<OnlineVerb>();
}

}  // namespace rankloom::app
