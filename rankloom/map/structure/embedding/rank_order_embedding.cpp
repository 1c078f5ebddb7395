// SPDX-License-Identifier: Apache-2.0
// map/structure/embedding: a search over assignments of the digits of a rank number to the levels of the machine.
#include "rankloom/map/structure/embedding/rank_order_embedding.hpp"

#include <algorithm>

#include "rankloom/core/timing.hpp"
#include "rankloom/map/structure/embedding/digit_layout.hpp"
#include "rankloom/map/structure/embedding/mesh_machine.hpp"
#include "rankloom/model/cost/cost_model.hpp"

namespace rankloom {
namespace {

/// With fewer comparisons the search would not get far.
constexpr std::uint64_t min_comparisons = 64;
/// A search whose lowest cost after this many comparisons is still so far above the cost to beat is ended: the traffic
/// does not follow the numbers of the ranks.
constexpr std::uint64_t hopeless_after = 200;
constexpr double hopeless_ratio = 1.25;

/// The block placement: the least significant digits count along the innermost level.
std::optional<DigitLayout> block_layout(std::uint32_t ranks, std::span<const MachineLevel> levels) {
  DigitLayout layout{.levels = std::vector<std::vector<LayoutDigit>>(levels.size()), .gray = {false}};
  std::uint32_t before = 1;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    for (const std::uint32_t factor : prime_radices(levels[level].size)) {
      if (ranks / before % factor != 0) continue;
      layout.levels[level].push_back({0, before, factor, false});
      before *= factor;
    }
  }
  return before == ranks ? std::optional(std::move(layout)) : std::nullopt;
}

}  // namespace

std::optional<std::vector<Core>> embed_rank_order(const MapProblem& problem, const RankOrderLimits& limits) {
  const TimedSection timing("rank order embedding");
  const std::uint32_t ranks = problem.graph.rank_count();
  const std::uint64_t visits_each = std::max<std::uint64_t>(1, ranks + problem.graph.edge_count());
  const std::uint64_t max_comparisons = std::min(limits.max_comparisons, limits.max_visits / visits_each);
  if (ranks < 2 || max_comparisons < min_comparisons) return std::nullopt;
  const auto machine = MeshMachine::of(problem);
  if (!machine || ranks > machine->slots()) return std::nullopt;
  auto start = block_layout(ranks, machine->levels());
  if (!start) return std::nullopt;
  const CostModel model = pairwise_model(problem.model);
  std::vector<Core> core_of(ranks);
  std::vector<std::uint32_t> positions(machine->levels().size());
  const auto place = [&](const DigitLayout& layout) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (std::size_t level = 0; level < positions.size(); ++level)
        positions[level] = layout.position(level, std::span(&rank, 1));
      core_of[rank] = machine->core(positions);
    }
  };
  std::uint64_t comparisons = 0;
  double lowest = std::numeric_limits<double>::infinity();
  const auto is_hopeless = [&] {
    return comparisons >= hopeless_after && lowest > hopeless_ratio * limits.cost_to_beat;
  };
  const DigitLayout best = improve_layout(
      std::move(*start), machine->levels(),
      [&](const DigitLayout& layout) {
        ++comparisons;
        place(layout);
        const double cost = objective(model, evaluate(problem.graph, problem.topology, core_of, model));
        lowest = std::min(lowest, cost);
        return cost;
      },
      [&] { return comparisons >= max_comparisons || is_hopeless(); });
  if (is_hopeless()) return std::nullopt;
  place(best);
  return core_of;
}

}  // namespace rankloom
