// SPDX-License-Identifier: Apache-2.0
// evaluate/simulate: simulations with SimGrid.
#include "rankloom/evaluate/simulate/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/temporary_directory.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/evaluate/simulate/calibrate.hpp"
#include "rankloom/evaluate/simulate/traces.hpp"
#include "rankloom/model/prediction/flow_prediction.hpp"
#include "rankloom/model/prediction/predict.hpp"

namespace rankloom {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

const SimulationOptions with_simulator{.simulator = RANKLOOM_SIMULATE};

class Simulation : public ::testing::Test {
 protected:
  /// A job whose ranks have these traces.
  SimulatedJob job(const std::vector<std::string>& texts, std::vector<Core> cores) {
    SimulatedJob made{.name = fmt::format("job{}", jobs_++), .traces = {}, .core_of = std::move(cores), .start = 0};
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
      made.traces.push_back(directory_->file(fmt::format("{}.{}.txt", made.name, rank)));
      EXPECT_TRUE(write_file(made.traces.back(), texts[rank]));
    }
    return made;
  }
  /// Rank 0 sends this many bytes to rank 1.
  SimulatedJob message(double bytes, Core from, Core to) {
    return job({fmt::format("0 init\n0 send 1 0 {:.0f} 6\n0 finalize\n", bytes),
                fmt::format("1 init\n1 recv 0 0 {:.0f} 6\n1 finalize\n", bytes)},
               {from, to});
  }
  SimulationResult result(const Topology& topology, std::vector<SimulatedJob> jobs, const ChannelSpec& channels = {}) {
    const SimulationRequest request{
        .topology = *topology.with_channels(channels), .factors = {}, .speed = 1, .jobs = std::move(jobs)};
    auto results = simulate(std::span(&request, 1), with_simulator, Progress::none());
    EXPECT_TRUE(results) << (results ? "" : to_string(results.error()));
    return results ? results->front() : SimulationResult{};
  }
  double seconds(const Topology& topology, std::vector<SimulatedJob> jobs, const ChannelSpec& channels = {}) {
    return result(topology, std::move(jobs), channels).seconds;
  }

  Result<TemporaryDirectory> directory_ = TemporaryDirectory::make();
  int jobs_ = 0;
};

TEST_F(Simulation, APingPongOnEachLevelTakesTheTimeOfTheTopology) {
  for (const char* text :
       {"switch:2=4.1,3us node:3=3.7,2us package:2=2,300ns core:4=1,100ns", "torus:4x3=2,1us core:2=1,100ns",
        "fattree:4,4/2,1=2,1us core:2=1,100ns", "dragonfly:4,2,2=2,500ns core:2=1,100ns"}) {
    const auto found = calibrate(*load_topology(text), with_simulator, Progress::none());
    ASSERT_TRUE(found) << to_string(found.error());
    EXPECT_GE(found->pairs.size(), 3) << text;
    EXPECT_LT(found->max_deviation(), 1e-6) << text;
    for (const CalibratedPair& pair : found->pairs) {
      EXPECT_NEAR(pair.uncalibrated.inverse_bandwidth / pair.expected.inverse_bandwidth, 1, 1e-6) << text;
      EXPECT_NEAR(pair.uncalibrated.latency / pair.expected.latency, 1, 1e-4) << text;
    }
  }
}

TEST_F(Simulation, ATimelineHasTheTimesOfTheSimulation) {
  const Topology topology = *load_topology("node:2=10,2us core:2=1,100ns");
  // Rank 1 computes 30 ms and sends 1 MB, which takes 10 ms; rank 0 computes 5 ms before it receives.
  SimulationRequest request{.topology = topology, .timelines = true};
  request.jobs.push_back(job({"0 init\n0 compute 5000000\n0 irecv 1 0 1000000 6\n0 wait 1 0 0\n0 finalize\n",
                              "1 init\n1 compute 30000000\n1 send 0 0 1000000 6\n1 finalize\n"},
                             {Core{0}, Core{2}}));
  auto results = simulate(std::span(&request, 1), with_simulator, Progress::none());
  ASSERT_TRUE(results) << to_string(results.error());
  const auto& timeline = results->front().jobs[0].timeline;
  ASSERT_TRUE(timeline);
  EXPECT_NEAR(timeline->seconds, results->front().seconds, 1e-9);
  EXPECT_NEAR(timeline->rank_compute[0], 0.005, 1e-6);
  EXPECT_NEAR(timeline->rank_wait[0], 0.025, 1e-5);
  EXPECT_NEAR(timeline->rank_transfer[0], 0.010, 1e-5);
  EXPECT_NEAR(timeline->rank_compute[1], 0.030, 1e-6);
  ASSERT_EQ(timeline->path.size(), 2);
  EXPECT_EQ(timeline->path[0].to, 1);
  EXPECT_EQ(timeline->path[1].kind, PathStep::Kind::message);
  EXPECT_NEAR(timeline->path_messages[0], 0.010, 1e-5) << "between nodes";
}

TEST_F(Simulation, TwoMessagesOnOneChannelTakeTwiceAsLongAndOnTwoChannelsDoNot) {
  const Topology topology = *load_topology("node:4=10,2us core:2=1,100ns");
  const double alone = seconds(topology, {message(1e6, Core{0}, Core{2})});
  EXPECT_NEAR(alone, 2e-6 + 1e6 * 10e-9, 1e-9);
  EXPECT_NEAR(seconds(topology, {message(1e6, Core{0}, Core{2}), message(1e6, Core{1}, Core{4})}), 2e-6 + 2e6 * 10e-9,
              1e-6);
  EXPECT_NEAR(seconds(topology, {message(1e6, Core{0}, Core{2}), message(1e6, Core{4}, Core{6})}), alone, 1e-9);
  EXPECT_NEAR(seconds(topology, {message(1e6, Core{0}, Core{2}), message(1e6, Core{3}, Core{1})}), alone, 1e-9)
      << "outgoing and incoming channels are separate";
  EXPECT_NEAR(
      seconds(topology, {message(1e6, Core{0}, Core{2}), message(1e6, Core{1}, Core{4})}, {.widths = {{"node", 2}}}),
      alone, 1e-9);
}

TEST_F(Simulation, TwoLevelsMayHaveTheSameName) {
  const Topology topology = *load_topology("switch:2=30,3us switch:2=20,2us node:2=10,1us core:2=1,100ns");
  EXPECT_NEAR(seconds(topology, {message(1e6, Core{0}, Core{15})}), 3e-6 + 1e6 * 30e-9, 1e-9);
  EXPECT_NEAR(seconds(topology, {message(1e6, Core{0}, Core{5})}), 2e-6 + 1e6 * 20e-9, 1e-9);
  EXPECT_NEAR(seconds(topology, {message(1e6, Core{0}, Core{15}), message(1e6, Core{5}, Core{9})}), 3e-6 + 2e6 * 30e-9,
              1e-6)
      << "both leave the upper switch";
}

TEST_F(Simulation, JobsSlowEachOtherDownOnlyOnSharedLinks) {
  const Topology line = *load_topology("mesh:4=10,1us core:1");
  const auto times = [&](Core a, Core b, Core c, Core d) {
    return result(line, {message(1e6, a, b), message(1e6, c, d)}).jobs;
  };
  const auto isolated = times(Core{0}, Core{1}, Core{2}, Core{3});
  EXPECT_NEAR(isolated[0].seconds, 1e-6 + 1e6 * 10e-9, 1e-9);
  EXPECT_NEAR(isolated[1].seconds, isolated[0].seconds, 1e-9);
  // Both routes use the link between nodes 1 and 2. A single message uses half of its rate, so that three messages
  // share it.
  const auto three =
      result(line, {message(1e6, Core{0}, Core{2}), message(1e6, Core{1}, Core{3}), message(1e6, Core{1}, Core{2})});
  EXPECT_GT(three.jobs[0].seconds, 1.2 * (2e-6 + 1e6 * 20e-9));
}

TEST_F(Simulation, AJobCanStartLater) {
  const Topology topology = *load_topology("node:2=10,2us core:1");
  SimulatedJob late = message(1e6, Core{0}, Core{1});
  late.start = 1;
  const auto both = result(topology, {message(1e6, Core{0}, Core{1}), late});
  EXPECT_NEAR(both.jobs[0].seconds, both.jobs[1].seconds, 1e-9);
  EXPECT_NEAR(both.seconds, 1 + both.jobs[1].seconds, 1e-9);
}

TEST_F(Simulation, WorkDependsOnTheSpeedOfTheProcessor) {
  const Topology topology = *load_topology("node:1 core:2=1");
  const SimulatedJob work =
      job({"0 init\n0 compute 1000000\n0 finalize\n", "1 init\n1 compute 3000000\n1 finalize\n"}, {Core{0}, Core{1}});
  EXPECT_NEAR(seconds(topology, {work}), 3e-3, 1e-9);
  SimulatedJob shared = work;
  shared.core_of = {Core{0}, Core{0}};
  EXPECT_NEAR(seconds(topology, {shared}), 4e-3, 1e-9) << "two ranks on a core share it";
}

TEST_F(Simulation, IsDeterministic) {
  const Profile profile = *generate("stencil2d:size=6x6,block=64x64,shuffle");
  const auto trace = synthesise_trace(profile, {.iterations = 2}, directory_->path());
  SimulatedJob stencil{.name = "stencil", .traces = trace->files, .core_of = {}, .start = 0};
  for (std::uint32_t rank = 0; rank < 36; ++rank) stencil.core_of.push_back(Core{rank});
  const Topology topology = *load_topology("torus:3x3=2,1us core:4=1,100ns");
  const auto once = result(topology, {stencil});
  EXPECT_EQ(once.jobs[0].rank_seconds, result(topology, {stencil}).jobs[0].rank_seconds);
  EXPECT_EQ(once.routes_checked, 36 * 36);
}

TEST_F(Simulation, ThePredictionByFlowsIsClose) {
  std::vector<double> errors;
  for (const char* const program : {"stencil2d:size=6x6,block=200x200,shuffle", "groups:groups=6,per-group=6,expanded",
                                    "random:ranks=36,degree=5,weights=random,heaviest=1000000,directed,seed=5"}) {
    const Profile profile = *generate(program);
    TemporaryDirectory folder = *TemporaryDirectory::make();
    const auto trace = synthesise_trace(profile, {.iterations = 4, .compute = false}, folder.path());
    ASSERT_TRUE(trace);
    for (const char* const machine :
         {"switch:2=4,3us node:3=3,2us core:6=1,100ns", "switch:2=4,3us node:3=3,2us core:6=1,100ns width:node=2,bus=3",
          "torus:3x3=2,1us core:4=1,100ns", "fattree:3,4/1,2=2,1us core:4=1,100ns"}) {
      const Topology topology = *load_topology(machine);
      for (const std::uint32_t stride : {1U, 5U, 7U}) {
        SimulatedJob job{.name = "job", .traces = trace->files, .core_of = {}, .start = 0};
        for (std::uint32_t rank = 0; rank < 36; ++rank) job.core_of.push_back(Core{rank * stride % 36});
        const SimulationRequest request{
            .topology = topology, .factors = {}, .eager = SyntheticTrace::eager, .jobs = {job}};
        const auto results = simulate(std::span(&request, 1), with_simulator, Progress::none());
        ASSERT_TRUE(results) << to_string(results.error());
        const double simulated = results->front().seconds * trace->rounds / 4;
        const double predicted = *predict_by_flows(profile.point_to_point, *Platform::of(topology), job.core_of);
        errors.push_back(std::abs(predicted / simulated - 1));
        EXPECT_LT(errors.back(), 0.1) << program << ", " << machine << ", stride " << stride;
      }
    }
  }
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  EXPECT_LT(*middle, 0.02);
}

TEST_F(Simulation, EqualsSmpirun) {
  if (std::system("command -v smpirun >/dev/null") != 0) GTEST_SKIP() << "the Debian package simgrid is missing";
  const Profile profile = *generate("random:ranks=4,degree=3,weights=random,heaviest=1000000,directed,seed=5");
  const auto trace = synthesise_trace(profile, {.iterations = 3}, directory_->path());
  ASSERT_TRUE(trace);
  std::string list, platform =
                        "<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\"><platform "
                        "version=\"4.1\">"
                        "<zone id=\"z\" routing=\"Full\">";
  // SMPI adds 16 bytes to each message: 160 ns of the 2 µs.
  for (int n = 0; n < 4; ++n)
    platform += fmt::format(
        "<host id=\"h{0}\" speed=\"1Gf\"/><link id=\"out{0}\" bandwidth=\"100MBps\" latency=\"1840ns\"/>"
        "<link id=\"in{0}\" bandwidth=\"100MBps\" latency=\"0ns\"/>",
        n);
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b)
      if (a != b)
        platform += fmt::format(
            "<route src=\"h{0}\" dst=\"h{1}\" symmetrical=\"NO\"><link_ctn id=\"out{0}\"/><link_ctn "
            "id=\"in{1}\"/></route>",
            a, b);
  platform += "</zone></platform>";
  for (const std::string& file : trace->files) list += file + "\n";
  ASSERT_TRUE(write_file(directory_->file("platform.xml"), platform));
  ASSERT_TRUE(write_file(directory_->file("list.txt"), list));
  ASSERT_TRUE(write_file(directory_->file("hosts.txt"), "h0\nh1\nh2\nh3\n"));
  const std::string said = directory_->file("said.txt");
  const std::string command = fmt::format(
      "timeout 60 smpirun -np 4 -platform {0}/platform.xml -hostfile {0}/hosts.txt -replay {0}/list.txt "
      "--cfg=smpi/bw-factor:0:1.0 --cfg=smpi/lat-factor:0:1.0 --cfg=network/TCP-gamma:0 --cfg=network/crosstraffic:0 "
      "--cfg=smpi/host-speed:1Gf >{1} 2>&1",
      directory_->path(), said);
  ASSERT_EQ(std::system(command.c_str()), 0) << read_file(said)->view();
  const std::string text(read_file(said)->view());
  const std::size_t at = text.find("Simulation time ");
  ASSERT_NE(at, std::string::npos) << text;
  const double theirs = std::stod(text.substr(at + 16));
  const double ours = seconds(
      *load_topology("node:4=10,2us core:1"),
      {{.name = "random", .traces = trace->files, .core_of = {Core{0}, Core{1}, Core{2}, Core{3}}, .start = 0}});
  EXPECT_NEAR(ours, theirs, 2e-5 * theirs);
}

TEST_F(Simulation, ReportsErrors) {
  const Topology topology = *load_topology("node:2=10 core:1");
  const auto error_of = [&](SimulatedJob one, SimulationOptions options = with_simulator) {
    const SimulationRequest request{.topology = topology, .factors = {}, .speed = 1, .jobs = {std::move(one)}};
    auto results = simulate(std::span(&request, 1), options, Progress::none());
    EXPECT_FALSE(results);
    return results ? Error{Code::usage, {}, "", ""} : results.error();
  };
  const SimulatedJob sound = message(1e6, Core{0}, Core{1});
  SimulatedJob other_size = sound;
  other_size.core_of.push_back(Core{0});
  EXPECT_THAT(error_of(other_size).what, HasSubstr("the trace has 2 ranks, the mapping 3"));
  SimulatedJob outside = sound;
  outside.core_of[1] = Core{7};
  EXPECT_THAT(error_of(outside).what, HasSubstr("rank 1 is on core 7"));
  const Error missing = error_of(sound, {.simulator = ""});
  EXPECT_EQ(missing.code, Code::environment);
  EXPECT_THAT(missing.hint, HasSubstr("install SimGrid"));
  const Error unknown = error_of(job({"0 init\n0 dance 1\n0 finalize\n", "1 init\n1 finalize\n"}, {Core{0}, Core{1}}));
  EXPECT_THAT(unknown.what, ContainsRegex("failed with exit status [0-9]+:"));
  const Error waiting =
      error_of(job({"0 init\n0 recv 1 0 10 6\n0 finalize\n", "1 init\n1 finalize\n"}, {Core{0}, Core{1}}));
  EXPECT_THAT(waiting.what, HasSubstr("eadlock")) << "no rank sends";
  std::string endless = "0 init\n";
  for (int i = 0; i < 200'000; ++i) endless += "0 compute 1\n";
  const Error slow = error_of(job({endless, "1 init\n"}, {Core{0}, Core{1}}),
                              {.simulator = RANKLOOM_SIMULATE, .time_limit = std::chrono::milliseconds(30)});
  EXPECT_THAT(slow.what, HasSubstr("did not end within"));
  EXPECT_THAT(error_of(sound, {.simulator = "/bin/false"}).what, HasSubstr("exit status 1 and without a message"));
}

}  // namespace
}  // namespace rankloom
