// SPDX-License-Identifier: Apache-2.0
// apps: the arguments by which every verb takes its inputs.
#include "apps/rankloom/arguments/problem_arguments.hpp"

#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/core/file.hpp"
#include "rankloom/core/units.hpp"
#include "rankloom/discover/discover.hpp"

namespace rankloom::app {

namespace {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string collective_names(std::string_view separator) {
  std::vector<std::string_view> names;
  for (const auto& row : collective_models()) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, separator));
}

std::string collective_name(CollectiveModel model) {
  for (const auto& row : collective_models()) {
    if (row.model == model) return std::string(row.name);
  }
  return {};
}

}  // namespace

void ProfileArguments::describe(CLI::App& app, const std::string& names, bool required) {
  add_text(app,
           {names, "PROFILE",
            "who talks to whom: a file of any format of `rankloom list formats`, - for a pipe, or gen:PATTERN", "input",
            "", required},
           profile);
  describe_format(app);
  add_value(app,
            {"--collectives", collective_names("|"), "how collective operations become traffic between pairs", "input",
             collective_name(collectives)},
            [this](std::string_view value) -> Result<void> {
              for (const auto& row : collective_models()) {
                if (row.name == value) {
                  collectives = row.model;
                  return {};
                }
              }
              return bad_value("--collectives", value, fmt::format("one of: {}", collective_names(", ")));
            });
}

void ProfileArguments::describe_format(CLI::App& app) {
  add_value(app,
            {"--from", "FORMAT",
             "format of the profile, when its content does not tell, with its options: NAME:OPTION=VALUE", "input"},
            [this](std::string_view value) -> Result<void> {
              const auto colon = value.find(':');
              if (find_format(value.substr(0, colon)) == nullptr)
                return bad_value("--from", value, "rankloom list formats");
              if (auto known = parse_format(value); !known) return propagate(known);
              from = std::string(value);
              return {};
            });
}

Result<Imported> ProfileArguments::load() const {
  if (!is_pattern()) return import_path(profile, from);
  if (!from.empty()) return fail(Code::usage, at("--from"), "a generated pattern has no format", "leave out --from");
  auto made = generate(std::string_view(profile).substr(4));
  if (!made) return propagate(made);
  return Imported{.profile = std::move(*made), .topology = std::nullopt, .format = "gen"};
}

void TopologyArguments::describe(CLI::App& app) {
  add_text(app,
           {"-t,--topology", "TOPOLOGY",
            "what is near what: a file, or a string such as \"switch:2=4.1 node:6=3.7 core:16=1\"", "input"},
           topology);
  add_text(
      app,
      {"--hierarchy", "A:B:..", "the machine bottom up, as the partitioning literature writes it: 16:6:2", "input"},
      hierarchy);
  add_text(app,
           {"--distance", "X:Y:..", "with --hierarchy: the cost of each of its levels, bottom up: 1:3.7:4.1", "input"},
           distance);
  exclude(app, "--hierarchy", "--topology");
  need(app, "--hierarchy", "--distance");
  need(app, "--distance", "--hierarchy");
}

std::string TopologyArguments::text() const {
  if (!hierarchy.empty())
    return fmt::format("--hierarchy {} --distance {}", shell_word(hierarchy), shell_word(distance));
  return topology.empty() ? "" : fmt::format("-t {}", shell_word(topology));
}

Result<Topology> TopologyArguments::load() const {
  if (hierarchy.empty()) return load_topology(topology);
  auto spec = parse_hierarchy(hierarchy, distance);
  if (!spec) return propagate(spec);
  return Topology::build(std::move(*spec));
}

void ProblemArguments::describe(CLI::App& app, const std::string& profile_names, bool profile_required) {
  profile.describe(app, profile_names, profile_required);
  topology.describe(app);
  add_switch(app, "--oversubscribe", "allow several ranks on a core when there are more ranks than places",
             fit.oversubscribe, "input");
  add_value(app,
            {"--imbalance", "X", "with more ranks than places: how much more than its fair share a core may hold",
             "input", "0"},
            [this](std::string_view value) -> Result<void> {
              const auto parsed = parse_number(value);
              if (!parsed || *parsed < 0 || *parsed > 1000)
                return bad_value("--imbalance", value, "a number from 0, such as 0.03 for three hundredths");
              fit.imbalance = *parsed;
              return {};
            });
}

std::string ProblemArguments::words(const std::string& before_profile) const {
  std::string words = before_profile + shell_word(profile.profile);
  if (!profile.from.empty()) words += " --from " + profile.from;
  if (profile.collectives != ProfileArguments().collectives)
    words += " --collectives " + collective_name(profile.collectives);
  if (topology.given()) words += " " + topology.text();
  if (fit.oversubscribe) words += " --oversubscribe";
  if (fit.imbalance > 0) words += " --imbalance " + format_value(fit.imbalance);
  return words;
}

Result<Instance> ProblemArguments::load(Progress& progress, bool keep_profile) const {
  const auto no_topology = [] {
    return fail(Code::usage, at("-t"), "no machine is named",
                "add -t FILE, or a string such as -t \"node:4=10 core:8=1\"");
  };
  if (profile.is_pattern() && !topology.given()) return no_topology();

  const Stopwatch topology_watch;
  std::optional<Topology> machine;
  if (topology.given()) {
    progress.report("building the machine", -1);
    auto loaded = topology.load();
    if (!loaded) return propagate(loaded);
    machine = std::move(*loaded);
  }
  const double topology_seconds = topology_watch.seconds();

  const Stopwatch profile_watch;
  progress.report(profile.is_pattern() ? "making the pattern" : "reading the profile", -1);
  auto imported = profile.load();
  if (!imported) return propagate(imported);
  if (!machine) machine = std::move(imported->topology);
  if (!machine) return no_topology();
  const std::uint32_t ranks = imported->profile.rank_count();
  auto capacities = Capacities::of(*machine, ranks, fit);
  if (!capacities) return propagate(capacities);
  if (auto fits = check_traffic_fits(imported->profile, profile.collectives); !fits) return propagate(fits);
  progress.report("adding up the traffic", -1);
  std::optional<Profile> kept;
  if (keep_profile) kept = imported->profile;
  CommGraph graph = traffic(std::move(imported->profile), profile.collectives);
  return Instance{std::move(graph), std::move(*machine), std::move(*capacities), profile_watch.seconds(),
                  topology_seconds, std::move(kept),     imported->format};
}

}  // namespace rankloom::app
