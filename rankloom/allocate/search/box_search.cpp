// SPDX-License-Identifier: Apache-2.0
// allocate/search: isolated boxes in meshes and tori. Every box of a mesh contains all routes between its nodes under
// dimension-order routing (Zhang 2014, Theorem 2). On a torus this holds for boxes that span, in each dimension, either
// the whole ring or at most half of it; messages of longer arcs take the other direction around the ring.
//
// Beyond the paper: the search tries all shapes of a box, not one template. Since a job of one node sends no messages,
// it may use nodes of a box that the job of the box does not need, and a box may enclose single-node jobs.
#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/allocate/search/box_grid.hpp"
#include "rankloom/allocate/search/isolated_search.hpp"
#include "rankloom/allocate/search/nearest.hpp"
#include "rankloom/allocate/search/templates.hpp"

namespace rankloom {

namespace {

/// What a box of closed-fit costs and earns for each neighbouring position, in nodes times dimensions. Chosen by
/// replays of generated workloads (docs/algorithms/closed-fit.md). Two faces per node and dimension earn less than the
/// node, so that every box costs something.
constexpr double of_free_face = 0.2, of_used_face = 0.4;

struct BoxShape {
  Extents extents;
  std::uint32_t diameter = 0, volume = 1;
};

/// A shape at a position: the lowest coordinate in each dimension.
struct Box {
  const BoxShape* shape = nullptr;
  Extents corner;
};

/// Whether one of these shapes is part of the box. A box cannot fit if a part of it does not.
bool contains_any(const BoxShape& box, const std::vector<const BoxShape*>& parts) {
  return std::any_of(parts.begin(), parts.end(), [&](const BoxShape* part) {
    return std::equal(part->extents.begin(), part->extents.end(), box.extents.begin(), std::less_equal<>());
  });
}

class BoxSearch final : public IsolatedSearch {
 public:
  explicit BoxSearch(const AllocationMachine& machine)
      : machine_(machine), grid_(std::get<MeshShape>(machine.network().shape())), shapes_(machine.node_count() + 1) {}

  std::optional<Allocation> find_isolated(const Occupancy& occupancy, std::uint32_t nodes, Objective objective,
                                          const IsolationLimits& limits) const override;
  bool has_isolated(const Occupancy& occupancy, std::uint32_t nodes) const override;
  std::vector<Candidate> find_candidates(const Occupancy& occupancy, std::uint32_t nodes, const IsolationLimits& limits,
                                         std::size_t max) const override;
  std::optional<Allocation> find_template(const Occupancy& occupancy, std::uint32_t nodes) const override;
  Allocation find_nearest(const Occupancy& occupancy, std::uint32_t nodes) const override;

 private:
  /// What is free, as grids; built once per search.
  struct View {
    BitGrid free;                // nodes
    std::vector<BitGrid> clear;  // unused routers or, for each dimension, unused cables
  };
  View make_view(const Occupancy& occupancy) const;
  BitGrid feasible_corners(const View& view, const Extents& extents) const;

  const std::vector<BoxShape>& shapes_for(std::uint32_t nodes) const;
  std::vector<BoxShape> make_shapes(std::uint32_t nodes) const;
  /// Whether routes between nodes of a box with this extent never leave the box in this dimension.
  bool routes_stay_inside(std::size_t dimension, std::uint32_t extent) const {
    const std::uint32_t size = grid_.sizes[dimension];
    return !grid_.torus || extent == size || extent <= (size + 1) / 2;
  }
  BoxShape shape(Extents extents) const;
  static std::uint32_t max_volume(const std::vector<BoxShape>& shapes, std::uint32_t nodes,
                                  const IsolationLimits& limits);

  /// Calls visit(row) for each row of a box, or of the layer next to it.
  template <class Visit>
  void each_row(const Extents& corner, const Extents& extents, const Visit& visit) const;
  std::uint32_t free_inside(const View& view, const Box& box) const;
  std::uint32_t contact(const View& view, const Box& box) const;
  template <class Visit>
  void each_position(const BitGrid& positions, const BoxShape& shape, const Visit& visit) const;
  std::optional<Box> best_position(const View& view, const BitGrid& positions, const BoxShape& shape,
                                   std::uint32_t nodes, std::int64_t& best) const;
  std::optional<Node> best_single_node(const Occupancy& occupancy) const;
  std::vector<Node> nodes_in(const Box& box) const;
  Allocation make_allocation(const Occupancy& occupancy, const Box& box, std::uint32_t nodes, bool reserve_rest) const;

  AllocationMachine machine_;
  GridShape grid_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<const std::vector<BoxShape>>> shapes_;  // by number of nodes, built on first use
};

BoxShape BoxSearch::shape(Extents extents) const {
  BoxShape result{std::move(extents)};
  for (std::size_t j = 0; j < grid_.dimensions(); ++j) {
    const std::uint32_t extent = result.extents[j], size = grid_.sizes[j];
    result.volume *= extent;
    result.diameter += grid_.torus && extent == size ? size / 2 : extent - 1;
  }
  return result;
}

/// All shapes that contain their own routes, with at least n nodes, that would have fewer with one layer less in the
/// last dimension, and the same shapes with one layer more, which allow a box to enclose single-node jobs. Sorted by
/// diameter, then by volume.
std::vector<BoxShape> BoxSearch::make_shapes(std::uint32_t nodes) const {
  std::vector<BoxShape> result;
  Extents extents(grid_.dimensions(), 1);
  const auto last = grid_.dimensions() - 1;
  const auto choose = [&](const auto& self, std::size_t dimension, std::uint32_t before) -> void {
    if (dimension < last) {
      for (std::uint32_t extent = 1; extent <= grid_.sizes[dimension]; ++extent) {
        if (!routes_stay_inside(dimension, extent)) continue;
        extents[dimension] = extent;
        self(self, dimension + 1, before * extent);
      }
      return;
    }
    std::uint32_t found = 0;
    for (std::uint32_t extent = (nodes + before - 1) / before; extent <= grid_.sizes[last] && found < 2; ++extent) {
      if (!routes_stay_inside(last, extent)) continue;
      extents[last] = extent;
      result.push_back(shape(extents));
      ++found;
    }
  };
  choose(choose, 0, 1);
  std::stable_sort(result.begin(), result.end(), [](const BoxShape& a, const BoxShape& b) {
    return std::pair(a.diameter, a.volume) < std::pair(b.diameter, b.volume);
  });
  return result;
}

const std::vector<BoxShape>& BoxSearch::shapes_for(std::uint32_t nodes) const {
  const std::lock_guard lock(mutex_);
  if (!shapes_[nodes]) shapes_[nodes] = std::make_unique<const std::vector<BoxShape>>(make_shapes(nodes));
  return *shapes_[nodes];
}

BoxSearch::View BoxSearch::make_view(const Occupancy& occupancy) const {
  View view{BitGrid(grid_), {}};
  view.free.load(occupancy.free_nodes(), false);
  if (machine_.exclusive() == Exclusive::routers) {
    view.clear.emplace_back(grid_).load(occupancy.used_resources(), true);
    return view;
  }
  // A cable is clear if both of its links are. The network numbers the links of one dimension consecutively.
  std::uint32_t link = 0;
  for (std::size_t j = 0; j < grid_.dimensions(); ++j) {
    BitGrid& clear = view.clear.emplace_back(grid_);
    const std::uint32_t size = grid_.sizes[j], cables = grid_.torus && size > 2 ? size : size - 1;
    const std::uint32_t stride = j == 0 ? 1 : grid_.row_stride(j) * grid_.sizes[0];
    for (std::uint32_t high = 0; high < grid_.nodes() / (stride * size); ++high) {
      for (std::uint32_t cable = 0; cable < cables; ++cable) {
        for (std::uint32_t low = 0; low < stride; ++low, link += 2) {
          const std::uint32_t node = (high * size + cable) * stride + low;
          if (!occupancy.used_resources().test(link) && !occupancy.used_resources().test(link + 1))
            clear.set(node / grid_.sizes[0], node % grid_.sizes[0]);
        }
      }
    }
  }
  return view;
}

/// Where the lowest corner of a box with these extents may be.
BitGrid BoxSearch::feasible_corners(const View& view, const Extents& extents) const {
  const auto eroded = [&](BitGrid grid, std::size_t own) {
    for (std::size_t j = 0; j < extents.size(); ++j) {
      const std::uint32_t size = grid_.sizes[j];
      const bool ring = grid_.torus && size > 2 && extents[j] == size;
      grid.erode(j, j == own && !ring ? extents[j] - 1 : extents[j]);
    }
    return grid;
  };
  constexpr std::size_t none = SIZE_MAX;
  if (machine_.exclusive() == Exclusive::routers) return eroded(view.clear[0], none);
  // Links: the box uses cables in the dimensions in which it has more than one layer; the others do not restrict it.
  BitGrid all(grid_);
  all.load(Bitset(grid_.nodes()), true);
  all = eroded(std::move(all), none);
  for (std::size_t j = 0; j < extents.size(); ++j) {
    if (extents[j] > 1) all &= eroded(view.clear[j], j);
  }
  return all;
}

template <class Visit>
void BoxSearch::each_row(const Extents& corner, const Extents& extents, const Visit& visit) const {
  if (grid_.dimensions() == 1) return visit(std::uint32_t{0});
  if (grid_.dimensions() == 2) {
    const std::uint32_t size = grid_.sizes[1];
    for (std::uint32_t i = 0, row = corner[1]; i < extents[1]; ++i) {
      visit(row);
      row = row + 1 == size ? 0 : row + 1;
    }
    return;
  }
  const auto go = [&](const auto& self, std::size_t dimension, std::uint32_t row) -> void {
    if (dimension == 0) return visit(row);
    const std::uint32_t size = grid_.sizes[dimension];
    for (std::uint32_t i = 0; i < extents[dimension]; ++i)
      self(self, dimension - 1, row * size + (corner[dimension] + i) % size);
  };
  // The highest dimension is the most significant digit of a row number.
  go(go, grid_.dimensions() - 1, 0);
}

/// Number of set bits of a row among `extent` positions starting at x, with wrap-around.
std::uint32_t count_in_row(std::span<const std::uint64_t> row, std::uint32_t width, std::uint32_t x,
                           std::uint32_t extent) {
  const auto straight = [&](std::uint32_t from, std::uint32_t to) {
    std::uint32_t sum = 0;
    for (std::uint32_t word = from / 64; word * 64 < to; ++word) {
      std::uint64_t bits = row[word];
      if (word == from / 64) bits &= ~std::uint64_t{0} << (from % 64);
      if (to < (word + 1) * 64) bits &= (std::uint64_t{1} << (to % 64)) - 1;
      sum += static_cast<std::uint32_t>(std::popcount(bits));
    }
    return sum;
  };
  if (x + extent <= width) return straight(x, x + extent);
  return straight(x, width) + straight(0, x + extent - width);
}

std::uint32_t BoxSearch::free_inside(const View& view, const Box& box) const {
  std::uint32_t sum = 0;
  each_row(box.corner, box.shape->extents, [&](std::uint32_t row) {
    sum += count_in_row(view.free.row(row), grid_.sizes[0], box.corner[0], box.shape->extents[0]);
  });
  return sum;
}

/// The contact area of a box: the number of neighbouring positions that no other box can use, because they are outside
/// the mesh or in use. A box in a corner or next to other boxes keeps large free regions whole.
std::uint32_t BoxSearch::contact(const View& view, const Box& box) const {
  const BitGrid& clear = machine_.exclusive() == Exclusive::routers ? view.clear[0] : view.free;
  std::uint32_t sum = 0;
  for (std::size_t j = 0; j < grid_.dimensions(); ++j) {
    const std::uint32_t size = grid_.sizes[j], extent = box.shape->extents[j];
    const std::uint32_t face = box.shape->volume / extent;
    if (extent == size) {
      sum += 2 * face;
      continue;
    }
    for (const bool high : {false, true}) {
      const bool beyond = high ? box.corner[j] + extent >= size : box.corner[j] == 0;
      if (beyond && !grid_.torus) {
        sum += face;
        continue;
      }
      Extents corner = box.corner, extents = box.shape->extents;
      corner[j] = high ? (box.corner[j] + extent) % size : (box.corner[j] + size - 1) % size;
      extents[j] = 1;
      each_row(corner, extents, [&](std::uint32_t row) {
        sum += extents[0] - count_in_row(clear.row(row), grid_.sizes[0], corner[0], extents[0]);
      });
    }
  }
  return sum;
}

/// Calls visit(box) for each of these positions of the lowest corner, until it returns false.
template <class Visit>
void BoxSearch::each_position(const BitGrid& positions, const BoxShape& shape, const Visit& visit) const {
  Box box{&shape, Extents(grid_.dimensions())};
  for (std::uint32_t row = 0; row < grid_.rows; ++row) {
    const auto words = positions.row(row);
    for (std::uint32_t word = 0; word < words.size(); ++word) {
      for (std::uint64_t bits = words[word]; bits != 0; bits &= bits - 1) {
        box.corner[0] = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
        for (std::uint32_t j = 1, rest = row; j < grid_.dimensions(); rest /= grid_.sizes[j], ++j)
          box.corner[j] = rest % grid_.sizes[j];
        if (!visit(box)) return;
      }
    }
  }
}

/// The position of this shape with the best score, if that is above `best`; raises `best` to it.
std::optional<Box> BoxSearch::best_position(const View& view, const BitGrid& positions, const BoxShape& shape,
                                            std::uint32_t nodes, std::int64_t& best) const {
  std::optional<Box> found;
  each_position(positions, shape, [&](const Box& box) {
    if (free_inside(view, box) < nodes) return true;
    const std::int64_t score = std::int64_t{contact(view, box)} - 4 * std::int64_t{shape.volume};
    if (score <= best) return true;
    best = score;
    found = box;
    return true;
  });
  return found;
}

std::vector<Node> BoxSearch::nodes_in(const Box& box) const {
  std::vector<Node> nodes;
  nodes.reserve(box.shape->volume);
  each_row(box.corner, box.shape->extents, [&](std::uint32_t row) {
    for (std::uint32_t i = 0; i < box.shape->extents[0]; ++i)
      nodes.push_back(Node{row * grid_.sizes[0] + (box.corner[0] + i) % grid_.sizes[0]});
  });
  return nodes;
}

/// The first n free nodes of the box; the rest of the box is reserved if `reserve_rest` is set.
Allocation BoxSearch::make_allocation(const Occupancy& occupancy, const Box& box, std::uint32_t nodes,
                                      bool reserve_rest) const {
  Allocation allocation;
  for (const Node node : nodes_in(box)) {
    if (!occupancy.free_nodes().test(index(node))) continue;
    if (allocation.nodes.size() < nodes) {
      allocation.nodes.push_back(node);
    } else if (reserve_rest) {
      allocation.reserved.push_back(node);
    }
  }
  std::sort(allocation.nodes.begin(), allocation.nodes.end());
  allocation.shared_resources = Bitset(machine_.route_footprint().resource_count());
  machine_.route_footprint().add_resources(allocation.nodes, allocation.shared_resources);
  allocation.diameter = box.shape->diameter;
  allocation.isolated = true;
  return allocation;
}

/// A node for a job that sends no messages: a free node inside the box of another job if there is one, else the free
/// node with the fewest free neighbours.
std::optional<Node> BoxSearch::best_single_node(const Occupancy& occupancy) const {
  if (occupancy.free_count() == 0) return std::nullopt;
  const View view = make_view(occupancy);
  if (machine_.exclusive() == Exclusive::routers) {
    for (std::uint32_t row = 0; row < grid_.rows; ++row) {
      for (std::uint32_t word = 0; word < grid_.words; ++word) {
        if (const std::uint64_t bits = view.free.row(row)[word] & ~view.clear[0].row(row)[word]; bits != 0)
          return Node{row * grid_.sizes[0] + word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits))};
      }
    }
  }
  const BoxShape single_node = shape(Extents(grid_.dimensions(), 1));
  View positions{view.free, {view.free}};
  Box box{&single_node, Extents(grid_.dimensions())};
  std::optional<Node> found;
  std::uint32_t best_score = 0;
  occupancy.free_nodes().for_each([&](std::uint32_t node) {
    std::uint32_t rest = node;
    for (std::size_t j = 0; j < grid_.dimensions(); rest /= grid_.sizes[j], ++j) box.corner[j] = rest % grid_.sizes[j];
    const std::uint32_t score = contact(positions, box);
    if (found && score <= best_score) return;
    best_score = score;
    found = Node{node};
  });
  return found;
}

/// The most nodes that a box for this job may have.
std::uint32_t BoxSearch::max_volume(const std::vector<BoxShape>& shapes, std::uint32_t nodes,
                                    const IsolationLimits& limits) {
  auto result = static_cast<std::uint32_t>(nodes + std::max(2.0, limits.waste * nodes));
  // Rings have isolated boxes of few sizes, so even the smallest box may exceed the waste limit. The job must not wait
  // forever, so the smallest box is always allowed.
  const auto smallest = std::min_element(shapes.begin(), shapes.end(),
                                         [](const BoxShape& a, const BoxShape& b) { return a.volume < b.volume; });
  if (smallest != shapes.end()) result = std::max(result, smallest->volume);
  return result;
}

std::optional<Allocation> BoxSearch::find_isolated(const Occupancy& occupancy, std::uint32_t nodes, Objective objective,
                                                   const IsolationLimits& limits) const {
  if (occupancy.free_count() < nodes) return std::nullopt;
  if (nodes == 1) {
    const auto node = best_single_node(occupancy);
    if (!node) return std::nullopt;
    return Allocation{{*node}, {}, Bitset(machine_.route_footprint().resource_count()), 0, true};
  }
  const View view = make_view(occupancy);
  const auto& shapes = shapes_for(nodes);
  const bool minimise_diameter = objective == Objective::min_diameter;
  const std::uint32_t volume_limit = max_volume(shapes, nodes, limits);
  std::vector<const BoxShape*> failed;
  std::optional<Box> found;
  std::int64_t best = std::numeric_limits<std::int64_t>::min();
  std::uint32_t max_diameter = 0;  // larger diameters are not considered once a box is found
  for (const BoxShape& candidate : shapes) {
    if (minimise_diameter && found && candidate.diameter > max_diameter) break;
    if (minimise_diameter && candidate.volume > volume_limit) continue;
    if (contains_any(candidate, failed)) continue;
    if (!minimise_diameter && found && candidate.volume >= found->shape->volume) continue;
    const BitGrid positions = feasible_corners(view, candidate.extents);
    if (positions.empty()) {
      failed.push_back(&candidate);
      continue;
    }
    std::int64_t score = minimise_diameter ? best : std::numeric_limits<std::int64_t>::min();
    // Away from other boxes and edges a box has no contact, so positions that can move in both directions are skipped.
    BitGrid boundary = positions;
    boundary.keep_boundary();
    auto box = best_position(view, boundary, candidate, nodes, score);
    if (!box && !found) box = best_position(view, positions, candidate, nodes, score);
    if (box) {
      found = std::move(box);
      best = score;
      if (max_diameter == 0)
        max_diameter = candidate.diameter + static_cast<std::uint32_t>(limits.slack * candidate.diameter);
    }
  }
  if (!found) return std::nullopt;
  return make_allocation(occupancy, *found, nodes, false);
}

bool BoxSearch::has_isolated(const Occupancy& occupancy, std::uint32_t nodes) const {
  if (occupancy.free_count() < nodes) return false;
  if (nodes < 2) return true;
  const View view = make_view(occupancy);
  std::vector<const BoxShape*> failed;
  bool found = false;
  for (const BoxShape& candidate : shapes_for(nodes)) {
    if (contains_any(candidate, failed)) continue;
    const BitGrid positions = feasible_corners(view, candidate.extents);
    if (positions.empty()) failed.push_back(&candidate);
    each_position(positions, candidate, [&](const Box& box) {
      found = free_inside(view, box) >= nodes;
      return !found;
    });
    if (found) return true;
  }
  return false;
}

std::vector<Candidate> BoxSearch::find_candidates(const Occupancy& occupancy, std::uint32_t nodes,
                                                  const IsolationLimits& limits, std::size_t max) const {
  std::vector<Candidate> result;
  if (nodes == 1) {
    if (auto single = find_isolated(occupancy, nodes, Objective::min_diameter, limits))
      result.push_back({*std::move(single), "1 node", 1});
    return result;
  }
  if (occupancy.free_count() < nodes) return result;
  const View view = make_view(occupancy);
  const auto& shapes = shapes_for(nodes);
  const std::uint32_t volume_limit = max_volume(shapes, nodes, limits);
  std::vector<const BoxShape*> failed;
  for (const BoxShape& candidate : shapes) {
    if (result.size() == max) break;
    if (candidate.volume > volume_limit || contains_any(candidate, failed)) continue;
    const BitGrid positions = feasible_corners(view, candidate.extents);
    if (positions.empty()) {
      failed.push_back(&candidate);
      continue;
    }
    std::int64_t score = std::numeric_limits<std::int64_t>::min();
    BitGrid boundary = positions;
    boundary.keep_boundary();
    auto box = best_position(view, boundary, candidate, nodes, score);
    if (!box) box = best_position(view, positions, candidate, nodes, score);
    if (!box) continue;
    std::int64_t surface = 0;
    for (const std::uint32_t extent : candidate.extents) surface += std::int64_t{2} * (candidate.volume / extent);
    const std::int64_t in_use = score + std::int64_t{4} * candidate.volume;  // faces next to boxes and edges
    const double faces =
        of_free_face * static_cast<double>(surface - in_use) - of_used_face * static_cast<double>(in_use);
    const double packing_cost = candidate.volume + faces / static_cast<double>(grid_.dimensions());
    Allocation allocation = make_allocation(occupancy, *box, nodes, false);
    // A box that is larger than necessary can have the nodes of a smaller one.
    const bool known = std::any_of(result.begin(), result.end(),
                                   [&](const Candidate& other) { return other.allocation.nodes == allocation.nodes; });
    if (known) continue;
    const std::vector<std::uint32_t> extents(candidate.extents.rbegin(), candidate.extents.rend());
    result.push_back({std::move(allocation), fmt::format("box {}", fmt::join(extents, "x")), packing_cost});
  }
  return result;
}

std::optional<Allocation> BoxSearch::find_template(const Occupancy& occupancy, std::uint32_t nodes) const {
  if (occupancy.free_count() < nodes) return std::nullopt;
  std::vector<BoxShape> templates;
  const auto [columns, rows] = mesh_template(nodes);
  const bool is_2d_mesh = grid_.dimensions() == 2 && !grid_.torus;
  for (const auto& [x, y] : {std::pair(columns, rows), std::pair(rows, columns)}) {
    if (is_2d_mesh && x <= grid_.sizes[0] && y <= grid_.sizes[1]) templates.push_back(shape({x, y}));
  }
  if (templates.empty()) {
    // Another number of dimensions, or a mesh narrower than the template: all shapes of the smallest diameter.
    const auto& shapes = shapes_for(nodes);
    for (const BoxShape& candidate : shapes) {
      if (candidate.diameter == shapes[0].diameter) templates.push_back(candidate);
    }
  }
  for (const BoxShape& candidate : templates) {
    View view = make_view(occupancy);
    BitGrid positions = feasible_corners(view, candidate.extents);
    for (std::size_t j = 0; j < grid_.dimensions(); ++j) view.free.erode(j, candidate.extents[j]);
    positions &= view.free;
    for (std::uint32_t row = 0; row < grid_.rows; ++row) {
      for (std::uint32_t x = 0; x < grid_.sizes[0]; ++x) {
        if (!positions.test(row, x)) continue;
        Box box{&candidate, Extents(grid_.dimensions())};
        box.corner[0] = x;
        for (std::uint32_t j = 1, rest = row; j < grid_.dimensions(); rest /= grid_.sizes[j], ++j)
          box.corner[j] = rest % grid_.sizes[j];
        return make_allocation(occupancy, box, nodes, true);
      }
    }
  }
  return std::nullopt;
}

Allocation BoxSearch::find_nearest(const Occupancy& occupancy, std::uint32_t nodes) const {
  const bool is_2d_mesh = grid_.dimensions() == 2 && !grid_.torus;
  auto nearest = is_2d_mesh ? nearest_in_2d_mesh(grid_.sizes[0], grid_.sizes[1], occupancy.free_nodes(), nodes)
                            : nearest_around_centre(machine_.network(), occupancy.free_nodes(), nodes);
  return rankloom::make_allocation(machine_, occupancy, std::move(nearest));
}

}  // namespace

std::unique_ptr<IsolatedSearch> make_box_search(const AllocationMachine& machine) {
  return std::make_unique<BoxSearch>(machine);
}

}  // namespace rankloom
