// SPDX-License-Identifier: Apache-2.0
// discover/strings: levels of a machine as a topology string describes them, and the way from levels to a MachineSpec.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

inline constexpr std::size_t max_levels = 60;

/// One level of a topology string.
struct LevelSpec {
  struct Count {
    std::uint64_t objects = 0;
    std::uint32_t capacity = 1;
  };
  std::string kind;
  std::vector<Count> counts;                ///< One for all parents, or one per parent in order.
  std::optional<Cost> cost;                 ///< Between cores whose paths diverge at this level.
  std::string token;                        ///< As it was written, for messages.
  std::vector<DeviceSpec> devices = {};     ///< Of each object.
  std::vector<GpuLinkSpec> gpu_links = {};  ///< Of each object.
  std::uint32_t rails = 0;                  ///< Of each object; 0: none.
};

/// The number of objects of each level. Fails if a list of counts does not match the number of parents or the machine
/// has too many cores.
Result<std::vector<std::uint64_t>> count_objects(std::span<const LevelSpec> levels);

/// The machine with these levels, top down. The levels must be valid for count_objects.
ObjectSpec build_levels(std::span<const LevelSpec> levels);

/// Distributes the cores of every object of a level (0: the top level) over its rails: the first ones are on rail 0.
/// Fails if the number of cores is not a multiple of the number of rails.
Result<void> assign_rails(ObjectSpec& root, std::size_t level, std::uint32_t rails);

/// Sets the capacity of all cores below these objects of a level (0: the top level) to 0. The ranges are sorted and
/// disjoint.
void exclude_objects(ObjectSpec& root, std::size_t level, std::span<const NumberRange> ranges);

/// The default cost of a network hop: ten times the highest inverse bandwidth of the levels inside a node after
/// defaults, or 1 if a node has one core.
Cost default_per_hop(std::span<const LevelSpec> inside);

}  // namespace rankloom
