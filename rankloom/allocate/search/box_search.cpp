// SPDX-License-Identifier: Apache-2.0
// allocate: boxes in meshes and tori. Every box of a mesh is closed under dimension-order routing (Zhang 2014, Theorem
// 2); on a torus so is every box that in each dimension spans the whole ring or at most half of it, since longer arcs
// send round the other way.
//
// Beyond the paper: all shapes of a box are tried, not one template; and since a job of one node sends nothing, such
// jobs may sit on the nodes of a box that its own job does not need, and boxes may be laid around them.
#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>
#include <variant>

#include "rankloom/allocate/search/box_grid.hpp"
#include "rankloom/allocate/search/nearest.hpp"
#include "rankloom/allocate/search/isolated_search.hpp"
#include "rankloom/allocate/search/templates.hpp"

namespace rankloom {

namespace {

struct BoxShape {
  Extents extents;
  std::uint32_t diameter = 0, volume = 1;
};

/// A box at its place: the lowest corner in each dimension.
struct Box {
  const BoxShape* shape = nullptr;
  Extents corner;
};

class BoxSearch final : public ClosedSearch {
 public:
  explicit BoxSearch(const AllocationMachine& machine)
      : machine_(machine), grid_(std::get<MeshShape>(machine.network().shape())), shapes_(machine.node_count() + 1) {}

  std::optional<Allotment> closed(const Occupancy& occupancy, std::uint32_t nodes, Prefer prefer,
                                  const ClosedLimits& limits) const override;
  std::optional<Allotment> closed_minimum(const Occupancy& occupancy, std::uint32_t nodes) const override;
  Allotment nearest(const Occupancy& occupancy, std::uint32_t nodes) const override;

 private:
  /// What is free, as grids; made once for each question.
  struct View {
    BitGrid free;                // nodes
    std::vector<BitGrid> clear;  // routers that nobody passes; or for each dimension, cables that nobody passes
  };
  View look(const Occupancy& occupancy) const;
  BitGrid corners(const View& view, const Extents& extents) const;

  const std::vector<BoxShape>& shapes_for(std::uint32_t nodes) const;
  std::vector<BoxShape> make_shapes(std::uint32_t nodes) const;
  bool closes(std::size_t dimension, std::uint32_t extent) const {
    const std::uint32_t size = grid_.sizes[dimension];
    return !grid_.torus || extent == size || extent <= (size + 1) / 2;
  }
  BoxShape shape(Extents extents) const;

  /// Calls visit(row) for the rows of a box, or of the layer beside it.
  template <class Visit>
  void each_row(const Extents& corner, const Extents& extents, const Visit& visit) const;
  std::uint32_t free_inside(const View& view, const Box& box) const;
  std::uint32_t contact(const View& view, const Box& box) const;
  std::optional<Box> best_corner(const View& view, const BitGrid& places, const BoxShape& shape, std::uint32_t nodes,
                                 std::int64_t& best) const;
  std::optional<Node> best_single(const Occupancy& occupancy) const;
  std::vector<Node> nodes_in(const Box& box) const;
  Allotment take(const Occupancy& occupancy, const Box& box, std::uint32_t nodes, bool keep_rest) const;

  AllocationMachine machine_;
  GridShape grid_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<const std::vector<BoxShape>>> shapes_;  // by nodes, made when first asked for
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

/// All closed shapes that hold n nodes and would not with one layer less in the last dimension, and those with one
/// layer more, for boxes that are laid around jobs of one node; least diameter first, then the fewest nodes.
std::vector<BoxShape> BoxSearch::make_shapes(std::uint32_t nodes) const {
  std::vector<BoxShape> result;
  Extents extents(grid_.dimensions(), 1);
  const auto last = grid_.dimensions() - 1;
  const auto choose = [&](const auto& self, std::size_t dimension, std::uint32_t before) -> void {
    if (dimension < last) {
      for (std::uint32_t extent = 1; extent <= grid_.sizes[dimension]; ++extent) {
        if (!closes(dimension, extent)) continue;
        extents[dimension] = extent;
        self(self, dimension + 1, before * extent);
      }
      return;
    }
    std::uint32_t found = 0;
    for (std::uint32_t extent = (nodes + before - 1) / before; extent <= grid_.sizes[last] && found < 2; ++extent) {
      if (!closes(last, extent)) continue;
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

BoxSearch::View BoxSearch::look(const Occupancy& occupancy) const {
  View view{BitGrid(grid_), {}};
  view.free.load(occupancy.free(), false);
  if (machine_.exclusive() == Exclusive::routers) {
    view.clear.emplace_back(grid_).load(occupancy.held(), true);
    return view;
  }
  // A cable is clear when both of its links are. Those of dimension j stand one after another in the network's links.
  std::uint32_t link = 0;
  for (std::size_t j = 0; j < grid_.dimensions(); ++j) {
    BitGrid& clear = view.clear.emplace_back(grid_);
    const std::uint32_t size = grid_.sizes[j], cables = grid_.torus && size > 2 ? size : size - 1;
    const std::uint32_t stride = j == 0 ? 1 : grid_.row_stride(j) * grid_.sizes[0];
    for (std::uint32_t high = 0; high < grid_.nodes() / (stride * size); ++high) {
      for (std::uint32_t cable = 0; cable < cables; ++cable) {
        for (std::uint32_t low = 0; low < stride; ++low, link += 2) {
          const std::uint32_t node = (high * size + cable) * stride + low;
          if (!occupancy.held().test(link) && !occupancy.held().test(link + 1))
            clear.set(node / grid_.sizes[0], node % grid_.sizes[0]);
        }
      }
    }
  }
  return view;
}

/// Where the lowest corner of such a box may be. A ring that is spanned whole begins at 0.
BitGrid BoxSearch::corners(const View& view, const Extents& extents) const {
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
  // Links: the box has cables in each dimension that it spans; what it does not span does not restrict it.
  BitGrid all(grid_);
  all.load(Bits(grid_.nodes()), true);
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
  // The highest dimension is the most significant digit of a row's number.
  go(go, grid_.dimensions() - 1, 0);
}

/// Set bits of a row among `extent` positions from x on, round the end.
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

/// How many nodes around the box are of no use to another box: beyond the edge, or passed by others. A box in a corner
/// or along others leaves large regions whole.
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

/// The place of this shape with the best score above `best`, which is raised to it.
std::optional<Box> BoxSearch::best_corner(const View& view, const BitGrid& places, const BoxShape& shape,
                                          std::uint32_t nodes, std::int64_t& best) const {
  std::optional<Box> found;
  Box box{&shape, Extents(grid_.dimensions())};
  for (std::uint32_t row = 0; row < grid_.rows; ++row) {
    const auto words = places.row(row);
    for (std::uint32_t word = 0; word < words.size(); ++word) {
      for (std::uint64_t bits = words[word]; bits != 0; bits &= bits - 1) {
        box.corner[0] = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
        for (std::uint32_t j = 1, rest = row; j < grid_.dimensions(); rest /= grid_.sizes[j], ++j)
          box.corner[j] = rest % grid_.sizes[j];
        const std::uint32_t available = free_inside(view, box);
        if (available < nodes) continue;
        const std::int64_t score = std::int64_t{contact(view, box)} - 4 * std::int64_t{shape.volume};
        if (score <= best) continue;
        best = score;
        found = box;
      }
    }
  }
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

/// The first n free nodes of the box.
Allotment BoxSearch::take(const Occupancy& occupancy, const Box& box, std::uint32_t nodes, bool keep_rest) const {
  Allotment allotment;
  for (const Node node : nodes_in(box)) {
    if (!occupancy.free().test(index(node))) continue;
    if (allotment.nodes.size() < nodes) {
      allotment.nodes.push_back(node);
    } else if (keep_rest) {
      allotment.kept.push_back(node);
    }
  }
  std::sort(allotment.nodes.begin(), allotment.nodes.end());
  allotment.passages = Bits(machine_.rule().passage_count());
  machine_.rule().add_passages(allotment.nodes, allotment.passages);
  allotment.diameter = box.shape->diameter;
  allotment.closed = true;
  return allotment;
}

/// For a job that sends nothing: a node inside the box of another job if there is one, else the free node with the
/// fewest free neighbours.
std::optional<Node> BoxSearch::best_single(const Occupancy& occupancy) const {
  if (occupancy.free_count() == 0) return std::nullopt;
  const View view = look(occupancy);
  if (machine_.exclusive() == Exclusive::routers) {
    for (std::uint32_t row = 0; row < grid_.rows; ++row) {
      for (std::uint32_t word = 0; word < grid_.words; ++word) {
        if (const std::uint64_t bits = view.free.row(row)[word] & ~view.clear[0].row(row)[word]; bits != 0)
          return Node{row * grid_.sizes[0] + word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits))};
      }
    }
  }
  const BoxShape one = shape(Extents(grid_.dimensions(), 1));
  View places{view.free, {view.free}};
  Box box{&one, Extents(grid_.dimensions())};
  std::optional<Node> found;
  std::uint32_t most = 0;
  occupancy.free().each([&](std::uint32_t node) {
    std::uint32_t rest = node;
    for (std::size_t j = 0; j < grid_.dimensions(); rest /= grid_.sizes[j], ++j) box.corner[j] = rest % grid_.sizes[j];
    const std::uint32_t score = contact(places, box);
    if (found && score <= most) return;
    most = score;
    found = Node{node};
  });
  return found;
}

std::optional<Allotment> BoxSearch::closed(const Occupancy& occupancy, std::uint32_t nodes, Prefer prefer,
                                           const ClosedLimits& limits) const {
  if (occupancy.free_count() < nodes) return std::nullopt;
  if (nodes == 1) {
    const auto node = best_single(occupancy);
    if (!node) return std::nullopt;
    return Allotment{{*node}, {}, Bits(machine_.rule().passage_count()), 0, true};
  }
  const View view = look(occupancy);
  const auto& shapes = shapes_for(nodes);
  const bool bounded = prefer == Prefer::least_diameter;
  auto most = static_cast<std::uint32_t>(nodes + std::max(2.0, limits.waste * nodes));
  // Rings have closed boxes of few sizes: what wastes least may waste more than that, and a job must not wait for ever.
  const auto least = std::min_element(shapes.begin(), shapes.end(), [](const BoxShape& one, const BoxShape& other) {
    return one.volume < other.volume;
  });
  if (least != shapes.end()) most = std::max(most, least->volume);
  std::vector<const BoxShape*> failed;
  std::optional<Box> found;
  std::int64_t best = std::numeric_limits<std::int64_t>::min();
  std::uint32_t widest = 0;  // diameters up to this one count as the least
  for (const BoxShape& candidate : shapes) {
    if (bounded && found && candidate.diameter > widest) break;
    if (bounded && candidate.volume > most) continue;
    const bool hopeless = std::any_of(failed.begin(), failed.end(), [&](const BoxShape* smaller) {
      return std::equal(smaller->extents.begin(), smaller->extents.end(), candidate.extents.begin(),
                        std::less_equal<>());
    });
    if (hopeless) continue;
    if (!bounded && found && candidate.volume >= found->shape->volume) continue;
    const BitGrid places = corners(view, candidate.extents);
    if (places.empty()) {
      failed.push_back(&candidate);
      continue;
    }
    std::int64_t score = bounded ? best : std::numeric_limits<std::int64_t>::min();
    BitGrid ends =
        places;  // in the open a box has no contact, so only where it cannot be moved on both ways is it tried
    ends.keep_ends();
    auto box = best_corner(view, ends, candidate, nodes, score);
    if (!box && !found) box = best_corner(view, places, candidate, nodes, score);
    if (box) {
      found = std::move(box);
      best = score;
      if (widest == 0) widest = candidate.diameter + static_cast<std::uint32_t>(limits.slack * candidate.diameter);
    }
  }
  if (!found) return std::nullopt;
  return take(occupancy, *found, nodes, false);
}

std::optional<Allotment> BoxSearch::closed_minimum(const Occupancy& occupancy, std::uint32_t nodes) const {
  if (occupancy.free_count() < nodes) return std::nullopt;
  std::vector<BoxShape> templates;
  const auto [columns, rows] = mesh_template(nodes);
  const bool flat = grid_.dimensions() == 2 && !grid_.torus;
  for (const auto& [x, y] : {std::pair(columns, rows), std::pair(rows, columns)}) {
    if (flat && x <= grid_.sizes[0] && y <= grid_.sizes[1]) templates.push_back(shape({x, y}));
  }
  if (templates.empty()) {  // other dimensions, or a mesh that is narrower than the template: the least that there is
    const auto& shapes = shapes_for(nodes);
    for (const BoxShape& one : shapes) {
      if (one.diameter == shapes[0].diameter) templates.push_back(one);
    }
  }
  for (const BoxShape& one : templates) {
    View view = look(occupancy);
    BitGrid places = corners(view, one.extents);
    for (std::size_t j = 0; j < grid_.dimensions(); ++j) view.free.erode(j, one.extents[j]);
    places &= view.free;
    for (std::uint32_t row = 0; row < grid_.rows; ++row) {
      for (std::uint32_t x = 0; x < grid_.sizes[0]; ++x) {
        if (!places.test(row, x)) continue;
        Box box{&one, Extents(grid_.dimensions())};
        box.corner[0] = x;
        for (std::uint32_t j = 1, rest = row; j < grid_.dimensions(); rest /= grid_.sizes[j], ++j)
          box.corner[j] = rest % grid_.sizes[j];
        return take(occupancy, box, nodes, true);
      }
    }
  }
  return std::nullopt;
}

Allotment BoxSearch::nearest(const Occupancy& occupancy, std::uint32_t nodes) const {
  Allotment allotment;
  const bool flat = grid_.dimensions() == 2 && !grid_.torus;
  allotment.nodes = flat ? nearest_in_flat_mesh(grid_.sizes[0], grid_.sizes[1], occupancy.free(), nodes)
                         : nearest_around_a_node(machine_.network(), occupancy.free(), nodes);
  allotment.passages = Bits(machine_.rule().passage_count());
  machine_.rule().add_passages(allotment.nodes, allotment.passages);
  allotment.diameter = diameter_of(machine_.network(), allotment.nodes);
  allotment.closed = !allotment.passages.meets(occupancy.held());
  return allotment;
}

}  // namespace

std::unique_ptr<ClosedSearch> make_box_search(const AllocationMachine& machine) {
  return std::make_unique<BoxSearch>(machine);
}

}  // namespace rankloom
