// SPDX-License-Identifier: Apache-2.0
// apps: the arguments of every verb that predicts.
#include "apps/rankloom/arguments/simulation_arguments.hpp"

#include <cmath>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/evaluate/simulate/trace_files.hpp"
#include "rankloom/model/files/json_cursor.hpp"

namespace rankloom::app {

namespace {

/// "switch=4,bus=3"
Result<void> add_widths(std::string_view text, std::map<std::string, double>& widths) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const std::size_t equals = part.find('=');
    const auto number = equals == std::string_view::npos ? std::nullopt : parse_number(part.substr(equals + 1));
    if (!number || equals == 0) return bad_value("--width", part, "a kind of object and a number, such as switch=4");
    widths[std::string(part.substr(0, equals))] = *number;
    begin = end + 1;
  }
  return {};
}

Result<void> set_count(std::string_view option, std::string_view text, double most, std::uint32_t& field) {
  const auto number = parse_number(text);
  if (!number || *number < 1 || *number > most || *number != std::floor(*number))
    return bad_value(option, text, fmt::format("a number from 1 to {}", most));
  field = static_cast<std::uint32_t>(*number);
  return {};
}

}  // namespace

std::string Replayed::sentence() const {
  if (!made) return "the recorded trace";
  const std::string rounds = format_count(std::round(made->rounds));
  if (made->iterations == 1 && rounds == "1") return "the profile's traffic in one round";
  if (made->iterations <= made->rounds)
    return fmt::format("{} of {} rounds made from the profile", made->iterations, rounds);
  return fmt::format("{} rounds made from the profile, which has {}", made->iterations, rounds);
}

Json Replayed::json() const {
  Json json{{"source", source}};
  if (made) json.update({{"iterations", made->iterations}, {"rounds", made->rounds}, {"messages", made->messages}});
  return json;
}

void SimulationArguments::describe_platform(CLI::App& app) {
  add_value(app,
            {"--base-rate", "RATE",
             "bytes a second between the two nearest cores, such as 5GB/s, for machines with relative costs",
             "prediction", "costs are nanoseconds a byte"},
            [this](std::string_view text) -> Result<void> {
              const auto gap = parse_inverse_bandwidth(text);
              if (!gap || !(*gap > 0)) return bad_value("--base-rate", text, "a rate such as 5GB/s or 40Gbit/s");
              platform.rate = 1e9 / *gap;
              return {};
            });
  add_value(app,
            {"--base-latency", "TIME",
             "time of an empty message between the two nearest cores, more by the ratio of costs elsewhere",
             "prediction", "the machine's own"},
            [this](std::string_view text) -> Result<void> {
              const auto nanoseconds = parse_nanoseconds(text, 1);
              if (!nanoseconds || !(*nanoseconds > 0) || *nanoseconds > 1e12)
                return bad_value("--base-latency", text, "a time such as 100ns or 1us");
              platform.latency = *nanoseconds * 1e-9;
              return {};
            });
  add_value(
      app,
      {"--width", "KIND=N,..",
       "messages at full rate that fit side by side into or out of one switch, node, package, .., over a node's bus, "
       "or through a link of a network",
       "prediction", "core, node, switch, link 1, others unlimited"},
      [this](std::string_view text) -> Result<void> { return add_widths(text, platform.width); });
}

void SimulationArguments::describe_replay(CLI::App& app) {
  add_text(app,
           {"--trace", "TRACE", "what `record --trace` wrote, to be replayed instead of rounds made from the profile",
            "prediction"},
           trace);
  add_value(
      app,
      {"--iterations", "N", "rounds of its messages and collectives that are made from a profile", "prediction", "1"},
      [this](std::string_view text) -> Result<void> {
        return set_count("--iterations", text, 1e6, synthesis.iterations);
      });
  add_value(
      app,
      {"--compute", "profile|none|TIME",
       "work of a rank in each round: the profile's time outside MPI, if it knows it, none, or so much, by the ranks' "
       "loads if it has any",
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
            {"--speed", "X", "of the processors, relative to those that were recorded: 2 is twice as fast",
             "prediction", "1"},
            [this](std::string_view text) -> Result<void> {
              const auto number = parse_number(text);
              if (!number || !(*number > 0) || *number > 1e6) return bad_value("--speed", text, "a number above 0");
              speed = *number;
              return {};
            });
  add_text(app, {"--calibration", "FILE", "what `simulate --calibrate -o FILE` found", "prediction"}, calibration);
  add_value(app, {"--time-limit", "TIME", "for each simulation", "prediction", "10min"},
            [this](std::string_view text) -> Result<void> {
              const auto nanoseconds = parse_nanoseconds(text, 1e9);
              if (!nanoseconds || *nanoseconds < 1e6 || *nanoseconds > 1e18)
                return bad_value("--time-limit", text, "a time such as 30s or 10min");
              options.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(*nanoseconds / 1e6));
              return {};
            });
  add_value(
      app, {"--at-once", "N", "simulations side by side", "prediction", "one for each processor"},
      [this](std::string_view text) -> Result<void> { return set_count("--at-once", text, 4096, options.at_once); });
}

Result<void> SimulationArguments::prepare() {
  options.helper = find_installed("rankloom-simulate").value_or("");
  if (calibration.empty()) return {};
  auto file = read_file(calibration);
  if (!file) return propagate(file);
  auto json = parse_json(*file);
  if (!json) return propagate(json);
  const auto wrong = [&] {
    return fail(Code::bad_input, at(calibration), "this is no calibration",
                "make one: rankloom simulate --calibrate -t TOPOLOGY -o FILE");
  };
  if (!json->is_object() || !json->contains("levels") || !(*json)["levels"].is_array()) return wrong();
  for (const auto& level : (*json)["levels"]) {
    if (!level.is_object() || !level.contains("gap_factor") || !level["gap_factor"].is_number() ||
        !level.contains("latency_factor") || !level["latency_factor"].is_number())
      return wrong();
    platform.factors.push_back({level["gap_factor"], level["latency_factor"]});
  }
  return {};
}

Result<Replayed> SimulationArguments::replayed(const ProfileArguments& from, const Profile& profile,
                                               std::string_view format) const {
  Replayed result;
  if (!trace.empty() || format == "ti") {
    if (!trace.empty()) {
      // The importer looks at every line, and says which one is wrong.
      auto imported = import_path(trace, "ti");
      if (!imported) return propagate(imported);
      if (imported->profile.rank_count() != profile.rank_count()) {
        return fail(
            Code::bad_input, at(trace),
            fmt::format("it has {} ranks, the profile {}", imported->profile.rank_count(), profile.rank_count()),
            "name the trace that was recorded with this profile");
      }
    }
    auto files = trace_files(trace.empty() ? from.profile : trace, profile.rank_count());
    if (!files) return propagate(files);
    result.files = std::move(*files);
    result.source = "trace";
    return result;
  }
  auto folder = ScratchFolder::make();
  if (!folder) return propagate(folder);
  result.folder = std::make_shared<ScratchFolder>(std::move(*folder));
  SynthesisOptions how = synthesis;
  how.collectives = from.collectives;
  auto made = synthesise(profile, how, result.folder->path());
  if (!made) return propagate(made);
  result.files = made->files;
  result.made = std::move(*made);
  result.source = "profile";
  return result;
}

}  // namespace rankloom::app
