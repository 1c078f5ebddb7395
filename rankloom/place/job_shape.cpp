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

std::uint64_t core_count(const Topology& topology) {
  const std::size_t last = topology.levels().size() - 1;
  return topology.levels()[has_hardware_threads(topology) ? last - 1 : last].objects;
}

}  // namespace

Result<JobShape> job_shape(const LaunchCommand& command) {
  const LauncherSyntax& syntax = *command.launcher->command_line;
  if (syntax.read_shape == nullptr) return JobShape{};
  if (command.programs.size() == 1) return syntax.read_shape(command.programs.front());
  const auto read = [&](const LaunchedProgram& program) {
    JobShape shape = syntax.read_shape(program);
    shape.ranks_per_node = 0;  // of each program
    return shape;
  };
  const JobShape first = read(command.programs.front());
  for (const LaunchedProgram& program : command.programs) {
    const JobShape shape = read(program);
    if (shape == first || (syntax.shapes_apply_to_all && shape == read({}))) continue;
    return fail(Code::usage, at(command.executable), "the programs of the command have ranks of different widths",
                "give all of them the same number of cores per rank");
  }
  return first;
}

SlotShape slot_shape(const JobShape& shape, const Topology& topology, std::uint32_t ranks, SlotShape otherwise) {
  SlotShape slot = otherwise;
  if (shape.threads_per_core > 0) slot.threads_per_core = shape.threads_per_core;
  // With more ranks than cores, every hardware thread is a slot.
  if (shape.one_thread && slot.cores == 1 && ranks <= core_count(topology)) slot.threads_per_core = 1;
  // On a machine without a description of its GPUs, the launcher gives ranks their GPUs as before.
  const auto devices = topology.devices();
  const bool has_gpus =
      std::any_of(devices.begin(), devices.end(), [](const auto& device) { return device.kind == "gpu"; });
  if (shape.gpus > 0 && has_gpus) slot.gpus = shape.gpus;
  if (shape.width == 0) return slot;
  slot.cores = shape.width;
  if (shape.unit == JobShape::Unit::hardware_thread) {
    const std::uint32_t all = threads_of_core(topology);
    const std::uint32_t threads = slot.threads_per_core == 0 ? all : std::min(slot.threads_per_core, all);
    slot.cores = shape.width / threads + (shape.width % threads != 0 ? 1 : 0);
  }
  return slot;
}

}  // namespace rankloom
