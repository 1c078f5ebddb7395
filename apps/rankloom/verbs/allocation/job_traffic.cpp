// SPDX-License-Identifier: Apache-2.0
// apps/verbs/allocation: the traffic of the job of `rankloom alloc request`.
#include "apps/rankloom/verbs/allocation/job_traffic.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/model/graph/profile.hpp"
#include "rankloom/model/prediction/predict.hpp"
#include "rankloom/place/joint/job_fit.hpp"
#include "rankloom/place/joint/joint_model.hpp"

namespace rankloom::app {

namespace {

/// Scores candidates; the mapping of the chosen set is computed with the default effort.
constexpr const char* fast_mapper = "auto:effort=fast";
/// More nodes must shorten the run by this factor.
constexpr double worthwhile = 0.99;

}  // namespace

void describe_fit(CLI::App& app, FitOptions& fit) {
  add_choice<Prefer>(
      app,
      {"--prefer", "balanced|job|packing",
       "closed-fit: minimise nodes taken from others x run time^0.3, the run time of the job, or the nodes "
       "taken from others",
       "policy", "balanced"},
      {{"balanced", Prefer::balanced}, {"job", Prefer::job}, {"packing", Prefer::packing}}, fit.prefer);
  const std::string limit = fit.max_seconds ? fmt::format("{}", 1000 * *fit.max_seconds) : "no limit";
  add_value(app, {"--decision-time", "MS", "closed-fit: the maximum time of one decision, in ms", "policy", limit},
            [&fit](std::string_view value) -> Result<void> {
              const auto number = parse_number(value);
              if (!number || *number <= 0 || *number > 1e6)
                return bad_value("--decision-time", value, "a number of milliseconds above 0");
              fit.max_seconds = *number / 1000;
              return {};
            });
}

SetValue set_node_counts(NodeCounts& counts) {
  return [&counts](std::string_view value) -> Result<void> {
    const auto range = parse_number_range(value);
    if (!range || range->first < 1 || range->last > 1'000'000'000)
      return bad_value("NODES", value, "a whole number of at least 1, or a range such as 16-64");
    counts = {range->first, range->last};
    return {};
  };
}

void JobTrafficArguments::describe(CLI::App& app) {
  profile_.describe(app, "--profile", false);
  add_text(app,
           {"--pattern", "PATTERN",
            "instead of --profile: a pattern of `rankloom gen` without its size, such as stencil3d:points=27", "input"},
           pattern_);
  exclude(app, "--pattern", "--profile");
  add_value(
      app,
      {"--communication", "X",
       "the part of the run time that is communication; by default as recorded in the profile, else 0.3", "input"},
      [this](std::string_view value) -> Result<void> {
        const auto number = parse_number(value);
        if (!number || *number <= 0 || *number > 1)
          return bad_value("--communication", value, "a fraction above 0 and up to 1");
        communication_ = *number;
        return {};
      });
  describe_fit(app, fit_);
  add_text(app, {"-o,--output", "FILE", "write the mapping of the ranks to this file", "output"}, output_);
}

Result<JobTrafficArguments::Traffic> JobTrafficArguments::load(std::uint64_t ranks) const {
  if (!pattern_.empty()) {
    auto graph = pattern_graph(pattern_, ranks);
    if (!graph) return propagate(graph);
    return Traffic{*std::move(graph), communication_.value_or(default_communication)};
  }
  auto imported = profile_.load();
  if (!imported) return propagate(imported);
  if (auto fits = check_traffic_fits(imported->profile, profile_.collectives); !fits) return propagate(fits);
  const double share = communication_.value_or(recorded_share(imported->profile).value_or(default_communication));
  const CollectiveModel model = collective_model(profile_.collectives, imported->profile);
  return Traffic{traffic(std::move(imported->profile), model), share};
}

Result<std::uint64_t> JobTrafficArguments::tasks() const {
  if (profile_.profile.empty())
    return fail(Code::usage, at("request"), "the number of nodes is missing",
                "rankloom alloc request 9 --pattern ring, or --tasks 64");
  auto imported = profile_.load();
  if (!imported) return propagate(imported);
  return std::uint64_t{imported->profile.rank_count()};
}

Result<std::optional<JobChoice>> JobTrafficArguments::choose(const Allocator& allocator, const Occupancy& occupancy,
                                                             const PolicyInfo& policy,
                                                             const std::vector<std::uint32_t>& nodes,
                                                             std::uint64_t tasks, AllocationOptions options) const {
  const AllocationMachine& machine = allocator.machine();
  if (nodes.size() > 1 && pattern_.empty())
    return fail(Code::usage, at("NODES"), "a profile has one number of ranks",
                "give one number of nodes, or --pattern for a program that runs on any number of nodes");
  auto mapper = TrafficMapper::create(machine.topology(), fast_mapper);
  if (!mapper) return propagate(mapper);
  std::optional<JobChoice> best;
  double best_time = 0, reference = 0;
  for (const std::uint32_t count : nodes) {
    if (count > occupancy.free_count()) continue;
    const std::uint64_t ranks = tasks > 0 ? tasks : std::uint64_t{count} * machine.cores_per_node();
    auto job_traffic = load(ranks);
    if (!job_traffic) return propagate(job_traffic);
    const std::uint64_t slots = std::uint64_t{count} * machine.cores_per_node();
    if (job_traffic->graph.rank_count() > slots) {
      return fail(Code::infeasible, at("request"),
                  fmt::format("the profile has {}, but {} of {} have slots for {}",
                              counted(job_traffic->graph.rank_count(), "rank"), counted(count, "node"),
                              counted(machine.cores_per_node(), "core"), slots),
                  "leave the number of nodes out, or request more nodes");
    }
    const JobTraffic job{count, job_traffic->graph};
    if (reference == 0) reference = default_seconds(*mapper, machine, job.graph, count).value_or(0);
    const JobFit fit(*mapper, job, job_traffic->communication, reference);
    options.fit = fit_;
    options.fit.run_time = &fit;
    std::optional<FitDecision> decision;
    if (policy.name == "closed-fit") decision = choose_fit(allocator, occupancy, count, options);
    if (!decision) {  // another policy, or its fallback
      auto allocation = allocate_nodes(allocator, occupancy, policy, count, options);
      if (!allocation) continue;
      const double run_time = fit.run_time(allocation->nodes, {});
      decision =
          FitDecision{*std::move(allocation), {{std::string(policy.name), run_time, static_cast<double>(count)}}, 0, 0};
    }
    // The computation is shared by the nodes; the time of one node count has no computation to compare.
    const double computing = (1 - job_traffic->communication) * (static_cast<double>(nodes.front()) / count - 1);
    const double time = (decision->sets.empty() ? 1 : decision->sets[decision->chosen].run_time) + computing;
    if (best && time > worthwhile * best_time) continue;
    best_time = time;
    best = JobChoice{*std::move(decision), std::move(job_traffic->graph), ""};
  }
  if (!best) return best;
  best->why = policy.name == "closed-fit" && best->decision.allocation.isolated
                  ? explain(best->decision)
                  : fmt::format("chosen by {}", policy.name);
  if (nodes.size() > 1)
    best->why += fmt::format("; {} of {} to {} nodes: the shortest predicted run time",
                             best->decision.allocation.nodes.size(), nodes.front(), nodes.back());
  return best;
}

Result<MappedJob> JobTrafficArguments::map(const Topology& topology, const CommGraph& graph,
                                           std::span<const Node> nodes) const {
  auto mapper = TrafficMapper::create(topology, "auto:prediction=channels");
  if (!mapper) return propagate(mapper);
  MappedJob mapped;
  mapped.core_of = mapper->place({0, graph}, nodes);
  mapped.seconds = predict(graph, mapper->platform(), mapped.core_of).seconds;
  mapped.block_seconds = predict(graph, mapper->platform(), mapper->block(graph.rank_count(), nodes)).seconds;
  return mapped;
}

}  // namespace rankloom::app
