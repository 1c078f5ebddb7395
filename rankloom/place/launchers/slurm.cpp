// SPDX-License-Identifier: Apache-2.0
// place/launchers: Slurm, and Cray MPICH under Slurm. The option -w of srun is a set without an order, and
// --cpu-bind=map_cpu is the same on every node. Therefore a file names one host per task, and rankloom-bind binds the
// tasks.
#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/core/text/scanner.hpp"
#include "rankloom/place/launchers/launcher_files.hpp"
#include "rankloom/place/launchers/table.hpp"

namespace rankloom {

namespace {

/// Observed with Slurm 22.05: if nodes are in an arbitrary order, PMIx over its default tree sometimes loses data that
/// ranks exchange, and Open MPI crashes in MPI_Init (16 nodes, 32 ranks in random order: 4 of 6 starts). Over a ring it
/// does not (18 of 18 starts succeeded).
constexpr const char* pmix_ring = "SLURM_PMIX_FENCE=ring";

bool uses_one_thread_per_core(const Deployment& deployment) {
  return !deployment.shapes.any([](const SlotShape& shape) { return shape.threads_per_core != 1; });
}

Result<LaunchPlacement> place_slurm(const Deployment& deployment, const EmitOptions& options) {
  Argv arguments{"--distribution=arbitrary", "--cpu-bind=none"};
  // Otherwise -c counts all hardware threads.
  if (uses_one_thread_per_core(deployment)) arguments.emplace_back("--threads-per-core=1");
  // Otherwise a rank sees only the GPUs that Slurm has chosen for it. rankloom-bind chooses those of bound ranks.
  if (uses_gpus(deployment) && options.binds()) arguments.emplace_back("--gpu-bind=none");
  return LaunchPlacement{.files = {host_of_each_rank(deployment)},
                         .options = std::move(arguments),
                         .launcher_environment = {fmt::format("SLURM_HOSTFILE={}", options.path("hosts"))},
                         .needs_wrapper = true};
}

Result<EmittedLaunch> write_slurm(const Deployment& deployment, const EmitOptions& options) {
  auto placement = place_slurm(deployment, options);
  if (!placement) return propagate(placement);
  placement->launcher_environment.emplace_back(pmix_ring);
  // If ranks differ, no number holds for all: without one, the step has all processors of the job on its nodes.
  if (!deployment.shapes.differ() && deployment.shapes.common().cores > 1)
    placement->options.push_back(fmt::format("--cpus-per-task={}", deployment.slot(Rank{0}).size()));
  return files_of_placement("srun", deployment, options, std::move(*placement));
}

/// srun splits the value of --export at commas, so values with a comma need another way.
bool fits_export(const std::pair<std::string, std::string>& variable) {
  return variable.second.find_first_of(",'\"\\ \t\n") == std::string::npos;
}

/// Why "env NAME=value" cannot start the program of these options; nullptr: it can.
const char* problem_of_env(const LaunchedProgram& program) {
  const bool in_a_file = std::any_of(program.options.begin(), program.options.end(),
                                     [](const LaunchOption& option) { return option.name == "multi-prog"; });
  if (in_a_file) return "a file lists the programs";
  const bool is_assignment = !program.arguments.empty() && contains(program.arguments[0], "=");
  return is_assignment ? "env would take the program for a variable" : nullptr;
}

/// Extends the user's --export; if a value does not fit there, "env NAME=value" starts the program.
Result<void> pass_environment(std::vector<LaunchedProgram>& programs, const Environment& environment) {
  const auto unfit = std::find_if_not(environment.begin(), environment.end(), fits_export);
  for (LaunchedProgram& program : programs) {
    if (unfit == environment.end()) {
      std::string exported = "ALL";
      std::erase_if(program.options, [&](const LaunchOption& option) {
        if (option.name != "export" || option.values.empty()) return false;
        exported = option.values[0];
        return true;
      });
      for (const auto& [name, value] : environment)
        exported += fmt::format("{}{}={}", exported.empty() ? "" : ",", name, value);
      append_option(program, {.name = "export", .values = {exported}, .arguments = {"--export=" + exported}});
    } else {
      if (const char* const problem = problem_of_env(program)) {
        return fail(
            Code::usage, at("srun"),
            fmt::format("{}, and {}={} cannot be passed with --export: a comma, blank or quote in a value would "
                        "end it",
                        problem, unfit->first, unfit->second),
            "use paths without commas, blanks and quotes, or start a script that starts the program");
      }
      Argv prefix{"env"};
      for (const auto& [name, value] : environment) prefix.push_back(fmt::format("{}={}", name, value));
      program.arguments.insert(program.arguments.begin(), prefix.begin(), prefix.end());
    }
  }
  return {};
}

/// The ranks in the order of their slots: node by node, and on each node in the order of its cores.
Result<EmittedLaunch> write_cray(const Deployment& deployment, const EmitOptions& options) {
  if (deployment.settings.network_card || deployment.settings.memory != RankSettings::Memory::unchanged) {
    return fail(Code::infeasible, at("--to cray"), "Cray's files do not set the memory or the network card of a rank",
                "use --to slurm, or srun --mem-bind and MPICH_OFI_NIC_POLICY");
  }
  if (deployment.shapes.differ()) {
    return fail(Code::infeasible, at("--to cray"), "Cray's rank order needs the same number of cores for all ranks",
                "use --to slurm, whose wrapper binds each rank");
  }
  std::string text;
  std::size_t per_node = 0;
  for (auto& ranks : deployment.ranks_of_nodes()) {
    if (ranks.empty()) continue;
    if (per_node == 0) per_node = ranks.size();
    if (ranks.size() != per_node) {
      return fail(
          Code::infeasible, at("--to cray"),
          fmt::format("some nodes have {} ranks, others {}; Cray's rank order needs the same number on every node",
                      per_node, ranks.size()),
          "use --to slurm, whose file has one host per rank");
    }
    std::vector<Rank> in_order = ranks;
    std::stable_sort(in_order.begin(), in_order.end(),
                     [&](Rank a, Rank b) { return deployment.bindings[a].core < deployment.bindings[b].core; });
    for (std::size_t i = 0; i < in_order.size(); ++i)
      fmt::format_to(std::back_inserter(text), "{}{}", i > 0 ? "," : "", index(in_order[i]));
    text += "\n";
  }
  EmittedCommand command{{"MPICH_RANK_REORDER_METHOD=3"},
                         {"srun"},
                         // By default srun distributes the tasks of a node over its sockets in turn.
                         {"-n", number_of_ranks(deployment), fmt::format("--ntasks-per-node={}", per_node),
                          "--distribution=block:block", options.binds() ? "--cpu-bind=cores" : "--cpu-bind=none"},
                         options.program};
  if (const std::size_t units = deployment.slot(Rank{0}).size(); units > 1)
    command.options.push_back(fmt::format("--cpus-per-task={}", units));
  if (uses_one_thread_per_core(deployment)) command.options.emplace_back("--threads-per-core=1");
  if (!options.directory.empty())
    command.environment.push_back(fmt::format("MPICH_RANK_REORDER_FILE={}", options.path("MPICH_RANK_ORDER")));
  return EmittedLaunch{{{"MPICH_RANK_ORDER", std::move(text)}}, {std::move(command)}};
}

/// Slot i is the i-th core with a capacity. The file does not name nodes, so this is exact only for a full machine.
Result<MappingFile> read_cray(const FileContents& file, const Topology& topology, HostNames) {
  std::vector<Core> slots;
  for (const Core core : topology.cores()) {
    if (topology.capacity(core) > 0) slots.push_back(core);
  }
  std::vector<std::uint64_t> rank_of_slot;
  Scanner in(file.view());
  for (std::uint64_t line = 1; !in.done(); ++line) {
    std::string_view text = in.take_line();
    text = text.substr(0, text.find('#'));
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of(", \t"), text.size());
      const std::string_view token = text.substr(0, end);
      text.remove_prefix(std::min(text.size(), end + 1));
      if (token.empty()) continue;
      const auto range = parse_number_range(token);
      const bool fits =
          range && range->last < slots.size() && rank_of_slot.size() + (range->last - range->first) < slots.size();
      if (!fits) {
        return fail(Code::bad_input, at(file.name(), line),
                    fmt::format("\"{}\" is not a rank below the {} slots of the machine", token, slots.size()),
                    "list the ranks in the order of slots: 0,5,2-4");
      }
      for (std::uint64_t rank = range->first; rank <= range->last; ++rank) rank_of_slot.push_back(rank);
    }
  }
  std::vector<Core> core_of(rank_of_slot.size(), Core{topology.core_count()});
  for (std::size_t slot = 0; slot < rank_of_slot.size(); ++slot) {
    const std::uint64_t rank = rank_of_slot[slot];
    if (rank >= core_of.size() || index(core_of[rank]) != topology.core_count()) {
      return fail(Code::bad_input, at(file.name()), fmt::format("rank {} appears twice or is missing", rank),
                  "list every rank exactly once");
    }
    core_of[rank] = slots[slot];
  }
  return MappingFile{std::move(core_of)};
}

/// The width -c stays, because Slurm reserves the processing units of ranks.
constexpr auto replaced = std::to_array<PlacementOption>({
    {"nodelist cpu-bind hint distribution ntasks-per-node ntasks-per-core ntasks-per-socket relative"},
    {.options = "gpu-bind", .with_gpus = true},
});

/// "-c 4 --hint=nomultithread"
JobShape read_shape(const LaunchedProgram& program) {
  JobShape shape;
  shape.unit = JobShape::Unit::hardware_thread;
  for (const LaunchOption& option : program.options) {
    const std::string value = option.values.empty() ? "" : option.values[0];
    if (option.name == "cpus-per-task") {
      shape.width = number_after(value, "").value_or(0);
    } else if (option.name == "gpus-per-task") {
      shape.gpus = number_after(value.substr(value.rfind(':') + 1), "").value_or(0);  // also "a100:1"
    } else if (option.name == "ntasks-per-gpu") {
      shape.gpus = 1;
      shape.ranks_per_gpu = std::max(1U, number_after(value, "").value_or(1));
    } else if (option.name == "ntasks-per-node") {
      shape.ranks_per_node = number_after(value, "").value_or(0);
    } else if (option.name == "threads-per-core") {
      shape.threads_per_core = number_after(value, "").value_or(0);
    } else if (option.name == "hint" && value == "nomultithread") {
      shape.threads_per_core = 1;
    } else if (option.name == "cpu-bind") {
      const auto parts = split_lower(value, ",:");
      const bool wide = std::any_of(parts.begin(), parts.end(), [](const std::string& part) {
        return is_one_of("none no sockets ldoms boards mask_cpu mask_ldom", part);
      });
      if (wide) shape.unbound_by = fmt::format("{}", fmt::join(option.arguments, " "));
    }
  }
  return shape;
}

void reserve(LaunchedProgram& program, std::uint32_t processing_units) {
  erase_options(program, [](const LaunchOption& option) {
    return is_one_of("cpus-per-task threads-per-core hint", option.name);
  });
  const std::string units = fmt::format("{}", processing_units);
  append_option(program, {.name = "cpus-per-task", .values = {units}, .arguments = {"--cpus-per-task=" + units}});
}

/// Several programs in one step of one job.
constexpr const char* start_several_programs =
    "start a script that chooses the program by its rank: srun -n 8 sh -c 'if [ $SLURM_PROCID -lt 4 ]; then exec ./a; "
    "else exec ./b; fi'; or start them inside the job with mpirun -n 4 ./a : -n 4 ./b";

constexpr auto conflicts = std::to_array<ConflictingOption>({
    {"multi-prog", "names the programs in a file, where rankloom-bind cannot be added", start_several_programs},
});

/// Observed with Slurm 22.05: every program after a ":" is a component of a heterogeneous job or step, with options and
/// nodes of its own. No node of a SLURM_HOSTFILE may belong to another component.
Result<void> check_components(const LaunchCommand& command, const LaunchContext&) {
  const LaunchOption* const group = command.find("het-group");
  const bool several_groups =
      group != nullptr && !group->values.empty() && group->values[0].find_first_of(",-") != std::string::npos;
  if (command.programs.size() == 1 && !several_groups) return {};
  return fail(Code::usage, at(several_groups ? "--het-group" : command.executable),
              "the programs are components of a heterogeneous job, each on nodes of its own, which no "
              "mapping can change",
              start_several_programs);
}

/// As srun(1) lists them.
constexpr auto srun_options = std::to_array<OptionSpec>({
    {"n|ntasks", 1, OptionRole::rank_count},
    {"nodes|N", 1},
    {"cpus-per-task|c", 1},
    {"nodelist|w", 1},
    {"nodefile|F", 1, OptionRole::hosts},
    {"exclude|x", 1},
    {"distribution|m", 1},
    {"relative|r", 1},
    {"account|A", 1},
    {"partition|p", 1},
    {"qos|q", 1},
    {"time|t", 1},
    {"time-min", 1},
    {"job-name|J", 1},
    {"output|o", 1},
    {"error|e", 1},
    {"input|i", 1},
    {"chdir|D", 1},
    {"constraint|C", 1},
    {"dependency|d", 1},
    {"extra-node-info|B", 1},
    {"gpus|G", 1},
    {"licenses|L", 1},
    {"clusters|M", 1},
    {"core-spec|S", 1},
    {"threads|T", 1},
    {"wait|W", 1},
    {"cpu-bind", 1},
    {"mem-bind", 1},
    {"mem", 1},
    {"mem-per-cpu", 1},
    {"mem-per-gpu", 1},
    {"mpi", 1},
    {"jobid", 1},
    {"ntasks-per-node", 1},
    {"ntasks-per-core", 1},
    {"ntasks-per-socket", 1},
    {"ntasks-per-gpu", 1},
    {"gpus-per-node", 1},
    {"gpus-per-task", 1},
    {"gpus-per-socket", 1},
    {"gpu-bind", 1},
    {"gpu-freq", 1},
    {"cpus-per-gpu", 1},
    {"gres", 1},
    {"gres-flags", 1},
    {"hint", 1},
    {"mincpus", 1},
    {"tmp", 1},
    {"thread-spec", 1},
    {"cores-per-socket", 1},
    {"sockets-per-node", 1},
    {"threads-per-core", 1},
    {"cpu-freq", 1},
    {"export", 1},
    {"export-file", 1},
    {"begin", 1},
    {"deadline", 1},
    {"comment", 1},
    {"reservation", 1},
    {"signal", 1},
    {"switches", 1},
    {"het-group", 1},
    {"network", 1},
    {"priority", 1},
    {"prolog", 1},
    {"epilog", 1},
    {"task-prolog", 1},
    {"task-epilog", 1},
    {"profile", 1},
    {"acctg-freq", 1},
    {"bcast-exclude", 1},
    {"cluster-constraint", 1},
    {"container", 1},
    {"delay-boot", 1},
    {"mail-type", 1},
    {"mail-user", 1},
    {"max-exit-timeout", 1},
    {"open-mode", 1},
    {"power", 1},
    {.names = "propagate", .attached = true},
    {"slurmd-debug", 1},
    {"treewidth", 1},
    {"tres-bind", 1},
    {"tres-per-task", 1},
    {"uid", 1},
    {"gid", 1},
    {"bb", 1},
    {"bbf", 1},
    {"wckey", 1},
    {"prefer", 1},
    {"rankloom", 1},  // of the Slurm plugin of rankloom
    {.names = "nice", .attached = true},
    {.names = "immediate|I", .attached = true},
    {.names = "kill-on-bad-exit|K", .attached = true},
    {.names = "no-kill|k", .attached = true},
    {.names = "exclusive", .attached = true},
    {.names = "oversubscribe|s", .attached = true},
    {.names = "bcast", .attached = true},
    {.names = "compress", .attached = true},
    {.names = "get-user-env", .attached = true},
    {"multi-prog", 0, OptionRole::program_file},
    {"label|l"},
    {"overcommit|O"},
    {"overlap"},
    {"exact"},
    {"whole"},
    {"hold|H"},
    {"quiet|Q"},
    {"unbuffered|u"},
    {"verbose|v"},
    {"version|V"},
    {"disable-status|X"},
    {"no-allocate|Z"},
    {"preserve-env|E"},
    {"pty"},
    {"contiguous"},
    {"spread-job"},
    {"use-min-nodes"},
    {"reboot"},
    {"send-libs"},
    {"interactive"},
    {"debugger-test"},
    {"test-only"},
    {"parallel-debug"},
    {"help|h"},
    {"usage"},
});

constexpr LauncherSyntax srun_command_line{
    .programs = "srun",
    .unique_programs = "srun",
    .software = Software::slurm_client,
    .packaged_program = "srun",
    .options = srun_options,
    .getopt_letters = true,
    .dashes_end_options = true,
    .launcher_variable = pmix_ring,
    .replaced = replaced,
    .conflicts = conflicts,
    .check = check_components,
    .read_shape = read_shape,
    .reserve = reserve,
    .shapes_apply_to_all = false,
    .place = place_slurm,
    .pass_environment = pass_environment,
};

}  // namespace

constinit const Launcher launcher_rows::slurm{
    .name = "slurm",
    .title = "srun",
    .summary = "srun: one host per task, and a wrapper that binds",
    .reference = "srun(1), --distribution=arbitrary",
    .checked = "launched and verified with 22.05",
    .write = write_slurm,
    .read = read_hosts,
    .default_placement = "round-robin:level=package",
    .command_line = &srun_command_line,
};

constinit const Launcher launcher_rows::cray{
    .name = "cray",
    .title = "Cray MPICH",
    .summary = "Cray MPICH: the ranks in the order of slots",
    .reference = "LUMI training materials, MPICH_RANK_REORDER_METHOD=3",
    .checked = "written according to a site's guide; not checked against its manual",
    .write = write_cray,
    .read = read_cray,
};

}  // namespace rankloom
