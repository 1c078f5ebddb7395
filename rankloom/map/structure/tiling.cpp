// SPDX-License-Identifier: Apache-2.0
// map/structure: boxes for the parts of a machine, even where they can be, cut to size elsewhere.
#include "rankloom/map/structure/tiling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/structure/cutter.hpp"
#include "rankloom/map/structure/survey.hpp"

namespace rankloom {
namespace {

/// Uneven boxes are built and evaluated so many times at most, and so many edges are evaluated in all; if that is not
/// enough for two, the estimate decides.
constexpr EdgeIndex most_built = 32;
constexpr EdgeIndex most_evaluated = EdgeIndex{1} << 24;
/// Of ways to cut the uppermost level.
constexpr std::size_t most_choices = 4;
/// Of even boxes that the same number of levels can form, so many serve as grains of uneven ones.
constexpr std::size_t most_boxes = 8;
/// Uneven boxes are thought of only if their estimated cost is below that of the best even ones by this share:
/// estimates are some percent off.
constexpr double clearly_better = 0.08;

class Tiling {
 public:
  Tiling(const MapProblem& problem, const Grid& grid)
      : problem_(problem),
        grid_(grid),
        occupancy_(problem),
        walls_(grid),
        even_levels_(levels_upward()),
        boxes_(walls_, even_levels_) {}

  std::vector<Core> best() {
    auto candidates = all_candidates();
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
    const auto exact = std::find_if(candidates.begin(), candidates.end(), [](const Candidate& c) { return c.exact; });
    // By how much the cheapest estimate beats the best even boxes, as a share of their cost.
    const double better = exact == candidates.end() ? std::numeric_limits<double>::infinity()
                                                    : (exact->cost - candidates.front().cost) / std::abs(exact->cost);
    if (!(better > clearly_better)) return built(*exact);
    const EdgeIndex affordable = most_evaluated / std::max<EdgeIndex>(1, problem_.graph.edge_count());
    if (affordable < 2) return built(candidates.front());
    std::vector<Core> best;
    double least = 0;
    const auto consider_placement = [&](std::vector<Core> core_of) {
      const double cost =
          objective(problem_.model, evaluate(problem_.graph, problem_.topology, core_of, problem_.model));
      if (best.empty() || cost < least) best = std::move(core_of), least = cost;
    };
    const auto consider = [&](const Candidate& candidate) { consider_placement(built(candidate)); };
    if (exact != candidates.end()) consider(*exact);
    EdgeIndex left = std::min(affordable, most_built);
    for (const Candidate& candidate : candidates) {
      if (!candidate.exact && left > 0) --left, consider(candidate);
    }
    const auto sweeps = all_sweeps();
    for (std::size_t at = 0; at < std::min<std::size_t>(affordable, sweeps.size()); ++at) {
      const auto& [grain, order] = sweeps[at];
      consider_placement(placed(grain, swept(walls_, grain.box, order)));
    }
    return best;
  }

 private:
  /// An even box of so many levels, from below.
  struct Grain {
    std::size_t levels;
    Box box;
  };
  struct Candidate {
    double cost;
    bool exact;  ///< All levels are even.
    Grain grain;
    TopCut top;  ///< Of the plan for the levels above.
  };

  std::vector<BoxLevel> levels_upward() const {
    const auto levels = occupancy_.levels();
    std::vector<BoxLevel> upward(levels.rbegin(), levels.rend());
    upward.resize(occupancy_.even());
    return upward;
  }

  std::vector<Candidate> all_candidates() {
    std::vector<Candidate> candidates;
    const auto levels = occupancy_.levels();
    for (std::size_t joined = 0; joined < boxes_.by_level().size(); ++joined) {
      if (joined == levels.size()) {
        for (const auto& [box, entry] : boxes_.by_level()[joined]) {
          candidates.push_back({entry.cost, true, {joined, box}, {}});
        }
        continue;
      }
      for (const auto& [cost, box] : promising_boxes(joined)) {
        CutPlan plan(walls_, levels.first(levels.size() - joined), box);
        for (const double pieces : numbers_of_pieces()) {
          const auto choices = plan.choices(0, pieces, whole_grid(walls_));
          for (std::size_t choice = 0; choice < std::min(most_choices, choices.size()); ++choice) {
            candidates.push_back({cost + choices[choice].cost, false, {joined, box}, {pieces, choice}});
          }
        }
      }
    }
    return candidates;
  }

  /// The cheapest boxes of so many levels and what is paid inside, if all that leaves them went one level up.
  std::vector<std::pair<double, Box>> promising_boxes(std::size_t joined) const {
    const auto levels = occupancy_.levels();
    const double distance = levels[levels.size() - joined - 1].distance;
    std::vector<std::pair<double, Box>> boxes;
    for (const auto& [box, entry] : boxes_.by_level()[joined]) boxes.emplace_back(entry.cost, box);
    const auto total = [&](const auto& entry) { return entry.first + distance * walls_.crossing(entry.second); };
    std::stable_sort(boxes.begin(), boxes.end(), [&](const auto& a, const auto& b) { return total(a) < total(b); });
    if (boxes.size() > most_boxes) boxes.resize(most_boxes);
    return boxes;
  }

  /// A last object that is not full counts as a part of one, or as one.
  std::vector<double> numbers_of_pieces() const {
    const double pieces = occupancy_.pieces();
    if (pieces == std::ceil(pieces)) return {pieces};
    return {pieces, std::ceil(pieces)};
  }

  /// Grains in rows: the two best of each number of levels, in all orders of the axes, or with the heaviest axis
  /// fastest where these are many.
  std::vector<std::pair<Grain, std::vector<std::size_t>>> all_sweeps() const {
    std::vector<std::size_t> order(walls_.axes());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<std::vector<std::size_t>> orders;
    if (order.size() <= 3) {
      do orders.push_back(order);
      while (std::next_permutation(order.begin(), order.end()));
    } else {
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return walls_.face_bytes(a) < walls_.face_bytes(b); });
      orders.push_back(order);
    }
    std::vector<std::pair<Grain, std::vector<std::size_t>>> sweeps;
    const std::size_t levels = std::min(boxes_.by_level().size(), occupancy_.levels().size());
    for (std::size_t joined = 0; joined < levels; ++joined) {
      auto boxes = promising_boxes(joined);
      if (boxes.size() > 2) boxes.resize(2);
      for (const auto& [cost, box] : boxes) {
        for (const auto& each : orders) sweeps.push_back({{joined, box}, each});
      }
    }
    return sweeps;
  }

  std::vector<Core> built(const Candidate& candidate) const {
    if (candidate.exact) return placed(candidate.grain, std::vector<std::uint32_t>{0});
    const auto levels = occupancy_.levels();
    CutPlan plan(walls_, levels.first(levels.size() - candidate.grain.levels), candidate.grain.box);
    return placed(candidate.grain, cut_to_size(occupancy_, walls_, plan, candidate.grain.box, candidate.top));
  }

  /// Each rank where its grain is, and inside by the even boxes that the grain is made of.
  std::vector<Core> placed(const Grain& grain, const std::vector<std::uint32_t>& group_of) const {
    const auto place_of = places_in_box(boxes_.chain(grain.levels, grain.box), walls_.axes());
    const Cells cells(grid_);
    std::vector<Core> core_of(problem_.graph.rank_count());
    parallel_chunks(core_of.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t rank = begin; rank < end; ++rank) {
        const auto place = cells.place(grid_.position(static_cast<std::uint32_t>(rank)));
        std::size_t at = 0, inside = 0;
        for (std::size_t axis = 0; axis < walls_.axes(); ++axis) {
          const std::uint32_t side = grain.box[axis];
          at = at * (walls_.extent(axis) / side) + place[axis] / side;
          inside = inside * side + place[axis] % side;
        }
        core_of[rank] = occupancy_.seat(group_of[at] * place_of.size() + place_of[inside]);
      }
    });
    return core_of;
  }

  const MapProblem& problem_;
  const Grid& grid_;
  Occupancy occupancy_;
  Walls walls_;
  std::vector<BoxLevel> even_levels_;
  EvenBoxes boxes_;
};

}  // namespace

std::optional<std::vector<Core>> tiled_placement(const MapProblem& problem, const Grid& grid) {
  if (grid.extent.empty() || grid.cell_count() != problem.graph.rank_count()) return {};
  return Tiling(problem, grid).best();
}

}  // namespace rankloom
