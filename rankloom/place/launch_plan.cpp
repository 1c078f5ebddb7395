// SPDX-License-Identifier: Apache-2.0
// place: the user's own command, changed so that his launcher follows the mapping.
#include "rankloom/place/launch_plan.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/place/launchers/writers.hpp"

namespace rankloom {

namespace {

/// An option that would undo the mapping, or that the launcher ignores beside it, without a word.
struct Trap {
  std::string_view launchers;  ///< "openmpi4 openmpi5"
  std::string_view options;    ///< Their names, separated by blanks.
  std::string_view what;
  std::string_view remedy;
};

constexpr std::string_view leave_it_out = "leave it out: the mapping says where every rank goes";

constexpr auto traps = std::to_array<Trap>({
    {"openmpi4 openmpi5", "rankfile", "is a placement of its own",
     "leave it out, or give that file as the mapping with --from openmpi4"},
    {"openmpi4 openmpi5", "map-by rank-by", "is ignored beside a rankfile, without a word", leave_it_out},
    {"openmpi4 openmpi5", "bind-to bind-to-core bind-to-socket bind-to-none",
     "is ignored beside a rankfile: ranks are bound to their slots all the same",
     "leave it out; rankloom run --bind none leaves ranks free on their hosts"},
    {"openmpi4 openmpi5", "cpu-list cpu-set slot-list", "does not keep the order of its list", leave_it_out},
    {"openmpi4 openmpi5", "N pernode npersocket ppr bynode byslot bycore bysocket nolocal cpus-per-proc",
     "asks for another placement", leave_it_out},
    {"mpich intelmpi", "bind-to map-by membind", "is the same on every host and begins anew at each repeated one",
     "leave it out: rankloom-bind binds every rank"},
    {"mpich", "configfile", "with -host puts every rank on the first host, without a word",
     "write the programs on the command line, separated by :"},
    {"intelmpi", "configfile", "is a placement of its own", "write the programs on the command line, separated by :"},
    {"mpich intelmpi", "ppn rr order-nodes skip-launch-node", "asks for another placement", leave_it_out},
    {"slurm", "nodelist", "is a set: it does not order the ranks",
     "leave it out, and ask for the nodes when you make the allocation (salloc, sbatch)"},
    {"slurm", "cpu-bind hint", "is the same on every node", "leave it out: rankloom-bind binds every rank"},
    {"slurm", "distribution ntasks-per-node ntasks-per-core ntasks-per-socket relative", "asks for another placement",
     leave_it_out},
    {"slurm", "multi-prog", "names the programs in a file, where no rank can be verified",
     "write the programs on the command line, separated by :"},
});

/// Parameters of Open MPI's that place or bind, by whatever name they begin with.
constexpr auto placing_parameters = std::to_array<std::string_view>(
    {"rmaps_base_mapping_policy", "rmaps_base_ranking_policy", "rmaps_base_cpus_per", "rmaps_rank_file",
     "orte_rankfile", "hwloc_base_binding_policy", "hwloc_base_cpu", "hwloc_base_slot_list"});

bool has_word(std::string_view list, std::string_view word) {
  for (std::size_t at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1)) {
    const bool begins = at == 0 || list[at - 1] == ' ';
    const bool ends = at + word.size() == list.size() || list[at + word.size()] == ' ';
    if (begins && ends) return true;
  }
  return false;
}

Result<void> refuse_traps(const LaunchCommand& command, const LaunchSurroundings& surroundings) {
  const auto at_option = [&](const LaunchOption& option) { return at(command.words[option.at]); };
  for (const LaunchPart& part : command.parts) {
    for (const LaunchOption& option : part.options) {
      const auto trap = std::find_if(traps.begin(), traps.end(), [&](const Trap& row) {
        return has_word(row.launchers, name_of(command.kind)) && has_word(row.options, option.name);
      });
      if (trap != traps.end())
        return fail(Code::usage, at_option(option), fmt::format("this option {}", trap->what),
                    std::string(trap->remedy));
      const bool places = option.name == "mca" &&
                          std::any_of(placing_parameters.begin(), placing_parameters.end(),
                                      [&](std::string_view name) { return option.values[0].starts_with(name); });
      if (places)
        return fail(Code::usage, at(fmt::format("--mca {}", option.values[0])),
                    "this parameter asks for another placement", std::string(leave_it_out));
    }
  }
  if (command.kind == LauncherKind::mpich && surroundings.in_slurm_job) {
    const LaunchOption* const manager = command.find("rmk");
    if (manager == nullptr || manager->values[0] != "user") {
      return fail(Code::usage, at(command.words[command.launcher]),
                  "inside a Slurm job hydra takes the hosts in Slurm's order, without a word",
                  "launch with srun, or add: -launcher ssh -rmk user");
    }
  }
  return {};
}

Result<void> check_count(const LaunchCommand& command, const Deployment& deployment) {
  const auto count = command.rank_count();
  if (!count && command.parts.size() > 1) {
    return fail(Code::usage, at(command.words[command.launcher]), "of several programs, one has no number of ranks",
                "write -n N before each of them");
  }
  const bool says_count = command.find("n") != nullptr || command.parts.size() > 1;
  if (count && says_count && *count != deployment.rank_count()) {
    return fail(Code::usage, at("-n"),
                fmt::format("the command starts {} ranks, the mapping places {}", *count, deployment.rank_count()),
                fmt::format("write -n {}, or make a mapping for {} ranks", deployment.rank_count(), *count));
  }
  return {};
}

/// What takes the place of the user's lists of hosts.
struct Placing {
  std::vector<LauncherFile> files;
  std::vector<std::string> leave_out;
  Argv options;
  std::vector<std::pair<std::string, std::string>> for_ranks;
  std::vector<std::string> for_launcher;
  bool binds_itself = false;  ///< The launcher binds; the wrapper only reports.
};

/// The words between the launcher and the program, as `emit` writes them.
Placing from_emit(const LaunchFiles& made, const EmitOptions& options, std::vector<std::string> leave_out) {
  const Argv& words = made.commands.back().words;
  const auto end = words.end() - static_cast<std::ptrdiff_t>(options.program.size());
  return {made.files, std::move(leave_out), {words.begin() + 3, end}, {}, made.commands.back().environment, true};
}

Result<Placing> placing(LauncherKind kind, const Deployment& deployment, const EmitOptions& options) {
  const bool bind = options.bind == EmitOptions::Bind::core;
  switch (kind) {
    case LauncherKind::openmpi4:
    case LauncherKind::openmpi5: {
      auto made = kind == LauncherKind::openmpi4 ? write_open_mpi_4(deployment, options)
                                                 : write_open_mpi_5(deployment, options);
      if (!made) return propagate(made);
      return from_emit(*made, options, {"host", "hostfile", "default-hostfile"});
    }
    case LauncherKind::mpich:
      return Placing{{host_of_each_rank(deployment)},
                     {"f", "hosts"},
                     {"-f", options.path("hosts"), "-bind-to", "none"},
                     {},
                     {},
                     false};
    case LauncherKind::intelmpi: {
      Placing result{
          {host_of_each_rank(deployment)}, {"f", "hosts"}, {"-machinefile", options.path("hosts")}, {}, {}, false};
      if (bind) result.for_ranks.emplace_back("I_MPI_PIN", "off");
      return result;
    }
    case LauncherKind::slurm:
      return Placing{{host_of_each_rank(deployment)},
                     {"nodefile"},
                     {"--distribution=arbitrary", "--cpu-bind=none"},
                     {},
                     {fmt::format("SLURM_HOSTFILE={}", options.path("hosts")), std::string(ring_of_pmix)},
                     false};
  }
  return Placing{};
}

std::vector<std::string> left_out(const LaunchCommand& command, const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  for (const LaunchPart& part : command.parts) {
    for (const LaunchOption& option : part.options) {
      if (std::find(names.begin(), names.end(), option.name) == names.end()) continue;
      const auto first = command.words.begin() + static_cast<std::ptrdiff_t>(option.at);
      texts.push_back(fmt::format("{}", fmt::join(first, first + static_cast<std::ptrdiff_t>(option.word_count), " ")));
    }
  }
  return texts;
}

}  // namespace

Result<LaunchPlan> plan_launch(const LaunchCommand& command, const Deployment& deployment,
                               const LaunchSurroundings& surroundings) {
  if (auto fine = refuse_traps(command, surroundings); !fine) return propagate(fine);
  if (auto fine = check_count(command, deployment); !fine) return propagate(fine);
  EmitOptions options;
  options.bind = surroundings.bind;
  options.folder = surroundings.folder;
  auto place = placing(command.kind, deployment, options);
  if (!place) return propagate(place);

  LaunchChange change;
  change.leave_out = place->leave_out;
  if (command.find("n") == nullptr && command.parts.size() == 1) change.options = {"-n", number_of_ranks(deployment)};
  change.options.insert(change.options.end(), place->options.begin(), place->options.end());
  change.environment = place->for_ranks;
  const bool by_wrapper = options.bind == EmitOptions::Bind::core && !place->binds_itself;
  change.wrapper = {surroundings.wrapper, "--report", options.path("report"),
                    by_wrapper ? options.path("bind.txt") : "-"};
  auto words = rewrite(command, change);
  if (!words) return propagate(words);

  LaunchPlan plan{std::move(place->files),
                  {std::move(place->for_launcher), std::move(*words)},
                  left_out(command, place->leave_out)};
  if (by_wrapper) plan.files.push_back(binding_table(deployment));
  return plan;
}

}  // namespace rankloom
