// SPDX-License-Identifier: Apache-2.0
// map/structure/tiling: chooses between hierarchies of equal boxes, uneven regions and serpentine orders.
#include "rankloom/map/structure/tiling/tiling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/structure/recognition/edge_census.hpp"
#include "rankloom/map/structure/tiling/region_cutter.hpp"

namespace rankloom {
namespace {

/// At most this many uneven tilings are built and evaluated, and at most this many edges are evaluated in total. If
/// that does not suffice for two tilings, the estimate decides.
constexpr EdgeIndex max_built = 32;
constexpr EdgeIndex max_evaluated_edges = EdgeIndex{1} << 24;
/// Ways to cut the uppermost level.
constexpr std::size_t max_choices = 4;
/// Equal boxes of one number of levels that are used as base tiles of uneven tilings.
constexpr std::size_t max_boxes = 8;
/// Uneven tilings are considered only if their estimated cost is below that of the best even one by this fraction:
/// estimates have an error of some percent.
constexpr double min_estimated_gain = 0.08;

class Tiling {
 public:
  Tiling(const MapProblem& problem, const Grid& grid)
      : problem_(problem),
        grid_(grid),
        slots_(problem),
        traffic_(grid),
        uniform_levels_(levels_upward()),
        boxes_(traffic_, uniform_levels_) {}

  std::vector<Core> best() {
    auto candidates = all_candidates();
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
    const auto exact = std::find_if(candidates.begin(), candidates.end(), [](const Candidate& c) { return c.exact; });
    // The relative gain of the cheapest estimate over the best even tiling.
    const double gain = exact == candidates.end() ? std::numeric_limits<double>::infinity()
                                                  : (exact->cost - candidates.front().cost) / std::abs(exact->cost);
    if (!(gain > min_estimated_gain)) return build(*exact);
    const EdgeIndex affordable = max_evaluated_edges / std::max<EdgeIndex>(1, problem_.graph.edge_count());
    if (affordable < 2) return build(candidates.front());
    std::vector<Core> best;
    double min_cost = 0;
    const auto consider_placement = [&](std::vector<Core> core_of) {
      const double cost =
          objective(problem_.model, evaluate(problem_.graph, problem_.topology, core_of, problem_.model));
      if (best.empty() || cost < min_cost) best = std::move(core_of), min_cost = cost;
    };
    const auto consider = [&](const Candidate& candidate) { consider_placement(build(candidate)); };
    if (exact != candidates.end()) consider(*exact);
    EdgeIndex builds_left = std::min(affordable, max_built);
    for (const Candidate& candidate : candidates) {
      if (!candidate.exact && builds_left > 0) --builds_left, consider(candidate);
    }
    const auto serpentines = all_serpentines();
    for (std::size_t at = 0; at < std::min<std::size_t>(affordable, serpentines.size()); ++at) {
      const auto& [base_tile, order] = serpentines[at];
      consider_placement(place(base_tile, serpentine_order(traffic_, base_tile.box, order)));
    }
    return best;
  }

 private:
  /// An equal box of the lowest `levels` levels.
  struct BaseTile {
    std::size_t levels;
    Box box;
  };
  struct Candidate {
    double cost;
    bool exact;  ///< All levels have equal boxes, so the cost is not an estimate.
    BaseTile base_tile;
    TopCut top;  ///< The choice of the cut plan for the levels above.
  };

  std::vector<BoxLevel> levels_upward() const {
    const auto levels = slots_.levels();
    std::vector<BoxLevel> upward(levels.rbegin(), levels.rend());
    upward.resize(slots_.uniform_levels());
    return upward;
  }

  std::vector<Candidate> all_candidates() {
    std::vector<Candidate> candidates;
    const auto levels = slots_.levels();
    for (std::size_t level_count = 0; level_count < boxes_.by_level().size(); ++level_count) {
      if (level_count == levels.size()) {
        for (const auto& [box, entry] : boxes_.by_level()[level_count]) {
          candidates.push_back({entry.cost, true, {level_count, box}, {}});
        }
        continue;
      }
      for (const auto& [cost, box] : promising_boxes(level_count)) {
        CutPlan plan(traffic_, levels.first(levels.size() - level_count), box);
        for (const double pieces : piece_counts()) {
          const auto choices = plan.choices(0, pieces, grid_sides(traffic_));
          for (std::size_t choice = 0; choice < std::min(max_choices, choices.size()); ++choice) {
            candidates.push_back({cost + choices[choice].cost, false, {level_count, box}, {pieces, choice}});
          }
        }
      }
    }
    return candidates;
  }

  /// The cheapest boxes of `level_count` levels and the cost inside them, assuming that all traffic between them
  /// crosses one level.
  std::vector<std::pair<double, Box>> promising_boxes(std::size_t level_count) const {
    const auto levels = slots_.levels();
    const double distance = levels[levels.size() - level_count - 1].distance;
    std::vector<std::pair<double, Box>> boxes;
    for (const auto& [box, entry] : boxes_.by_level()[level_count]) boxes.emplace_back(entry.cost, box);
    const auto total = [&](const auto& entry) {
      return entry.first + distance * traffic_.crossing_bytes(entry.second);
    };
    std::stable_sort(boxes.begin(), boxes.end(), [&](const auto& a, const auto& b) { return total(a) < total(b); });
    if (boxes.size() > max_boxes) boxes.resize(max_boxes);
    return boxes;
  }

  /// A last object that is not full counts as a fraction of one, or as one.
  std::vector<double> piece_counts() const {
    const double pieces = slots_.top_objects();
    if (pieces == std::ceil(pieces)) return {pieces};
    return {pieces, std::ceil(pieces)};
  }

  /// Base tiles in rows: the two best boxes of each number of levels, in all orders of the axes, or only with the axis
  /// of most traffic fastest if there are more than three axes.
  std::vector<std::pair<BaseTile, std::vector<std::size_t>>> all_serpentines() const {
    std::vector<std::size_t> order(traffic_.axes());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<std::vector<std::size_t>> orders;
    if (order.size() <= 3) {
      do orders.push_back(order);
      while (std::next_permutation(order.begin(), order.end()));
    } else {
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return traffic_.axis_bytes(a) < traffic_.axis_bytes(b); });
      orders.push_back(order);
    }
    std::vector<std::pair<BaseTile, std::vector<std::size_t>>> serpentines;
    const std::size_t levels = std::min(boxes_.by_level().size(), slots_.levels().size());
    for (std::size_t level_count = 0; level_count < levels; ++level_count) {
      auto boxes = promising_boxes(level_count);
      if (boxes.size() > 2) boxes.resize(2);
      for (const auto& [cost, box] : boxes) {
        for (const auto& each : orders) serpentines.push_back({{level_count, box}, each});
      }
    }
    return serpentines;
  }

  std::vector<Core> build(const Candidate& candidate) const {
    if (candidate.exact) return place(candidate.base_tile, std::vector<std::uint32_t>{0});
    const auto levels = slots_.levels();
    CutPlan plan(traffic_, levels.first(levels.size() - candidate.base_tile.levels), candidate.base_tile.box);
    return place(candidate.base_tile, cut_into_regions(slots_, traffic_, plan, candidate.base_tile.box, candidate.top));
  }

  /// Places each rank in the slots of its base tile, and inside the tile by its hierarchy of equal boxes.
  std::vector<Core> place(const BaseTile& base_tile, const std::vector<std::uint32_t>& group_of) const {
    const auto slot_in_tile = slot_order_in_box(boxes_.chain(base_tile.levels, base_tile.box), traffic_.axes());
    const GridCells cells(grid_);
    std::vector<Core> core_of(problem_.graph.rank_count());
    parallel_chunks(core_of.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t rank = begin; rank < end; ++rank) {
        const auto coordinates = cells.coordinates(grid_.cell(static_cast<std::uint32_t>(rank)));
        std::size_t tile = 0, cell_in_tile = 0;
        for (std::size_t axis = 0; axis < traffic_.axes(); ++axis) {
          const std::uint32_t side = base_tile.box[axis];
          tile = tile * (traffic_.extent(axis) / side) + coordinates[axis] / side;
          cell_in_tile = cell_in_tile * side + coordinates[axis] % side;
        }
        core_of[rank] = slots_.core(group_of[tile] * slot_in_tile.size() + slot_in_tile[cell_in_tile]);
      }
    });
    return core_of;
  }

  const MapProblem& problem_;
  const Grid& grid_;
  OccupiedSlots slots_;
  BoundaryTraffic traffic_;
  std::vector<BoxLevel> uniform_levels_;
  EvenTilings boxes_;
};

}  // namespace

std::optional<std::vector<Core>> tiled_placement(const MapProblem& problem, const Grid& grid) {
  const TimedSection timing("tiling");
  if (grid.extent.empty() || grid.cell_count() != problem.graph.rank_count()) return {};
  return Tiling(problem, grid).best();
}

}  // namespace rankloom
