// SPDX-License-Identifier: Apache-2.0
// capture/generate: random geometric graphs: ranks are points in the unit square; points within a radius communicate.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "rankloom/capture/generate/families.hpp"
#include "rankloom/capture/generate/support.hpp"
#include "rankloom/core/parallel.hpp"
#include "rankloom/core/portable_math.hpp"
#include "rankloom/core/random.hpp"

namespace rankloom {

namespace {

struct Point {
  double x, y;
  std::uint32_t rank;
};

/// Points sorted into square cells at least as wide as the radius, so that all neighbours of a point are in nine cells.
class Cells {
 public:
  Cells(std::uint32_t points, double radius, std::uint64_t seed) : radius_(radius) {
    // not more cells than points: a tiny radius must not need more memory
    const double side = std::min(1 / radius, std::sqrt(static_cast<double>(points)));
    side_ = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(side));
    Random random(seed, static_cast<std::uint64_t>(Stream::structure));
    std::vector<Point> drawn(points);
    for (std::uint32_t p = 0; p < points; ++p) {
      drawn[p].x = random.unit();
      drawn[p].y = random.unit();
      drawn[p].rank = p;
    }
    sort_into_cells(drawn);
  }

  std::size_t cell_count() const { return first_.size() - 1; }

  /// Calls visit(rank, sorted neighbours) for the points of a cell.
  template <class Visit>
  void visit_cell(std::size_t cell, std::vector<std::uint32_t>& neighbours, const Visit& visit) const {
    const auto row = static_cast<std::uint32_t>(cell / side_);
    const auto column = static_cast<std::uint32_t>(cell % side_);
    for (std::size_t at = first_[cell]; at < first_[cell + 1]; ++at) {
      neighbours.clear();
      for (std::uint32_t r = row > 0 ? row - 1 : 0; r <= std::min(row + 1, side_ - 1); ++r)
        for (std::uint32_t c = column > 0 ? column - 1 : 0; c <= std::min(column + 1, side_ - 1); ++c)
          append_neighbours(points_[at], std::size_t{r} * side_ + c, neighbours);
      std::sort(neighbours.begin(), neighbours.end());
      visit(points_[at].rank, neighbours);
    }
  }

 private:
  std::size_t cell_of(const Point& point) const {
    const auto along = [&](double t) { return std::min(side_ - 1, static_cast<std::uint32_t>(t * side_)); };
    return std::size_t{along(point.y)} * side_ + along(point.x);
  }

  void sort_into_cells(const std::vector<Point>& drawn) {
    first_.assign(std::size_t{side_} * side_ + 2, 0);
    for (const Point& point : drawn) ++first_[cell_of(point) + 2];
    for (std::size_t cell = 2; cell < first_.size(); ++cell) first_[cell] += first_[cell - 1];
    points_.resize(drawn.size());
    for (const Point& point : drawn) points_[first_[cell_of(point) + 1]++] = point;
    first_.pop_back();
  }

  void append_neighbours(const Point& point, std::size_t cell, std::vector<std::uint32_t>& neighbours) const {
    for (std::size_t at = first_[cell]; at < first_[cell + 1]; ++at) {
      const double dx = points_[at].x - point.x;
      const double dy = points_[at].y - point.y;
      if (dx * dx + dy * dy < radius_ * radius_ && points_[at].rank != point.rank)
        neighbours.push_back(points_[at].rank);
    }
  }

  double radius_;
  std::uint32_t side_ = 1;
  std::vector<std::size_t> first_;  // points of cell c: first_[c]..first_[c+1]
  std::vector<Point> points_;
};

CommGraph geometric_graph(std::uint32_t ranks, const Cells& cells) {
  constexpr std::size_t chunk = 256;  // cells
  CommGraph::Rows rows;
  rows.undirected = true;
  rows.offsets.resize(ranks + std::size_t{1});
  rows.offsets[0] = 0;
  const auto for_each_point = [&](const auto& visit) {
    parallel_chunks(cells.cell_count(), chunk, [&](std::size_t begin, std::size_t end) {
      std::vector<std::uint32_t> neighbours;
      for (std::size_t cell = begin; cell < end; ++cell) cells.visit_cell(cell, neighbours, visit);
    });
  };
  for_each_point(
      [&](std::uint32_t rank, const auto& neighbours) { rows.offsets[rank + std::size_t{1}] = neighbours.size(); });
  for (std::size_t r = 0; r < ranks; ++r) rows.offsets[r + 1] += rows.offsets[r];
  rows.targets.resize(rows.offsets[ranks]);
  rows.bytes.resize(rows.offsets[ranks]);
  for_each_point([&](std::uint32_t rank, const auto& neighbours) {
    std::transform(neighbours.begin(), neighbours.end(),
                   rows.targets.begin() + static_cast<std::ptrdiff_t>(rows.offsets[rank]),
                   [](std::uint32_t other) { return Rank{other}; });
  });
  return CommGraph(std::move(rows));
}

class RandomGeometric : public Generator {
 public:
  RandomGeometric(std::string name, double radius, bool unit) : name_(std::move(name)), radius_(radius), unit_(unit) {}

  void describe(OptionList& options) override {
    options.count("ranks", ranks_, "number of ranks, points in the unit square", 1, max_ranks);
    options.number("radius", radius_, "radius of the neighbourhood, in units of 0.55 sqrt(ln n / n)", 1e-6, 1e6);
    options.choice("weights", unit_, {{"random", false}, {"unit", true}}, "edge weights: random in 1..heaviest, or 1");
    options.count("heaviest", max_weight_, "largest random weight", 1, 1'000'000'000);
    options.flag("directed", directed_,
                 "each direction carries the bytes, instead of an undirected edge that counts once");
  }

  Result<Profile> generate(std::uint64_t seed) const override {
    const auto n = static_cast<double>(ranks_);
    const double radius = radius_ * 0.55 * std::sqrt(portable_log(n) / n);
    const double degree = std::min(n - 1, 3.1416 * radius * radius * n);
    auto fits = check_memory(name_, n, n * (degree * bytes_per_edge + 2 * sizeof(Point)));
    if (!fits) return propagate(fits);
    const auto ranks = static_cast<std::uint32_t>(ranks_);
    CommGraph structure = geometric_graph(ranks, Cells(ranks, radius, seed));
    return point_to_point_profile(
        set_weights(std::move(structure), PairWeights(seed, unit_ ? 1 : max_weight_), directed_));
  }

 private:
  std::string name_;
  std::uint64_t ranks_ = 1024;
  double radius_;
  bool unit_;
  std::uint64_t max_weight_ = 10;
  bool directed_ = false;
};

}  // namespace

std::unique_ptr<Generator> make_rgg() {
  return std::make_unique<RandomGeometric>("rgg", 1.3, false);
}
std::unique_ptr<Generator> make_rggmesh() {
  return std::make_unique<RandomGeometric>("rggmesh", 1.0, true);
}

}  // namespace rankloom
