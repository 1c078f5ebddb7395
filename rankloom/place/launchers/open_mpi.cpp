// SPDX-License-Identifier: Apache-2.0
// place/launchers: Open MPI 4 and 5. The mapping is written as a rankfile. Observed with Open MPI 4.1.4: "slot=N" is a
// logical core number unless rmaps_rank_file_physical is set; then it is the operating system's number of a processing
// unit. --bind-to is ignored when a rankfile is also given. "slot=*" binds to slot 0. If a slot does not exist, mpirun
// exits with status 1 and prints no message.
#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/core/text/scanner.hpp"
#include "rankloom/model/machine/slots/slots.hpp"
#include "rankloom/place/launchers/launcher_files.hpp"
#include "rankloom/place/launchers/table.hpp"

namespace rankloom {

namespace {

enum class Numbering : std::uint8_t { physical, logical };

LauncherFile rankfile(const Deployment& deployment, Numbering numbering) {
  std::string text;
  for (const Rank rank : deployment.ranks()) {
    const auto units = numbering == Numbering::physical ? deployment.cpus(rank) : deployment.positions(rank);
    fmt::format_to(std::back_inserter(text), "rank {}={} slot={}\n", index(rank), deployment.host(rank),
                   format_number_ranges(units));
  }
  return {"rankfile", std::move(text)};
}

/// One host per rank, for slots that a rankfile cannot express: rankloom-bind binds.
LaunchPlacement place_by_hosts(const Deployment& deployment, Argv options) {
  return {.files = {host_of_each_rank(deployment)}, .options = std::move(options), .needs_wrapper = true};
}

/// mpirun 4.1 cuts a list of slots after 64 characters.
bool has_long_slots(const Deployment& deployment) {
  constexpr std::size_t max_length = 60;
  const auto ranks = deployment.ranks();
  return std::any_of(ranks.begin(), ranks.end(),
                     [&](Rank rank) { return format_number_ranges(deployment.cpus(rank)).size() > max_length; });
}

/// Whether every rank has consecutive leaves of its node.
bool has_consecutive_slots(const Deployment& deployment) {
  const auto ranks = deployment.ranks();
  return std::all_of(ranks.begin(), ranks.end(), [&](Rank rank) {
    const auto slot = deployment.slot(rank);
    return index(slot.back()) - index(slot.front()) + 1 == slot.size();
  });
}

/// The version up to the first dot; 0 when there is none.
std::uint32_t major_version(std::string_view version_text) {
  const std::string version = version_number(version_text);
  std::uint32_t number = 0;
  std::from_chars(version.data(), version.data() + version.size(), number);
  return number;
}

bool is_open_mpi(std::string_view version_text) {
  return contains(version_text, "Open MPI") || contains(version_text, "OpenRTE");
}

/// From version 5 on, mpirun is the launcher of PRRTE.
bool is_prrte(std::string_view version_text) {
  return contains(version_text, "PRRTE") || contains(version_text, "prte");
}

bool recognises_version_4(std::string_view version_text) {
  return is_open_mpi(version_text) && !is_prrte(version_text) && major_version(version_text) < 5;
}

bool recognises_version_5(std::string_view version_text) {
  if (contains(version_text, "HYDRA")) return false;  // whose build details may mention PRRTE
  return is_prrte(version_text) || (is_open_mpi(version_text) && major_version(version_text) >= 5);
}

/// Whether the cores of the topology are hardware threads, so that logical numbers count hardware threads.
bool cores_are_hardware_threads(const Topology& topology) {
  const std::string& kind = topology.levels().back().kind;
  return kind == "pu" || kind == "thread";
}

struct RankLine {
  std::uint64_t rank = 0;
  std::string host;
  std::vector<std::uint32_t> units;
};

/// "rank 3=node1 slot=5" or "slot=0-3,8"
std::optional<RankLine> parse_rank_line(std::string_view text) {
  RankLine line;
  Scanner in(text);
  in.skip_blanks();
  if (in.take_token() != "rank") return std::nullopt;
  in.skip_blanks();
  const std::string_view assignment = in.take_token();
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  Scanner number(assignment.substr(0, equals));
  if (!number.take_integer(line.rank)) return std::nullopt;
  line.host = std::string(assignment.substr(equals + 1));
  in.skip_blanks();
  std::string_view slot = in.take_token();
  if (!slot.starts_with("slot=") || !is_plain_host_name(line.host)) return std::nullopt;
  auto units = parse_number_ranges(slot.substr(5));
  if (!units || units->empty()) return std::nullopt;
  line.units = std::move(*units);
  in.skip_blanks();
  return in.done() ? std::optional(line) : std::nullopt;
}

Result<std::vector<std::optional<NamedBinding>>> read_rank_lines(const FileContents& file) {
  std::vector<std::optional<NamedBinding>> bindings;
  std::size_t total_units = 0;
  Scanner in(file.view());
  for (std::uint64_t number = 1; !in.done(); ++number) {
    std::string_view text = in.take_line();
    text = text.substr(0, text.find('#'));
    if (text.find_first_not_of(" \t") == std::string_view::npos) continue;
    auto line = parse_rank_line(text);
    if (!line) {
      return fail(Code::bad_input, at(file.name(), number), "this is not a line of a rankfile",
                  "write a line as: rank 3=node1 slot=5, or slot=0-3,8 (sockets are not read)");
    }
    constexpr std::size_t max_total_units = 1U << 26;
    if ((total_units += line->units.size()) > max_total_units) {
      return fail(Code::bad_input, at(file.name(), number), "the ranks up to here have too many processing units",
                  "correct the ranges");
    }
    if (line->rank >= file.view().size()) return missing_ranks(file, number, line->rank);
    if (line->rank >= bindings.size()) bindings.resize(line->rank + 1);
    if (bindings[line->rank]) {
      return fail(Code::bad_input, at(file.name(), number), fmt::format("rank {} appears again", line->rank),
                  "give every rank exactly one line");
    }
    bindings[line->rank] = NamedBinding{line->host, std::move(line->units)};
  }
  return bindings;
}

/// The binding of every rank.
Result<std::vector<NamedBinding>> read_rankfile(const FileContents& file) {
  auto lines = read_rank_lines(file);
  if (!lines) return propagate(lines);
  std::vector<NamedBinding> bindings;
  for (auto& binding : *lines) {
    if (!binding) {
      return fail(Code::bad_input, at(file.name()), fmt::format("rank {} is not in this file", bindings.size()),
                  "list every rank in the rankfile");
    }
    bindings.push_back(std::move(*binding));
  }
  return bindings;
}

Result<MappingFile> read_physical_rankfile(const FileContents& file, const Topology& topology, HostNames hosts) {
  auto bindings = read_rankfile(file);
  if (!bindings) return propagate(bindings);
  return mapping_of_bindings(*bindings, topology, hosts, file.name());
}

Result<MappingFile> read_logical_rankfile(const FileContents& file, const Topology& topology, HostNames hosts) {
  auto bindings = read_rankfile(file);
  if (!bindings) return propagate(bindings);
  // The host determines the node; the first number of the slot counts the cores of this node.
  std::vector<NamedBinding> hosts_only;
  for (const NamedBinding& binding : *bindings) hosts_only.push_back({binding.host});
  auto mapping = mapping_of_bindings(hosts_only, topology, hosts, file.name());
  if (!mapping) return propagate(mapping);
  const std::size_t level = core_level(topology);
  mapping->shapes = {};
  std::optional<std::size_t> apart;
  for (std::size_t rank = 0; rank < mapping->core_of.size(); ++rank) {
    const NamedBinding& binding = (*bindings)[rank];
    const auto node = index(topology.node_of(mapping->core_of[rank]));
    const auto first = index(topology.first_core(topology.node_level(), node));
    const auto [lowest, highest] = std::minmax_element(binding.cpus.begin(), binding.cpus.end());
    if (first + *highest >= index(topology.first_core(topology.node_level(), node + 1))) {
      return fail(Code::bad_input, at(file.name()),
                  fmt::format("rank {} is on slot {} of {}, which has fewer cores", rank, *highest, binding.host),
                  "give the topology that the file was written for");
    }
    mapping->core_of[rank] = Core{first + *lowest};
    std::set<std::uint32_t> cores;
    for (const std::uint32_t unit : binding.cpus) cores.insert(topology.object_of(level, Core{first + unit}));
    if (*cores.rbegin() - *cores.begin() + 1 != cores.size() && !apart) apart = rank;
    mapping->shapes.append(1, {.cores = static_cast<std::uint32_t>(cores.size())});
  }
  if (auto valid = check_widths(*mapping, apart, file.name()); !valid) return propagate(valid);
  return mapping;
}

Result<LaunchPlacement> place_4(const Deployment& deployment, const EmitOptions& options) {
  LaunchPlacement placement;
  if (!options.binds() || has_long_slots(deployment)) {
    placement =
        place_by_hosts(deployment, {"--hostfile", options.path("hosts"), "--map-by", "seq", "--bind-to", "none"});
    placement.needs_wrapper = options.binds();
  } else {
    placement.files = {rankfile(deployment, Numbering::physical)};
    placement.options = {"--rankfile", options.path("rankfile"), "--mca", "rmaps_rank_file_physical", "1"};
  }
  if (options.oversubscribe) placement.options.emplace_back("--oversubscribe");
  return placement;
}

Result<LaunchPlacement> place_5(const Deployment& deployment, const EmitOptions& options) {
  if (options.directory.find_first_of(":,") != std::string::npos) {
    return fail(Code::usage, at(options.directory), "Open MPI 5 splits the value of --map-by at colons and commas",
                "name a directory without colons and commas with -o DIRECTORY");
  }
  if (!options.binds()) {
    return LaunchPlacement{
        .files = {host_of_each_rank(deployment)},
        .options = {"--map-by", fmt::format("seq:file={}", options.path("hosts")), "--bind-to", "none"}};
  }
  if (!has_consecutive_slots(deployment)) {
    return place_by_hosts(deployment,
                          {"--map-by", fmt::format("seq:file={}", options.path("hosts")), "--bind-to", "none"});
  }
  std::string policy = fmt::format("rankfile:file={}", options.path("rankfile"));
  if (cores_are_hardware_threads(deployment.topology)) policy += ":hwtcpus";
  return LaunchPlacement{.files = {rankfile(deployment, Numbering::logical)}, .options = {"--map-by", policy}};
}

template <Result<LaunchPlacement> (*place)(const Deployment&, const EmitOptions&)>
Result<EmittedLaunch> write(const Deployment& deployment, const EmitOptions& options) {
  auto placement = place(deployment, options);
  if (!placement) return propagate(placement);
  return files_of_placement("mpirun", deployment, options, std::move(*placement));
}

/// -x applies to one program, so every program gets it.
Result<void> pass_environment(std::vector<LaunchedProgram>& programs, const Environment& environment) {
  Argv arguments;
  for (const auto& [name, value] : environment) {
    arguments.emplace_back("-x");
    arguments.push_back(fmt::format("{}={}", name, value));
  }
  for (LaunchedProgram& program : programs) add_option(program, arguments);
  return {};
}

constexpr auto replaced = std::to_array<PlacementOption>({
    {"rankfile map-by rank-by bind-to bind-to-core bind-to-socket bind-to-none cpu-list cpu-set slot-list N pernode "
     "npersocket ppr bynode byslot bycore bysocket nolocal cpus-per-proc use-hwthread-cpus"},
    {"mca prtemca",
     "rmaps_base_mapping_policy rmaps_base_ranking_policy rmaps_base_cpus_per rmaps_rank_file rmaps_default_mapping "
     "orte_rankfile hwloc_base_binding_policy hwloc_default_binding hwloc_base_cpu hwloc_base_slot_list "
     "hwloc_base_use_hwthreads hwloc_use_hwthreads"},
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

JobShape read_shape(const LaunchedProgram& program) {
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

/// As the manual of PRRTE 3 (Open MPI 5.0) lists them.
constexpr auto options_of_5 = std::to_array<OptionSpec>({
    {"n|np|c", 1, OptionRole::rank_count},
    {"N|npernode|map-by-ppr-node", 1},
    {"host|H", 1, OptionRole::hosts},
    {"hostfile|machinefile", 1, OptionRole::hosts},
    {"default-hostfile", 1, OptionRole::hosts},
    {"rankfile|rf", 1},
    {"map-by", 1},
    {"rank-by", 1},
    {"bind-to", 1},
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

/// With --app, mpirun 4.1 silently ignores these options on its command line.
constexpr std::string_view options_of_one_program = "n x host hostfile wdir path preload-binary preload-files";

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
    .program_options = options_of_one_program,
    .replaced = replaced,
    .read_shape = read_shape,
    .place = place_4,
    .pass_environment = pass_environment,
};

constexpr LauncherSyntax command_line_5{
    .programs = "mpirun mpiexec mpirun.openmpi mpiexec.openmpi prterun",
    .unique_programs = "prterun",
    .recognises = recognises_version_5,
    .mpi = "openmpi",
    .options = options_of_5,
    .dashes_end_options = true,
    .program_options = options_of_one_program,
    .replaced = replaced,
    .read_shape = read_shape,
    .place = place_5,
    .pass_environment = pass_environment,
};

}  // namespace

constinit const Launcher launcher_rows::openmpi4{
    .name = "openmpi4",
    .title = "Open MPI",
    .summary = "Open MPI up to 4.1: a rankfile of physical processing units",
    .reference = "mpirun(1) of Open MPI 4.1, Rankfiles",
    .checked = "launched and verified with 4.1.4",
    .write = write<place_4>,
    .read = read_physical_rankfile,
    .default_placement = "round-robin:level=numa",
    .max_block_ranks = 2,
    .command_line = &command_line_4,
};

constinit const Launcher launcher_rows::openmpi5{
    .name = "openmpi5",
    .title = "Open MPI",
    .summary = "Open MPI 5: a rankfile of logical cores",
    .reference = "PRRTE 3 (Open MPI 5.0), Rankfiles and --map-by",
    .checked = "written according to its manual; not launched",
    .write = write<place_5>,
    .read = read_logical_rankfile,
    .default_placement = "round-robin:level=numa",
    .max_block_ranks = 2,
    .command_line = &command_line_5,
};

}  // namespace rankloom
