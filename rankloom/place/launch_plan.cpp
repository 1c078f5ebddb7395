// SPDX-License-Identifier: Apache-2.0
// place: the user's own command, changed so that the launcher follows the mapping.
#include "rankloom/place/launch_plan.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/place/launchers/launcher_files.hpp"

namespace rankloom {

namespace {

/// Whether the mapping replaces this option.
bool is_replaced(const LauncherSyntax& line, const LaunchOption& option, bool with_gpus) {
  if (option.spec != nullptr && option.spec->role == OptionRole::hosts) return true;
  return std::any_of(line.replaced.begin(), line.replaced.end(), [&](const PlacementOption& row) {
    if (!is_one_of(row.options, option.name) || (row.with_gpus && !with_gpus)) return false;
    if (row.parameters.empty()) return true;
    return !option.values.empty() &&
           any_name(row.parameters, [&](std::string_view prefix) { return option.values[0].starts_with(prefix); });
  });
}

bool gives_rank_count(const LaunchCommand& command) {
  return std::any_of(command.programs.begin(), command.programs.end(), [](const LaunchedProgram& program) {
    return std::any_of(program.options.begin(), program.options.end(), [](const LaunchOption& option) {
      return option.spec != nullptr && option.spec->role == OptionRole::rank_count;
    });
  });
}

Result<void> check_rank_count(const LaunchCommand& command, const Deployment& deployment) {
  const auto count = command.rank_count();
  const bool several = command.programs.size() > 1;
  if (!count && several) {
    return fail(Code::usage, at(command.executable), "one of several programs has no number of ranks",
                "write -n N before each program");
  }
  if (count && (gives_rank_count(command) || several) && *count != deployment.rank_count()) {
    return fail(Code::usage, at("-n"),
                fmt::format("the command starts {} ranks, the mapping places {}", *count, deployment.rank_count()),
                fmt::format("write -n {}, or compute a mapping for {} ranks", deployment.rank_count(), *count));
  }
  return {};
}

/// Removes the user's options that the mapping replaces, and returns them as written.
std::vector<std::string> remove_replaced(LaunchCommand& command, bool with_gpus) {
  std::vector<std::string> texts;
  const LauncherSyntax& line = *command.launcher->command_line;
  for (LaunchedProgram& program : command.programs) {
    erase_options(program, [&](const LaunchOption& option) {
      if (!is_replaced(line, option, with_gpus)) return false;
      texts.push_back(fmt::format("{}", fmt::join(option.own_arguments(), " ")));
      return true;
    });
  }
  return texts;
}

}  // namespace

std::string LaunchPlan::replacements() const {
  return replaced.empty() ? "" : fmt::format("{} instead of {}", replacement, fmt::join(replaced, ", "));
}

std::vector<std::string> launcher_variables(const LaunchCommand& command, const LaunchContext& context) {
  const std::string_view variable = command.launcher->command_line->launcher_variable;
  const std::string name(variable.substr(0, variable.find('=')));
  if (variable.empty() || (context.is_set != nullptr && context.is_set(name.c_str()))) return {};
  return {std::string(variable)};
}

Result<void> check_launch(const LaunchCommand& command, const LaunchContext& context) {
  const LauncherSyntax& line = *command.launcher->command_line;
  for (const LaunchedProgram& program : command.programs) {
    for (const LaunchOption& option : program.options) {
      const auto row =
          std::find_if(line.conflicts.begin(), line.conflicts.end(),
                       [&](const ConflictingOption& conflict) { return is_one_of(conflict.options, option.name); });
      if (row == line.conflicts.end()) continue;
      return fail(Code::usage, at(option.arguments[0]), fmt::format("this option {}", row->reason),
                  std::string(row->remedy));
    }
  }
  return line.check == nullptr ? Result<void>{} : line.check(command, context);
}

Result<LaunchPlan> plan_launch(const LaunchCommand& command, const Deployment& deployment,
                               const LaunchContext& context) {
  if (auto accepted = check_launch(command, context); !accepted) return propagate(accepted);
  if (auto accepted = check_rank_count(command, deployment); !accepted) return propagate(accepted);
  EmitOptions options;
  options.bind = context.bind;
  options.directory = context.directory;
  options.working_directory = context.working_directory;
  options.hosts_are_allocated = context.in_slurm_job;
  if (const auto shape = job_shape(command)) options.oversubscribe = shape->oversubscribe;
  const LauncherSyntax& line = *command.launcher->command_line;
  auto placement = line.place(deployment, options);
  if (!placement) return propagate(placement);

  LaunchCommand kept = command;
  std::vector<std::string> replaced = remove_replaced(kept, options.binds() && uses_gpus(deployment));
  LaunchChange change;
  if (!gives_rank_count(command) && command.programs.size() == 1)
    change.options = {std::string(line.rank_count_option), number_of_ranks(deployment)};
  change.options.insert(change.options.end(), placement->options.begin(), placement->options.end());
  change.environment = std::move(placement->rank_environment);
  const bool wrapper_binds = options.binds() && (placement->needs_wrapper || deployment.sets_environment());
  if (context.report) {
    change.wrapper = {context.wrapper, "--report", options.path("report")};
    if (context.threads) change.wrapper.emplace_back("--threads");
    change.wrapper.push_back(wrapper_binds ? options.path("bind.txt") : "-");
  } else if (wrapper_binds) {
    change.wrapper = {context.wrapper, options.path("bind.txt")};
  }
  auto changed = rewrite(std::move(kept), change);
  if (!changed) return propagate(changed);

  std::vector<std::string> environment = std::move(placement->launcher_environment);
  const auto variables = launcher_variables(command, context);
  environment.insert(environment.end(), variables.begin(), variables.end());
  LaunchPlan plan{std::move(placement->files), std::move(environment), std::move(*changed), std::move(replaced),
                  fmt::format("{}", fmt::join(placement->options, " "))};
  if (wrapper_binds) plan.files.push_back(binding_table(deployment));
  return plan;
}

}  // namespace rankloom
