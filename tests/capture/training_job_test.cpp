// SPDX-License-Identifier: Apache-2.0
// The volumes of a training step, compared with values that were computed by hand.
#include "rankloom/capture/generate/training/training_job.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/capture/generate/training/known_models.hpp"
#include "rankloom/capture/generate/training/training_step.hpp"
#include "rankloom/model/graph/traffic_parts.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TrainingJob resolved(const std::string& assignments) {
  TrainingJob job;
  OptionList options;
  describe(job, options);
  const auto set = options.set_all(assignments, "llm");
  EXPECT_TRUE(set) << (set ? "" : to_string(set.error()));
  auto result = resolve(job);
  EXPECT_TRUE(result) << assignments << ": " << (result ? "" : to_string(result.error()));
  return result ? *result : TrainingJob{};
}

Error error_of_job(const std::string& assignments) {
  TrainingJob job;
  OptionList options;
  describe(job, options);
  if (auto set = options.set_all(assignments, "llm"); !set) return set.error();
  auto result = resolve(job);
  EXPECT_FALSE(result) << assignments;
  return result ? Error{} : result.error();
}

TrainingStep step_of(const std::string& assignments) {
  auto step = make_training_step(resolved(assignments));
  EXPECT_TRUE(step) << assignments;
  return step ? std::move(*step) : TrainingStep{};
}

StepTraffic row_of(const TrainingStep& step, std::string_view kind, std::string_view operation) {
  const auto found = std::find_if(step.traffic.begin(), step.traffic.end(), [&](const StepTraffic& row) {
    return row.kind == kind && row.operation == operation;
  });
  EXPECT_NE(found, step.traffic.end()) << kind << " " << operation;
  return found == step.traffic.end() ? StepTraffic{} : *found;
}

const Communicator& group_of(const Profile& profile, std::string_view name) {
  const auto found = std::find_if(profile.communicators.begin(), profile.communicators.end(),
                                  [&](const Communicator& group) { return group.name == name; });
  EXPECT_NE(found, profile.communicators.end()) << name;
  return *found;
}

/// A tiny model: 4 layers, h = 8, f = 32, 4 heads of size 2, 2 of them for keys and values, V = 100.
const std::string tiny = "layers=4,hidden=8,ffn=32,heads=4,kv-heads=2,vocabulary=100,sequence=16,micro-batch-size=1";

TEST(TrainingStep, TensorRanksSendTheActivationsFourTimesPerLayer) {
  const TrainingStep step = step_of("tp=2,pp=1,dp=1,micro-batches=3," + tiny);
  // A = 16 tokens x 8 x 2 bytes = 256; 3 micro-batches x (4 layers x 4 + embedding + output) = 54 calls; a ring of two
  // sends A once per call
  const StepTraffic row = row_of(step, "tensor", "allreduce");
  EXPECT_EQ(row.calls, 54);
  EXPECT_EQ(row.bytes_per_call, 256);
  EXPECT_EQ(row.bytes_per_rank, 54 * 256);
  EXPECT_EQ(row.bytes, 2 * 54 * 256);
  EXPECT_EQ(row.groups, 1U);
  EXPECT_EQ(row.ranks, 2U);
  // 3 losses of 16 tokens in single precision per micro-batch
  EXPECT_EQ(row_of(step, "loss", "allreduce").bytes_per_rank, 9 * 16 * 4);
}

TEST(TrainingStep, RecomputationRepeatsTheForwardTraffic) {
  const TrainingStep step = step_of("tp=2,pp=1,dp=1,micro-batches=1,recompute," + tiny);
  EXPECT_EQ(row_of(step, "tensor", "allreduce").calls, 4 * 6 + 2);
  const TrainingStep parts = step_of("tp=2,pp=1,dp=1,micro-batches=1,recompute,sequence-parallel," + tiny);
  EXPECT_EQ(row_of(parts, "tensor", "allgather").calls, 4 * 8 + 3);
  EXPECT_EQ(row_of(parts, "tensor", "reduce_scatter").calls, 4 * 6 + 2);
}

TEST(TrainingStep, ContextRanksPassKeysAndValuesAroundARing) {
  const TrainingStep step = step_of("tp=1,cp=4,pp=1,dp=1,micro-batches=2," + tiny);
  // KV = 2 x 4 tokens x 2 heads x 2 x 2 bytes = 64; per layer 3 blocks forward, 3 backward, and 4 of gradients
  const StepTraffic row = row_of(step, "context", "send");
  EXPECT_EQ(row.bytes_per_call, 64);
  EXPECT_EQ(row.calls, 2 * 4 * 10);
  EXPECT_EQ(row.bytes, 4 * 80 * 64);
  EXPECT_THAT(step.profile.point_to_point.targets(Rank{3}), ElementsAre(Rank{0}));
  EXPECT_THAT(step.profile.point_to_point.bytes(Rank{3}), ElementsAre(80 * 64));
  // parameters: 4 x (2·8·8 + 2·8·4 + 2·8·32) + 2·800 = 4·704 + 1600 = 4416, on four ranks with the same parameters
  EXPECT_EQ(row_of(step, "gradients", "reduce_scatter").bytes_per_rank, 3 * 4416);
  EXPECT_EQ(row_of(step, "gradients", "reduce_scatter").ranks, 4U);
}

TEST(TrainingStep, ContextRanksMayExchangeHeadsOrGatherInstead) {
  const TrainingStep heads = step_of("tp=1,cp=2,pp=1,dp=1,micro-batches=1,cp-exchange=alltoall," + tiny);
  // Q = 8 tokens x 8 x 2 = 128 and one of K, V = 64; both passes of 4 layers, two of each
  EXPECT_EQ(row_of(heads, "context, queries and results", "alltoall").bytes_per_rank, 4 * 2 * 2 * 64);
  EXPECT_EQ(row_of(heads, "context, keys and values", "alltoall").bytes_per_rank, 4 * 2 * 2 * 32);
  const TrainingStep all = step_of("tp=1,cp=2,pp=1,dp=1,micro-batches=1,cp-exchange=allgather," + tiny);
  EXPECT_EQ(row_of(all, "context", "allgather").bytes_per_rank, 4 * 2 * 128);
  EXPECT_EQ(row_of(all, "context", "reduce_scatter").bytes_per_rank, 4 * 128);
}

TEST(TrainingStep, PipelineStagesExchangeActivationsOfEveryMicroBatch) {
  const TrainingStep step = step_of("tp=1,pp=2,dp=1,micro-batches=5," + tiny);
  const StepTraffic row = row_of(step, "pipeline", "send");
  EXPECT_EQ(row.bytes_per_rank, 5 * 256);
  EXPECT_EQ(row.bytes, 2 * 5 * 256);
}

TEST(TrainingStep, VirtualStagesSendMoreAndCloseTheRing) {
  const TrainingStep step = step_of("tp=1,pp=4,dp=1,virtual-stages=2,micro-batches=5,layers=8,hidden=8,sequence=16");
  const CommGraph& messages = step.profile.point_to_point;
  EXPECT_THAT(messages.targets(Rank{0}), ElementsAre(Rank{1}, Rank{3}));
  EXPECT_THAT(messages.bytes(Rank{0}), ElementsAre(2 * 5 * 256, 5 * 256));
  EXPECT_THAT(messages.bytes(Rank{1}), ElementsAre(2 * 5 * 256, 2 * 5 * 256));
  EXPECT_EQ(row_of(step, "pipeline", "send").bytes, messages.total_bytes());
}

TEST(TrainingStep, ZeroStagesShardMoreAndSendMore) {
  const std::string job = "tp=1,pp=1,dp=4,micro-batches=6," + tiny;
  const double parameters = 4416;
  const auto bytes = [&](const std::string& stage) {
    double sum = 0;
    for (const StepTraffic& row : step_of(job + ",zero=" + stage).traffic) sum += row.bytes_per_rank;
    return sum;
  };
  EXPECT_EQ(bytes("0"), 2 * 0.75 * parameters * 4);
  EXPECT_EQ(bytes("1"), 0.75 * parameters * (4 + 2));
  EXPECT_EQ(bytes("2"), 0.75 * parameters * (6 * 4 + 2));
  EXPECT_EQ(bytes("3"), 0.75 * parameters * (6 * 4 + 12 * 2));
  EXPECT_EQ(bytes("auto"), bytes("1"));
  EXPECT_EQ(bytes("auto,distributed-optimizer=false"), bytes("0"));
}

TEST(TrainingStep, TiedEmbeddingsAreSummedBetweenTheFirstAndTheLastStage) {
  const TrainingStep step = step_of("tp=2,pp=4,dp=1,tied-embeddings," + tiny);
  const StepTraffic row = row_of(step, "embedding", "allreduce");
  EXPECT_EQ(row.groups, 2U);
  EXPECT_EQ(row.bytes_per_rank, 100 * 8 / 2 * 4);
  EXPECT_THAT(group_of(step.profile, "embd1").members, ElementsAre(Rank{1}, Rank{7}));
  EXPECT_EQ(row_of(step_of("tp=1,pp=1,dp=2,zero=0,tied-embeddings," + tiny), "gradients", "allreduce").bytes_per_rank,
            (4 * 704 + 800) * 4);
}

TEST(TrainingStep, ExpertGroupsAreConsecutiveRanksOfAStage) {
  const TrainingStep step =
      step_of("tp=2,cp=2,pp=1,dp=2,ep=4,experts=8,top=2,sequence-parallel,micro-batches=1," + tiny);
  // Megatron-LM: experts divide the 8 ranks into 2 (tensor) x 4 (expert) x 1
  EXPECT_THAT(group_of(step.profile, "ep0").members, ElementsAre(Rank{0}, Rank{2}, Rank{4}, Rank{6}));
  EXPECT_THAT(group_of(step.profile, "dp1").members, ElementsAre(Rank{1}, Rank{3}, Rank{5}, Rank{7}));
  // 16 tokens on 2 context and 2 tensor ranks: 4 tokens, each to 2 experts, of 16 bytes: 128 bytes, three quarters of
  // which leave the rank; dispatch and combine, forward and backward, in 4 layers
  EXPECT_EQ(row_of(step, "experts", "alltoall").bytes_per_rank, 16 * 96);
  // the tensor ranks of an expert gather the 128 bytes that each of them has received
  EXPECT_EQ(row_of(step, "tensor, experts", "allgather").bytes_per_rank, 4 * 2 * 128);
  EXPECT_EQ(row_of(step, "tensor, experts", "reduce_scatter").bytes_per_rank, 4 * 2 * 128);
}

TEST(TrainingStep, ExpertsMayHaveAnotherTensorDegree) {
  const TrainingStep step =
      step_of("tp=2,pp=1,dp=4,ep=8,etp=1,experts=8,top=1,sequence-parallel,micro-batches=1," + tiny);
  EXPECT_EQ(group_of(step.profile, "ep0").members.size(), 8U);
  for (const StepTraffic& row : step.traffic) EXPECT_NE(row.kind, "tensor, experts");
}

TEST(TrainingStep, TheFirstLayersMayHaveNoExperts) {
  const TrainingStep step = step_of("tp=1,pp=2,dp=2,ep=2,experts=2,top=1,dense-layers=2,micro-batches=1," + tiny);
  EXPECT_EQ(row_of(step, "experts", "alltoall").groups, 1U);  // only of the second stage
}

TEST(TrainingStep, TheTableCountsTheBytesOfTheProfile) {
  for (const std::string job :
       {"tp=4,pp=2,cp=2,dp=4,ep=2,experts=4,sequence-parallel",
        "tp=2,pp=4,dp=2,virtual-stages=2,sequence-parallel,zero=3",
        "tp=2,pp=1,cp=4,dp=2,ep=8,etp=1,experts=8,sequence-parallel,order=tp-cp-ep-dp-pp,cp-exchange=allgather"}) {
    const TrainingStep step = step_of(job + ",layers=8,hidden=64,heads=8,sequence=64,micro-batches=4");
    double bytes = 0, reduced = 0;
    for (const StepTraffic& row : step.traffic) (row.operation == "allreduce" ? reduced : bytes) += row.bytes;
    Profile profile = step.profile;
    std::erase_if(profile.collectives, [](const Collective& call) { return call.op == CollectiveOp::allreduce; });
    EXPECT_NEAR(traffic(profile, CollectiveModel::logical).total_bytes(), bytes, bytes * 1e-12) << job;
  }
}

TEST(TrainingStep, OfAHundredThousandGpusHasFewPairsPerRank) {
  const TrainingJob job = resolved("gpus=98304,tp=8,pp=16,layers=128,hidden=16384");
  ASSERT_EQ(job.data, 768U);
  auto step = make_training_step(job);
  ASSERT_TRUE(step) << to_string(step.error());
  const CommGraph graph = traffic(std::move(step->profile), CollectiveModel::automatic);
  // Three of the tensor group, two of the pipeline and one of the ring of the gradients.
  EXPECT_LE(graph.edge_count(), 98'304U * 6U);
  ASSERT_NE(graph.parts(), nullptr);
  EXPECT_LE(graph.parts()->phases.back().edge_count(), 98'304U) << "gradients";
}

TEST(TrainingJob, TheOrderDecidesWhichDimensionVariesFastest) {
  const auto members = [](const std::string& order, std::string_view group) {
    return group_of(step_of("tp=2,pp=2,dp=2,order=" + order + "," + tiny).profile, group).members;
  };
  EXPECT_THAT(members("tp-cp-ep-dp-pp", "dp0"), ElementsAre(Rank{0}, Rank{2}));
  EXPECT_THAT(members("tp-cp-ep-pp-dp", "dp0"), ElementsAre(Rank{0}, Rank{4}));
  EXPECT_THAT(members("dp-tp-cp-ep-pp", "tp0"), ElementsAre(Rank{0}, Rank{2}));
}

TEST(TrainingJob, EveryRankIsInOneGroupOfEachKind) {
  for (const std::string order : {"tp-cp-ep-dp-pp", "cp-tp-ep-dp-pp", "dp-ep-cp-tp-pp"}) {
    const TrainingStep step =
        step_of("tp=2,cp=2,pp=2,dp=4,ep=4,experts=4,cp-exchange=allgather,order=" + order + "," + tiny);
    std::map<std::string, std::multiset<Rank>> seen;
    for (const Communicator& group : step.profile.communicators) {
      const std::string kind = group.name.substr(0, group.name.find_first_of("0123456789"));
      seen[kind].insert(group.members.begin(), group.members.end());
    }
    for (const auto& [kind, members] : seen) {
      SCOPED_TRACE(order + " " + kind);
      EXPECT_EQ(members.size(), 32U);
      EXPECT_EQ(std::set<Rank>(members.begin(), members.end()).size(), 32U);
    }
  }
}

TEST(TrainingJob, GpusAndTheGlobalBatchDetermineTheRest) {
  const TrainingJob job = resolved("gpus=512,tp=8,pp=8,global-batch-size=1024,micro-batch-size=2,layers=64");
  EXPECT_EQ(job.data, 8U);
  EXPECT_EQ(job.micro_batches, 64U);
  EXPECT_EQ(error_of_job("gpus=500,tp=8,pp=8").where.source, "--gpus");
  EXPECT_EQ(error_of_job("dp=8,global-batch-size=100").where.source, "--global-batch-size");
}

TEST(TrainingJob, RejectsContradictions) {
  EXPECT_EQ(error_of_job("order=tp-dp").where.source, "--order");
  EXPECT_EQ(error_of_job("order=tp-tp-cp-ep-dp-pp").where.source, "--order");
  EXPECT_EQ(error_of_job("order=tp-xx-cp-ep-dp-pp").where.source, "--order");
  EXPECT_THAT(error_of_job("dp=4,ep=4,experts=4,order=tp-cp-ep-pp-dp").hint, HasSubstr("pp last"));
  EXPECT_EQ(error_of_job("heads=12,tp=8").where.source, "--tp");
  EXPECT_EQ(error_of_job("cp=3,sequence=16").where.source, "--cp");
  EXPECT_EQ(error_of_job("virtual-stages=16,layers=32,pp=4").where.source, "--pp");
  EXPECT_EQ(error_of_job("virtual-stages=2,pp=1").where.source, "--virtual-stages");
  EXPECT_EQ(error_of_job("virtual-stages=20000,pp=2,layers=100000").where.source, "--virtual-stages");
  EXPECT_EQ(error_of_job("gpus=2147483647,tp=1,pp=1,micro-batch-size=1000000000,global-batch-size=8").code,
            Code::usage);
  EXPECT_THAT(error_of_job("model=llama3-70").hint, HasSubstr("llama3-70b"));
  EXPECT_EQ(error_of_job("gpus=8,tp=2000000000,pp=2000000000,cp=2000000000").code, Code::usage);
}

TEST(KnownModels, HaveAboutTheirPublishedNumberOfParameters) {
  for (const KnownModel& model : known_models()) {
    SCOPED_TRACE(model.name);
    EXPECT_FALSE(model.reference.empty());
    const TrainingJob job = resolved("tp=1,pp=1,model=" + std::string(model.name));
    EXPECT_NEAR(total_parameters(job) / 1e9, model.published_parameters, 0.01 * model.published_parameters);
  }
}

TEST(KnownModels, OptionsReplaceSingleSizes) {
  const TrainingJob job = resolved("model=llama3-8b,layers=4,tp=2");
  EXPECT_EQ(job.layers, 4U);
  EXPECT_EQ(job.hidden, 4096U);
  EXPECT_EQ(job.kv_heads, 8U);
  EXPECT_TRUE(job.gated);
}

}  // namespace
}  // namespace rankloom
