// SPDX-License-Identifier: Apache-2.0
// map/structure/embedding: a search over assignments of the digits of a rank number to the levels of the machine.
#include "rankloom/map/structure/embedding/rank_order_embedding.hpp"

#include "rankloom/core/timing.hpp"
#include "rankloom/map/structure/embedding/digit_layout.hpp"
#include "rankloom/map/structure/embedding/mesh_machine.hpp"
#include "rankloom/model/cost/cost_model.hpp"

namespace rankloom {
namespace {

/// With fewer comparisons the search would not get far.
constexpr std::uint64_t min_comparisons = 64;

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

std::optional<std::vector<Core>> embed_rank_order(const MapProblem& problem, std::uint64_t max_visits) {
  const TimedSection timing("rank order embedding");
  const std::uint32_t ranks = problem.graph.rank_count();
  const std::uint64_t visits_each = ranks + problem.graph.edge_count();
  if (ranks < 2 || visits_each * min_comparisons > max_visits) return std::nullopt;
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
  std::uint64_t visits = 0;
  const DigitLayout best = improve_layout(
      std::move(*start), machine->levels(),
      [&](const DigitLayout& layout) {
        visits += visits_each;
        place(layout);
        return objective(model, evaluate(problem.graph, problem.topology, core_of, model));
      },
      [&] { return visits >= max_visits; });
  place(best);
  return core_of;
}

}  // namespace rankloom
