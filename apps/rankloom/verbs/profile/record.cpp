// SPDX-License-Identifier: Apache-2.0
// apps/verbs/profile: `rankloom record`: runs a program as the user would, with the recorder in its ranks, and writes
// its profile.
#include <string>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/recording_run.hpp"
#include "apps/rankloom/process/trace_directory.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/core/text/units.hpp"

namespace rankloom::app {

namespace {

class RecordVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(
        app,
        {"-o,--output", "FILE",
         "the profile to write; if the command starts several MPI programs, the others get a number before the suffix",
         "output", "PROGRAM.prof"},
        arguments_.output);
    add_value(app,
              {"--window", "TIME", "divide the run into phases of this length and record the traffic of each phase",
               "recording"},
              [this](std::string_view text) -> Result<void> {
                const auto time = parse_nanoseconds(text, 1e9);
                if (!time || *time < 1000) return bad_value("--window", text, "a time such as 1s or 250ms");
                arguments_.window_ns = *time;
                return {};
              });
    add_text(app,
             {"--trace", "DIRECTORY",
              "also write the MPI calls of each rank in order, with the time between them, for replay by SimGrid",
              "recording"},
             arguments_.trace);
    add_force(app, force_, "replace a trace in the directory of --trace that rankloom did not write");
    add_value(app,
              {"--mpi", "openmpi|mpich|abi", "the MPI of the program, if it cannot be detected from the executable",
               "recording"},
              [this](std::string_view text) -> Result<void> {
                arguments_.mpi = find_mpi(text);
                if (arguments_.mpi == nullptr) return bad_value("--mpi", text, "openmpi, mpich or abi");
                return {};
              });
    add_repeated(app, {"COMMAND", "COMMAND", "after --: how you start the program", "input", "", true},
                 arguments_.command);
  }

  Result<int> run(const Session& session) override {
    arguments_.streams = ProgramStreams::ours(session.json);
    arguments_.existing = existing(force_);
    auto recorded = record_program(arguments_);
    if (!recorded) return propagate(recorded);
    if (recorded->error) {
      show_error(*recorded->error, false);
      if (session.json) {
        Json json{{"status", recorded->status}, {"output", nullptr}, {"error", recorded->error->what}};
        if (!recorded->kept.empty()) json["kept"] = recorded->kept;
        print_json(json);
      }
      return recorded->status;
    }
    if (recorded->trace_error) show_error(*recorded->trace_error, false);
    if (session.json) {
      print_json(to_json(*recorded));
    } else {
      print_summary(*recorded);
    }
    return recorded->status;
  }

 private:
  static std::string origin(const Profile& profile, const char* key) {
    const auto found = profile.origin.find(key);
    return found != profile.origin.end() ? found->second : std::string();
  }

  static Json to_json(const RecordedProfile& recorded) {
    const Profile& profile = recorded.profile;
    return {{"output", recorded.output},
            {"program", origin(profile, "program")},
            {"ranks", profile.rank_count()},
            {"missing_ranks", origin(profile, "missing ranks")},
            {"unfinished_ranks", origin(profile, "ranks that did not finish")},
            {"bytes", profile.point_to_point.total_bytes()},
            {"messages", profile.point_to_point.total_messages()},
            {"collectives", profile.collectives.size()},
            {"phases", profile.phases.size()},
            {"stored", recorded.stored.empty() ? Json() : Json(recorded.stored)}};
  }

  /// The values of the first profile, and a list of all.
  static Json to_json(const RecordResult& recorded) {
    Json json{{"status", recorded.status}};
    json.update(to_json(recorded.profiles.front()));
    json["profiles"] = Json::array();
    for (const RecordedProfile& profile : recorded.profiles) json["profiles"].push_back(to_json(profile));
    if (!recorded.trace.empty()) json["trace"] = recorded.trace_error ? Json(nullptr) : Json(recorded.trace);
    return json;
  }

  static void print_summary(const RecordResult& recorded) {
    if (recorded.profiles.size() > 1)
      print_note(fmt::format("the command started {}; each has its own profile",
                             counted(recorded.profiles.size(), "MPI program")));
    for (const RecordedProfile& profile : recorded.profiles) print_summary(profile);
    if (!recorded.trace.empty() && !recorded.trace_error)
      print_note(fmt::format("{}: the trace; smpirun -replay reads {}", recorded.trace, trace_list));
  }

  static void print_summary(const RecordedProfile& recorded) {
    const Profile& profile = recorded.profile;
    print_note(fmt::format("{}: {}, {} point to point in {} messages; print it with: rankloom show {}", recorded.output,
                           counted(profile.rank_count(), "rank"), format_bytes(profile.point_to_point.total_bytes()),
                           format_count(profile.point_to_point.total_messages()), shell_quote(recorded.output)));
    if (const std::string missing = origin(profile, "missing ranks"); !missing.empty())
      print_note(fmt::format(
          "{} missing: no call of this MPI, an early kill by the launcher, or a recording on another machine",
          rank_list(missing)));
    if (const std::string unfinished = origin(profile, "ranks that did not finish"); !unfinished.empty())
      print_note(
          fmt::format("{} ended without MPI_Finalize; the profile contains everything before", rank_list(unfinished)));
  }

  /// "rank 2", "ranks 0-2, 5"
  static std::string rank_list(const std::string& list) {
    return fmt::format("{} {}", list.find_first_of(",-") == std::string::npos ? "rank" : "ranks", list);
  }

  RecordArguments arguments_;
  bool force_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_record() {
  return std::make_unique<RecordVerb>();
}

}  // namespace rankloom::app
