// SPDX-License-Identifier: Apache-2.0
// place: what a launch command says about the processing units of its ranks.
#include "rankloom/place/job_shape.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "rankloom/model/machine/slots/slots.hpp"
#include "rankloom/place/launchers.hpp"

namespace rankloom {

namespace {

std::uint64_t core_count(const Topology& topology) {
  return topology.levels()[core_level(topology)].objects;
}

/// The slot of a rank. What the options do not say is as in `slot`.
SlotShape slot_shape(const ProgramShape& shape, const Topology& topology, std::uint32_t ranks, SlotShape slot) {
  if (shape.threads_per_core > 0) slot.threads_per_core = shape.threads_per_core;
  // With more ranks than cores, every hardware thread is a slot.
  if (shape.one_thread && slot.cores == 1 && ranks <= core_count(topology)) slot.threads_per_core = 1;
  // On a machine without a description of its GPUs, the launcher gives ranks their GPUs as before.
  const auto devices = topology.devices();
  const bool has_gpus =
      std::any_of(devices.begin(), devices.end(), [](const auto& device) { return device.kind == "gpu"; });
  if (shape.gpus > 0 && has_gpus) {
    slot.gpus = shape.gpus;
    slot.ranks_per_gpu = std::max(slot.ranks_per_gpu, shape.ranks_per_gpu);
  }
  if (shape.width == 0) return slot;
  slot.cores = shape.width;
  if (shape.unit == ProgramShape::Unit::hardware_thread) {
    const std::uint32_t all = threads_of_core(topology);
    const std::uint32_t threads = slot.threads_per_core == 0 ? all : std::min(slot.threads_per_core, all);
    slot.cores = shape.width / threads + (shape.width % threads != 0 ? 1 : 0);
  }
  return slot;
}

}  // namespace

std::uint32_t threads_of_core(const Topology& topology) {
  if (!has_hardware_threads(topology)) return 1;
  const std::size_t level = core_level(topology);
  const auto cores = static_cast<std::uint32_t>(topology.levels()[level].objects);
  std::uint32_t most = 1;
  for (std::uint32_t core = 0; core < cores; ++core)
    most = std::max(most, index(topology.first_core(level, core + 1)) - index(topology.first_core(level, core)));
  return most;
}

Result<JobShape> job_shape(const LaunchCommand& command) {
  const LauncherSyntax& syntax = *command.launcher->command_line;
  if (syntax.read_shape == nullptr) return JobShape{};
  JobShape job = syntax.read_shape(command.programs.front());
  if (command.programs.size() == 1) return job;
  job.ranks_per_node = 0;  // of each program
  const JobShape of_nothing = syntax.read_shape({});
  const auto first = static_cast<const ProgramShape&>(job), silent = static_cast<const ProgramShape&>(of_nothing);
  std::vector<ProgramShape> shapes;
  for (const LaunchedProgram& program : command.programs) {
    const JobShape read = syntax.read_shape(program);
    job.oversubscribe = job.oversubscribe || read.oversubscribe;
    if (job.unbound_by.empty()) job.unbound_by = read.unbound_by;
    const ProgramShape& own = read;
    shapes.push_back(syntax.shapes_apply_to_all && own == silent ? first : own);
  }
  const bool equal = std::all_of(shapes.begin(), shapes.end(), [&](const auto& shape) { return shape == first; });
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto ranks = command.rank_count(command.programs[i]);
    if (!ranks && equal) {
      job.programs.clear();
      return job;
    }
    if (!ranks) {
      return fail(Code::usage, at(command.executable), "one of several programs has no number of ranks",
                  "write -n N before each program");
    }
    job.programs.emplace_back(*ranks, shapes[i]);
  }
  return job;
}

SlotShapes slot_shapes(const JobShape& shape, const Topology& topology, std::uint32_t ranks,
                       const SlotShapes& otherwise) {
  std::vector<std::pair<std::uint32_t, ProgramShape>> programs = shape.programs;
  if (programs.empty()) programs.emplace_back(ranks, shape);
  if (shape.programs.empty() && !otherwise.differ()) return slot_shape(shape, topology, ranks, otherwise.common());
  SlotShapes slots;
  std::uint32_t rank = 0;
  for (const auto& [count, of_program] : programs) {
    for (const std::uint32_t end = rank + count; rank < end;) {
      const std::size_t part = otherwise.part_of(Rank{rank});
      const auto parts = otherwise.parts();
      const std::uint32_t part_end = part + 1 < parts.size() ? std::min(end, parts[part + 1].begin) : end;
      slots.append(part_end - rank, slot_shape(of_program, topology, ranks, parts[part].shape));
      rank = part_end;
    }
  }
  return slots;
}

}  // namespace rankloom
