// SPDX-License-Identifier: Apache-2.0
// map/structure/embedding: folds of a grid onto a mesh or torus of nodes.
#include "rankloom/map/structure/embedding/grid_embedding.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "rankloom/core/timing.hpp"
#include "rankloom/map/structure/embedding/digit_layout.hpp"
#include "rankloom/map/structure/embedding/grid_layout_cost.hpp"
#include "rankloom/map/structure/embedding/mesh_machine.hpp"
#include "rankloom/model/cost/loads.hpp"

namespace rankloom {
namespace {

using AxisFactors = std::array<std::uint32_t, max_axes>;

/// The digits of all axes on one level.
struct Digits {
  AxisFactors radix;   ///< 1: the axis has no digit here.
  AxisFactors before;  ///< The product of the radices on the levels inside.
  AxisFactors stride;  ///< One step of the digit is this many steps on the level.
};

/// The digit of a coordinate in the reflected Gray code of its axis.
std::uint32_t gray_digit(std::uint32_t coordinate, std::uint32_t before, std::uint32_t radix) {
  const std::uint32_t digit = coordinate / before % radix;
  const bool reflected = coordinate / before / radix % 2 != 0;
  return reflected ? radix - 1 - digit : digit;
}

/// Depth first over the levels of the machine, from the inside outward, with the cost so far as a bound.
class FoldSearch {
 public:
  FoldSearch(const Grid& grid, const MeshMachine& machine)
      : grid_(grid), levels_(machine.levels()), digits_(levels_.size()), room_(levels_.size() + 1, 1) {
    for (std::size_t level = levels_.size(); level-- > 0;) room_[level] = room_[level + 1] * levels_[level].size;
    for (const Grid::Direction& direction : grid.directions) {
      for (std::size_t axis = 0; axis < axes(); ++axis) {
        if (direction.step[axis] != 0) bytes_[axis] += direction.bytes;
      }
    }
  }

  /// The digits by level; empty if nothing fits.
  std::vector<Digits> run() {
    AxisFactors left{}, before{};
    before.fill(1);
    std::copy(grid_.extent.begin(), grid_.extent.end(), left.begin());
    choose_level(0, left, before, 0);
    return best_;
  }

  /// Of these digits; infinite if nothing fits.
  double cost() const { return best_cost_; }

 private:
  std::size_t axes() const { return grid_.extent.size(); }

  void choose_level(std::size_t level, const AxisFactors& left, const AxisFactors& before, double cost) {
    if (cost >= best_cost_ || visits_ == max_visits) return;
    ++visits_;
    std::uint64_t cells = 1;
    for (std::size_t axis = 0; axis < axes(); ++axis) cells *= left[axis];
    if (cells > room_[level]) return;
    if (level == levels_.size()) {
      best_cost_ = cost;
      best_ = digits_;
      return;
    }
    Digits& digits = digits_[level];
    digits.before = before;
    digits.radix.fill(1);
    choose_radix(level, 0, 1, left, cost);
  }

  /// Chooses the radix of each axis on the level, the largest first.
  void choose_radix(std::size_t level, std::size_t axis, std::uint64_t used, const AxisFactors& left, double cost) {
    if (axis == axes()) {
      const Digits chosen = digits_[level];
      AxisFactors rest{}, before{};
      for (std::size_t each = 0; each < axes(); ++each) {
        rest[each] = left[each] / chosen.radix[each];
        before[each] = chosen.before[each] * chosen.radix[each];
      }
      const double cost_here = set_strides(level);
      choose_level(level + 1, rest, before, cost + cost_here);
      digits_[level] = chosen;
      return;
    }
    for (std::uint64_t radix = std::min<std::uint64_t>(left[axis], levels_[level].size / used); radix >= 1; --radix) {
      if (left[axis] % radix != 0) continue;
      digits_[level].radix[axis] = static_cast<std::uint32_t>(radix);
      choose_radix(level, axis + 1, used * radix, left, cost);
    }
    digits_[level].radix[axis] = 1;
  }

  /// Steps of the digit along all lines of the axis, times bytes per step.
  double traffic_of(const Digits& digits, std::size_t axis) const {
    const std::uint32_t extent = grid_.extent[axis], radix = digits.radix[axis];
    if (radix == 1) return 0;
    const double rows = static_cast<double>(extent) / (static_cast<double>(digits.before[axis]) * radix);
    const double steps = rows * (radix - 1);
    return bytes_[axis] * steps / (grid_.wraps[axis] ? extent : extent - 1);
  }

  /// Axes with much traffic per step get short strides. Returns the cost of the level.
  double set_strides(std::size_t level) {
    Digits& digits = digits_[level];
    std::array<std::size_t, max_axes> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto urgency = [&](std::size_t axis) {
      return digits.radix[axis] == 1 ? 0 : traffic_of(digits, axis) / (digits.radix[axis] - 1);
    };
    std::stable_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(axes()),
                     [&](std::size_t a, std::size_t b) { return urgency(a) > urgency(b); });
    std::uint32_t stride = 1;
    double cost = 0;
    for (std::size_t at = 0; at < axes(); ++at) {
      const std::size_t axis = order[at];
      digits.stride[axis] = stride;
      const std::uint32_t radix = digits.radix[axis];
      cost += traffic_of(digits, axis) * levels_[level].distance(stride);
      if (grid_.wraps[axis]) {
        const std::uint32_t last = gray_digit(grid_.extent[axis] - 1, digits.before[axis], radix);
        cost += bytes_[axis] / grid_.extent[axis] * levels_[level].distance(stride * last);
      }
      stride *= radix;
    }
    return cost;
  }

  static constexpr std::uint64_t max_visits = 200'000;
  const Grid& grid_;
  std::span<const MachineLevel> levels_;
  std::array<double, max_axes> bytes_{};  // by axis
  std::vector<Digits> digits_, best_;     // by level
  std::vector<std::uint64_t> room_;       // slots of this level and all outside of it
  double best_cost_ = std::numeric_limits<double>::infinity();
  std::uint64_t visits_ = 0;
};

/// Whether every step on a level of the network leads to an adjacent position, the one that closes a ring included.
bool is_adjacent(const Grid& grid, std::span<const MachineLevel> levels, std::span<const Digits> digits) {
  for (std::size_t axis = 0; axis < grid.extent.size(); ++axis) {
    std::uint32_t hops_to_last = 0;
    for (std::size_t level = 0; level < levels.size(); ++level) {
      const std::uint32_t radix = digits[level].radix[axis];
      if (radix == 1 || !levels[level].in_network) continue;
      if (digits[level].stride[axis] != 1) return false;
      const std::uint32_t last = gray_digit(grid.extent[axis] - 1, digits[level].before[axis], radix);
      hops_to_last += levels[level].wraps ? std::min(last, levels[level].size - last) : last;
    }
    if (grid.wraps[axis] && hops_to_last > 1) return false;
  }
  return true;
}

/// Two axes of two cells with equal traffic are a ring of four cells. The same grid with such a ring for every pair of
/// these axes; nothing if there is none.
std::optional<Grid> with_rings(const Grid& grid) {
  const std::size_t axes = grid.extent.size();
  const auto bytes_along = [&](std::size_t axis) {
    double bytes = 0;
    for (const Grid::Direction& direction : grid.directions) {
      AxisSteps along{};
      along[axis] = 1;
      if (direction.step == along) bytes += direction.bytes;
    }
    return bytes;
  };
  constexpr double equal = 0.01;
  std::vector<std::pair<std::size_t, std::size_t>> old_axes;  // of each new axis; twice the same: not a ring
  std::vector<bool> used(axes, false);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (used[axis]) continue;
    std::size_t partner = axis;
    for (std::size_t other = axis + 1; other < axes && partner == axis && grid.extent[axis] == 2; ++other) {
      if (!used[other] && grid.extent[other] == 2 &&
          std::abs(bytes_along(axis) - bytes_along(other)) <= equal * bytes_along(axis)) {
        partner = other;
      }
    }
    used[partner] = true;
    old_axes.emplace_back(axis, partner);
  }
  if (old_axes.size() == axes) return std::nullopt;
  Grid result{.extent = {},
              .wraps = {},
              .cell_of = {},
              .directions = {},
              .variation = grid.variation,
              .exact = grid.exact,
              .stencil = grid.stencil,
              .regular = grid.regular};
  for (std::size_t axis = 0; axis < old_axes.size(); ++axis) {
    const auto [first, second] = old_axes[axis];
    result.extent.push_back(first == second ? grid.extent[first] : 4);
    result.wraps.push_back(first != second || grid.wraps[first]);
    AxisSteps along{};
    along[axis] = 1;
    result.directions.push_back({along, bytes_along(first) + (first == second ? 0 : bytes_along(second))});
  }
  result.cell_of.resize(grid.cell_count());
  std::vector<std::uint32_t> coordinate(axes);
  for (std::uint32_t rank = 0; rank < grid.cell_count(); ++rank) {
    std::uint32_t cell = grid.cell(rank);
    for (std::size_t axis = axes; axis-- > 0; cell /= grid.extent[axis]) coordinate[axis] = cell % grid.extent[axis];
    for (std::size_t axis = 0; axis < old_axes.size(); ++axis) {
      const auto [first, second] = old_axes[axis];
      const std::uint32_t around[] = {0, 1, 3, 2};
      const std::uint32_t position =
          first == second ? coordinate[first] : around[2 * coordinate[first] + coordinate[second]];
      result.cell_of[rank] = result.cell_of[rank] * result.extent[axis] + position;
    }
  }
  return result;
}

/// The core of every rank; `position_on` gives the position of a cell on a level.
template <class PositionOn>
std::vector<Core> cores_of(const Grid& grid, const MeshMachine& machine, const PositionOn& position_on) {
  std::vector<Core> core_of(grid.cell_of.empty() ? grid.cell_count() : grid.cell_of.size());
  std::vector<std::uint32_t> coordinates(grid.extent.size()), positions(machine.levels().size());
  for (std::uint32_t rank = 0; rank < core_of.size(); ++rank) {
    std::uint32_t cell = grid.cell(rank);
    for (std::size_t axis = grid.extent.size(); axis-- > 0; cell /= grid.extent[axis])
      coordinates[axis] = cell % grid.extent[axis];
    for (std::size_t level = 0; level < positions.size(); ++level) positions[level] = position_on(level, coordinates);
    core_of[rank] = machine.core(positions);
  }
  return core_of;
}

GridEmbedding embedding_of(const Grid& grid, const MeshMachine& machine, std::span<const Digits> digits) {
  const auto position_on = [&](std::size_t level, std::span<const std::uint32_t> coordinates) {
    std::uint32_t position = 0;
    for (std::size_t axis = 0; axis < coordinates.size(); ++axis) {
      position += gray_digit(coordinates[axis], digits[level].before[axis], digits[level].radix[axis]) *
                  digits[level].stride[axis];
    }
    return position;
  };
  return {cores_of(grid, machine, position_on), is_adjacent(grid, machine.levels(), digits)};
}

/// The fold with its radices split into prime factors.
DigitLayout layout_of(const Grid& grid, std::span<const Digits> digits) {
  DigitLayout layout{.levels = std::vector<std::vector<LayoutDigit>>(digits.size()),
                     .gray = std::vector<bool>(grid.extent.size(), true)};
  for (std::size_t level = 0; level < digits.size(); ++level) {
    std::vector<std::uint32_t> axes(grid.extent.size());
    std::iota(axes.begin(), axes.end(), 0U);
    std::stable_sort(axes.begin(), axes.end(), [&](std::uint32_t a, std::uint32_t b) {
      return digits[level].stride[a] < digits[level].stride[b];
    });
    for (const std::uint32_t axis : axes) {
      std::uint32_t before = digits[level].before[axis];
      bool is_first = true;
      for (const std::uint32_t factor : prime_radices(digits[level].radix[axis])) {
        layout.levels[level].push_back({axis, before, factor, !is_first});
        before *= factor;
        is_first = false;
      }
    }
  }
  return layout;
}

/// Whether all neighbours along the axes are on adjacent nodes; false if nodes have several slots.
bool is_adjacent(const Grid& grid, std::span<const MachineLevel> levels, const DigitLayout& layout) {
  std::vector<MachineLevel> hops(levels.begin(), levels.end());
  for (MachineLevel& level : hops) {
    if (!level.in_network && level.size > 1) return false;
    level.first_step = level.next_step = 1;
  }
  // No two cells are on the same node, so every step has one hop or more.
  double bytes = 0;
  for (const Grid::Direction& direction : grid.directions) {
    for (const std::int8_t step : direction.step) bytes += step != 0 ? direction.bytes : 0;
  }
  constexpr double rounding = 1e-9;
  return GridLayoutCost(grid, hops)(layout) <= bytes * (1 + rounding);
}

/// Ranks and edges that are visited at most to balance the link loads of a fold.
constexpr std::uint64_t max_balancing_visits = std::uint64_t{1} << 22;

/// The largest load of a link times its slowness; among equal ones the smaller sum of 8th powers is preferred.
double largest_load(std::vector<double> loads, const Topology& topology) {
  double max = 0, sum = 0;
  for (std::uint32_t link = 0; link < loads.size(); ++link) {
    loads[link] *= topology.slowness(Link{link});
    max = std::max(max, loads[link]);
  }
  if (max == 0) return 0;
  for (const double load : loads) sum += std::pow(load / max, 8);
  constexpr double weight_of_sum = 0.01;
  return max * (1 + weight_of_sum * std::pow(sum, 0.125));
}

/// A fold has one digit for each axis on a level. More digits can be cheaper if the grid has another number of
/// dimensions than the network.
GridEmbedding improved_fold(const Grid& grid, const MeshMachine& machine, std::span<const Digits> digits) {
  const std::uint64_t max_visits = std::clamp<std::uint64_t>(std::uint64_t{2048} * grid.cell_count(),
                                                             std::uint64_t{1} << 22, std::uint64_t{1} << 26);
  GridLayoutCost cost(grid, machine.levels());
  const DigitLayout layout = improve_layout(
      layout_of(grid, digits), machine.levels(), [&](const DigitLayout& each) { return cost(each); },
      [&] { return cost.visits() >= max_visits; });
  const auto position_on = [&](std::size_t level, std::span<const std::uint32_t> coordinates) {
    return layout.position(level, coordinates);
  };
  return {cores_of(grid, machine, position_on), is_adjacent(grid, machine.levels(), layout)};
}

/// The fold with the smallest largest link load that a search over layouts finds: of all folds with few hops, some load
/// the links of one dimension much more than those of another.
GridEmbedding balanced_fold(const MapProblem& problem, const Grid& grid, const MeshMachine& machine,
                            std::span<const Digits> digits) {
  const std::uint64_t visits_each = problem.graph.rank_count() + problem.graph.edge_count();
  const std::uint64_t max_comparisons = max_balancing_visits / visits_each;
  std::vector<Core> core_of;
  const auto place = [&](const DigitLayout& layout) {
    core_of = cores_of(grid, machine, [&](std::size_t level, std::span<const std::uint32_t> coordinates) {
      return layout.position(level, coordinates);
    });
  };
  std::uint64_t comparisons = 0;
  const DigitLayout layout = improve_layout(
      layout_of(grid, digits), machine.levels(),
      [&](const DigitLayout& each) {
        ++comparisons;
        place(each);
        return largest_load(link_loads(problem.graph, problem.topology, core_of), problem.topology);
      },
      [&] { return comparisons >= max_comparisons; });
  place(layout);
  return {std::move(core_of), false};
}

double pairwise_cost(const MapProblem& problem, std::span<const Core> core_of) {
  const CostModel model = pairwise_model(problem.model);
  return objective(model, evaluate(problem.graph, problem.topology, core_of, model));
}

/// The same grid with empty cells at the end of open axes.
Grid padded(const Grid& grid, std::vector<std::uint32_t> extent) {
  Grid result = grid;
  result.cell_of.assign(grid.cell_count(), 0);
  for (std::uint32_t rank = 0; rank < grid.cell_count(); ++rank) {
    std::uint32_t cell = grid.cell(rank), stride = 1;
    for (std::size_t axis = extent.size(); axis-- > 0; cell /= grid.extent[axis], stride *= extent[axis])
      result.cell_of[rank] += cell % grid.extent[axis] * stride;
  }
  result.extent = std::move(extent);
  return result;
}

/// A few grids with open axes padded to multiples of 2 and 4, which fit nodes of several cores better than an odd
/// number of cells; those with the fewest empty cells first.
std::vector<Grid> padded_grids(const Grid& grid, std::uint64_t slots) {
  constexpr std::size_t max_grids = 4;
  std::vector<std::vector<std::uint32_t>> extents{{}};
  for (std::size_t axis = 0; axis < grid.extent.size(); ++axis) {
    std::vector<std::uint32_t> lengths{grid.extent[axis]};
    for (const std::uint32_t multiple : {2U, 4U}) {
      const std::uint32_t length = (grid.extent[axis] + multiple - 1) / multiple * multiple;
      if (length > lengths.back() && !grid.wraps[axis]) lengths.push_back(length);
    }
    std::vector<std::vector<std::uint32_t>> longer;
    for (const auto& extent : extents) {
      for (const std::uint32_t length : lengths) {
        longer.push_back(extent);
        longer.back().push_back(length);
      }
    }
    extents = std::move(longer);
  }
  const auto cells = [](const std::vector<std::uint32_t>& extent) {
    return std::accumulate(extent.begin(), extent.end(), std::uint64_t{1}, std::multiplies<>());
  };
  std::erase_if(extents, [&](const auto& extent) { return extent == grid.extent || cells(extent) > slots; });
  std::ranges::stable_sort(extents, [&](const auto& a, const auto& b) { return cells(a) < cells(b); });
  std::vector<Grid> grids;
  for (std::size_t at = 0; at < std::min(max_grids, extents.size()); ++at) grids.push_back(padded(grid, extents[at]));
  return grids;
}

std::optional<GridEmbedding> embed_cells(const MapProblem& problem, const MeshMachine& machine, const Grid& grid) {
  FoldSearch search(grid, machine);
  auto digits = search.run();
  const Grid* folded = &grid;
  const auto rings = with_rings(grid);
  if (rings) {
    FoldSearch search_rings(*rings, machine);
    auto digits_of_rings = search_rings.run();
    if (!digits_of_rings.empty() && search_rings.cost() < search.cost()) {
      digits = std::move(digits_of_rings);
      folded = &*rings;
    }
  }
  if (digits.empty()) return std::nullopt;
  GridEmbedding embedding = embedding_of(*folded, machine, digits);
  if (embedding.adjacent) return embedding;
  GridEmbedding improved = improved_fold(*folded, machine, digits);
  if (problem.model == CostModel::congestion && !improved.adjacent)
    return balanced_fold(problem, *folded, machine, digits);
  return pairwise_cost(problem, improved.core_of) < pairwise_cost(problem, embedding.core_of) ? improved : embedding;
}

}  // namespace

std::optional<GridEmbedding> embed_grid_in_mesh(const MapProblem& problem, const Grid& grid) {
  const TimedSection timing("grid embedding");
  const auto machine = MeshMachine::of(problem);
  if (!machine || grid.cell_count() != problem.graph.rank_count() || grid.cell_count() > machine->slots())
    return std::nullopt;
  auto best = embed_cells(problem, *machine, grid);
  if (best && best->adjacent) return best;
  for (const Grid& larger : padded_grids(grid, machine->slots())) {
    const auto digits = FoldSearch(larger, *machine).run();
    if (digits.empty()) continue;
    GridEmbedding embedding = embedding_of(larger, *machine, digits);
    embedding.adjacent = false;  // partly filled nodes: a search may still find something better
    if (!best || pairwise_cost(problem, embedding.core_of) < pairwise_cost(problem, best->core_of))
      best = std::move(embedding);
  }
  return best;
}

}  // namespace rankloom
