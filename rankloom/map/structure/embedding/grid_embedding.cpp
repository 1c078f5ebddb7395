// SPDX-License-Identifier: Apache-2.0
// map/structure/embedding: folds of a grid onto a mesh or torus of nodes.
#include "rankloom/map/structure/embedding/grid_embedding.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "rankloom/map/machine/machine_tree.hpp"
#include "rankloom/model/machine/distance.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;
using AxisFactors = std::array<std::uint32_t, max_axes>;

/// One level of the machine: slots of a core, parts inside a node, or a dimension of the network.
struct MachineLevel {
  std::uint32_t size;
  double first_step, next_step;  ///< Distance to the next position, and of each further step.
  bool in_network, wraps;

  double distance(std::uint32_t steps) const {
    if (steps == 0) return 0;
    if (wraps) steps = std::min(steps, size - steps);
    return first_step + next_step * (steps - 1);
  }
};

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

/// The machine from the innermost level outward; all nodes alike.
class MeshMachine {
 public:
  static std::optional<MeshMachine> of(const MapProblem& problem) {
    const Topology& topology = problem.topology;
    if (!topology.routed()) return std::nullopt;
    const auto* const mesh = std::get_if<MeshShape>(&topology.network().shape());
    const std::uint32_t cores = topology.core_count() / topology.node_count();
    if (mesh == nullptr || topology.core_count() % topology.node_count() != 0) return std::nullopt;
    for (const Core core : topology.cores()) {
      if (index(topology.node_of(core)) != index(core) / cores ||
          problem.capacities[core] != problem.capacities[Core{index(core) % cores}]) {
        return std::nullopt;
      }
    }
    return MeshMachine(problem, *mesh, cores);
  }

  std::span<const MachineLevel> levels() const { return levels_; }
  std::uint64_t slots() const { return std::uint64_t{nodes_} * slots_.size(); }
  /// The core at these positions, one per level.
  Core core(std::span<const std::uint32_t> position) const {
    std::uint64_t slot = 0, node = 0;
    for (std::size_t level = levels_.size(); level-- > 0;) {
      std::uint64_t& number = levels_[level].in_network ? node : slot;
      number = number * levels_[level].size + position[level];
    }
    return Core{static_cast<std::uint32_t>(node * cores_) + slots_[slot]};
  }

 private:
  MeshMachine(const MapProblem& problem, const MeshShape& mesh, std::uint32_t cores)
      : cores_(cores), nodes_(problem.topology.node_count()) {
    const Distance distance = make_distance(problem.topology, pairwise_model(problem.model));
    const auto between = [&](std::uint32_t p, std::uint32_t q) {
      return std::visit([&](const auto& d) { return d(Core{p}, Core{q}).per_byte; }, distance);
    };
    const MachineTree tree(problem.topology, problem.capacities);
    for (std::uint32_t core = 0; core < cores; ++core)
      slots_.insert(slots_.end(), problem.capacities[Core{core}], core);
    const auto nodes = tree.children(tree.root());
    const Part node = nodes_ > 1 ? nodes.front() : tree.root();
    if (tree.symmetric(node)) {
      const std::uint32_t capacity = problem.capacities[Core{0}];
      if (capacity > 1) levels_.push_back({capacity, 0, 0, false, false});
      const auto arities = tree.arities(node);
      std::uint32_t width = 1;
      for (std::size_t depth = arities.size(); depth-- > 0; width *= arities[depth])
        levels_.push_back({arities[depth], between(0, width), 0, false, false});
    } else {
      levels_.push_back({static_cast<std::uint32_t>(slots_.size()), between(0, cores - 1), 0, false, false});
    }
    std::uint32_t nodes_apart = 1;
    for (std::size_t dimension = mesh.sizes.size(); dimension-- > 0; nodes_apart *= mesh.sizes[dimension]) {
      const std::uint32_t size = mesh.sizes[dimension];
      if (size == 1) continue;
      const double one = between(0, nodes_apart * cores);
      const double two = size > 3 || (size > 2 && !mesh.torus) ? between(0, 2 * nodes_apart * cores) : one;
      levels_.push_back({size, one, two - one, true, mesh.torus});
    }
  }

  std::uint32_t cores_, nodes_;
  std::vector<std::uint32_t> slots_;  // the cores of a node, each as often as its capacity
  std::vector<MachineLevel> levels_;
};

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
  Grid result{
      .extent = {}, .wraps = {}, .cell_of = {}, .directions = {}, .variation = grid.variation, .exact = grid.exact};
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

GridEmbedding embedding_of(const Grid& grid, const MeshMachine& machine, std::span<const Digits> digits) {
  const auto levels = machine.levels();
  GridEmbedding result{std::vector<Core>(grid.cell_count()), is_adjacent(grid, levels, digits)};
  std::vector<std::uint32_t> position(levels.size());
  for (std::uint32_t rank = 0; rank < grid.cell_count(); ++rank) {
    std::fill(position.begin(), position.end(), 0);
    std::uint32_t cell = grid.cell(rank);
    for (std::size_t axis = grid.extent.size(); axis-- > 0; cell /= grid.extent[axis]) {
      const std::uint32_t coordinate = cell % grid.extent[axis];
      for (std::size_t level = 0; level < levels.size(); ++level) {
        const Digits& of_level = digits[level];
        position[level] += gray_digit(coordinate, of_level.before[axis], of_level.radix[axis]) * of_level.stride[axis];
      }
    }
    result.core_of[rank] = machine.core(position);
  }
  return result;
}

}  // namespace

std::optional<GridEmbedding> embed_grid_in_mesh(const MapProblem& problem, const Grid& grid) {
  const auto machine = MeshMachine::of(problem);
  if (!machine || grid.cell_count() != problem.graph.rank_count() || grid.cell_count() > machine->slots())
    return std::nullopt;
  FoldSearch search(grid, *machine);
  auto digits = search.run();
  if (const auto rings = with_rings(grid)) {
    FoldSearch search_rings(*rings, *machine);
    auto digits_of_rings = search_rings.run();
    if (!digits_of_rings.empty() && search_rings.cost() < search.cost())
      return embedding_of(*rings, *machine, digits_of_rings);
  }
  if (digits.empty()) return std::nullopt;
  return embedding_of(grid, *machine, digits);
}

}  // namespace rankloom
