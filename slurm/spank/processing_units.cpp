// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/spank: the processing units of a step on one node.
#include "slurm/spank/processing_units.hpp"

#include <algorithm>
#include <iterator>

#include "rankloom/core/system/cpu_set.hpp"
#include "rankloom/core/text/number_ranges.hpp"

namespace rankloom::spank {

std::vector<std::uint32_t> parse_units(std::string_view list) {
  return parse_number_ranges(list, CpuSet::max_cpus - 1).value_or(std::vector<std::uint32_t>());
}

std::vector<std::uint32_t> allowed_units() {
  return CpuSet::allowed().value_or(CpuSet()).members();
}

std::vector<std::uint32_t> find_units(const SlotChoice& choice, const std::vector<std::uint32_t>& allowed,
                                      const std::vector<std::uint32_t>& cores) {
  if (choice.kind == SlotChoice::Kind::none || allowed.empty()) return {};
  if (choice.kind == SlotChoice::Kind::os_index) {
    std::vector<std::uint32_t> units;
    std::copy_if(choice.values.begin(), choice.values.end(), std::back_inserter(units),
                 [&](std::uint32_t unit) { return std::binary_search(allowed.begin(), allowed.end(), unit); });
    return units;
  }
  // If the step is confined to its cores, they are the allowed units. Otherwise Slurm's list tells which units belong
  // to the step, so that two jobs do not use the same unit.
  const bool confined = cores.empty() || allowed.size() <= cores.size();
  std::vector<std::uint32_t> units;
  for (const std::uint32_t value : choice.values) {
    const std::size_t position = confined || value >= cores.size() ? value : cores[value];
    units.push_back(allowed[position % allowed.size()]);
  }
  return units;
}

bool bind_to_units(const std::vector<std::uint32_t>& units) {
  const bool valid =
      std::all_of(units.begin(), units.end(), [](std::uint32_t unit) { return unit < CpuSet::max_cpus; });
  return valid && CpuSet(units).bind();
}

}  // namespace rankloom::spank
