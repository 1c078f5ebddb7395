// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/model/files/topology_json.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;

/// A temporary directory per test.
class Sources : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() /
                 (std::string("rankloom_sources_") + ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                  "_" + std::to_string(::getpid()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name, std::string_view content) const {
    const std::string path = directory_ / name;
    EXPECT_TRUE(write_file(path, content));
    return path;
  }

  std::filesystem::path directory_;
};

std::uint32_t cores(const std::string& file_or_string) {
  const auto topology = load_topology(file_or_string);
  EXPECT_TRUE(topology) << (topology ? "" : to_string(topology.error()));
  return topology ? topology->core_count() : 0;
}

std::string error_of(const std::string& file_or_string) {
  const auto topology = load_topology(file_or_string);
  return topology ? "none" : to_string(topology.error());
}

TEST_F(Sources, ReadsTopologyStrings) {
  EXPECT_EQ(cores("node:4=10GB/s core:8"), 32U);
  EXPECT_EQ(cores("fattree:4,4/2,1"), 16U);
  EXPECT_THAT(error_of("nod"), HasSubstr("topology string: \"nod\""));
}

TEST_F(Sources, FilesAreRecognisedByTheirContent) {
  EXPECT_EQ(cores(file("a", "node1 4\nnode2 4\n")), 8U);
  EXPECT_EQ(cores(file("b.json", "node1:4\n")), 4U);
  EXPECT_EQ(cores(file("c", "\n  node:3 core:4+8+4\r\n")), 16U);
  EXPECT_EQ(cores(file("d", "core:6\n")), 6U);
  EXPECT_EQ(cores(file("e", "mesh:3x3\n")), 9U);
  EXPECT_EQ(cores(file("f.txt", write_machine_json(*parse_topology_string("node:2 core:5")))), 10U);
}

TEST_F(Sources, ErrorsInAFileNameTheFile) {
  const std::string list = file("hosts", "node1 4\nnode2 -4\n");
  EXPECT_THAT(error_of(list), HasSubstr(list + ":2: "));
  const std::string words = file("words", "node:2 core:0\n");
  EXPECT_THAT(error_of(words), HasSubstr(words + ":1: \"core:0\""));
}

TEST_F(Sources, RefusesFilesThatAreNotMachines) {
  EXPECT_THAT(error_of(directory_), HasSubstr("is a directory"));
  EXPECT_THAT(error_of(directory_ / "missing"), HasSubstr("no such file"));
  EXPECT_THAT(error_of("cluster.json"), HasSubstr("cluster.json: no such file"));
  EXPECT_THAT(error_of("hosts.txt"), HasSubstr("no such file"));
  EXPECT_THAT(error_of(file("empty", "")), HasSubstr("is empty"));
  EXPECT_THAT(error_of(file("blank", " \n\n")), HasSubstr("is empty"));
  EXPECT_THAT(error_of(file("prose", "Once upon a time\nthere was a cluster.\n")),
              HasSubstr("the format of the file is unknown"));
  EXPECT_THAT(error_of(file("bytes", std::string("\x7f"
                                                 "ELF\0\1\2\xff\xfe",
                                                 9))),
              HasSubstr("the format of the file is unknown"));
  EXPECT_THAT(error_of(file("other.json", "{\"nodes\": 3}")), HasSubstr("is JSON, but not a topology"));
}

TEST_F(Sources, ReadsFilesOfOtherTools) {
  EXPECT_EQ(cores(file("topology.conf", "# Slurm\nSwitchName=s0 Nodes=n[0-3]\n")), 4U);
  EXPECT_EQ(
      cores(file("topology.yaml", "- topology: t\n  tree:\n    switches:\n      - switch: s\n        nodes: n[1-3]\n")),
      3U);
  EXPECT_EQ(
      cores(file("fabric",
                 "Switch 36 \"S-1\" # \"s\"\n[1] \"H-1\"[1] # \"a HCA-1\" lid 1 4xQDR\nCa 1 \"H-1\" # \"a HCA-1\"\n")),
      1U);
  EXPECT_THAT(error_of(file("node.xml", "<?xml version=\"1.0\"?>\n<topology version=\"2.0\"></topology>\n")),
              HasSubstr("hwloc"));
}

/// Files of every format with bytes changed, removed and repeated give an error or a machine, and never crash.
TEST_F(Sources, MutatedFilesAreErrorsOrMachines) {
  const std::vector<std::string> files{
      "SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7],\\\nm1\nSwitchName=t Switches=s[0-1]\n",
      "BlockName=b0 Nodes=n[0-3]\nBlockName=b1 Nodes=n[4-7]\nBlockSizes=4,8\n",
      "- topology: t\n  cluster_default: true\n  tree:\n    switches:\n      - switch: s\n        nodes: [n1, "
      "\"n[2-3]\"]\n",
      "Switch 36 \"S-1\" # \"s\"\n[1] \"H-1\"[1] # \"a HCA-1\" lid 1 4xQDR\nCa 1 \"H-1\" # \"a HCA-1\"\n[1] \"S-1\"[1] "
      "# 4xQDR\n"};
  Random random(7);
  for (int turn = 0; turn < 20'000; ++turn) {
    std::string text = files[random.below(files.size())];
    for (std::uint64_t change = random.below(4); change-- > 0;) {
      const std::size_t at = random.below(text.size());
      const std::size_t length = random.below(8);
      switch (random.below(3)) {
        case 0:
          text[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          text.erase(at, length);
          break;
        default:
          text.insert(at, text.substr(random.below(text.size()), length));
      }
      if (text.empty()) text = "x";
    }
    const FileContents file("file", text);
    for (const TopologySourceInfo& source : topology_sources()) {
      if (source.name == "hwloc" || !source.recognise(text)) continue;
      const auto machine = source.read(file);
      if (!machine) {
        EXPECT_FALSE(machine.error().hint.empty()) << text;
      }
      break;
    }
  }
}

TEST_F(Sources, EveryRowHasANameAndASummary) {
  for (const TopologySourceInfo& source : topology_sources()) {
    EXPECT_FALSE(source.name.empty());
    EXPECT_FALSE(source.summary.empty());
    EXPECT_FALSE(source.recognise(""));
  }
}

TEST_F(Sources, ALongStringIsNotAPath) {
  std::string text = "node:2000 core:1";
  for (int i = 1; i < 2000; ++i) text += "+" + std::to_string(1 + i % 3);
  EXPECT_EQ(cores(text), 1U + 666 * 1 + 667 * 2 + 666 * 3);
}

}  // namespace
}  // namespace rankloom
