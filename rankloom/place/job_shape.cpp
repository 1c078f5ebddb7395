// SPDX-License-Identifier: Apache-2.0
// place: what a launch command says about the processing units of its ranks.
#include "rankloom/place/job_shape.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "rankloom/place/launchers.hpp"

namespace rankloom {

namespace {

/// The largest number of hardware threads of a core.
std::uint32_t threads_of_core(const Topology& topology) {
  if (!has_hardware_threads(topology)) return 1;
  const std::size_t level = topology.levels().size() - 2;
  const auto cores = static_cast<std::uint32_t>(topology.levels()[level].objects);
  std::uint32_t most = 1;
  for (std::uint32_t core = 0; core < cores; ++core)
    most = std::max(most, index(topology.first_core(level, core + 1)) - index(topology.first_core(level, core)));
  return most;
}

}  // namespace

Result<JobShape> job_shape(const LaunchCommand& command) {
  const LauncherSyntax& syntax = *command.launcher->command_line;
  if (syntax.read_shape == nullptr) return JobShape{};
  const JobShape first = syntax.read_shape(command.programs.front());
  for (const LaunchedProgram& program : command.programs) {
    const JobShape shape = syntax.read_shape(program);
    if (shape == first || (syntax.shapes_apply_to_all && shape == syntax.read_shape({}))) continue;
    return fail(Code::usage, at(command.executable), "the programs of the command have ranks of different widths",
                "give all of them the same number of cores per rank");
  }
  return first;
}

std::optional<SlotShape> slot_shape(const JobShape& shape, const Topology& topology) {
  if (shape.width == 0 && shape.threads_per_core == 0) return std::nullopt;
  SlotShape slot{.cores = std::max(1U, shape.width), .threads_per_core = shape.threads_per_core};
  if (shape.unit == JobShape::Unit::hardware_thread && shape.width > 0) {
    const std::uint32_t all = threads_of_core(topology);
    const std::uint32_t threads = slot.threads_per_core == 0 ? all : std::min(slot.threads_per_core, all);
    slot.cores = (shape.width + threads - 1) / threads;
  }
  return slot;
}

}  // namespace rankloom
