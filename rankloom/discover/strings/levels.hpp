// SPDX-License-Identifier: Apache-2.0
// discover: between the words of a topology string and a MachineSpec: a list of levels, and holes in them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

inline constexpr std::uint64_t most_cores = 0xffff'fffe;
inline constexpr std::size_t most_levels = 60;

/// One level, as it is written.
struct LevelWords {
  struct Count {
    std::uint64_t objects = 0;
    std::uint32_t capacity = 1;
  };
  std::string kind;
  std::vector<Count> counts;  ///< One for all parents, or one for each parent in order.
  std::optional<Cost> cost;   ///< Between cores that part at this level.
  std::string token;          ///< As it was written, for messages.
};

/// Numbers of objects of one level, counted over the machine, both ends included.
struct Range {
  std::uint64_t first, last;
};

/// How many objects each level has; fails when a list of counts does not fit the parents or there are too many cores.
Result<std::vector<std::uint64_t>> count_objects(std::span<const LevelWords> levels);

/// The machine of these levels, top down. They must have passed count_objects.
ObjectSpec build_levels(std::span<const LevelWords> levels);

/// Gives all cores below these objects of a level (0: the top one) the capacity 0. The ranges rise and do not touch.
void close_objects(ObjectSpec& root, std::size_t level, std::span<const Range> ranges);

/// Ten times the dearest gap of these levels after defaults, or 1 when they hold one core: what a hop costs unless
/// said.
Cost default_per_hop(std::span<const LevelWords> inside);

}  // namespace rankloom
