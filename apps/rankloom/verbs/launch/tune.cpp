// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom tune`: from a command to a faster command. Every step is a command of rankloom that the user could
// type himself; --dry-run shows them.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/core/file.hpp"
#include "rankloom/core/units.hpp"
#include "rankloom/evaluate/statistics.hpp"
#include "rankloom/place/virtual_cluster/virtual_cluster.hpp"
#include "rankloom/place/launch_command.hpp"
#include "rankloom/report/table.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

/// "1.26 ± 0.02": the ratio of two means, and how far it can be off by the spread of both.
struct Ratio {
  double value = 1, spread = 0;
};

Ratio ratio_of(const Sample& before, const Sample& after, std::size_t runs) {
  // Of the means, not of single runs.
  const double root = std::sqrt(static_cast<double>(std::max<std::size_t>(runs, 1)));
  const double value = before.mean / after.mean;
  return {value, value * std::hypot(before.spread / before.mean, after.spread / after.mean) / root};
}

class TuneVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(app, {"--profile", "PROFILE", "who talks to whom, instead of recording it in a first run", "input"},
             profile_);
    add_text(app, {"-t,--topology", "TOPOLOGY", "the machine, instead of discovering it", "input"}, topology_);
    add_switch(app, "--probe", "measure what sending costs, instead of taking it from the structure", probe_, "input");
    add_switch(app, "--lab", "on the hosts of `rankloom lab up`", lab_, "input");
    add_text(app, {"-a,--mapper", "MAPPER", "the mapper, with its options", "mapping", "auto"}, mapper_);
    add_value(app, {"--runs", "N", "how often each order is run, in turn", "measuring", "3"},
              [this](std::string_view text) -> Result<void> {
                const auto number = parse_number(text);
                if (!number || *number < 1 || *number > 1000 || *number != std::floor(*number))
                  return bad_value("--runs", text, "a number from 1 to 1000");
                runs_ = static_cast<std::size_t>(*number);
                return {};
              });
    add_switch(app, "--predict",
               "simulate both orders before they are run, say what they would gain, and stop when that is nothing",
               predict_, "measuring");
    add_switch(app, "--dry-run", "show every command, and run none", dry_run_, "output");
    add_text(app,
             {"-o,--output", "FOLDER", "where everything is kept; all hosts must see it", "output", "PROGRAM.tune"},
             output_);
    add_repeated(app, {"COMMAND", "WORD", "behind --: how you start the program", "input", "", true}, command_);
  }

  Result<int> run(const Session& session) override {
    auto launch = understand_launch(command_, launcher_version(command_));
    if (!launch) return propagate(launch);
    const LaunchPart& part = launch->parts.front();
    if (output_.empty()) output_ = fs::path(launch->words[part.program]).filename().string() + ".tune";
    launcher_.assign(launch->words.begin(), launch->words.begin() + static_cast<std::ptrdiff_t>(part.program));
    kind_ = launch->kind;
    if (launch->parts.size() == 1) {
      program_.assign(launch->words.begin() + static_cast<std::ptrdiff_t>(part.program),
                      launch->words.begin() + static_cast<std::ptrdiff_t>(part.end));
    }
    if (dry_run_) return show_plan();
    if (lab_) {
      if (auto entered = enter(); !entered) return propagate(entered);
    }
    std::error_code error;
    fs::create_directories(output_, error);
    if (error) {
      return fail(Code::environment, at(output_), fmt::format("this folder cannot be made: {}", error.message()),
                  "name another one with -o");
    }
    quiet_ = session.json;
    auto result = tune();
    if (!result) return propagate(result);
    if (!profile_.empty()) (*result)["profile"] = profile_;
    if (!topology_.empty()) (*result)["topology"] = topology_;
    if (auto written = write_file(file("result.json"), to_line(*result)); !written) return propagate(written);
    // Everything is measured by now: a report that cannot be made spoils nothing.
    const bool reported = ask(report_step(), "report.log").has_value();
    if (session.json) {
      print_json(*result);
    } else {
      print(conclusion(*result));
      if (reported)
        print(fmt::format("all of it: {} (again: {})\n", file("report.html"),
                          command_text({"rankloom", "report", output_, "-o", "report.html"})));
    }
    return success;
  }

 private:
  std::string file(const std::string& name) const { return (fs::path(output_) / name).string(); }

  Argv own(Argv words) const {
    words.insert(words.begin(), own_program());
    return words;
  }
  Argv before_command(Argv words) const {
    words.emplace_back("--");
    words.insert(words.end(), command_.begin(), command_.end());
    return words;
  }

  // The steps, as commands.
  Argv doctor_step() const { return own({"doctor", "--json"}); }
  Argv record_step() const { return before_command(own({"record", "--json", "-o", file("app.prof")})); }
  Argv machine_step() const {
    Argv words = own({"topo", probe_ ? "probe" : "discover", "--json", "-o", file("machine.json"), "--"});
    words.insert(words.end(), launcher_.begin(), launcher_.end());
    return words;
  }
  Argv show_step() const { return own({"show", profile(), "--json"}); }
  Argv map_step(bool shared) const {
    Argv words = own(
        {"map", profile(), "-t", machine(), "-a", mapper_, "--format", "plain", "-o", file("mapping.txt"), "--json"});
    if (shared) words.emplace_back("--oversubscribe");
    return words;
  }
  /// What the recorded messages take in the default order and as placed, by simulation.
  Argv predict_step() const {
    return own({"eval", "block", file("mapping.txt"), "--simulate", "--profile", profile(), "-t", machine(),
                "--oversubscribe", "--json"});
  }
  Argv run_step() const {
    return before_command(own({"run", file("mapping.txt"), "-t", machine(), "--json", "-o", file("launch")}));
  }
  Argv report_step() const { return own({"report", output_, "-o", file("report.html"), "--json"}); }
  Argv emit_step() const {
    return own({"emit", file("mapping.txt"), "-t", machine(), "--to", std::string(name_of(kind_)), "-o", file("launch"),
                "--json"});
  }
  std::string profile() const { return profile_.empty() ? file("app.prof") : profile_; }
  std::string machine() const { return topology_.empty() ? file("machine.json") : topology_; }

  Result<int> show_plan() const {
    const auto line = [](std::string_view why, Argv words) {
      words[0] = words[0] == own_program() ? "rankloom" : words[0];
      print(fmt::format("# {}\n{}\n", why, command_text(words)));
    };
    line("is everything here to work", doctor_step());
    if (profile_.empty()) line("who talks to whom", record_step());
    if (topology_.empty()) line("the machine", machine_step());
    line("how much of the time could be saved", show_step());
    line("a place for every rank", map_step(false));
    if (predict_) line("what that would gain", predict_step());
    for (std::size_t i = 0; i < runs_; ++i) {
      line("as it is now", command_);
      line("as rankloom places it", run_step());
    }
    line("the files to use from now on", emit_step());
    line("all of it on one page", report_step());
    return success;
  }

  Result<void> enter() {
    const char* const inside = std::getenv("RANKLOOM_LAB");
    auto lab = find_virtual_cluster(inside != nullptr ? inside : VirtualClusterOptions().name);
    if (!lab) return propagate(lab);
    if (topology_.empty() && !probe_) {
      std::error_code error;
      fs::create_directories(output_, error);
      topology_ = file("machine.json");
      auto written = output_of({own_program(), "lab", "topo", "--name", lab->options.name, "-o", topology_});
      if (!fs::exists(topology_, error)) {
        return fail(Code::environment, at("--lab"), fmt::format("the lab does not tell what it is: {}", written),
                    "take it down and up again: rankloom lab down; rankloom lab up");
      }
    }
    return enter_virtual_host(*lab, lab->hosts.front().name);
  }

  void tell(std::string_view text) const {
    if (!quiet_) fmt::print(stderr, "{}\n", text);
  }

  /// Runs a step that answers with JSON; what it says besides goes to a log in the folder.
  Result<Json> ask(const Argv& words, std::string_view log) const {
    Argv quiet{"sh", "-c", "log=$1; shift; exec \"$@\" 2>\"$log\"", "sh", file(std::string(log))};
    quiet.insert(quiet.end(), words.begin(), words.end());
    std::string last;
    auto status = run_lines(quiet, [&](std::string_view line) {
      if (line.starts_with('{')) last = line;
    });
    if (!status) return propagate(status);
    Json answer = Json::parse(last, nullptr, false);
    if (answer.is_discarded() || answer.contains("error")) {
      std::string what = fmt::format("it ended with status {}", *status);
      if (!answer.is_discarded()) {
        const Json& error = answer["error"];
        what = error.is_string() ? error.get<std::string>() : error.value("what", what);
      }
      return fail(Code::environment, at(command_text({"rankloom", words[1]})), what,
                  fmt::format("look into {}, or try the step alone: {}", file(std::string(log)), command_text(words)));
    }
    answer["exit_status"] = *status;
    return answer;
  }

  Result<double> time_of(const Argv& words, std::string_view log) const {
    Argv quiet{"sh", "-c", "log=$1; shift; exec \"$@\" >\"$log\" 2>&1", "sh", file(std::string(log))};
    quiet.insert(quiet.end(), words.begin(), words.end());
    const auto begin = std::chrono::steady_clock::now();
    auto status = run_lines(quiet, [](std::string_view) {});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!status) return propagate(status);
    if (*status != 0) {
      return fail(Code::environment, at(command_text(command_)), fmt::format("it ended with status {}", *status),
                  fmt::format("what it said is in {}", file(std::string(log))));
    }
    return seconds;
  }

  Result<Json> tune() {
    Json result{{"command", command_text(command_)}, {"folder", output_}, {"speedup", nullptr}, {"verified", nullptr}};
    if (auto fit = ask(doctor_step(), "doctor.log"); !fit) return propagate(fit);
    if (auto learned = learn(result); !learned) return propagate(learned);
    auto mapped = ask(map_step(result["ranks"].get<std::uint64_t>() > result["cores"].get<std::uint64_t>()), "map.log");
    if (!mapped) return propagate(mapped);
    const double before = (*mapped)["cost_default"], after = (*mapped)["cost"];
    result["mapper"] = (*mapped)["mapper"];
    result["cost_default"] = before;
    result["cost"] = after;
    result["predicted_gain_percent"] = gain_percent(before, after, false);
    constexpr double least_gain = 0.005;
    if (!(after < before * (1 - least_gain))) {
      result["gain"] = false;
      result["reason"] =
          reason(result, "no mapping was found in which less has to travel far: the default order is good already");
      return result;
    }
    tell(fmt::format("mapping    {} less far to go than in the default order", percent(100 * (1 - after / before))));
    if (predict_) {
      if (auto foreseen = foresee(result); !foreseen) return propagate(foreseen);
      if (result.contains("gain")) return result;
    }
    if (auto measured = measure(result); !measured) return propagate(measured);
    if (result["gain"].get<bool>()) result["use"] = command_to_use();
    return result;
  }

  /// The gain that a simulation sees; when it sees none, nothing is run.
  Result<void> foresee(Json& result) {
    auto simulated = ask(predict_step(), "predict.log");
    if (!simulated) return propagate(simulated);
    const double now = (*simulated)["mappings"][0]["simulated_seconds"];
    const double placed = (*simulated)["mappings"][1]["simulated_seconds"];
    const double speedup = placed > 0 ? now / placed : 1;
    result["simulated"] = {{"now_seconds", now}, {"placed_seconds", placed}, {"speedup", speedup}};
    tell(fmt::format("predicted  {:.2f} times faster: {} now, {} placed, simulated", speedup, format_seconds(now),
                     format_seconds(placed)));
    constexpr double least_speedup = 1.005;
    if (speedup < least_speedup) {
      result["gain"] = false;
      result["reason"] =
          reason(result, fmt::format("in a simulation the placed program is {:.2f} times as fast", speedup));
    }
    return {};
  }

  /// The launcher's own words, with the program in the place of the example's; nothing when there are several programs.
  std::string command_to_use() const {
    auto emitted = ask(emit_step(), "emit.log");
    if (!emitted || program_.empty() || (*emitted)["commands"].empty()) return {};
    const Json& command = (*emitted)["commands"].front();
    Argv words = command["words"].get<Argv>();
    words.pop_back();
    words.insert(words.end(), program_.begin(), program_.end());
    Argv variables = command["environment"].get<Argv>();
    words.insert(words.begin(), variables.begin(), variables.end());
    return command_text(words);
  }

  /// Who talks to whom, on which machine.
  Result<void> learn(Json& result) {
    if (profile_.empty()) {
      tell(fmt::format("recording  {}", command_text(command_)));
      auto recorded = ask(record_step(), "record.log");
      if (!recorded) return propagate(recorded);
      if ((*recorded)["output"].is_null()) {
        return fail(Code::environment, at("tune"), (*recorded).value("error", "nothing was recorded"),
                    fmt::format("look into {}", file("record.log")));
      }
    }
    if (topology_.empty()) {
      tell(probe_ ? "machine    measuring it" : "machine    looking at its hosts");
      auto found = ask(machine_step(), "machine.log");
      if (!found) return propagate(found);
    }
    auto shown = ask(show_step(), "show.log");
    if (!shown) return propagate(shown);
    auto cores = ask(own({"topo", "show", machine(), "--json"}), "topo.log");
    if (!cores) return propagate(cores);
    result["ranks"] = (*shown)["ranks"];
    result["cores"] = (*cores)["pus"];
    result["nodes"] = (*cores)["nodes"];
    const double point_to_point = (*shown)["point_to_point"]["bytes"], collectives = (*shown)["collectives"]["bytes"];
    result["collectives_share"] = point_to_point + collectives > 0 ? collectives / (point_to_point + collectives) : 0;
    if (shown->contains("time")) result["share_in_mpi"] = (*shown)["time"]["share_in_mpi"];
    return {};
  }

  Result<void> measure(Json& result) {
    std::vector<double> before, after;
    bool verified = true;
    for (std::size_t i = 1; i <= runs_; ++i) {
      auto plain = time_of(command_, fmt::format("before-{}.log", i));
      if (!plain) return propagate(plain);
      const auto begin = std::chrono::steady_clock::now();
      auto placed = ask(run_step(), fmt::format("after-{}.log", i));
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (!placed) return propagate(placed);
      if ((*placed)["status"] != 0) {
        return fail(Code::environment, at("run"),
                    fmt::format("the placed program ended with status {}", (*placed)["status"].get<int>()),
                    fmt::format("what it said is in {}", file(fmt::format("after-{}.log", i))));
      }
      verified = verified && (*placed)["verified"].get<bool>();
      result["confirmed"] = (*placed)["confirmed"];
      before.push_back(*plain);
      after.push_back(seconds);
      tell(fmt::format("run {} of {}  {} now, {} placed", i, runs_, format_seconds(*plain), format_seconds(seconds)));
    }
    const Ratio ratio = ratio_of(summarise(before), summarise(after), runs_);
    result["before_seconds"] = before;
    result["after_seconds"] = after;
    result["speedup"] = ratio.value;
    result["speedup_spread"] = ratio.spread;
    result["verified"] = verified;
    // More than launches differ by themselves; and either twice the spread, or no run of the one as quick as any of the
    // other.
    const double slowest = *std::max_element(after.begin(), after.end());
    const double quickest = *std::min_element(before.begin(), before.end());
    const bool apart = runs_ >= 3 && slowest * 1.02 < quickest;
    const bool gain = apart || ratio.value - 2 * ratio.spread > 1.02;
    result["gain"] = gain;
    const bool slower = runs_ >= 3 && *std::min_element(after.begin(), after.end()) >
                                          1.02 * *std::max_element(before.begin(), before.end());
    result["slower"] = slower;
    if (slower) {
      result["reason"] = why_slower(result);
    } else if (!gain) {
      result["reason"] = reason(result, "what could be saved is within what runs differ by themselves");
    }
    return {};
  }

  static std::string why_slower(const Json& result) {
    if (result["ranks"].get<std::uint64_t>() > result["cores"].get<std::uint64_t>())
      return "there are more ranks than cores, and ranks that are bound cannot go to a core that is idle";
    return "sending may cost otherwise than the topology says; measure it with --probe";
  }

  static std::string reason(const Json& result, std::string why) {
    if (result.contains("share_in_mpi")) {
      const double share = result["share_in_mpi"];
      why += fmt::format("; {} of the time is spent in MPI, and no mapping can save more", percent(100 * share));
    }
    const double collectives = result["collectives_share"];
    if (collectives > 0.5)
      why += fmt::format("; {} of the traffic is collectives, which touch everybody", percent(100 * collectives));
    return why;
  }

  std::string conclusion(const Json& result) const {
    std::string text;
    if (result["speedup"].is_number()) {
      const double speedup = result["speedup"], spread = result["speedup_spread"];
      const auto ranks = result["ranks"].get<std::uint64_t>();
      text += fmt::format("{} of {} ranks where asked\n", result["confirmed"].get<std::uint64_t>(), ranks);
      if (result["gain"].get<bool>()) {
        text += fmt::format("{:.2f} ± {:.2f} times faster than the default order\n", speedup, spread);
        if (result.contains("use") && !result["use"].get<std::string>().empty())
          text += fmt::format("from now on:\n  {}\n", result["use"].get<std::string>());
        text += fmt::format("(or: rankloom run {} -t {} -- {})\n", shell_word(file("mapping.txt")),
                            shell_word(machine()), command_text(command_));
        return text;
      }
      text += fmt::format("{} ({:.2f} ± {:.2f}); keep the default\n",
                          result["slower"].get<bool>() ? "slower, not faster" : "no measurable gain", speedup, spread);
    } else {
      text += "no measurable gain; keep the default\n";
    }
    return text + fmt::format("  why: {}\n", result["reason"].get<std::string>());
  }

  std::string profile_, topology_, output_;
  std::string mapper_ = "auto";
  std::size_t runs_ = 3;
  bool probe_ = false, lab_ = false, dry_run_ = false, quiet_ = false, predict_ = false;
  std::vector<std::string> command_;
  Argv launcher_, program_;
  LauncherKind kind_ = LauncherKind::openmpi4;
};

}  // namespace

std::unique_ptr<Verb> make_tune() {
  return std::make_unique<TuneVerb>();
}

}  // namespace rankloom::app
