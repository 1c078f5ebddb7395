// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/spank: the processing units of a step on one node.
#include "slurm/spank/processing_units.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <iterator>

#include <sched.h>

#include "rankloom/core/text/number_ranges.hpp"

namespace rankloom::spank {

namespace {

using Mask = std::array<unsigned long, 16384 / (sizeof(unsigned long) * CHAR_BIT)>;
constexpr std::size_t word_bits = sizeof(unsigned long) * CHAR_BIT;
constexpr std::uint32_t mask_bits = sizeof(Mask) * CHAR_BIT;

}  // namespace

std::vector<std::uint32_t> parse_units(std::string_view list) {
  return parse_number_ranges(list, mask_bits - 1).value_or(std::vector<std::uint32_t>());
}

std::vector<std::uint32_t> allowed_units() {
  Mask mask{};
  std::vector<std::uint32_t> units;
  if (::sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask.data())) != 0) return units;
  for (std::size_t unit = 0; unit < mask_bits; ++unit) {
    if ((mask[unit / word_bits] >> (unit % word_bits) & 1UL) != 0) units.push_back(static_cast<std::uint32_t>(unit));
  }
  return units;
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
  Mask mask{};
  for (const std::uint32_t unit : units) {
    if (unit >= mask_bits) return false;
    mask[unit / word_bits] |= 1UL << (unit % word_bits);
  }
  return ::sched_setaffinity(0, sizeof mask, reinterpret_cast<const cpu_set_t*>(mask.data())) == 0;
}

}  // namespace rankloom::spank
