// SPDX-License-Identifier: Apache-2.0
// tests of report/document: a mapping described, concluded and written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/report/document/describe.hpp"
#include "rankloom/report/document/document_json.hpp"
#include "rankloom/report/document/html.hpp"
#include "rankloom/report/document/verdict.hpp"
#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::topology;

/// Ranks 0 and 2, 1 and 3 talk; two nodes of two cores.
CommGraph pairs_apart() {
  CommGraphBuilder builder(4);
  builder.add(Rank{0}, Rank{2}, 1000, 10);
  builder.add(Rank{3}, Rank{1}, 500, 5);
  return std::move(builder).build(true);
}

std::vector<Core> cores(std::initializer_list<std::uint32_t> list) {
  std::vector<Core> result;
  for (const std::uint32_t core : list) result.push_back(Core{core});
  return result;
}

ReportDocument described(std::vector<Core> after) {
  ReportDocument document;
  document.title = "pairs";
  describe_placements(pairs_apart(), topology("node:2=10 core:2=1"),
                      {cores({0, 1, 2, 3}), "block", std::move(after), "mapping.txt", CostModel::bytes}, document);
  write_verdict(document);
  return document;
}

TEST(Document, SaysWhatAMappingGains) {
  const ReportDocument document = described(cores({0, 2, 1, 3}));
  EXPECT_EQ(document.verdict.kind, "gain");
  EXPECT_THAT(document.verdict.sentence, HasSubstr("90.0 % less cost"));
  EXPECT_THAT(document.verdict.sentence, HasSubstr("not measured"));
  ASSERT_EQ(document.levels.size(), 2);
  EXPECT_EQ(document.levels[0].label, "between nodes");
  EXPECT_DOUBLE_EQ(document.levels[0].bytes_before, 1500);
  EXPECT_DOUBLE_EQ(document.levels[0].bytes_after, 0);
  EXPECT_EQ(document.levels[1].label, "between cores of a node");
  EXPECT_DOUBLE_EQ(document.levels[1].messages_after, 15);
  ASSERT_TRUE(document.verdict.predicted);
  EXPECT_GT(document.verdict.predicted->first, document.verdict.predicted->second);
}

TEST(Document, SaysWhichShareOfTheTrafficStaysInsideNodes) {
  const ReportDocument document = described(cores({0, 2, 1, 3}));
  ASSERT_TRUE(document.verdict.inside);
  EXPECT_DOUBLE_EQ(document.verdict.inside->first, 0);
  EXPECT_DOUBLE_EQ(document.verdict.inside->second, 1);
}

TEST(Document, PutsTheBytesOfEachDirectionOnTheCablesOfTheNetwork) {
  ReportDocument document;
  describe_placements(pairs_apart(), topology("torus:4x4 core:1"),
                      {cores({0, 5, 1, 7}), "block", cores({0, 5, 1, 6}), "mapping.txt", CostModel::bytes}, document);
  ASSERT_TRUE(document.network);
  const NetworkSection& network = *document.network;
  EXPECT_EQ(network.labels[7], "node7 (1,3)");
  EXPECT_THAT(network.first_core, ::testing::SizeIs(16));
  const auto load = [&](const NetworkSection::Loads& loads, std::uint32_t from, std::uint32_t to) {
    for (std::size_t cable = 0; cable < network.layout.cables.size(); ++cable) {
      if (network.layout.cables[cable].a == from && network.layout.cables[cable].b == to) return loads.there[cable];
      if (network.layout.cables[cable].a == to && network.layout.cables[cable].b == from) return loads.back[cable];
    }
    return -1.0F;
  };
  EXPECT_EQ(load(network.before, 0, 1), 1000);
  EXPECT_EQ(load(network.before, 1, 0), 0);
  EXPECT_EQ(load(network.after, 6, 5), 500);
  EXPECT_EQ(load(network.after, 5, 6), 0);
  const auto json = to_json(document);
  EXPECT_EQ(json["network"]["kinds"][0]["label"], "along y");
  EXPECT_EQ(json["network"]["cables"]["a"]["length"], 32);
}

TEST(Document, SaysThatTheShownMappingIsNotTheBest) {
  ReportDocument document;
  document.mappers.push_back({"perfect", 1, 0, std::nullopt, 1, false, {}});
  describe_placements(pairs_apart(), topology("node:2=10 core:2=1"),
                      {cores({0, 1, 2, 3}), "block", cores({0, 2, 1, 3}), "mapping.txt", CostModel::bytes}, document);
  write_verdict(document);
  EXPECT_THAT(document.verdict.notes, ::testing::Contains(HasSubstr("mapping.txt is not the best mapping of this "
                                                                    "report: perfect costs")));
}

TEST(Document, SaysWhatLimitsThePredictedTimes) {
  const ReportDocument document = described(cores({0, 2, 1, 3}));
  ASSERT_FALSE(document.verdict.bottlenecks_before.empty());
  EXPECT_THAT(document.verdict.bottlenecks_before[0].name, HasSubstr("'s card, "));
  ASSERT_FALSE(document.verdict.bottlenecks_after.empty());
  EXPECT_THAT(document.verdict.bottlenecks_after[0].name, HasSubstr("core "));
  EXPECT_THAT(document.verdict.notes,
              ::testing::Contains(AllOf(HasSubstr("Limited before by node "), HasSubstr("Limited after by core "))));
  const auto predicted = to_json(document).at("verdict").at("predicted");
  EXPECT_EQ(predicted.at("bottlenecks_before").at(0).at("name"), document.verdict.bottlenecks_before[0].name);
  EXPECT_EQ(predicted.at("bottlenecks_after").at(0).at("seconds"), document.verdict.bottlenecks_after[0].seconds);
}

TEST(Document, CostsOfTheModelPredictedAreTimes) {
  ReportDocument document;
  document.model = "bytes";
  EXPECT_EQ(document.cost_text(0.0025), "0.0025");
  document.model = "predicted";
  EXPECT_EQ(document.cost_text(0.0025), "2.5 ms");
}

TEST(Document, SaysThatNothingIsGained) {
  const ReportDocument document = described(cores({0, 1, 2, 3}));
  EXPECT_EQ(document.verdict.kind, "none");
  EXPECT_THAT(document.verdict.sentence, HasSubstr("No gain"));
}

TEST(Document, SaysThatAMappingIsWorse) {
  ReportDocument document;
  describe_placements(pairs_apart(), topology("node:2=10 core:2=1"),
                      {cores({0, 2, 1, 3}), "block", cores({0, 1, 2, 3}), "bad.txt", CostModel::bytes}, document);
  write_verdict(document);
  EXPECT_EQ(document.verdict.kind, "none");
  EXPECT_THAT(document.verdict.sentence, HasSubstr("costs 10.0 times as much as the default placement"));
  EXPECT_THAT(document.verdict.sentence, HasSubstr("keep the default"));
}

TEST(Document, NamesTheHottestLinksOfATree) {
  const ReportDocument document = described(cores({0, 2, 1, 3}));
  ASSERT_EQ(document.links.size(), 4);  // up and down of two nodes
  EXPECT_EQ(document.links[0].label, "node0 → top switch");
  EXPECT_DOUBLE_EQ(document.links[0].before, 1000);
  EXPECT_DOUBLE_EQ(document.links[0].after, 0);
}

TEST(Document, LinksThatOnlyTheMappingLoadsAreShownToo) {
  ReportDocument document;
  describe_placements(pairs_apart(), topology("node:2=10 core:2=1"),
                      {cores({0, 2, 1, 3}), "block", cores({0, 1, 2, 3}), "bad.txt", CostModel::bytes}, document);
  ASSERT_FALSE(document.links.empty());
  EXPECT_DOUBLE_EQ(document.links[0].before, 0);
  EXPECT_GT(document.links[0].after, 0);
}

TEST(Document, HoldsOnlySectionsThatThereAre) {
  ReportDocument document;
  document.title = "nothing";
  const auto json = to_json(document);
  EXPECT_EQ(json.size(), 3);  // schema, title, reproduce
  EXPECT_EQ(json["schema"], "rankloom-report/1");
}

TEST(Document, IsTheSameEachTime) {
  EXPECT_EQ(to_json(described(cores({0, 2, 1, 3}))).dump(), to_json(described(cores({0, 2, 1, 3}))).dump());
}

TEST(Document, HasTheSectionsOfTheSchema) {
  const auto json = to_json(described(cores({0, 2, 1, 3})));
  EXPECT_EQ(json["traffic"]["ranks"], 4);
  EXPECT_EQ(json["traffic"]["rows"]["length"], 5);
  EXPECT_EQ(json["traffic"]["columns"]["length"], 2);
  EXPECT_EQ(json["orders"].size(), 2);
  EXPECT_EQ(json["heatmap"]["orders"][1]["borders"], nlohmann::ordered_json({0, 2}));
  EXPECT_EQ(json["heatmap"]["scale"]["max"], 1000);
  EXPECT_EQ(json["machine"]["cores"], 4);
  EXPECT_EQ(json["machine"]["templates"].size(), 1);
}

TEST(Document, SaysWhatEveryRankOccupies) {
  ReportDocument document;
  CommGraphBuilder builder(2);
  builder.add(Rank{0}, Rank{1}, 1000, 10);
  describe_placements(
      std::move(builder).build(true), topology("node:1=10 numa:2=3 gpu:1 core:2=1"),
      {cores({0, 2}), "block", cores({2, 0}), "mapping.txt", CostModel::bytes, SlotShape{.cores = 2, .gpus = 1}},
      document);
  ASSERT_EQ(document.orders.size(), 2);
  const RankSlots& slots = document.orders[1].slots;
  EXPECT_THAT(slots.leaves_of(slots.slot_of[0]), ElementsAre(Core{2}, Core{3}));
  EXPECT_THAT(slots.gpus_of(slots.slot_of[0]), ElementsAre(1));
  EXPECT_THAT(slots.leaves_of(slots.slot_of[1]), ElementsAre(Core{0}, Core{1}));
  EXPECT_THAT(slots.gpus_of(slots.slot_of[1]), ElementsAre(0));
  const auto json = to_json(document);
  EXPECT_EQ(json["orders"][1]["slots"]["slot_of"]["length"], 2);
  EXPECT_EQ(json["orders"][1]["slots"]["leaves"]["length"], 4);
  EXPECT_EQ(json["orders"][1]["slots"]["gpu_ends"]["length"], 2);
  const auto& devices = json["machine"]["templates"][0]["devices"];
  ASSERT_EQ(devices.size(), 2);
  EXPECT_EQ(devices[1]["kind"], "gpu");
  EXPECT_EQ(devices[1]["label"], "GPU 1");
  EXPECT_EQ(devices[1]["first_core"], 2);
  EXPECT_EQ(devices[1]["cores"], 2);
  EXPECT_FALSE(devices[1].contains("address"));
}

TEST(Document, RanksOfOneCoreHaveNoSlotsAndMachinesWithoutDevicesHaveNone) {
  const auto json = to_json(described(cores({0, 2, 1, 3})));
  EXPECT_FALSE(json["orders"][0].contains("slots"));
  EXPECT_FALSE(json["machine"]["templates"][0].contains("devices"));
}

TEST(Document, ProfilesTellSizesCollectivesAndTime) {
  Profile profile;
  profile.point_to_point = pairs_apart();
  profile.sizes = {{0, 3}, {64, 7}};
  profile.communicators = {{"", {}}, {"rows", {Rank{0}, Rank{1}}}};
  profile.collectives = {{0, CollectiveOp::allreduce, 0, 8, 100}, {1, CollectiveOp::bcast, 0, 1000, 1}};
  profile.activity = {{1, 3, 0}, {1, 3, 0}, {1, 3, 0}, {1, 3, 0}};
  ReportDocument document;
  describe_profile(profile, document);
  describe_traffic(pairs_apart(), document);
  write_verdict(document);
  EXPECT_EQ(document.verdict.kind, "profile");
  EXPECT_DOUBLE_EQ(*document.point_to_point, 1500);
  ASSERT_EQ(document.collectives.size(), 2);
  EXPECT_EQ(document.collectives[0].communicator, "rows");
  EXPECT_EQ(document.collectives[0].members, 2);
  EXPECT_EQ(document.collectives[1].communicator, "MPI_COMM_WORLD");
  EXPECT_DOUBLE_EQ(document.collectives[1].bytes, 800);
  EXPECT_EQ(document.sizes[1].to, 127);
  EXPECT_THAT(document.verdict.notes, ::testing::Contains(HasSubstr("25.0 % of the time is spent in MPI")));
}

TEST(Document, CountsBytesByDistanceAndMessageSize) {
  const SizeDistanceMap map = described(cores({0, 2, 1, 3})).size_distance.value();
  EXPECT_THAT(map.distances, ElementsAre("between nodes", "between cores of a node"));
  EXPECT_THAT(map.sizes, ElementsAre(64));
  EXPECT_THAT(map.before, ElementsAre(ElementsAre(1500), ElementsAre(0)));
  EXPECT_THAT(map.after, ElementsAre(ElementsAre(0), ElementsAre(1500)));
  const auto json = to_json(described({}));
  EXPECT_EQ(json["size_distance"]["distances"].size(), 1);
  EXPECT_FALSE(json["size_distance"].contains("after"));
}

TEST(Document, DescribesAMachineWithoutAProgram) {
  ReportDocument document;
  document.title = "machine";
  describe_machine(topology("torus:4x4=5,500ns core:2=7 width:bus=4"), "16 nodes, 32 cores", document);
  EXPECT_EQ(document.verdict.sentence, "16 nodes, 32 cores.");
  EXPECT_THAT(document.verdict.notes, ElementsAre(HasSubstr("one hop of the network (cost 5) is cheaper")));
  const nlohmann::json json = nlohmann::json::parse(to_json(document).dump());
  EXPECT_FALSE(json["network"].contains("before"));
  EXPECT_EQ(json["network"]["nodes"], 16);
  std::vector<std::string> numbers;
  for (const NumberRow& row : document.numbers) numbers.push_back(row.what + " | " + row.value + " | " + row.origin);
  EXPECT_THAT(numbers,
              ElementsAre("over one hop of the network | 5, latency 500 ns | stated",
                          "between cores of a node | 7 | stated", "messages at full rate on a link | 1 | assumed",
                          "messages at full rate on the memory bus of a node | 4 | stated"));
}

TEST(Document, AMachineOfDistancesAloneHasNoPicture) {
  ReportDocument document;
  describe_machine(*Topology::from_matrix(2, {0, 1, 1, 0}), "2 cores", document);
  const auto json = to_json(document);
  EXPECT_FALSE(json.contains("machine") || json.contains("network") || json.contains("numbers"));
  EXPECT_EQ(document.verdict.kind, "machine");
}

TEST(Html, ThePageHasAPlaceForTheData) {
  EXPECT_THAT(std::string(report_page()), HasSubstr("<script type=\"application/json\" id=\"rankloom-data\">"));
}

TEST(Html, DataCannotEndItsElement) {
  const std::string page =
      fill_page("<title>x</title><script type=\"application/json\" id=\"rankloom-data\"></script><p>end",
                R"({"title":"</script><!--"})", "a < b");
  EXPECT_EQ(page,
            "<title>a &lt; b</title><script type=\"application/json\" id=\"rankloom-data\">"
            "{\"title\":\"\\u003c/script>\\u003c!--\"}</script><p>end");
  EXPECT_EQ(nlohmann::json::parse(R"({"title":"\u003c/script>"})")["title"], "</script>");
}

}  // namespace
}  // namespace rankloom
