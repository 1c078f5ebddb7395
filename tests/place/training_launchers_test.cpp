// SPDX-License-Identifier: Apache-2.0
// tests of place: the files of launchers of training programs.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "rankloom/place/launchers.hpp"
#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using rankloom::testing::topology;
using ::testing::HasSubstr;
using ::testing::Not;

Result<EmittedLaunch> emit_for_training(std::string_view launcher, const std::vector<std::uint32_t>& cores,
                                        const std::string& machine, const SlotShapes& shapes = {}) {
  std::vector<Core> core_of;
  for (const std::uint32_t core : cores) core_of.push_back(Core{core});
  const std::vector<std::string> hosts{"a", "b"};
  auto deployment = deploy(core_of, topology(machine), hosts, shapes);
  EXPECT_TRUE(deployment) << to_string(deployment.error());
  EmitOptions options;
  options.program = {"train.py"};
  return (*find_launcher(launcher))->write(*deployment, options);
}

std::string training_file(const EmittedLaunch& made, std::string_view name) {
  for (const LauncherFile& file : made.files) {
    if (file.name == name) return file.content;
  }
  ADD_FAILURE() << "no file " << name;
  return {};
}

TEST(Torchrun, NumbersNodesInTheOrderOfTheirRanks) {
  const auto made = emit_for_training("torchrun", {4, 5, 6, 7, 0, 1, 2, 3}, "node:2=10 core:4=1");
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(training_file(*made, "node_ranks"), "# node_rank host ranks gpus\n0 b 4 0,1,2,3\n1 a 4 0,1,2,3\n");
  const std::string script = training_file(*made, "torchrun.sh");
  EXPECT_THAT(script, HasSubstr("\nb|b.*) node_rank=0 ;;\na|a.*) node_rank=1 ;;\n"));
  EXPECT_THAT(script, HasSubstr("--nnodes=2 --nproc-per-node=4 --node-rank=\"$node_rank\" --rdzv-backend=static "
                                "--master-addr=b --master-port=\"${MASTER_PORT:-29500}\" \"$@\""));
  EXPECT_EQ(made->commands[0].text(), "sh torchrun.sh train.py");
}

TEST(Torchrun, OrdersTheGpusOfANodeByLocalRank) {
  const auto made = emit_for_training("torchrun", {0, 1, 6, 4}, "node:2=10 core:4=1");
  ASSERT_TRUE(made);
  EXPECT_THAT(training_file(*made, "torchrun.sh"),
              HasSubstr("a|a.*) node_rank=0 ;;\n"
                        "b|b.*) node_rank=1; export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=2,0 ;;\n"));
}

TEST(Torchrun, UsesTheGpusOfTheSlots) {
  const SlotShapes shapes(SlotShape{.cores = 2, .gpus = 1});
  const auto made = emit_for_training("torchrun", {2, 0, 4, 6}, "node:2=10 gpu:2 core:4=1", shapes);
  ASSERT_TRUE(made) << to_string(made.error());
  EXPECT_EQ(training_file(*made, "node_ranks"), "# node_rank host ranks gpus\n0 a 2 1,0\n1 b 2 0,1\n");
}

TEST(LaunchersThatNumberNodes, RefuseOtherMappings) {
  for (const Launcher* const row : launchers()) {
    if (!row->numbers_nodes) continue;
    const auto scattered = emit_for_training(row->name, {0, 4, 1, 5}, "node:2=10 core:4=1");
    ASSERT_FALSE(scattered) << row->name;
    EXPECT_EQ(scattered.error().code, Code::infeasible);
    EXPECT_THAT(scattered.error().hint, HasSubstr("slurm-torch"));
    EXPECT_FALSE(emit_for_training(row->name, {0, 1, 2, 4}, "node:2=10 core:4=1")) << row->name;
  }
}

TEST(SlurmTorch, PlacesEveryRankAndOrdersGpus) {
  const auto made = emit_for_training("slurm-torch", {0, 5, 1, 4}, "node:2=10 core:4=1");
  ASSERT_TRUE(made);
  EXPECT_EQ(training_file(*made, "hosts"), "a\nb\na\nb\n");
  const std::string script = training_file(*made, "torch.sh");
  EXPECT_THAT(script,
              HasSubstr("export RANK=\"$SLURM_PROCID\" LOCAL_RANK=\"$SLURM_LOCALID\" WORLD_SIZE=\"$SLURM_NTASKS\""));
  EXPECT_THAT(script, HasSubstr("MASTER_ADDR=\"${MASTER_ADDR:-a}\""));
  EXPECT_THAT(script, HasSubstr("b|b.*) export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=1,0 ;;\n"));
  EXPECT_THAT(script, Not(HasSubstr("\na|")));
  EXPECT_EQ(made->commands[0].text(),
            "SLURM_HOSTFILE=hosts srun -n 4 --distribution=arbitrary --cpu-bind=none sh torch.sh train.py");
}

TEST(DeepSpeed, ListsHostsInTheOrderOfRanks) {
  const auto made = emit_for_training("deepspeed", {4, 5, 0, 1}, "node:2=10 core:4=1");
  ASSERT_TRUE(made);
  EXPECT_EQ(training_file(*made, "hostfile"), "b slots=2\na slots=2\n");
  EXPECT_EQ(made->commands[0].text(), "deepspeed --hostfile hostfile --master_addr b train.py");
  const auto permuted = emit_for_training("deepspeed", {5, 4, 0, 1}, "node:2=10 core:4=1");
  ASSERT_FALSE(permuted);
  EXPECT_THAT(permuted.error().hint, HasSubstr("torchrun"));
}

TEST(TrainingTables, AreJson) {
  const auto made = emit_for_training("json", {5, 0, 4, 3}, "node:2=10 core:4=1");
  ASSERT_TRUE(made);
  const auto ranks = nlohmann::json::parse(training_file(*made, "ranks.json"));
  ASSERT_EQ(ranks.size(), 4U);
  const auto expected = nlohmann::json::parse(
      R"([{"host": "b", "node_rank": 0, "local_rank": 0, "global_rank": 0, "gpu": 1},
          {"host": "a", "node_rank": 1, "local_rank": 0, "global_rank": 1, "gpu": 0},
          {"host": "b", "node_rank": 0, "local_rank": 1, "global_rank": 2, "gpu": 0},
          {"host": "a", "node_rank": 1, "local_rank": 1, "global_rank": 3, "gpu": 3}])");
  EXPECT_EQ(ranks, expected);
  const auto nodes = emit_for_training("ray", {5, 0, 4, 3}, "node:2=10 core:4=1");
  ASSERT_TRUE(nodes);
  EXPECT_EQ(nlohmann::json::parse(training_file(*nodes, "nodes.json")),
            nlohmann::json::parse(R"([{"node_rank": 0, "host": "b", "ranks": [0, 2], "gpus": [1, 0]},
                                      {"node_rank": 1, "host": "a", "ranks": [1, 3], "gpus": [0, 3]}])"));
  const auto pods = emit_for_training("kubernetes", {4, 5, 0, 1}, "node:2=10 core:4=1");
  ASSERT_TRUE(pods);
  EXPECT_EQ(nlohmann::json::parse(training_file(*pods, "pods.json")),
            nlohmann::json::parse(R"([{"pod_index": 0, "host": "b", "ranks": [0, 1], "gpus": [0, 1]},
                                      {"pod_index": 1, "host": "a", "ranks": [2, 3], "gpus": [0, 1]}])"));
}

TEST(TrainingTables, RefuseSeveralGpusPerRank) {
  const SlotShapes shapes(SlotShape{.cores = 2, .gpus = 2});
  const auto made = emit_for_training("json", {0}, "node:2=10 gpu:2 core:2=1", shapes);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().hint, HasSubstr("--gpus-per-rank 1"));
}

}  // namespace
}  // namespace rankloom
