// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch: the mapping of `rankloom run --auto`.
#include "apps/rankloom/verbs/launch/automatic_mapping.hpp"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/job_mapping.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/process/profile_store.hpp"
#include "apps/rankloom/verbs/machine/topo_discover.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/model/files/topology_json.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

/// As the command says; srun without -n starts as many as the job says.
Result<std::uint32_t> rank_count(const LaunchCommand& command) {
  if (const auto ranks = command.rank_count()) return *ranks;
  const char* const tasks = command.launcher->name == "slurm" ? std::getenv("SLURM_NTASKS") : nullptr;
  const auto number = parse_number(tasks == nullptr ? "" : tasks);
  constexpr double max_ranks = 1U << 30U;
  if (number && *number >= 1 && *number <= max_ranks) return static_cast<std::uint32_t>(*number);
  return fail(Code::usage, at(command.executable), "the command does not say how many ranks it starts", "write -n N");
}

Result<ProfileStore::Found> find_profile(const LaunchCommand& command, const Argv& typed) {
  auto ranks = rank_count(command);
  if (!ranks) return propagate(ranks);
  const StoredProgram program = stored_program(command, *ranks);
  const auto store = ProfileStore::of_user();
  const auto found = store ? store->find(program) : std::nullopt;
  if (found) return *found;
  return fail(Code::environment, at(program.path), fmt::format("it has no profile with {}", counted(*ranks, "rank")),
              fmt::format("record one: rankloom record -- {}", command_text(typed)));
}

/// Writes the machine into a file, unless the user names one.
Result<std::string> machine_file(const LaunchCommand& command, const DeploymentArguments& arguments,
                                 const std::string& directory) {
  std::optional<MachineSpec> machine = arguments.machine;
  if (arguments.topology.given()) {
    auto loaded = arguments.topology.load();
    if (!loaded) return propagate(loaded);
    machine = loaded->spec();
  }
  if (!machine) {
    DiscoverArguments discover;
    discover.launcher = launcher_argv(command);
    auto discovered = discover_machine(discover);
    if (!discovered) return propagate(discovered);
    machine = std::move(*discovered);
  }
  auto topology = Topology::build(std::move(*machine));
  if (!topology) return propagate(topology);
  const std::string file = (fs::path(directory) / "machine.json").string();
  if (auto written = write_file(file, write_machine_json(topology->spec())); !written) return propagate(written);
  return file;
}

}  // namespace

Result<AutomaticMapping> map_automatically(const Argv& command, const std::string& program,
                                           const DeploymentArguments& arguments, const std::string& directory) {
  auto launch = parse_launch_command(command, launcher_version(command), program);
  if (!launch) return propagate(launch);
  auto shape = job_shape(*launch);
  if (!shape) return propagate(shape);
  auto profile = find_profile(*launch, command);
  if (!profile) return propagate(profile);
  auto machine = machine_file(*launch, arguments, directory);
  if (!machine) return propagate(machine);
  JobMapping job(*launch->launcher, *shape, profile->file, *machine);
  if (auto summary = job.summarise(); !summary) return propagate(summary);
  if (auto fitted = job.fit(); !fitted) return propagate(fitted);
  // Bound ranks cannot move to a core that is idle, and nothing is measured here.
  if (job.oversubscribes())
    return fail(Code::environment, at(launch->executable), "there are more ranks than cores",
                "measure it: rankloom tune");
  const std::string mapping = (fs::path(directory) / "mapping.txt").string();
  auto mapped = job.map("auto", mapping);
  if (!mapped) return propagate(mapped);
  constexpr double min_gain = 0.02;
  if (!(mapped->cost < (1 - min_gain) * mapped->cost_default))
    return fail(Code::environment, at(profile->file), "no mapping is better than the default placement", "");
  RankSettings settings = arguments.rank_settings();
  settings.threads = job.threads();
  auto deployment = deployment_of(mapping, *machine, settings);
  if (!deployment) return propagate(deployment);
  return AutomaticMapping{.command = std::move(*launch),
                          .unbound_by = shape->unbound_by,
                          .deployment = std::move(*deployment),
                          .bind = arguments.bind.value_or(job.bind()),
                          .profile = profile->file,
                          .same_arguments = profile->same_arguments,
                          .gain_percent = 100 * (1 - mapped->cost / mapped->cost_default)};
}

}  // namespace rankloom::app
