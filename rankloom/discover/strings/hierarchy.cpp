// SPDX-License-Identifier: Apache-2.0
// discover/strings: the notation of the partitioning literature: --hierarchy 4:8:6 --distance 1:10:100, bottom up.
#include <cmath>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/strings/levels.hpp"
#include "rankloom/discover/strings/tokens.hpp"

namespace rankloom {

namespace {

/// One level: core. Two: node, core. Three: node, package, core. Further levels: switch.
std::string kind_of(std::size_t level_from_below, std::size_t levels) {
  if (level_from_below == 0) return "core";
  if (level_from_below == 1 && levels > 2) return "package";
  return level_from_below <= 2 ? "node" : "switch";
}

}  // namespace

Result<MachineSpec> parse_hierarchy(std::string_view hierarchy, std::string_view distance) {
  const auto counts = split(hierarchy, ':'), distances = split(distance, ':');
  if (counts.size() != distances.size()) {
    return fail(Code::bad_input, at("--distance"),
                fmt::format("there are {} distances for the {} levels of --hierarchy {}", distances.size(),
                            counts.size(), printable(hierarchy)),
                "give one distance per level, bottom up: --hierarchy 4:8:6 --distance 1:10:100");
  }
  if (counts.size() > max_levels) {
    return fail(Code::bad_input, at("--hierarchy"), fmt::format("there are more than {} levels", max_levels),
                "reduce the number of levels");
  }
  std::vector<LevelSpec> levels(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto count = parse_size(counts[i]);
    if (!count) {
      return fail(Code::bad_input, at("--hierarchy"), fmt::format("\"{}\" is not a count", printable(counts[i])),
                  "give counts above 0, bottom up: 4:8:6 is 4 cores per package, 8 packages per node, 6 nodes");
    }
    const auto parsed_distance = parse_number(distances[i]);
    if (!parsed_distance || !is_valid_cost({*parsed_distance, 0})) {
      return fail(Code::bad_input, at("--distance"),
                  fmt::format("\"{}\" is not a distance above 0", printable(distances[i])),
                  "give numbers above 0 and up to 1e40, bottom up: 1:10:100");
    }
    levels[counts.size() - 1 - i] = {.kind = kind_of(i, counts.size()),
                                     .counts = {{.objects = *count}},
                                     .cost = Cost{*parsed_distance, 0},
                                     .token = printable(counts[i])};
  }
  if (auto objects = count_objects(levels); !objects) {
    objects.error().where = at("--hierarchy");
    return propagate(objects);
  }
  MachineSpec machine;
  machine.text = fmt::format("--hierarchy {} --distance {}", hierarchy, distance);
  machine.root = build_levels(levels);
  return machine;
}

}  // namespace rankloom
