// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/spank: what the ranks of one node get.
#include "slurm/spank/node_slots.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "rankloom/core/text/number_ranges.hpp"
#include "slurm/spank/processing_units.hpp"

namespace rankloom::spank {

namespace {

constexpr std::string_view step_gpus_variable = "SLURM_STEP_GPUS", rocm_variable = "ROCR_VISIBLE_DEVICES";
constexpr std::array<std::string_view, 2> layered_on_rocm{"CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"};
constexpr std::array<std::string_view, 4> vendor_variables{"CUDA_VISIBLE_DEVICES", rocm_variable, "ZE_AFFINITY_MASK",
                                                           "GPU_DEVICE_ORDINAL"};

using Numbers = std::vector<std::uint32_t>;

std::string_view find_variable(char* const* environment, std::string_view name) {
  for (char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.size() > name.size() && text.starts_with(name) && text[name.size()] == '=')
      return text.substr(name.size() + 1);
  }
  return {};
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Empty if the rank may not use its units, or would have fewer than the user asked for.
Numbers units_of(const SlotChoice& choice, const StepResources& step) {
  Numbers units = find_units(choice, step.allowed, step.cores);
  if (units.size() < std::min<std::size_t>(step.cpus_per_task, choice.values.size())) units.clear();
  return units;
}

/// The GPUs of all ranks, one rank after the other; nothing if a rank has none, two share one, or the step lacks one.
std::optional<Numbers> wanted_gpus(const std::vector<SlotChoice>& choices, const StepGpus& step) {
  Numbers all;
  for (const SlotChoice& choice : choices) {
    if (choice.gpus.empty()) return std::nullopt;
    for (const std::uint32_t gpu : choice.gpus) {
      const bool in_step = std::find(step.numbers.begin(), step.numbers.end(), gpu) != step.numbers.end();
      if (!in_step || std::find(all.begin(), all.end(), gpu) != all.end()) return std::nullopt;
      all.push_back(gpu);
    }
  }
  return all;
}

/// Level Zero does not number devices in the order of its variable.
bool can_order(const StepGpus& step) {
  return std::any_of(step.variables.begin(), step.variables.end(),
                     [](const auto& variable) { return variable.first != "ZE_AFFINITY_MASK"; });
}

/// Gives the ranks the GPUs that Slurm would give them.
void keep_gpus_of_slurm(const std::vector<SlotChoice>& choices, const StepResources& step, NodeSlots& node) {
  const std::size_t width = step.gpus_per_task > 0 ? step.gpus_per_task : choices.front().gpus.size();
  const Numbers& numbers = step.gpus.numbers;
  bool near = true;
  for (std::size_t task = 0; task < choices.size(); ++task) {
    Numbers gpus = numbers;
    if ((task + 1) * width <= numbers.size()) {
      const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(task * width);
      gpus.assign(first, first + static_cast<std::ptrdiff_t>(width));
    }
    const auto same = std::find_if(choices.begin(), choices.end(),
                                   [&](const SlotChoice& choice) { return !gpus.empty() && choice.gpus == gpus; });
    node.tasks[task].units = same == choices.end() ? Numbers() : units_of(*same, step);
    near = near && !node.tasks[task].units.empty();
    if (step.gpus_per_task > 0) node.tasks[task].gpus = std::move(gpus);
  }
  node.gpus = near ? NodeSlots::Gpus::kept : NodeSlots::Gpus::left_to_slurm;
  if (near) return;
  for (NodeSlots::Task& task : node.tasks) task.units.clear();
}

}  // namespace

StepGpus read_step_gpus(char* const* environment) {
  StepGpus step;
  auto numbers = parse_number_ranges(find_variable(environment, step_gpus_variable));
  if (!numbers || numbers->empty()) return step;
  for (const std::string_view name : vendor_variables) {
    auto names = split_at_commas(find_variable(environment, name));
    if (names.size() == numbers->size()) step.variables.emplace_back(name, std::move(names));
  }
  if (!step.variables.empty()) step.numbers = std::move(*numbers);
  return step;
}

NodeSlots assign_slots(const std::vector<SlotChoice>& choices, const StepResources& step) {
  NodeSlots node;
  for (const SlotChoice& choice : choices) node.tasks.push_back({units_of(choice, step), {}});
  const bool with_gpus = step.gpus_per_task > 0 || std::any_of(choices.begin(), choices.end(),
                                                               [](const auto& choice) { return !choice.gpus.empty(); });
  if (!with_gpus) return node;
  const auto wanted = wanted_gpus(choices, step.gpus);
  const bool bound =
      std::all_of(node.tasks.begin(), node.tasks.end(), [](const auto& task) { return !task.units.empty(); });
  if (!wanted || !bound || (step.gpus_per_task == 0 && !can_order(step.gpus))) {
    keep_gpus_of_slurm(choices, step, node);
    return node;
  }
  node.gpus = NodeSlots::Gpus::mapped;
  Numbers in_order = *wanted;
  std::copy_if(step.gpus.numbers.begin(), step.gpus.numbers.end(), std::back_inserter(in_order),
               [&](std::uint32_t gpu) { return std::find(wanted->begin(), wanted->end(), gpu) == wanted->end(); });
  for (std::size_t task = 0; task < choices.size(); ++task)
    node.tasks[task].gpus = step.gpus_per_task > 0 ? choices[task].gpus : in_order;
  return node;
}

std::vector<std::pair<std::string, std::optional<std::string>>> gpu_variables(const StepGpus& step, const Numbers& gpus,
                                                                              bool rocm) {
  const bool has_rocm = rocm && std::any_of(step.variables.begin(), step.variables.end(),
                                            [](const auto& variable) { return variable.first == rocm_variable; });
  std::vector<std::pair<std::string, std::optional<std::string>>> variables;
  for (const auto& [name, names] : step.variables) {
    if (has_rocm && std::find(layered_on_rocm.begin(), layered_on_rocm.end(), name) != layered_on_rocm.end()) {
      variables.emplace_back(name, std::nullopt);
      continue;
    }
    std::string value;
    for (const std::uint32_t gpu : gpus) {
      const auto at = std::find(step.numbers.begin(), step.numbers.end(), gpu) - step.numbers.begin();
      value += (value.empty() ? "" : ",") + names[static_cast<std::size_t>(at)];
    }
    variables.emplace_back(name, std::move(value));
  }
  std::string numbers;
  for (const std::uint32_t gpu : gpus) numbers += (numbers.empty() ? "" : ",") + std::to_string(gpu);
  variables.emplace_back(step_gpus_variable, std::move(numbers));
  return variables;
}

}  // namespace rankloom::spank
