// SPDX-License-Identifier: Apache-2.0
// Tests of place: the slot of a rank as the user's command gives it, and the processing units of slots.
#include "rankloom/place/job_shape.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/place/deployment.hpp"
#include "rankloom/place/launchers.hpp"
#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view open_mpi_4 = "mpirun (Open MPI) 4.1.4", open_mpi_5 = "mpirun (Open MPI) 5.0.7",
                           mpich = "HYDRA build details:";

LaunchCommand parse(const std::string& text, std::string_view version) {
  Argv argv;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    argv.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return *parse_launch_command(argv, version);
}

/// "4 threads/1 unbound by ..."
std::string shape_of(const std::string& text, std::string_view version = {}) {
  const auto shape = job_shape(parse(text, version));
  if (!shape) return to_string(shape.error());
  std::string result = std::to_string(shape->width);
  result += shape->unit == JobShape::Unit::core ? " cores" : " threads";
  if (shape->threads_per_core > 0) result += "/" + std::to_string(shape->threads_per_core);
  if (shape->ranks_per_node > 0) result += " " + std::to_string(shape->ranks_per_node) + " per node";
  if (shape->one_thread) result += " one each";
  if (shape->oversubscribe) result += " oversubscribed";
  if (!shape->unbound_by.empty()) result += " unbound by " + shape->unbound_by;
  return result;
}

TEST(JobShape, IsChangedForAnotherNumberOfHardwareThreads) {
  const auto reserved = [](const std::string& text) {
    LaunchCommand command = parse(text, {});
    command.launcher->command_line->reserve(command.programs.front(), 4);
    return shell_text({}, command.argv());
  };
  EXPECT_EQ(reserved("srun -n 2 -c 8 app -c 8"), "srun -n 2 --cpus-per-task=4 app -c 8");
  EXPECT_EQ(reserved("srun -c2 --threads-per-core=1 --hint=nomultithread -n 2 -- app"),
            "srun -n 2 --cpus-per-task=4 -- app");
  EXPECT_EQ(reserved("srun -lc 8 app"), "srun -l --cpus-per-task=4 app");
}

TEST(JobShape, IsReadFromTheOptionsOfTheLauncher) {
  EXPECT_EQ(shape_of("srun -n 2 app"), "0 threads");
  EXPECT_EQ(shape_of("srun -n 2 -c 4 app"), "4 threads");
  EXPECT_EQ(shape_of("srun -n 2 --cpus-per-task=4 --hint=nomultithread app"), "4 threads/1");
  EXPECT_EQ(shape_of("srun -c2 --threads-per-core=2 --cpu-bind=cores app"), "2 threads/2");
  EXPECT_EQ(shape_of("srun --cpu-bind=verbose,none app"), "0 threads unbound by --cpu-bind=verbose,none");
  EXPECT_EQ(shape_of("srun --ntasks-per-node=2 -c 4 app"), "4 threads 2 per node");
  EXPECT_EQ(shape_of("mpirun -N 2 app", open_mpi_4), "0 cores 2 per node");
  EXPECT_EQ(shape_of("mpirun -pernode app", open_mpi_4), "0 cores 1 per node");
  EXPECT_EQ(shape_of("mpirun --map-by ppr:2:node:PE=3 app", open_mpi_5), "3 cores 2 per node");
  EXPECT_EQ(shape_of("mpiexec -ppn 2 -n 4 app", mpich), "0 cores 2 per node");
  EXPECT_EQ(shape_of("mpirun --map-by slot:PE=4 -n 2 app", open_mpi_4), "4 cores");
  EXPECT_EQ(shape_of("mpirun --map-by ppr:2:package:pe=8:HWTCPUS app", open_mpi_5), "8 threads");
  EXPECT_EQ(shape_of("mpirun --map-by socket:PE=4,SPAN -n 2 app", open_mpi_4), "4 cores");
  EXPECT_EQ(shape_of("mpirun --map-by :OVERSUBSCRIBE -n 2 app", open_mpi_4), "0 cores oversubscribed");
  EXPECT_EQ(shape_of("mpirun --mca hwloc_base_use_hwthreads_as_cpus 1 --map-by slot:PE=4 app", open_mpi_4),
            "4 threads");
  EXPECT_EQ(shape_of("mpirun --cpus-per-rank 3 -n 2 app", open_mpi_4), "3 cores");
  EXPECT_EQ(shape_of("mpirun --mca rmaps_base_mapping_policy node:PE=2 -n 2 app", open_mpi_4), "2 cores");
  EXPECT_EQ(shape_of("mpirun --bind-to core -n 2 app", open_mpi_4), "0 cores");
  EXPECT_EQ(shape_of("mpirun --bind-to hwthread -n 2 app", open_mpi_4), "0 cores one each");
  EXPECT_EQ(shape_of("mpirun --bind-to none -n 2 app", open_mpi_4), "0 cores unbound by --bind-to none");
  EXPECT_EQ(shape_of("mpirun --mca hwloc_base_binding_policy none -n 2 app", open_mpi_4),
            "0 cores unbound by --mca hwloc_base_binding_policy none");
  EXPECT_EQ(shape_of("mpirun --bind-to numa --map-by numa:PE=4 app", open_mpi_4), "4 cores");
  EXPECT_EQ(shape_of("mpiexec -bind-to core:4 -n 2 app", mpich), "4 cores");
  EXPECT_EQ(shape_of("mpiexec -bind-to hwthread -n 2 app", mpich), "0 threads one each");
  EXPECT_EQ(shape_of("mpiexec -bind-to numa -n 2 app", mpich), "0 cores unbound by -bind-to numa");
  EXPECT_EQ(shape_of("mpiexec -bind-to rr -n 2 app", mpich), "0 cores");
  EXPECT_EQ(shape_of("mpiexec -bind-to user:0+1,2+3 -n 2 app", mpich), "0 cores unbound by -bind-to user:0+1,2+3");
  EXPECT_EQ(shape_of("srun --cpu-bind=mask_cpu:0xf,0xf0 app"), "0 threads unbound by --cpu-bind=mask_cpu:0xf,0xf0");
  EXPECT_EQ(shape_of("mpiexec -bind-to core:2 -n 2 a : -n 1 b", mpich), "2 cores");
}

TEST(JobShape, ProgramsMayDiffer) {
  const Topology machine = testing::topology("node:2 core:8");
  const auto slots = [&](const char* command, std::string_view version, const SlotShapes& otherwise = {}) {
    return option_text(slot_shapes(*job_shape(parse(command, version)), machine, 6, otherwise).of_first(6));
  };
  EXPECT_EQ(slots("srun -n 2 -c 4 a : -n 4 -c 2 b", {}), "--cores-per-rank 2x4,4x2");
  EXPECT_EQ(slots("srun -n 2 -c 4 a : -n 4 b", {}), "--cores-per-rank 2x4,4x1");
  EXPECT_EQ(slots("mpirun -n 4 --map-by slot:PE=1 a : -n 2 --map-by slot:PE=3 b", open_mpi_4),
            "--cores-per-rank 4x1,2x3");
  EXPECT_EQ(slots("mpirun --map-by slot:PE=3 -n 4 a : -n 2 b", open_mpi_4), "--cores-per-rank 3") << "for all programs";
  SlotShapes of_mapping;
  of_mapping.append(2, {.cores = 4});
  of_mapping.append(4, {.cores = 2});
  EXPECT_EQ(slots("mpirun -n 2 a : -n 4 b", open_mpi_4, of_mapping), "--cores-per-rank 2x4,4x2");
  EXPECT_EQ(slots("mpirun -n 6 a", open_mpi_4, of_mapping), "--cores-per-rank 2x4,4x2");
  EXPECT_THAT(shape_of("srun -c 4 a : -n 1 -c 2 b"), HasSubstr("no number of ranks"));
}

TEST(JobShape, SlurmCountsHardwareThreads) {
  const Topology smt = testing::topology("package:2=3 core:4=2 pu:2=1"), plain = testing::topology("core:8=1");
  const auto slot = [](const char* command, const Topology& machine, SlotShape otherwise = {}) {
    return slot_shapes(*job_shape(parse(command, {})), machine, 2, otherwise);
  };
  EXPECT_EQ(slot("srun app", smt), SlotShape{});
  EXPECT_EQ(slot("srun -c 4 app", smt), (SlotShape{.cores = 2}));
  EXPECT_EQ(slot("srun -c 3 app", smt), (SlotShape{.cores = 2}));
  EXPECT_EQ(slot("srun -c 4294967295 app", smt), (SlotShape{.cores = 2147483648U}));
  EXPECT_EQ(slot("srun -c 4 --hint=nomultithread app", smt), (SlotShape{4, 1}));
  EXPECT_EQ(slot("srun -c 4 app", plain), (SlotShape{.cores = 4}));
  EXPECT_EQ(slot("srun -c 1 app", smt), SlotShape{});
  const Topology gpus = testing::topology("numa:2=3 gpu:2 core:4=1");
  EXPECT_EQ(slot("srun --gpus-per-task=a100:2 app", gpus), (SlotShape{.gpus = 2}));
  EXPECT_EQ(slot("srun --ntasks-per-gpu=4 app", gpus), (SlotShape{.gpus = 1, .ranks_per_gpu = 4}));
  EXPECT_EQ(slot("srun --ntasks-per-gpu=4 app", plain), SlotShape{}) << "the machine is described without GPUs";
}

TEST(JobShape, KeepsWhatTheCommandDoesNotSay) {
  const Topology smt = testing::topology("package:2=3 core:4=2 pu:2=1");
  const SlotShape wide{.cores = 4};
  const auto slot = [&](const char* command, std::uint32_t ranks, SlotShape otherwise, std::string_view version = {}) {
    return slot_shapes(*job_shape(parse(command, version)), smt, ranks, otherwise);
  };
  EXPECT_EQ(slot("srun app", 2, wide), wide);
  EXPECT_EQ(slot("srun --hint=nomultithread app", 2, wide), (SlotShape{4, 1}));
  EXPECT_EQ(slot("mpirun --bind-to hwthread app", 2, wide, open_mpi_4), wide);
  EXPECT_EQ(slot("mpirun --bind-to hwthread app", 8, {}, open_mpi_4), (SlotShape{1, 1}));
  EXPECT_EQ(slot("mpirun --bind-to hwthread app", 9, {}, open_mpi_4), SlotShape{}) << "every hardware thread is a slot";
}

/// The processing units of every rank, each as "0-3,8".
std::vector<std::string> units(const std::vector<Core>& cores, const char* machine, SlotShape shape = {}) {
  const auto deployment = deploy(cores, testing::topology(machine), std::vector<std::string>{"a", "b"}, shape);
  if (!deployment) return {to_string(deployment.error())};
  std::vector<std::string> result;
  for (const Rank rank : deployment->ranks()) result.push_back(format_number_ranges(deployment->cpus(rank)));
  return result;
}

TEST(Deploy, ARankHasAllHardwareThreadsOfItsCore) {
  constexpr const char* machine = "package:2=3 core:2=2 pu:2=1";
  EXPECT_THAT(units({Core{0}, Core{2}, Core{4}, Core{6}}, machine), ElementsAre("0-1", "2-3", "4-5", "6-7"));
  EXPECT_THAT(units({Core{1}, Core{2}}, machine), ElementsAre("0-1", "2-3"));
  EXPECT_THAT(units({Core{0}, Core{0}}, machine), ElementsAre("0-1", "0-1")) << "oversubscribed";
  EXPECT_THAT(units({Core{0}, Core{1}, Core{2}}, machine), ElementsAre("0", "1", "2-3"))
      << "a core whose threads have a rank each";
  EXPECT_THAT(units({Core{0}, Core{3}}, "node:2=10 core:2=1"), ElementsAre("0", "1"));
}

TEST(Deploy, ARankHasTheCoresOfItsSlot) {
  constexpr const char* machine = "node:2=10 package:2=3 core:2=2 pu:2=1";
  EXPECT_THAT(units({Core{0}, Core{12}, Core{4}}, machine, {.cores = 2}), ElementsAre("0-3", "4-7", "4-7"));
  EXPECT_THAT(units({Core{8}, Core{0}}, machine, {.cores = 4}), ElementsAre("0-7", "0-7"));
  EXPECT_THAT(units({Core{4}}, machine, {.cores = 2, .threads_per_core = 1}), ElementsAre("4,6"));
  EXPECT_THAT(units({Core{2}}, machine, {.cores = 2})[0],
              HasSubstr("rank 0 is on core 2, where no slot of 2 cores begins"));
  EXPECT_THAT(units({Core{2}}, machine, {.cores = 2})[0], HasSubstr("--cores-per-rank 2"));
  EXPECT_THAT(units({Core{0}}, machine, {.cores = 5})[0], HasSubstr("does not fit on a node of 4"));
}

TEST(Deploy, FilesOfLaunchersReadBackToTheSameCores) {
  const Topology machine = testing::topology("node:2=10 package:2=3 core:2=2 pu:2=1");
  const std::vector<Core> cores{Core{12}, Core{0}, Core{4}};
  const std::vector<std::string> hosts{"a", "b"};
  for (const SlotShape shape : {SlotShape{}, SlotShape{.cores = 2}, SlotShape{.cores = 2, .threads_per_core = 1}}) {
    const auto deployment = deploy(cores, machine, hosts, shape);
    ASSERT_TRUE(deployment);
    for (const char* const name : {"openmpi4", "openmpi5", "openmpi6", "intelmpi", "plain"}) {
      const Launcher& launcher = **find_launcher(name);
      const auto written = launcher.write(*deployment, {});
      ASSERT_TRUE(written) << name;
      const LauncherFile& file = written->files[0];
      // Where a launcher cannot express the set, its file has only hosts, and rankloom-bind binds.
      const bool wrapped = std::any_of(written->files.begin(), written->files.end(),
                                       [](const LauncherFile& other) { return other.name == "bind.txt"; });
      if (wrapped) continue;
      const auto read = launcher.read(FileContents(file.name, file.content), machine, hosts);
      ASSERT_TRUE(read) << name << "\n" << file.content;
      EXPECT_EQ(read->core_of, cores) << name << "\n" << file.content;
      EXPECT_EQ(read->shapes.common().cores, shape.cores) << name << "\n" << file.content;
    }
  }
}

TEST(Deploy, SetsThatALauncherCannotExpressAreBoundByTheWrapper) {
  // 20 cores of which every second one is numbered: a list of more than 60 characters.
  const Topology machine = testing::topology("node:1=10 core:40=2 pu:2=1");
  const std::vector<Core> cores{Core{0}};
  const auto deployment =
      deploy(cores, machine, std::vector<std::string>{"a"}, SlotShape{.cores = 30, .threads_per_core = 1});
  ASSERT_TRUE(deployment);
  for (const char* const name : {"openmpi4", "openmpi5", "openmpi6", "intelmpi"}) {
    const auto written = (*find_launcher(name))->write(*deployment, {});
    ASSERT_TRUE(written) << name;
    EXPECT_EQ(written->files[0].content.find("slot="), std::string::npos) << name;
    const auto table = std::find_if(written->files.begin(), written->files.end(),
                                    [](const LauncherFile& file) { return file.name == "bind.txt"; });
    ASSERT_NE(table, written->files.end()) << name;
    EXPECT_THAT(table->content, HasSubstr("0 a 0,2,4,6"));
  }
}

TEST(Deploy, RanksMayHaveSlotsOfSeveralShapes) {
  const std::vector<std::string> hosts{"a", "b"};
  SlotShapes shapes;
  shapes.append(1, {.cores = 2});
  shapes.append(3, {});
  const Topology machine = testing::topology("node:2=10 core:4=1");
  const auto deployment = deploy(std::vector<Core>{Core{1}, Core{0}, Core{3}, Core{6}}, machine, hosts, shapes);
  ASSERT_TRUE(deployment) << to_string(deployment.error());
  std::vector<std::string> cpus;
  for (const Rank rank : deployment->ranks()) cpus.push_back(format_number_ranges(deployment->cpus(rank)));
  EXPECT_THAT(cpus, ElementsAre("1-2", "0", "3", "2"));
  for (const char* const name : {"openmpi4", "openmpi5", "openmpi6", "mpich", "wrapper", "plain"}) {
    const Launcher& launcher = **find_launcher(name);
    const auto written = launcher.write(*deployment, {});
    ASSERT_TRUE(written) << name;
    if (name == std::string_view("mpich")) continue;  // its file names hosts alone
    const auto read = launcher.read(FileContents("f", written->files[0].content), machine, hosts);
    ASSERT_TRUE(read) << name << to_string(read.error());
    EXPECT_EQ(read->shapes, deployment->shapes) << name;
    EXPECT_THAT(read->core_of, ElementsAre(Core{1}, Core{0}, Core{3}, Core{6})) << name;
  }
  EXPECT_THAT(to_string(deploy(std::vector<Core>{Core{1}, Core{2}}, machine, hosts, shapes.of_first(2)).error()),
              HasSubstr("rank 1 has core 2, which is also that of rank 0"));
}

TEST(Deploy, RanksOfDifferentWidthsHaveRowsOfCores) {
  const Topology machine = testing::topology("node:1=10 core:4=1");
  const auto read = [&](const char* text) {
    return (*find_launcher("openmpi4"))->read(FileContents("f", text), machine, std::vector<std::string>{"a"});
  };
  EXPECT_EQ(read("rank 0=a slot=0-1\nrank 1=a slot=2,3\n")->shapes, (SlotShape{.cores = 2}));
  EXPECT_EQ(option_text(read("rank 0=a slot=0-1\nrank 1=a slot=2\n")->shapes), "--cores-per-rank 1x2,1x1");
  EXPECT_THAT(read("rank 0=a slot=0,2\nrank 1=a slot=1\n").error().what, HasSubstr("the cores of rank 0 are not next"));
}

/// One node with two NUMA nodes of two cores; cards of the node and of each NUMA node.
Topology machine_with_cards(std::vector<DeviceSpec> of_node, std::vector<DeviceSpec> first,
                            std::vector<DeviceSpec> second) {
  const auto object = [](const char* kind, std::vector<ObjectSpec> children, std::vector<DeviceSpec> devices) {
    ObjectSpec result{.kind = kind, .name = {}, .between = Cost{1, 0}, .os_index = {}, .children = std::move(children)};
    result.devices = std::move(devices);
    return result;
  };
  const std::vector<ObjectSpec> cores{object("core", {}, {}), object("core", {}, {})};
  const ObjectSpec node = object(
      "node", {object("numa", cores, std::move(first)), object("numa", cores, std::move(second))}, std::move(of_node));
  return *Topology::build({.root = object("machine", {node}, {}), .network = {}, .text = {}, .remarks = {}});
}

std::vector<std::string> cards_of(const Topology& machine, const std::vector<Core>& core_of) {
  const std::vector<std::string> hosts{"a"};
  const Deployment deployment = *deploy(core_of, machine, hosts);
  const auto cards = deployment.nearest_network_cards();
  return {cards.begin(), cards.end()};
}

TEST(Deployment, RanksGetTheNearestNetworkCard) {
  const auto machine = machine_with_cards({}, {{.kind = "nic", .name = "mlx5_0"}}, {{.kind = "nic", .name = "mlx5_1"}});
  EXPECT_THAT(cards_of(machine, {Core{0}, Core{3}, Core{1}}), ElementsAre("mlx5_0", "mlx5_1", "mlx5_0"));
}

TEST(Deployment, RanksShareNetworkCardsThatAreEquallyNear) {
  const DeviceSpec a{.kind = "nic", .name = "a"}, b{.kind = "nic", .name = "b"};
  EXPECT_THAT(cards_of(machine_with_cards({a, b}, {}, {}), {Core{0}, Core{1}, Core{2}}), ElementsAre("a", "b", "a"));
  EXPECT_THAT(cards_of(machine_with_cards({a}, {}, {}), {Core{0}}), ElementsAre("")) << "there is nothing to choose";
}

}  // namespace
}  // namespace rankloom
