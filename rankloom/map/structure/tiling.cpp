// SPDX-License-Identifier: Apache-2.0
// map/structure: boxes for the parts of a machine, even where they can be, cut to size elsewhere.
#include "rankloom/map/structure/tiling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/machine_tree.hpp"
#include "rankloom/map/near_order.hpp"
#include "rankloom/map/structure/cut_plan.hpp"
#include "rankloom/map/structure/survey.hpp"
#include "rankloom/model/distance.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;

/// Uneven boxes are built and evaluated so many times at most, and so many edges are evaluated in all; if that is not
/// enough for two, the estimate decides.
constexpr EdgeIndex most_built = 32;
constexpr EdgeIndex most_evaluated = EdgeIndex{1} << 24;
/// Of ways to cut the uppermost level.
constexpr std::size_t most_choices = 4;
/// An estimate is trusted against an exact figure only if it is better by this much.
constexpr double clearly_better = 0.97;

Sides<double> whole_grid(const Walls& walls) {
  Sides<double> sides;
  for (std::size_t axis = 0; axis < max_axes; ++axis) sides[axis] = walls.extent(axis);
  return sides;
}

/// What a byte between two cores costs, with the messages that come with it.
class ByteCost {
 public:
  explicit ByteCost(const MapProblem& problem)
      : distance_(make_distance(problem.topology,
                                problem.model == CostModel::congestion ? CostModel::hopbytes : problem.model)) {
    if (problem.model != CostModel::time) return;
    const double bytes = problem.graph.total_bytes();
    if (bytes > 0) messages_per_byte_ = problem.graph.total_messages() / bytes;
  }
  double operator()(std::uint32_t p, std::uint32_t q) const {
    const PairCost cost = std::visit([&](const auto& distance) { return distance(Core{p}, Core{q}); }, distance_);
    return cost.per_byte + cost.per_message * messages_per_byte_;
  }

 private:
  Distance distance_;
  double messages_per_byte_ = 0;
};

/// The places that ranks take, and the levels of the machine above them.
class Occupancy {
 public:
  explicit Occupancy(const MapProblem& problem)
      : tree_(problem.topology, problem.slots),
        seats_(block_placement(problem.graph.rank_count(), problem.topology, problem.slots)) {
    packed_ = problem.slots.one_each() && index(seats_.back()) + std::size_t{1} == seats_.size();
    const ByteCost cost(problem);
    const std::size_t each = seats_in(Part{index(seats_.front()), index(seats_.front()) + 1, 0});
    Part part = tree_.root();
    for (auto inside = used_children(part); !inside.empty(); inside = used_children(part)) {
      if (inside.size() > 1) {
        levels_.push_back({static_cast<std::uint32_t>(inside.size()), cost(inside[0].begin, inside[1].begin)});
        part_on_.push_back(part);
      }
      part = inside.front();
    }
    if (each > 1) {
      levels_.push_back({static_cast<std::uint32_t>(each), cost(part.begin, part.begin)});
      part_on_.push_back(part);
    }
    even_ = levels_.size();
    while (even_ > 0 && !can_be_even(even_)) --even_;
  }

  const MachineTree& tree() const { return tree_; }
  Core seat(std::size_t at) const { return seats_[at]; }
  /// Top down, of the first part of each level; without those that leave no choice.
  std::span<const BoxLevel> levels() const { return levels_; }
  /// How many times the first object of the uppermost level fits into all that is used.
  double pieces() const {
    const auto parts = used_children(part_on_.front());
    const std::size_t first = parts.empty() ? 1 : seats_in(parts.front());
    return static_cast<double>(seats_.size()) / static_cast<double>(first);
  }
  /// So many levels, from the lowest up, are the same all over the machine.
  std::size_t even() const { return even_; }

  std::size_t first_seat(const Part& part) const {
    if (packed_) return std::min<std::size_t>(part.begin, seats_.size());
    return static_cast<std::size_t>(std::lower_bound(seats_.begin(), seats_.end(), Core{part.begin}) - seats_.begin());
  }
  std::size_t seats_in(const Part& part) const { return first_seat({part.end, part.end, 0}) - first_seat(part); }
  std::vector<Part> used_children(const Part& part) const {
    auto parts = tree_.children(part);
    std::erase_if(parts, [&](const Part& child) { return seats_in(child) == 0; });
    return parts;
  }

 private:
  /// Every part as large as the first one of this level, counted from below, is like it or empty.
  bool can_be_even(std::size_t count) const {
    const std::size_t at = levels_.size() - count;
    const Part& model = part_on_[at];
    std::size_t seats = 1;
    for (std::size_t level = at; level < levels_.size(); ++level) seats *= levels_[level].arity;
    return is_even(model, at, seats) && all_like(tree_.root(), seats, at);
  }
  /// All used parts with so many seats or fewer have the levels from `at` on, in full.
  bool all_like(const Part& part, std::size_t seats, std::size_t at) const {
    const std::size_t inside = seats_in(part);
    if (inside == 0) return true;
    if (inside <= seats) return inside == seats && is_even(part, at, seats);
    if (part.is_core()) return false;
    const auto parts = tree_.children(part);
    return std::all_of(parts.begin(), parts.end(), [&](const Part& child) { return all_like(child, seats, at); });
  }
  bool is_even(const Part& part, std::size_t at, std::size_t seats) const {
    if (seats_in(part) != seats) return false;
    if (at == levels_.size()) return true;
    if (packed_ && part.core_count() == seats && !has_network(tree_, part)) return symmetric(part, at);
    const auto parts = used_children(part);
    if (parts.size() == 1) return is_even(parts.front(), at, seats);
    if (parts.empty()) return at + 1 == levels_.size();
    if (has_network(tree_, part) || parts.size() != levels_[at].arity) return false;
    return std::all_of(parts.begin(), parts.end(),
                       [&](const Part& child) { return is_even(child, at + 1, seats / parts.size()); });
  }

  bool symmetric(const Part& part, std::size_t at) const {
    if (!tree_.symmetric(part)) return false;
    const auto arities = tree_.arities(part);
    return std::equal(arities.begin(), arities.end(), levels_.begin() + static_cast<std::ptrdiff_t>(at), levels_.end(),
                      [](std::uint32_t arity, const BoxLevel& level) { return arity == level.arity; });
  }

  MachineTree tree_;
  std::vector<Core> seats_;  // in order
  bool packed_ = false;      // seat s is core s
  std::vector<BoxLevel> levels_;
  std::vector<Part> part_on_;  // the first part of each level, whose children its objects are
  std::size_t even_ = 0;
};

/// Which of a plan's ways to cut the uppermost level, planned for so many pieces.
struct TopCut {
  double pieces = 1;
  std::size_t choice = 0;
};

/// Cuts a grid of grains into regions for the parts of the machine.
class Cutter {
 public:
  Cutter(const Occupancy& occupancy, const Walls& walls, CutPlan& plan, const Box& grain, const TopCut& top)
      : occupancy_(occupancy), walls_(walls), plan_(plan), grain_(grain), top_(top) {
    for (std::size_t axis = 0; axis < walls.axes(); ++axis) {
      count_[axis] = walls.extent(axis) / grain[axis];
      grain_cells_ *= grain[axis];
    }
  }

  /// Grain (row major) → which of the seats' groups as large as a grain it gets.
  std::vector<std::uint32_t> run() {
    std::vector<Keyed> grains(walls_.cells() / grain_cells_);
    for (std::uint32_t at = 0; at < grains.size(); ++at) grains[at].grain = at;
    group_of_.resize(grains.size());
    give(occupancy_.tree().root(), grains, whole_grid(walls_), 0);
    return std::move(group_of_);
  }

 private:
  struct Keyed {
    std::uint64_t key;
    std::uint32_t grain;
  };

  void give(const Part& part, std::span<Keyed> grains, const Sides<double>& sides, std::size_t level) {
    const auto parts = occupancy_.used_children(part);
    if (grains.size() == 1 || parts.empty()) {
      auto group = static_cast<std::uint32_t>(occupancy_.first_seat(part) / grain_cells_);
      for (const Keyed& keyed : grains) group_of_[keyed.grain] = group++;
    } else if (parts.size() == 1) {
      give(parts.front(), grains, sides, level);
    } else if (has_network(occupancy_.tree(), part)) {
      halve(near_order(occupancy_.tree().topology(), parts), grains, sides, level);
    } else {
      const double pieces = level == 0 ? top_.pieces : static_cast<double>(parts.size());
      const auto choices = plan_.choices(std::min(level, plan_.level_count() - 1), pieces, sides);
      const Cuts cuts = choices.empty() ? Cuts{} : choices[level == 0 ? top_.choice : 0].cuts;
      split(parts, cuts, 0, grains, sides, level);
    }
  }

  void split(std::span<const Part> parts, const Cuts& cuts, std::size_t at, std::span<Keyed> grains,
             const Sides<double>& sides, std::size_t level) {
    if (parts.size() == 1) return give(parts.front(), grains, sides, level + 1);
    const bool last = at + 1 >= cuts.axes;
    const std::size_t axis = at < cuts.axes ? cuts.axis[at] : cuts.axis[0];
    const std::size_t slabs = last ? parts.size() : std::min<std::size_t>(cuts.slabs[at], parts.size());
    sort_along(axis, grains, sides);
    std::size_t begin = 0;
    for (std::size_t slab = 0; slab < slabs; ++slab) {
      const std::size_t from = parts.size() * slab / slabs, to = parts.size() * (slab + 1) / slabs;
      const auto inside = parts.subspan(from, to - from);
      const std::size_t count = grains_for(inside);
      split(inside, cuts, at + 1, grains.subspan(begin, count), part_of_side(sides, axis, count, grains.size()), level);
      begin += count;
    }
  }

  /// Across the axis where least is cut, again and again: halves of the list are near each other.
  void halve(std::span<const Part> parts, std::span<Keyed> grains, const Sides<double>& sides, std::size_t level) {
    if (parts.size() == 1) return give(parts.front(), grains, sides, level + 1);
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t axis = 0; axis < walls_.axes(); ++axis) {
      if (sides[axis] <= grain_[axis]) continue;
      const double crossing = walls_.crossing(part_of_side(sides, axis, 1, 2));
      if (crossing < least) best = axis, least = crossing;
    }
    sort_along(best, grains, sides);
    const auto first = parts.first(parts.size() / 2);
    const std::size_t count = grains_for(first);
    halve(first, grains.first(count), part_of_side(sides, best, count, grains.size()), level);
    halve(parts.subspan(first.size()), grains.subspan(count),
          part_of_side(sides, best, grains.size() - count, grains.size()), level);
  }

  std::size_t grains_for(std::span<const Part> parts) const {
    std::size_t seats = 0;
    for (const Part& part : parts) seats += occupancy_.seats_in(part);
    return seats / grain_cells_;
  }

  static Sides<double> part_of_side(Sides<double> sides, std::size_t axis, std::size_t part, std::size_t whole) {
    sides[axis] *= static_cast<double>(part) / static_cast<double>(whole);
    return sides;
  }

  /// Plane after plane across the axis, each in rows along its shortest side, so that a cut inside a plane is short.
  void sort_along(std::size_t axis, std::span<Keyed> grains, const Sides<double>& sides) const {
    std::vector<std::size_t> order{axis};
    for (std::size_t other = 0; other < walls_.axes(); ++other) {
      if (other != axis) order.push_back(other);
    }
    std::stable_sort(order.begin() + 1, order.end(), [&](std::size_t a, std::size_t b) { return sides[a] > sides[b]; });
    parallel_chunks(grains.size(), [&](std::size_t begin, std::size_t end) {
      for (Keyed& keyed : grains.subspan(begin, end - begin)) {
        std::array<std::uint32_t, max_axes> place{};
        std::uint32_t left = keyed.grain;
        for (std::size_t at = walls_.axes(); at-- > 0; left /= count_[at]) place[at] = left % count_[at];
        keyed.key = 0;
        for (const std::size_t at : order) keyed.key = keyed.key * count_[at] + place[at];
      }
    });
    std::sort(grains.begin(), grains.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
  }

  const Occupancy& occupancy_;
  const Walls& walls_;
  CutPlan& plan_;
  Box grain_;
  TopCut top_;
  Box count_ = unit_box();
  std::size_t grain_cells_ = 1;
  std::vector<std::uint32_t> group_of_;
};

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
    if (exact != candidates.end() && exact->cost <= candidates.front().cost * (1 + 1e-9)) return built(*exact);
    const EdgeIndex affordable = most_evaluated / std::max<EdgeIndex>(1, problem_.graph.edge_count());
    if (affordable < 2) {
      const bool trusted = exact == candidates.end() || candidates.front().cost < clearly_better * exact->cost;
      return built(trusted ? candidates.front() : *exact);
    }
    std::vector<Core> best;
    double least = 0;
    const auto consider = [&](const Candidate& candidate) {
      auto core_of = built(candidate);
      const double cost =
          objective(problem_.model, evaluate(problem_.graph, problem_.topology, core_of, problem_.model));
      if (best.empty() || cost < least) best = std::move(core_of), least = cost;
    };
    if (exact != candidates.end()) consider(*exact);
    EdgeIndex left = std::min(affordable, most_built);
    for (const Candidate& candidate : candidates) {
      if (!candidate.exact && left > 0) --left, consider(candidate);
    }
    return best;
  }

 private:
  struct Candidate {
    double cost;
    bool exact;          ///< All levels are even.
    std::size_t levels;  ///< So many of them, from below, form even boxes.
    Box box;
    TopCut top;  ///< Of the plan for those above.
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
      const bool exact = joined == levels.size();
      for (const auto& [box, entry] : boxes_.by_level()[joined]) {
        if (exact) {
          candidates.push_back({entry.cost, true, joined, box, {}});
          continue;
        }
        CutPlan plan(walls_, levels.first(levels.size() - joined), box);
        for (const double pieces : numbers_of_pieces()) {
          const auto choices = plan.choices(0, pieces, whole_grid(walls_));
          for (std::size_t choice = 0; choice < std::min(most_choices, choices.size()); ++choice) {
            candidates.push_back({entry.cost + choices[choice].cost, false, joined, box, {pieces, choice}});
          }
        }
      }
    }
    return candidates;
  }

  /// A last object that is not full counts as a part of one, or as one.
  std::vector<double> numbers_of_pieces() const {
    const double pieces = occupancy_.pieces();
    if (pieces == std::ceil(pieces)) return {pieces};
    return {pieces, std::ceil(pieces)};
  }

  std::vector<Core> built(const Candidate& candidate) const {
    const auto chain = boxes_.chain(candidate.levels, candidate.box);
    const auto place_of = places_in_box(chain, walls_.axes());
    std::vector<std::uint32_t> group_of{0};
    if (!candidate.exact) {
      const auto levels = occupancy_.levels();
      CutPlan plan(walls_, levels.first(levels.size() - candidate.levels), candidate.box);
      group_of = Cutter(occupancy_, walls_, plan, candidate.box, candidate.top).run();
    }
    const Cells cells(grid_);
    std::vector<Core> core_of(problem_.graph.rank_count());
    parallel_chunks(core_of.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t rank = begin; rank < end; ++rank) {
        const auto place = cells.place(grid_.position(static_cast<std::uint32_t>(rank)));
        std::size_t grain = 0, inside = 0;
        for (std::size_t axis = 0; axis < walls_.axes(); ++axis) {
          const std::uint32_t side = candidate.box[axis];
          grain = grain * (walls_.extent(axis) / side) + place[axis] / side;
          inside = inside * side + place[axis] % side;
        }
        core_of[rank] = occupancy_.seat(group_of[grain] * place_of.size() + place_of[inside]);
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
