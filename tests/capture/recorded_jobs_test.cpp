// SPDX-License-Identifier: Apache-2.0
// tests: pieces of several MPI jobs in one directory are told apart and read by directory, prefix or piece.
#include "rankloom/capture/record/reading/recorded_jobs.hpp"

#include <cstring>
#include <fstream>

#include <gmock/gmock.h>

#include "rankloom/core/system/temporary_directory.hpp"
#include "tests/capture/recording_writer.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::record_rank;

/// Writes the piece of a rank, which sends `bytes` to the next rank. The end of a piece is allocated but not used.
void write_piece(const std::string& path, const char* job, std::uint32_t rank, std::uint32_t ranks,
                 std::uint64_t started, std::uint64_t bytes) {
  const std::string piece = record_rank(rank, ranks, [&](record::Counters& counters) {
    record::RankRecord& head = counters.arena().head();
    std::strncpy(head.job, job, sizeof head.job - 1);
    std::strncpy(head.program, job, sizeof head.program - 1);
    head.started_ns = started;
    counters.add_traffic((rank + 1) % ranks, record::TrafficKind::sent, bytes);
  });
  std::ofstream(path, std::ios::binary) << piece << std::string(5000, '\0');
}

class RecordedJobs : public ::testing::Test {
 protected:
  RecordedJobs() : directory_(*TemporaryDirectory::make()) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      write_piece(file("run.00000000000000bb." + std::to_string(rank)), "first", rank, 2, 100 + rank, 7);
      write_piece(file("run.00000000000000aa." + std::to_string(rank)), "second", rank, 2, 200 + rank, 9);
    }
    std::ofstream(file("notes.txt")) << "not a piece\n";
    std::ofstream(file("run.00000000000000bb.2"));  // a rank that ended before MPI_Init returned
  }
  std::string file(const std::string& name) const { return directory_.file(name); }
  TemporaryDirectory directory_;
};

TEST_F(RecordedJobs, AreToldApartAndInTheOrderOfTheirStart) {
  const auto jobs = find_recorded_jobs(directory_.path());
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].program, "first");
  EXPECT_EQ(jobs[0].prefix(), file("run.00000000000000bb"));
  EXPECT_THAT(jobs[0].files, ElementsAre(file("run.00000000000000bb.0"), file("run.00000000000000bb.1")));
  EXPECT_EQ(jobs[1].program, "second");
  const auto first = read_recorded_job(jobs[0]), second = read_recorded_job(jobs[1]);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->profile.point_to_point.total_bytes(), 14);
  EXPECT_EQ(second->profile.point_to_point.total_bytes(), 18);
}

TEST_F(RecordedJobs, AreImportedByPrefixOrPiece) {
  for (const std::string& path : {file("run.00000000000000bb"), file("run.00000000000000bb.")}) {
    const auto imported = import_path(path);
    ASSERT_TRUE(imported) << to_string(imported.error());
    EXPECT_EQ(imported->profile.point_to_point.total_bytes(), 14);
    EXPECT_FALSE(imported->profile.origin.contains("missing ranks"));
  }
  const auto piece = import_path(file("run.00000000000000aa.1"));
  ASSERT_TRUE(piece) << to_string(piece.error());
  EXPECT_EQ(piece->profile.rank_count(), 2u);
  EXPECT_EQ(piece->profile.origin.at("missing ranks"), "0");
  EXPECT_EQ(piece->profile.point_to_point.total_bytes(), 9);
}

TEST_F(RecordedJobs, InOneDirectoryAreListedWithTheCommandForEach) {
  for (const std::string& path : {directory_.path(), file("run")}) {
    const auto imported = import_path(path);
    ASSERT_FALSE(imported);
    EXPECT_THAT(imported.error().what, HasSubstr("2 MPI programs"));
    EXPECT_THAT(imported.error().what, HasSubstr("first (2 of 2 ranks"));
    EXPECT_THAT(imported.error().hint, HasSubstr("rankloom import " + file("run.00000000000000bb")));
  }
}

TEST_F(RecordedJobs, InADirectoryAloneAreImportedByTheDirectory) {
  for (const char* const name : {"run.00000000000000aa.0", "run.00000000000000aa.1"}) std::remove(file(name).c_str());
  const auto imported = import_path(directory_.path());
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(imported->profile.point_to_point.total_bytes(), 14);
}

}  // namespace
}  // namespace rankloom
