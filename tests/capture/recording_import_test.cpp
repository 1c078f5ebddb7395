// SPDX-License-Identifier: Apache-2.0
// tests: recordings are read as profiles, however the ranks ended.
#include <cstddef>
#include <cstring>

#include "tests/capture/import_support.hpp"
#include "tests/capture/recording_writer.hpp"

namespace rankloom {
namespace {

using testing::Edges;
using ::testing::HasSubstr;
using testing::record_rank;

TEST(Recording, IsReadAsAProfile) {
  const Profile profile = testing::read_as("", testing::ring_recording()).profile;
  EXPECT_EQ(testing::edges_of(profile.point_to_point), (Edges{{{0, 1}, 300},
                                                              {{1, 2}, 303},
                                                              {{2, 3}, 306},
                                                              {{3, 0}, 309},
                                                              {{2, 0}, 7},
                                                              {{3, 1}, 7},
                                                              {{0, 2}, 7},
                                                              {{1, 3}, 7}}));
  EXPECT_EQ(profile.point_to_point.total_messages(), 16);
  EXPECT_EQ(testing::edges_of(profile.expanded_collectives),
            (Edges{{{0, 3}, 11}, {{1, 0}, 11}, {{2, 1}, 11}, {{3, 2}, 11}}));
  ASSERT_EQ(profile.communicators.size(), 2u);
  EXPECT_EQ(profile.communicators[1].name, "even");
  EXPECT_EQ(profile.communicators[1].members, (std::vector<Rank>{Rank{0}, Rank{2}}));
  ASSERT_EQ(profile.collectives.size(), 2u);
  EXPECT_EQ(profile.collectives[0].op, CollectiveOp::bcast);
  EXPECT_EQ(profile.collectives[0].root, 3u);
  EXPECT_EQ(profile.collectives[0].bytes, 64);
  EXPECT_EQ(profile.collectives[1].op, CollectiveOp::allreduce);
  EXPECT_EQ(profile.collectives[1].communicator, 1u);
  EXPECT_EQ(profile.collectives[1].count, 2);
  EXPECT_EQ(profile.sizes, (std::map<std::uint64_t, std::uint64_t>{{4, 4}, {64, 12}}));
  EXPECT_TRUE(profile.phases.empty());
}

TEST(Recording, ListsMissingRanks) {
  const std::string two = record_rank(2, 6, [](auto&) {});
  const Profile profile = testing::read_as("", two + record_rank(4, 6, [](auto&) {})).profile;
  EXPECT_EQ(profile.rank_count(), 6u);
  EXPECT_EQ(profile.origin.at("missing ranks"), "0-1, 3, 5");
}

std::string of_job(std::string record, const std::string& job, std::uint32_t repeat = 0) {
  record::RankRecord head;
  std::memcpy(&head, record.data(), sizeof head);
  std::memcpy(head.job, job.c_str(), job.size() + 1);
  head.repeat = repeat;
  std::memcpy(record.data(), &head, sizeof head);
  return record;
}

TEST(Recording, OfTwoJobsIsRejected) {
  const std::string one = record_rank(0, 2, [](auto&) {}), other = record_rank(1, 2, [](auto&) {});
  EXPECT_EQ(testing::read_as("", of_job(one, "pmix:1") + of_job(other, "pmix:1")).profile.rank_count(), 2u);
  for (const std::string& second :
       {of_job(other, "pmix:2"), of_job(other, "pmix:1", 1), record_rank(1, 3, [](auto&) {})})
    EXPECT_THAT(testing::error_as("", of_job(one, "pmix:1") + second).what, HasSubstr("belongs to another run"));
}

TEST(Recording, MayContainTheUnusedSpaceOfTheFilesOfRanks) {
  const std::string one = record_rank(0, 2, [](auto&) {}), other = record_rank(1, 2, [](auto&) {});
  const Profile profile = testing::read_as("", one + std::string(9000, '\0') + other + std::string(100, '\0')).profile;
  EXPECT_FALSE(profile.origin.contains("missing ranks"));
}

TEST(Recording, OfARankSaysToWhichJobItBelongs) {
  const std::string record = of_job(record_rank(3, 5, [](auto&) {}), "slurm:815.2", 7);
  const auto piece = describe_rank_piece(record);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->job, "slurm:815.2");
  EXPECT_EQ(piece->repeat, 7u);
  EXPECT_EQ(piece->rank, 3u);
  EXPECT_EQ(piece->ranks, 5u);
  EXPECT_TRUE(piece->finalized);
  EXPECT_FALSE(describe_rank_piece(record.substr(0, 100)));
  EXPECT_FALSE(describe_rank_piece(record_rank(0, 0, [](auto&) {})));
}

TEST(Recording, SeparatesLevelsOfPcontrol) {
  const std::string record = record_rank(0, 2, [](record::Counters& counters) {
    counters.add_traffic(1, record::TrafficKind::sent, 10);
    counters.set_level(7, counters.arena().head().first_tick + 10);
    counters.add_traffic(1, record::TrafficKind::sent, 20);
    counters.set_level(1, counters.arena().head().first_tick + 20);
    counters.add_traffic(1, record::TrafficKind::sent, 30);
  });
  const Profile profile = testing::read_as("", record + record_rank(1, 2, [](auto&) {})).profile;
  ASSERT_EQ(profile.phases.size(), 2u);
  EXPECT_EQ(profile.phases[0].name, "level 1");
  EXPECT_EQ(profile.phases[0].point_to_point.total_bytes(), 40);
  EXPECT_EQ(profile.phases[1].name, "level 7");
  EXPECT_EQ(profile.phases[1].point_to_point.total_bytes(), 20);
  EXPECT_EQ(profile.point_to_point.total_bytes(), 60);
}

/// One rank runs so long that its windows were merged; the windows of the other rank become as long.
TEST(Recording, MergesWindowsInsteadOfGrowing) {
  const auto count_windows = [](int windows) {
    return [windows](record::Counters& counters) {
      const std::uint64_t length = counters.phase_end() - counters.arena().head().first_tick;
      for (int i = 0; i < windows; ++i) {
        const std::uint64_t now = counters.arena().head().first_tick + i * length + length / 2;
        if (now >= counters.phase_end()) counters.enter_window(now);
        counters.add_traffic(1, record::TrafficKind::sent, 1);
        counters.count(testing::collective(0, 0, 0, 0));
      }
    };
  };
  constexpr std::uint64_t second = 1'000'000'000;
  const std::string long_one = record_rank(0, 2, count_windows(5000), second),
                    short_one = record_rank(1, 2, count_windows(40), second);
  EXPECT_LT(long_one.size(), std::size_t{256} << 10);
  const Profile profile = testing::read_as("", long_one + short_one).profile;
  ASSERT_EQ(profile.phases.size(), 157u);  // of 32 seconds each
  EXPECT_EQ(profile.phases[0].end, 32);
  EXPECT_EQ(profile.phases[0].point_to_point.total_bytes(), 32 + 32);
  EXPECT_EQ(profile.phases[1].point_to_point.total_bytes(), 32 + 8);
  EXPECT_EQ(profile.phases[156].point_to_point.total_bytes(), 5000 - 156 * 32);
  EXPECT_EQ(profile.point_to_point.total_bytes(), 5040);
  EXPECT_EQ(profile.collectives[0].count, 5040);
}

TEST(Recording, KeepsTheBytesOfCollectivesWithTooManySizes) {
  double bytes = 0;
  const std::string record = record_rank(0, 1, [&](record::Counters& counters) {
    for (std::uint64_t size = 0; size < 100'000; ++size) {
      counters.count(testing::collective(0, 1, 0, size));
      bytes += static_cast<double>(size);
    }
  });
  EXPECT_LT(record.size(), std::size_t{1} << 20);
  double sum = 0, calls = 0;
  for (const Collective& call : testing::read_as("", record).profile.collectives) {
    sum += call.bytes * call.count;
    calls += call.count;
  }
  EXPECT_NEAR(sum, bytes, 1e-6 * bytes);
  EXPECT_EQ(calls, 100'000);
}

TEST(Recording, NumbersEqualCommunicatorsOnce) {
  const std::string record = record_rank(0, 4, [](record::Counters& counters) {
    const int members[] = {0, 3};
    for (int round = 0; round < 10'000; ++round) {
      EXPECT_EQ(counters.number_communicator(members, 2, ""), 1u);
    }
    counters.count(testing::collective(1, 0, 0, 0));
    counters.rename_communicator(1, "pair");
    EXPECT_EQ(counters.number_communicator(members, 2, "pair"), 1u);
    EXPECT_EQ(counters.number_communicator(members, 2, ""), 2u);
  });
  EXPECT_LT(record.size(), std::size_t{8} << 10);
  const Profile profile = testing::read_as("", record).profile;
  EXPECT_EQ(profile.communicators[profile.collectives[0].communicator].name, "pair");
}

TEST(Recording, ReportsDamage) {
  const std::string good = testing::ring_recording();
  EXPECT_THAT(testing::error_as("", good.substr(0, 100)).what, HasSubstr("ends inside a rank record"));
  EXPECT_THAT(testing::error_as("", good.substr(0, good.size() - 1)).what, HasSubstr("ends inside a rank record"));
  EXPECT_THAT(testing::error_as("", good + "rest").what, HasSubstr("no rank record starts"));
  EXPECT_THAT(testing::error_as("", good + record_rank(0, 5, [](auto&) {})).what, HasSubstr("another run"));
  EXPECT_THAT(testing::error_as("", record_rank(0, 4'000'000'000, [](auto&) {})).what,
              HasSubstr("1 of 4000000000 ranks"));
  std::string newer = good;
  newer[8] = 9;
  EXPECT_THAT(testing::error_as("", newer).hint, HasSubstr("version of rankloom that recorded"));
}

record::RankRecord head_of(const std::string& record) {
  record::RankRecord head;
  std::memcpy(&head, record.data(), sizeof head);
  return head;
}

template <class T>
void put(std::string& record, std::uint64_t offset, const T& value) {
  std::memcpy(record.data() + offset, &value, sizeof value);
}

TEST(Recording, RejectsMoreRanksThanAFileOfItsSizeCanHave) {
  std::string record = record_rank(0, 2, [](auto&) {});
  record::RankRecord head = head_of(record);
  head.ranks = 16'000'000;
  put(record, 0, head);
  EXPECT_THAT(testing::error_as("", record).what, HasSubstr("it contains 1 of 16000000 ranks"));
}

TEST(Recording, RejectsPhasesOfFarMoreRanksThanWereRecorded) {
  std::string record = record_rank(0, 2, [](record::Counters& counters) {
    for (int level = 1; level <= 300; ++level) {
      counters.set_level(level, counters.arena().head().first_tick + static_cast<std::uint64_t>(level));
      counters.add_traffic(1, record::TrafficKind::sent, 1);
    }
  });
  record::RankRecord head = head_of(record);
  head.ranks = 65'536;
  put(record, 0, head);
  EXPECT_THAT(testing::error_as("", record).what, HasSubstr("phases of 65536 ranks in a file of"));
}

/// A damaged record, in which all items of a list have the members and tables of the same bytes.
TEST(Recording, ReadsEachByteOfADamagedRecordOnce) {
  constexpr std::uint64_t items = 20'000;
  std::string record = record_rank(0, 1, [](auto&) {});
  const std::uint64_t first = (record.size() + 63) / 64 * 64;
  const std::uint64_t size = first + items * sizeof(record::PhaseRecord);
  record.resize(size);
  record::RankRecord head = head_of(record);
  head.used = size;
  head.phases = first;
  put(record, 0, head);
  for (std::uint64_t i = 0; i < items; ++i) {
    record::PhaseRecord phase;
    phase.next = i + 1 < items ? first + (i + 1) * sizeof phase : first;
    phase.key = static_cast<std::int64_t>(i);
    phase.traffic = {.slots = first, .capacity = static_cast<std::uint32_t>(items)};
    put(record, first + i * sizeof phase, phase);
  }
  const Profile profile = testing::read_as("", record).profile;
  EXPECT_LE(profile.phases.size(), items);
  EXPECT_LT(profile.point_to_point.edge_count(), items);

  head.phases = 0;
  head.communicators = first;
  put(record, 0, head);
  for (std::uint64_t i = 0; i < items; ++i) {
    record::CommunicatorRecord entry;
    entry.next = i + 1 < items ? first + (i + 1) * sizeof(record::PhaseRecord) : first;
    entry.number = static_cast<std::uint32_t>(i + 1);
    entry.name_length = 500'000;
    put(record, first + i * sizeof(record::PhaseRecord), entry);
  }
  EXPECT_LT(testing::read_as("", record).profile.communicators.size(), 10u);
}

TEST(Recording, WindowsOfAnyLengthAreMerged) {
  std::string long_one = record_rank(
      0, 2, [](auto&) {}, 1);
  std::string short_one = record_rank(
      1, 2, [](auto& counters) { counters.add_traffic(0, record::TrafficKind::sent, 5); }, 1);
  record::RankRecord head = head_of(long_one);
  head.window_ns = ~std::uint64_t{0};
  put(long_one, 0, head);
  head = head_of(short_one);
  ASSERT_NE(head.phases, 0u);
  put(short_one, head.phases + offsetof(record::PhaseRecord, key), INT64_MIN);
  // A window before the start is damage, and is left out.
  EXPECT_EQ(testing::read_as("", long_one + short_one).profile.point_to_point.total_bytes(), 0);
}

}  // namespace
}  // namespace rankloom
