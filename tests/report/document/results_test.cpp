// SPDX-License-Identifier: Apache-2.0
// tests of report/document: results of other verbs.
#include "rankloom/report/document/results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/report/document/document_json.hpp"
#include "rankloom/report/document/verdict.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(Results, AreToldByTheirKeys) {
  EXPECT_EQ(kind_of_result(Json::parse(R"({"mappers":[],"cost_default":1})")), ResultKind::comparison);
  EXPECT_EQ(kind_of_result(Json::parse(R"({"mappings":[]})")), ResultKind::evaluation);
  EXPECT_EQ(kind_of_result(Json::parse(R"({"mapping":[0,1]})")), ResultKind::mapping);
  EXPECT_EQ(kind_of_result(Json::parse(R"({"format":"rankloom online 1"})")), ResultKind::online);
  EXPECT_EQ(kind_of_result(Json::parse(R"({"trace":"t","policies":[]})")), ResultKind::replay);
  EXPECT_EQ(kind_of_result(Json::parse(R"({"something":1})")), std::nullopt);
  EXPECT_EQ(kind_of_result(Json::parse("[1]")), std::nullopt);
}

TEST(Results, WhatIsNoResultNamesTheVerbThatWritesOne) {
  ReportDocument document;
  const auto read = read_comparison(Json::parse(R"({"mappers":[],"cost_default":1})"), "c.json", document);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::bad_input);
  EXPECT_EQ(read.error().where.source, "c.json");
  EXPECT_THAT(read.error().what, HasSubstr("model"));
  EXPECT_THAT(read.error().hint, HasSubstr("rankloom compare --json"));
}

TEST(Results, ANumberInThePlaceOfAListIsAnError) {
  ReportDocument document;
  EXPECT_FALSE(
      read_online(Json::parse(R"({"program":"p","nodes":3,"restart":null,"missing_agents":[]})"), "o", document));
}

Json scored(const char* first, double first_cost, const char* second, double second_cost) {
  const auto row = [](const char* name, double cost) {
    return Json{{"name", name}, {"cost", cost}, {"levels", {{{"level", "node"}, {"bytes", cost}, {"messages", 1}}}}};
  };
  return {{"model", "bytes"}, {"profile", "p"}, {"mappings", {row(first, first_cost), row(second, second_cost)}}};
}

TEST(Results, EvaluationsAreComparedWithTheDefaultOrderWhereItIsThere) {
  ReportDocument document;
  ASSERT_TRUE(read_evaluation(scored("good.txt", 50, "block", 100), "eval.json", document));
  write_verdict(document);
  EXPECT_EQ(document.verdict.sentence,
            "good.txt: 50.0 % less cost than the default placement (model bytes). Not measured.");
}

TEST(Results, EvaluationsWithoutTheDefaultOrderDoNotPretendToKnowIt) {
  ReportDocument document;
  ASSERT_TRUE(read_evaluation(scored("a.txt", 50, "b.txt", 100), "eval.json", document));
  write_verdict(document);
  EXPECT_EQ(document.verdict.kind, "none");
  EXPECT_EQ(document.verdict.sentence, "b.txt costs 100.0 % more than a.txt (model bytes): keep a.txt.");
}

TEST(Results, AGainIsOneOverTheDefaultPlacementOnly) {
  ReportDocument document;
  ASSERT_TRUE(read_evaluation(scored("random", 100, "b.txt", 50), "eval.json", document));
  write_verdict(document);
  EXPECT_EQ(document.verdict.kind, "comparison");
  EXPECT_EQ(document.verdict.sentence, "b.txt: 50.0 % less cost than random (model bytes). Not measured.");
}

TEST(Results, OfSeveralMappingsTheBestIsComparedWithTheDefaultPlacement) {
  Json json = scored("block", 100, "good.txt", 50);
  json["mappings"].push_back(scored("random", 200, "", 0)["mappings"][0]);
  ReportDocument document;
  ASSERT_TRUE(read_evaluation(json, "eval.json", document));
  write_verdict(document);
  EXPECT_THAT(document.verdict.sentence, HasSubstr("good.txt: 50.0 % less cost"));
}

TEST(Results, LessCostIsNoGainIfTheCommunicationIsExpectedToBeSlower) {
  Json json = scored("block", 100, "good.txt", 50);
  json["mappings"][0]["predicted_seconds"] = 1;
  json["mappings"][1]["predicted_seconds"] = 2;
  json["mappings"][0]["bottlenecks"] =
      Json::array({Json::object({{"name", "uplink of switch 0, in"}, {"bytes", 1e9}, {"seconds", 1}})});
  json["mappings"][1]["bottlenecks"] =
      Json::array({Json::object({{"name", "node 3's card, out"}, {"bytes", 1e9}, {"seconds", 2}})});
  ReportDocument document;
  ASSERT_TRUE(read_evaluation(json, "eval.json", document));
  write_verdict(document);
  EXPECT_EQ(document.verdict.kind, "none");
  EXPECT_THAT(document.verdict.sentence, HasSubstr("predicted 0.50 times as fast: keep the default placement"));
  EXPECT_EQ(document.verdict.notes[0],
            "Limited before by uplink of switch 0, in: 1 GB in 1 s. Limited after by node 3's card, out: 1 GB in 2 s.");
}

TEST(Results, TheDefaultPlacementOfAnEvaluationIsThatOfItsLauncher) {
  Json json = scored("good.txt", 50, "round-robin:level=package", 100);
  json["default_placement"] = "round-robin:level=package";
  ReportDocument document;
  ASSERT_TRUE(read_evaluation(json, "eval.json", document));
  write_verdict(document);
  EXPECT_EQ(document.orders[0].label, "default placement (round-robin:level=package)");
  EXPECT_EQ(document.verdict.sentence,
            "good.txt: 50.0 % less cost than the default placement (model bytes). Not measured.");
}

TEST(Results, AnEvaluationOfOneMappingClaimsNothingAboutTheDefaultPlacement) {
  Json json = scored("random", 100, "", 0);
  json["mappings"].erase(1);
  ReportDocument document;
  ASSERT_TRUE(read_evaluation(json, "eval.json", document));
  write_verdict(document);
  EXPECT_EQ(document.verdict.kind, "comparison");
  EXPECT_THAT(document.verdict.sentence, HasSubstr("The cost of the default placement is not known"));
}

Json compared(const std::string& graph, const std::string& machine, double cost_default, double cost) {
  return {{"version", "1"},
          {"profile", "p"},
          {"slots", 4},
          {"graph_digest", graph},
          {"machine_digest", machine},
          {"model", "bytes"},
          {"seed", 0},
          {"runs", 1},
          {"cost_default", cost_default},
          {"lower_bound", cost / 2},
          {"mappers",
           {{{"mapper", "random"}, {"cost", cost}, {"cost_spread", 0}, {"time_ms", 1}, {"note", ""}},
            {{"mapper", "auto"}, {"cost", cost * 0.9}, {"cost_spread", 0}, {"time_ms", 1}, {"note", ""}}}},
          {"skipped", Json::array()}};
}

TEST(Results, OfDifferentProblemsAreNotMixed) {
  const Json first = compared("a", "m", 100, 100);
  for (const auto& [key, value, what] :
       {std::tuple{"graph_digest", Json("b"), "communication graph"},
        std::tuple{"machine_digest", Json("n"), "machine"}, std::tuple{"slots", Json(8), "number of slots"},
        std::tuple{"model", Json("time"), "cost model"}}) {
    Json second = first;
    second[key] = value;
    ReportDocument document;
    ASSERT_TRUE(read_comparison(first, "c1.json", document));
    const auto read = read_comparison(second, "c2.json", document);
    ASSERT_FALSE(read) << key;
    EXPECT_EQ(read.error().code, Code::usage);
    EXPECT_EQ(read.error().where.source, "c2.json");
    EXPECT_THAT(read.error().what, HasSubstr(what));
    EXPECT_THAT(read.error().what, HasSubstr("than that of c1.json"));
  }
}

TEST(Results, OfOneProblemShareTheTightestBoundAndTheBestMapper) {
  ReportDocument document;
  ASSERT_TRUE(read_comparison(compared("a", "m", 100, 100), "c1.json", document));
  ASSERT_TRUE(read_comparison(compared("a", "m", 100, 90), "c2.json", document));
  EXPECT_EQ(document.mappers.size(), 4U);
  EXPECT_EQ(document.lower_bound, 50);
  write_verdict(document);
  EXPECT_EQ(document.verdict.sentence, "auto saves 19.0 % of the cost of the default placement (model bytes).");
}

TEST(Results, OfOlderVersionsAreShownAloneOnly) {
  Json old = compared("a", "m", 100, 100);
  old.erase("graph_digest");
  ReportDocument document;
  ASSERT_TRUE(read_comparison(old, "old.json", document));
  const auto read = read_comparison(compared("a", "m", 100, 100), "new.json", document);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().where.source, "old.json");
}

TEST(Results, ABoundThatSaysNothingIsLeftOut) {
  for (const double bound : {0.0, 0.01}) {
    Json json = compared("a", "m", 100, 100);
    json["lower_bound"] = bound;
    ReportDocument document;
    ASSERT_TRUE(read_comparison(json, "c.json", document));
    write_verdict(document);
    EXPECT_FALSE(document.lower_bound);
    EXPECT_FALSE(to_json(document).contains("lower_bound"));
  }
}

TEST(Results, TellWhichVersionWroteThem) {
  ReportDocument document;
  document.reproduce.version = "rankloom 2";
  ASSERT_TRUE(read_comparison(compared("a", "m", 100, 100), "c.json", document));
  EXPECT_THAT(document.verdict.notes, ElementsAre("c.json was written by rankloom 1."));
}

const char* const tuned = R"({"command":"mpirun -n 4 ./app","folder":"app.tune","speedup":1.26,"speedup_low":1.24,
  "speedup_high":1.28,"speedup_spread":0.02,"confidence":0.98,"verdict":"faster","measured_speedup":1.26,
  "verified":true,"before_seconds":[1.2,1.3],"after_seconds":[1.0,0.98],"gain":true,"use":"mpirun --rankfile f ./app"})";

TEST(Results, TuneSaysItsGainWithItsInterval) {
  ReportDocument document;
  ASSERT_TRUE(read_tune(Json::parse(tuned), "result.json", document));
  EXPECT_EQ(document.verdict.sentence,
            "1.26 times faster than the default placement (1.24 to 1.28 with 98 % confidence, 2 runs each).");
  EXPECT_THAT(document.verdict.commands, ElementsAre("mpirun --rankfile f ./app"));
  write_verdict(document);
  EXPECT_THAT(document.verdict.sentence, HasSubstr("1.24 to 1.28"));  // what was measured stays
}

TEST(Results, TuneResultsWithoutAnIntervalAreReadToo) {
  Json json = Json::parse(tuned);
  for (const char* const key : {"speedup_low", "speedup_high", "confidence", "verdict", "measured_speedup"})
    json.erase(key);
  ReportDocument document;
  ASSERT_TRUE(read_tune(json, "result.json", document));
  EXPECT_EQ(document.verdict.sentence, "1.26 times faster than the default placement (± 0.02, 2 runs each).");
}

TEST(Results, TuneWithoutGainSaysSoAndWhy) {
  Json json = Json::parse(tuned);
  json["gain"] = false;
  json["verdict"] = "same";
  json["reason"] = "runs differ more by themselves";
  json.erase("use");
  ReportDocument document;
  ASSERT_TRUE(read_tune(json, "result.json", document));
  EXPECT_EQ(document.verdict.kind, "none");
  EXPECT_THAT(document.verdict.sentence, HasSubstr("No measurable difference (1.26 times as fast: 1.24 to 1.28"));
  EXPECT_THAT(document.verdict.notes, ::testing::Contains("Why: runs differ more by themselves."));
  json["verdict"] = "faster_not_by_placement";
  json["measured_speedup"] = 1.56;
  ReportDocument other;
  ASSERT_TRUE(read_tune(json, "result.json", other));
  EXPECT_THAT(other.verdict.sentence, HasSubstr("Faster, but not because of the placement (1.56 times as fast"));
}

TEST(Results, TuneSaysRatesAndHardwareThreads) {
  Json json = Json::parse(tuned);
  json["before_rates"] = json["before_seconds"];
  json["after_rates"] = json["after_seconds"];
  json["rate_unit"] = "GB/s";
  json["threads_per_core"] = 1;
  for (const char* const key : {"before_seconds", "after_seconds"}) json.erase(key);
  ReportDocument document;
  ASSERT_TRUE(read_tune(json, "result.json", document));
  EXPECT_EQ(document.verdict.sentence,
            "With 1 hardware thread per core: 1.26 times the rate of the default placement (1.24 to 1.28 with 98 % "
            "confidence, 2 runs each).");
  EXPECT_EQ(document.verdict.measured->unit, "GB/s");
}

TEST(Results, TuneListsTheCandidatesThatRan) {
  Json json = Json::parse(tuned);
  json["candidates"] = Json::parse(R"([
    {"goal":"predicted","nodes":4,"predicted_seconds":1,"seconds":[1.5,1.25,9],"chosen":true},
    {"goal":"time","nodes":1,"predicted_seconds":2,"seconds":[],"chosen":false},
    {"goal":"bytes","nodes":2,"predicted_seconds":3,"seconds":[],"chosen":false,"status":9}])");
  ReportDocument document;
  ASSERT_TRUE(read_tune(json, "result.json", document));
  EXPECT_THAT(
      document.verdict.notes,
      ::testing::Contains("Candidates that ran before the comparison, which uses other runs: predicted on 4 "
                          "nodes 1.5 s (chosen); time on 1 node not run; bytes on 2 nodes exited with status 9."));
  json["candidates"][0].erase("goal");
  ReportDocument other;
  EXPECT_FALSE(read_tune(json, "result.json", other));
}

TEST(Results, OnlineLogsTellPhasesMovesAndTheirEffect) {
  const Json log = Json::parse(R"({"format":"rankloom online 1","program":"./app","missing_agents":["b"],
    "restart":{"cost":3,"cost_mapped":2},"nodes":[{"host":"a","window":0.1,"seconds":2,"windows":20,"ranks":[0,1],
      "phases":[{"kind":"A","begin":0,"end":1},{"kind":"B","begin":1,"end":2}],
      "migrations":[{"time":1.2,"bound":2,"failed":0}],
      "decisions":[{"time":1.2,"cost_per_second":10,"cost_per_second_moved":4,"moves":true},
                   {"time":1.8,"cost_per_second":4,"cost_per_second_moved":3,"moves":false}],
      "effect":{"online":8,"stayed":10}}]})");
  ASSERT_EQ(kind_of_result(log), ResultKind::online);
  ReportDocument document;
  ASSERT_TRUE(read_online(log, "online.json", document));
  const OnlineNode& node = document.online->nodes[0];
  EXPECT_EQ(node.phases[1].kind, "B");
  EXPECT_THAT(node.cost_online, ElementsAre(4, 4));  // the second decision was to stay
  write_verdict(document);
  EXPECT_EQ(document.verdict.sentence, "Migrating ranks once saved 20.0 % of the communication cost, by the model.");
  EXPECT_THAT(document.verdict.notes, ::testing::Contains("The agent of b left no log."));
}

Json replayed() {
  return Json::parse(R"({"trace":"jobs.swf","nodes":4,"policies":[{"policy":"first-fit","jobs":2,"utilisation":0.5,
    "contention_free":0.5,"bounded_slowdown":2,"mean_wait_s":60,"job_list":[
      {"id":"1","size":3,"submit":0,"start":0,"end":10,"nodes":"0-1,3","shares_links":true},
      {"id":"2","size":1,"submit":1,"start":2,"end":4,"nodes":"2","shares_links":false}]}]})");
}

TEST(Results, ReplayedJobsKnowTheirNodes) {
  ReportDocument document;
  ASSERT_TRUE(read_replay(replayed(), "replay.json", document));
  const PolicyRow& policy = document.allocation->policies[0];
  EXPECT_THAT(policy.jobs[0].nodes, ElementsAre(0, 1, 3));
  EXPECT_TRUE(policy.jobs[0].shares_links);
  const auto json = allocation_json(*document.allocation)["policies"][0];
  EXPECT_EQ(json["jobs"][0]["nodes"], "0-1,3");
  EXPECT_EQ(json["busy"]["time"].dump(), "[0.0,2.0,4.0,10.0]");
  EXPECT_EQ(json["busy"]["nodes"].dump(), "[3,4,3,0]");
}

TEST(Results, CountsAreWholeNumbers) {
  for (const char* const count : {"-1", "1e300", "2.5", "99999999999", "true", "\"3\""}) {
    Json json = replayed();
    json["policies"][0]["job_list"][1]["size"] = Json::parse(count);
    ReportDocument document;
    EXPECT_FALSE(read_replay(json, "replay.json", document)) << count;
  }
}

TEST(Results, AShortListOfNodesDoesNotBecomeGigabytes) {
  Json json = replayed();
  json["nodes"] = 4'000'000'000;
  json["policies"][0]["job_list"][1]["nodes"] = "0-3999999999";
  ReportDocument document;
  EXPECT_FALSE(read_replay(json, "replay.json", document));
}

TEST(Results, ANodeThatTheMachineDoesNotHaveIsAnError) {
  for (const char* const nodes : {"4", "0-9", "2-1", "x", "1,,2", "-1"}) {
    Json json = replayed();
    json["policies"][0]["job_list"][1]["nodes"] = nodes;
    ReportDocument document;
    const auto read = read_replay(json, "replay.json", document);
    ASSERT_FALSE(read) << nodes;
    EXPECT_EQ(read.error().where.source, "replay.json");
  }
}

TEST(Results, RangesAreShort) {
  EXPECT_EQ(ranges({}), "");
  EXPECT_EQ(ranges({5}), "5");
  EXPECT_EQ(ranges({8, 0, 2, 1}), "0-2,8");
}

}  // namespace
}  // namespace rankloom
