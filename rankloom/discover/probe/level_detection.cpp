// SPDX-License-Identifier: Apache-2.0
// discover/probe: average-linkage clustering of measured distances, cut into levels.
#include "rankloom/discover/probe/level_detection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace rankloom {

namespace {

/// Added to the logarithm of the distance between items of different known groups.
constexpr double known_group_offset = 100;
/// Merges whose heights differ by less belong to one level.
constexpr double min_height_difference = 0.03;

struct Merge {
  std::uint32_t a, b;  ///< Any members of the two clusters.
  double height;
};

class Matrix {
 public:
  explicit Matrix(std::uint32_t n) : n_(n), values_(std::size_t{n} * n, std::numeric_limits<double>::quiet_NaN()) {}
  double& at(std::uint32_t a, std::uint32_t b) { return values_[std::size_t{a} * n_ + b]; }
  void set(std::uint32_t a, std::uint32_t b, double value) { at(a, b) = at(b, a) = value; }

 private:
  std::uint32_t n_;
  std::vector<double> values_;
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Nearest-neighbour chain algorithm. With average linkage a later merge of a cluster is never closer than an earlier
/// one, so mutual nearest neighbours can be merged as soon as they are found.
std::vector<Merge> cluster_by_average_linkage(std::uint32_t n, Matrix distance) {
  std::vector<std::uint32_t> size(n, 1), chain;
  std::vector<bool> is_merged(n);
  std::vector<Merge> merges;
  std::uint32_t start = 0;
  while (merges.size() + 1 < n) {
    if (chain.empty()) {
      while (is_merged[start]) ++start;
      chain.push_back(start);
    }
    const std::uint32_t top = chain.back();
    std::uint32_t nearest = n;
    if (chain.size() > 1) nearest = chain[chain.size() - 2];  // prevents cycles of the chain on ties
    for (std::uint32_t other = 0; other < n; ++other) {
      if (other == top || is_merged[other]) continue;
      if (nearest == n || distance.at(top, other) < distance.at(top, nearest)) nearest = other;
    }
    if (chain.size() < 2 || nearest != chain[chain.size() - 2]) {
      chain.push_back(nearest);
      continue;
    }
    merges.push_back({top, nearest, distance.at(top, nearest)});
    const double total = size[top] + size[nearest];
    for (std::uint32_t other = 0; other < n; ++other) {
      if (is_merged[other] || other == top || other == nearest) continue;
      distance.set(nearest, other,
                   (size[top] * distance.at(top, other) + size[nearest] * distance.at(nearest, other)) / total);
    }
    size[nearest] += size[top];
    is_merged[top] = true;
    chain.resize(chain.size() - 2);
  }
  std::stable_sort(merges.begin(), merges.end(), [](const Merge& x, const Merge& y) { return x.height < y.height; });
  return merges;
}

/// The groups after all merges up to this height.
Grouping cut(std::uint32_t n, const std::vector<Merge>& merges, double height) {
  std::vector<std::uint32_t> leader(n);
  std::iota(leader.begin(), leader.end(), 0U);
  const std::function<std::uint32_t(std::uint32_t)> find = [&](std::uint32_t item) {
    while (leader[item] != item) item = leader[item] = leader[leader[item]];
    return item;
  };
  for (const Merge& merge : merges) {
    if (merge.height > height) break;
    const std::uint32_t a = find(merge.a), b = find(merge.b);
    leader[std::max(a, b)] = std::min(a, b);
  }
  Grouping groups(n);
  std::uint32_t count = 0;
  for (std::uint32_t item = 0; item < n; ++item) {
    const std::uint32_t first = find(item);
    groups[item] = first == item ? count++ : groups[first];
  }
  return groups;
}

class LevelDetector {
 public:
  LevelDetector(std::uint32_t n, std::span<const PairDistance> distances, const Grouping& known)
      : n_(n), distances_(distances), known_(known), merges_(cluster_by_average_linkage(n, log_distances())) {}

  std::vector<Grouping> detect() {
    if (!known_.empty()) add_cut(known_group_offset / 2, true);
    for (const auto& [score, height] : candidates()) add_cut(height, false);
    while (remove_invalid_cut()) {
    }
    std::vector<Grouping> groupings;
    for (const Cut& level : cuts_) groupings.push_back(level.groups);
    return groupings;
  }

 private:
  struct Cut {
    double height;
    Grouping groups;
    bool is_known;
  };

  /// A cut that was accepted before its neighbours may no longer separate distances between them.
  bool remove_invalid_cut() {
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
      const Grouping* const finer = i == 0 ? nullptr : &cuts_[i - 1].groups;
      const Grouping* const coarser = i + 1 == cuts_.size() ? nullptr : &cuts_[i + 1].groups;
      if (cuts_[i].is_known || is_level(cuts_[i].groups, finer, coarser)) continue;
      cuts_.erase(cuts_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }

  bool is_level(const Grouping& groups, const Grouping* finer, const Grouping* coarser) const {
    return splits_most_groups(groups, coarser) && separates_distances(groups, finer, coarser);
  }

  /// Candidate heights, best first: between merges with a large difference of height, with groups of similar size.
  std::vector<std::pair<double, double>> candidates() const {
    constexpr std::size_t max_candidates = 64;
    std::vector<std::pair<double, double>> candidates_by_width;  // width, middle
    for (std::size_t i = 0; i + 1 < merges_.size(); ++i) {
      const double width = merges_[i + 1].height - merges_[i].height;
      if (width > min_height_difference && width < known_group_offset / 2)
        candidates_by_width.emplace_back(width, merges_[i].height + width / 2);
    }
    std::sort(candidates_by_width.rbegin(), candidates_by_width.rend());
    if (candidates_by_width.size() > max_candidates) candidates_by_width.resize(max_candidates);
    for (auto& [score, height] : candidates_by_width) score *= evenness(cut(n_, merges_, height));
    std::sort(candidates_by_width.rbegin(), candidates_by_width.rend());
    return candidates_by_width;
  }

  /// Size of the smallest group divided by that of the largest; a single disturbed rank gives a small value.
  static double evenness(const Grouping& groups) {
    std::map<std::uint32_t, double> sizes;
    for (const std::uint32_t group : groups) ++sizes[group];
    const auto [smallest, largest] = std::minmax_element(
        sizes.begin(), sizes.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
    return smallest->second / largest->second;
  }

  bool in_different_known_groups(std::uint32_t a, std::uint32_t b) const {
    return !known_.empty() && known_[a] != known_[b];
  }

  /// The logarithms of all distances, with the offset between known groups and medians for pairs without a distance.
  Matrix log_distances() const {
    Matrix matrix(n_);
    std::vector<double> inner, outer;
    for (const auto& [a, b, value] : distances_) {
      const bool is_outer = in_different_known_groups(a, b);
      (is_outer ? outer : inner).push_back(std::log(value));
      matrix.set(a, b, std::log(value) + (is_outer ? known_group_offset : 0));
    }
    const double inner_median = inner.empty() ? 0 : median(inner);
    const double outer_median = (outer.empty() ? inner_median : median(outer)) + known_group_offset;
    for (std::uint32_t a = 0; a < n_; ++a) {
      for (std::uint32_t b = 0; b < a; ++b) {
        if (std::isnan(matrix.at(a, b)))
          matrix.set(a, b, in_different_known_groups(a, b) ? outer_median : inner_median);
      }
    }
    return matrix;
  }

  /// Accepts the cut if it has several groups of several items whose distances differ.
  void add_cut(double height, bool is_known) {
    Cut candidate{height, cut(n_, merges_, height), is_known};
    const std::uint32_t groups = *std::max_element(candidate.groups.begin(), candidate.groups.end()) + 1;
    if (groups == 1 || (groups == n_ && !is_known)) return;
    const auto position = std::lower_bound(cuts_.begin(), cuts_.end(), height,
                                           [](const Cut& level, double value) { return level.height < value; });
    const Grouping* const finer = position == cuts_.begin() ? nullptr : &(position - 1)->groups;
    const Grouping* const coarser = position == cuts_.end() ? nullptr : &position->groups;
    if (!is_known && !is_level(candidate.groups, finer, coarser)) return;
    cuts_.insert(position, std::move(candidate));
  }

  /// A level splits most groups of the level above it; a cut that splits a single group is a slow pair.
  bool splits_most_groups(const Grouping& groups, const Grouping* coarser) const {
    std::map<std::uint32_t, std::set<std::uint32_t>> parts;
    std::map<std::uint32_t, std::uint32_t> members;
    for (std::uint32_t item = 0; item < n_; ++item) {
      const std::uint32_t parent = coarser == nullptr ? 0 : (*coarser)[item];
      parts[parent].insert(groups[item]);
      ++members[parent];
    }
    std::size_t split = 0, splittable = 0;
    for (const auto& [parent, below] : parts) {
      split += below.size() > 1 ? 1 : 0;
      splittable += members[parent] > 1 ? 1 : 0;
    }
    return 2 * split >= splittable;
  }

  bool separates_distances(const Grouping& groups, const Grouping* finer, const Grouping* coarser) const {
    std::vector<double> inner, outer;
    for (const auto& [a, b, value] : distances_) {
      if (finer != nullptr && (*finer)[a] == (*finer)[b]) continue;
      if (coarser != nullptr && (*coarser)[a] != (*coarser)[b]) continue;
      (groups[a] == groups[b] ? inner : outer).push_back(value);
    }
    return differ_measurably(inner, outer);
  }

  std::uint32_t n_;
  std::span<const PairDistance> distances_;
  const Grouping& known_;
  std::vector<Merge> merges_;
  std::vector<Cut> cuts_;  // by height
};

/// The logarithms without the highest tenth.
std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> logs(values.size());
  std::transform(values.begin(), values.end(), logs.begin(), [](double value) { return std::log(value); });
  std::sort(logs.begin(), logs.end());
  logs.resize(logs.size() - logs.size() / 10);
  return logs;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sum_of_squares(const std::vector<double>& values, double mean) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

}  // namespace

bool differ_measurably(std::span<const double> inner, std::span<const double> outer) {
  if (inner.empty() || outer.empty()) return false;
  const auto below = logarithms(inner), above = logarithms(outer);
  const double low = mean_of(below), high = mean_of(above);
  const double freedom = std::max(1.0, static_cast<double>(below.size() + above.size()) - 2);
  const double spread = std::sqrt((sum_of_squares(below, low) + sum_of_squares(above, high)) / freedom);
  // Clustering also groups items that are close by chance, more so with few pairs.
  const double min_pairs = static_cast<double>(std::min(below.size(), above.size()));
  return high - low > std::log(1.05) && high - low > (3 + 9 / min_pairs) * std::max(spread, 0.002);
}

std::vector<Grouping> detect_levels(std::uint32_t n, std::span<const PairDistance> distances, const Grouping& known) {
  if (n < 2) return {};
  return LevelDetector(n, distances, known).detect();
}

}  // namespace rankloom
