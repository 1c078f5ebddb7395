// SPDX-License-Identifier: Apache-2.0
// Tests of apps: the plan of an experiment, and its rows on the disk.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/rankloom/verbs/mapping/bench/plan.hpp"
#include "apps/rankloom/verbs/mapping/bench/row_journal.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/temporary_directory.hpp"

namespace rankloom::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

BenchPlan small_plan() {
  BenchPlan plan;
  plan.instances = {{"g", "m", "files"}, {"h", "m", "files"}};
  plan.mappers = {"a", "b"};
  plan.seeds = 2;
  return plan;
}

TEST(BenchPlan, InterleavesTheMappersOfAnInstanceAndSeed) {
  std::vector<std::string> order;
  const BenchPlan plan = small_plan();
  for (const BenchRun& run : plan.runs()) order.push_back(run.instance->graph + run.mapper + std::to_string(run.seed));
  EXPECT_THAT(order, ElementsAre("ga0", "gb0", "ga1", "gb1", "ha0", "hb0", "ha1", "hb1"));
}

TEST(BenchPlan, ContinuesTheSameExperimentOrASmallerOne) {
  const BenchPlan plan = small_plan();
  EXPECT_TRUE(plan.check_continues(plan.json(), "f"));
  BenchPlan smaller = plan;
  smaller.seeds = 1;
  smaller.mappers = {"b"};
  EXPECT_TRUE(plan.check_continues(smaller.json(), "f"));
  EXPECT_FALSE(smaller.check_continues(plan.json(), "f"));
  BenchPlan other = plan;
  other.settings.threads = 2;
  const auto refused = plan.check_continues(other.json(), "f");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().hint, HasSubstr("--force"));
  EXPECT_FALSE(plan.check_continues(Json::parse("[1]"), "f"));
  EXPECT_FALSE(plan.check_continues(Json::parse("{\"settings\": 3}"), "f"));
}

TEST(BenchPlan, RunsEveryMapperWithEveryBudget) {
  BenchPlan plan = small_plan();
  const auto budgets = read_budgets("1s,10ms,1000ms");
  ASSERT_TRUE(budgets);
  EXPECT_THAT(*budgets, ElementsAre(std::chrono::milliseconds(10), std::chrono::milliseconds(1000)));
  plan.seeds = 1;
  plan.budgets = *budgets;
  std::vector<std::string> order;
  for (const BenchRun& run : plan.runs())
    order.push_back(run.instance->graph + run.mapper + std::to_string(run.budget->count()));
  EXPECT_THAT(order, ElementsAre("ga10", "ga1000", "gb10", "gb1000", "ha10", "ha1000", "hb10", "hb1000"));
  for (const char* wrong : {"soon", "0s", "1s,-1s", "10us"}) EXPECT_FALSE(read_budgets(wrong)) << wrong;
  EXPECT_TRUE(read_budgets("")->empty());
  EXPECT_NE(run_key("g", "m", "a", 0, plan.budgets[0]), run_key("g", "m", "a", 0, plan.budgets[1]));

  BenchPlan fewer = plan;
  fewer.budgets.pop_back();
  EXPECT_TRUE(plan.check_continues(fewer.json(), "f"));
  EXPECT_FALSE(fewer.check_continues(plan.json(), "f"));
  fewer.budgets.clear();
  EXPECT_FALSE(plan.check_continues(fewer.json(), "f"));
}

TEST(BenchPlan, CombinesGraphsWithMachinesAndExpandsPacks) {
  std::string model;
  const auto combined = bench_instances({"gen:ring:ranks=4", "a.graph"}, {"core:4", "core:8"}, model);
  ASSERT_TRUE(combined);
  EXPECT_EQ(combined->size(), 4U);
  EXPECT_EQ((*combined)[0].instance_class, "ring");
  EXPECT_EQ((*combined)[3].instance_class, "files");
  EXPECT_EQ(model, "");
  const auto pack = bench_instances({"pack:npb"}, {}, model);
  ASSERT_TRUE(pack);
  EXPECT_GT(pack->size(), 5U);
  EXPECT_EQ(model, "bytes");
  EXPECT_FALSE(bench_instances({"pack:nothing"}, {}, model));
}

TEST(BenchPlan, RunsAutoWithEachEffort) {
  EXPECT_THAT(with_efforts({"auto", "metis"}, {"fast", "best"}),
              ElementsAre("auto:effort=fast", "auto:effort=best", "metis"));
  EXPECT_THAT(with_efforts({"auto"}, {}), ElementsAre("auto"));
}

TEST(RowJournal, DropsAHalfWrittenLastLine) {
  const auto directory = TemporaryDirectory::make();
  ASSERT_TRUE(directory);
  const std::string path = directory->file("rows.jsonl");
  ASSERT_TRUE(write_file(path, "{\"seed\":1}\n{\"seed\":2}\n{\"see"));
  {
    auto journal = RowJournal::open(path);
    ASSERT_TRUE(journal);
    EXPECT_EQ(journal->rows().size(), 2U);
    ASSERT_TRUE(journal->append({{"seed", 3}}));
  }
  EXPECT_EQ(read_file(path)->view(), "{\"seed\":1}\n{\"seed\":2}\n{\"seed\":3}\n");
}

TEST(RowJournal, NamesALineThatIsNotARow) {
  const auto directory = TemporaryDirectory::make();
  ASSERT_TRUE(directory);
  const std::string path = directory->file("rows.jsonl");
  ASSERT_TRUE(write_file(path, "{}\nnot a row\n{}\n"));
  const auto journal = RowJournal::open(path);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().where.line, 2U);
}

}  // namespace
}  // namespace rankloom::app
