// SPDX-License-Identifier: Apache-2.0
// place/launchers: MPICH and Intel MPI, whose launcher is hydra. Hydra applies -bind-to to every host alike and starts
// again at each repeated host, so rankloom-bind binds the ranks (observed with MPICH 4.0.2, 4.2.1 and 5.0.2). Only
// Intel MPI accepts -configfile with -host: MPICH silently places every rank on the first host.
#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "rankloom/core/text/scanner.hpp"
#include "rankloom/place/launchers/launcher_files.hpp"
#include "rankloom/place/launchers/table.hpp"

namespace rankloom {

namespace {

/// Intel MPI splits a line of its configuration file at blanks and does not document quoting. `wrapped`: rankloom-bind
/// binds the ranks.
Result<std::string> program_text(const EmitOptions& options, bool wrapped) {
  std::string text = wrapped ? " -env I_MPI_PIN off" : "";
  for (const std::string& argument : wrapped ? wrapped_program(options) : options.program) {
    if (argument.empty() || argument.find_first_of(" \t\n\"'\\#") != std::string::npos) {
      return fail(Code::bad_input, at("program"),
                  fmt::format("\"{}\" cannot be written in a configuration file of Intel MPI", argument),
                  "put the program and its arguments into a script, and name the script");
    }
    text += " " + argument;
  }
  return text;
}

/// Getmanskiy 2015, Figures 7 and 9: the ranks in order, one line per run of ranks on one host.
std::string lines_of_hosts(const Deployment& deployment, const std::string& program) {
  std::string text;
  for (const HostRun& run : host_runs(deployment))
    fmt::format_to(std::back_inserter(text), "-n {} -host {}{}\n", run.ranks, run.host, program);
  return text;
}

/// One line per rank, with its processing unit.
std::string lines_of_ranks(const Deployment& deployment, const std::string& program) {
  std::string text;
  for (const Rank rank : deployment.ranks()) {
    fmt::format_to(std::back_inserter(text), "-n 1 -host {} -env I_MPI_PIN_PROCESSOR_LIST {}{}\n",
                   deployment.host(rank), deployment.cpus(rank)[0], program);
  }
  return text;
}

/// Whether a list of processors can pin every rank: it pins a rank to one of them.
bool has_single_units(const Deployment& deployment) {
  const auto ranks = deployment.ranks();
  return std::all_of(ranks.begin(), ranks.end(), [&](Rank rank) { return deployment.cpus(rank).size() == 1; });
}

/// Getmanskiy 2015, Figures 6 and 8: the hosts in order, each with as many ranks as it has cores.
std::string lines_with_statistics(const Deployment& deployment, const std::string& statistics,
                                  const std::string& program) {
  std::string text;
  const Topology& topology = deployment.topology;
  std::uint32_t left = deployment.rank_count();
  for (const Node node : topology.nodes()) {
    std::uint32_t capacity = 0;
    const auto end = index(topology.first_core(topology.node_level(), index(node) + 1));
    for (auto core = index(topology.first_core(topology.node_level(), index(node))); core < end; ++core)
      capacity += topology.capacity(Core{core});
    const std::uint32_t ranks = std::min(capacity, left);
    if (ranks == 0) continue;
    left -= ranks;
    fmt::format_to(std::back_inserter(text), "-env I_MPI_STATS 4 -env I_MPI_STATS_FILE {} -n {} -host {}{}\n",
                   statistics, ranks, deployment.hosts[node], program);
  }
  return text;
}

struct ConfigLine {
  std::uint32_t ranks = 1;
  NamedBinding binding;
};

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<ConfigLine> parse_config_line(std::string_view text) {
  ConfigLine line;
  Scanner in(text);
  const auto next = [&] {
    in.skip_blanks();
    return in.take_token();
  };
  for (std::string_view option = next(); option.starts_with('-'); option = next()) {
    if (option == "-n" || option == "-np") {
      const auto ranks = number(next());
      if (!ranks || *ranks == 0) return std::nullopt;
      line.ranks = *ranks;
    } else if (option == "-host") {
      line.binding.host = std::string(next());
    } else if (option == "-env") {
      const std::string_view name = next();
      const std::string_view value = next();
      if (name == "I_MPI_PIN_PROCESSOR_LIST") {
        const auto cpu = number(value);
        if (!cpu) return std::nullopt;
        line.binding.cpus = {*cpu};
      }
    } else {
      return std::nullopt;
    }
  }
  return line.binding.host.empty() ? std::nullopt : std::optional(line);
}

bool is_hydra_of_mpich(std::string_view version_text) {
  return contains(version_text, "HYDRA") && !contains(version_text, "Intel(R) MPI");
}

bool recognises_mpich(std::string_view version_text) {
  return is_hydra_of_mpich(version_text) && major_version(version_text) < 5;
}

bool recognises_mpich_5(std::string_view version_text) {
  return is_hydra_of_mpich(version_text) && major_version(version_text) >= 5;
}

bool recognises_intel(std::string_view version_text) {
  return contains(version_text, "Intel(R) MPI");
}

Result<LaunchPlacement> place_mpich(const Deployment& deployment, const EmitOptions& options) {
  return LaunchPlacement{.files = {host_of_each_rank(deployment)},
                         .options = {"-f", options.path("hosts"), "-bind-to", "none"},
                         .needs_wrapper = true};
}

/// The hosts with ranks, each once, and for every rank the number of its host in this list.
struct RankMap {
  std::string hosts;
  std::string numbers;
};

RankMap rank_map(const Deployment& deployment) {
  RankMap map;
  const auto ranks_of = deployment.ranks_of_nodes();
  IdVector<Node, std::uint32_t> number_of(ranks_of.size());
  std::uint32_t hosts = 0;
  for (const Node node : deployment.topology.nodes()) {
    if (ranks_of[node].empty()) continue;
    number_of[node] = hosts++;
    fmt::format_to(std::back_inserter(map.hosts), "{}:{}\n", deployment.hosts[node], ranks_of[node].size());
  }
  for (const Rank rank : deployment.ranks()) {
    fmt::format_to(std::back_inserter(map.numbers), "{}{}", map.numbers.empty() ? "" : ",",
                   number_of[deployment.bindings[rank].node]);
  }
  return map;
}

/// From version 5 on, hydra follows -rankmap, so it needs one proxy per host and not one per run of ranks on a host.
/// Version 4.2 accepts this option and silently ignores it.
Result<LaunchPlacement> place_mpich_5(const Deployment& deployment, const EmitOptions& options) {
  RankMap map = rank_map(deployment);
  constexpr std::size_t max_argument = 100'000;  // Linux limits one argument to 128 KiB
  if (map.numbers.size() > max_argument) return place_mpich(deployment, options);
  return LaunchPlacement{
      .files = {{"hosts", std::move(map.hosts)}},
      .options = {"-f", options.path("hosts"), "-rankmap", std::move(map.numbers), "-bind-to", "none"},
      .needs_wrapper = true};
}

Result<LaunchPlacement> place_intel(const Deployment& deployment, const EmitOptions& options) {
  LaunchPlacement placement{.files = {host_of_each_rank(deployment)},
                            .options = {"-machinefile", options.path("hosts")},
                            .needs_wrapper = true};
  placement.rank_environment.emplace_back("I_MPI_PIN", "off");  // unbound ranks are not pinned either
  return placement;
}

template <Result<LaunchPlacement> (*place)(const Deployment&, const EmitOptions&)>
Result<EmittedLaunch> write_mpich(const Deployment& deployment, const EmitOptions& options) {
  auto placement = place(deployment, options);
  if (!placement) return propagate(placement);
  return files_of_placement("mpiexec", deployment, options, std::move(*placement));
}

/// The program is in the configuration file, so the command does not name it.
EmittedCommand mpirun_with(const std::string& configuration) {
  return {{}, {"mpirun"}, {"-configfile", configuration}, {}};
}

Result<EmittedLaunch> write_intel(const Deployment& deployment, const EmitOptions& options) {
  const bool lists = options.binds() && has_single_units(deployment), wrapped = options.binds() && !lists;
  auto program = program_text(options, wrapped);
  if (!program) return propagate(program);
  EmittedLaunch result;
  result.files.push_back(
      {"config.txt", lists ? lines_of_ranks(deployment, *program) : lines_of_hosts(deployment, *program)});
  if (wrapped) result.files.push_back(binding_table(deployment));
  std::string machines;
  for (const HostRun& run : host_runs(deployment))
    fmt::format_to(std::back_inserter(machines), "{}:{}\n", run.host, run.ranks);
  result.files.push_back({"machinefile", std::move(machines)});
  if (!options.statistics.empty()) {
    if (options.statistics.find_first_of(" \t\n\"'\\#") != std::string::npos) {
      return fail(Code::bad_input, at("--statistics"),
                  "this path cannot be written in a configuration file of Intel MPI",
                  "choose a path without blanks and quotes");
    }
    result.files.push_back({"statistics.txt", lines_with_statistics(deployment, options.statistics, *program)});
    result.commands.push_back(mpirun_with(options.path("statistics.txt")));
  }
  result.commands.push_back(mpirun_with(options.path("config.txt")));
  return result;
}

Result<MappingFile> read_intel(const FileContents& file, const Topology& topology, HostNames hosts) {
  std::vector<NamedBinding> bindings;
  Scanner in(file.view());
  for (std::uint64_t number = 1; !in.done(); ++number) {
    const std::string_view text = in.take_line();
    if (text.find_first_not_of(" \t") == std::string_view::npos || text.starts_with('#')) continue;
    const auto line = parse_config_line(text);
    if (!line) {
      return fail(Code::bad_input, at(file.name(), number), "this is not a line of a configuration file with a host",
                  "write a line as: -n 2 -host node1 [-env NAME VALUE] program");
    }
    auto appended = append_ranks(file, number, line->ranks, line->binding, bindings);
    if (!appended) return propagate(appended);
  }
  return mapping_of_bindings(bindings, topology, hosts, file.name());
}

/// -genv applies to all programs.
Result<void> pass_environment(std::vector<LaunchedProgram>& programs, const Environment& environment) {
  Argv arguments;
  for (const auto& [name, value] : environment) arguments.insert(arguments.end(), {"-genv", name, value});
  add_option(programs.front(), arguments);
  return {};
}

Result<void> check_mpich(const LaunchCommand& command, const LaunchContext& context) {
  const LaunchOption* const manager = command.find("rmk");
  if (!context.in_slurm_job || (manager != nullptr && manager->values == Argv{"user"})) return {};
  return fail(Code::usage, at(command.executable), "inside a Slurm job, hydra silently uses the hosts in Slurm's order",
              "launch with srun, or add: -launcher ssh -rmk user");
}

constexpr PlacementOption placement_options{"bind-to map-by membind ppn rr rankmap order-nodes skip-launch-node"};
constexpr std::array replaced_by_hydra{placement_options};

/// "-bind-to core:4"
JobShape read_shape(const LaunchedProgram& program) {
  JobShape shape;
  for (const LaunchOption& option : program.options) {
    if (option.values.empty()) continue;
    if (option.name == "ppn") shape.ranks_per_node = number_after(option.values[0], "").value_or(0);
    if (option.name != "bind-to") continue;
    const auto parts = split_lower(option.values[0], ":");
    const std::string_view target = parts.empty() ? std::string_view() : std::string_view(parts[0]);
    if (target == "core" || target == "hwthread") {
      shape.width = parts.size() > 1 ? number_after(parts[1], "").value_or(1) : 0;
      if (target == "hwthread") shape.unit = JobShape::Unit::hardware_thread;
      shape.one_thread = target == "hwthread" && shape.width == 0;
    } else if (!is_one_of("rr l1cache l2cache", target) && (target != "user" || contains(option.values[0], "+"))) {
      shape.unbound_by = option.arguments[0] + " " + option.values[0];
    }
  }
  return shape;
}

/// As mpiexec of MPICH 4.0 to 5.0 lists them.
constexpr auto hydra_options = std::to_array<OptionSpec>({
    {"n|np", 1, OptionRole::rank_count},
    {"ppn|perhost|grr", 1},
    {"f|hostfile|machinefile|machine", 1, OptionRole::hosts},
    {"hosts|host|hostlist", 1, OptionRole::hosts},
    {"configfile", 1, OptionRole::program_file},
    {.names = "genv", .values = 2, .assignment = true},
    {.names = "env", .values = 2, .assignment = true},
    {"genvlist", 1},
    {"envlist", 1},
    {"wdir|dir|wd", 1},
    {"path", 1},
    {"launcher|bootstrap", 1},
    {"launcher-exec|bootstrap-exec", 1},
    {"rmk", 1},
    {"topolib", 1},
    {"bind-to|binding", 1},
    {"map-by", 1},
    {"membind", 1},
    {"rankmap", 1},
    {"demux", 1},
    {"iface", 1},
    {"prepend-pattern|pattern", 1},
    {"outfile-pattern", 1},
    {"errfile-pattern", 1},
    {"nameserver", 1},
    {"order-nodes", 1},
    {"localhost", 1},
    {"usize", 1},
    {"gpus-per-proc", 1},
    {"umask", 1},
    {"arch", 1},
    {"debugger", 1},
    {"soft", 1},
    {"timeout", 1},
    {"genvnone"},
    {"genvall"},
    {"envnone"},
    {"envall"},
    {"enable-x"},
    {"disable-x"},
    {"verbose|v"},
    {"info|version"},
    {"print-all-exitcodes"},
    {"profile"},
    {"prepend-rank|l"},
    {"disable-auto-cleanup"},
    {"enable-auto-cleanup"},
    {"disable-hostname-propagation"},
    {"enable-hostname-propagation"},
    {"pmi-port"},
    {"skip-launch-node|nolocal"},
    {"rr"},
});

/// As the manual of Intel MPI lists them in addition.
constexpr auto additional_intel_options = std::to_array<OptionSpec>({
    {"genvexcl", 1},
    {"envexcl", 1},
    {"bootstrap-exec-args|launcher-exec-args", 1},
    {"tmpdir", 1},
    {"s", 1},
    {"gtool", 1},
    {"gtoolfile", 1},
    {"branch-count", 1},
    {"hostos", 1},
    {"use-app-topology", 1},
    {"ckpoint", 1},
    {"tune-mode", 1},
    {"fabrics", 1},
    {"stats-file", 1},
    {"pmi-aggregate"},
    {"pmi-noaggregate"},
    {"print-rank-map"},
    {"ordered-output"},
    {"noconf"},
    {"cleanup"},
    {"trace|t"},
    {"check_mpi"},
    {"gdb"},
    {"aps"},
    {"mps"},
    {"ilp64"},
    {"localonly|localroot"},
    {"trace-imbalance"},
    {"strace"},
    {"silent-abort"},
    {"V"},
});

constexpr auto intel_options = [] {
  std::array<OptionSpec, hydra_options.size() + additional_intel_options.size()> all{};
  std::copy(hydra_options.begin(), hydra_options.end(), all.begin());
  std::copy(additional_intel_options.begin(), additional_intel_options.end(), all.begin() + hydra_options.size());
  return all;
}();

constexpr std::string_view options_of_one_program = "n env envlist envnone envall wdir path arch soft umask";

constexpr LauncherSyntax mpich_5_command_line{
    .programs = "mpirun mpiexec mpirun.mpich mpiexec.mpich mpirun.hydra mpiexec.hydra",
    .unique_programs = "",
    .recognises = recognises_mpich_5,
    .mpi = "mpich",
    .options = hydra_options,
    .program_options = options_of_one_program,
    .default_rank_count = DefaultRankCount::one,
    .replaced = replaced_by_hydra,
    .check = check_mpich,
    .read_shape = read_shape,
    .place = place_mpich_5,
    .pass_environment = pass_environment,
};

constexpr LauncherSyntax mpich_command_line = [] {
  LauncherSyntax syntax = mpich_5_command_line;
  syntax.unique_programs = "mpirun.mpich mpiexec.mpich mpirun.hydra mpiexec.hydra";
  syntax.recognises = recognises_mpich;
  syntax.software = Software::mpich;
  syntax.packaged_program = "mpirun.mpich";
  syntax.place = place_mpich;
  return syntax;
}();

constexpr LauncherSyntax intel_command_line{
    .programs = "mpirun mpiexec mpiexec.hydra",
    .unique_programs = "",
    .recognises = recognises_intel,
    .mpi = "mpich",
    .options = intel_options,
    .program_options = options_of_one_program,
    .default_rank_count = DefaultRankCount::one_if_several_programs,
    .replaced = replaced_by_hydra,
    .read_shape = read_shape,
    .place = place_intel,
    .pass_environment = pass_environment,
};

}  // namespace

constinit const Launcher launcher_rows::mpich{
    .name = "mpich",
    .title = "MPICH",
    .summary = "MPICH up to 4 (hydra): one host per rank, and a wrapper that binds",
    .reference = "mpiexec(1) of MPICH 4, hydra",
    .checked = "launched and verified with 4.0.2 and 4.2.1",
    .write = write_mpich<place_mpich>,
    .read = read_hosts,
    .command_line = &mpich_command_line,
};

constinit const Launcher launcher_rows::mpich5{
    .name = "mpich5",
    .title = "MPICH",
    .summary = "MPICH 5 (hydra): the number of the host of each rank, and a wrapper that binds",
    .reference = "mpiexec of MPICH 5, hydra, -rankmap --help",
    .checked = "launched and verified with 5.0.2",
    .write = write_mpich<place_mpich_5>,
    .read = nullptr,
    .command_line = &mpich_5_command_line,
};

constinit const Launcher launcher_rows::intelmpi{
    .name = "intelmpi",
    .title = "Intel MPI",
    .summary = "Intel MPI: a configuration file with one line per run of ranks",
    .reference = "Intel MPI Developer Reference 2021.15, Hydra options and process pinning; Getmanskiy 2015, 4.1",
    .checked = "written according to its manual, files compared with those of the paper; not launched",
    .write = write_intel,
    .read = read_intel,
    .command_line = &intel_command_line,
};

}  // namespace rankloom
