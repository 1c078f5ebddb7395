// SPDX-License-Identifier: Apache-2.0
// place/launchers: Open MPI up to 4.1, and what later versions share with it. The mapping is written as a rankfile.
// Observed with 4.1.4: "slot=N" is a logical core number unless rmaps_rank_file_physical is set; then it is the
// operating system's number of a processing unit. --bind-to is ignored when a rankfile is also given. "slot=*" binds to
// slot 0. If a slot does not exist, mpirun exits with status 1 and prints no message.
#include "rankloom/place/launchers/open_mpi.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/place/launchers/rankfile.hpp"
#include "rankloom/place/launchers/table.hpp"

namespace rankloom {

namespace {

bool recognises_version_4(std::string_view version_text) {
  return is_open_mpi(version_text) && !is_prrte(version_text) && major_version(version_text) < 5;
}

/// mpirun 4.1 cuts a list of slots after 64 characters.
bool has_long_slots(const IdVector<Rank, std::vector<std::uint32_t>>& slots) {
  constexpr std::size_t max_length = 60;
  return std::any_of(slots.begin(), slots.end(), [](const std::vector<std::uint32_t>& units) {
    return format_number_ranges(units).size() > max_length;
  });
}

Result<LaunchPlacement> place_4(const Deployment& deployment, const EmitOptions& options) {
  LaunchPlacement placement;
  const auto slots = slots_of_ranks(deployment, SlotNumbering::physical);
  if (!options.binds() || has_long_slots(slots)) {
    placement = {.files = {host_of_each_rank(deployment)},
                 .options = {"--hostfile", options.path("hosts"), "--map-by", "seq", "--bind-to", "none"},
                 .needs_wrapper = options.binds()};
  } else {
    placement.files = {rankfile(deployment, slots)};
    placement.options = {"--rankfile", options.path("rankfile"), "--mca", "rmaps_rank_file_physical", "1"};
  }
  if (options.oversubscribe) placement.options.emplace_back("--oversubscribe");
  return placement;
}

Result<EmittedLaunch> write_4(const Deployment& deployment, const EmitOptions& options) {
  auto placement = place_4(deployment, options);
  if (!placement) return propagate(placement);
  return files_of_placement("mpirun", deployment, options, std::move(*placement));
}

constexpr auto replaced = std::to_array<PlacementOption>({
    {"rankfile map-by rank-by bind-to bind-to-core bind-to-socket bind-to-none cpu-list cpu-set slot-list N pernode "
     "npersocket ppr bynode byslot bycore bysocket nolocal cpus-per-proc use-hwthread-cpus"},
    {"mca",
     "rmaps_base_mapping_policy rmaps_base_ranking_policy rmaps_base_cpus_per rmaps_rank_file orte_rankfile "
     "hwloc_base_binding_policy hwloc_base_cpu hwloc_base_slot_list hwloc_base_use_hwthreads"},
});

/// "--map-by ppr:2:package:PE=4:HWTCPUS"
void read_map_by(std::string_view value, JobShape& shape) {
  const std::vector<std::string> parts = split_lower(value, ":,");  // version 4 separates modifiers by commas
  if (parts.size() > 2 && parts[0] == "ppr" && parts[2] == "node")
    shape.ranks_per_node = number_after(parts[1], "").value_or(0);
  for (const std::string& part : parts) {
    if (const auto width = number_after(part, "pe=")) shape.width = *width;
    if (part == "hwtcpus") shape.unit = JobShape::Unit::hardware_thread;
    if (part == "oversubscribe") shape.oversubscribe = true;
  }
}

/// "--bind-to core:overload-allowed", or the parameter of that meaning.
void read_bind_to(const LaunchOption& option, std::string_view value, JobShape& shape) {
  const auto parts = split_lower(value, ":");
  const std::string_view target = parts.empty() ? std::string_view() : std::string_view(parts[0]);
  if (target.empty() || is_one_of("core cpu-list l1cache l2cache", target)) return;
  if (target == "hwthread") {
    shape.one_thread = true;
  } else {
    shape.unbound_by = fmt::format("{}", fmt::join(option.arguments, " "));
  }
}

/// As mpirun of Open MPI 4.1 lists them.
constexpr auto options_of_4 = std::to_array<OptionSpec>({
    {"n|np|c", 1, OptionRole::rank_count},
    {"N|npernode", 1},
    {"host|H", 1, OptionRole::hosts},
    {"hostfile|machinefile", 1, OptionRole::hosts},
    {"default-hostfile", 1, OptionRole::hosts},
    {"rankfile|rf", 1},
    {"map-by", 1},
    {"rank-by", 1},
    {"bind-to", 1},
    {"ppr", 1},
    {"cpu-list", 1},
    {"cpu-set", 1},
    {"cpus-per-proc|cpus-per-rank", 1},
    {"npersocket", 1},
    {"cartofile|cf", 1},
    {"mca", 2},
    {"gmca", 2},
    {"am", 1},
    {"tune", 1},
    {"x", 1},
    {"wdir|wd", 1},
    {"path", 1},
    {"prefix", 1},
    {"app", 1, OptionRole::program_file},
    {"preload-files", 1},
    {"output-filename", 1},
    {"stdin", 1},
    {"timeout", 1},
    {"xterm", 1},
    {"xml-file", 1},
    {"personality", 1},
    {"ompi-server", 1},
    {"hnp", 1},
    {"launch-agent", 1},
    {"max-restarts", 1},
    {"max-vm-size", 1},
    {"debugger", 1},
    {"report-events", 1},
    {"report-pid", 1},
    {"report-uri", 1},
    {"slot-list", 1},
    {"server-wait-time", 1},
    {"allow-run-as-root"},
    {"oversubscribe"},
    {"nooversubscribe"},
    {"nolocal"},
    {"noprefix"},
    {"bind-to-core"},
    {"bind-to-socket"},
    {"bind-to-none"},
    {"bycore"},
    {"bynode"},
    {"byslot"},
    {"bysocket"},
    {"pernode"},
    {"continuous"},
    {"debug-daemons"},
    {"debug-daemons-file"},
    {"debug"},
    {"debug-devel|d"},
    {"disable-recovery"},
    {"enable-recovery"},
    {"display-allocation"},
    {"display-devel-allocation"},
    {"display-map"},
    {"display-devel-map"},
    {"display-diffable-map"},
    {"display-topo"},
    {"do-not-launch"},
    {"do-not-resolve"},
    {"dvm"},
    {"enable-instant-on-support"},
    {"fwd-mpirun-port"},
    {"get-stack-traces"},
    {"index-argv-by-rank"},
    {"leave-session-attached"},
    {"merge-stderr-to-stdout"},
    {"novm"},
    {"output-proctable"},
    {"report-bindings"},
    {"report-child-jobs-separately"},
    {"report-state-on-timeout"},
    {"set-cwd-to-session-dir"},
    {"show-progress"},
    {"tag-output"},
    {"timestamp-output"},
    {"tv"},
    {"use-hwthread-cpus"},
    {"use-regexp"},
    {"xml"},
    {"quiet|q"},
    {"preload-binary|s"},
    {"verbose|v"},
    {"version|V"},
});

constexpr LauncherSyntax command_line_4{
    .programs = "mpirun mpiexec mpirun.openmpi mpiexec.openmpi orterun",
    .unique_programs = "mpirun.openmpi mpiexec.openmpi orterun",
    .recognises = recognises_version_4,
    .mpi = "openmpi",
    .software = Software::open_mpi,
    .packaged_program = "mpirun.openmpi",
    .options = options_of_4,
    .value_after_equals = false,
    .dashes_end_options = true,
    .program_options = options_of_one_open_mpi_program,
    .replaced = replaced,
    .read_shape = read_open_mpi_shape,
    .place = place_4,
    .pass_environment = pass_open_mpi_environment,
};

}  // namespace

bool is_open_mpi(std::string_view version_text) {
  return contains(version_text, "Open MPI") || contains(version_text, "OpenRTE");
}

bool is_prrte(std::string_view version_text) {
  return contains(version_text, "PRRTE") || contains(version_text, "prte");
}

JobShape read_open_mpi_shape(const LaunchedProgram& program) {
  JobShape shape;
  for (const LaunchOption& option : program.options) {
    const std::string value = option.values.empty() ? "" : option.values.back();
    const bool parameter = option.values.size() == 2;
    if (option.name == "map-by" || (parameter && contains(option.values[0], "mapping_policy"))) {
      read_map_by(value, shape);
    } else if (option.name == "bind-to" || (parameter && contains(option.values[0], "binding_policy"))) {
      read_bind_to(option, value, shape);
    } else if (option.name == "cpus-per-proc" || (parameter && option.values[0] == "rmaps_base_cpus_per_rank")) {
      shape.width = number_after(value, "").value_or(shape.width);
    } else if (option.name == "use-hwthread-cpus" || (parameter && contains(option.values[0], "use_hwthreads"))) {
      shape.unit = JobShape::Unit::hardware_thread;
    } else if (option.name == "N") {
      shape.ranks_per_node = number_after(value, "").value_or(0);
    } else if (option.name == "pernode") {
      shape.ranks_per_node = 1;
    } else if (option.name == "bind-to-none" || option.name == "bind-to-socket") {
      shape.unbound_by = option.arguments[0];
    }
  }
  // A rank of a given width is bound to it.
  if (shape.width > 0 && !contains(shape.unbound_by, "none")) shape.unbound_by.clear();
  return shape;
}

Result<void> pass_open_mpi_environment(std::vector<LaunchedProgram>& programs, const Environment& environment) {
  Argv arguments;
  for (const auto& [name, value] : environment) {
    arguments.emplace_back("-x");
    arguments.push_back(fmt::format("{}={}", name, value));
  }
  for (LaunchedProgram& program : programs) add_option(program, arguments);
  return {};
}

constinit const Launcher launcher_rows::openmpi4{
    .name = "openmpi4",
    .title = "Open MPI",
    .summary = "Open MPI up to 4.1: a rankfile of physical processing units",
    .reference = "mpirun(1) of Open MPI 4.1, Rankfiles",
    .checked = "launched and verified with 4.1.4",
    .write = write_4,
    .read = read_physical_rankfile,
    .default_placement = "round-robin:level=numa",
    .max_block_ranks = 2,
    .command_line = &command_line_4,
};

}  // namespace rankloom
