// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/exhaustive/symmetry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;

MachineSymmetry symmetry_of(const Topology& machine) {
  return MachineSymmetry(
      machine, 0, [&](Core p, Core q) { return machine.capacity(p) == machine.capacity(q); },
      [&](Core p, Core q, Core r, Core s) { return machine.cost(p, q) == machine.cost(r, s); });
}

/// The representative cores when each of the given cores has a rank.
std::vector<std::uint32_t> cores_to_try(const Topology& machine, std::initializer_list<std::uint32_t> used) {
  std::vector<std::uint32_t> occupants(machine.core_count(), 0);
  for (const std::uint32_t core : used) ++occupants[core];
  std::vector<bool> representative;
  symmetry_of(machine).representatives(occupants, representative);
  std::vector<std::uint32_t> cores;
  for (std::uint32_t core = 0; core < machine.core_count(); ++core) {
    if (representative[core] && occupants[core] == 0) cores.push_back(core);
  }
  return cores;
}

TEST(MachineSymmetry, TriesOneCoreOfAnEmptyMachine) {
  EXPECT_THAT(cores_to_try(testing::topology("switch:2=9 node:3=4 core:4=1"), {}), ElementsAre(0));
}

TEST(MachineSymmetry, TriesOneCoreForEachDistanceFromATask) {
  EXPECT_THAT(cores_to_try(testing::topology("switch:2=9 node:3=4 core:4=1"), {0}), ElementsAre(1, 4, 12));
  EXPECT_THAT(cores_to_try(testing::topology("switch:2=9 node:3=4 core:4=1"), {0, 12}), ElementsAre(1, 4, 13, 16));
}

TEST(MachineSymmetry, DistinguishesNodesOfDifferentSizeAndCoresOfDifferentCapacity) {
  EXPECT_THAT(cores_to_try(testing::topology("node:3=9 core:2+3+2=1"), {}), ElementsAre(0, 2));
  EXPECT_THAT(cores_to_try(testing::topology("node:2=9 core:3=1 !core:1"), {}), ElementsAre(0, 1, 3));
}

TEST(MachineSymmetry, IsTrivialForAMatrixOfRandomDistances) {
  EXPECT_TRUE(symmetry_of(testing::random_table(9, 1)).trivial());
  EXPECT_FALSE(symmetry_of(testing::topology("core:2")).trivial());
}

}  // namespace
}  // namespace rankloom
