// SPDX-License-Identifier: Apache-2.0
// Mappings by the costs between GPUs: ranks with much traffic get GPUs that are linked.
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rankloom/model/machine/device_costs.hpp"
#include "rankloom/model/machine/slots/slots.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

constexpr SlotShape one_gpu_each{.cores = 1, .threads_per_core = 0, .gpus = 1};

/// A node of four NUMA nodes with two GPUs each. Only GPUs 2 and 3, 6 and 7 are linked.
Topology node_with_linked_pairs() {
  MachineSpec spec = *parse_topology_string("node:1=10 numa:4=3 gpu:2 core:4=1");
  spec.root.children[0].gpu_links = {{.gpus = {2, 3}, .cost = {0.125, 0}}, {.gpus = {6, 7}, .cost = {0.125, 0}}};
  return testing::built(std::move(spec));
}

/// The number on its node of the GPU that belongs to a slot.
std::uint32_t gpu_of_core(const Slots& slots, Core core) {
  for (std::size_t slot = 0; slot < slots.count(); ++slot) {
    if (slots.leaves(slot)[0] == core) return slots.gpus(slot)[0];
  }
  ADD_FAILURE() << "core " << index(core) << " does not begin a slot";
  return 0;
}

TEST(DeviceTraffic, PairsWithMuchTrafficGetLinkedGpus) {
  constexpr std::uint32_t pairs = 4, heavy_pairs = 2;
  std::vector<Rank> ranks;
  for (std::uint32_t rank = 0; rank < 2 * pairs; ++rank) ranks.push_back(Rank{rank});
  Random(3).shuffle(std::span(ranks));
  CommGraphBuilder builder(2 * pairs);
  for (std::uint32_t pair = 0; pair < pairs; ++pair)
    builder.add(ranks[2 * pair], ranks[2 * pair + 1], pair < heavy_pairs ? 1000 : 1);
  const auto devices = with_gpu_links(node_with_linked_pairs());
  ASSERT_TRUE(devices) << to_string(devices.error());
  const testing::OwnedProblem problem =
      testing::make_problem(std::move(builder).build(false), *devices, CostModel::bytes, {.shapes = one_gpu_each});
  const auto result = run_mapper(testing::mapper("exhaustive"), problem.view(), MapRun{});
  ASSERT_TRUE(result) << to_string(result.error());
  EXPECT_DOUBLE_EQ(result->cost, heavy_pairs * 1000 * 0.125 + (pairs - heavy_pairs) * 1.0);
  const auto slots = Slots::cut(*devices, 2 * pairs, one_gpu_each);
  ASSERT_TRUE(slots) << to_string(slots.error());
  for (std::uint32_t pair = 0; pair < heavy_pairs; ++pair) {
    std::set<std::uint32_t> gpus;
    for (const Rank rank : {ranks[2 * pair], ranks[2 * pair + 1]})
      gpus.insert(gpu_of_core(*slots, result->mapping[rank]));
    EXPECT_TRUE(gpus == (std::set<std::uint32_t>{2, 3}) || gpus == (std::set<std::uint32_t>{6, 7})) << "pair " << pair;
  }
}

TEST(DeviceTraffic, WithLinksBetweenAllGpusThePlaceInsideANodeDoesNotMatter) {
  const auto devices = with_gpu_links(testing::topology("node:2=10 gpu-link=0.02 numa:4=3 gpu:1 core:16=1"));
  ASSERT_TRUE(devices) << to_string(devices.error());
  const testing::OwnedProblem problem =
      testing::make_problem(testing::shuffled_groups(2, 4, 5), *devices, CostModel::bytes, {.shapes = one_gpu_each});
  const Placement placement = testing::place_with("auto", problem);
  // Two groups of four ranks, each with 12 messages of 1000 bytes inside.
  EXPECT_DOUBLE_EQ(problem.cost(placement.core_of), 24 * 1000 * 0.02);
}

}  // namespace
}  // namespace rankloom
