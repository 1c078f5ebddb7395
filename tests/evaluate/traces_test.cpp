// SPDX-License-Identifier: Apache-2.0
// evaluate/simulate: synthetic traces have the traffic of the profile; the files of recorded traces.
#include "rankloom/evaluate/simulate/traces.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/temporary_directory.hpp"
#include "rankloom/model/graph/traffic_parts.hpp"

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

/// Replays the traces with messages that wait for their receiver; returns whether all ranks reach the end. Each rank
/// posts its messages in order; messages of a pair and tag match in the order in which they are posted.
bool ends_without_deadlock(const SyntheticTrace& trace) {
  struct Action {
    std::string name;
    std::uint32_t other = 0;
    int tag = 0;
  };
  using Key = std::tuple<std::uint32_t, std::uint32_t, int>;  // from, to, tag
  struct RankState {
    std::vector<Action> actions;
    std::size_t next = 0;
    bool posted = false;                                         // the blocking action at `next`
    std::vector<std::pair<Key, std::uint64_t>> sends, receives;  // pending: which message of the pair
  };
  std::vector<RankState> ranks(trace.files.size());
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    std::istringstream lines(text_of(trace.files[rank]));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::uint32_t self = 0;
      Action action;
      words >> self >> action.name >> action.other >> action.tag;
      ranks[rank].actions.push_back(action);
    }
  }
  std::map<Key, std::uint64_t> sent, received;
  const auto done = [&](const RankState& state) {
    const auto matched = [](const auto& list, const std::map<Key, std::uint64_t>& others) {
      return std::all_of(list.begin(), list.end(), [&](const auto& message) {
        const auto found = others.find(message.first);
        return found != others.end() && found->second > message.second;
      });
    };
    return matched(state.sends, received) && matched(state.receives, sent);
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
      RankState& state = ranks[rank];
      while (state.next < state.actions.size()) {
        const Action& action = state.actions[state.next];
        const bool blocks = action.name == "send" || action.name == "recv" || action.name == "waitall";
        if (!state.posted) {
          const Key out{rank, action.other, action.tag}, in{action.other, rank, action.tag};
          if (action.name.ends_with("send")) state.sends.emplace_back(out, sent[out]++);
          if (action.name.ends_with("recv")) state.receives.emplace_back(in, received[in]++);
          state.posted = true;
          progress = true;
        }
        // A blocking message also waits for the nonblocking ones here, which is stricter than MPI.
        if (blocks && !done(state)) break;
        if (blocks) {
          state.sends.clear();
          state.receives.clear();
        }
        state.posted = false;
        ++state.next;
        progress = true;
      }
    }
  }
  return std::all_of(ranks.begin(), ranks.end(),
                     [](const RankState& state) { return state.next == state.actions.size(); });
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
      for (const CollectiveModel model : {CollectiveModel::tree, CollectiveModel::logical, CollectiveModel::flat,
                                          CollectiveModel::openmpi, CollectiveModel::mpich}) {
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

TEST(Synthesise, CollectivesOfMpiLibrariesEndWithoutDeadlockOnEveryPlacement) {
  for (const std::uint32_t ranks : {2U, 5U, 8U, 13U, 24U, 40U}) {
    for (const CollectiveModel model : {CollectiveModel::openmpi, CollectiveModel::openmpi5, CollectiveModel::mpich}) {
      for (const double bytes : {8.0, 3000.0, 100e3, 2e6}) {
        Profile profile = profile_of(CommGraphBuilder(ranks).build(true));
        profile.communicators.push_back({.name = {}, .members = {}});
        for (int op = 0; op <= static_cast<int>(CollectiveOp::scan); ++op) {
          const auto number = static_cast<CollectiveOp>(op);
          const bool rooted = number == CollectiveOp::bcast || number == CollectiveOp::reduce ||
                              number == CollectiveOp::gather || number == CollectiveOp::scatter;
          profile.collectives.push_back({.op = number, .root = rooted ? ranks / 2 : 0, .bytes = bytes, .count = 1});
        }
        std::vector<std::uint32_t> node_of(ranks);
        for (std::uint32_t rank = 0; rank < ranks; ++rank) node_of[rank] = rank % 3;
        for (const Profile& split : {profile, split_by_nodes(profile, model, node_of)}) {
          const auto directory = TemporaryDirectory::make();
          const auto trace =
              synthesise_trace(split, {.iterations = 1, .compute = true, .collectives = model}, directory->path());
          ASSERT_TRUE(trace);
          EXPECT_TRUE(ends_without_deadlock(*trace)) << ranks << " ranks, model " << static_cast<int>(model);
          EXPECT_EQ(static_cast<double>(trace->messages), expand_collectives(split, model).total_messages());
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
