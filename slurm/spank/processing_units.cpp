// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: the processing units of one node.
#include "slurm/spank/processing_units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>

#include <sched.h>

namespace rankloom::spank {

namespace {

using Mask = std::array<unsigned long, 16384 / (sizeof(unsigned long) * CHAR_BIT)>;
constexpr std::size_t word_bits = sizeof(unsigned long) * CHAR_BIT;
constexpr std::size_t mask_bits = sizeof(Mask) * CHAR_BIT;

}  // namespace

std::vector<std::uint32_t> numbers_in(std::string_view list) {
  std::vector<std::uint32_t> numbers;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at != end) {
    std::uint32_t first = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc()) return {};
    std::uint32_t last = first;
    if (read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc() || last < first || last - first >= mask_bits) return {};
    for (std::uint32_t number = first; number <= last; ++number) numbers.push_back(number);
    if (read.ptr != end && *read.ptr != ',') return {};
    at = read.ptr == end ? end : read.ptr + 1;
  }
  return numbers;
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

std::optional<std::uint32_t> unit_for(const Cpu& cpu, const std::vector<std::uint32_t>& allowed,
                                      const std::vector<std::uint32_t>& cores) {
  if (cpu.by == Cpu::By::nobody || allowed.empty()) return std::nullopt;
  if (cpu.by == Cpu::By::number) {
    return std::binary_search(allowed.begin(), allowed.end(), cpu.value) ? std::optional(cpu.value) : std::nullopt;
  }
  // Where the step is confined to its cores, what is allowed is what it has; where it sees the whole node, Slurm's list
  // says which part is its own, so that two jobs do not meet on the first unit.
  const bool confined = cores.empty() || allowed.size() <= cores.size();
  const std::size_t place = confined || cpu.value >= cores.size() ? cpu.value : cores[cpu.value];
  return allowed[place % allowed.size()];
}

bool bind_to(std::uint32_t unit) {
  if (unit >= mask_bits) return false;
  Mask mask{};
  mask[unit / word_bits] = 1UL << (unit % word_bits);
  return ::sched_setaffinity(0, sizeof mask, reinterpret_cast<const cpu_set_t*>(mask.data())) == 0;
}

}  // namespace rankloom::spank
