// SPDX-License-Identifier: Apache-2.0
// map/clustering: k-means with k-means++ initialisation.
#include "rankloom/map/clustering/k_means.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

#include <Eigen/Core>

#include "rankloom/core/parallel.hpp"

namespace rankloom {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Points per parallel task: enough for an efficient matrix product.
constexpr std::size_t chunk_size = 512;

class KMeans {
 public:
  KMeans(std::span<const double> rows, std::uint32_t dimensions, std::uint32_t k)
      : points_(rows.data(), static_cast<Eigen::Index>(rows.size() / dimensions), dimensions),
        norms_(points_.rowwise().squaredNorm()),
        k_(k),
        centres_(k, dimensions),
        label_(size(), 0),
        distance_(size(), 0.0) {}

  std::size_t size() const { return static_cast<std::size_t>(points_.rows()); }
  const std::vector<std::uint32_t>& labels() const { return label_; }

  /// Returns the final sum of the squared distances to the centres.
  double run(const KMeansOptions& options, Random& random) {
    choose_centres(random);
    for (std::uint64_t round = 0; round < std::max<std::uint64_t>(1, options.max_rounds); ++round) {
      const bool changed = assign() | fill_empty();
      if ((!changed && round > 0) || options.deadline.passed()) break;
      move_centres();
    }
    return std::accumulate(distance_.begin(), distance_.end(), 0.0);
  }

 private:
  /// k-means++: each next centre is a point, drawn with a probability proportional to its squared distance from the
  /// nearest centre chosen so far.
  void choose_centres(Random& random) {
    std::fill(distance_.begin(), distance_.end(), std::numeric_limits<double>::max());
    auto chosen = static_cast<std::size_t>(random.below(size()));
    for (std::uint32_t centre = 0; centre < k_; ++centre) {
      if (centre > 0) chosen = draw_point(random);
      const Eigen::VectorXd point = points_.row(static_cast<Eigen::Index>(chosen));
      centres_.row(centre) = point;
      parallel_chunks(size(), [&](std::size_t begin, std::size_t end) {
        const auto first = static_cast<Eigen::Index>(begin), count = static_cast<Eigen::Index>(end - begin);
        Eigen::Map<Eigen::VectorXd> nearest(distance_.data() + begin, count);
        // |x - c|² = |x|² + |c|² - 2 x·c, clamped at 0 because rounding can make it negative.
        nearest =
            nearest.cwiseMin(((norms_.segment(first, count) - 2 * (points_.middleRows(first, count) * point)).array() +
                              point.squaredNorm())
                                 .max(0.0)
                                 .matrix());
      });
      distance_[chosen] = 0;
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
    const Eigen::VectorXd half_norms = 0.5 * centres_.rowwise().squaredNorm();
    const auto changes = parallel_sum<std::size_t>(
        size(),
        [&](std::size_t begin, std::size_t end) {
          const auto rows =
              points_.middleRows(static_cast<Eigen::Index>(begin), static_cast<Eigen::Index>(end - begin));
          // The nearest centre is the one with the largest x·c - |c|²/2.
          const Rows nearness = (rows * centres_.transpose()).rowwise() - half_norms.transpose();
          std::size_t changed = 0;
          for (Eigen::Index at = 0; at < rows.rows(); ++at) {
            Eigen::Index nearest = 0;
            const double best = nearness.row(at).maxCoeff(&nearest);
            const std::size_t point = begin + static_cast<std::size_t>(at);
            changed += label_[point] != static_cast<std::uint32_t>(nearest) ? 1 : 0;
            label_[point] = static_cast<std::uint32_t>(nearest);
            distance_[point] = std::max(0.0, norms_[static_cast<Eigen::Index>(point)] - 2 * best);
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
    centres_.setZero();
    Eigen::VectorXd sizes = Eigen::VectorXd::Zero(k_);
    for (std::size_t point = 0; point < size(); ++point) {
      centres_.row(label_[point]) += points_.row(static_cast<Eigen::Index>(point));
      ++sizes[label_[point]];
    }
    for (Eigen::Index cluster = 0; cluster < k_; ++cluster) centres_.row(cluster) /= sizes[cluster];
  }

  Eigen::Map<const Rows> points_;
  Eigen::VectorXd norms_;  // squared norm of each point
  std::uint32_t k_;
  Rows centres_;
  std::vector<std::uint32_t> label_;
  std::vector<double> distance_;  // squared, of each point to its centre
};

}  // namespace

std::vector<std::uint32_t> k_means(std::span<const double> rows, std::uint32_t dimensions, std::uint32_t k,
                                   const KMeansOptions& options, Random& random) {
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
