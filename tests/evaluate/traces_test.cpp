// SPDX-License-Identifier: Apache-2.0
// evaluate/simulate: synthetic traces have the traffic of the profile; the files of recorded traces.
#include "rankloom/evaluate/simulate/traces.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/temporary_directory.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;

/// The trace as the importer reads it.
Profile read_back(const SyntheticTrace& trace, const TemporaryDirectory& directory) {
  std::string list;
  for (const std::string& file : trace.files) list += file + "\n";
  EXPECT_TRUE(write_file(directory.file("smpi_simgrid.txt"), list));
  auto imported = import_path(directory.path(), "ti");
  EXPECT_TRUE(imported) << (imported ? "" : to_string(imported.error()));
  return imported->profile;
}

std::string text_of(const std::string& path) {
  return std::string(read_file(path)->view());
}

Profile profile_of(CommGraph graph) {
  Profile profile;
  profile.point_to_point = std::move(graph);
  return profile;
}

TEST(Synthesise, ARoundOfAStencilConsistsOfReceivesSendsAndAWait) {
  const auto directory = TemporaryDirectory::make();
  CommGraphBuilder builder(2);
  builder.add(Rank{0}, Rank{1}, 800, 4);
  builder.add(Rank{1}, Rank{0}, 400, 4);
  Profile profile = profile_of(std::move(builder).build(true));
  profile.activity = {{.seconds_in_mpi = 0, .seconds_outside = 2, .instructions = 0}, {}};
  const auto trace = synthesise_trace(profile, {.iterations = 1}, directory->path());
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->rounds, 4);
  EXPECT_EQ(trace->messages, 2);
  EXPECT_EQ(text_of(trace->files[0]),
            "0 init\n0 compute 500000000\n0 irecv 1 0 100 6\n0 isend 1 0 200 6\n0 waitall\n0 finalize\n");
  const auto idle = synthesise_trace(profile, {.iterations = 1, .compute = false}, directory->path());
  EXPECT_THAT(text_of(idle->files[0]), ::testing::Not(HasSubstr("compute")));
}

TEST(Synthesise, GivenWorkIsProportionalToTheLoads) {
  const auto directory = TemporaryDirectory::make();
  CommGraphBuilder builder(2);
  builder.add(Rank{0}, Rank{1}, 800, 4);
  builder.set_loads({3, 1});
  const auto trace =
      synthesise_trace(profile_of(std::move(builder).build(true)), {.iterations = 2, .work = 0.001}, directory->path());
  EXPECT_THAT(text_of(trace->files[0]), HasSubstr("0 compute 1500000\n"));
  EXPECT_THAT(text_of(trace->files[1]), HasSubstr("1 compute 500000\n"));
}

TEST(Synthesise, FrequentPairsSendSeveralTimesPerRoundAndRarePairsInSomeRounds) {
  const auto directory = TemporaryDirectory::make();
  CommGraphBuilder builder(3);
  builder.add(Rank{0}, Rank{1}, 40'000, 4);
  builder.add(Rank{1}, Rank{2}, 120'000, 12);
  builder.add(Rank{2}, Rank{0}, 10, 1);
  const auto trace = synthesise_trace(profile_of(std::move(builder).build(true)), {.iterations = 4}, directory->path());
  const Profile back = read_back(*trace, *directory);
  EXPECT_EQ(trace->rounds, 4);
  EXPECT_EQ(back.point_to_point.messages(Rank{0})[0], 4);
  EXPECT_EQ(back.point_to_point.messages(Rank{1})[0], 12);
  EXPECT_EQ(back.point_to_point.messages(Rank{2})[0], 1);
  EXPECT_EQ(back.point_to_point.bytes(Rank{1})[0], 120'000);
}

TEST(Synthesise, CollectivesHaveTheTrafficOfTheirModel) {
  for (const std::uint32_t ranks : {2U, 5U, 8U, 13U}) {
    for (int op = 0; op <= static_cast<int>(CollectiveOp::scan); ++op) {
      for (const CollectiveModel model : {CollectiveModel::tree, CollectiveModel::logical, CollectiveModel::flat}) {
        Profile profile = profile_of(CommGraphBuilder(ranks + 1).build(true));
        Communicator some;
        for (std::uint32_t member = ranks; member > 0; --member) some.members.push_back(Rank{member});
        profile.communicators.push_back(some);
        profile.collectives.push_back(
            {.communicator = 0, .op = static_cast<CollectiveOp>(op), .root = ranks / 2, .bytes = 40, .count = 1});
        const auto directory = TemporaryDirectory::make();
        const auto trace =
            synthesise_trace(profile, {.iterations = 1, .compute = true, .collectives = model}, directory->path());
        ASSERT_TRUE(trace);
        const CommGraph made = traffic(read_back(*trace, *directory), CollectiveModel::none);
        const CommGraph wanted = traffic(profile, model);
        ASSERT_EQ(made.edge_count(), wanted.edge_count())
            << to_string(static_cast<CollectiveOp>(op)) << " of " << ranks;
        for (const Rank rank : wanted.ranks()) {
          for (std::size_t e = 0; e < wanted.degree(rank); ++e) {
            EXPECT_EQ(made.targets(rank)[e], wanted.targets(rank)[e]);
            EXPECT_EQ(made.bytes(rank)[e], wanted.bytes(rank)[e])
                << to_string(static_cast<CollectiveOp>(op)) << " of " << ranks;
            EXPECT_EQ(made.messages(rank)[e], wanted.messages(rank)[e])
                << to_string(static_cast<CollectiveOp>(op)) << " of " << ranks;
          }
        }
      }
    }
  }
}

TEST(Synthesise, LargeMessagesAreSplit) {
  const auto directory = TemporaryDirectory::make();
  CommGraphBuilder builder(2);
  builder.add(Rank{0}, Rank{1}, 600.0 * (1 << 20), 1);
  const auto trace = synthesise_trace(profile_of(std::move(builder).build(true)), {}, directory->path());
  EXPECT_EQ(trace->messages, 3);
  EXPECT_EQ(read_back(*trace, *directory).point_to_point.total_bytes(), 600.0 * (1 << 20));
}

TEST(TraceFiles, AreFoundByDirectoryListOrSingleFile) {
  const auto directory = TemporaryDirectory::make();
  ASSERT_TRUE(write_file(directory->file("a.txt"), "0 init\n0 finalize\n"));
  ASSERT_TRUE(write_file(directory->file("b.txt"), "1 init\n1 finalize\n"));
  ASSERT_TRUE(write_file(directory->file("smpi_simgrid.txt"), "/gone/a.txt\nb.txt\n"));
  EXPECT_EQ(trace_files(directory->path(), 2)->at(0), directory->file("a.txt")) << "of a moved trace";
  EXPECT_EQ(trace_files(directory->file("smpi_simgrid.txt"), 2)->at(1), directory->file("b.txt"));
  EXPECT_EQ(trace_files(directory->file("a.txt"), 3)->size(), 3);
  EXPECT_THAT(trace_files(directory->path(), 3).error().what, HasSubstr("lists 2 files"));
  ASSERT_TRUE(write_file(directory->file("smpi_simgrid.txt"), "a.txt\nmissing.txt\n"));
  EXPECT_EQ(trace_files(directory->path(), 2).error().where.line, 2);
}

}  // namespace
}  // namespace rankloom
