// SPDX-License-Identifier: Apache-2.0
// map: runs a mapper as every verb does.
#include "rankloom/map/run.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>

#include "rankloom/map/bound/lower_bound.hpp"
#include "rankloom/map/local_search/move_price.hpp"

namespace rankloom {
namespace {

/// A mapper that breaks its promise is our fault, not the user's; without assertions it is at least not handed out.
Failure invalid_result(const ConfiguredMapper& mapper, Error error) {
  assert(false && "a mapper returned an invalid placement");
  error.what = mapper.spec + " returned an invalid placement: " + error.what;
  error.hint = "this is a defect of the mapper; choose another one and report it";
  error.code = Code::environment;
  return Failure(std::move(error));
}

/// The better of what the mapper knows and what can be known without it, as a value of the model.
std::optional<double> certificate(const MapProblem& problem, const Placement& placement, double cost, bool certify) {
  std::optional<double> bound = placement.lower_bound;
  if (certify) {
    if (const auto found = lower_bound(problem)) bound = bound ? std::max(*bound, *found) : *found;
  }
  if (!bound) return bound;
  // Sums that are added up in different orders differ in their last digits.
  const double reached = objective(problem.model, cost);
  if (*bound > reached && *bound <= reached + 1e-9 * std::abs(reached)) bound = reached;
  return objective(problem.model, *bound);
}

}  // namespace

Result<MapResult> run_mapper(const ConfiguredMapper& mapper, const MapProblem& given, const MapRun& run,
                             RunOptions options) {
  assert(given.start.empty() || given.start.size() == given.graph.rank_count());
  const bool by_load = mapper.mapper->balances_load();
  const Capacities capacities = by_load ? given.capacities.bounded_by_work(given.topology, given.graph.rank_count()) : given.capacities;
  const MapProblem problem{given.graph, given.topology, capacities, given.model, given.start, given.move_price};
  const bool priced = given.move_price > 0 && !given.start.empty() && !by_load;
  const auto begin = std::chrono::steady_clock::now();
  const auto milliseconds = [&] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  };
  auto placement = mapper.mapper->place(problem, run);
  double took = milliseconds();
  if (!placement) return propagate(placement);

  if (placement->core_of.size() != problem.graph.rank_count()) {
    return invalid_result(mapper, {Code::environment, at(mapper.spec), "not one core for each rank", ""});
  }
  auto mapping = Mapping::checked(std::move(placement->core_of), problem.topology, problem.capacities, mapper.spec);
  if (!mapping) return invalid_result(mapper, std::move(mapping).error());
  if (priced) {
    auto paying = worth_moving(problem, {mapping->cores().begin(), mapping->cores().end()}, run.deadline);
    took = milliseconds();
    if (!std::ranges::equal(paying, mapping->cores())) placement->note = "what does not pay for its moves was undone";
    mapping = Mapping::checked(std::move(paying), problem.topology, problem.capacities, mapper.spec);
    if (!mapping) return invalid_result(mapper, std::move(mapping).error());
  }
  const auto value = [&](std::span<const Core> core_of) {
    return evaluate(problem.graph, problem.topology, core_of, problem.model);
  };
  auto block = block_placement(problem.graph.rank_count(), problem.topology, problem.capacities);
  MapResult result{mapper.spec, run.seed, problem.model, std::move(*mapping),        0,  value(block),
                   {},          took,     false,         std::move(placement->note), {}, {}};
  result.cost = value(result.mapping.cores());

  const double by_cost = objective(problem.model, result.cost) - objective(problem.model, result.cost_default);
  bool worse = by_cost > 0;
  if (priced) worse = priced_cost(problem, result.mapping.cores()) > priced_cost(problem, block);
  if (by_load) {
    const auto heaviest = [&](std::span<const Core> core_of) {
      return load_balance(problem.graph, problem.topology, core_of).heaviest_core;
    };
    const double by_weight = heaviest(result.mapping.cores()) - heaviest(block);
    worse = by_cost >= 0 && by_weight >= 0 && (by_cost > 0 || by_weight > 0);
  }
  if (worse && !mapper.info->baseline && !options.keep_worse) {
    auto fallback = Mapping::checked(std::move(block), problem.topology, problem.capacities, "block");
    if (!fallback) return invalid_result(mapper, std::move(fallback).error());
    result.mapping = std::move(*fallback);
    result.cost = result.cost_default;
    result.fell_back = true;
    result.note = "its own result cost more than the default order, which is kept";
  }
  if (!problem.start.empty()) result.moved = moved_ranks(problem.start, result.mapping.cores());
  // With loads to balance, the least cost would be everybody on one core: that tells nothing.
  result.lower_bound = certificate(problem, *placement, result.cost, options.certify && !by_load);
  if (by_load) result.load = load_balance(problem.graph, problem.topology, result.mapping.cores());
  return result;
}

}  // namespace rankloom
