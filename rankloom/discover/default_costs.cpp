// SPDX-License-Identifier: Apache-2.0
// discover: default costs of levels inside and outside of nodes.
#include "rankloom/discover/default_costs.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace rankloom {

namespace {

struct SharedObject {
  std::string_view kind;
  Cost cost;
};
/// Typical copies through the shared object: about 20 GB/s between threads of a core, 3 GB/s between packages of a
/// node.
constexpr auto shared_objects = std::to_array<SharedObject>({
    {"pu", {0.040, 40}},
    {"core", {0.050, 50}},
    {"l1", {0.056, 56}},
    {"l2", {0.065, 70}},
    {"l3", {0.085, 100}},
    {"l4", {0.100, 120}},
    {"numa", {0.120, 150}},
    {"die", {0.140, 180}},
    {"package", {0.180, 220}},
    {"node", {0.300, 350}},
});

/// Minimum cost of a level relative to the level below it.
constexpr double min_ratio = 1.1;
constexpr double ratio_of_unknown_level = 1.25;

}  // namespace

std::vector<Cost> default_level_costs(std::span<const std::string> kinds) {
  std::vector<Cost> costs(kinds.size());
  Cost below{0.03, 30};
  for (std::size_t level = kinds.size(); level-- > 0;) {
    const auto known = std::find_if(shared_objects.begin(), shared_objects.end(),
                                    [&](const SharedObject& object) { return object.kind == kinds[level]; });
    const bool is_known = known != shared_objects.end();
    const double ratio = is_known ? min_ratio : ratio_of_unknown_level;
    const Cost typical = is_known ? known->cost : Cost{};
    below = {std::max(typical.inverse_bandwidth, ratio * below.inverse_bandwidth),
             std::max(typical.latency, ratio * below.latency)};
    costs[level] = below;
  }
  return costs;
}

Cost default_switch_cost(std::size_t height) {
  const auto above_first = static_cast<double>(height > 0 ? height - 1 : 0);
  return {1.0 + 0.25 * above_first, 1500 + 500 * above_first};
}

}  // namespace rankloom
