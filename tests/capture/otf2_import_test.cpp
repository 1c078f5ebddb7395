// SPDX-License-Identifier: Apache-2.0
// tests: OTF2, from an archive that eztrace wrote (tests/data/traces/README.md) and from archives written here with
// libotf2 the way Score-P does.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "tests/capture/import_support.hpp"
#include "tests/capture/trace_support.hpp"

#ifdef RANKLOOM_HAS_OTF2
#include "tests/capture/otf2_archive.hpp"
#endif

#ifdef __SANITIZE_ADDRESS__
// libotf2 leaks memory when an archive is damaged.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libopen-trace-format2\n";
}
#endif

namespace rankloom {
namespace {

namespace fs = std::filesystem;
using testing::Edges;
using testing::edges_of;
using testing::find_call;
using ::testing::HasSubstr;
using testing::read_path;
using testing::TemporaryCopy;

const std::string archives = testing::test_data("traces/eztrace");

TEST(Otf2, IsRecognisedByItsAnchorFile) {
  EXPECT_EQ(testing::recognised(read_file(archives + "/eztrace_log.otf2")->view()), "otf2");
  EXPECT_EQ(testing::recognised("OTF2 is a format\n"), "");
}

#ifndef RANKLOOM_HAS_OTF2

TEST(Otf2, ReportsTheMissingLibrary) {
  const auto result = import_path(archives);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::environment);
  EXPECT_THAT(result.error().hint, HasSubstr("install OTF2"));
}

#else

TEST(Otf2, ReadsTheTrafficOfTheProgram) {
  const Profile profile = read_path(archives).profile;
  EXPECT_EQ(profile.rank_count(), 4u);
  EXPECT_EQ(edges_of(profile.point_to_point), testing::program_traffic())
      << "ranks are not location ids, receivers are ranks of their communicator, MPI_PROC_NULL is ignored";
  EXPECT_EQ(profile.point_to_point.total_messages(), 11);
}

TEST(Otf2, KeepsCollectivesWithTheirCommunicators) {
  const Profile profile = read_path(archives).profile;
  const auto members = [&](const Collective& call) { return profile.communicators[call.communicator].members; };
  EXPECT_TRUE(members(find_call(profile, CollectiveOp::bcast, 1, 200)).empty());
  EXPECT_EQ(find_call(profile, CollectiveOp::reduce, 2, 480).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::allreduce, 0, 80).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::gather, 0, 20).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::scatter, 3, 24).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::allgather, 0, 28).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::alltoall, 0, 32).count, 1);
  int halves = 0;
  for (const Collective& call : profile.collectives) {
    if (call.op != CollectiveOp::allreduce || call.bytes != 16) continue;
    EXPECT_EQ(call.count, 3);
    EXPECT_THAT(members(call),
                ::testing::AnyOf(std::vector<Rank>{Rank{2}, Rank{0}}, std::vector<Rank>{Rank{3}, Rank{1}}));
    ++halves;
  }
  EXPECT_EQ(halves, 2);
}

TEST(Otf2, IsFoundByItsAnchorFileItsDirectoryOrItsPrefix) {
  const Profile whole = read_path(archives + "/eztrace_log.otf2").profile;
  for (const char* name : {"", "/eztrace_log"})
    testing::expect_equal(read_path(archives + name).profile.point_to_point, whole.point_to_point);
}

TEST(Otf2, ReadsTheTotalBytesOfScoreP) {
  const testing::Otf2Archive archive;
  const Profile profile = read_path(archive.path()).profile;
  EXPECT_EQ(profile.rank_count(), 3u);
  EXPECT_EQ(find_call(profile, CollectiveOp::bcast, 1, 100).count, 1);
  EXPECT_EQ(find_call(profile, CollectiveOp::allreduce, 0, 8).count, 1) << "3 times 8 bytes in and out";
  EXPECT_EQ(find_call(profile, CollectiveOp::alltoall, 0, 10).count, 1) << "3 times 10 bytes out";
  EXPECT_EQ(profile.collectives.size(), 3u) << "the creation of a communicator is not traffic";
  EXPECT_EQ(profile.communicators.size(), 1u);
  EXPECT_EQ(profile.communicators[0].name, "MPI_COMM_WORLD");
}

TEST(Otf2, CountsThreadsForTheirRankAndOneSidedCallsInTheDirectionOfTheData) {
  const testing::Otf2Archive archive;
  EXPECT_EQ(edges_of(read_path(archive.path()).profile.point_to_point),
            (Edges{{{0, 1}, 64 + 7}, {{1, 2}, 64}, {{2, 0}, 64}, {{0, 2}, 500}, {{2, 1}, 300}, {{1, 1}, 9}}));
}

TEST(Otf2, ReportsMissingFiles) {
  const TemporaryCopy copy(archives);
  fs::remove(copy.path("eztrace_log/1073741822.evt"));
  Error error = testing::path_error(copy.path(""));
  EXPECT_THAT(error.what, HasSubstr("rank 2"));
  EXPECT_THAT(error.hint, HasSubstr("directory"));
  fs::remove(copy.path("eztrace_log.def"));
  error = testing::path_error(copy.path(""));
  EXPECT_THAT(error.hint, HasSubstr(".def"));
}

TEST(Otf2, ReportsATruncatedFile) {
  const TemporaryCopy copy(archives);
  const std::string events = copy.path("eztrace_log/0.evt");
  fs::resize_file(events, fs::file_size(events) / 2);
  EXPECT_THAT(testing::path_error(copy.path("")).what, HasSubstr("rank 0"));
}

TEST(Otf2, SurvivesRandomChangesOfItsFiles) {
  Random random(7);
  const char* const names[] = {"eztrace_log.otf2", "eztrace_log.def", "eztrace_log/0.evt", "eztrace_log/536870911.evt"};
  const TemporaryCopy copy(archives);
  int errors = 0;
  for (int round = 0; round < 120; ++round) {
    const std::string name = names[round % 4];
    std::string content(read_file(archives + "/" + name)->view());
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes)
      content[random.below(content.size())] = static_cast<char>(random.below(256));
    if (random.below(4) == 0) content.resize(random.below(content.size()));
    std::ofstream(copy.path(name), std::ios::binary) << content;
    const auto result = import_path(copy.path("eztrace_log.otf2"));
    if (!result) {
      ++errors;
      EXPECT_FALSE(result.error().hint.empty());
    }
    fs::copy_file(archives + "/" + name, copy.path(name), fs::copy_options::overwrite_existing);
  }
  EXPECT_GT(errors, 20);
}

#endif

}  // namespace
}  // namespace rankloom
