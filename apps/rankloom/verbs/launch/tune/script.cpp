// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch/tune: `rankloom tune --script`.
#include "apps/rankloom/verbs/launch/tune/script.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/verbs/launch/job_script.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/evaluate/successive_halving.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

/// How often the program runs, and how long all runs take if one takes as long as the script requests.
struct Estimate {
  std::size_t min_runs = 0, max_runs = 0;
  std::optional<double> seconds = {};
  std::optional<double> node_hours = {};
};

Estimate estimate(const TuneArguments& tune, const JobScript& script) {
  // Each placement runs once before its times count: in the recording or in the warm-up.
  const std::size_t placements = tune.try_smt ? 3 : 2;
  const std::size_t max_pairs = tune.max_runs.value_or(std::max(tune.comparison.max_pairs, tune.comparison.min_pairs));
  const std::size_t runs_of_candidates = SuccessiveHalving::planned_runs(tune.candidates, {.max_runs = max_pairs});
  const auto runs = [&](std::size_t rounds) { return placements * (rounds + 1) + runs_of_candidates; };
  Estimate result{runs(std::min(tune.comparison.min_pairs, max_pairs)), runs(max_pairs)};
  if (!script.seconds()) return result;
  const auto time = [&](std::size_t count) { return static_cast<double>(count) * *script.seconds(); };
  result.seconds = std::max(time(result.min_runs), std::min(tune.max_seconds, time(result.max_runs)));
  result.node_hours = *result.seconds / 3600 * script.nodes().value_or(1);
  return result;
}

/// The beginning of the line: rankloom tune with the user's options, up to --.
std::string command_prefix(const TuneArguments& tune, const std::string& name, bool slurm) {
  Argv argv{program_path(), "tune"};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) argv.insert(argv.end(), {option, value});
  };
  add("--profile", tune.profile);
  add("--topology", tune.topology);
  if (tune.mapper != TuneArguments().mapper) add("--mapper", tune.mapper);
  if (tune.candidates > 1) add("--candidates", fmt::format("{}", tune.candidates));
  add("--metric", tune.metric);
  if (tune.higher_is_better) argv.emplace_back("--higher-is-better");
  if (tune.comparison.min_pairs != ComparisonOptions().min_pairs)
    add("--runs", fmt::format("{}", tune.comparison.min_pairs));
  if (tune.max_runs) add("--max-runs", fmt::format("{}", *tune.max_runs));
  if (tune.max_seconds != TuneArguments().max_seconds) add("--max-time", fmt::format("{}s", tune.max_seconds));
  if (tune.probe) argv.emplace_back("--probe");
  if (tune.predict) argv.emplace_back("--predict");
  if (tune.try_smt) argv.emplace_back("--try-smt");
  if (tune.force) argv.emplace_back("--force");
  add("--output", tune.output);
  std::string text = command_text(argv);
  // Every job has its own directory.
  if (tune.output.empty())
    text += fmt::format(" --output {}{}", shell_quote(name), slurm ? "-\"$SLURM_JOB_ID\"" : "-results");
  return text + " -- ";
}

std::string describe(const Estimate& estimate, const JobScript& script) {
  std::string text = fmt::format("  {} to {} runs", estimate.min_runs, estimate.max_runs);
  if (!estimate.seconds) return text + "; the script does not say how long one takes\n";
  text += fmt::format(" within {}, the new limit of the job; one run takes at most {}, as requested\n",
                      format_slurm_time(*estimate.seconds), format_slurm_time(*script.seconds()));
  return text +
         fmt::format("  at most {:.1f} node-hours{}\n", *estimate.node_hours, script.nodes() ? "" : " on each node");
}

}  // namespace

Result<int> write_tune_script(const TuneScriptArguments& arguments, const TuneArguments& tune, const Session& session) {
  auto file = read_file(arguments.script);
  if (!file) return propagate(file);
  const JobScript script = JobScript::parse(*file);
  auto launch = script.choose(arguments.line);
  if (!launch) return propagate(launch);
  if (arguments.submit && script.submitter() != "sbatch") {
    return fail(Code::usage, at("--submit"), "only scripts with #SBATCH lines can be submitted",
                "write the script without --submit, and start it as you start your own");
  }
  const fs::path given(arguments.script);
  const std::string name = given.stem().string() + ".tune", output = name + given.extension().string();
  if (auto own = check_default_output(output, is_tune_script); !own && !tune.force) {
    own.error().hint = "move the file away, or replace it with --force";
    return propagate(own);
  }
  const Estimate cost = estimate(tune, script);
  const std::string prefix = command_prefix(tune, name, script.submitter() == "sbatch");
  if (auto written = write_file(output, script.with_prefix(*launch, prefix, cost.seconds)); !written)
    return propagate(written);
  const Argv submit{script.submitter().empty() ? "bash" : script.submitter(), output};
  if (session.json) {
    Json json{{"script", output},          {"line", launch->line},      {"command", launch->text},
              {"min_runs", cost.min_runs}, {"max_runs", cost.max_runs}, {"submitted", arguments.submit}};
    if (cost.seconds) json["max_seconds"] = *cost.seconds;
    if (cost.node_hours) json["max_node_hours"] = *cost.node_hours;
    print_json(json);
  } else {
    print(fmt::format("{}: line {} with {} placements in turn: {}\n{}", output, launch->line,
                      tune.try_smt ? "three" : "both", launch->text, describe(cost, script)));
    if (!arguments.submit)
      print(fmt::format("{} it with: {}{}{}\n", script.submitter().empty() ? "run" : "submit", submit[0],
                        script.submitter() == "bsub" ? " < " : " ", shell_quote(output)));
  }
  if (!arguments.submit) return success;
  return run_program(submit, {}, ProgramStreams::ours(session.json));
}

}  // namespace rankloom::app
