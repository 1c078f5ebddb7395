// SPDX-License-Identifier: Apache-2.0
// evaluate/simulate: the request to the simulator and its result as JSON.
#include "rankloom/evaluate/simulate/simulation_request.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "rankloom/model/files/json.hpp"
#include "rankloom/model/files/topology_json.hpp"

namespace rankloom {

namespace {

using Json = nlohmann::json;

/// Calls `fill` with the parsed JSON; missing keys are errors, because another version may have written the file.
template <class Fill>
Result<void> fill_from(const FileContents& file, const Fill& fill) {
  auto json = parse_json(file);
  if (!json) return propagate(json);
  try {
    return fill(*json);
  } catch (const std::exception& error) {
    return fail(Code::bad_input, at(file.name()),
                fmt::format("malformed message between rankloom and rankloom-simulate: {}", error.what()),
                "both programs must have the same version: build or install both again");
  }
}

}  // namespace

std::string write_request(const SimulationRequest& request) {
  Json json{{"machine", parse_json(std::string_view(write_machine_json(request.topology.spec())))},
            {"factors", Json::array()},
            {"speed", request.speed},
            {"eager", request.eager},
            {"timelines", request.timelines},
            {"jobs", Json::array()}};
  for (const CostFactor& factor : request.factors)
    json["factors"].push_back({factor.inverse_bandwidth, factor.latency});
  for (const SimulatedJob& job : request.jobs) {
    std::vector<std::uint32_t> cores;
    for (const Core core : job.core_of) cores.push_back(index(core));
    json["jobs"].push_back({{"name", job.name}, {"traces", job.traces}, {"cores", cores}, {"start", job.start}});
  }
  return dump_json(json) + "\n";
}

Result<SimulationRequest> read_request(const FileContents& file) {
  std::optional<SimulationRequest> request;
  auto filled = fill_from(file, [&](const Json& json) -> Result<void> {
    auto spec = read_machine_json(FileContents(file.name(), dump_json(json.at("machine"))));
    if (!spec) return propagate(spec);
    auto topology = Topology::build(std::move(*spec));
    if (!topology) return propagate(topology);
    request = SimulationRequest{.topology = std::move(*topology),
                                .factors = {},
                                .speed = json.at("speed"),
                                .eager = whole_number_32(json.at("eager")),
                                .jobs = {},
                                .timelines = json.at("timelines")};
    for (const Json& factor : json.at("factors")) request->factors.push_back({factor.at(0), factor.at(1)});
    for (const Json& job : json.at("jobs")) {
      SimulatedJob& simulated_job = request->jobs.emplace_back();
      simulated_job.name = job.at("name");
      simulated_job.traces = job.at("traces").get<std::vector<std::string>>();
      for (const Json& core : job.at("cores")) simulated_job.core_of.push_back(Core{whole_number_32(core)});
      simulated_job.start = job.at("start");
    }
    return check_request(*request);
  });
  if (!filled) return propagate(filled);
  return std::move(*request);
}

std::string write_result(const SimulationResult& result) {
  Json json{{"seconds", result.seconds},
            {"routes_checked", result.routes_checked},
            {"wall_seconds", result.wall_seconds},
            {"jobs", Json::array()}};
  for (const JobTimes& job : result.jobs) {
    json["jobs"].push_back(
        {{"name", job.name}, {"seconds", job.seconds}, {"start", job.start}, {"ranks", job.rank_seconds}});
    if (job.timeline) json["jobs"].back()["timeline"] = to_json(*job.timeline);
  }
  return dump_json(json) + "\n";
}

Result<SimulationResult> read_result(const FileContents& file) {
  SimulationResult result;
  auto filled = fill_from(file, [&](const Json& json) -> Result<void> {
    result.seconds = json.at("seconds");
    result.routes_checked = whole_number(json.at("routes_checked"));
    result.wall_seconds = json.at("wall_seconds");
    for (const Json& job : json.at("jobs")) {
      result.jobs.push_back(
          {job.at("name"), job.at("seconds"), job.at("start"), job.at("ranks").get<std::vector<double>>()});
      if (job.contains("timeline")) result.jobs.back().timeline = timeline_from_json(job["timeline"]);
    }
    return {};
  });
  if (!filled) return propagate(filled);
  return result;
}

Result<void> check_request(const SimulationRequest& request) {
  if (request.jobs.empty())
    return fail(Code::usage, at("simulate"), "there are no jobs", "give a mapping or at least one --job");
  for (const SimulatedJob& job : request.jobs) {
    if (job.traces.size() != job.core_of.size() || job.traces.empty()) {
      return fail(Code::bad_input, at(job.name),
                  fmt::format("the trace has {} ranks, the mapping {}", job.traces.size(), job.core_of.size()),
                  "use a mapping for this program");
    }
    for (std::size_t rank = 0; rank < job.core_of.size(); ++rank) {
      if (index(job.core_of[rank]) >= request.topology.core_count()) {
        return fail(Code::bad_input, at(job.name),
                    fmt::format("rank {} is on core {}, but the cores are 0 to {}", rank, index(job.core_of[rank]),
                                request.topology.core_count() - 1),
                    "use a mapping for this machine");
      }
    }
    if (!(job.start >= 0) || !std::isfinite(job.start))
      return fail(Code::bad_input, at(job.name), "the start time is negative or not a number",
                  "give a time of 0 or more");
  }
  return {};
}

}  // namespace rankloom
