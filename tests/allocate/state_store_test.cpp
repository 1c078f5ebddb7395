// SPDX-License-Identifier: Apache-2.0
#include "rankloom/allocate/state/state_store.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "tests/allocate/allocate_support.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;

class StateFile : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = fmt::format("{}/{}.state", ::testing::TempDir(),
                        ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove(path_);
    settings_.machine = write_machine_json(testing::topology("mesh:4x4 core:2").spec());
  }
  void TearDown() override { std::filesystem::remove(path_); }

  StateStore make() {
    EXPECT_TRUE(StateStore::create(path_, settings_, true));
    auto store = StateStore::open(path_);
    EXPECT_TRUE(store);
    return *store;
  }
  static Result<void> add(StateStore& store, StoredJob job) {
    return store.change([&](const MachineState&) -> Result<StateChange> {
      return StateChange{.add = {job}, .remove = {}, .drain = {}, .resume = {}};
    });
  }

  std::string path_;
  StateSettings settings_;
};

TEST_F(StateFile, RestoresEverythingThatWasStored) {
  settings_.exclusive = Exclusive::links;
  settings_.policy = "closed-fewest";
  settings_.limits = {.waste = 0.1, .slack = 0.5};
  StateStore store = make();
  StoredJob job{"a job", 7, {Node{0}, Node{1}, Node{5}}, {Node{4}}, 2, true, "closed-minimum", ""};
  ASSERT_TRUE(add(store, job));
  ASSERT_TRUE(store.change([](const MachineState&) -> Result<StateChange> {
    return StateChange{.add = {}, .remove = {}, .drain = {{Node{9}, true, "smoke"}}, .resume = {}};
  }));
  auto again = StateStore::open(path_);
  ASSERT_TRUE(again);
  const auto state = again->read();
  ASSERT_TRUE(state);
  EXPECT_EQ(state->settings.machine, settings_.machine);
  EXPECT_EQ(state->settings.exclusive, Exclusive::links);
  EXPECT_EQ(state->settings.policy, "closed-fewest");
  EXPECT_EQ(state->settings.limits.waste, 0.1);
  EXPECT_EQ(state->settings.limits.slack, 0.5);
  ASSERT_EQ(state->jobs.size(), 1);
  EXPECT_EQ(state->jobs[0].nodes, job.nodes);
  EXPECT_EQ(state->jobs[0].reserved, job.reserved);
  EXPECT_EQ(state->jobs[0].tasks, 7);
  EXPECT_TRUE(state->jobs[0].isolated);
  EXPECT_EQ(state->jobs[0].since.size(), 20);
  ASSERT_EQ(state->drains.size(), 1);
  EXPECT_TRUE(state->drains[0].failed);
  EXPECT_EQ(state->drains[0].reason, "smoke");
  EXPECT_EQ(state->next_number, 2);
}

TEST_F(StateFile, IsUnchangedIfADecisionFails) {
  StateStore store = make();
  ASSERT_TRUE(add(store, {.name = "a", .nodes = {Node{0}}, .reserved = {}, .policy = "", .since = ""}));
  EXPECT_FALSE(store.change(
      [](const MachineState&) -> Result<StateChange> { return fail(Code::infeasible, at("here"), "no", "wait"); }));
  EXPECT_FALSE(
      add(store, {.name = "a", .nodes = {Node{1}}, .reserved = {}, .policy = "", .since = ""}));  // the name is in use
  EXPECT_EQ(store.read()->jobs.size(), 1);
}

TEST_F(StateFile, IsNotReplacedWithoutForce) {
  make();
  const auto again = StateStore::create(path_, settings_, false);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().hint, HasSubstr("--force"));
}

TEST_F(StateFile, NamesTheReasonIfItCannotBeOpened) {
  EXPECT_THAT(StateStore::open(path_).error().hint, HasSubstr("alloc init"));
  ASSERT_TRUE(write_file(
      path_,
      "nothing like a database, but long enough to have a header of one hundred bytes, so that it is looked at"));
  EXPECT_EQ(StateStore::open(path_).error().code, Code::bad_input);
}

TEST_F(StateFile, IsRefusedIfDamaged) {
  {
    StateStore store = make();
    ASSERT_TRUE(add(store, {.name = "a", .nodes = {Node{0}}, .reserved = {}, .policy = "", .since = ""}));
  }
  std::string content(read_file(path_)->view());
  for (std::size_t i = 4096; i < content.size(); ++i) content[i] = static_cast<char>(i * 7);
  ASSERT_TRUE(write_file(path_, content));
  auto store = StateStore::open(path_);
  ASSERT_TRUE(store);  // its header is intact
  const auto state = store->read();
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, Code::bad_input);
  EXPECT_THAT(state.error().what, HasSubstr("damaged"));
}

TEST_F(StateFile, IsRefusedIfInconsistent) {
  StateStore store = make();
  ASSERT_TRUE(add(store, {.name = "a", .nodes = {Node{3}, Node{4}}, .reserved = {}, .policy = "", .since = ""}));
  ASSERT_TRUE(add(store, {.name = "b", .nodes = {Node{4}}, .reserved = {}, .policy = "", .since = ""}));
  const auto restored = restore(*store.read(), path_);
  ASSERT_FALSE(restored);
  EXPECT_THAT(restored.error().what, HasSubstr("node 4 belongs to two jobs"));
}

TEST_F(StateFile, RestoresTheOccupancy) {
  StateStore store = make();
  ASSERT_TRUE(add(store, {.name = "a", .nodes = {Node{0}, Node{1}}, .reserved = {Node{2}}, .policy = "", .since = ""}));
  const auto restored = restore(*store.read(), path_);
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->occupancy.free_count(), 13);
  EXPECT_EQ(restored->occupancy.used_resources().count(), 2);
  EXPECT_EQ(restored->allocator.machine().cores_per_node(), 2);
}

TEST(NodeRanges, AreRunsOfConsecutiveNumbers) {
  const Node nodes[] = {Node{0}, Node{1}, Node{2}, Node{7}, Node{9}, Node{10}};
  EXPECT_EQ(node_ranges(nodes), "0-2,7,9-10");
  EXPECT_EQ(node_ranges({}), "");
}

}  // namespace
}  // namespace rankloom
