// SPDX-License-Identifier: Apache-2.0
// place/launchers: Open MPI 5 and 6, whose mpirun is the launcher of PRRTE. The mapping is written as a rankfile of
// logical numbers and a list of hosts: outside of a job of a resource manager, mpirun refuses a rankfile without such a
// list. Observed with 5.0.7 and 6.0.0rc2: --bind-to none is obeyed although a rankfile is given (4.1 ignores it); two
// ranks on one core need the modifier overload-allowed; with "rankfile:oversubscribe" and without this modifier, 5.0.7
// silently binds no rank; --rank-by is ignored and a second --map-by refused.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "rankloom/place/launchers/open_mpi.hpp"
#include "rankloom/place/launchers/rankfile.hpp"
#include "rankloom/place/launchers/table.hpp"

namespace rankloom {

namespace {

using Slots = IdVector<Rank, std::vector<std::uint32_t>>;

/// Open MPI 5.0 contains PRRTE 3, Open MPI 6.0 a later version.
bool recognises_version_5(std::string_view version_text) {
  if (contains(version_text, "HYDRA")) return false;  // whose build details may mention PRRTE
  const std::uint32_t version = major_version(version_text);
  return is_open_mpi(version_text) ? version == 5 : is_prrte(version_text) && version < 4;
}

bool recognises_version_6(std::string_view version_text) {
  if (contains(version_text, "HYDRA")) return false;
  const std::uint32_t version = major_version(version_text);
  return is_open_mpi(version_text) ? version > 5 : is_prrte(version_text) && version > 3;
}

/// Whether the leaves of the topology are hardware threads, so that logical numbers count hardware threads.
bool counts_hardware_threads(const Topology& topology) {
  const std::string& kind = topology.levels().back().kind;
  return kind == "pu" || kind == "thread";
}

/// A rankfile cannot express slots with gaps.
bool have_gaps(const Slots& slots) {
  return std::any_of(slots.begin(), slots.end(),
                     [](const auto& units) { return units.back() - units.front() + 1 != units.size(); });
}

/// Whether two ranks of a host have a processing unit in common.
bool share_units(const Deployment& deployment, const Slots& slots) {
  for (const std::vector<Rank>& ranks : deployment.ranks_of_nodes()) {
    std::vector<std::uint32_t> used;
    for (const Rank rank : ranks) used.insert(used.end(), slots[rank].begin(), slots[rank].end());
    std::sort(used.begin(), used.end());
    if (std::adjacent_find(used.begin(), used.end()) != used.end()) return true;
  }
  return false;
}

/// "hosts": the hosts with ranks, each with as many slots as it has ranks.
LauncherFile slots_of_hosts(const Deployment& deployment) {
  std::string text;
  const auto ranks_of = deployment.ranks_of_nodes();
  for (const Node node : deployment.topology.nodes()) {
    if (!ranks_of[node].empty()) text += fmt::format("{} slots={}\n", deployment.hosts[node], ranks_of[node].size());
  }
  return {"hosts", std::move(text)};
}

/// Ranks on their hosts; rankloom-bind binds them.
LaunchPlacement place_on_hosts(const Deployment& deployment, const EmitOptions& options) {
  return {.files = {host_of_each_rank(deployment)},
          .options = {"--hostfile", options.path("hosts"), "--map-by", "seq", "--bind-to", "none"},
          .needs_wrapper = options.binds()};
}

/// `refused`: characters that the value of --map-by cannot contain. A rankfile whose path has one of them cannot be
/// used.
Result<LaunchPlacement> place_prrte(const Deployment& deployment, const EmitOptions& options, const char* refused) {
  const Slots slots = slots_of_ranks(deployment, SlotNumbering::logical);
  const std::string file = options.short_path("rankfile");
  if (!options.binds() || have_gaps(slots) || file.find_first_of(refused) != std::string::npos)
    return place_on_hosts(deployment, options);
  const bool threads = counts_hardware_threads(deployment.topology);
  const bool shared = options.oversubscribe || share_units(deployment, slots);
  const std::string policy = fmt::format("rankfile:file={}{}{}", file, threads ? ":hwtcpus" : "",
                                         options.oversubscribe ? ":oversubscribe" : "");
  const std::string binding = fmt::format("{}{}", threads ? "hwthread" : "core", shared ? ":overload-allowed" : "");
  LaunchPlacement placement{.files = {rankfile(deployment, slots)}, .options = {}};
  if (!options.hosts_are_allocated) {
    placement.files.push_back(slots_of_hosts(deployment));
    placement.options = {"--hostfile", options.path("hosts")};
  }
  placement.options.insert(placement.options.end(), {"--map-by", policy, "--bind-to", binding});
  return placement;
}

/// Observed with 5.0.7: "file=a-b" is an "unrecognized qualifier".
Result<LaunchPlacement> place_5(const Deployment& deployment, const EmitOptions& options) {
  return place_prrte(deployment, options, ":,-");
}

Result<LaunchPlacement> place_6(const Deployment& deployment, const EmitOptions& options) {
  return place_prrte(deployment, options, ":,");
}

template <Result<LaunchPlacement> (*place)(const Deployment&, const EmitOptions&)>
Result<EmittedLaunch> write(const Deployment& deployment, const EmitOptions& options) {
  auto placement = place(deployment, options);
  if (!placement) return propagate(placement);
  return files_of_placement("mpirun", deployment, options, std::move(*placement));
}

/// mpirun of Open MPI 5.0.7 (PRRTE 3.0.8) crashes before it starts a rank if a command has several programs, with any
/// placement.
Result<void> check_5(const LaunchCommand& command, const LaunchContext&) {
  if (command.programs.size() < 2 || !is_one_of("5.0.7 3.0.8", command.version)) return {};
  return fail(Code::usage, at(command.executable),
              fmt::format("mpirun of version {} crashes if a command has several programs", command.version),
              "start a script that chooses the program by $OMPI_COMM_WORLD_RANK, or use another version");
}

/// --oversubscribe is an abbreviation of --map-by :oversubscribe, and a second --map-by is refused.
JobShape read_prrte_shape(const LaunchedProgram& program) {
  JobShape shape = read_open_mpi_shape(program);
  const auto oversubscribes = [](const LaunchOption& option) { return option.name == "oversubscribe"; };
  if (std::any_of(program.options.begin(), program.options.end(), oversubscribes)) shape.oversubscribe = true;
  return shape;
}

constexpr auto replaced = std::to_array<PlacementOption>({
    {"rankfile map-by rank-by bind-to cpu-list cpu-set N pernode npersocket ppr bynode byslot nolocal "
     "use-hwthread-cpus oversubscribe nooversubscribe"},
    {"mca prtemca",
     "rmaps_default_mapping rmaps_default_ranking rmaps_rank_file hwloc_default_binding hwloc_default_cpu "
     "hwloc_use_hwthreads"},
});

/// As mpirun of Open MPI 5.0 and 6.0 lists them. Version 6 also accepts names without a dash.
constexpr auto options_of_prrte = std::to_array<OptionSpec>({
    {"n|np|c", 1, OptionRole::rank_count},
    {"N|npernode|map-by-ppr-node", 1},
    {"host|H", 1, OptionRole::hosts},
    {"hostfile|machinefile", 1, OptionRole::hosts},
    {"default-hostfile", 1, OptionRole::hosts},
    {"rankfile|rf", 1},
    {"map-by|mapby", 1},
    {"rank-by|rankby", 1},
    {"bind-to|bindto", 1},
    {"cpu-list", 1},
    {"cpu-set", 1},
    {"npersocket", 1},
    {"ppr", 1},
    {"mca|omca", 2},
    {"gmca|gomca", 2},
    {"prtemca", 2},
    {"gprtemca", 2},
    {"pmixmca", 2},
    {"gpmixmca", 2},
    {"tune", 1},
    {"am", 1},
    {"x", 1},
    {"wdir|wd", 1},
    {"path", 1},
    {"prefix", 1},
    {"app", 1, OptionRole::program_file},
    {"preload-files", 1},
    {"output", 1},
    {"output-filename", 1},
    {"display", 1},
    {"runtime-options", 1},
    {"stdin", 1},
    {"timeout", 1},
    {"spawn-timeout", 1},
    {"personality", 1},
    {"dvm", 1},
    {"dvm-hostfile", 1},
    {"dvm-host", 1},
    {"with-ft", 1},
    {"pset", 1},
    {"exec-agent", 1},
    {"launch-agent", 1},
    {"report-pid", 1},
    {"report-uri", 1},
    {"set-sid"},
    {"stream-buffering", 1},
    {"num-connect-retries", 1},
    {"keepalive", 1},
    {"max-vm-size", 1},
    {"max-restarts", 1},
    {"singleton", 1},
    {"data-server", 1},
    {"server-wait-time", 1},
    {"xterm", 1},
    {"memory-alloc-kind", 1},
    {"allow-run-as-root"},
    {"oversubscribe"},
    {"nooversubscribe|no-oversubscribe"},
    {"nolocal"},
    {"noprefix"},
    {"report-bindings"},
    {"display-map"},
    {"display-devel-map"},
    {"display-topo"},
    {"display-allocation"},
    {"do-not-launch"},
    {"do-not-resolve"},
    {"debug-daemons"},
    {"debug-daemons-file"},
    {"debug-devel"},
    {"leave-session-attached"},
    {"tag-output"},
    {"timestamp-output"},
    {"merge-stderr-to-stdout"},
    {"xml"},
    {"enable-recovery"},
    {"continuous"},
    {"disable-recovery"},
    {"index-argv-by-rank"},
    {"preload-binary|s"},
    {"forward-signals", 1},
    {"get-stack-traces"},
    {"report-state-on-timeout"},
    {"pernode"},
    {"bynode"},
    {"byslot"},
    {"use-hwthread-cpus"},
    {"quiet|q"},
    {"verbose|v"},
    {"version|V"},
    {"show-progress"},
    {"stop-on-exec"},
    {"stop-in-init"},
    {"stop-in-app"},
    {"fwd-environment"},
    {"enable-instant-on-support"},
    {"novm"},
});

constexpr LauncherSyntax command_line_5{
    .programs = "mpirun mpiexec mpirun.openmpi mpiexec.openmpi prterun",
    .unique_programs = "prterun",
    .recognises = recognises_version_5,
    .mpi = "openmpi",
    .options = options_of_prrte,
    .dashes_end_options = true,
    .program_options = options_of_one_open_mpi_program,
    .replaced = replaced,
    .check = check_5,
    .read_shape = read_prrte_shape,
    .place = place_5,
    .pass_environment = pass_open_mpi_environment,
};

constexpr LauncherSyntax command_line_6 = [] {
  LauncherSyntax syntax = command_line_5;
  syntax.unique_programs = "";
  syntax.recognises = recognises_version_6;
  syntax.check = nullptr;
  syntax.place = place_6;
  return syntax;
}();

}  // namespace

constinit const Launcher launcher_rows::openmpi5{
    .name = "openmpi5",
    .title = "Open MPI",
    .summary = "Open MPI 5: a rankfile of logical cores, and the hosts with their slots",
    .reference = "PRRTE 3 (Open MPI 5.0), Rankfiles and --map-by",
    .checked = "launched and verified with 5.0.7",
    .write = write<place_5>,
    .read = read_logical_rankfile,
    .default_placement = "round-robin:level=numa",
    .max_block_ranks = 2,
    .command_line = &command_line_5,
};

constinit const Launcher launcher_rows::openmpi6{
    .name = "openmpi6",
    .title = "Open MPI",
    .summary = "Open MPI 6: a rankfile of logical cores, and the hosts with their slots",
    .reference = "PRRTE 5 (Open MPI 6.0), Rankfiles and --map-by",
    .checked = "launched and verified with 6.0.0rc2",
    .write = write<place_6>,
    .read = read_logical_rankfile,
    .default_placement = "round-robin:level=numa",
    .max_block_ranks = 2,
    .command_line = &command_line_6,
};

}  // namespace rankloom
