// SPDX-License-Identifier: Apache-2.0
// tests: IPM's XML. The file is written by hand after IPM's source; IPM itself is not in Debian.
#include <gtest/gtest.h>

#include "tests/capture/import_support.hpp"
#include "tests/capture/trace_support.hpp"

namespace rankloom {
namespace {

using testing::Edges;
using testing::edges_of;
using testing::find_call;
using testing::read_path;

const std::string file = testing::test_data("traces/handmade/ipm.xml");

TEST(Ipm, CountsWhatIsSentAndNotWhatIsReceived) {
  const Profile profile = read_path(file).profile;
  EXPECT_EQ(profile.rank_count(), 2u);
  EXPECT_EQ(edges_of(profile.point_to_point), (Edges{{{0, 1}, 10240}, {{1, 0}, 1536}}));
  EXPECT_EQ(profile.point_to_point.messages(Rank{0})[0], 12) << "empty messages are messages";
}

TEST(Ipm, KeepsCollectives) {
  const Profile profile = read_path(file).profile;
  EXPECT_EQ(find_call(profile, CollectiveOp::bcast, 1, 64).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::allreduce, 0, 8).count, 4);
  EXPECT_EQ(profile.collectives.size(), 2u);
}

TEST(Ipm, ReadsTimesAndTheProgram) {
  const Profile profile = read_path(file).profile;
  EXPECT_EQ(profile.activity.at(1).seconds_in_mpi, 1.5);
  EXPECT_EQ(profile.activity.at(0).seconds_outside, 1.5);
  EXPECT_EQ(profile.origin.at("program"), "./solver < input & more");
}

std::string task(int rank, int size, const std::string& content) {
  return fmt::format("<task ipm_version=\"2\" mpi_rank=\"{}\" mpi_size=\"{}\" >\n{}</task>\n", rank, size, content);
}
std::string entry(const std::string& call, int bytes, int partner, int count) {
  return fmt::format("<hent call=\"{}\" bytes=\"{}\" orank=\"{}\" count=\"{}\" >1 1 1</hent>\n", call, bytes, partner,
                     count);
}

TEST(Ipm, AveragesUnevenCalls) {
  const Profile profile = testing::read_as("ipm", task(0, 2, entry("MPI_Alltoallv", 100, 0, 1)) +
                                                      task(1, 2, entry("MPI_Alltoallv", 300, 0, 1)))
                              .profile;
  EXPECT_EQ(find_call(profile, CollectiveOp::alltoall, 0, 100).count, 1) << "half of 200";
}

TEST(Ipm, ReportsTheErrorAndItsLine) {
  const std::string send = entry("MPI_Send", 8, 1, 1);
  testing::expect_errors("ipm", {
                                    {"<ipm>\n", 2, "no <task"},
                                    {task(0, 2, send), 4, "task 1 of 2 is missing"},
                                    {task(0, 1, ""), 3, "IPM_LOG=full"},
                                    {task(0, 1, "<hent call=\"MPI_Send\" bytes=\"x\" orank=\"0\" count=\"1\">\n"), 2,
                                     "no call, bytes or count"},
                                    {send, 1, "not inside a task"},
                                    {task(0, 2, send) + task(1, 3, send), 4, "mpi_size is 3, but 2"},
                                    {task(0, 2, send).substr(0, 51), 2, "ends inside a task"},
                                    {"<task ipm_version=\"2\" mpi_rank=\"5\" mpi_size=\"2\" >\n", 1, "mpi_rank"},
                                });
}

TEST(MpiP, IsRejectedWithAReasonAndARemedy) {
  const Error error = testing::path_error(testing::test_data("traces/handmade/mpip.txt"));
  EXPECT_THAT(error.what, ::testing::HasSubstr("no destinations"));
  EXPECT_THAT(error.hint, ::testing::HasSubstr("rankloom record"));
}

}  // namespace
}  // namespace rankloom
