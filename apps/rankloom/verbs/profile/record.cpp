// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom record`: runs a program as the user would, with the recorder in its ranks, and makes a profile of it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/preload.hpp"
#include "apps/rankloom/process/recording_run.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/capture/record/reading/recording.hpp"
#include "rankloom/core/units.hpp"
#include "rankloom/evaluate/profile_summary.hpp"
#include "rankloom/model/profile_file.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

/// The folder of a trace: a file for each rank, and one that lists them.
namespace trace_folder {

constexpr const char* list = "smpi_simgrid.txt";

fs::path file_of(const fs::path& folder, std::size_t rank) {
  return folder / fmt::format("rank-{}.txt", rank);
}

/// There, and without what another run left in it.
Result<void> prepare(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder, error) || ::access(folder.c_str(), W_OK | X_OK) != 0) {
    return fail(Code::environment, at(folder.string()), "the trace cannot be written there",
                "name a folder that can be made or written, on a disk that all ranks see");
  }
  std::vector<fs::path> old{folder / list};
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("rank-") && name.ends_with(".txt")) old.push_back(entry.path());
  }
  for (const fs::path& file : old) fs::remove(file, error);
  return {};
}

/// Whether the rank came to its end.
bool is_whole(const fs::path& file) {
  constexpr std::string_view last = " finalize\n";
  auto text = read_file(file.string());
  return text && text->view().ends_with(last);
}

/// Names in full: replays look for them from where they are started.
Result<void> write_list(const fs::path& folder, std::size_t ranks) {
  std::string names;
  std::error_code error;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const fs::path file = file_of(folder, rank);
    if (!fs::exists(file, error)) {
      return fail(Code::environment, at(folder.string()), fmt::format("the trace has nothing of rank {}", rank),
                  "all ranks must see the folder under the same name; a trace needs every rank");
    }
    if (!is_whole(file)) {
      return fail(Code::environment, at(file.string()), fmt::format("the trace of rank {} is cut short", rank),
                  "a rank that was killed, or a full disk, leaves nothing that could be replayed; record again");
    }
    names += file.string() + "\n";
  }
  return write_file((folder / list).string(), names);
}

}  // namespace trace_folder

void say(const std::string& text) {
  fmt::print(stderr, "rankloom: {}\n", text);
}

class RecordVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(app, {"-o,--output", "FILE", "the profile to write", "output", "PROGRAM.prof"}, output_);
    add_value(app, {"--window", "TIME", "keep the traffic of each such piece of time apart, as a phase", "recording"},
              [this](std::string_view text) -> Result<void> {
                const auto time = parse_nanoseconds(text, 1e9);
                if (!time || *time < 1000) return bad_value("--window", text, "a time such as 1s or 250ms");
                window_ns_ = *time;
                return {};
              });
    add_text(app,
             {"--trace", "FOLDER",
              "write what each rank does in its order as well, with the time between calls, for SimGrid to replay",
              "recording"},
             trace_);
    add_value(
        app,
        {"--mpi", "openmpi|mpich", "the MPI of the program, where it cannot be seen from the program", "recording"},
        [this](std::string_view text) -> Result<void> {
          mpi_ = find_mpi(text);
          if (mpi_ == nullptr) return bad_value("--mpi", text, "openmpi or mpich");
          return {};
        });
    add_repeated(app, {"COMMAND", "COMMAND", "how you start the program, behind --", "input", "", true}, command_);
  }

  Result<int> run(const Session& session) override {
    auto started = look_at(command_, "the recorder");
    mpi_ = mpi_of(started, mpi_);
    if (output_.empty()) output_ = fs::path(started.program).filename().string() + ".prof";
    if (auto possible = check_output(output_); !possible) return propagate(possible);
    auto recorder = find_library(trace_.empty() ? "record" : "trace", *mpi_, "the recorder");
    if (!recorder) return propagate(recorder);
    if (!trace_.empty()) {
      trace_ = fs::absolute(trace_).lexically_normal().string();
      if (auto possible = trace_folder::prepare(trace_); !possible) return propagate(possible);
    }
    const WorkFolder folder(output_);
    if (!folder.good()) {
      return fail(Code::environment, at(output_), "no folder can be made beside it", "choose another place with -o");
    }
    const RankEnvironment environment = for_ranks(started, *recorder, folder.path());
    auto status = run_with(started, environment, session.json);
    if (!status) return propagate(status);
    // The program has had its run: whatever happens to the profile, the status is the program's.
    auto profile = collect_recording(folder.path(), started.program, *mpi_);
    if (profile) {
      if (auto written = write_file(output_, [&](Sink& sink) { return write_profile(*profile, sink); }); !written)
        profile = propagate(written);
    }
    if (!profile) {
      show_error(profile.error(), false);
      if (session.json) print_json(Json{{"status", *status}, {"output", nullptr}, {"error", profile.error().what}});
      return *status;
    }
    bool traced = false;
    if (!trace_.empty()) {
      auto listed = trace_folder::write_list(trace_, profile->rank_count());
      if (!listed) show_error(listed.error(), false);
      traced = listed.has_value();
    }
    tell(session, *profile, *status, traced);
    return *status;
  }

 private:
  RankEnvironment for_ranks(const StartedCommand& started, const std::string& recorder, const fs::path& folder) const {
    RankEnvironment environment{preload(recorder),
                                {"RANKLOOM_RECORD_OUT", (folder / "recording").string()},
                                {"RANKLOOM_THREADS_OUT", (folder / "threads.%p.prof").string()}};
    // A rank that cannot hear the recorder would keep the others waiting in the end.
    if (!all_use(started, *mpi_)) environment.emplace_back("RANKLOOM_RECORD_GATHER", "0");
    if (window_ns_ > 0) environment.emplace_back("RANKLOOM_RECORD_WINDOW_NS", fmt::format("{:.0f}", window_ns_));
    if (!trace_.empty()) environment.emplace_back("RANKLOOM_RECORD_TRACE", trace_);
    return environment;
  }

  void tell(const Session& session, const Profile& profile, int status, bool traced) const {
    const auto origin = [&](const char* key) {
      const auto found = profile.origin.find(key);
      return found != profile.origin.end() ? found->second : std::string();
    };
    if (session.json) {
      Json said{{"status", status},
                {"output", output_},
                {"ranks", profile.rank_count()},
                {"missing_ranks", origin("missing ranks")},
                {"unfinished_ranks", origin("ranks that did not finish")},
                {"bytes", profile.point_to_point.total_bytes()},
                {"messages", profile.point_to_point.total_messages()},
                {"collectives", profile.collectives.size()},
                {"phases", profile.phases.size()}};
      if (!trace_.empty()) said["trace"] = traced ? Json(trace_) : Json(nullptr);
      print_json(said);
      return;
    }
    say(fmt::format("{}: {}, {} point to point in {} messages; look at it with: rankloom show {}", output_,
                    counted(profile.rank_count(), "rank"), format_bytes(profile.point_to_point.total_bytes()),
                    format_count(profile.point_to_point.total_messages()), shell_word(output_)));
    if (traced) say(fmt::format("{}: the trace; smpirun -replay reads {}", trace_, trace_folder::list));
    if (const std::string missing = origin("missing ranks"); !missing.empty())
      say(fmt::format("{} missing: never called this MPI, or left it on another machine", some_ranks(missing)));
    if (const std::string unfinished = origin("ranks that did not finish"); !unfinished.empty())
      say(fmt::format("{} ended without MPI_Finalize; what was counted until then is there", some_ranks(unfinished)));
  }

  /// "rank 2", "ranks 0-2, 5"
  static std::string some_ranks(const std::string& list) {
    return fmt::format("{} {}", list.find_first_of(",-") == list.npos ? "rank" : "ranks", list);
  }

  std::string output_;
  std::string trace_;  ///< The folder of the trace; empty: there is none.
  double window_ns_ = 0;
  const Mpi* mpi_ = nullptr;
  Argv command_;
};

}  // namespace

std::unique_ptr<Verb> make_record() {
  return std::make_unique<RecordVerb>();
}

}  // namespace rankloom::app
