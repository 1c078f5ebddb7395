// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/capture/generate/training/job_arguments.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;

TrainingJob job_of(const std::vector<TrainingArgument>& arguments) {
  TrainingJob job;
  auto used = apply_arguments(arguments, "job", job);
  EXPECT_TRUE(used) << (used ? "" : to_string(used.error()));
  return job;
}

TrainingJob job_of_command(const std::vector<std::string>& command) {
  return job_of(split_arguments(command));
}

Error error_of_command(const std::vector<std::string>& command) {
  TrainingJob job;
  auto used = apply_arguments(split_arguments(command), "--", job);
  EXPECT_FALSE(used);
  return used ? Error{} : used.error();
}

TEST(TrainingArguments, AreThoseOfMegatron) {
  const TrainingJob job = job_of_command({"torchrun",
                                          "--nnodes",
                                          "64",
                                          "--nproc_per_node=8",
                                          "pretrain_gpt.py",
                                          "--tensor-model-parallel-size",
                                          "8",
                                          "--pipeline-model-parallel-size",
                                          "4",
                                          "--context-parallel-size",
                                          "2",
                                          "--num-layers",
                                          "64",
                                          "--hidden-size",
                                          "8192",
                                          "--num-attention-heads",
                                          "64",
                                          "--num-query-groups",
                                          "8",
                                          "--seq-length",
                                          "8192",
                                          "--micro-batch-size",
                                          "2",
                                          "--global-batch-size",
                                          "512",
                                          "--sequence-parallel",
                                          "--use-distributed-optimizer",
                                          "--bf16",
                                          "--swiglu",
                                          "--num-layers-per-virtual-pipeline-stage",
                                          "4",
                                          "--lr",
                                          "1e-4",
                                          "--untie-embeddings-and-output-weights",
                                          "--vocab-size",
                                          "128000"});
  EXPECT_EQ(job.tensor, 8U);
  EXPECT_EQ(job.pipeline, 4U);
  EXPECT_EQ(job.context, 2U);
  EXPECT_EQ(job.gpus, 512U);
  EXPECT_EQ(job.layers, 64U);
  EXPECT_EQ(job.kv_heads, 8U);
  EXPECT_EQ(job.virtual_stages, 4U);
  EXPECT_EQ(job.number_bytes, 2U);
  EXPECT_EQ(job.gradient_bytes, 4U);
  EXPECT_TRUE(job.sequence_parallel);
  EXPECT_TRUE(job.distributed_optimizer);
  EXPECT_TRUE(job.gated);
  EXPECT_FALSE(job.tied_embeddings);
  EXPECT_EQ(job.feed_forward, 21824U);  // 4·8192·2/3 = 21845, rounded down to a multiple of 64
  EXPECT_EQ(job.vocabulary, 128000U);   // already a multiple of 128·8
  auto complete = resolve(job);
  ASSERT_TRUE(complete);
  EXPECT_EQ(complete->data, 8U);
  EXPECT_EQ(complete->micro_batches, 32U);
}

TEST(TrainingArguments, DefaultsAreThoseOfMegatron) {
  const TrainingJob job = job_of_command({"--num-layers", "4", "--vocab-size", "50257"});
  EXPECT_EQ(job.tensor, 1U);
  EXPECT_EQ(job.pipeline, 1U);
  EXPECT_EQ(job.number_bytes, 4U);
  EXPECT_EQ(job.gradient_bytes, 4U);
  EXPECT_FALSE(job.distributed_optimizer);
  EXPECT_TRUE(job.tied_embeddings);
  EXPECT_EQ(job.vocabulary, 50304U);  // the next multiple of 128
}

TEST(TrainingArguments, SwitchesDoNotTakeTheNextWord) {
  const TrainingJob job = job_of_command({"--sequence-parallel", "script.py", "--num-layers", "4"});
  EXPECT_TRUE(job.sequence_parallel);
  EXPECT_FALSE(job_of({{"sequence-parallel", "false"}, {"num-layers", "4"}}).sequence_parallel);
}

TEST(TrainingArguments, OfExpertsAndSharding) {
  const TrainingJob job = job_of_command(
      {"--num-experts", "64", "--moe-router-topk", "4", "--expert-model-parallel-size", "8",
       "--expert-tensor-parallel-size", "1", "--moe-ffn-hidden-size", "1024", "--data-parallel-sharding-strategy",
       "optim_grads", "--cp-comm-type", "a2a", "--recompute-granularity", "full", "--use-tp-pp-dp-mapping"});
  EXPECT_EQ(job.experts, 64U);
  EXPECT_EQ(job.top, 4U);
  EXPECT_EQ(job.expert, 8U);
  EXPECT_EQ(job.expert_tensor, 1U);
  EXPECT_EQ(job.expert_feed_forward, 1024U);
  EXPECT_EQ(job.sharding, Sharding::gradients);
  EXPECT_EQ(job.context_exchange, ContextExchange::alltoall);
  EXPECT_TRUE(job.recompute);
  EXPECT_EQ(job.order, "tp-cp-ep-pp-dp");
  EXPECT_EQ(job_of_command({"--zero-stage", "3"}).sharding, Sharding::parameters);
  EXPECT_EQ(job_of_command({"--zero-stage", "0"}).sharding, Sharding::none);
}

TEST(TrainingArguments, AreFoundInScripts) {
  const auto arguments = read_script_arguments(
      "#!/bin/bash\n"
      "TP=4  # inside a node\n"
      "PP=${PP:-2}\n"
      "GPT_ARGS=(\n"
      "    --num-layers 12 \\\n"
      "    --hidden-size \"768\"\n"
      "    # --num-layers 99\n"
      ")\n"
      "OTHER=\"--seq-length 1024 --bf16\"\n"
      "torchrun --nproc_per_node 8 pretrain_gpt.py ${GPT_ARGS[@]} --tensor-model-parallel-size $TP \\\n"
      "  --pipeline-model-parallel-size ${PP} --global-batch-size $BATCH\n");
  TrainingJob job;
  auto used = apply_arguments(arguments, "train.sh", job);
  ASSERT_FALSE(used);
  EXPECT_THAT(used.error().hint, HasSubstr("variable"));
  EXPECT_EQ(used.error().where.line, 11U);
  std::vector<TrainingArgument> known = arguments;
  std::erase_if(known, [](const TrainingArgument& argument) { return argument.name == "global-batch-size"; });
  job = job_of(known);
  EXPECT_EQ(job.tensor, 4U);
  EXPECT_EQ(job.pipeline, 2U);
  EXPECT_EQ(job.layers, 12U);
  EXPECT_EQ(job.hidden, 768U);
  EXPECT_EQ(job.sequence, 1024U);
  EXPECT_EQ(job.number_bytes, 2U);
  EXPECT_EQ(job.gpus, 8U);
}

TEST(TrainingArguments, RejectInvalidValues) {
  EXPECT_EQ(error_of_command({"--num-layers", "many"}).code, Code::bad_input);
  EXPECT_EQ(error_of_command({"--num-layers", "0"}).code, Code::bad_input);
  EXPECT_EQ(error_of_command({"--num-layers"}).code, Code::bad_input);
  EXPECT_EQ(error_of_command({"--nnodes", "1:4"}).code, Code::bad_input);
  EXPECT_THAT(error_of_command({"--cp-comm-type", "x"}).hint, HasSubstr("p2p"));
  EXPECT_THAT(error_of_command({"python3", "train.py"}).hint, HasSubstr("--tensor-model-parallel-size"));
  EXPECT_EQ(error_of_command({"--num-layers", "10", "--num-layers-per-virtual-pipeline-stage", "4"}).code,
            Code::bad_input);
  EXPECT_EQ(error_of_command({"--zero-stage", "4"}).code, Code::bad_input);
}

}  // namespace
}  // namespace rankloom
