// SPDX-License-Identifier: Apache-2.0
// tests: the configuration file of a scheduler plugin.
#include "rankloom/allocate/scheduler/scheduler_settings.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/system/file.hpp"
#include "tests/allocate/allocate_support.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<SchedulerSettings> read(const std::string& text) {
  return read_scheduler_settings(FileContents("rankloom.conf", text));
}

TEST(SchedulerSettings, ReadsAllKeys) {
  const auto settings = read(
      "# a machine\n topology = machine.json # there\n\nnodes=n[1-2]\npolicy = closed-fewest\nexclusive = links\n"
      "waste = 0.5\nslack = 0\nfallback = closed\ncpus = 16\nprefer = job\nprofiles = /shared/learned\nmax_profiles = "
      "7\n");
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->topology, "machine.json");
  EXPECT_THAT(settings->nodes, ElementsAre("n1", "n2"));
  EXPECT_EQ(settings->policy, "closed-fewest");
  EXPECT_EQ(settings->exclusive, Exclusive::links);
  EXPECT_EQ(settings->allocation.limits.waste, 0.5);
  EXPECT_EQ(settings->allocation.limits.slack, 0);
  EXPECT_EQ(settings->allocation.fallback, Fallback::isolated);
  EXPECT_EQ(settings->cpus, 16U);
  EXPECT_EQ(settings->allocation.fit.prefer, Prefer::job);
  EXPECT_EQ(settings->profiles, "/shared/learned");
  EXPECT_EQ(settings->max_profiles, 7U);
}

TEST(SchedulerSettings, ErrorsNameTheLine) {
  const auto problem = [](const std::string& text) { return to_string(read(text).error()); };
  EXPECT_THAT(problem("topology = a\npolcy = closed-best\n"), HasSubstr("rankloom.conf:2"));
  EXPECT_THAT(problem("topology = a\npolcy = closed-best\n"), HasSubstr("policy"));
  EXPECT_THAT(problem("topology = a\npolicy = best\n"), HasSubstr("rankloom.conf:2"));
  EXPECT_THAT(problem("topology\n"), HasSubstr("no '='"));
  EXPECT_THAT(problem("topology = a\nwaste = much\n"), HasSubstr("much"));
  EXPECT_THAT(problem("topology = a\nexclusive = nodes\n"), HasSubstr("links"));
  EXPECT_THAT(problem("topology = a\nfallback = no\n"), HasSubstr("wait"));
  EXPECT_THAT(problem("topology = a\ncpus = 0\n"), HasSubstr("rankloom.conf:2"));
  EXPECT_THAT(problem("topology = a\nprefer = fast\n"), HasSubstr("balanced"));
  EXPECT_THAT(problem("topology = a\nprofiles = relative\n"), HasSubstr("absolute"));
  EXPECT_THAT(problem("topology = a\nmax_profiles = 0\n"), HasSubstr("whole number"));
  EXPECT_THAT(problem("policy = closed-best\n"), HasSubstr("'topology' is missing"));
  EXPECT_THAT(problem("topology = a\nnodes = n[1-\n"), HasSubstr("n[1-"));
}

TEST(SchedulerMachine, IsAFileNextToTheConfigurationOrAString) {
  const auto directory = std::filesystem::path(::testing::TempDir());
  const std::string conf = (directory / "rankloom.conf").string();
  const auto source = [&](const char* topology) { return topology_source({.topology = topology}, conf); };
  EXPECT_EQ(source("topology.conf"), (directory / "topology.conf").string());
  EXPECT_EQ(source("/etc/slurm/topology.yaml"), "/etc/slurm/topology.yaml");
  EXPECT_EQ(source("mesh:8x8 core:2"), "mesh:8x8 core:2");
  ASSERT_TRUE(write_file((directory / "at_12:30.json").string(), ""));
  EXPECT_EQ(source("at_12:30.json"), (directory / "at_12:30.json").string());
}

TEST(SchedulerMachine, NeedsOneNamePerNode) {
  const auto machine = testing::allocation_machine("mesh:2x3 core:2", Exclusive::routers);
  SchedulerSettings settings;
  const auto load = [&] { return name_machine(machine.topology().spec(), settings, "rankloom.conf"); };
  ASSERT_TRUE(load());
  EXPECT_EQ(load()->names.size(), 6U);
  EXPECT_EQ(load()->allocator.machine().exclusive(), Exclusive::routers);
  settings.nodes = {"a", "b", "c", "d", "e"};
  EXPECT_THAT(to_string(load().error()), HasSubstr("5 node names but the machine has 6 nodes"));
  settings.nodes = {"a", "b", "c", "d", "e", "a"};
  EXPECT_THAT(to_string(load().error()), HasSubstr("two nodes have the name a"));
}

}  // namespace
}  // namespace rankloom
