// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/local_search/neighbourhood.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

/// The cores of each region around `centre` for a rank on `from`, the smallest region first.
std::vector<std::vector<std::uint32_t>> regions_around(const Topology& machine, std::uint32_t from,
                                                       std::uint32_t centre) {
  const Neighbourhood neighbourhood(machine);
  std::vector<Neighbourhood::Region> regions;
  neighbourhood.regions(Core{from}, Core{centre}, regions);
  std::vector<std::vector<std::uint32_t>> result;
  for (const auto& region : regions) {
    std::vector<Core> cores;
    neighbourhood.cores(region, 3, cores);
    auto& numbers = result.emplace_back();
    for (const Core core : cores) numbers.push_back(index(core));
    const Core probe = neighbourhood.probe(region, Core{centre});
    EXPECT_TRUE(probe != Core{centre} || cores.size() == 1);
  }
  return result;
}

TEST(Neighbourhood, ConsistsOfTheObjectsThatContainOnlyTheCentre) {
  const Topology machine = testing::topology("switch:2=9 node:2=4 core:3=1");
  EXPECT_THAT(regions_around(machine, 0, 7),
              ElementsAre(ElementsAre(7), ElementsAre(6, 7, 8), ElementsAre(6, 7, 8, 9, 10, 11)));
  EXPECT_THAT(regions_around(machine, 0, 4), ElementsAre(ElementsAre(4), ElementsAre(3, 4, 5)));
  EXPECT_THAT(regions_around(machine, 0, 1), ElementsAre(ElementsAre(1)));
  EXPECT_TRUE(regions_around(machine, 5, 5).empty());
}

TEST(Neighbourhood, IncludesTheAdjacentNodesOfANetwork) {
  EXPECT_THAT(regions_around(testing::topology("torus:4x4=1 core:1"), 0, 5),
              ElementsAre(ElementsAre(5), UnorderedElementsAre(1, 4, 6, 9)));
  // With routers between the nodes: the nodes attached to the same router.
  EXPECT_THAT(regions_around(testing::topology("fattree:2,3=1 core:1"), 0, 4),
              ElementsAre(ElementsAre(4), UnorderedElementsAre(3, 5)));
}

TEST(Neighbourhood, IncludesTheClosestCoresOfADistanceMatrix) {
  std::vector<double> line(20 * 20);
  for (int p = 0; p < 20; ++p) {
    for (int q = 0; q < 20; ++q) line[static_cast<std::size_t>(p * 20 + q)] = std::abs(p - q);
  }
  const auto regions = regions_around(*Topology::from_matrix(20, line), 19, 2);
  ASSERT_EQ(regions.size(), 2);
  EXPECT_THAT(regions[1], ::testing::Contains(1));
  EXPECT_THAT(regions[1], ::testing::Contains(3));
  EXPECT_THAT(regions[1], ::testing::Not(::testing::Contains(19)));
}

TEST(Neighbourhood, SamplesALargeRegionDifferentlyInEveryTurn) {
  const Topology machine = testing::topology("node:2=4 core:100=1");
  const Neighbourhood neighbourhood(machine);
  std::vector<Core> first, second;
  neighbourhood.cores({0, 1}, 0, first);
  neighbourhood.cores({0, 1}, 1, second);
  EXPECT_EQ(first.size(), Neighbourhood::window);
  EXPECT_NE(first, second);
  for (const Core core : first) EXPECT_GE(index(core), 100);
  for (const Core core : second) EXPECT_GE(index(core), 100);
}

}  // namespace
}  // namespace rankloom
