// SPDX-License-Identifier: Apache-2.0
// map/structure/recognition: grids whose ranks are numbered in row-major order.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "rankloom/map/structure/recognition/edge_census.hpp"
#include "rankloom/map/structure/recognition/grid_search.hpp"

namespace rankloom {
namespace {

constexpr std::uint32_t sampled_edges = 200;
/// A grid of six axes with all corners has 728 directions, and as many again across periodic boundaries.
constexpr std::size_t max_differences = 2000;
constexpr std::size_t max_guesses = 500;

template <class Id>
class RowMajorSearch {
 public:
  explicit RowMajorSearch(const AdjacencyView<Id>& adjacency) : adjacency_(adjacency) {
    for_sample(adjacency.size(), sampled_edges, [&](std::uint32_t rank) { sample_.push_back(rank); });
  }

  std::optional<Grid> guess() {
    if (!collect_strides() || strides_.front() != 1) return {};
    chosen_ = {1};
    return extend_strides() ? std::optional(std::move(found_)) : std::nullopt;
  }

 private:
  /// Differences between the numbers of neighbours that can be strides: nearly every rank has such a neighbour.
  bool collect_strides() {
    std::map<std::uint32_t, std::size_t> ranks_with;
    std::vector<std::uint32_t> differences;
    for (const std::uint32_t rank : sample_) {
      differences.clear();
      adjacency_.each(rank, [&](std::uint32_t other, double) {
        differences.push_back(other > rank ? other - rank : rank - other);
      });
      std::sort(differences.begin(), differences.end());
      differences.erase(std::unique(differences.begin(), differences.end()), differences.end());
      for (const std::uint32_t difference : differences) ++ranks_with[difference];
      if (ranks_with.size() > max_differences) return false;
    }
    for (const auto& [difference, ranks] : ranks_with) {
      if (adjacency_.size() % difference == 0 && 10 * ranks >= 9 * sample_.size()) strides_.push_back(difference);
    }
    return !strides_.empty();
  }

  /// Tries the chosen strides, then every stride that can follow them.
  bool extend_strides() {
    if (++guesses_ > max_guesses) return false;
    if (chosen_.back() < adjacency_.size() && fits()) return true;
    if (chosen_.size() == max_axes) return false;
    for (const std::uint32_t stride : strides_) {
      if (stride <= chosen_.back() || stride == adjacency_.size() || stride % chosen_.back() != 0) continue;
      chosen_.push_back(stride);
      if (extend_strides()) return true;
      chosen_.pop_back();
    }
    return false;
  }

  bool fits() {
    Grid grid;
    std::uint32_t next_stride = adjacency_.size();
    for (std::size_t at = chosen_.size(); at-- > 0;) {
      grid.extent.push_back(next_stride / chosen_[at]);
      grid.wraps.push_back(grid.extent.back() > 2 && wraps_around(chosen_[at], grid.extent.back()));
      next_stride = chosen_[at];
    }
    if (!edge_census(adjacency_, grid, sample_).fits()) return false;
    found_ = std::move(grid);
    return true;
  }

  /// Whether most lines of a sample along the axis have an edge between their first and their last rank.
  bool wraps_around(std::uint32_t stride, std::uint32_t extent) const {
    std::uint32_t sampled = 0, periodic = 0;
    for_sample(adjacency_.size() / extent, 9, [&](std::uint32_t line) {
      const std::uint32_t first = line / stride * stride * extent + line % stride;
      const std::uint32_t last = first + stride * (extent - 1);
      ++sampled;
      bool linked = false;
      adjacency_.each(first, [&](std::uint32_t other, double) { linked = linked || other == last; });
      periodic += linked ? 1 : 0;
    });
    return 2 * periodic > sampled;
  }

  const AdjacencyView<Id>& adjacency_;
  std::vector<std::uint32_t> sample_;
  std::vector<std::uint32_t> strides_;
  std::vector<std::uint32_t> chosen_;
  std::size_t guesses_ = 0;
  Grid found_;
};

}  // namespace

template <class Id>
std::optional<Grid> row_major_grid(const AdjacencyView<Id>& adjacency) {
  if (adjacency.size() < 2) return {};
  auto guess = RowMajorSearch<Id>(adjacency).guess();
  return guess ? verify_grid(adjacency, *std::move(guess)) : guess;
}

template std::optional<Grid> row_major_grid(const AdjacencyView<Rank>&);
template std::optional<Grid> row_major_grid(const AdjacencyView<std::uint32_t>&);

}  // namespace rankloom
