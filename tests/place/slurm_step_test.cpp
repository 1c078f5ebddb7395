// SPDX-License-Identifier: Apache-2.0
// Tests of place/slurm: the placement of the ranks of an srun step on the nodes of its job.
#include "rankloom/place/slurm/slurm_step.hpp"

#include <filesystem>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/temporary_directory.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/place/slurm/job_machine.hpp"
#include "rankloom/place/slurm/slurm_network.hpp"
#include "rankloom/place/virtual_cluster/virtual_slurm_hosts.hpp"
#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(StepRequest, ParsesAllOptions) {
  EXPECT_TRUE(parse_step_request("off")->off);
  EXPECT_EQ(parse_step_request("app.map")->file, "app.map");
  EXPECT_FALSE(parse_step_request("app.map")->map);
  const auto request = parse_step_request("strict:map:app.prof,budget=2s,bind=none,topology=tree:4,4=10,1us core:8");
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->strict && request->map);
  EXPECT_EQ(request->file, "app.prof");
  EXPECT_EQ(request->budget.count(), 2000);
  EXPECT_EQ(request->bind, EmitOptions::Bind::none);
  EXPECT_EQ(request->topology, "tree:4,4=10,1us core:8");
}

TEST(StepRequest, LearnsUnlessAFileIsMeant) {
  const auto request = parse_step_request("learn,mpi=mpich,budget=2s");
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->learn);
  EXPECT_EQ(request->mpi, "mpich");
  EXPECT_FALSE(parse_step_request("map:learn")->learn);
  EXPECT_FALSE(parse_step_request("./learn")->learn);
  EXPECT_FALSE(parse_step_request("app.prof,mpi=mpich"));
  EXPECT_THAT(parse_step_request("strict:learn").error().what, HasSubstr("cannot be strict"));
}

TEST(StepRequest, NamesTheInvalidPartInErrors) {
  EXPECT_THAT(parse_step_request("app.map,color=red").error().what, HasSubstr("color"));
  EXPECT_THAT(parse_step_request("app.map,budget=soon").error().what, HasSubstr("soon"));
  EXPECT_THAT(parse_step_request("app.map,bind=socket").error().what, HasSubstr("bind=socket"));
  EXPECT_THAT(parse_step_request("strict:").error().what, HasSubstr("file name is missing"));
  EXPECT_THAT(parse_step_request("a,b").error().hint, HasSubstr("comma"));
}

/// Two nodes with four processing units each, and eight ranks.
SlurmVariables two_nodes() {
  return {.nodes = "n[1-2]", .cpus_per_node = "4(x2)", .tasks_per_node = "4(x2)", .tasks = "8"};
}

Result<SlurmStep> step_of(const std::string& text, const SlurmVariables& variables) {
  std::istringstream in(text);
  Argv argv;
  for (std::string argument; in >> argument;) argv.push_back(argument);
  auto command = parse_launch_command(argv, {});
  if (!command) return propagate(command);
  return parse_step(*command, variables);
}

TEST(SlurmStep, IsParsedFromItsCommandAndItsJob) {
  auto step = step_of("srun --rankloom=app.map app", two_nodes());
  ASSERT_TRUE(step);
  EXPECT_EQ(step->ranks, 8);
  ASSERT_EQ(step->nodes.size(), 2);
  EXPECT_EQ(step->nodes[1].name, "n2");
  EXPECT_EQ(step->nodes[1].cpus, 4);
  step = step_of("srun -n4 -c2 --rankloom app.map app -n 7", two_nodes());
  ASSERT_TRUE(step);
  EXPECT_EQ(step->ranks, 4);
  EXPECT_EQ(step->nodes[0].tasks, 2);
  EXPECT_TRUE(step_of("srun --gres=license:1 app", two_nodes())->may_bind);
  EXPECT_FALSE(step_of("srun --cpu-bind=cores app", two_nodes())->may_bind);
  EXPECT_TRUE(step_of("srun --cpu-bind=none app", two_nodes())->may_bind);
  EXPECT_TRUE(step_of("srun app", {})->nodes.empty());
  EXPECT_FALSE(step_of("srun app", {})->ranks);
}

TEST(SlurmStep, HasTheGpusOfTheCommandOrOfTheJob) {
  const auto gpus = [](const std::string& options, SlurmVariables variables = two_nodes()) {
    const auto step = step_of(fmt::format("srun -n 4 {} app", options), variables);
    EXPECT_EQ(step->may_bind, step->gpus_per_task > 0) << options;
    return std::pair(step->gpus_per_task, step->binds_gpus);
  };
  for (const char* const option : {"--gpus-per-task=1", "--gpus-per-task=a100:1", "--tres-per-task=gres/gpu:1",
                                   "--tres-per-task=cpu=2,gres/gpu=1", "--ntasks-per-gpu=1"})
    EXPECT_EQ(gpus(option), std::pair(1U, true)) << option;
  for (const char* const option : {"-G 8", "--gpus=a100:8", "--gres=gpu:4", "--gres=license:1,gpu:a100:4",
                                   "--gpus-per-node=4", "-N 1 --gpus-per-node=8"})
    EXPECT_EQ(gpus(option), std::pair(2U, false)) << option;
  for (const char* const option :
       {"-G 7", "--gres=gpu", "--gpus=a100:2,v100:2", "--ntasks-per-gpu=2", "--cpus-per-gpu=4 --gpus-per-task=1",
        "--gpus-per-socket=1", "--gpus-per-task=1 --gpu-bind=closest", "--gpus-per-task=x"})
    EXPECT_EQ(gpus(option).first, 0) << option;
  SlurmVariables job = two_nodes();
  job.gpu_options = {{"gpus-per-task", "2"}};
  EXPECT_EQ(gpus("", job), std::pair(2U, true));
  EXPECT_EQ(gpus("--gpus-per-task=1", job), std::pair(1U, true)) << "the command has priority";
  job.gpu_options["gpu-bind"] = "none";
  EXPECT_EQ(gpus("", job).first, 0);
  job.gpu_options = {{"tres-per-task", "cpu=1,gres/gpu=2"}};
  EXPECT_EQ(gpus("", job), std::pair(2U, true)) << "as Slurm 23.11 and later write it";
  job.gpu_options = {{"tres-per-task", "cpu=2"}};
  const auto without_gpus = step_of("srun -n 4 app", job);
  EXPECT_EQ(without_gpus->gpus_per_task, 0);
  EXPECT_TRUE(without_gpus->may_bind);
}

TEST(SlurmStep, SpreadsRanksWithGpusEvenly) {
  SlurmVariables variables = two_nodes();
  variables.tasks_per_node = {};
  EXPECT_EQ(step_of("srun -n 4 app", variables)->nodes[0].tasks, 4);
  EXPECT_EQ(step_of("srun -n 4 --gpus-per-task=1 app", variables)->nodes[0].tasks, 2);
}

TEST(SlurmStep, KeepsTheRanksPerNodeOfTheJob) {
  SlurmVariables uneven = two_nodes();
  uneven.tasks_per_node = "3,1";
  uneven.tasks = "4";
  EXPECT_EQ(step_of("srun app", uneven)->nodes[0].tasks, 3);
  EXPECT_EQ(step_of("srun app", uneven)->nodes[1].tasks, 1);
  EXPECT_EQ(step_of("srun -n 6 app", uneven)->nodes[1].tasks, 4)
      << "the numbers of the job apply only to steps of its size";
}

TEST(SlurmStep, NamesTheVariableThatIsInvalid) {
  SlurmVariables broken = two_nodes();
  broken.nodes = "n[1-";
  const auto step = step_of("srun app", broken);
  ASSERT_FALSE(step);
  EXPECT_THAT(to_string(step.error()), HasSubstr("SLURM_JOB_NODELIST"));
}

TEST(SlurmNetwork, IsThatOfTheConfigurationFile) {
  const auto directory = *TemporaryDirectory::make();
  const std::string torus = write_machine_json(testing::topology("torus:2x2=1 core:1").spec());
  ASSERT_TRUE(write_file(directory.file("machine.json"), torus));
  ASSERT_TRUE(write_file(directory.file("rankloom.conf"), "topology = machine.json\nnodes = n[5-8]\n"));
  const auto machine = SlurmNetwork{.config = directory.file("rankloom.conf")}.load();
  ASSERT_TRUE(machine) << to_string(machine.error());
  ASSERT_TRUE(*machine);
  EXPECT_EQ(Topology::build(**machine)->node_name(Node{3}), "n8");
  ASSERT_TRUE(write_file(directory.file("rankloom.conf"), "topology = missing.json\n"));
  EXPECT_FALSE(SlurmNetwork{.config = directory.file("rankloom.conf")}.load());
  EXPECT_FALSE(SlurmNetwork{.config = directory.file("no.conf")}.load());
  EXPECT_FALSE(*SlurmNetwork{}.load()) << "no network is described";
}

TEST(SlurmNetwork, NamesTheSettingThatIsInvalid) {
  const auto machine = SlurmNetwork{.topology = "torus:2x2=1 core:1", .nodes = "n[1-"}.load();
  ASSERT_FALSE(machine);
  EXPECT_THAT(to_string(machine.error()), HasSubstr("nodes: "));
}

TEST(SlurmStep, RejectsOptionsThatConflictWithTheMapping) {
  for (const char* const option : {"-w n1", "-m cyclic", "--ntasks-per-node=2", "-x n2", "-r 1", "--nodefile=f"}) {
    const auto step = step_of(fmt::format("srun {} app", option), two_nodes());
    ASSERT_FALSE(step) << option;
    EXPECT_THAT(step.error().hint, HasSubstr("leave it out"));
  }
  EXPECT_THAT(step_of("srun -n 2 a : -n 2 b", two_nodes()).error().what, HasSubstr("heterogeneous job"));
}

TEST(VirtualSlurm, ReadsTheReleaseOfSlurm) {
  EXPECT_EQ(slurm_release("slurm-wlm 22.05.8\n"), 2205U);
  EXPECT_EQ(slurm_release("slurm 26.05.5"), 2605U);
  for (const char* const other : {"", "slurm", "slurm 24", "slurm 24.", "slurm 2405.1", "slurm 24.99"})
    EXPECT_EQ(slurm_release(other), 0U) << other;
}

class PlaceStep : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() / fmt::format("slurm-step-{}", ::getpid());
    std::filesystem::create_directory(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string write(const std::string& name, const std::string& content) const {
    EXPECT_TRUE(write_file(directory_ / name, content));
    return directory_ / name;
  }

  /// "n1:+0 n2:3", or the error.
  static std::string place(const std::string& request, const std::string& srun, const SlurmVariables& variables,
                           const SlurmNetwork& network = {}) {
    auto step = step_of(srun, variables);
    if (!step) return to_string(step.error());
    auto parsed = parse_step_request(request);
    if (!parsed) return to_string(parsed.error());
    auto placement = place_step(*parsed, *step, network);
    if (!placement) return to_string(placement.error());
    std::istringstream in(write_placement(*placement));
    std::string text, rank, host, cpu;
    std::getline(in, text);
    const std::string gpus =
        placement->gpus_per_task > 0 ? fmt::format(" gpus-per-task {}", placement->gpus_per_task) : "";
    EXPECT_EQ(text, fmt::format("ranks {}{}", placement->bindings.size(), gpus));
    text.clear();
    for (std::string line; std::getline(in, line);) {
      std::istringstream fields(line);
      std::string gpu;
      fields >> rank >> host >> cpu >> gpu;
      text += fmt::format("{}{}:{}{}{}", text.empty() ? "" : " ", host, cpu, gpu.empty() ? "" : "/", gpu);
    }
    return text;
  }

  std::filesystem::path directory_;
};

TEST_F(PlaceStep, RejectsAFileOfOneCommentWithoutALineEnd) {
  for (const char* const content : {"# a comment", "#", "# one\n# two", "\n\n#", ""})
    EXPECT_THAT(place(write("comment.map", content), "srun app", two_nodes()), HasSubstr("no core numbers")) << content;
}

TEST_F(PlaceStep, RejectsCountsForMoreNodesThanTheJobHas) {
  SlurmVariables variables = two_nodes();
  variables.cpus_per_node = "4(x2),4(x2),4(x2)";
  EXPECT_THAT(step_of("srun app", variables).error().what, HasSubstr("is not a list of counts for these nodes"));
}

TEST_F(PlaceStep, NumbersTheCoresOfTheJob) {
  const auto map = write("map", "7\n0\n3\n4\n");
  EXPECT_EQ(place(map, "srun -n 4 app", two_nodes()), "n2:+3 n1:+0 n1:+3 n2:+0");
  EXPECT_EQ(place(map + ",bind=none", "srun -n 4 app", two_nodes()), "n2:- n1:- n1:- n2:-");
  EXPECT_EQ(place(map, "srun -n 4 --cpu-bind=cores app", two_nodes()), "n2:- n1:- n1:- n2:-");
  EXPECT_EQ(place(write("json", R"({"mapping": [7, 0]})"), "srun -n 2 app", two_nodes()), "n2:+3 n1:+0");
}

TEST_F(PlaceStep, ARequestOfTheJobAppliesToStepsOfItsSize) {
  auto request = *parse_step_request(write("map", "7\n0\n3\n4\n"));
  request.set_by_job = true;
  const auto bindings = [&](const char* srun, SlurmVariables variables) {
    return place_step(request, *step_of(srun, variables), {});
  };
  EXPECT_EQ(bindings("srun -n 4 app", two_nodes())->bindings.size(), 4);
  EXPECT_EQ(bindings("srun -n 1 mkdir", two_nodes())->bindings.size(), 0);
  EXPECT_FALSE(bindings("srun app", two_nodes())) << "the step takes the number of ranks of the job, which differs";
  EXPECT_TRUE(has_placement_options(*parse_launch_command({"srun", "--ntasks-per-node=1", "orted"}, {})));
}

TEST_F(PlaceStep, AssignsTheNodeNamesOfTheJobToNumberedNodes) {
  const auto map = write("map", "5\n0\n");
  EXPECT_EQ(place(map + ",topology=node:2 core:4", "srun -n 2 app", two_nodes()), "n2:+1 n1:+0");
  EXPECT_THAT(place(map + ",topology=node:3 core:4", "srun -n 2 app", two_nodes()),
              HasSubstr("has 3 nodes without names"));
}

TEST_F(PlaceStep, UsesTheNamesAndProcessingUnitsOfAMachine) {
  const auto map = write("map", "2\n1\n");
  const auto hosts = write("hosts.txt", "n2 2\nn1.cluster 2\n");
  EXPECT_EQ(place(map + ",topology=" + hosts, "srun -n 2 app", two_nodes()), "n1:+0 n2:+1");
  const auto machine = write("machine.json", R"({"rankloom": "topology", "version": 1, "machine": {"kind": "machine",
    "children": [{"kind": "node", "name": "n2", "children": [{"kind": "core", "os_index": 3}, {"kind": "core", "os_index": 1}]},
                 {"kind": "node", "name": "n1", "children": [{"kind": "core", "os_index": 2}, {"kind": "core", "os_index": 0}]}]}})");
  EXPECT_EQ(place(map + ",topology=" + machine, "srun -n 2 app", two_nodes()), "n1:2 n2:1");
  // A machine with node names also works outside of a job.
  EXPECT_EQ(place(map + ",topology=" + machine, "srun -n 2 app", {}), "n1:2 n2:1");
  EXPECT_EQ(place(write("bind.txt", "# rank host cpu\n0 n2 1\n1 n1 0\n"), "srun -n 2 app", two_nodes()), "n2:1 n1:0");
}

TEST_F(PlaceStep, RanksOfSeveralUnitsGetSlotsOfDescribedNodes) {
  // Ranks 0 and 3, 1 and 2 exchange data.
  const auto profile =
      "map:" + write("four.mtx", "%%MatrixMarket matrix coordinate integer general\n4 4 2\n1 4 1000000\n2 3 1000000\n");
  const SlurmNetwork described{.topology = "node:2=10 numa:2=3 core:2=1"};
  EXPECT_EQ(place(profile, "srun -n 4 -c 2 app", two_nodes(), described), "n2:+0-1 n1:+0-1 n1:+2-3 n2:+2-3");
  EXPECT_EQ(place(profile, "srun -n 4 -c 2 app", two_nodes()), "n2:- n1:- n1:- n2:-") << "the inside is not known";
  EXPECT_EQ(place(profile, "srun -n 4 -c 2 --gpus-per-task=1 app", two_nodes(), described), "n2:- n1:- n1:- n2:-");
  const SlurmNetwork smaller{.topology = "node:2=10 numa:2=3 core:1=1"};
  EXPECT_EQ(place(profile, "srun -n 4 -c 2 app", two_nodes(), smaller), "n2:- n1:- n1:- n2:-");
  const SlurmNetwork threads{.topology = "node:2=10 core:2=1 pu:2=0.1"};
  EXPECT_EQ(place(profile, "srun -n 4 -c 2 app", two_nodes(), threads), "n2:- n1:- n1:- n2:-")
      << "numbers of hardware threads are not known";
  const auto wide = write("wide.map", "# --cores-per-rank 2\n4\n0\n6\n2\n");
  EXPECT_EQ(place(wide + ",topology=node:2 core:4", "srun -n 4 -c 2 app", two_nodes()),
            "n2:+0-1 n1:+0-1 n2:+2-3 n1:+2-3");
  EXPECT_EQ(place(write("one.map", "4\n0\n6\n2\n"), "srun -n 4 -c 2 app", two_nodes()), "n2:- n1:- n2:- n1:-")
      << "one unit each is less than the user asked for";
}

TEST_F(PlaceStep, RanksWithGpusGetSlotsNearThem) {
  // Ranks 0 and 3, 1 and 2 exchange data. GPU 1 is near the first processing units of a node.
  const auto profile =
      "map:" + write("four.mtx", "%%MatrixMarket matrix coordinate integer general\n4 4 2\n1 4 1000000\n2 3 1000000\n");
  const auto machine = [&](const char* name, bool numbered) {
    std::string nodes;
    for (const char* const node : {"n1", "n2"}) {
      std::string parts;
      for (int numa = 0; numa < 2; ++numa) {
        std::string cores;
        for (int core = 0; core < 2; ++core)
          cores += fmt::format(R"({}{{"kind": "core"{}}})", core > 0 ? "," : "",
                               numbered ? fmt::format(R"(, "os_index": {})", 2 * core + numa) : "");
        parts += fmt::format(R"({}{{"kind": "numa", "devices": [{{"kind": "gpu", "number": {}}}], "children": [{}]}})",
                             numa > 0 ? "," : "", 1 - numa, cores);
      }
      nodes +=
          fmt::format(R"({}{{"kind": "node", "name": "{}", "children": [{}]}})", nodes.empty() ? "" : ",", node, parts);
    }
    return write(name, fmt::format(R"({{"rankloom": "topology", "version": 1,
      "machine": {{"kind": "machine", "children": [{}]}}}})",
                                   nodes));
  };
  const SlurmNetwork positions{.topology = machine("positions.json", false)};
  const SlurmNetwork numbers{.topology = machine("numbers.json", true)};
  const char* const unbound = "n2:- n1:- n1:- n2:-";
  EXPECT_EQ(place(profile, "srun -n 4 -c 2 --gpus-per-task=1 app", two_nodes(), positions),
            "n2:+0-1/gpus=1 n1:+0-1/gpus=1 n1:+2-3/gpus=0 n2:+2-3/gpus=0");
  EXPECT_EQ(place(profile, "srun -n 4 -c 2 --gpus-per-node=2 app", two_nodes(), numbers),
            "n2:0,2/gpus=1 n1:0,2/gpus=1 n1:1,3/gpus=0 n2:1,3/gpus=0");
  EXPECT_EQ(place(profile, "srun -n 4 --gpus-per-task=1 app", two_nodes(), numbers),
            "n2:0/gpus=1 n1:0/gpus=1 n1:1/gpus=0 n2:1/gpus=0")
      << "not all processing units are used";
  EXPECT_EQ(place(profile, "srun -n 4 --gpus-per-task=1 app", two_nodes(), positions), unbound)
      << "it is not known which units the step has";
  EXPECT_EQ(place(profile, "srun -n 4 -c 2 --gpus-per-task=2 app", two_nodes(), numbers), unbound) << "too few GPUs";
  EXPECT_EQ(place(profile, "srun -n 4 -c 2 --gpus-per-task=1 --gpu-bind=closest app", two_nodes(), numbers), unbound);
  EXPECT_EQ(place(profile, "srun -n 4 -c 2 --gpus-per-task=1 --cpu-bind=cores app", two_nodes(), numbers), unbound);
  EXPECT_EQ(place(profile, "srun -n 4 -c 2 app", two_nodes(), numbers), "n2:0,2 n1:0,2 n1:1,3 n2:1,3");
  const auto map = write("gpus.map", "# --cores-per-rank 2 --gpus-per-rank 1\n4\n2\n0\n6\n");
  EXPECT_EQ(place(map + ",topology=" + numbers.topology, "srun -n 4 -c 2 --ntasks-per-gpu=1 app", two_nodes()),
            "n2:0,2/gpus=1 n1:1,3/gpus=0 n1:0,2/gpus=1 n2:1,3/gpus=0");
  const auto bind = write("bind.txt", "0 n1 0-1 threads 2 gpus 1\n1 n1 2-3 gpus 0 nic mlx5_0\n");
  EXPECT_EQ(place(bind, "srun -n 2 -c 2 --gpus-per-task=1 app", two_nodes()), "n1:0-1/gpus=1 n1:2-3/gpus=0");
  EXPECT_EQ(place(bind, "srun -n 2 -c 2 app", two_nodes()), "n1:0-1 n1:2-3");
}

TEST_F(PlaceStep, RejectsMappingsThatDoNotFit) {
  const auto map = write("map", "7\n0\n3\n4\n");
  EXPECT_THAT(place(map, "srun app", two_nodes()), HasSubstr("has 4 ranks, but srun starts 8"));
  EXPECT_THAT(place(map, "srun -n 4 app", {}), HasSubstr("topology=FILE"));
  EXPECT_THAT(place(directory_ / "nothing", "srun -n 4 app", two_nodes()), HasSubstr("nothing"));
  EXPECT_THAT(place(write("words", "one\n"), "srun -n 1 app", two_nodes()), HasSubstr("is not a core number"));
  EXPECT_THAT(place(write("far", "99\n"), "srun -n 1 app", two_nodes()), HasSubstr("99"));
  const auto hosts = write("hosts.txt", "m1 4\nm2 4\n");
  EXPECT_THAT(place(map + ",topology=" + hosts, "srun -n 4 app", two_nodes()),
              HasSubstr("m2, which is not a node of the job"));
  EXPECT_THAT(place(write("crowd", "0\n1\n2\n"), "srun -n 3 -c 2 app", two_nodes()), HasSubstr("more than 2 ranks"));
  EXPECT_THAT(place(write("bind.txt", "0 n1 0\n0 n1 1\n"), "srun -n 2 app", two_nodes()),
              HasSubstr("bind.txt:2: expected the host and the processing units of rank 1"));
  EXPECT_THAT(place(map, "srun -n 4 -N 1 app", two_nodes()), HasSubstr("leave -N out"));
}

TEST_F(PlaceStep, MapsAProfileOntoTheJob) {
  // Ranks 0 and 4, 1 and 5, 2 and 6, 3 and 7 exchange the most data.
  const auto profile = write("pairs.mtx",
                             "%%MatrixMarket matrix coordinate integer general\n8 8 5\n1 5 1000000\n2 6 1000000\n"
                             "3 7 1000000\n4 8 1000000\n1 2 10\n");
  auto step = step_of("srun app", two_nodes());
  auto placement = place_step(*parse_step_request("map:" + profile), *step, {});
  ASSERT_TRUE(placement) << to_string(placement.error());
  for (std::size_t rank = 0; rank < 4; ++rank)
    EXPECT_EQ(placement->bindings[rank].host, placement->bindings[rank + 4].host);
  EXPECT_EQ(placement->costs->model, CostModel::predicted);
  EXPECT_LT(placement->costs->mapped, placement->costs->by_default);
  EXPECT_THAT(place("map:" + profile, "srun -n 4 app", two_nodes()), HasSubstr("the profile has 8 ranks"));
  EXPECT_THAT(place("map:" + profile, "srun -n 8 app", {}), HasSubstr("inside salloc or sbatch"));
  EXPECT_THAT(place("map:" + profile + ",mapper=none", "srun app", two_nodes()), HasSubstr("none"));
}

TEST_F(PlaceStep, TheDefaultPlacementHasTheOrderOfSlurm) {
  // Each rank exchanges data with the next one.
  const auto profile =
      write("chain.mtx", "%%MatrixMarket matrix coordinate integer general\n4 4 3\n1 2 1000\n2 3 1000\n3 4 1000\n");
  const auto conf =
      write("line.conf", "SwitchName=s0 Nodes=n[1-2]\nSwitchName=s1 Nodes=n[3-4]\nSwitchName=top Switches=s[0-1]\n");
  const SlurmVariables variables{.nodes = "n[1-4]", .cpus_per_node = "1(x4)", .tasks_per_node = "1(x4)", .tasks = "4"};
  auto step = step_of("srun app", variables);
  const auto request = *parse_step_request("map:" + profile);
  const auto in_order = place_step(request, *step, {.topology = conf});
  ASSERT_TRUE(in_order) << to_string(in_order.error());
  EXPECT_EQ(in_order->costs->mapped, in_order->costs->by_default);
  step->rank_order = {"n1", "n3", "n2", "n4"};
  const auto as_asked = place_step(request, *step, {.topology = conf});
  ASSERT_TRUE(as_asked) << to_string(as_asked.error());
  EXPECT_EQ(as_asked->costs->mapped, in_order->costs->mapped);
  EXPECT_GT(as_asked->costs->by_default, as_asked->costs->mapped);
}

MachineSpec named_mesh() {
  MachineSpec mesh = *parse_topology_string("mesh:4x4 core:4");
  ObjectSpec node = mesh.root.children[0];
  node.repeat = 1;
  mesh.root.children.assign(16, node);
  for (std::size_t i = 0; i < 16; ++i) mesh.root.children[i].name = fmt::format("n{}", i + 1);
  return mesh;
}

TEST_F(PlaceStep, UsesOnlyTheNodesOfTheJobInARoutedNetwork) {
  const SlurmVariables square{
      .nodes = "n[6-7,10-11]", .cpus_per_node = "4(x4)", .tasks_per_node = "4(x4)", .tasks = "16"};
  auto step = step_of("srun app", square);
  auto machine = job_machine(*step, named_mesh());
  ASSERT_TRUE(machine) << to_string(machine.error());
  auto topology = Topology::build(*machine);
  ASSERT_TRUE(topology);
  EXPECT_EQ(topology->node_count(), 16);
  std::set<std::string> usable;
  for (const Core core : topology->cores()) {
    if (topology->capacity(core) > 0) usable.insert(topology->node_name(topology->node_of(core)));
  }
  EXPECT_THAT(usable, ElementsAre("n10", "n11", "n6", "n7"));
}

TEST_F(PlaceStep, RemovesOtherNodesOfAHierarchy) {
  const auto conf =
      write("topology.conf", "SwitchName=s0 Nodes=n[1-4]\nSwitchName=s1 Nodes=n[5-8]\nSwitchName=t Switches=s[0-1]\n");
  auto step = step_of("srun app", {.nodes = "n[4-5]", .cpus_per_node = "4,2", .tasks_per_node = "4,2", .tasks = "6"});
  auto machine = job_machine(*step, *load_machine(conf));
  ASSERT_TRUE(machine) << to_string(machine.error());
  auto topology = Topology::build(*machine);
  ASSERT_TRUE(topology);
  EXPECT_EQ(topology->node_count(), 2);
  EXPECT_EQ(topology->core_count(), 6) << "the cores of the job";
  step->nodes[0].name = "elsewhere";
  EXPECT_THAT(to_string(job_machine(*step, *load_machine(conf)).error()), HasSubstr("has no node elsewhere"));
}

TEST_F(PlaceStep, AssignsNumberedNodesToTheJobInOrder) {
  auto step = step_of("srun app", two_nodes());
  auto machine = job_machine(*step, *parse_topology_string("switch:2=30 node:1=10 core:4=1"));
  ASSERT_TRUE(machine) << to_string(machine.error());
  auto topology = Topology::build(*machine);
  EXPECT_EQ(topology->node_name(Node{1}), "n2");
  EXPECT_THAT(to_string(job_machine(*step, *parse_topology_string("mesh:2x2")).error()),
              HasSubstr("has 4 nodes without names, but there are 2 names"));
}

}  // namespace
}  // namespace rankloom
