// SPDX-License-Identifier: Apache-2.0
// model/files: the profile format.
#include "rankloom/model/files/profile_file.hpp"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/model/files/chunk_file.hpp"
#include "rankloom/model/files/graph_chunks.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;

std::string written(const Profile& profile) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const memory = open_memstream(&text, &size);
  Sink sink(memory);
  EXPECT_TRUE(write_profile(profile, sink));
  std::fclose(memory);
  std::string result(text, size);
  std::free(text);
  return result;
}

Result<Profile> read(std::string content) {
  return read_profile(FileContents("a.prof", std::move(content)));
}

void expect_equal(const CommGraph& a, const CommGraph& b) {
  EXPECT_EQ(a.rows().offsets, b.rows().offsets);
  EXPECT_EQ(a.rows().targets, b.rows().targets);
  EXPECT_EQ(a.rows().bytes, b.rows().bytes);
  EXPECT_EQ(a.rows().messages, b.rows().messages);
  EXPECT_EQ(a.rows().loads, b.rows().loads);
  EXPECT_EQ(a.undirected(), b.undirected());
}

CommGraph random_traffic(std::uint32_t ranks, std::size_t edges, bool messages, bool undirected) {
  Random random(edges, ranks);
  CommGraphBuilder builder(ranks);
  const auto any = [&] { return Rank{static_cast<std::uint32_t>(random.below(ranks))}; };
  for (std::size_t i = 0; i < edges; ++i)
    builder.add(any(), any(), random.unit() * 1e9, static_cast<double>(random.below(100)));
  return std::move(builder).build(messages, undirected);
}

Profile full_profile() {
  Profile profile;
  auto rows = random_traffic(300, 2000, true, false).rows();
  rows.loads.assign(300, 1.5);
  profile.point_to_point = CommGraph(std::move(rows));
  profile.expanded_collectives = random_traffic(300, 400, true, false);
  profile.communicators = {{"world", {}}, {"", {Rank{7}, Rank{3}, Rank{299}}}};
  profile.collectives = {{.communicator = 0, .op = CollectiveOp::allreduce, .root = 0, .bytes = 8, .count = 100},
                         {.communicator = 1, .op = CollectiveOp::bcast, .root = 2, .bytes = 0.5, .count = 1e12}};
  profile.phases = {{"0 s to 1 s",
                     0,
                     1,
                     random_traffic(300, 700, true, false),
                     random_traffic(300, 50, true, false),
                     {profile.collectives[1]}},
                    {"level 2", 1, 2.5, random_traffic(300, 0, true, false), {}, {}}};
  for (int r = 0; r < 300; ++r) profile.activity.push_back({r * 0.1, 1.0 / (r + 1), r * 1e9});
  profile.locations.hosts = {"n1", "n2"};
  profile.locations.cpu_sets = {"0-3,8", ""};
  for (std::uint32_t r = 0; r < 300; ++r) profile.locations.of_ranks.push_back({r % 2, r % 3 == 0 ? 1U : 0U, r});
  profile.self_traffic_counts = true;
  profile.sizes = {{0, 12}, {1024, 7}, {std::uint64_t{1} << 40, 1}};
  profile.origin = {
      {"program", "cg.W.8"}, {"date", "today"}, {"", std::string("an empty key, and a zero\0 inside", 31)}};
  return profile;
}

TEST(ProfileFile, ReadsBackEverythingInAProfile) {
  const Profile profile = full_profile();
  const auto back = read(written(profile));
  ASSERT_TRUE(back) << to_string(back.error());
  expect_equal(back->point_to_point, profile.point_to_point);
  expect_equal(back->expanded_collectives, profile.expanded_collectives);
  ASSERT_EQ(back->communicators.size(), 2u);
  EXPECT_EQ(back->communicators[0].name, "world");
  EXPECT_EQ(back->communicators[1].members, profile.communicators[1].members);
  ASSERT_EQ(back->collectives.size(), 2u);
  EXPECT_EQ(back->collectives[1].communicator, 1u);
  EXPECT_EQ(back->collectives[1].op, CollectiveOp::bcast);
  EXPECT_EQ(back->collectives[1].root, 2u);
  EXPECT_EQ(back->collectives[1].bytes, 0.5);
  EXPECT_EQ(back->collectives[1].count, 1e12);
  ASSERT_EQ(back->activity.size(), 300u);
  EXPECT_EQ(back->activity[5].seconds_in_mpi, profile.activity[5].seconds_in_mpi);
  EXPECT_EQ(back->activity[5].seconds_outside, profile.activity[5].seconds_outside);
  EXPECT_EQ(back->activity[5].instructions, profile.activity[5].instructions);
  EXPECT_EQ(back->locations.hosts, profile.locations.hosts);
  EXPECT_EQ(back->locations.cpu_sets, profile.locations.cpu_sets);
  ASSERT_EQ(back->locations.of_ranks.size(), 300u);
  EXPECT_EQ(back->locations.of_ranks[7].host, 1u);
  EXPECT_EQ(back->locations.of_ranks[9].cpus, 1u);
  EXPECT_EQ(back->locations.of_ranks[9].threads, 9u);
  ASSERT_EQ(back->phases.size(), 2u);
  EXPECT_EQ(back->phases[0].name, "0 s to 1 s");
  EXPECT_EQ(back->phases[1].begin, 1);
  EXPECT_EQ(back->phases[1].end, 2.5);
  expect_equal(back->phases[0].point_to_point, profile.phases[0].point_to_point);
  expect_equal(back->phases[0].expanded_collectives, profile.phases[0].expanded_collectives);
  EXPECT_EQ(back->phases[1].expanded_collectives.rank_count(), 0u);
  ASSERT_EQ(back->phases[0].collectives.size(), 1u);
  EXPECT_EQ(back->phases[0].collectives[0].count, 1e12);
  EXPECT_TRUE(back->self_traffic_counts);
  EXPECT_EQ(back->sizes, profile.sizes);
  EXPECT_EQ(back->origin, profile.origin);
  EXPECT_EQ(written(*back), written(profile));
}

TEST(ProfileFile, RejectsLocationsThatDoNotExist) {
  const auto error_with = [](const auto& change) {
    Profile profile = full_profile();
    change(profile.locations);
    const auto back = read(written(profile));
    return back ? std::string("none") : back.error().what;
  };
  EXPECT_EQ(error_with([](Locations&) {}), "none");
  EXPECT_THAT(error_with([](Locations& locations) { locations.of_ranks.pop_back(); }),
              HasSubstr("299 have a location"));
  EXPECT_THAT(error_with([](Locations& locations) { locations.of_ranks[3].host = 2; }), HasSubstr("do not exist"));
  EXPECT_THAT(error_with([](Locations& locations) { locations.of_ranks[3].cpus = 2; }), HasSubstr("do not exist"));
  EXPECT_THAT(error_with([](Locations& locations) { locations.cpu_sets[0] = "3-x"; }), HasSubstr("not a list"));
}

TEST(ProfileFile, TrafficOfARankWithItselfCountsOnlyIfTheProfileSaysSo) {
  Profile profile = full_profile();
  profile.self_traffic_counts = false;
  EXPECT_FALSE(read(written(profile))->self_traffic_counts);
}

TEST(ProfileFile, StoresGraphsOfManyBlocks) {
  Profile profile;
  profile.point_to_point = random_traffic(400'000, 700'000, true, false);
  const auto back = read(written(profile));
  ASSERT_TRUE(back) << to_string(back.error());
  expect_equal(back->point_to_point, profile.point_to_point);
}

TEST(ProfileFile, StoresARowLongerThanABlock) {
  Profile profile;
  CommGraphBuilder builder(600'000);
  for (std::uint32_t to = 0; to < 600'000; ++to) builder.add(Rank{300'000}, Rank{to}, to);
  profile.point_to_point = std::move(builder).build(false, false);
  const auto back = read(written(profile));
  ASSERT_TRUE(back) << to_string(back.error());
  expect_equal(back->point_to_point, profile.point_to_point);
}

TEST(ProfileFile, StoresUndirectedAndEmptyGraphs) {
  for (const bool undirected : {false, true}) {
    for (const std::size_t edges : {0, 1, 50}) {
      Profile profile;
      profile.point_to_point = random_traffic(edges == 0 ? 1 : 20, edges, false, undirected);
      const auto back = read(written(profile));
      ASSERT_TRUE(back) << to_string(back.error());
      expect_equal(back->point_to_point, profile.point_to_point);
    }
  }
}

TEST(ProfileFile, IsSmallForARegularPattern) {
  Profile profile;
  CommGraphBuilder builder(100'000);
  for (std::uint32_t r = 0; r + 1 < 100'000; ++r) builder.add(Rank{r}, Rank{r + 1}, 4096);
  profile.point_to_point = std::move(builder).build(false, true);
  EXPECT_LT(written(profile).size(), 100'000 / 4);
}

TEST(ProfileFile, IsTheSameForAnyNumberOfThreads) {
  Profile profile;
  profile.point_to_point = random_traffic(1000, 600'000, true, false);
  std::string by_one;
  {
    const ThreadLimit one(1);
    by_one = written(profile);
  }
  EXPECT_EQ(written(profile), by_one);
}

TEST(ProfileFile, SkipsUnknownChunksAndGraphs) {
  const Profile profile = full_profile();
  std::string content = written(profile);
  const std::size_t end = content.size() - 32;
  const auto unknown_graph = [&] {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* const memory = open_memstream(&text, &size);
    Sink sink(memory);
    write_graph(random_traffic(5, 9, false, false), GraphRole{77}, sink);
    std::fclose(memory);
    std::string result(text, size);
    std::free(text);
    return result;
  };
  content.insert(end, pack("NEW!", std::string(5000, 'x')) + unknown_graph());
  content.insert(content.find('\n') + 1, pack("ALSO", ""));
  const auto back = read(content);
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(written(*back), written(profile));
}

TEST(ProfileFile, DetectsAPhaseWithoutTraffic) {
  std::string content = written(full_profile());
  content.insert(content.size() - 32, pack("PHAS", std::string(28, '\0')));
  const auto back = read(content);
  ASSERT_FALSE(back);
  EXPECT_THAT(back.error().what, HasSubstr("3 phases, but the traffic of 2"));
}

TEST(ProfileFile, RejectsANewerVersion) {
  std::string content = written(full_profile());
  content.replace(content.find("1\n"), 1, "2");
  const auto back = read(content);
  ASSERT_FALSE(back);
  EXPECT_THAT(back.error().what, HasSubstr("version 2"));
  EXPECT_THAT(back.error().hint, HasSubstr("newer"));
}

TEST(ProfileFile, DetectsEveryTruncation) {
  const std::string content = written(full_profile());
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const auto back = read(content.substr(0, random.below(content.size())));
    ASSERT_FALSE(back);
    EXPECT_FALSE(back.error().hint.empty());
  }
}

TEST(ProfileFile, DetectsEveryFlippedBit) {
  const std::string content = written(full_profile());
  Random random(2);
  for (int i = 0; i < 1000; ++i) {
    std::string damaged_content = content;
    const std::size_t offset = random.below(content.size());
    damaged_content[offset] = static_cast<char>(damaged_content[offset] ^ (1 << random.below(8)));
    ASSERT_FALSE(read(damaged_content)) << "at byte " << offset;
  }
}

TEST(ProfileFile, NamesTheDamagedChunk) {
  std::string content = written(full_profile());
  const std::size_t offset = content.find("BYTE");
  ASSERT_NE(offset, std::string::npos);
  content[offset + 40] = static_cast<char>(content[offset + 40] ^ 1);
  const auto back = read(content);
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, Code::bad_input);
  EXPECT_EQ(back.error().where.source, "a.prof");
  EXPECT_EQ(back.error().what, "chunk BYTE at byte " + std::to_string(offset) + ": the content is damaged");
}

/// A profile of one graph: its header, then the given chunks.
Result<Profile> by_hand(std::array<std::uint32_t, 6> head, const std::string& chunks) {
  const std::string_view bytes(reinterpret_cast<const char*>(head.data()), sizeof head);
  return read("rankloom profile 1\n" + pack("GRPH", bytes) + chunks + pack("END ", ""));
}
template <class T>
std::string column(std::string_view tag, std::vector<T> values) {
  return pack(tag, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}
std::string column_of_ranks(std::string_view tag, std::vector<std::uint32_t> values) {
  return column(tag, std::move(values));
}

TEST(ProfileFile, ValidatesGraphs) {
  const auto graph = [](std::vector<std::uint32_t> degrees, std::vector<std::uint32_t> steps,
                        std::vector<double> bytes) {
    const auto ranks = static_cast<std::uint32_t>(degrees.size()), edges = static_cast<std::uint32_t>(steps.size());
    return by_hand({0, 0, ranks, 0, edges, 0}, column("ROWS", degrees) + column("DEST", steps) + column("BYTE", bytes));
  };
  EXPECT_TRUE(graph({2, 0}, {0, 1}, {5, 6}));
  EXPECT_FALSE(graph({2, 0}, {0, 2}, {5, 6})) << "a target that is not a rank";
  EXPECT_FALSE(graph({2, 0}, {1, 0}, {5, 6})) << "a target twice";
  EXPECT_FALSE(graph({2, 0}, {1, 0xffffffff}, {5, 6})) << "descending targets";
  EXPECT_FALSE(graph({1, 0}, {0, 1}, {5, 6})) << "fewer edges in the rows";
  EXPECT_FALSE(graph({2, 0}, {0, 1}, {5, 6, 7})) << "more bytes than edges";
  EXPECT_FALSE(graph({2, 0}, {0, 1}, {5, -6})) << "negative bytes";
  EXPECT_FALSE(graph({2, 0}, {0, 1}, {5, std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_FALSE(graph({2, 0}, {0, 1}, {5, std::numeric_limits<double>::infinity()}));
}

TEST(ProfileFile, RejectsHeadersThatAnnounceMoreThanTheFileContains) {
  const auto back = by_hand({0, 0, 0xffff'fff0, 0, 0, 0}, column_of_ranks("ROWS", {0, 0}));
  ASSERT_FALSE(back);
  EXPECT_THAT(back.error().what, HasSubstr("announces 4294967280"));
}

/// A chunk of this many zeros, as zstd compresses them: to less than a ten-thousandth.
std::string zeros(std::string_view tag, std::size_t count) {
  return pack(tag, std::string(count, '\0'));
}

TEST(ProfileFile, ASmallFileMayDescribeMillionsOfRanks) {
  constexpr std::uint32_t ranks = 4'000'000;
  const auto back = by_hand({0, 0, ranks, 0, 0, 0}, zeros("ROWS", std::size_t{ranks} * 4));
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(back->rank_count(), ranks);
}

TEST(ProfileFile, RejectsContentThatNeedsFarMoreMemoryThanTheFileHas) {
  constexpr std::size_t megabytes = 1 << 20;
  // Every chunk is valid and consistent with the others. Repetition keeps the test small.
  const std::string ranks = column_of_ranks("ROWS", {0, 0});
  const auto many = [&](std::string_view tag, std::size_t count, std::size_t size) {
    const std::string chunk = zeros(tag, size);
    std::string all = ranks;
    for (std::size_t i = 0; i < count; ++i) all += chunk;
    EXPECT_LT(all.size(), 64'000u);
    return by_hand({0, 0, 2, 0, 0, 0}, all);
  };
  for (const auto& [tag, count, size] :
       {std::tuple("COMM", 10, 8 * megabytes), std::tuple("ORIG", 10, 8 * megabytes),
        std::tuple("SIZE", 40, 8 * megabytes), std::tuple("PHAS", 2, 28 * megabytes)}) {
    const auto back = many(tag, count, size);
    ASSERT_FALSE(back) << tag;
    EXPECT_THAT(back.error().what, HasSubstr("of memory; the limit for a file of")) << tag;
  }
  constexpr std::uint32_t too_many = 60 * megabytes;
  const auto back = by_hand({0, 0, too_many, 0, 0, 0}, zeros("ROWS", std::size_t{too_many} * 4));
  ASSERT_FALSE(back);
  EXPECT_THAT(back.error().what, HasSubstr("of memory; the limit for a file of"));
}

TEST(ProfileFile, RejectsAmountsWhoseSumsCouldBeInfinite) {
  const auto with_bytes = [](double bytes) {
    return by_hand({0, 0, 2, 0, 1, 0},
                   column_of_ranks("ROWS", {1, 0}) + column_of_ranks("DEST", {1}) + column("BYTE", std::vector{bytes}));
  };
  EXPECT_TRUE(with_bytes(1e100));
  EXPECT_FALSE(with_bytes(1.1e100));
  EXPECT_FALSE(with_bytes(1e308));
}

TEST(ProfileFile, ValidatesCollectivesAgainstCommunicators) {
  const auto with = [](const std::string& chunks) {
    return by_hand({0, 0, 2, 0, 0, 0}, column_of_ranks("ROWS", {0, 0}) + chunks);
  };
  const std::string world = column_of_ranks("COMM", {0, 0});  // no name, no members: all ranks
  const auto collective = [](std::uint32_t communicator, std::uint32_t op, std::uint32_t root, std::uint32_t amount) {
    return column_of_ranks("COLL", {communicator, op, root, 0, 0, amount, 0, 0});
  };
  EXPECT_TRUE(with(world + collective(0, 1, 1, 0)));
  EXPECT_FALSE(with(collective(0, 1, 1, 0))) << "no communicator";
  EXPECT_FALSE(with(world + collective(1, 1, 1, 0))) << "another communicator";
  EXPECT_FALSE(with(world + collective(0, 1, 2, 0))) << "a root outside";
  EXPECT_FALSE(with(world + collective(0, 99, 1, 0))) << "an unknown operation";
  EXPECT_FALSE(with(world + collective(0, 1, 1, 0xbff00000))) << "-1 bytes";
  EXPECT_FALSE(with(column_of_ranks("COMM", {0, 1, 2}))) << "a member that is not a rank";
  EXPECT_FALSE(with(column_of_ranks("COMM", {0, 5, 1}))) << "more members than there are";
  EXPECT_FALSE(with(column_of_ranks("ACTV", {0, 0, 0, 0, 0, 0}))) << "one entry of activity for two ranks";
}

TEST(ChunkFile, ComputesTheChecksumOfZlib) {
  EXPECT_EQ(checksum("123456789"), 0xcbf43926u);
  EXPECT_EQ(checksum(""), 0u);
}

}  // namespace
}  // namespace rankloom
