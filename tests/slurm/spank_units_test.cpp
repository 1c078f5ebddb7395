// SPDX-License-Identifier: Apache-2.0
// Tests of slurm/spank: the parts of the SPANK plugin that need no Slurm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slurm/spank/node_slots.hpp"
#include "slurm/spank/placement.hpp"
#include "slurm/spank/processing_units.hpp"
#include "slurm/spank/program_query.hpp"

namespace rankloom::spank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(Recording, IsReadOrRefused) {
  const auto recording = read_recording("record\n/data/r\n/data/r/recording\n/opt/librecord.so\n");
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->directory, "/data/r");
  EXPECT_EQ(recording->prefix, "/data/r/recording");
  EXPECT_EQ(recording->library, "/opt/librecord.so");
  for (const char* const text :
       {"", "record\n", "record\n/a\n/b\n", "record\n/a\n/b\nc\n", "record\n/a\n/b\n/c\nd", "ranks 1\n0 n1 -\n"})
    EXPECT_FALSE(read_recording(text)) << text;
}

TEST(Placement, IsReadFromTheOutputOfRankloom) {
  const auto placement = read_placement("ranks 3\n0 n2 +1\n1 n1 0-2,7\n2 n2 -\n");
  ASSERT_TRUE(placement);
  EXPECT_THAT(placement->hosts, ElementsAre("n2", "n1", "n2"));
  EXPECT_EQ(placement->slots[0].kind, SlotChoice::Kind::position);
  EXPECT_THAT(placement->slots[0].values, ElementsAre(1));
  EXPECT_EQ(placement->slots[1].kind, SlotChoice::Kind::os_index);
  EXPECT_THAT(placement->slots[1].values, ElementsAre(0, 1, 2, 7));
  EXPECT_EQ(placement->slots[2].kind, SlotChoice::Kind::none);
}

TEST(Placement, ContainsGpus) {
  const auto placement = read_placement("ranks 2 gpus-per-task 2\n0 n1 0-3 gpus=4-5\n1 n1 +4 gpus=0,2\n");
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->gpus_per_task, 2);
  EXPECT_THAT(placement->slots[0].values, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(placement->slots[0].gpus, ElementsAre(4, 5));
  EXPECT_THAT(placement->slots[1].gpus, ElementsAre(0, 2));
}

TEST(Placement, IsRejectedIfIncompleteOrMalformed) {
  for (const char* const text :
       {"", "ranks", "ranks 0\n", "ranks 2\n0 n 1\n", "ranks 1\n0 n 1\n1 n 1\n", "ranks 1\n1 n 1\n", "ranks 1\n0 n\n",
        "ranks 1\n0 n x\n", "ranks 1\n0  1\n", "ranks 1\n0 n 1 1\n", "ranks 99999999999\n", "refuse\n",
        "ranks 1\n0 n 1 gpus=\n", "ranks 1\n0 n 1 gpus=x\n", "ranks 1\n0 n 1 gpu=1\n", "ranks 1 gpus\n0 n 1\n",
        "ranks 1 gpus-per-task x\n0 n 1\n"}) {
    EXPECT_FALSE(read_placement(text)) << text;
  }
}

TEST(Placement, IsPassedInTheEnvironment) {
  std::vector<SlotChoice> cpus;
  for (std::uint32_t rank = 0; rank < 20000; ++rank)
    cpus.push_back(
        {rank % 3 == 0   ? SlotChoice::Kind::none
         : rank % 3 == 1 ? SlotChoice::Kind::os_index
                         : SlotChoice::Kind::position,
         rank % 3 == 0 ? std::vector<std::uint32_t>() : std::vector<std::uint32_t>{rank, rank + 1, 2 * rank + 7},
         rank % 2 == 0 ? std::vector<std::uint32_t>() : std::vector<std::uint32_t>{rank % 8, rank % 8 + 1}});
  std::vector<std::string> entries{"PATH=/bin"};
  for (const auto& [name, value] : write_variables(cpus)) {
    EXPECT_LT(value.size(), 128U << 10U) << "the kernel limits the length of a variable";
    entries.push_back(name + "=" + value);
  }
  std::vector<char*> environment;
  for (std::string& entry : entries) environment.push_back(entry.data());
  environment.push_back(nullptr);
  std::vector<std::string> names;
  const auto decoded = read_variables(environment.data(), names);
  EXPECT_EQ(names.size(), 10);
  ASSERT_EQ(decoded.size(), cpus.size());
  for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
    ASSERT_EQ(decoded[rank].kind, cpus[rank].kind) << rank;
    ASSERT_EQ(decoded[rank].values, cpus[rank].values) << rank;
    ASSERT_EQ(decoded[rank].gpus, cpus[rank].gpus) << rank;
  }
  environment.erase(environment.begin() + 1);  // the first variable is missing
  EXPECT_THAT(read_variables(environment.data(), names), IsEmpty());
}

TEST(Placement, NeedsNoVariablesIfNoRankIsBound) {
  EXPECT_THAT(write_variables(std::vector<SlotChoice>(4)), IsEmpty());
}

TEST(ProcessingUnits, AreParsedFromSlurmsLists) {
  EXPECT_THAT(parse_units("0-3,8"), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(parse_units("5"), ElementsAre(5));
  for (const char* const text : {"", "x", "3-1", "1-", "1;2", "0-99999999"}) EXPECT_THAT(parse_units(text), IsEmpty());
  EXPECT_FALSE(allowed_units().empty());
}

TEST(ProcessingUnits, AreFoundByOsIndexOrByPosition) {
  const std::vector<std::uint32_t> node{0, 1, 2, 3, 4, 5, 6, 7}, confined{4, 6};
  using Units = std::vector<std::uint32_t>;
  const auto numbers = [](Units values) { return SlotChoice{SlotChoice::Kind::os_index, std::move(values)}; };
  const auto positions = [](Units values) { return SlotChoice{SlotChoice::Kind::position, std::move(values)}; };
  EXPECT_THAT(find_units(numbers({6}), confined, {}), ElementsAre(6));
  EXPECT_THAT(find_units(numbers({4, 6}), confined, {}), ElementsAre(4, 6));
  EXPECT_THAT(find_units(numbers({4, 5}), confined, {}), ElementsAre(4)) << "5 is not a unit of the step";
  EXPECT_THAT(find_units(numbers({5, 7}), confined, {}), IsEmpty());
  EXPECT_THAT(find_units({}, node, {}), IsEmpty());
  EXPECT_THAT(find_units(positions({1}), confined, {2, 3}), ElementsAre(6)) << "the second unit that the cgroup allows";
  EXPECT_THAT(find_units(positions({0, 1}), node, {2, 3}), ElementsAre(2, 3)) << "an unconfined step uses its cores";
  EXPECT_THAT(find_units(positions({3}), {0, 1}, {0, 1, 2, 3}), ElementsAre(1))
      << "a node that is configured with more cores than it has";
}

/// A node with four GPUs and eight processing units. GPUs 3, 2, 1, 0 are near the units 0-1, 2-3, 4-5, 6-7.
StepResources reversed_node(std::vector<std::uint32_t> gpus = {0, 1, 2, 3}) {
  StepResources step{.allowed = {0, 1, 2, 3, 4, 5, 6, 7}, .cores = {}, .cpus_per_task = 2, .gpus = {}};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < gpus.size(); ++i) names.push_back(std::to_string(i));  // as in a cgroup of the step
  step.gpus = {std::move(gpus), {{"CUDA_VISIBLE_DEVICES", std::move(names)}}};
  step.gpus_per_task = 1;
  return step;
}

/// The slots of ranks on the reversed node.
std::vector<SlotChoice> slots_near(const std::vector<std::uint32_t>& gpus) {
  std::vector<SlotChoice> slots;
  for (const std::uint32_t gpu : gpus)
    slots.push_back({SlotChoice::Kind::os_index, {2 * (3 - gpu), 2 * (3 - gpu) + 1}, {gpu}});
  return slots;
}

/// The GPUs of each rank, and its first processing unit.
std::vector<std::pair<std::vector<std::uint32_t>, int>> gpus_and_first_units(const NodeSlots& node) {
  std::vector<std::pair<std::vector<std::uint32_t>, int>> all;
  for (const auto& [units, gpus] : node.tasks) all.emplace_back(gpus, units.empty() ? -1 : static_cast<int>(units[0]));
  return all;
}

TEST(NodeSlots, AreThoseOfTheMapping) {
  const NodeSlots node = assign_slots(slots_near({2, 0, 3, 1}), reversed_node());
  EXPECT_EQ(node.gpus, NodeSlots::Gpus::mapped);
  EXPECT_THAT(gpus_and_first_units(node), ElementsAre(Pair(ElementsAre(2), 2), Pair(ElementsAre(0), 6),
                                                      Pair(ElementsAre(3), 0), Pair(ElementsAre(1), 4)));
}

TEST(NodeSlots, OrderTheGpusThatAllRanksSee) {
  StepResources step = reversed_node();
  step.gpus_per_task = 0;  // --gpus-per-node
  const NodeSlots node = assign_slots(slots_near({2, 0}), step);
  EXPECT_EQ(node.gpus, NodeSlots::Gpus::mapped);
  EXPECT_THAT(gpus_and_first_units(node),
              ElementsAre(Pair(ElementsAre(2, 0, 1, 3), 2), Pair(ElementsAre(2, 0, 1, 3), 6)));
  step.gpus.variables = {{"ZE_AFFINITY_MASK", {"0", "1", "2", "3"}}};
  EXPECT_EQ(assign_slots(slots_near({2, 0}), step).gpus, NodeSlots::Gpus::left_to_slurm)
      << "Level Zero has its own order, in which the ranks have GPUs 0 and 1";
}

TEST(NodeSlots, KeepTheGpusOfSlurmIfTheStepHasOthers) {
  const NodeSlots other = assign_slots(slots_near({3, 1}), reversed_node({0, 1}));
  EXPECT_EQ(other.gpus, NodeSlots::Gpus::left_to_slurm);
  EXPECT_THAT(gpus_and_first_units(other), ElementsAre(Pair(ElementsAre(0), -1), Pair(ElementsAre(1), -1)));
  const NodeSlots unknown = assign_slots(slots_near({3, 1}), reversed_node({}));
  EXPECT_THAT(gpus_and_first_units(unknown), ElementsAre(Pair(IsEmpty(), -1), Pair(IsEmpty(), -1)));
  const NodeSlots no_mapping = assign_slots(std::vector<SlotChoice>(2), reversed_node({1, 2, 3}));
  EXPECT_THAT(gpus_and_first_units(no_mapping), ElementsAre(Pair(ElementsAre(1), -1), Pair(ElementsAre(2), -1)));
}

TEST(NodeSlots, KeepTheGpusOfSlurmIfTheStepHasOtherUnits) {
  StepResources step = reversed_node();
  step.allowed = {0, 1, 2, 3, 4, 5, 6};  // GPU 0 has one unit instead of two
  const NodeSlots node = assign_slots(slots_near({2, 0, 3, 1}), step);
  EXPECT_EQ(node.gpus, NodeSlots::Gpus::left_to_slurm);
  EXPECT_THAT(gpus_and_first_units(node), ElementsAre(Pair(ElementsAre(0), -1), Pair(ElementsAre(1), -1),
                                                      Pair(ElementsAre(2), -1), Pair(ElementsAre(3), -1)));
}

TEST(NodeSlots, HaveUnitsNearTheGpusOfSlurm) {
  StepResources step = reversed_node();
  std::vector<SlotChoice> slots = slots_near({2, 0, 3, 1});
  slots[1].gpus = {2};  // two ranks share a GPU, but Slurm gives each rank its own
  EXPECT_EQ(assign_slots(slots, step).gpus, NodeSlots::Gpus::left_to_slurm);
  step.gpus_per_task = 0;
  step.gpus.variables = {{"ZE_AFFINITY_MASK", {"0", "1", "2", "3"}}};  // in its own order
  const NodeSlots node = assign_slots(slots_near({2, 0, 3, 1}), step);
  EXPECT_EQ(node.gpus, NodeSlots::Gpus::kept);
  EXPECT_THAT(gpus_and_first_units(node),
              ElementsAre(Pair(IsEmpty(), 6), Pair(IsEmpty(), 4), Pair(IsEmpty(), 2), Pair(IsEmpty(), 0)));
}

TEST(StepGpus, AreReadFromTheVariablesOfSlurm) {
  std::vector<std::string> entries{"CUDA_VISIBLE_DEVICES_OLD=7", "SLURM_STEP_GPUS=4,6", "CUDA_VISIBLE_DEVICES=0,1",
                                   "ROCR_VISIBLE_DEVICES=GPU-a,GPU-b", "ZE_AFFINITY_MASK=0"};
  std::vector<char*> environment;
  for (std::string& entry : entries) environment.push_back(entry.data());
  environment.push_back(nullptr);
  const StepGpus step = read_step_gpus(environment.data());
  EXPECT_THAT(step.numbers, ElementsAre(4, 6));
  EXPECT_THAT(step.variables, ElementsAre(Pair("CUDA_VISIBLE_DEVICES", ElementsAre("0", "1")),
                                          Pair("ROCR_VISIBLE_DEVICES", ElementsAre("GPU-a", "GPU-b"))))
      << "variables with other numbers of GPUs are not of this step";
  EXPECT_THAT(gpu_variables(step, {6, 4}, false),
              ElementsAre(Pair("CUDA_VISIBLE_DEVICES", "1,0"), Pair("ROCR_VISIBLE_DEVICES", "GPU-b,GPU-a"),
                          Pair("SLURM_STEP_GPUS", "6,4")));
  EXPECT_THAT(gpu_variables(step, {6}, true),
              ElementsAre(Pair("CUDA_VISIBLE_DEVICES", std::nullopt), Pair("ROCR_VISIBLE_DEVICES", "GPU-b"),
                          Pair("SLURM_STEP_GPUS", "6")));
  environment.erase(environment.begin() + 1);
  EXPECT_THAT(read_step_gpus(environment.data()).numbers, IsEmpty());
}

TEST(ProgramQuery, ReturnsOutputAndErrors) {
  const auto result = query_program({"sh", "-c", "echo out; echo err >&2"}, std::chrono::seconds(20));
  EXPECT_TRUE(result.succeeded);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
}

TEST(ProgramQuery, ReportsEveryKindOfFailure) {
  EXPECT_THAT(query_program({"/nothing/at-all"}, std::chrono::seconds(20)).errors, HasSubstr("cannot be started"));
  EXPECT_FALSE(query_program({"false"}, std::chrono::seconds(20)).succeeded);
  EXPECT_THAT(query_program({"sh", "-c", "kill -9 $$"}, std::chrono::seconds(20)).errors,
              HasSubstr("failed without an error message"));
  const auto before = std::chrono::steady_clock::now();
  EXPECT_THAT(query_program({"sleep", "60"}, std::chrono::milliseconds(1000)).errors, HasSubstr("within 1 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20));
}

TEST(ProgramQuery, ReadsLongOutput) {
  const auto result =
      query_program({"sh", "-c", "head -c 3000000 /dev/zero; head -c 300000 /dev/zero >&2"}, std::chrono::seconds(60));
  EXPECT_EQ(result.output.size(), 3000000);
  EXPECT_EQ(result.errors.size(), 300000);
}

}  // namespace
}  // namespace rankloom::spank
