// SPDX-License-Identifier: Apache-2.0
// tests of place: every row of the registry of launchers: its files, its commands, and how its command line is parsed.
#include "rankloom/place/launchers.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/place/launch_plan.hpp"
#include "rankloom/place/virtual_cluster/mpi_environment.hpp"
#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using rankloom::testing::topology;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::vector<Core> shuffled_cores(std::uint32_t ranks, std::uint32_t cores, unsigned seed) {
  std::vector<Core> core_of;
  for (std::uint32_t core = 0; core < cores; ++core) core_of.push_back(Core{core});
  std::mt19937 random(seed);
  std::shuffle(core_of.begin(), core_of.end(), random);
  core_of.resize(ranks);
  return core_of;
}

/// Every node has consecutive ranks, in the order of its cores.
std::vector<Core> shuffled_nodes(std::uint32_t nodes, std::uint32_t cores, unsigned seed) {
  std::vector<Core> core_of;
  for (const Core node : shuffled_cores(nodes, nodes, seed)) {
    for (std::uint32_t core = 0; core < cores; ++core) core_of.push_back(Core{index(node) * cores + core});
  }
  return core_of;
}

Deployment deployed(const std::vector<Core>& core_of, const Topology& machine, std::vector<std::string> hosts = {}) {
  auto deployment = deploy(core_of, machine, hosts);
  EXPECT_TRUE(deployment) << to_string(deployment.error());
  return *deployment;
}

EmittedLaunch written(std::string_view launcher, const Deployment& deployment, const EmitOptions& options = {}) {
  auto made = (*find_launcher(launcher))->write(deployment, options);
  EXPECT_TRUE(made) << to_string(made.error());
  return made ? *made : EmittedLaunch{};
}

/// The nodes only: files without processing units contain nothing else.
std::vector<Node> nodes_of(const std::vector<Core>& core_of, const Topology& machine) {
  std::vector<Node> nodes;
  for (const Core core : core_of) nodes.push_back(machine.node_of(core));
  return nodes;
}

bool is_prrte_row(const Launcher& row) {
  return row.name == "openmpi5" || row.name == "openmpi6";
}

TEST(Launchers, ReadTheirFilesBackToTheSameMapping) {
  const Topology machine = topology("torus:3x2x2=10 core:4=1");
  for (const Launcher* const row : launchers()) {
    if (row->read == nullptr) continue;
    for (const EmitOptions::Bind bind : {EmitOptions::Bind::core, EmitOptions::Bind::none}) {
      EmitOptions options;
      options.bind = bind;
      if (row->name == "openmpi4" && bind == EmitOptions::Bind::none) continue;  // writes one host per line then
      if (is_prrte_row(*row) && bind == EmitOptions::Bind::none) continue;
      for (unsigned seed = 0; seed < 5; ++seed) {
        // a full machine, which every format can express
        const auto core_of = row->numbers_nodes ? shuffled_nodes(12, 4, seed) : shuffled_cores(48, 48, seed);
        const auto made = written(row->name, deployed(core_of, machine), options);
        const FileContents file(made.files[0].name, made.files[0].content);
        const auto again = row->read(file, machine, {});
        ASSERT_TRUE(again) << row->name << ": " << to_string(again.error());
        EXPECT_EQ(nodes_of(again->core_of, machine), nodes_of(core_of, machine)) << row->name;
        const bool names_cores = row->name == "openmpi4" || is_prrte_row(*row) || row->name == "wrapper" ||
                                 row->name == "plain" || row->name == "cray" ||
                                 (row->name == "intelmpi" && bind == EmitOptions::Bind::core);
        if (names_cores) {
          EXPECT_EQ(again->core_of, core_of) << row->name;
        }
      }
    }
  }
}

TEST(Launchers, ReadBackPartOfAMachineWithHoles) {
  const Topology machine = topology("node:3=10 core:4=1 !core:1,6");
  const std::vector<Core> core_of{Core{11}, Core{0}, Core{7}, Core{2}, Core{8}};
  for (const char* const name : {"openmpi4", "openmpi5", "openmpi6", "wrapper", "intelmpi"}) {
    const auto made = written(name, deployed(core_of, machine, {"a", "b", "c.d"}));
    const FileContents file(made.files[0].name, made.files[0].content);
    const std::vector<std::string> hosts{"a", "b", "c.d"};
    const auto again = (*find_launcher(name))->read(file, machine, hosts);
    ASSERT_TRUE(again) << name << ": " << to_string(again.error());
    EXPECT_EQ(again->core_of, core_of) << name;
  }
}

TEST(Launchers, RefuseHostNamesThatNoFileCanContain) {
  const Topology machine = topology("node:2=10 core:2=1");
  for (const char* const name :
       {"a b", "a;b", "-a", "a:1", "a=b", "a\nb", "$(x)", "'", "a,b", "a#b", "(a)", "a/b", "\xc3\xa9", "a\\b"}) {
    const std::vector<std::string> hosts{"good", name};
    EXPECT_FALSE(deploy(std::vector<Core>{Core{0}}, machine, hosts)) << name;
  }
  const std::vector<std::string> hosts{"n-1.cluster_2", "10.0.0.1"};
  EXPECT_TRUE(deploy(std::vector<Core>{Core{0}}, machine, hosts));
}

TEST(Launchers, WriteCommandsThatAShellReadsBack) {
  const Topology machine = topology("node:2=10 core:2=1");
  EmitOptions options;
  options.program = {"./my app", "it's", "$HOME"};
  options.directory = "a directory";
  for (const Launcher* const row : launchers()) {
    const auto made = row->write(deployed({Core{0}, Core{2}}, machine), options);
    if (row->name == "intelmpi") {
      ASSERT_FALSE(made);  // its configuration file cannot quote
      EXPECT_THAT(made.error().hint, HasSubstr("script"));
      continue;
    }
    ASSERT_TRUE(made) << row->name;
    if (row->name == "pbs") {  // the program is in its script
      EXPECT_THAT(made->files[1].content, EndsWith("'./my app' 'it'\\''s' '$HOME'\n"));
      EXPECT_THAT(made->commands[0].text(), EndsWith(" 'a directory/job.sh'"));
      continue;
    }
    for (const EmittedCommand& command : made->commands)
      EXPECT_THAT(command.text(), EndsWith("'./my app' 'it'\\''s' '$HOME'")) << row->name;
  }
}

/// Getmanskiy 2015, Figures 5 to 7: sixteen ranks on four hosts of four cores.
TEST(IntelMpi, WritesTheConfigurationsOfThePaper) {
  const Topology machine = topology("node:4=2 core:4=1");
  const std::vector<std::string> hosts{"node1", "node2", "node3", "node4"};
  const std::vector<std::uint32_t> host_of{0, 0, 3, 3, 1, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3};
  std::vector<std::uint32_t> taken(4, 0);
  std::vector<Core> core_of;
  for (const std::uint32_t host : host_of) core_of.push_back(Core{host * 4 + taken[host]++});
  EmitOptions options;
  options.bind = EmitOptions::Bind::none;
  options.program = {"/path/to/application"};
  options.statistics = "/path/to/stat.txt";
  const auto made = written("intelmpi", deployed(core_of, machine, hosts), options);
  EXPECT_EQ(made.files[0].content,
            "-n 2 -host node1 /path/to/application\n"
            "-n 2 -host node4 /path/to/application\n"
            "-n 1 -host node2 /path/to/application\n"
            "-n 2 -host node1 /path/to/application\n"
            "-n 3 -host node2 /path/to/application\n"
            "-n 4 -host node3 /path/to/application\n"
            "-n 2 -host node4 /path/to/application\n");
  std::string figure_6;
  for (const std::string& host : hosts)
    figure_6 += fmt::format(
        "-env I_MPI_STATS 4 -env I_MPI_STATS_FILE /path/to/stat.txt -n 4 -host {} /path/to/application\n", host);
  EXPECT_EQ(made.files.back().content, figure_6);
}

/// Figures 8 and 9: two coprocessors of sixty cores, and the first six runs of a shuffled program of 20 groups of 6.
TEST(IntelMpi, WritesTheConfigurationsOfThePaperForCoprocessors) {
  const Topology machine = topology("node:2=2 core:60=1");
  const std::vector<std::string> hosts{"mic0", "mic1"};
  std::vector<Core> core_of;
  std::vector<std::uint32_t> taken(2, 0);
  const auto put = [&](std::uint32_t host, int ranks) {
    for (int i = 0; i < ranks; ++i) core_of.push_back(Core{host * 60 + taken[host]++});
  };
  for (const auto& [host, ranks] :
       std::vector<std::pair<std::uint32_t, int>>{{0, 5}, {1, 1}, {0, 4}, {1, 2}, {0, 1}, {1, 3}})
    put(host, ranks);
  put(0, 50);
  put(1, 54);
  EmitOptions options;
  options.bind = EmitOptions::Bind::none;
  options.program = {"/home/test/MPICommunication", "20", "6"};
  options.statistics = "/path/to/stat.txt";
  const auto made = written("intelmpi", deployed(core_of, machine, hosts), options);
  EXPECT_TRUE(
      made.files[0].content.starts_with("-n 5 -host mic0 /home/test/MPICommunication 20 6\n"
                                        "-n 1 -host mic1 /home/test/MPICommunication 20 6\n"
                                        "-n 4 -host mic0 /home/test/MPICommunication 20 6\n"
                                        "-n 2 -host mic1 /home/test/MPICommunication 20 6\n"
                                        "-n 1 -host mic0 /home/test/MPICommunication 20 6\n"
                                        "-n 3 -host mic1 /home/test/MPICommunication 20 6\n"));
  EXPECT_EQ(
      made.files.back().content,
      "-env I_MPI_STATS 4 -env I_MPI_STATS_FILE /path/to/stat.txt -n 60 -host mic0 /home/test/MPICommunication 20 6\n"
      "-env I_MPI_STATS 4 -env I_MPI_STATS_FILE /path/to/stat.txt -n 60 -host mic1 /home/test/MPICommunication 20 6\n");
}

TEST(Cray, ListsRanksInTheOrderOfSlots) {
  const Topology machine = topology("node:2=10 core:3=1");
  // Rank 0 on slot 5, rank 1 on slot 0, …: the file is the inverse permutation.
  const std::vector<Core> core_of{Core{5}, Core{0}, Core{4}, Core{1}, Core{2}, Core{3}};
  EXPECT_EQ(written("cray", deployed(core_of, machine)).files[0].content, "1,3,4\n5,2,0\n");
  EXPECT_FALSE((*find_launcher("cray"))->write(deployed({Core{0}, Core{1}, Core{3}}, machine), {}));
}

TEST(Cray, KeepsTheTasksOfANodeInTheOrderOfItsCores) {
  const Topology machine = topology("node:2=10 core:1");
  EXPECT_THAT(written("cray", deployed({Core{1}, Core{0}}, machine)).commands[0].text(),
              HasSubstr("--distribution=block:block"));
}

TEST(Lsf, RequestsOneHostPerGroupWithSlotsForTheLargest) {
  const Topology machine = topology("node:3=10 core:3=1");
  const auto made = written("lsf", deployed({Core{0}, Core{1}, Core{2}, Core{6}}, machine));
  EXPECT_EQ(made.files[0].content, "{(0,1,2)(3)}\n");
  EXPECT_THAT(made.commands[0].text(), HasSubstr("bsub -n 6 -R 'span[ptile=3]' mpirun -n 4 "));
}

TEST(Flux, RequiresTheHostsThatHaveRanks) {
  const Topology machine = topology("node:3=10 core:2=1");
  const auto made = written("flux", deployed({Core{5}, Core{0}, Core{4}}, machine));
  EXPECT_THAT(made.commands[0].text(), HasSubstr("-N 2 -n 3 --exclusive --requires=host:node0,node2 "));
}

TEST(Pbs, SubmitsAScriptThatUsesTheListOfHosts) {
  const Topology machine = topology("node:2=10 core:2=1");
  EmitOptions options;
  options.directory = "my directory";
  const auto made = written("pbs", deployed({Core{2}, Core{0}, Core{3}}, machine), options);
  EXPECT_EQ(made.files[1].content,
            "#!/bin/sh\ncd \"$PBS_O_WORKDIR\" &&\n"
            "exec mpiexec -n 3 -machinefile \"$PBS_NODEFILE\" rankloom-bind 'my directory/bind.txt' ./app\n");
  EXPECT_EQ(made.commands[0].program, Argv{"my directory/job.sh"});
}

TEST(Fujitsu, CountsCoordinatesOfATorusFromX) {
  const Topology machine = topology("torus:2x3=1 core:1");
  const std::vector<Core> core_of{Core{5}, Core{1}, Core{3}};
  EXPECT_EQ(written("fujitsu", deployed(core_of, machine)).files[0].content, "(2,1)\n(1,0)\n(0,1)\n");
}

TEST(OpenMpi, NamesPhysicalUnitsUpToVersion4AndLogicalCoresFromVersion5) {
  MachineSpec spec;
  spec.root.kind = "machine";
  ObjectSpec node;
  node.kind = "node";
  node.name = "n";
  for (const std::uint32_t cpu : {0U, 4U, 2U, 6U}) {
    ObjectSpec core;
    core.kind = "core";
    core.os_index = cpu;
    node.children.push_back(core);
  }
  spec.root.children.push_back(node);
  const auto machine = Topology::build(spec);
  ASSERT_TRUE(machine);
  const std::vector<Core> core_of{Core{3}, Core{1}};
  EXPECT_EQ(written("openmpi4", deployed(core_of, *machine)).files[0].content, "rank 0=n slot=6\nrank 1=n slot=4\n");
  EXPECT_EQ(written("openmpi5", deployed(core_of, *machine)).files[0].content, "rank 0=n slot=3\nrank 1=n slot=1\n");
}

TEST(Launchers, NameTheWrongLineOfAFile) {
  const Topology machine = topology("node:2=10 core:2=1");
  const auto error_of = [&](std::string_view launcher, const std::string& text) {
    const auto read = (*find_launcher(launcher))->read(FileContents("f", text), machine, {});
    return read ? "read" : to_string(read.error());
  };
  EXPECT_THAT(error_of("openmpi4", "rank 0=node0 slot=0\nrank x\n"), HasSubstr("f:2"));
  EXPECT_THAT(error_of("openmpi4", "rank 0=node0 slot=0\nrank 0=node0 slot=1\n"), HasSubstr("again"));
  EXPECT_THAT(error_of("openmpi4", "rank 1=node0 slot=0\n"), HasSubstr("rank 0 is not in this file"));
  EXPECT_THAT(error_of("openmpi4", "rank 0=other slot=0\n"), HasSubstr("not a host of the topology"));
  EXPECT_THAT(error_of("openmpi4", "rank 0=node0 slot=9\n"), HasSubstr("unit 9"));
  EXPECT_THAT(error_of("openmpi5", "rank 0=node0 slot=9\n"), HasSubstr("fewer cores"));
  EXPECT_THAT(error_of("cray", "0,1,1\n"), HasSubstr("twice"));
  EXPECT_THAT(error_of("cray", "0,9\n"), HasSubstr("f:1"));
  EXPECT_THAT(error_of("lsf", "{(0,1)(1)}"), HasSubstr("two groups"));
  EXPECT_THAT(error_of("lsf", "{(0)(2)}"), HasSubstr("rank 1"));
  EXPECT_THAT(error_of("fujitsu", "(7)\n"), HasSubstr("f:1"));
  EXPECT_THAT(error_of("intelmpi", "-n 2 app\n"), HasSubstr("f:1"));
  EXPECT_THAT(error_of("wrapper", "0 node0 0\n2 node0 1\n"), HasSubstr("f:2"));
  EXPECT_THAT(error_of("hostfile", "node0:x\n"), HasSubstr("f:1"));
}

TEST(Launchers, RejectFilesOfFarMoreRanksThanTheyCanPlace) {
  const Topology machine = topology("node:2=10 core:2=1");
  const auto error_of = [&](std::string_view launcher, const std::string& text) {
    const auto read = (*find_launcher(launcher))->read(FileContents("f", text), machine, {});
    return read ? "read" : to_string(read.error());
  };
  EXPECT_THAT(error_of("openmpi4", "rank 67108863=node0 slot=0\n"), HasSubstr("rank 67108863 in a file of 27 bytes"));
  EXPECT_THAT(error_of("openmpi5", "rank 67108863=node0 slot=0\n"), HasSubstr("rank 67108863 in a file of 27 bytes"));
  EXPECT_THAT(error_of("lsf", "{(16777216)}"), HasSubstr("rank 16777216 in a file of 12 bytes"));
  EXPECT_THAT(error_of("hostfile", "node0:1000000\nnode1:1000000\nnode0:1000000\n"),
              HasSubstr("f:3: the lines up to here place more than 2097152 ranks"));
  EXPECT_THAT(error_of("hostfile", "node0:4294967295\n"), HasSubstr("f:1: the lines up to here place more than"));
  EXPECT_THAT(error_of("intelmpi", "-n 4294967295 -host node0 app\n"), HasSubstr("f:1: the lines up to here"));
  EXPECT_THAT(error_of("cray", "0-3,0-3,0-3\n"), HasSubstr("f:1"));
}

TEST(Launchers, FindCoresOfALargeNodeQuickly) {
  const Topology machine = topology("node:1 core:100000");
  const auto read = (*find_launcher("hostfile"))->read(FileContents("f", "node0:200000\n"), machine, {});
  ASSERT_TRUE(read) << to_string(read.error());
  ASSERT_EQ(read->core_of.size(), 200'000u);
  EXPECT_EQ(read->core_of[99'999], Core{99'999});
  EXPECT_EQ(read->core_of[100'000], Core{0});
}

TEST(Launchers, AreRecognisedByExactlyOneRow) {
  const struct {
    const char* name;
    std::string_view version_text;
  } texts[] = {
      {"openmpi4", "mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to http://www.open-mpi.org/"},
      {"openmpi4", "mpirun (Open MPI) 4.1.4"},
      {"openmpi5", "mpirun (Open MPI) 5.0.7"},
      {"openmpi5", "prte (PRRTE) 3.0.8"},
      {"openmpi6", "mpirun (Open MPI) 6.0.0rc2"},
      {"openmpi6", "prterun (PRRTE) 5.0.0a1"},
      {"mpich", "HYDRA build details:\n    Version:  4.0.2\n"},
      {"mpich", "HYDRA build details:\n    Version:  4.2.1\n"},
      {"mpich5", "HYDRA build details:\n    Version:  5.0.2\n"},
      {"intelmpi", "Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230307\n"},
  };
  for (const auto& [name, text] : texts) {
    EXPECT_EQ(recognise_launcher("mpirun", text)->name, name);
    const auto recognises = [&, version = text](const Launcher* row) {
      return row->command_line != nullptr && row->command_line->recognises != nullptr &&
             row->command_line->recognises(version);
    };
    EXPECT_EQ(std::count_if(launchers().begin(), launchers().end(), recognises), 1) << text;
  }
  EXPECT_EQ(recognise_launcher("/usr/bin/srun", "")->name, "slurm");
  EXPECT_EQ(recognise_launcher("mpiexec.hydra", "")->name, "mpich");
  EXPECT_EQ(recognise_launcher("mpirun.openmpi", "")->name, "openmpi4");
  EXPECT_EQ(recognise_launcher("ls", ""), nullptr);
  for (const char* const program : {"x.mpich", "x.openmpi", "mpirun_all.sh", "mpirun.sh", "mpiexec.mpich.sh",
                                    "orterun2", "srun.sh", "srunx", "mpirun ", ""}) {
    EXPECT_FALSE(is_launcher_name(program)) << program;
    EXPECT_FALSE(needs_version_text(program)) << program;
    EXPECT_EQ(recognise_launcher(program, "mpirun (Open MPI) 4.1.4\n"), nullptr) << program;
  }
}

TEST(VirtualHosts, HaveTheVariablesOfTheInstalledOpenMpi) {
  const auto names = [](std::uint32_t version) {
    Argv found;
    for (const Environment& variables :
         {mpi_environment("eth0", version),
          remote_launch_environment({.remote_shell = "ssh", .slots = "s", .machines = "m"}, version)})
      for (const auto& [name, value] : variables) found.push_back(name + "=" + value);
    return found;
  };
  for (const std::uint32_t version : {0U, 4U, 5U, 6U}) {
    EXPECT_THAT(names(version), Contains("HYDRA_LAUNCHER_EXEC=ssh")) << version;
    EXPECT_THAT(names(version), Contains("OMPI_MCA_btl_tcp_if_include=eth0")) << version;
  }
  EXPECT_THAT(names(4), IsSupersetOf({"OMPI_MCA_orte_default_hostfile=s", "OMPI_MCA_btl=tcp,self,vader",
                                      "OMPI_MCA_hwloc_base_binding_policy=none", "OMPI_MCA_plm_rsh_agent=ssh"}));
  EXPECT_THAT(names(5),
              IsSupersetOf({"PRTE_MCA_prte_default_hostfile=s", "PRTE_MCA_hwloc_default_binding_policy=none",
                            "PRTE_MCA_rmaps_default_mapping_policy=slot:oversubscribe", "OMPI_MCA_btl=tcp,self,sm",
                            "OMPI_MCA_threads_pthreads_yield_strategy=nanosleep"}));
  EXPECT_THAT(names(6), IsSupersetOf({"PRTE_MCA_plm_ssh_agent=ssh", "PRTE_MCA_bindto=none",
                                      "PRTE_MCA_mapby=slot:oversubscribe"}));
  EXPECT_THAT(names(6), Not(Contains("OMPI_MCA_oob_tcp_if_include=eth0"))) << "a deprecated variable";
}

/// The executable by which a row is recognised, and a text that its launcher could print.
std::pair<std::string, std::string> program_of(const Launcher& row) {
  if (row.name == "intelmpi") return {"mpirun", "Intel(R) MPI Library, Version 2021.9"};
  if (row.name == "openmpi6") return {"mpirun", "mpirun (Open MPI) 6.0.0rc2"};
  if (row.name == "mpich5") return {"mpiexec", "HYDRA build details:\n    Version:  5.0.2\n"};
  std::string program(row.command_line->unique_programs.substr(0, row.command_line->unique_programs.find(' ')));
  if (program.starts_with('*')) program = "mpirun" + program.substr(1);
  if (program.ends_with('*')) program.pop_back();
  return {program, ""};
}

TEST(Launchers, WithACommandLineAreParsedRewrittenAndPlaced) {
  const Topology machine = topology("node:2=10 core:2=1");
  const Deployment deployment = deployed({Core{2}, Core{1}}, machine, {"a", "b"});
  int rows = 0;
  for (const Launcher* const row : launchers()) {
    if (row->command_line == nullptr) continue;
    ++rows;
    const auto [program, text] = program_of(*row);
    EXPECT_TRUE(is_launcher_name(program));
    const auto command = parse_launch_command({program, "-n", "2", "app", "-n", "7"}, text);
    ASSERT_TRUE(command) << row->name << ": " << to_string(command.error());
    EXPECT_EQ(command->launcher, row);
    EXPECT_EQ(command->rank_count(), 2) << row->name;
    EXPECT_EQ(command->programs[0].arguments, (Argv{"app", "-n", "7"})) << row->name;

    const auto changed = rewrite(*command, {.environment = {{"A", "1"}}, .wrapper = {"wrapper"}});
    ASSERT_TRUE(changed) << row->name;
    EXPECT_THAT(shell_text({}, changed->argv()), HasSubstr("A")) << row->name;
    EXPECT_EQ(changed->programs[0].arguments, (Argv{"wrapper", "app", "-n", "7"})) << row->name;

    const auto plan = plan_launch(*command, deployment, {.directory = "D", .wrapper = "bind"});
    ASSERT_TRUE(plan) << row->name << ": " << to_string(plan.error());
    EXPECT_FALSE(plan->files.empty()) << row->name;
    EXPECT_THAT(plan->text(), HasSubstr("bind --report D/report")) << row->name;
  }
  EXPECT_GE(rows, 5);
}

TEST(Launchers, ListTheOptionsThatTheyRefuse) {
  for (const Launcher* const row : launchers()) {
    if (row->command_line == nullptr) continue;
    const LauncherSyntax& line = *row->command_line;
    ASSERT_NE(line.find_option("n"), nullptr) << row->name;
    EXPECT_EQ(line.find_option("n")->role, OptionRole::rank_count) << row->name;
    for (const ConflictingOption& conflict : line.conflicts) {
      EXPECT_FALSE(conflict.reason.empty() || conflict.remedy.empty()) << row->name << " " << conflict.options;
      std::istringstream names{std::string(conflict.options)};
      bool listed = false;  // versions of one launcher share a table of conflicts
      for (std::string name; names >> name;) listed = listed || line.find_option(name) != nullptr;
      EXPECT_TRUE(listed) << row->name << " " << conflict.options;
    }
  }
}

/// A launcher that exists in this test only: one row is all that parsing, rewriting and placing need.
namespace invented {

constexpr OptionSpec options[] = {{"n|tasks", 1, OptionRole::rank_count}, {"nodes", 1, OptionRole::hosts}, {"spread"}};
constexpr ConflictingOption conflicts[] = {{"spread", "requests another placement", "leave it out"}};

Result<LaunchPlacement> place(const Deployment& deployment, const EmitOptions& emit) {
  return LaunchPlacement{.files = {{"places", deployment.host(Rank{0})}}, .options = {"--places", emit.path("places")}};
}

Result<void> pass_environment(std::vector<LaunchedProgram>& programs, const Environment& environment) {
  for (LaunchedProgram& program : programs) {
    for (const auto& [name, value] : environment)
      program.options.push_back({.name = "set", .values = {}, .arguments = {"--set", name + ":" + value}});
  }
  return {};
}

Result<EmittedLaunch> write(const Deployment&, const EmitOptions&) {
  return EmittedLaunch{};
}

constexpr LauncherSyntax command_line{.programs = "jump",
                                      .unique_programs = "jump",
                                      .options = options,
                                      .conflicts = conflicts,
                                      .place = place,
                                      .pass_environment = pass_environment};
constexpr Launcher row{.name = "jump",
                       .title = "Jump",
                       .summary = "",
                       .reference = "",
                       .checked = "",
                       .write = write,
                       .read = nullptr,
                       .command_line = &command_line};

}  // namespace invented

TEST(Launchers, NeedOnlyTheirRow) {
  const Launcher* const rows[] = {&invented::row};
  const auto command = parse_launch_command({"jump", "--tasks", "2", "--nodes", "x", "app"}, "", {}, rows);
  ASSERT_TRUE(command) << to_string(command.error());
  EXPECT_EQ(command->rank_count(), 2);
  const auto changed = rewrite(*command, {.environment = {{"A", "1"}}});
  EXPECT_EQ(shell_text({}, changed->argv()), "jump --tasks 2 --nodes x --set A:1 app");
  const Deployment deployment = deployed({Core{2}, Core{1}}, topology("node:2=10 core:2=1"), {"a", "b"});
  const auto plan = plan_launch(*command, deployment, {.directory = "D", .wrapper = "bind"});
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(plan->text(), "jump --places D/places --tasks 2 bind --report D/report - app");
  EXPECT_EQ(plan->replaced, std::vector<std::string>{"--nodes x"});
  const auto refused = parse_launch_command({"jump", "--spread", "-n", "2", "app"}, "", {}, rows);
  EXPECT_FALSE(plan_launch(*refused, deployment, {.directory = "D", .wrapper = "bind"}));
}

TEST(Launchers, HaveNoOptionWithTwoValuesExceptForNamesWithAValue) {
  for (const Launcher* const launcher : launchers()) {
    if (launcher->command_line == nullptr) continue;
    for (const OptionSpec& option : launcher->command_line->options) {
      const bool names_a_parameter = option.name().ends_with("mca") || option.name().ends_with("env");
      EXPECT_LE(option.values, names_a_parameter ? 2U : 1U) << launcher->name << " " << option.names;
    }
  }
}

}  // namespace
}  // namespace rankloom
