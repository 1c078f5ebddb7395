// SPDX-License-Identifier: Apache-2.0
// map/clustering: k-means with k-means++ initialisation.
//
// Coordinates are rounded to multiples of a power of two, so that all products and their sums are exact: which centre
// is the nearest depends neither on the order of the sums nor on the architecture, and points at equal distances are
// recognised as such.
#include "rankloom/map/clustering/k_means.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/timing.hpp"

namespace rankloom {
namespace {

/// Points per parallel task.
constexpr std::size_t chunk_size = 512;
/// Bits of a rounded coordinate. Products have twice as many; 13 bits of a double remain for the sum of 2^12 of them.
constexpr int coordinate_bits = 20;

class KMeans {
 public:
  KMeans(std::span<const double> rows, std::uint32_t dimensions, std::uint32_t k)
      : dimensions_(dimensions),
        k_(k),
        points_(rows.begin(), rows.end()),
        norms_(rows.size() / dimensions),
        centres_(std::size_t{k} * dimensions),
        label_(size(), 0),
        distance_(size(), 0.0) {
    double largest = 0;
    for (const double value : rows) largest = std::max(largest, std::abs(value));
    int exponent = 0;
    std::frexp(largest, &exponent);
    unit_ = std::ldexp(1.0, exponent - coordinate_bits);
    for (double& value : points_) value = rounded(value);
    for (std::size_t point = 0; point < size(); ++point) norms_[point] = squared_norm(&points_[point * dimensions_]);
  }

  std::size_t size() const { return norms_.size(); }
  const std::vector<std::uint32_t>& labels() const { return label_; }

  /// Returns the final sum of the squared distances to the centres.
  double run(const KMeansOptions& options, Random& random) {
    choose_centres(random);
    for (std::uint64_t round = 0; round < std::max<std::uint64_t>(1, options.max_rounds); ++round) {
      bool changed = assign();
      if (fill_empty()) changed = true;
      if ((!changed && round > 0) || options.deadline.passed()) break;
      move_centres();
    }
    return std::accumulate(distance_.begin(), distance_.end(), 0.0);
  }

 private:
  double rounded(double value) const { return std::round(value / unit_) * unit_; }

  double squared_norm(const double* row) const { return std::inner_product(row, row + dimensions_, row, 0.0); }

  /// k-means++: each next centre is a point, drawn with a probability proportional to its squared distance from the
  /// nearest centre chosen so far.
  void choose_centres(Random& random) {
    std::fill(distance_.begin(), distance_.end(), std::numeric_limits<double>::max());
    auto chosen = static_cast<std::size_t>(random.below(size()));
    for (std::uint32_t centre = 0; centre < k_; ++centre) {
      if (centre > 0) chosen = draw_point(random);
      const double* const point = &points_[chosen * dimensions_];
      std::copy(point, point + dimensions_, &centres_[std::size_t{centre} * dimensions_]);
      parallel_chunks(size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t other = begin; other < end; ++other) {
          const double* const row = &points_[other * dimensions_];
          const double product = std::inner_product(row, row + dimensions_, point, 0.0);
          distance_[other] = std::min(distance_[other], norms_[other] + norms_[chosen] - 2 * product);
        }
      });
    }
  }

  /// A uniformly drawn point when all distances are 0; fill_empty() repairs the empty clusters that result.
  std::size_t draw_point(Random& random) const {
    const double total = std::accumulate(distance_.begin(), distance_.end(), 0.0);
    if (!(total > 0)) return static_cast<std::size_t>(random.below(size()));
    double rest = random.unit() * total;
    for (std::size_t point = 0; point < size(); ++point) {
      rest -= distance_[point];
      if (rest < 0) return point;
    }
    return size() - 1;
  }

  /// Assigns every point to its nearest centre, to the lowest number on ties. Returns true if an assignment changed.
  bool assign() {
    // The nearest centre is the one with the largest x·c - |c|²/2. Centres are columns here: the innermost loop of a
    // product runs over all centres and needs no sum.
    std::vector<double> columns(centres_.size()), half_norms(k_);
    for (std::uint32_t centre = 0; centre < k_; ++centre) {
      const double* const row = &centres_[std::size_t{centre} * dimensions_];
      for (std::uint32_t at = 0; at < dimensions_; ++at) columns[std::size_t{at} * k_ + centre] = row[at];
      half_norms[centre] = squared_norm(row) / 2;
    }
    const auto changes = parallel_sum<std::size_t>(
        size(),
        [&](std::size_t begin, std::size_t end) {
          std::vector<double> nearness(k_);
          std::size_t changed = 0;
          for (std::size_t point = begin; point < end; ++point) {
            for (std::uint32_t centre = 0; centre < k_; ++centre) nearness[centre] = -half_norms[centre];
            for (std::uint32_t at = 0; at < dimensions_; ++at) {
              const double coordinate = points_[point * dimensions_ + at];
              const double* const column = &columns[std::size_t{at} * k_];
              for (std::uint32_t centre = 0; centre < k_; ++centre) nearness[centre] += coordinate * column[centre];
            }
            const auto nearest = std::max_element(nearness.begin(), nearness.end());
            const auto label = static_cast<std::uint32_t>(nearest - nearness.begin());
            changed += label_[point] != label ? 1 : 0;
            label_[point] = label;
            distance_[point] = norms_[point] - 2 * *nearest;
          }
          return changed;
        },
        chunk_size);
    return changes > 0;
  }

  /// An empty cluster takes the point with the largest distance to its centre, among clusters with several points.
  bool fill_empty() {
    std::vector<std::size_t> sizes(k_, 0);
    for (const std::uint32_t label : label_) ++sizes[label];
    bool changed = false;
    for (std::uint32_t cluster = 0; cluster < k_; ++cluster) {
      if (sizes[cluster] > 0) continue;
      std::size_t worst = size();
      for (std::size_t point = 0; point < size(); ++point) {
        if (sizes[label_[point]] > 1 && (worst == size() || distance_[point] > distance_[worst])) worst = point;
      }
      --sizes[label_[worst]];
      sizes[cluster] = 1;
      label_[worst] = cluster;
      distance_[worst] = 0;
      changed = true;
    }
    return changed;
  }

  void move_centres() {
    std::fill(centres_.begin(), centres_.end(), 0.0);
    std::vector<double> sizes(k_, 0.0);
    for (std::size_t point = 0; point < size(); ++point) {
      double* const centre = &centres_[std::size_t{label_[point]} * dimensions_];
      for (std::uint32_t at = 0; at < dimensions_; ++at) centre[at] += points_[point * dimensions_ + at];
      ++sizes[label_[point]];
    }
    for (std::size_t at = 0; at < centres_.size(); ++at) centres_[at] = rounded(centres_[at] / sizes[at / dimensions_]);
  }

  std::size_t dimensions_;
  std::uint32_t k_;
  double unit_ = 1;             // coordinates are multiples of it
  std::vector<double> points_;  // row after row
  std::vector<double> norms_;   // squared norm of each point
  std::vector<double> centres_;
  std::vector<std::uint32_t> label_;
  std::vector<double> distance_;  // squared, of each point to its centre
};

}  // namespace

std::vector<std::uint32_t> k_means(std::span<const double> rows, std::uint32_t dimensions, std::uint32_t k,
                                   const KMeansOptions& options, Random& random) {
  const TimedSection timing("k-means");
  assert(dimensions > 0 && k > 0 && k <= rows.size() / dimensions);
  KMeans search(rows, dimensions, k);
  std::vector<std::uint32_t> best;
  double min_sum = std::numeric_limits<double>::max();
  for (std::uint64_t start = 0; start < std::max<std::uint64_t>(1, options.restarts); ++start) {
    if (start > 0 && options.deadline.passed()) break;
    const double sum = search.run(options, random);
    if (!best.empty() && sum >= min_sum) continue;
    min_sum = sum;
    best = search.labels();
  }
  return best;
}

}  // namespace rankloom
