// SPDX-License-Identifier: Apache-2.0
// tests: Open MPI's monitoring, from files that Open MPI wrote (tests/data/traces/README.md).
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/capture/import_support.hpp"
#include "tests/capture/trace_support.hpp"

namespace rankloom {
namespace {

namespace fs = std::filesystem;
using testing::Edges;
using testing::edges_of;
using ::testing::HasSubstr;
using testing::read_path;
using testing::TemporaryCopy;

const std::string monitoring_files = testing::test_data("traces/openmpi");

TEST(Monitoring, ReadsTheTrafficOfTheProgram) {
  const Profile profile = read_path(monitoring_files + "/talk.2.prof").profile;
  EXPECT_EQ(profile.rank_count(), 4u);
  EXPECT_EQ(edges_of(profile.point_to_point), testing::program_traffic());
  EXPECT_EQ(profile.point_to_point.total_messages(), 11);
}

TEST(Monitoring, IsFoundByAnyOfItsFilesItsDirectoryOrItsPrefix) {
  const Profile whole = read_path(monitoring_files + "/talk.0.prof").profile;
  for (const char* name : {"/talk.1.prof", "/talk.3.prof", "/talk", ""}) {
    const Profile profile = read_path(monitoring_files + name).profile;
    testing::expect_equal(profile.point_to_point, whole.point_to_point);
    testing::expect_equal(profile.expanded_collectives, whole.expanded_collectives);
  }
}

TEST(Monitoring, CountsEitherPhysicalOrLogicalMessagesOfCollectives) {
  const Profile physical = read_path(monitoring_files).profile;
  EXPECT_EQ(physical.expanded_collectives.total_bytes(), 3954) << "the sum of all lines I";
  EXPECT_EQ(physical.expanded_collectives.total_messages(), 86);
  const Profile logical = read_path(monitoring_files, "monitoring:collectives=C").profile;
  EXPECT_EQ(logical.expanded_collectives.total_bytes(), 4302) << "the sum of all lines C";
  EXPECT_EQ(logical.expanded_collectives.total_messages(), 122);
  testing::expect_equal(logical.point_to_point, physical.point_to_point);
}

TEST(Monitoring, ReversesReductionsTowardsTheirRoot) {
  const Edges logical = edges_of(read_path(monitoring_files, "monitoring:collectives=C").profile.expanded_collectives);
  // All pairs: allreduce 80, allgather 28, alltoall 32, and 20 more for the creation of the communicator.
  constexpr double all = 160;
  EXPECT_EQ(logical.at({1, 0}), all + 200 + 20) << "broadcast by 1, gathered by 0";
  EXPECT_EQ(logical.at({1, 2}), all + 200 + 480) << "broadcast by 1, reduced to 2";
  EXPECT_EQ(logical.at({2, 1}), all) << "the root of a reduction sends nothing";
  EXPECT_EQ(logical.at({3, 2}), all + 24 + 480) << "scattered by 3, reduced to 2";
}

TEST(Monitoring, KeepsTheMembersOfCommunicators) {
  const Profile profile = read_path(monitoring_files).profile;
  ASSERT_EQ(profile.communicators.size(), 3u) << "the world and two halves, each once";
  std::map<std::vector<Rank>, std::string> names;
  for (const Communicator& group : profile.communicators) names[group.members] = group.name;
  EXPECT_EQ(names.at({}), "MPI_COMM_WORLD");
  EXPECT_THAT(names.at({Rank{2}, Rank{0}}), HasSubstr("SPLIT FROM 0")) << "in the order of their ranks there";
  EXPECT_THAT(names.at({Rank{3}, Rank{1}}), HasSubstr("SPLIT FROM 0"));
}

TEST(Monitoring, CountsMessagesBySize) {
  const Profile profile = read_path(monitoring_files).profile;
  std::uint64_t messages = 0;
  for (const auto& [size, count] : profile.sizes) messages += count;
  EXPECT_EQ(messages, 11u + 86u);
  EXPECT_EQ(profile.sizes.at(512), 8u) << "the ring: twice 800 to 824 bytes from each rank";
}

TEST(Monitoring, CountsOneSidedCallsInTheDirectionOfTheData) {
  // Written by hand after the output of Open MPI 4.1 for a Put and a Get of rank 1 on rank 0.
  const Profile profile = testing::read_as("monitoring",
                                           "# POINT TO POINT\n# OSC\nS\t1\t0\t20 bytes\t1 msgs sent\n"
                                           "R\t1\t0\t36 bytes\t1 msgs sent\n# COLLECTIVES\n")
                              .profile;
  EXPECT_EQ(edges_of(profile.point_to_point), (Edges{{{1, 0}, 20}, {{0, 1}, 36}}));
}

TEST(Monitoring, ReportsTheMissingFile) {
  const TemporaryCopy copy(monitoring_files);
  fs::remove(copy.path("talk.2.prof"));
  const Error error = testing::path_error(copy.path("talk.0.prof"));
  EXPECT_THAT(error.what, HasSubstr("rank 2 is missing"));
  EXPECT_THAT(error.hint, HasSubstr("talk.2.prof"));
}

TEST(Monitoring, ReportsADirectoryWithSeveralRuns) {
  const TemporaryCopy copy(monitoring_files);
  for (int r = 0; r < 4; ++r)
    fs::copy(copy.path(fmt::format("talk.{}.prof", r)), copy.path(fmt::format("b.{}.prof", r)));
  const Error error = testing::path_error(copy.path(""));
  EXPECT_THAT(error.what, HasSubstr("b.0.prof"));
  EXPECT_THAT(error.hint, HasSubstr("name one"));
  EXPECT_EQ(read_path(copy.path("b")).profile.rank_count(), 4u);
}

TEST(Monitoring, ReportsFilesOfDifferentRuns) {
  const TemporaryCopy copy(monitoring_files);
  std::ofstream(copy.path("talk.2.prof"))
      << "# POINT TO POINT\n# COLLECTIVES\nD\tMPI_COMM_WORLD\tprocs: 0,1,2\n"
         "O2A\t2\t0 bytes\t0 msgs sent\nA2O\t2\t0 bytes\t0 msgs sent\nA2A\t2\t0 bytes\t0 msgs sent\n";
  const Error error = testing::path_error(copy.path("talk.1.prof"));
  EXPECT_EQ(error.where.line, 3u);
  EXPECT_EQ(error.where.source, copy.path("talk.2.prof"));
  EXPECT_THAT(error.hint, HasSubstr("different runs"));
}

TEST(Monitoring, ReportsTheErrorAndItsLine) {
  const std::string head = "# POINT TO POINT\n";
  testing::expect_errors("monitoring",
                         {
                             {head + "E\t0\t1\t8 bytes\t1 msgs sent\n", 3, "COLLECTIVES"},
                             {head + "E\t0\t1\t8 by", 2, "number of messages"},
                             {head + "E\t0\tx\t8 bytes\t1 msgs sent\n", 2, "\"x\" is not a rank"},
                             {head + "E\t0\t1\t-8 bytes\t1 msgs sent\n", 2, "negative"},
                             {head + "hello\n", 2, "\"hello\""},
                             {head + "D\tMPI_COMM_WORLD\tprocs: 0,\n", 2, "is not a rank of the communicator"},
                             {head + "# COLLECTIVES\nD\tx\tprocs: 0,1\nE\t0\t1", 4, "incomplete"},
                             {head + "A2O\t0\t8 bytes\t1 msgs sent\n", 2, "have no communicator"},
                         });
}

}  // namespace
}  // namespace rankloom
