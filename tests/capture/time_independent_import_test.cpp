// SPDX-License-Identifier: Apache-2.0
// tests: SimGrid's time-independent traces, from files that smpirun wrote (tests/data/traces/README.md), and single
// lines of the same kind.
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
using testing::find_call;
using ::testing::HasSubstr;
using testing::read_as;
using testing::read_path;
using testing::TemporaryCopy;

const std::string traces = testing::test_data("traces/simgrid");
const std::string list = traces + "/smpi_simgrid.txt";

std::string file_of(int number) {
  return fmt::format("smpi_simgrid.txt_files/rank-{}.txt", number);
}

TEST(TimeIndependent, ReadsTheTrafficOfTheProgram) {
  const Profile profile = read_path(list).profile;
  EXPECT_EQ(profile.rank_count(), 4u);
  EXPECT_EQ(edges_of(profile.point_to_point), testing::program_traffic()) << "messages to MPI_PROC_NULL do not count";
  EXPECT_EQ(profile.point_to_point.total_messages(), 11);
}

TEST(TimeIndependent, KeepsCollectivesSymbolic) {
  const Profile profile = read_path(list).profile;
  ASSERT_EQ(profile.communicators.size(), 1u) << "traces name none, so all are of the world";
  EXPECT_TRUE(profile.communicators[0].members.empty());
  EXPECT_EQ(find_call(profile, CollectiveOp::barrier).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::bcast, 1, 200).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::bcast, 1, 9).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::reduce, 2, 480).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::allreduce, 0, 80).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::allreduce, 0, 16).count, 3);
  EXPECT_EQ(find_call(profile, CollectiveOp::gather, 0, 20).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::scatter, 3, 24).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::allgather, 0, 28).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::alltoall, 0, 32).count, 1);
  EXPECT_EQ(profile.collectives.size(), 10u);
}

TEST(TimeIndependent, IsFoundByItsListItsDirectoryOrOneFile) {
  const Profile listed = read_path(list).profile;
  std::string merged;
  for (int r = 1; r <= 4; ++r) merged += read_file(traces + "/" + file_of(r))->view();
  for (const Profile& profile : {read_path(traces).profile, read_as("", merged).profile}) {
    testing::expect_equal(profile.point_to_point, listed.point_to_point);
    EXPECT_EQ(profile.collectives.size(), listed.collectives.size());
  }
}

TEST(TimeIndependent, ReadsTheComputationOfEachRank) {
  const Profile profile = read_as("ti", "0 compute 5e6\n1 compute 7\n0 compute 1e6\n1 send 0 0 1 0\n").profile;
  ASSERT_EQ(profile.activity.size(), 2u);
  EXPECT_EQ(profile.activity[0].instructions, 6e6);
  EXPECT_EQ(profile.activity[1].instructions, 7);
}

/// Bytes from rank 0 to rank 1 in a trace of two ranks with this line.
double sent_by(const std::string& line) {
  const Edges edges =
      edges_of(read_as("ti", "0 init\n1 init\n" + line + "0 finalize\n1 finalize\n").profile.point_to_point);
  return edges.contains({0, 1}) ? edges.at({0, 1}) : -1;
}

TEST(TimeIndependent, CountsElementsByTheirDatatype) {
  EXPECT_EQ(sent_by("0 send 1 0 10 0\n"), 80) << "double";
  EXPECT_EQ(sent_by("0 send 1 0 10 1\n"), 40) << "int";
  EXPECT_EQ(sent_by("0 send 1 0 10 2\n"), 10) << "char";
  EXPECT_EQ(sent_by("0 send 1 0 10 3\n"), 20) << "short";
  EXPECT_EQ(sent_by("0 send 1 0 10 26\n"), 160) << "complex";
  EXPECT_EQ(sent_by("0 send 1 0 10\n"), 10) << "bytes, where no type is named";
  EXPECT_EQ(sent_by("0 init 1\n0 send 1 0 10\n"), 80) << "or doubles, where init says so";
  EXPECT_EQ(sent_by("0 send 1 0 10 -1\n"), 10) << "types of the program's own have no known size";
}

TEST(TimeIndependent, ReadsAllSendActions) {
  for (const char* name : {"send", "isend", "Ssend", "ISsend", "Put", "Accumulate"})
    EXPECT_EQ(sent_by(fmt::format("0 {} 1 0 10 6\n", name)), 10) << name;
  EXPECT_EQ(sent_by("0 sendRecv 10 1 99 1 6 6\n"), 10);
  EXPECT_EQ(sent_by("1 Get 0 0 10 6\n"), 10) << "flows to the rank that asks";
  EXPECT_EQ(sent_by("p0 send 1 10\n"), 10) << "as traces were before there were tags";
  for (const char* line : {"0 send -333 0 10 6\n", "0 recv 1 0 10 6\n", "0 irecv 1 0 10 6\n", "0 wait 0 1 0\n"})
    EXPECT_EQ(sent_by(line), -1) << line;
}

TEST(TimeIndependent, DescribesWhatItOmits) {
  const Profile profile = read_as("ti", "0 Startall\n0 Startall\n0 send 0 0 3 -1\n").profile;
  EXPECT_EQ(profile.origin.at("lines left out"), "2 Startall");
  EXPECT_THAT(profile.origin.at("elements of unknown type"), HasSubstr("3"));
}

TEST(TimeIndependent, ExpandsUnevenCallsOfTheWorld) {
  // Output of smpirun for 2 ranks, with root 1.
  const Profile profile = read_as("ti",
                                  "0 gatherv 1 0 0 1 1 1\n1 gatherv 2 1 2 1 1 1\n"
                                  "0 scatterv 0 0 3 1 1 1\n1 scatterv 3 4 4 1 1 1\n"
                                  "0 alltoallv 12 5 7 10 5 5 1 1\n1 alltoallv 12 5 7 14 7 7 1 1\n")
                              .profile;
  EXPECT_EQ(edges_of(profile.expanded_collectives),
            (Edges{{{0, 1}, 4 + 28}, {{1, 0}, 12 + 20}, {{0, 0}, 20}, {{1, 1}, 28}}));
  EXPECT_TRUE(profile.collectives.empty());
}

TEST(TimeIndependent, AveragesUnevenCallsOfUnknownMembers) {
  const Profile world = read_as("ti", "0 allgatherv 1 1 3 6 6\n1 allgatherv 3 1 3 6 6\n").profile;
  EXPECT_EQ(find_call(world, CollectiveOp::allgather, 0, 2).count, 1);
  // Two communicators of two ranks, of which the trace contains only the size.
  std::string text;
  for (int r = 0; r < 4; ++r) text += fmt::format("{} alltoallv 8 4 4 8 4 4 6 6\n", r);
  const Profile halves = read_as("ti", text).profile;
  EXPECT_EQ(halves.expanded_collectives.edge_count(), 0u);
  EXPECT_EQ(traffic(halves, CollectiveModel::logical).total_bytes(), 16) << "4 bytes from each rank";
  const Profile scattered = read_as("ti", "0 reducescatter 3 5 0 1\n1 reducescatter 3 5 0 1\n").profile;
  EXPECT_EQ(find_call(scattered, CollectiveOp::reduce_scatter, 0, 16).count, 1);
}

TEST(TimeIndependent, UsesTheCallingRanksAsTheCommunicator) {
  const Profile profile = read_as("ti", "0 barrier\n1 ibcast 8 1 6\n2 send 0 0 1 6\n3 ibcast 8 1 6\n").profile;
  ASSERT_EQ(profile.collectives.size(), 2u);
  const Collective call = find_call(profile, CollectiveOp::bcast, 1, 8);
  EXPECT_EQ(profile.communicators[call.communicator].members, (std::vector<Rank>{Rank{1}, Rank{3}}));
}

TEST(TimeIndependent, ReportsMissingFiles) {
  const TemporaryCopy copy(traces);
  fs::remove(copy.path(file_of(3)));
  Error error = testing::path_error(copy.path("smpi_simgrid.txt"));
  EXPECT_EQ(error.where.line, 3u);
  EXPECT_THAT(error.what, HasSubstr("rank-3.txt: no such file"));
  error = testing::path_error(copy.path(file_of(1)));
  EXPECT_THAT(error.what, HasSubstr("rank 1 has no line"));
  EXPECT_THAT(error.hint, HasSubstr("smpi_simgrid.txt"));
}

TEST(TimeIndependent, ReportsATruncatedTrace) {
  const TemporaryCopy copy(traces);
  fs::resize_file(copy.path(file_of(3)), 100);
  Error error = testing::path_error(copy.path(""));
  EXPECT_EQ(error.where.source, copy.path(file_of(3)));
  EXPECT_THAT(error.hint, HasSubstr("truncated"));
  std::ofstream(copy.path(file_of(3))) << "2 init\n2 compute 5\n";
  error = testing::path_error(copy.path(""));
  EXPECT_THAT(error.what, HasSubstr("rank 2 has a line init but no line finalize"));
  EXPECT_THAT(error.hint, HasSubstr("\"2 finalize\""));
}

TEST(TimeIndependent, ReportsTheErrorAndItsLine) {
  testing::expect_errors("ti", {
                                   {"0 init\nx send 1\n", 2, "\"x\" is not a rank"},
                                   {"0 init\n0 5\n", 2, "\"5\" is not an action"},
                                   {"0 send 1\n", 1, "at least 2"},
                                   {"0 send 1 0 ten 6\n", 1, "\"ten\""},
                                   {"0 compute nan\n", 1, "\"nan\""},
                                   {"0 send 1 0 1e300 6\n", 1, "\"1e300\""},
                                   {"0 gatherv 1 1\n", 1, "invalid number of arguments"},
                                   {"0 gatherv 1 1 1 7 6 6\n", 1, "root 7"},
                                   {"0 send 2 0 1 6\n2 recv 0 0 1 6\n", 0, "rank 1 has no line"},
                               });
}

}  // namespace
}  // namespace rankloom
