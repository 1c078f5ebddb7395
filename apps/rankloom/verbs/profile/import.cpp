// SPDX-License-Identifier: Apache-2.0
// apps/verbs/profile: `rankloom import`: converts a file of any supported format into a profile or another format, and
// the accounting of Slurm into a workload.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "apps/rankloom/verbs/profile/profile_output.hpp"
#include "rankloom/allocate/workload/workload.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/report/terminal/progress_display.hpp"

namespace rankloom::app {

namespace {

class ImportVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(
        app,
        {"FILE", "PROFILE",
         "a file in any format of `rankloom list formats`, the directory or prefix of a trace or of a recording, - for "
         "standard input, or gen:PATTERN; or the output of `sacct --parsable2`, which becomes a workload in the "
         "Standard Workload Format",
         "input", "", true},
        input_.profile);
    input_.describe_format(app);
    output_.describe(app);
  }

  Result<int> run(const Session& session) override {
    if (is_accounting(input_.profile)) return import_workload(session);
    if (auto possible = output_.check(session); !possible) return propagate(possible);
    ProgressDisplay progress(stderr, session.progress);
    progress.report("reading the profile", -1);
    auto imported = input_.load();
    if (!imported) return propagate(imported);
    progress.finish();
    return output_.write(session, imported->profile, imported->format);
  }

 private:
  /// Only the first line is read, because a profile can be large.
  static bool is_accounting(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return false;
    std::ifstream file(path);
    std::string line;
    line.resize(1024);
    file.read(line.data(), static_cast<std::streamsize>(line.size()));
    line.resize(static_cast<std::size_t>(file.gcount()));
    return is_sacct(line);
  }

  Result<int> import_workload(const Session& session) const {
    if (!output_.to.empty())
      return fail(Code::usage, at("--to"), "Slurm's accounting becomes a workload, not a profile", "remove --to");
    if (auto writable = check_output(output_.output); !writable) return propagate(writable);
    const bool to_stdout = output_.output.empty() || output_.output == "-";
    if (session.json && to_stdout)
      return fail(Code::usage, at("--json"), "the workload and the JSON object cannot both go to standard output",
                  "add -o FILE");
    auto workload = load_workload(input_.profile);
    if (!workload) return propagate(workload);
    if (auto written = write_file(or_standard_output(output_.output), write_swf(*workload)); !written)
      return propagate(written);
    if (to_stdout) return success;
    if (session.json) {
      print_json(Json{{"output", output_.output},
                      {"jobs", workload->jobs.size()},
                      {"jobs_without_work", workload->without_work},
                      {"malformed_lines", workload->malformed}});
    } else {
      print(fmt::format("{}: {}; {} never ran\n", output_.output, counted(workload->jobs.size(), "job"),
                        workload->without_work));
    }
    return success;
  }

  ProfileArguments input_;
  ProfileOutput output_;
};

}  // namespace

std::unique_ptr<Verb> make_import() {
  return std::make_unique<ImportVerb>();
}

}  // namespace rankloom::app
