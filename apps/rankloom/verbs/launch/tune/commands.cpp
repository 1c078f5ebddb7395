// SPDX-License-Identifier: Apache-2.0
#include "apps/rankloom/verbs/launch/tune/commands.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "apps/rankloom/process/job_mapping.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "rankloom/evaluate/successive_halving.hpp"
#include "rankloom/place/job_shape.hpp"
#include "rankloom/place/launchers.hpp"

namespace rankloom::app {

namespace fs = std::filesystem;

std::string TuneCommands::file(const std::string& name) const {
  return (fs::path(arguments_.output) / name).string();
}

Argv TuneCommands::launcher() const {
  return launcher_argv(launch_);
}

Argv TuneCommands::doctor() const {
  return {"rankloom", "doctor", "--json"};
}

Argv TuneCommands::record() const {
  return with_command({"rankloom", "record", "--json", "-o", file("app.prof")});
}

Argv TuneCommands::discover() const {
  Argv argv{"rankloom", "topo", arguments_.probe ? "probe" : "discover", "--json", "-o", file("machine.json"), "--"};
  const Argv launcher_argv = launcher();
  argv.insert(argv.end(), launcher_argv.begin(), launcher_argv.end());
  return argv;
}

Argv TuneCommands::show() const {
  return {"rankloom", "show", profile(), "--json"};
}

Argv TuneCommands::map(bool oversubscribe, const SlotShapes& slots, bool smt) const {
  return map_with({"--format", "plain", "-o", mapping(smt), "--json"}, oversubscribe, slots);
}

Argv TuneCommands::candidates(bool oversubscribe, const SlotShapes& slots) const {
  const auto shape = job_shape(launch_);
  const bool any_nodes = !shape || shape->ranks_per_node == 0;
  return map_with(
      any_nodes ? Argv{"--judge", "predict", "--json", "--spread", "pack"} : Argv{"--judge", "predict", "--json"},
      oversubscribe, slots);
}

Argv TuneCommands::map_with(const Argv& options, bool oversubscribe, const SlotShapes& slots) const {
  Argv argv{"rankloom", "map", profile(), "-t", machine(), "-a", arguments_.mapper};
  argv.insert(argv.end(), options.begin(), options.end());
  const SlotNumbers numbers = slots.numbers();
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i]) argv.insert(argv.end(), {slot_numbers[i].option, numbers[i]->text()});
  if (const auto shape = job_shape(launch_); shape && shape->ranks_per_node > 0)
    argv.insert(argv.end(), {"--ranks-per-node", fmt::format("{}", shape->ranks_per_node)});
  if (oversubscribe) argv.emplace_back("--oversubscribe");
  return argv;
}

Argv TuneCommands::predict(const std::string& baseline) const {
  return {"rankloom",
          "eval",
          baseline,
          mapping(),
          "--simulate",
          "--profile",
          profile(),
          "-t",
          machine(),
          "--launcher",
          std::string(launch_.launcher->name),
          "--oversubscribe",
          "--json"};
}

std::string TuneCommands::expected_baseline() const {
  if (arguments_.profile.empty()) return "recorded";
  return std::string(launch_.launcher->default_placement_of(launch_.rank_count().value_or(~0U)));
}

Argv TuneCommands::run(const std::string& mapping_file) const {
  return with_command({"rankloom", "run", mapping_file, "-t", machine(), "--json", "-o", launch_directory()});
}

Argv TuneCommands::run_smt(const SlotShapes& slots, const Argv& command) const {
  std::string options = option_text(slots);
  if (!options.starts_with("--cores-per-rank")) options = "--cores-per-rank 1 " + options;
  Argv argv{"rankloom", "run", mapping(true), "-t", machine()};
  std::istringstream words(options);
  for (std::string word; words >> word;) argv.push_back(word);
  argv.emplace_back("--");
  argv.insert(argv.end(), command.begin(), command.end());
  return argv;
}

Argv TuneCommands::emit(bool smt) const {
  return {"rankloom",
          "emit",
          mapping(smt),
          "-t",
          machine(),
          "--to",
          std::string(launch_.launcher->name),
          "-o",
          launch_directory(smt),
          "--json"};
}

Argv TuneCommands::report() const {
  return {"rankloom", "report", arguments_.output, "-o", file("report.html"), "--json"};
}

std::string TuneCommands::text() const {
  std::string lines;
  const auto add = [&](std::string_view comment, const Argv& argv) {
    lines += fmt::format("# {}\n{}\n", comment, command_text(argv));
  };
  add("check that everything needed is installed", doctor());
  if (arguments_.profile.empty()) add("record the communication pattern", record());
  if (arguments_.topology.empty()) add(arguments_.probe ? "measure the machine" : "discover the machine", discover());
  add("compute how much of the time a mapping can save", show());
  // The machine is not known yet: a processing unit is taken for a core.
  const JobShape shape = job_shape(launch_).value_or(JobShape{});
  const auto slot_of = [](const ProgramShape& program) {
    return SlotShape{std::max(1U, program.width), program.threads_per_core, program.gpus, program.ranks_per_gpu};
  };
  SlotShapes slots = slot_of(shape);
  if (!shape.programs.empty()) slots = {};
  for (const auto& [ranks, program] : shape.programs) slots.append(ranks, slot_of(program));
  add("map the ranks to cores", map(false, slots));
  // If the command says nothing, ranks use all hardware threads.
  const bool limited = slots.any([](const SlotShape& slot) { return slot.threads_per_core > 0; });
  const SlotShapes other = with_threads_per_core(slots, limited ? 2 : 1);
  if (arguments_.candidates > 1)
    add(fmt::format("find up to {} different mappings for several goals", arguments_.candidates),
        candidates(false, slots));
  if (arguments_.try_smt)
    add(fmt::format("map them with {} of each core, if the cores of the machine have several",
                    limited ? "all hardware threads" : "one hardware thread"),
        map(false, other, true));
  if (arguments_.predict) add("simulate both placements", predict(expected_baseline()));
  add_measurement(other, lines);
  add("write the launcher's files", emit());
  add("write the report", report());
  return lines;
}

void TuneCommands::add_measurement(const SlotShapes& other, std::string& lines) const {
  struct Variant {
    std::string name;
    Argv command;
  };
  std::vector<Variant> variants{{"the default placement", arguments_.command}, {"the mapping", run()}};
  if (arguments_.try_smt) variants.push_back({"the other hardware threads", run_smt(other, arguments_.command)});
  const auto add = [&](const std::string& comment, const Argv& argv) {
    lines += fmt::format("# {}\n{}\n", comment, command_text(argv));
  };
  if (arguments_.candidates > 1) {
    lines += fmt::format(
        "# run each of the mappings {} times, the faster half of them as often again, and so on; the fastest is {}\n",
        std::min(SuccessiveHalving::Options().first_runs, arguments_.comparison.max_pairs), mapping());
  }
  // The recording warms up the default placement.
  for (std::size_t i = arguments_.profile.empty() ? 1 : 0; i < variants.size(); ++i)
    add("warm up", variants[i].command);
  Argv nothing = launcher();
  nothing.emplace_back("true");
  add("time the launcher alone, three times with each placement", nothing);
  const std::vector<Look> looks = planned_looks(arguments_.comparison);
  for (std::size_t round = 0; round < first_runs(looks); ++round) {
    for (const std::size_t i : run_order(round, variants.size()))
      add("run with " + variants[i].name, variants[i].command);
  }
  if (looks.size() > 1)
    lines += fmt::format("# until the difference is clear: more such runs, at most {} with each placement\n",
                         arguments_.comparison.max_pairs);
}

std::size_t TuneCommands::first_runs(const std::vector<Look>& looks) const {
  return looks.empty() ? arguments_.comparison.max_pairs : looks.front().pairs;
}

Argv TuneCommands::with_command(Argv argv) const {
  argv.emplace_back("--");
  argv.insert(argv.end(), arguments_.command.begin(), arguments_.command.end());
  return argv;
}

}  // namespace rankloom::app
