// SPDX-License-Identifier: Apache-2.0
// map/machine: runs a mapper for ranks whose slots have several shapes.
#include "rankloom/map/machine/mixed_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "rankloom/map/local_search/migration_cost.hpp"
#include "rankloom/map/local_search/neighbourhood_descent.hpp"
#include "rankloom/map/machine/usable_machine.hpp"
#include "rankloom/model/machine/slots/mixed_slots.hpp"

namespace rankloom {

namespace {

class MixedRun {
 public:
  MixedRun(const ConfiguredMapper& mapper, const MapProblem& problem, const MapRun& run)
      : mapper_(mapper), problem_(problem), run_(run), part_of_(problem.graph.rank_count()) {
    const SlotShapes& shapes = *problem.capacities.mixed_shapes();
    for (const Rank rank : problem.graph.ranks()) part_of_[rank] = static_cast<std::uint32_t>(shapes.part_of(rank));
  }

  /// The mapper's placement in the slots of the layout.
  Result<std::vector<Core>> place(std::span<const Core> layout) {
    IdVector<Core, std::uint32_t> slots(problem_.topology.core_count(), 0);
    for (const Core core : layout) slots[core] = 1;
    const Capacities capacities = Capacities::of_slots(std::move(slots));
    const MapProblem equal{problem_.graph, problem_.topology, capacities, problem_.model, {}};
    auto mapped = run_mapper(mapper_, equal, run_, {.keep_worse = true});
    if (!mapped) return propagate(mapped);
    if (mapped->note == stopped_note) note_ = mapped->note;  // other notes are about equal slots
    std::vector<Core> core_of = by_shape(mapped->mapping.cores(), layout);
    if (!mapper_.info->baseline) refine(equal, core_of);
    return core_of;
  }

  /// Exchanges ranks of the same shape.
  std::vector<Core> refined(std::vector<Core> core_of) const {
    IdVector<Core, std::uint32_t> slots(problem_.topology.core_count(), 0);
    for (const Core core : core_of) slots[core] = 1;
    const Capacities capacities = Capacities::of_slots(std::move(slots));
    refine({problem_.graph, problem_.topology, capacities, problem_.model, {}}, core_of);
    return core_of;
  }

  const std::string& note() const { return note_; }

 private:
  /// With at most this many ranks, all pairs are tried.
  static constexpr std::uint32_t max_all_pairs = 512;

  /// The ranks of each shape in the order of their cores, in the slots of this shape.
  std::vector<Core> by_shape(std::span<const Core> wanted, std::span<const Core> layout) const {
    std::vector<std::uint32_t> ranks(wanted.size()), slots(wanted.size());
    std::iota(ranks.begin(), ranks.end(), 0U);
    std::iota(slots.begin(), slots.end(), 0U);
    const auto sort = [&](std::vector<std::uint32_t>& order, std::span<const Core> core_of) {
      std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::pair(part_of_[Rank{a}], core_of[a]) < std::pair(part_of_[Rank{b}], core_of[b]);
      });
    };
    sort(ranks, wanted);
    sort(slots, layout);
    std::vector<Core> core_of(wanted.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) core_of[ranks[i]] = layout[slots[i]];
    return core_of;
  }

  /// `equal` has exactly the slots of the placement.
  void refine(const MapProblem& equal, std::vector<Core>& core_of) const {
    const auto usable = usable_machine(equal);
    if (!usable) {
      descend(equal, core_of);
      return;
    }
    std::vector<Core> inner = usable->from_original(core_of);
    descend({equal.graph, usable->topology, usable->capacities, equal.model, {}}, inner);
    core_of = usable->to_original(inner);
  }

  void descend(const MapProblem& equal, std::vector<Core>& core_of) const {
    PlacementState state(equal, core_of);
    StopCondition stop_condition(run_, "exchanging ranks of the same shape");
    NeighbourhoodDescent(state, nullptr, part_of_).run(stop_condition);
    if (state.rank_count() <= max_all_pairs) exchange_all_pairs(state, stop_condition);
    core_of = state.placement();
  }

  void exchange_all_pairs(PlacementState& state, StopCondition& stop_condition) const {
    for (bool gained = true; gained && !stop_condition.stopped();) {
      gained = false;
      for (std::uint32_t a = 0; a < state.rank_count(); ++a) {
        for (std::uint32_t b = a + 1; b < state.rank_count() && !stop_condition.should_stop(); ++b) {
          if (part_of_[Rank{a}] != part_of_[Rank{b}]) continue;
          const Change change = state.try_exchange(Rank{a}, Rank{b});
          if (!state.is_gain(change.delta)) continue;
          state.apply(change);
          gained = true;
        }
      }
    }
  }

  const ConfiguredMapper& mapper_;
  const MapProblem& problem_;
  const MapRun& run_;
  IdVector<Rank, std::uint32_t> part_of_;
  std::string note_;
};

}  // namespace

Result<MapResult> run_on_mixed_slots(const ConfiguredMapper& mapper, const MapProblem& problem, const MapRun& run,
                                     MapRunOptions options) {
  if (mapper.mapper->balances_load()) {
    return fail(Code::usage, at(mapper.spec), "this mapper does not place ranks with slots of several shapes",
                "choose another mapper with -a");
  }
  if (problem.migration_cost > 0) {
    return fail(Code::usage, at("--migration-cost"), "a migration cost needs ranks with equal slots",
                "leave it out, or give all ranks the same number of cores and GPUs");
  }
  if (mapper.mapper->node_price() > 0) {
    return fail(Code::usage, at("--prefer"), "a price of nodes needs ranks with equal slots",
                "leave it out, or give all ranks the same number of cores and GPUs");
  }
  const auto value = [&](std::span<const Core> core_of) {
    return evaluate(problem.graph, problem.topology, core_of, problem.model);
  };
  const auto begin = std::chrono::steady_clock::now();
  const SlotShapes& shapes = *problem.capacities.mixed_shapes();
  std::vector<std::vector<Core>> layouts = MixedSlots(problem.topology, shapes, problem.graph.rank_count()).layouts();
  std::vector<Core> default_placement(options.default_placement.begin(), options.default_placement.end());
  if (default_placement.empty()) default_placement = layouts.front();
  const double cost_default = value(default_placement);
  if (!std::isfinite(cost_default)) {
    return fail(Code::bad_input, at("cost"), "the cost of the default placement is not finite",
                "divide the amounts of traffic or the costs of the topology by a large number");
  }
  const bool baseline = mapper.info->baseline;
  if (baseline) layouts.resize(1);
  MixedRun mixed(mapper, problem, run);
  std::vector<std::vector<Core>> candidates;
  for (const std::vector<Core>& layout : layouts) {
    auto placed = mixed.place(layout);
    if (!placed) return propagate(placed);
    candidates.push_back(*std::move(placed));
  }
  if (!baseline) candidates.push_back(mixed.refined(default_placement));
  if (!baseline && !problem.start.empty())
    candidates.push_back(mixed.refined({problem.start.begin(), problem.start.end()}));
  std::size_t best = 0;
  double cost = value(candidates[0]);
  for (std::size_t at = 1; at < candidates.size(); ++at) {
    const double other = value(candidates[at]);
    if (objective(problem.model, other) >= objective(problem.model, cost)) continue;
    best = at;
    cost = other;
  }
  const bool worse = objective(problem.model, cost) > objective(problem.model, cost_default);
  const bool fell_back = worse && !baseline && !options.keep_worse;
  auto mapping = Mapping::create(fell_back ? std::move(default_placement) : std::move(candidates[best]),
                                 problem.topology, problem.capacities, mapper.spec);
  if (!mapping) return propagate(mapping);
  const double time_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  MapResult result{mapper.spec,  run.seed, problem.model, *std::move(mapping), fell_back ? cost_default : cost,
                   cost_default, {},       time_ms,       fell_back,           mixed.note(),
                   {},           {}};
  if (!problem.start.empty()) result.moved = moved_ranks(problem.start, result.mapping.cores());
  return result;
}

}  // namespace rankloom
