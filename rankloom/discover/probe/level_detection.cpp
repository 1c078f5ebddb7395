// SPDX-License-Identifier: Apache-2.0
// discover: hierarchical clustering of measured distances, cut into levels.
#include "rankloom/discover/probe/level_detection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace rankloom {

namespace {

/// Added to the logarithms between groups that are known to be apart.
constexpr double apart = 100;
/// Neighbouring heights nearer than this belong to one level.
constexpr double least_jump = 0.03;

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

/// Nearest-neighbour chains: average linkage never makes a later merge nearer than an earlier one of the same cluster,
/// so mutual nearest neighbours can be merged as they are found.
std::vector<Merge> link(std::uint32_t n, Matrix distance) {
  std::vector<std::uint32_t> size(n, 1), chain;
  std::vector<bool> gone(n);
  std::vector<Merge> merges;
  std::uint32_t start = 0;
  while (merges.size() + 1 < n) {
    if (chain.empty()) {
      while (gone[start]) ++start;
      chain.push_back(start);
    }
    const std::uint32_t top = chain.back();
    std::uint32_t nearest = n;
    if (chain.size() > 1) nearest = chain[chain.size() - 2];  // keeps the chain from turning on ties
    for (std::uint32_t other = 0; other < n; ++other) {
      if (other == top || gone[other]) continue;
      if (nearest == n || distance.at(top, other) < distance.at(top, nearest)) nearest = other;
    }
    if (chain.size() < 2 || nearest != chain[chain.size() - 2]) {
      chain.push_back(nearest);
      continue;
    }
    merges.push_back({top, nearest, distance.at(top, nearest)});
    const double total = size[top] + size[nearest];
    for (std::uint32_t other = 0; other < n; ++other) {
      if (gone[other] || other == top || other == nearest) continue;
      distance.set(nearest, other,
                   (size[top] * distance.at(top, other) + size[nearest] * distance.at(nearest, other)) / total);
    }
    size[nearest] += size[top];
    gone[top] = true;
    chain.resize(chain.size() - 2);
  }
  std::stable_sort(merges.begin(), merges.end(), [](const Merge& x, const Merge& y) { return x.height < y.height; });
  return merges;
}

/// The groups after the merges up to this height.
Grouping cut(std::uint32_t n, const std::vector<Merge>& merges, double height) {
  std::vector<std::uint32_t> leader(n);
  std::iota(leader.begin(), leader.end(), 0U);
  const std::function<std::uint32_t(std::uint32_t)> find = [&](std::uint32_t thing) {
    while (leader[thing] != thing) thing = leader[thing] = leader[leader[thing]];
    return thing;
  };
  for (const Merge& merge : merges) {
    if (merge.height > height) break;
    const std::uint32_t a = find(merge.a), b = find(merge.b);
    leader[std::max(a, b)] = std::min(a, b);
  }
  Grouping groups(n);
  std::uint32_t count = 0;
  for (std::uint32_t thing = 0; thing < n; ++thing) {
    const std::uint32_t first = find(thing);
    groups[thing] = first == thing ? count++ : groups[first];
  }
  return groups;
}

class LevelFinder {
 public:
  LevelFinder(std::uint32_t n, std::span<const PairDistance> distances, const Grouping& known)
      : n_(n), distances_(distances), known_(known), merges_(link(n, fill())) {}

  std::vector<Grouping> find() {
    if (!known_.empty()) try_cut(apart / 2, true);
    for (const auto& [score, height] : candidates()) try_cut(height, false);
    while (drop_one()) {
    }
    std::vector<Grouping> groupings;
    for (const Cut& one : cuts_) groupings.push_back(one.groups);
    return groupings;
  }

 private:
  struct Cut {
    double height;
    Grouping groups;
    bool certain;
  };

  /// A cut that was tried before its neighbours may have lived on what lies beyond them.
  bool drop_one() {
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
      const Grouping* const finer = i == 0 ? nullptr : &cuts_[i - 1].groups;
      const Grouping* const coarser = i + 1 == cuts_.size() ? nullptr : &cuts_[i + 1].groups;
      if (cuts_[i].certain || holds(cuts_[i].groups, finer, coarser)) continue;
      cuts_.erase(cuts_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }

  bool holds(const Grouping& groups, const Grouping* finer, const Grouping* coarser) const {
    return splits_most(groups, coarser) && says_something(groups, finer, coarser);
  }

  /// Heights to cut at, the most convincing first: between merges that lie far apart, into groups of like size.
  std::vector<std::pair<double, double>> candidates() const {
    constexpr std::size_t most = 64;
    std::vector<std::pair<double, double>> jumps;  // width, middle
    for (std::size_t i = 0; i + 1 < merges_.size(); ++i) {
      const double width = merges_[i + 1].height - merges_[i].height;
      if (width > least_jump && width < apart / 2) jumps.emplace_back(width, merges_[i].height + width / 2);
    }
    std::sort(jumps.rbegin(), jumps.rend());
    if (jumps.size() > most) jumps.resize(most);
    for (auto& [score, height] : jumps) score *= evenness(cut(n_, merges_, height));
    std::sort(jumps.rbegin(), jumps.rend());
    return jumps;
  }

  /// The smallest group against the largest; a rank that had bad luck is a group of its own.
  static double evenness(const Grouping& groups) {
    std::map<std::uint32_t, double> sizes;
    for (const std::uint32_t group : groups) ++sizes[group];
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end(),
                                                   [](const auto& x, const auto& y) { return x.second < y.second; });
    return least->second / most->second;
  }

  bool known_apart(std::uint32_t a, std::uint32_t b) const { return !known_.empty() && known_[a] != known_[b]; }

  Matrix fill() const {
    Matrix matrix(n_);
    std::vector<double> near, far;
    for (const auto& [a, b, value] : distances_) {
      const bool is_far = known_apart(a, b);
      (is_far ? far : near).push_back(std::log(value));
      matrix.set(a, b, std::log(value) + (is_far ? apart : 0));
    }
    const double near_median = near.empty() ? 0 : median(near);
    const double far_median = (far.empty() ? near_median : median(far)) + apart;
    for (std::uint32_t a = 0; a < n_; ++a) {
      for (std::uint32_t b = 0; b < a; ++b) {
        if (std::isnan(matrix.at(a, b))) matrix.set(a, b, known_apart(a, b) ? far_median : near_median);
      }
    }
    return matrix;
  }

  /// Keeps the cut if it says something: groups of several things, several groups, and a difference.
  void try_cut(double height, bool certain) {
    Cut fresh{height, cut(n_, merges_, height), certain};
    const std::uint32_t groups = *std::max_element(fresh.groups.begin(), fresh.groups.end()) + 1;
    if (groups == 1 || (groups == n_ && !certain)) return;
    const auto place = std::lower_bound(cuts_.begin(), cuts_.end(), height,
                                        [](const Cut& one, double value) { return one.height < value; });
    const Grouping* const finer = place == cuts_.begin() ? nullptr : &(place - 1)->groups;
    const Grouping* const coarser = place == cuts_.end() ? nullptr : &place->groups;
    if (!certain && !holds(fresh.groups, finer, coarser)) return;
    cuts_.insert(place, std::move(fresh));
  }

  /// A level divides most of what is above it; a single part that falls apart is a slow pair.
  bool splits_most(const Grouping& groups, const Grouping* coarser) const {
    std::map<std::uint32_t, std::set<std::uint32_t>> parts;
    std::map<std::uint32_t, std::uint32_t> members;
    for (std::uint32_t thing = 0; thing < n_; ++thing) {
      const std::uint32_t parent = coarser == nullptr ? 0 : (*coarser)[thing];
      parts[parent].insert(groups[thing]);
      ++members[parent];
    }
    std::size_t split = 0, can_be = 0;
    for (const auto& [parent, below] : parts) {
      split += below.size() > 1 ? 1 : 0;
      can_be += members[parent] > 1 ? 1 : 0;
    }
    return 2 * split >= can_be;
  }

  bool says_something(const Grouping& groups, const Grouping* finer, const Grouping* coarser) const {
    std::vector<double> near, far;
    for (const auto& [a, b, value] : distances_) {
      if (finer != nullptr && (*finer)[a] == (*finer)[b]) continue;
      if (coarser != nullptr && (*coarser)[a] != (*coarser)[b]) continue;
      (groups[a] == groups[b] ? near : far).push_back(value);
    }
    return differ_measurably(near, far);
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

double squares_around(const std::vector<double>& values, double mean) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

}  // namespace

bool differ_measurably(std::span<const double> near, std::span<const double> far) {
  if (near.empty() || far.empty()) return false;
  const auto below = logarithms(near), above = logarithms(far);
  const double low = mean_of(below), high = mean_of(above);
  const double freedom = std::max(1.0, static_cast<double>(below.size() + above.size()) - 2);
  const double spread = std::sqrt((squares_around(below, low) + squares_around(above, high)) / freedom);
  // Groups are also made of what is near by chance, the more so the fewer the pairs.
  const double few = static_cast<double>(std::min(below.size(), above.size()));
  return high - low > std::log(1.05) && high - low > (3 + 9 / few) * std::max(spread, 0.002);
}

std::vector<Grouping> find_groupings(std::uint32_t n, std::span<const PairDistance> distances, const Grouping& known) {
  if (n < 2) return {};
  return LevelFinder(n, distances, known).find();
}

}  // namespace rankloom
