// SPDX-License-Identifier: Apache-2.0
// Tests of place: what `rankloom doctor -- COMMAND` says about the places of ranks and threads.
#include "rankloom/place/diagnosis.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// "0,1: what | remedy" for each finding. The machine has the nodes node0 and node1.
std::vector<std::string> findings(const std::string& reports, const char* machine, const char* launcher = "slurm") {
  const auto read = read_reports(FileContents("report", reports));
  EXPECT_TRUE(read);
  std::optional<Topology> topology;
  if (machine != nullptr) topology = testing::topology(machine);
  std::vector<std::string> lines;
  for (const LaunchFinding& finding : diagnose(*read, topology, **find_launcher(launcher))) {
    std::string line;
    for (const std::uint32_t rank : finding.ranks) line += (line.empty() ? "" : ",") + std::to_string(rank);
    lines.push_back(line + ": " + finding.what + " | " + finding.remedy);
  }
  return lines;
}

TEST(Diagnosis, FindsNothingIfEveryRankHasItsCores) {
  EXPECT_THAT(findings("0 node0 0\n1 node0 1\n2 node1.cluster 0-1\n", "node:2=10 core:2=1"), IsEmpty());
  EXPECT_THAT(findings("0 node0 0-3 threads 0-3:100 0-3:90 0-3:5\n", "node:2=10 numa:2=3 core:2=1"), IsEmpty());
}

TEST(Diagnosis, FindsMoreBusyThreadsThanProcessingUnits) {
  const char* const reports = "0 node0 0 threads 0:100 0:100 0:90 0:80 0:3\n1 node0 1 threads 1:50 1:49 1:50 1:50\n";
  EXPECT_THAT(findings(reports, "node:2=10 core:2=1"),
              ElementsAre("0,1: 4 busy threads on 1 processing unit | give the rank 4 cores: srun -c 4"));
  EXPECT_THAT(findings(reports, "node:2=10 core:2=1", "openmpi4")[0], HasSubstr("--map-by slot:PE=4"));
  EXPECT_THAT(findings(reports, nullptr, "mpich")[0], HasSubstr("-bind-to core:4"));
}

TEST(Diagnosis, FindsRanksThatShareACore) {
  // Two hardware threads of a core while the other core is idle.
  EXPECT_THAT(
      findings("0 node0 0\n1 node0 1\n", "node:1=10 core:2=2 pu:2=1"),
      ElementsAre("0,1: 2 ranks share the core of processing unit 0, while 1 core is idle | give every rank its "
                  "own cores: srun --cpu-bind=cores"));
  EXPECT_THAT(findings("0 node0 0\n1 node0 1\n2 node0 2\n", "node:1=10 core:2=2 pu:2=1")[0],
              HasSubstr("start fewer ranks"));
  EXPECT_THAT(findings("0 a 5\n1 a 5\n", nullptr)[0], HasSubstr("share the core of processing unit 5"));
}

TEST(Diagnosis, FindsRanksThatShareSeveralCores) {
  EXPECT_THAT(
      findings("0 node0 0-1\n1 node0 0-1\n2 node0 0-1\n", "node:1=10 core:8=1"),
      ElementsAre(HasSubstr("0,1,2: 3 ranks share 2 cores, from processing unit 0 on, while 6 cores are idle")));
  EXPECT_THAT(findings("0 node0 0-1\n1 node0 0-1\n", "node:1=10 core:8=1"), IsEmpty());
}

TEST(Diagnosis, RanksWithThreadsAreNotAdvisedToUseOneCore) {
  EXPECT_THAT(findings("0 node0 0-7 threads 0-7:9 0-7:9 0-7:8 0-7:9\n1 node0 0-7 threads 0-7:9 0-7:9 0-7:8 0-7:9\n",
                       "node:1=10 core:8=1"),
              ElementsAre(HasSubstr("srun -c 4")));
}

TEST(Diagnosis, UsesWhatAnMpiLibraryHasBound) {
  EXPECT_THAT(findings("0 node0 0-7 threads 0:9\n1 node0 0-7 threads 1:9\n", "node:1=10 core:8=1"), IsEmpty());
}

TEST(Diagnosis, FindsRanksThatAreNotBound) {
  EXPECT_THAT(findings("0 node0 0-3\n1 node0 0-3\n", "node:1=10 core:4=1", "mpich"),
              ElementsAre(HasSubstr("0,1: it is not bound")));
  EXPECT_THAT(findings("0 node0 0-3\n", "node:1=10 core:4=1"), IsEmpty()) << "a rank alone on its host";
}

TEST(Diagnosis, FindsRanksAcrossNumaNodes) {
  EXPECT_THAT(findings("0 node0 1-2\n1 node0 3\n", "node:1=10 numa:2=3 core:2=1"),
              ElementsAre(HasSubstr("0: its processing units are in 2 NUMA nodes")));
}

}  // namespace
}  // namespace rankloom
