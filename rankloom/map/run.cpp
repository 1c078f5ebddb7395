// SPDX-License-Identifier: Apache-2.0
// map: runs a mapper and validates its result.
#include "rankloom/map/run.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "rankloom/core/timing.hpp"
#include "rankloom/map/bound/lower_bound.hpp"
#include "rankloom/map/local_search/migration_cost.hpp"
#include "rankloom/map/machine/mixed_run.hpp"
#include "rankloom/map/machine/usable_machine.hpp"
#include "rankloom/map/portfolio/node_price.hpp"

namespace rankloom {
namespace {

/// An invalid placement is a defect of the mapper, not an error of the user. In builds without assertions it is
/// reported.
Failure invalid_result(const ConfiguredMapper& mapper, Error error) {
  assert(false && "a mapper returned an invalid placement");
  error.what = mapper.spec + " returned an invalid placement: " + error.what;
  error.hint = "this is a defect of the mapper: please report it, and choose another mapper with -a";
  error.code = Code::environment;
  return Failure(std::move(error));
}

/// The better one of the mapper's own bound and the general one, as a value of the cost model.
std::optional<double> best_lower_bound(const MapProblem& problem, const Placement& placement, double cost,
                                       bool compute_lower_bound) {
  std::optional<double> bound = placement.lower_bound;
  if (compute_lower_bound) {
    if (const auto general = lower_bound(problem)) bound = bound ? std::max(*bound, *general) : *general;
  }
  if (!bound) return bound;
  // Sums in different orders differ in their last digits: the bound must not exceed the cost because of rounding.
  const double reached_cost = objective(problem.model, cost);
  if (*bound > reached_cost && *bound <= reached_cost + 1e-9 * std::abs(reached_cost)) bound = reached_cost;
  if (!is_informative_bound(reached_cost, *bound)) return std::nullopt;
  return objective(problem.model, *bound);
}

}  // namespace

namespace {

/// Maps onto a machine whose leaves can all be used.
Result<MapResult> run_on_usable(const ConfiguredMapper& mapper, const MapProblem& requested, const MapRun& run,
                                MapRunOptions options) {
  const bool balances_load = mapper.mapper->balances_load();
  const Capacities capacities =
      balances_load ? requested.capacities.relax_if_oversubscribed(requested.topology, requested.graph.rank_count())
                    : requested.capacities;
  const MapProblem problem{requested.graph, requested.topology, capacities,
                           requested.model, requested.start,    requested.migration_cost};
  const bool has_migration_cost = requested.migration_cost > 0 && !requested.start.empty() && !balances_load;
  const auto value = [&](std::span<const Core> core_of) {
    const TimedSection timing("evaluation");
    return evaluate(problem.graph, problem.topology, core_of, problem.model);
  };
  std::vector<Core> default_placement(options.default_placement.begin(), options.default_placement.end());
  if (default_placement.empty())
    default_placement = block_placement(problem.graph.rank_count(), problem.topology, problem.capacities);
  const double cost_default = value(default_placement);
  if (!std::isfinite(cost_default)) {
    return fail(Code::bad_input, at("cost"), "the cost of the default placement is not finite",
                "divide the amounts of traffic or the costs of the topology by a large number");
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto milliseconds = [&] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  };
  const bool minimises_model = mapper.mapper->minimises(problem.model);
  const MapProblem pairwise{problem.graph, problem.topology,      problem.capacities, pairwise_model(problem.model),
                            problem.start, problem.migration_cost};
  auto placement = mapper.mapper->place(minimises_model ? problem : pairwise, run);
  double time_ms = milliseconds();
  if (!placement) return propagate(placement);
  if (placement->usage) time_ms = placement->usage->seconds * 1000;
  if (!minimises_model) {
    placement->lower_bound.reset();
    if (!placement->note.empty()) placement->note += fmt::format(" (model {})", info(pairwise.model).name);
    const bool keeps_start = mapper.info->takes_start && !problem.start.empty();
    if (keeps_start && placement->core_of.size() == problem.start.size() &&
        objective(problem.model, value(problem.start)) < objective(problem.model, value(placement->core_of))) {
      placement->core_of.assign(problem.start.begin(), problem.start.end());
    }
  }

  if (placement->core_of.size() != problem.graph.rank_count()) {
    return invalid_result(
        mapper, {Code::environment, at(mapper.spec), "the number of cores differs from the number of ranks", ""});
  }
  auto mapping = Mapping::create(std::move(placement->core_of), problem.topology, problem.capacities, mapper.spec);
  if (!mapping) return invalid_result(mapper, std::move(mapping).error());
  if (has_migration_cost) {
    auto worthwhile =
        keep_worthwhile_migrations(problem, {mapping->cores().begin(), mapping->cores().end()}, run.deadline);
    time_ms = milliseconds();
    if (!std::ranges::equal(worthwhile, mapping->cores()))
      placement->note = "migrations that cost more than they save were undone";
    mapping = Mapping::create(std::move(worthwhile), problem.topology, problem.capacities, mapper.spec);
    if (!mapping) return invalid_result(mapper, std::move(mapping).error());
  }
  MapResult result{mapper.spec, run.seed, problem.model, std::move(*mapping),        0,  cost_default,
                   {},          time_ms,  false,         std::move(placement->note), {}, {}};
  result.cost = value(result.mapping.cores());
  result.usage = placement->usage;

  const NodePrice price(problem, mapper.mapper->node_price());
  const double cost_difference = price.factor(result.mapping.cores()) * objective(problem.model, result.cost) -
                                 price.factor(default_placement) * objective(problem.model, result.cost_default);
  bool worse = cost_difference > 0;
  if (has_migration_cost)
    worse = cost_with_migration(problem, result.mapping.cores()) > cost_with_migration(problem, default_placement);
  if (balances_load) {
    const auto heaviest = [&](std::span<const Core> core_of) {
      return load_balance(problem.graph, problem.topology, core_of).heaviest_core;
    };
    const double load_difference = heaviest(result.mapping.cores()) - heaviest(default_placement);
    worse = cost_difference >= 0 && load_difference >= 0 && (cost_difference > 0 || load_difference > 0);
  }
  if (worse && !mapper.info->baseline && !options.keep_worse) {
    auto fallback =
        Mapping::create(std::move(default_placement), problem.topology, problem.capacities, "default placement");
    if (!fallback) return invalid_result(mapper, std::move(fallback).error());
    result.mapping = std::move(*fallback);
    result.cost = result.cost_default;
    result.fell_back = true;
    result.note = "the mapper's result costs more than the default placement, which is used instead";
  }
  if (!problem.start.empty()) result.moved = moved_ranks(problem.start, result.mapping.cores());
  // With loads, the minimum cost would be that of all ranks on one core, which is not a useful bound.
  result.lower_bound =
      best_lower_bound(problem, *placement, result.cost, options.compute_lower_bound && !balances_load);
  if (balances_load) result.load = load_balance(problem.graph, problem.topology, result.mapping.cores());
  return result;
}

}  // namespace

Result<MapResult> run_mapper(const ConfiguredMapper& mapper, const MapProblem& problem, const MapRun& run,
                             MapRunOptions options) {
  assert(problem.start.empty() || problem.start.size() == problem.graph.rank_count());
  assert(options.default_placement.empty() || options.default_placement.size() == problem.graph.rank_count());
  if (problem.capacities.mixed_shapes() != nullptr) return run_on_mixed_slots(mapper, problem, run, options);
  const auto usable = usable_machine(problem);
  if (!usable) return run_on_usable(mapper, problem, run, options);
  const std::vector<Core> start = usable->from_original(problem.start);
  const MapProblem inner{problem.graph, usable->topology,      usable->capacities, problem.model,
                         start,         problem.migration_cost};
  const std::vector<Core> default_placement = usable->from_original(options.default_placement);
  options.default_placement = default_placement;
  auto result = run_on_usable(mapper, inner, run, options);
  if (!result) return result;
  auto mapping =
      Mapping::create(usable->to_original(result->mapping.cores()), problem.topology, problem.capacities, mapper.spec);
  if (!mapping) return invalid_result(mapper, std::move(mapping).error());
  result->mapping = *std::move(mapping);
  return result;
}

}  // namespace rankloom
