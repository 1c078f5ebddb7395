// SPDX-License-Identifier: Apache-2.0
// bench/auto: the graphs of a published comparison of mapping tools.
#include "bench/auto/reference_instances.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "bench/auto/delaunay.hpp"

namespace rankloom::bench {
namespace {

using Draws = std::mt19937_64;
using Extents = std::array<std::uint32_t, 3>;

constexpr auto published_table = std::to_array<Published>({
    {"stencil2d", 1024, "4:8:32", 394240, .016, .45},
    {"stencil3d", 1024, "4:8:32", 10819400, .059, 1.0},
    {"cg", 1024, "4:8:32", 6614780, .024, .51},
    {"rgg", 1024, "4:8:32", 637471, .030, .76},
    {"blocks12", 1024, "4:8:32", 10333400, .021, .68},
    {"plaw", 1024, "4:8:32", 2566040, .033, 1.5},
    {"stencil2d", 4096, "4:8:128", 1704960, .10, 2.3},
    {"stencil3d", 4096, "4:8:128", 50459800, .28, 3.5},
    {"rgg", 4096, "4:8:128", 3690300, .20, 5.2},
    {"blocks12", 4096, "4:8:128", 41683300, .16, 5.1},
    {"stencil2d", 16384, "4:8:512", 7075840, .77, 0},
    {"rgg", 16384, "4:8:512", 21191000, 1.7, 0},
    {"rgg", 64, "4:8:2", 7190, 0, 0},
    {"stencil2d", 384, "16:12:4", 114800, 0, 0},
    {"rgg", 384, "16:12:4", 145946, 0, 0},
    {"rggmesh", 1U << 18, "4:8:6", 358381, .73, 6.0},
    {"delaunay", 1U << 18, "4:8:6", 358224, .48, 5.8},
    {"grid3d", 1U << 18, "4:8:6", 1383700, .61, 5.5},
    {"grid2d", 1U << 18, "4:8:6", 216283, .47, 2.6},
    {"rggmesh", 1U << 18, "4:8:16", 760140, .73, 12.7},
    {"rggmesh", 1U << 20, "4:8:6", 917005, 3.0, 30},
});

/// Undirected edges; each is added once, with the weight of both directions.
class Edges {
 public:
  explicit Edges(std::uint32_t size) : builder_(size) {}
  void add(std::uint64_t a, std::uint64_t b, double weight) {
    builder_.add(Rank{static_cast<std::uint32_t>(a)}, Rank{static_cast<std::uint32_t>(b)}, weight);
  }
  CommGraph graph() && { return std::move(builder_).build(false, true); }

 private:
  CommGraphBuilder builder_;
};

Extents two_factors(std::uint32_t size) {
  auto a = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(size)));
  while (size % a != 0) --a;
  return {1, a, size / a};
}

/// The first box with the smallest surface.
Extents three_factors(std::uint32_t size) {
  Extents best{1, 1, size};
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t a = 1; a * a * a <= size; ++a) {
    if (size % a != 0) continue;
    const auto [one, b, c] = two_factors(static_cast<std::uint32_t>(size / a));
    const std::uint64_t surface = a * b + std::uint64_t{b} * c + a * c;
    if (surface < least) least = surface, best = {static_cast<std::uint32_t>(a), b, c};
  }
  return best;
}

/// Weights by how many coordinates differ by one: [1] for faces, [2] for edges, [3] for corners; 0: not a neighbour.
CommGraph grid(const Extents& extents, const std::array<double, 4>& weights) {
  const auto [a, b, c] = extents;
  Edges edges(a * b * c);
  const auto inside = [](std::uint32_t at, int step, std::uint32_t extent) {
    return step < 0 ? at > 0 : at + static_cast<std::uint32_t>(step) < extent;
  };
  for (std::uint32_t i = 0; i < a; ++i) {
    for (std::uint32_t j = 0; j < b; ++j) {
      for (std::uint32_t k = 0; k < c; ++k) {
        const std::int64_t here = (std::int64_t{i} * b + j) * c + k;
        for (int code = 14; code < 27; ++code) {  // the 13 of 26 neighbours with a larger index
          const int x = code / 9 - 1, y = code / 3 % 3 - 1, z = code % 3 - 1;
          const int differ = std::abs(x) + std::abs(y) + std::abs(z);
          const double weight = weights[static_cast<std::size_t>(differ)];
          if (weight == 0 || !inside(i, x, a) || !inside(j, y, b) || !inside(k, z, c)) continue;
          edges.add(static_cast<std::uint64_t>(here),
                    static_cast<std::uint64_t>(here + (std::int64_t{x} * b + y) * c + z), weight);
        }
      }
    }
  }
  return std::move(edges).graph();
}

/// The pattern of NPB's CG: in each row of processes, partners at distances that halve, and the transposed process.
std::optional<CommGraph> conjugate_gradient(std::uint32_t size) {
  if (!std::has_single_bit(size)) return std::nullopt;
  const std::uint32_t rows = 1U << ((std::bit_width(size) - 1) / 2), columns = size / rows;
  Edges edges(size);
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    const std::uint32_t row = rank / columns, column = rank % columns;
    for (std::uint32_t bit = 1; bit < columns; bit *= 2) {
      const std::uint32_t partner = row * columns + (column ^ bit);
      if (partner > rank) edges.add(rank, partner, 101);
    }
    const std::uint32_t transposed =
        columns == rows ? rank % rows * rows + rank / rows : 2 * (rank / 2 % rows * rows + rank / 2 / rows) + rank % 2;
    if (transposed > rank) edges.add(rank, transposed, 100);
  }
  return std::move(edges).graph();
}

/// Random points in the unit square, edges between points closer than the radius.
CommGraph geometric(std::uint32_t size, double radius, bool weighted, Draws& draws) {
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<double> x(size), y(size);
  for (std::uint32_t i = 0; i < size; ++i) x[i] = unit(draws), y[i] = unit(draws);
  const int side = std::max(1, static_cast<int>(1 / radius));
  const auto column = [&](double at) { return std::min(side - 1, static_cast<int>(at * side)); };
  std::vector<std::vector<std::uint32_t>> cells(static_cast<std::size_t>(side) * static_cast<std::size_t>(side));
  const auto cell = [&](int cx, int cy) -> auto& {
    return cells[static_cast<std::size_t>(cy) * static_cast<std::size_t>(side) + static_cast<std::size_t>(cx)];
  };
  for (std::uint32_t i = 0; i < size; ++i) cell(column(x[i]), column(y[i])).push_back(i);

  Edges edges(size);
  const auto join = [&](std::uint32_t i, const std::vector<std::uint32_t>& others) {
    for (const std::uint32_t j : others) {
      const double dx = x[i] - x[j], dy = y[i] - y[j];
      if (j <= i || dx * dx + dy * dy >= radius * radius) continue;
      edges.add(i, j, weighted ? static_cast<double>(1 + draws() % 10) : 1);
    }
  };
  for (int cy = 0; cy < side; ++cy) {
    for (int cx = 0; cx < side; ++cx) {
      for (const std::uint32_t i : cell(cx, cy)) {
        for (int ny = std::max(0, cy - 1); ny <= std::min(side - 1, cy + 1); ++ny) {
          for (int nx = std::max(0, cx - 1); nx <= std::min(side - 1, cx + 1); ++nx) join(i, cell(nx, ny));
        }
      }
    }
  }
  return std::move(edges).graph();
}

/// Cliques of 12 with some light edges between them.
CommGraph blocks_of_twelve(std::uint32_t size, Draws& draws) {
  const std::uint64_t blocks = (size + 11) / 12;
  Edges edges(size);
  for (std::uint64_t i = 0; i < size; ++i) {
    for (std::uint64_t j = i + 1; j < size && j / 12 == i / 12; ++j) edges.add(i, j, 100);
  }
  for (std::uint64_t block = 0; block < blocks; ++block) {
    for (int thread = 0; thread < 3; ++thread) {
      const std::uint64_t other = draws() % blocks;
      if (other == block) continue;
      const std::uint64_t i = block * 12 + draws() % 12;
      const std::uint64_t j = other * 12 + draws() % 12;
      if (i < size && j < size) edges.add(i, j, static_cast<double>(1 + draws() % 5));
    }
  }
  return std::move(edges).graph();
}

/// Preferential attachment (Barabási, Albert): each new vertex gets 4 neighbours, with probabilities proportional to
/// their degrees.
CommGraph power_law(std::uint32_t size, Draws& draws) {
  constexpr std::uint32_t joins = 4;
  Edges edges(size);
  std::vector<std::uint32_t> ends;
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    edges.add(a, b, static_cast<double>(1 + draws() % 20));
    ends.insert(ends.end(), {a, b});
  };
  for (std::uint32_t i = 0; i <= joins; ++i) {
    for (std::uint32_t j = 0; j < i; ++j) join(i, j);
  }
  std::vector<std::uint32_t> partners;
  for (std::uint32_t i = joins + 1; i < size; ++i) {
    partners.clear();
    while (partners.size() < joins) {
      const std::uint32_t partner = ends[draws() % ends.size()];
      if (std::find(partners.begin(), partners.end(), partner) == partners.end()) partners.push_back(partner);
    }
    for (const std::uint32_t partner : partners) join(i, partner);
  }
  return std::move(edges).graph();
}

CommGraph delaunay(std::uint32_t size, std::uint64_t seed) {
  Edges edges(size);
  for (const auto& [a, b] : delaunay_edges(numpy_points(size, static_cast<std::uint32_t>(seed)))) edges.add(a, b, 1);
  return std::move(edges).graph();
}

CommGraph with_new_names(const CommGraph& graph, Draws& draws) {
  std::vector<Rank> names(graph.ranks().begin(), graph.ranks().end());
  std::shuffle(names.begin(), names.end(), draws);
  return relabel(graph, names);
}

}  // namespace

std::optional<CommGraph> reference_graph(std::string_view kind, std::uint32_t size, std::uint64_t seed) {
  if (size < 6) return std::nullopt;
  Draws draws(seed * 7919 + size);
  const auto extents = reference_extents(kind, size);
  if (kind.starts_with("grid")) return grid(*extents, {0, 1, 0, 0});
  if (kind == "stencil2d") return grid(*extents, {0, 10, 0, 0});
  if (kind == "stencil3d") return grid(*extents, {0, 100, 10, 1});
  if (kind == "cg") return conjugate_gradient(size);
  if (kind == "delaunay") return delaunay(size, seed);
  const double radius = 0.55 * std::sqrt(std::log(static_cast<double>(size)) / size);
  if (kind == "rggmesh") return geometric(size, radius, false, draws);
  if (kind == "rgg") return with_new_names(geometric(size, radius * 1.3, true, draws), draws);
  if (kind == "blocks12") return with_new_names(blocks_of_twelve(size, draws), draws);
  if (kind == "plaw") return with_new_names(power_law(size, draws), draws);
  return std::nullopt;
}

CommGraph shuffled(const CommGraph& graph, std::uint64_t seed) {
  Draws draws(seed);
  return with_new_names(graph, draws);
}

std::optional<Extents> reference_extents(std::string_view kind, std::uint32_t size) {
  if (kind == "stencil2d" || kind == "grid2d") return two_factors(size);
  if (kind == "stencil3d" || kind == "grid3d") return three_factors(size);
  return std::nullopt;
}

std::span<const Published> published() {
  return published_table;
}

const Published* published(std::string_view kind, std::uint32_t size, std::string_view hierarchy, std::uint64_t seed) {
  for (const Published& row : published_table) {
    if (seed == 1 && row.kind == kind && row.size == size && row.hierarchy == hierarchy) return &row;
  }
  return nullptr;
}

}  // namespace rankloom::bench
