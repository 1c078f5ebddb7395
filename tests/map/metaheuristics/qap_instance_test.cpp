// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/metaheuristics/qap_instance.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

TEST(QapInstance, HasTheCostOfThePlacementOnEveryMachineUnderEveryModel) {
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const CostModelInfo& model : cost_models()) {
      SCOPED_TRACE(name + " " + std::string(model.name));
      const auto problem = testing::make_problem(testing::random_graph(9, 0.5, 1), machine, model.model);
      if (pairwise_model(model.model) != model.model) {
        EXPECT_FALSE(QapInstance::fits(problem.view()));
        continue;
      }
      ASSERT_TRUE(QapInstance::fits(problem.view()));
      const QapInstance instance(problem.view());
      const auto core_of = testing::random_placement(9, machine, problem.capacities, 2);
      const auto assignment = instance.locations().assignment_of(core_of);
      EXPECT_NEAR(instance.cost(assignment), problem.cost(core_of), 1e-9 * std::abs(problem.cost(core_of)));
      EXPECT_EQ(instance.locations().placement_of(assignment), core_of);
    }
  }
}

TEST(QapInstance, FindsClassesOfInterchangeableFacilitiesAndLocations) {
  // Ranks 0 and 1 have no traffic, like the dummy facility; 2 and 3 communicate only with each other.
  CommGraphBuilder builder(5);
  builder.add(Rank{2}, Rank{3}, 10);
  builder.add(Rank{3}, Rank{2}, 10);
  builder.add(Rank{4}, Rank{4}, 3);
  const auto problem =
      testing::make_problem(std::move(builder).build(false), testing::topology("node:2=10 package:1 core:3=1"));
  const QapInstance instance(problem.view());
  const std::vector<std::uint32_t> facilities(instance.facility_class().begin(), instance.facility_class().end());
  const std::vector<std::uint32_t> locations(instance.location_class().begin(), instance.location_class().end());
  EXPECT_EQ(facilities, (std::vector<std::uint32_t>{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(locations, (std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1}));
}

TEST(QapInstance, HasOneTermIfFlowOrDistanceIsSymmetric) {
  EXPECT_EQ(QapInstance(testing::qaplib("nug12").view()).terms().size(), 1U);
  EXPECT_EQ(QapInstance(testing::qaplib("tai20b").view()).terms().size(), 1U);
  EXPECT_EQ(QapInstance(testing::qaplib("bur26a").view()).terms().size(), 2U);
}

}  // namespace
}  // namespace rankloom
