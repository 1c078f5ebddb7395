// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "rankloom/capture/generate/training/layouts.hpp"

namespace rankloom {
namespace {

TrainingJob described(const std::string& assignments) {
  TrainingJob job;
  OptionList options;
  describe(job, options);
  const auto set = options.set_all(assignments, "llm");
  EXPECT_TRUE(set) << (set ? "" : to_string(set.error()));
  return job;
}

MemoryUse memory_of(const std::string& assignments) {
  const auto job = resolve(described(assignments));
  EXPECT_TRUE(job) << assignments;
  return job ? memory_per_gpu(*job) : MemoryUse{};
}

/// 4 layers, h = 8, f = 32, V = 100: 4 x (4·64 + 2·8·32) + 2 x 800 = 4672 parameters.
const std::string small_model = "layers=4,hidden=8,vocabulary=100,sequence=16,micro-batches=3";

TEST(MemoryPerGpu, IsThatOfTheDocumentedModel) {
  const MemoryUse use = memory_of("tp=1,pp=1,dp=4,zero=1," + small_model);
  EXPECT_EQ(use.parameters, 2 * 4672);
  EXPECT_EQ(use.gradients, 4 * 4672);
  EXPECT_EQ(use.optimizer, 12 * 4672 / 4);
  EXPECT_EQ(use.activations, 4 * 34 * 16 * 8 + 4 * 16 * 100);
}

TEST(MemoryPerGpu, ZeroStagesDivideMore) {
  const auto use = [](const std::string& stage) {
    return memory_of("tp=1,pp=1,dp=4,zero=" + stage + "," + small_model);
  };
  EXPECT_EQ(use("0").optimizer, 12 * 4672);
  EXPECT_EQ(use("2").gradients, 4672);
  EXPECT_EQ(use("2").parameters, 2 * 4672);
  EXPECT_EQ(use("3").parameters, 2 * 4672 / 4);
}

TEST(MemoryPerGpu, TheFirstStageKeepsTheMostMicroBatches) {
  // stage 0 of 4: one layer, three micro-batches in flight, and the input embedding
  const MemoryUse use = memory_of("tp=1,pp=4,dp=1,zero=0," + small_model);
  EXPECT_EQ(use.parameters, 2 * (768 + 800));
  EXPECT_EQ(use.activations, 3 * 34 * 16 * 8);
}

TEST(MemoryPerGpu, SequenceParallelismAndRecomputationKeepLess) {
  const auto activations = [](const std::string& how) {
    return memory_of("tp=2,pp=1,dp=1," + how + small_model).activations - 4 * 16 * 100 / 2;
  };
  EXPECT_EQ(activations(""), 4 * (10 + 12) * 16 * 8);
  EXPECT_EQ(activations("sequence-parallel,"), 4 * 17 * 16 * 8);
  EXPECT_EQ(activations("recompute,"), 4 * 2 * 16 * 8);
}

TEST(Layouts, UseAllGpusAndDivideWhatTheyDistribute) {
  const TrainingJob job = described("model=mixtral-8x7b,global-batch-size=64");
  const auto found = layouts(job, {.gpus = 32, .max_tensor = 8});
  EXPECT_GT(found.size(), 20U);
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>> seen;
  for (const TrainingJob& layout : found) {
    EXPECT_EQ(layout.ranks(), 32U);
    EXPECT_LE(layout.tensor, 8U);
    EXPECT_EQ(layout.layers % layout.pipeline, 0U);
    EXPECT_EQ(layout.experts % layout.expert, 0U);
    EXPECT_EQ(layout.micro_batches * layout.data, 64U);
    EXPECT_LE(layout.context, 2U);  // 4,096 tokens
    EXPECT_TRUE(seen.emplace(layout.tensor, layout.pipeline, layout.context, layout.expert).second);
  }
  const auto has_experts_on_all = [](const TrainingJob& layout) { return layout.expert == 8; };
  EXPECT_TRUE(std::any_of(found.begin(), found.end(), has_experts_on_all));
}

TEST(Layouts, KeepFixedDegrees) {
  const TrainingJob job = described("model=llama3-8b,tp=4,pp=2,global-batch-size=64");
  const auto found = layouts(job, {.gpus = 16, .max_tensor = 8, .fixed_tensor = true, .fixed_pipeline = true});
  ASSERT_EQ(found.size(), 2U);  // with one and with two context parts
  EXPECT_EQ(found[0].data, 2U);
  EXPECT_EQ(found[1].data, 1U);
  EXPECT_TRUE(layouts(described("model=unknown,global-batch-size=64"), {.gpus = 16}).empty());
}

}  // namespace
}  // namespace rankloom
