// SPDX-License-Identifier: Apache-2.0
// map/structure: grids whose ranks are numbered row after row.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "rankloom/map/structure/survey.hpp"
#include "rankloom/map/structure/unfold.hpp"

namespace rankloom {
namespace {

constexpr std::uint32_t looked_at = 200;
/// A grid of six axes with all its corners has 728 directions and as many ways round its sides.
constexpr std::size_t most_distances = 2000;
constexpr std::size_t most_guesses = 500;

template <class Id>
class InOrder {
 public:
  explicit InOrder(const Links<Id>& links) : links_(links) {
    for_some(links.size(), looked_at, [&](std::uint32_t rank) { sample_.push_back(rank); });
  }

  std::optional<Grid> guess() {
    if (!collect_strides() || strides_.front() != 1) return {};
    chosen_ = {1};
    return extended() ? std::optional(std::move(found_)) : std::nullopt;
  }

 private:
  /// What ranks that talk lie apart by, as far as it can be a stride: nearly every rank has a neighbour there.
  bool collect_strides() {
    std::map<std::uint32_t, std::size_t> ranks_with;
    std::vector<std::uint32_t> own;
    for (const std::uint32_t rank : sample_) {
      own.clear();
      links_.each(rank,
                  [&](std::uint32_t other, double) { own.push_back(other > rank ? other - rank : rank - other); });
      std::sort(own.begin(), own.end());
      own.erase(std::unique(own.begin(), own.end()), own.end());
      for (const std::uint32_t distance : own) ++ranks_with[distance];
      if (ranks_with.size() > most_distances) return false;
    }
    for (const auto& [distance, ranks] : ranks_with) {
      if (links_.size() % distance == 0 && 10 * ranks >= 9 * sample_.size()) strides_.push_back(distance);
    }
    return !strides_.empty();
  }

  /// Tries the chosen strides, then each that can follow them.
  bool extended() {
    if (++guesses_ > most_guesses) return false;
    if (chosen_.back() < links_.size() && fits()) return true;
    if (chosen_.size() == max_axes) return false;
    for (const std::uint32_t stride : strides_) {
      if (stride <= chosen_.back() || stride == links_.size() || stride % chosen_.back() != 0) continue;
      chosen_.push_back(stride);
      if (extended()) return true;
      chosen_.pop_back();
    }
    return false;
  }

  bool fits() {
    Grid grid;
    std::uint32_t above = links_.size();
    for (std::size_t at = chosen_.size(); at-- > 0;) {
      grid.extent.push_back(above / chosen_[at]);
      grid.wraps.push_back(grid.extent.back() > 2 && goes_round(chosen_[at], grid.extent.back()));
      above = chosen_[at];
    }
    if (!survey(links_, grid, sample_).fits()) return false;
    found_ = std::move(grid);
    return true;
  }

  /// Asks the first ranks of some lines along the axis.
  bool goes_round(std::uint32_t stride, std::uint32_t extent) const {
    std::uint32_t asked = 0, yes = 0;
    for_some(links_.size() / extent, 9, [&](std::uint32_t line) {
      const std::uint32_t first = line / stride * stride * extent + line % stride;
      const std::uint32_t last = first + stride * (extent - 1);
      ++asked;
      bool linked = false;
      links_.each(first, [&](std::uint32_t other, double) { linked = linked || other == last; });
      yes += linked ? 1 : 0;
    });
    return 2 * yes > asked;
  }

  const Links<Id>& links_;
  std::vector<std::uint32_t> sample_;
  std::vector<std::uint32_t> strides_;
  std::vector<std::uint32_t> chosen_;
  std::size_t guesses_ = 0;
  Grid found_;
};

}  // namespace

template <class Id>
std::optional<Grid> grid_in_order(const Links<Id>& links) {
  if (links.size() < 2) return {};
  auto guess = InOrder<Id>(links).guess();
  return guess ? confirmed(links, *std::move(guess)) : guess;
}

template std::optional<Grid> grid_in_order(const Links<Rank>&);
template std::optional<Grid> grid_in_order(const Links<std::uint32_t>&);

}  // namespace rankloom
