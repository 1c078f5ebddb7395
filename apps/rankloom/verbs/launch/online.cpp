// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom online`: runs a program as the user would, with an agent on each node that moves ranks to other
// processing units of it when the program talks otherwise than before.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/preload.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/process/recording_run.hpp"
#include "apps/rankloom/verbs/launch/online_replay.hpp"
#include "apps/rankloom/verbs/launch/online_threads.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/model/files/json_cursor.hpp"
#include "rankloom/model/files/profile_file.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/place/launchers.hpp"
#include "rankloom/place/online/restart_gain.hpp"
#include "rankloom/report/phase_timeline.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

void say(const std::string& text) {
  fmt::print(stderr, "rankloom: {}\n", text);
}

/// The logs of all agents; those that are still about to write get a moment.
std::vector<Json> collect_logs(const fs::path& folder, double window_seconds, std::vector<std::string>& missing) {
  std::vector<std::string> hosts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("agent.")) hosts.push_back(name.substr(std::string_view("agent.").size()));
  }
  std::sort(hosts.begin(), hosts.end());
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(10 * window_seconds + 1);
  std::vector<Json> logs;
  for (const std::string& host : hosts) {
    const fs::path path = folder / fmt::format("log.{}.json", host);
    // An agent of this host that is gone without a log was killed; those of other hosts cannot be asked.
    const auto gone = [&] {
      auto number = read_file((folder / ("agent." + host)).string());
      const long process = number ? std::strtol(std::string(number->view()).c_str(), nullptr, 10) : 0;
      return host == host_name() && process > 0 && ::kill(static_cast<pid_t>(process), 0) != 0;
    };
    while (!fs::exists(path, error) && std::chrono::steady_clock::now() < until && !gone())
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    auto text = read_file(path.string());
    Json log = text ? Json::parse(text->view(), nullptr, false) : Json();  // keeps the order of the keys
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

class OnlineVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(app, {"-o,--output", "FILE", "the log to write: phases, decisions, effect", "output", "online.json"},
             output_);
    add_text(app, {"--profile", "FILE", "write what was recorded of the whole run, too", "output"}, profile_);
    add_time(app, {"--window", "TIME", "how often an agent looks at its ranks", "moving", "100ms"}, window_seconds_);
    add_time(app, {"--move-cost", "TIME", "what a rank loses that moves: its caches, above all", "moving", "200us"},
             online_.move_seconds);
    add_switch(app, "--migrate-pages", "where a node has several memory nodes, pages follow their rank", migrate_pages_,
               "moving");
    add_text(app, {"-t,--topology", "FILE|STRING", "the inside of a node, in place of what hwloc says of it", "input"},
             machine_);
    add_text(app,
             {"--replay", "PROFILE",
              "run nothing: what would moving have brought to this profile of `record --window`, on the node of -t?",
              "input"},
             replay_);
    add_value(app, {"--mpi", "openmpi|mpich", "the MPI of the program, where it cannot be seen from it", "input"},
              [this](std::string_view text) -> Result<void> {
                mpi_ = find_mpi(text);
                if (mpi_ == nullptr) return bad_value("--mpi", text, "openmpi or mpich");
                return {};
              });
    add_repeated(app, {"COMMAND", "COMMAND", "how you start the program, behind --", "input"}, command_);
  }

  Result<int> run(const Session& session) override {
    if (!replay_.empty()) {
      if (machine_.empty())
        return fail(Code::usage, at("--replay"), "there is no machine to replay on", "name one node with -t");
      return replay_windows({replay_, machine_, output_, online_}, session);
    }
    if (command_.empty())
      return fail(Code::usage, at("online"), "there is no program to run", "name it behind --, as you start it");
    if (output_.empty()) output_ = "online.json";
    if (auto possible = check_output(output_); !possible) return propagate(possible);
    if (auto possible = check_output(profile_); !possible) return propagate(possible);
    if (auto launch = parse_launch_command(command_, launcher_version(command_)); !launch) {
      const auto program = program_with_threads(command_);
      if (!program) return not_launched(std::move(launch).error());
      of_threads_ = true;
      program_ = *program;
    }
    const WorkFolder folder(output_);
    if (!folder.good())
      return fail(Code::environment, at(output_), "no folder can be made beside it", "choose another place with -o");
    auto words = of_threads_ ? with_agent(folder.path()) : prepare(folder.path());
    if (!words) return propagate(words);
    if (of_threads_) words->insert(words->end(), command_.begin(), command_.end());
    const int status = run_program(*words, of_threads_ ? thread_environment(folder.path()) : Argv{},
                                   ProgramStreams::ours(session.json));
    // The program has had its run: whatever happens to the log, the status is the program's.
    const Json log = make_log(folder.path(), status);
    if (auto written = write_file(output_, dump_json(log, 1) + "\n"); !written) show_error(written.error(), false);
    if (session.json) {
      print_json(log);
    } else {
      tell(log);
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
                         name == "--window" ? "a time from 1ms up, such as 100ms" : "a time such as 200us");
      seconds = *time / 1e9;
      return {};
    });
  }

  /// Ranks are watched where a launcher starts them; threads of one program are not.
  Failure not_launched(Error error) const {
    const std::string name = fs::path(command_[std::min(launcher_position(command_), command_.size() - 1)]).filename();
    if (!is_launcher_name(name)) {
      error.code = Code::usage;
      error.what = fmt::format("'{}' is no launcher of ranks, and no program that records its threads", name);
      error.hint = "start it by mpirun, mpiexec or srun, or compile it with `rankloom cc` or `rankloom c++`";
    }
    return Failure(std::move(error));
  }

  Result<Argv> prepare(const fs::path& folder) {
    const ProgramCommand started = inspect_command(command_, "the recorder");
    program_ = started.program;
    mpi_ = mpi_of(started, mpi_);
    auto recorder = find_library("record", *mpi_, "the recorder");
    if (!recorder) return propagate(recorder);
    auto wrapper = with_agent(folder);
    if (!wrapper) return propagate(wrapper);
    Environment environment{preload(*recorder), {"RANKLOOM_RECORD_OUT", (folder / "recording").string()}};
    if (!all_linked_with(started, *mpi_)) environment.emplace_back("RANKLOOM_RECORD_GATHER", "0");
    auto changed = rewrite(*started.launch, {.environment = environment, .wrapper = *wrapper});
    if (!changed) return propagate(changed);
    return changed->argv();
  }

  /// What stands before the program.
  Result<Argv> with_agent(const fs::path& folder) const {
    const auto agent = find_installed("rankloom-agent");
    if (!agent) {
      return fail(Code::environment, at("online"), "rankloom-agent is not beside this program",
                  "build rankloom again: ./dev build");
    }
    Argv wrapper{*agent, "--window", fmt::format("{}ns", 1e9 * window_seconds_), "--move-cost",
                 fmt::format("{}ns", 1e9 * online_.move_seconds)};
    if (migrate_pages_) wrapper.emplace_back("--migrate-pages");
    if (!machine_.empty()) {
      auto file = write_machine(folder);
      if (!file) return propagate(file);
      wrapper.insert(wrapper.end(), {"--machine", *file});
    }
    wrapper.emplace_back("--");
    return wrapper;
  }

  /// The recorder counts where the agent reads, and leaves its profile where we find it, unless the user wants it.
  static Argv thread_environment(const fs::path& folder) {
    Argv variables{fmt::format("RANKLOOM_THREADS_LIVE={}", (folder / "threads").string())};
    if (std::getenv("RANKLOOM_THREADS_OUT") == nullptr)
      variables.push_back(fmt::format("RANKLOOM_THREADS_OUT={}", (folder / "threads.prof").string()));
    return variables;
  }

  /// Agents on other hosts know no file of the user's by the name that he gave.
  Result<std::string> write_machine(const fs::path& folder) const {
    auto spec = load_machine(machine_);
    if (!spec) return propagate(spec);
    const std::string text = write_machine_json(*spec);
    auto topology = Topology::build(*std::move(spec));
    if (!topology) return propagate(topology);
    if (topology->node_count() != 1) {
      return fail(Code::usage, at("-t"), fmt::format("the machine has {} nodes", topology->node_count()),
                  "ranks move inside a node only: name what is inside one");
    }
    std::string file = (folder / "machine.json").string();
    if (auto written = write_file(file, text); !written) return propagate(written);
    return file;
  }

  Json make_log(const fs::path& folder, int status) {
    std::vector<std::string> missing;
    Json log{{"format", "rankloom online 1"}, {"program", program_}, {"status", status}};
    const std::vector<Json> logs = collect_logs(folder, window_seconds_, missing);
    log["nodes"] = logs;
    log["silent_agents"] = missing;
    log["restart"] = nullptr;
    if (of_threads_) return thread_log(folder, std::move(log));
    auto profile = collect_recording(folder, program_, *mpi_);
    if (!profile) {
      log["error"] = profile.error().what;
      return log;
    }
    if (!profile_.empty()) {
      auto written = write_file(profile_, [&](Sink& sink) { return write_profile(*profile, sink); });
      if (!written) show_error(written.error(), false);
    }
    log["restart"] = restart(logs, *std::move(profile));
    return log;
  }

  Json thread_log(const fs::path& folder, Json log) const {
    for (const Json& node : log["nodes"])
      if (node["ranks"].empty()) log["error"] = "nothing was moved: no two threads worked at the same time";
    if (profile_.empty()) return log;
    const auto profile = read_file((folder / "threads.prof").string());
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

  void tell(const Json& log) const {
    for (const Json& node : log["nodes"]) tell_node(node);
    for (const Json& host : log["silent_agents"])
      say(fmt::format("{}: its agent left no log (was it killed?); the program went on without it",
                      host.get<std::string>()));
    if (log.contains("error")) say(log["error"].get<std::string>());
    const Json& restart = log["restart"];
    if (restart.is_object() && restart.contains("cost")) {
      const double now = restart["cost"], mapped = restart["cost_mapped"];
      say(fmt::format("started anew where `auto` puts it: {} time in communication, by the model{}",
                      change(now, mapped),
                      log["nodes"].size() > 1
                          ? fmt::format("; between nodes {} in place of {}, which no move inside a node can change",
                                        format_bytes(restart["bytes_between_nodes_mapped"]),
                                        format_bytes(restart["bytes_between_nodes"]))
                          : ""));
    } else if (restart.is_object() && restart.contains("error")) {
      say("what a restart would gain is not known: " + restart["error"].get<std::string>());
    }
    say(fmt::format("{}: the log", output_));
  }

  static void tell_node(const Json& node) {
    const std::string host = node["host"];
    for (const Json& remark : node["remarks"]) say(fmt::format("{}: {}", host, remark.get<std::string>()));
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
    for (const Json& burst : node["migrations"]) {
      moves.push_back(burst["time"]);
      bound += burst["bound"].get<std::uint64_t>();
      failed += burst["failed"].get<std::uint64_t>();
    }
    const double seconds = node["seconds"];
    say(fmt::format("{}: {}, {} in {}, {} of {}; {} set in {}{}", host,
                    counted(node["ranks"].size(), node["entities"] == "threads" ? "thread" : "rank"),
                    counted(node["windows"].get<std::uint64_t>(), "window"), format_seconds(seconds),
                    counted(phases.size(), "phase"), counted(kinds, "kind"), counted(bound, "place"),
                    counted(moves.size(), "burst"), failed > 0 ? fmt::format(", {} refused", failed) : ""));
    fmt::print(stderr, "{}", phase_timeline(phases, moves, seconds));
    const double stayed = node["effect"]["stayed"], online = node["effect"]["online"];
    if (!moves.empty()) say(fmt::format("{}: {} than without moves, by the model", host, change(stayed, online)));
    if (seconds > 0)
      say(fmt::format("{}: the agent took {:.2f} % of a core", host,
                      100 * node["agent_cpu_seconds"].get<double>() / seconds));
  }

  std::string output_, profile_, machine_, replay_, program_;
  double window_seconds_ = 0.1;
  bool migrate_pages_ = false;
  OnlineOptions online_;
  bool of_threads_ = false;
  const Mpi* mpi_ = nullptr;
  Argv command_;
};

}  // namespace

std::unique_ptr<Verb> make_online() {
  return std::make_unique<OnlineVerb>();
}

}  // namespace rankloom::app
