// SPDX-License-Identifier: Apache-2.0
// apps/arguments: the options of every verb that predicts times.
#include "apps/rankloom/arguments/simulation_arguments.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/evaluate/simulate/calibrate.hpp"
#include "rankloom/evaluate/simulate/traces.hpp"
#include "rankloom/model/graph/traffic_parts.hpp"

namespace rankloom::app {

namespace {

Result<void> set_count(std::string_view option, std::string_view text, double max, std::uint32_t& field) {
  const auto number = parse_number(text);
  if (!number || *number < 1 || *number > max || *number != std::floor(*number))
    return bad_value(option, text, fmt::format("a whole number from 1 to {}", max));
  field = static_cast<std::uint32_t>(*number);
  return {};
}

}  // namespace

std::string ReplaySource::summary() const {
  if (!synthesised) return "the recorded trace";
  const std::string rounds = format_count(std::round(synthesised->rounds));
  if (synthesised->iterations == 1 && rounds == "1") return "one round with all traffic of the profile";
  if (synthesised->iterations <= synthesised->rounds)
    return fmt::format("{} of {} rounds synthesised from the profile", synthesised->iterations, rounds);
  return fmt::format("{} rounds synthesised from the profile, which has {}", synthesised->iterations, rounds);
}

Json ReplaySource::json() const {
  Json json{{"source", source}};
  if (synthesised)
    json.update({{"iterations", synthesised->iterations},
                 {"rounds", synthesised->rounds},
                 {"messages", synthesised->messages}});
  return json;
}

void SimulationArguments::describe_replay(CLI::App& app) {
  add_text(app,
           {"--trace", "TRACE", "a trace of `record --trace`, replayed instead of rounds synthesised from the profile",
            "prediction"},
           trace);
  add_value(
      app,
      {"--iterations", "N", "how many rounds (iterations) of messages and collectives are synthesised from the profile",
       "prediction", "1"},
      [this](std::string_view text) -> Result<void> {
        return set_count("--iterations", text, 1e6, synthesis.iterations);
      });
  add_value(app,
            {"--compute", "profile|none|TIME",
             "computation of a rank per round: the time outside MPI in the profile (if recorded), none, or this time, "
             "scaled by the loads of the ranks if the profile has any",
             "prediction", "profile"},
            [this](std::string_view text) -> Result<void> {
              const auto nanoseconds = parse_nanoseconds(text, 1e9);
              if (text != "profile" && text != "none" && (!nanoseconds || *nanoseconds < 0 || *nanoseconds > 1e18))
                return bad_value("--compute", text, "profile, none, or a time such as 2ms");
              synthesis.compute = text == "profile";
              synthesis.work.reset();
              if (nanoseconds) synthesis.work = *nanoseconds * 1e-9;
              return {};
            });
  add_value(app,
            {"--speed", "X", "speed of the processors relative to those of the recording: 2 is twice as fast",
             "prediction", "1"},
            [this](std::string_view text) -> Result<void> {
              const auto number = parse_number(text);
              if (!number || !(*number > 0) || *number > 1e6) return bad_value("--speed", text, "a number above 0");
              speed = *number;
              return {};
            });
  add_text(app, {"--calibration", "FILE", "a calibration of `simulate --calibrate -o FILE`", "prediction"},
           calibration);
  add_value(app, {"--time-limit", "TIME", "time limit for each simulation", "prediction", "10min"},
            [this](std::string_view text) -> Result<void> {
              const auto nanoseconds = parse_nanoseconds(text, 1e9);
              if (!nanoseconds || *nanoseconds < 1e6 || *nanoseconds > 1e18)
                return bad_value("--time-limit", text, "a time such as 30s or 10min");
              options.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(*nanoseconds / 1e6));
              return {};
            });
  add_value(app, {"--at-once", "N", "how many simulations run in parallel", "prediction", "one per processor"},
            [this](std::string_view text) -> Result<void> {
              return set_count("--at-once", text, 4096, options.max_processes);
            });
}

Result<void> SimulationArguments::prepare() {
  options.simulator = find_installed("rankloom-simulate").value_or("");
  options.install_hint = how_to_install("rankloom-simulate", Software::simgrid_dev);
  if (calibration.empty()) return {};
  auto file = read_file(calibration);
  if (!file) return propagate(file);
  auto read = read_calibration(*file);
  if (!read) return propagate(read);
  factors = *std::move(read);
  return {};
}

Result<ReplaySource> SimulationArguments::replay_source(const ProfileArguments& from, const Profile& profile,
                                                        std::string_view format) const {
  ReplaySource result;
  if (!trace.empty() || format == "ti") {
    if (!trace.empty()) {
      // The importer checks every line, and its error names the wrong one.
      auto imported = import_path(trace, "ti");
      if (!imported) return propagate(imported);
      if (imported->profile.rank_count() != profile.rank_count()) {
        return fail(Code::bad_input, at(trace),
                    fmt::format("the trace has {} ranks, but the profile has {}", imported->profile.rank_count(),
                                profile.rank_count()),
                    "name the trace that was recorded with this profile");
      }
    }
    auto files = trace_files(trace.empty() ? from.profile : trace, profile.rank_count());
    if (!files) return propagate(files);
    result.files = std::move(*files);
    result.source = "trace";
    return result;
  }
  auto directory = TemporaryDirectory::make();
  if (!directory) return propagate(directory);
  result.directory = std::make_shared<TemporaryDirectory>(std::move(*directory));
  SynthesisOptions synthesis_options = synthesis;
  synthesis_options.collectives = from.collectives;
  auto synthesised = synthesise_trace(profile, synthesis_options, result.directory->path());
  if (!synthesised) return propagate(synthesised);
  result.files = synthesised->files;
  result.synthesised = std::move(*synthesised);
  result.source = "profile";
  return result;
}

Result<std::vector<ReplaySource>> SimulationArguments::set_traces(const ProfileArguments& from,
                                                                  const Instance& instance,
                                                                  std::span<SimulationRequest> requests) const {
  // The messages of collectives with two levels follow from the nodes of the ranks.
  const bool by_nodes =
      trace.empty() && instance.format != "ti" && has_node_collectives(*instance.profile, from.collectives);
  std::vector<ReplaySource> sources;
  for (SimulationRequest& request : requests) {
    if (sources.empty() || by_nodes) {
      std::vector<std::uint32_t> node_of;
      for (const Core core : request.jobs[0].core_of) node_of.push_back(index(instance.topology.node_of(core)));
      auto source =
          by_nodes ? replay_source(from, split_by_nodes(*instance.profile, from.collectives, node_of), instance.format)
                   : replay_source(from, *instance.profile, instance.format);
      if (!source) return propagate(source);
      sources.push_back(std::move(*source));
    }
    request.jobs[0].traces = sources.back().files;
    if (sources.back().synthesised) request.eager = SyntheticTrace::eager;
  }
  return sources;
}

Result<std::vector<double>> SimulationArguments::simulate_placements(const ProfileArguments& from,
                                                                     const Instance& instance,
                                                                     std::span<const std::span<const Core>> placements,
                                                                     Progress& progress) const {
  std::vector<SimulationRequest> requests;
  for (const std::span<const Core> core_of : placements) {
    requests.push_back(request(instance.topology));
    requests.back().jobs.push_back(
        {.name = "program", .traces = {}, .core_of = {core_of.begin(), core_of.end()}, .start = 0});
  }
  auto sources = set_traces(from, instance, requests);
  if (!sources) return propagate(sources);
  auto simulated = simulate(requests, options, progress);
  if (!simulated) return propagate(simulated);
  const auto& synthesised = sources->front().synthesised;
  const double repetitions = synthesised ? synthesised->rounds / synthesised->iterations : 1;
  std::vector<double> seconds;
  for (const SimulationResult& result : *simulated) seconds.push_back(result.seconds * repetitions);
  return seconds;
}

}  // namespace rankloom::app
