// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/targets: launchers' files and command lines, steps of Slurm, requests of the reorder library.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "rankloom/discover/discover.hpp"
#include "rankloom/model/files/profile_file.hpp"
#include "rankloom/place/launch_plan.hpp"
#include "rankloom/place/launchers.hpp"
#include "rankloom/place/reorder/request_handler.hpp"
#include "rankloom/place/slurm/slurm_step.hpp"
#include "rankloom/place/verify.hpp"
#include "tests/fuzz/memory_file.hpp"

namespace rankloom::fuzz {

namespace {

const Topology& machine() {
  static const auto topology = load_topology("node:4 core:4");
  return *topology;
}

const std::vector<std::string>& host_names() {
  static const std::vector<std::string> names{"n1", "n2", "n3.cluster", "localhost"};
  return names;
}

/// These ranks, block by block; several per core if there are more than cores.
Deployment deployment_of(std::uint32_t ranks) {
  std::vector<Core> core_of;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) core_of.push_back(Core{rank % machine().core_count()});
  auto deployment = deploy(core_of, machine(), host_names());
  expect(deployment.has_value(), "the ranks have a core");
  return *std::move(deployment);
}

constexpr auto version_texts = std::to_array<std::string_view>(
    {"", "mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to http://www.open-mpi.org/",
     "mpirun (Open MPI) 5.0.3\n\nReport bugs to https://www.open-mpi.org/",
     "HYDRA build details:\n    Version:                                 4.0.2\n",
     "Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230307\n", "slurm 22.05.8\n"});

/// The words of all launchers, so that random bytes become commands that users could type.
const std::vector<std::string>& vocabulary() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> list{
        "./app",     "a.out",  ":",        "-",           "--",     "-n",   "1",      "2",
        "4",         "0",      "-1",       "99999999999", "env",    "A=b",  "-u",     "nice",
        "timeout",   "10",     "time",     "nohup",       "stdbuf", "-o0",  "hosts",  "n1",
        "n1,n2",     "n[1-4]", "file.txt", "-x",          "core",   "none", "rank=0", "/usr/bin/mpirun",
        "--version", "-np",    "="};
    const auto add_names = [&](std::string_view names, char separator, std::string_view prefix) {
      while (!names.empty()) {
        const std::string_view name = names.substr(0, names.find(separator));
        names.remove_prefix(std::min(names.size(), name.size() + 1));
        std::string word = fmt::format("{}{}", prefix, name);
        std::erase(word, '*');
        list.push_back(word);
      }
    };
    for (const Launcher* const row : launchers()) {
      if (row->command_line == nullptr) continue;
      add_names(row->command_line->programs, ' ', "");
      for (const OptionSpec& option : row->command_line->options) {
        add_names(option.names, '|', "-");
        add_names(option.names, '|', "--");
        list.push_back(fmt::format("--{}=4", option.name()));
      }
    }
    return list;
  }();
  return words;
}

/// Arguments are separated by line ends. A byte of 128 or more and the byte after it are a word of the vocabulary.
Argv decode_arguments(std::string_view bytes) {
  Argv arguments;
  bool open = false;  // the last argument may grow
  const auto add = [&](std::string_view text) {
    if (!open) arguments.emplace_back();
    open = true;
    arguments.back() += text;
  };
  for (std::size_t at = 0; at < bytes.size() && arguments.size() < 200; ++at) {
    const auto byte = static_cast<unsigned char>(bytes[at]);
    if (byte >= 128 && at + 1 < bytes.size()) {
      const std::size_t word = (byte - 128U) * 256U + static_cast<unsigned char>(bytes[++at]);
      add(vocabulary()[word % vocabulary().size()]);
      open = false;
    } else if (byte == '\n') {
      if (!open) arguments.emplace_back();
      open = false;
    } else {
      add(bytes.substr(at, 1));
    }
  }
  return arguments;
}

/// What `record`, `reorder` and `online` do with a command.
void use_environment(const LaunchCommand& command) {
  const Environment environment{{"LD_PRELOAD", "/a b/librankloom.so"}, {"RANKLOOM_X", "1,2"}};
  const auto recorded = rewrite(command, {.environment = environment});
  if (has_value(recorded)) (void)shell_text({}, recorded->argv());
  const auto watched = rewrite(command, {.environment = environment, .wrapper = {"rankloom-agent", "-"}});
  if (has_value(watched)) (void)watched->rank_count();
}

/// What `run` and `tune` do with a command.
void use_mapping(const LaunchCommand& command) {
  constexpr std::uint32_t max_ranks = 64;
  const std::uint32_t ranks = std::clamp(command.rank_count().value_or(4), 1U, max_ranks);
  const Deployment deployment = deployment_of(ranks);
  for (const auto bind : {EmitOptions::Bind::core, EmitOptions::Bind::none}) {
    const LaunchContext context{.directory = "/tmp/files",
                                .wrapper = "/usr/bin/rankloom-bind",
                                .bind = bind,
                                .in_slurm_job = bind == EmitOptions::Bind::none};
    const auto plan = plan_launch(command, deployment, context);
    if (!has_value(plan)) continue;
    expect(!plan->text().empty(), "a plan has a command");
    expect(!plan->command.argv().empty(), "a plan has a command");
  }
}

void read_command(std::string_view bytes) {
  const auto choice = bytes.empty() ? 0U : static_cast<unsigned char>(bytes[0]);
  const Argv argv = decode_arguments(bytes.substr(std::min<std::size_t>(bytes.size(), 1)));
  if (argv.empty()) return;
  (void)launcher_position(argv);
  for (const std::string& argument : argv) {
    (void)is_launcher_name(argument);
    (void)needs_version_text(argument);
  }
  const std::string_view version = version_texts[choice % version_texts.size()];
  const std::string program = choice >= 128 ? "./app" : "";
  const auto command = parse_launch_command(argv, version, program);
  if (!has_value(command)) return;
  expect(command->argv() == argv, "a parsed command is the command");
  const auto unchanged = rewrite(*command, {});
  expect(unchanged && unchanged->argv() == argv, "without changes the command stays the same");
  use_environment(*command);
  use_mapping(*command);
  (void)has_placement_options(*command);
  has_value(parse_step(*command, {.nodes = "n[1-4]", .cpus_per_node = "4(x4)", .tasks = "16"}));
}

/// Six lines: the request and the variables of the job; then a line with the command; then the mapping.
void read_step(std::string_view bytes) {
  const std::string_view request_text = take_line(bytes);
  SlurmVariables variables;
  variables.nodes = take_line(bytes);
  variables.cpus_per_node = take_line(bytes);
  variables.tasks_per_node = take_line(bytes);
  variables.tasks = take_line(bytes);
  variables.cpus_per_task = take_line(bytes);
  Argv argv{"srun"};
  std::string_view line = take_line(bytes);
  while (!line.empty()) {
    argv.emplace_back(line.substr(0, line.find(' ')));
    line.remove_prefix(std::min(line.size(), argv.back().size() + 1));
  }
  (void)is_strict(request_text);
  auto request = parse_step_request(request_text);
  const auto command = parse_launch_command(argv, {});
  if (!has_value(command)) return;
  const auto step = parse_step(*command, variables);
  if (!has_value(request) || !has_value(step) || is_profile_file(bytes)) return;
  const MemoryFile mapping(bytes);
  request->map = false;
  request->file = mapping.path();
  for (const char* const topology : {"", "node:4 core:4"}) {
    request->topology = topology;
    const auto placement = place_step(*request, *step, {.config = {}, .topology = "node:4 core:4", .nodes = "n[1-4]"});
    if (has_value(placement)) expect(!write_placement(*placement).empty(), "a placement has a text");
  }
}

void read_binding_reports(std::string_view bytes) {
  static const Deployment deployment = deployment_of(8);
  const auto reports = read_reports(file_of(bytes));
  if (!has_value(reports)) return;
  const Verification result = verify(deployment, EmitOptions::Bind::core, *reports, "n2");
  expect(result.confirmed + result.differences.size() == result.ranks, "every rank is confirmed or different");
}

void read_launcher_file(const Launcher& launcher, std::string_view bytes) {
  const FileContents file = file_of(bytes);
  const auto read = launcher.read(file, machine(), host_names());
  if (!has_value(read) || read->core_of.size() > 1000) return;
  const auto deployment = deploy(read->core_of, machine(), host_names(), read->shapes);
  if (!has_value(deployment) || deployment->rank_count() == 0) return;
  const auto written = launcher.write(*deployment, {});
  if (has_value(written)) expect(!written->files.empty(), "a launcher has a file");
}

void answer_reorder_request(std::string_view bytes) {
  expect(!reorder::handle_request(bytes, "").empty(), "every request has a reply");
}

}  // namespace

std::vector<FuzzTarget> fuzz_targets() {
  std::vector<FuzzTarget> targets{{"launch-command", read_command},
                                  {"slurm-step", read_step},
                                  {"binding-report", read_binding_reports},
                                  {"reorder-request", answer_reorder_request, 500}};
  for (const Launcher* const launcher : launchers()) {
    if (launcher->read == nullptr) continue;
    targets.push_back({fmt::format("launcher-{}", launcher->name),
                       [launcher](std::string_view bytes) { read_launcher_file(*launcher, bytes); }});
  }
  return targets;
}

}  // namespace rankloom::fuzz
