// SPDX-License-Identifier: Apache-2.0
// map/clustering: CP-NSC on a connected graph, on a graph of several components, and in steps for large numbers of
// clusters.
#include "rankloom/map/clustering/spectral.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"

namespace rankloom {
namespace {

/// A piece of at most about this size is not divided further: all its eigenvectors cost some milliseconds.
constexpr std::uint32_t small_piece_size = 128;
/// A division leaves each piece at least this many clusters, so that the pieces hardly constrain the clusters.
constexpr double min_clusters_per_piece = 4;
/// The largest eigenvector matrix of one step, in numbers: larger ones would take gigabytes during the iteration.
constexpr double max_eigenvector_entries = 1 << 23;

using Labels = std::vector<std::uint32_t>;

/// One group per label that occurs.
Groups groups_by_label(const Labels& labels, std::uint32_t count) {
  std::vector<std::vector<std::uint32_t>> lists(count);
  for (std::uint32_t element = 0; element < labels.size(); ++element) lists[labels[element]].push_back(element);
  std::erase_if(lists, [](const auto& list) { return list.empty(); });
  std::sort(lists.begin(), lists.end(), [](const auto& a, const auto& b) { return a.front() < b.front(); });
  Groups groups;
  for (const auto& list : lists) {
    groups.members.insert(groups.members.end(), list.begin(), list.end());
    groups.close();
  }
  return groups;
}

/// In the order of their smallest elements.
Groups connected_components(const Affinity& graph) {
  constexpr std::uint32_t unlabelled = std::numeric_limits<std::uint32_t>::max();
  Labels label(graph.size(), unlabelled);
  std::vector<std::uint32_t> open;
  std::uint32_t count = 0;
  for (std::uint32_t seed = 0; seed < graph.size(); ++seed) {
    if (label[seed] != unlabelled) continue;
    label[seed] = count;
    open.assign(1, seed);
    while (!open.empty()) {
      const std::uint32_t element = open.back();
      open.pop_back();
      for (const std::uint32_t neighbour : graph.neighbours(element)) {
        if (label[neighbour] != unlabelled) continue;
        label[neighbour] = count;
        open.push_back(neighbour);
      }
    }
    ++count;
  }
  return groups_by_label(label, count);
}

std::vector<std::uint32_t> sizes_of(const Groups& groups) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t group = 0; group < groups.size(); ++group) {
    sizes.push_back(static_cast<std::uint32_t>(groups[group].size()));
  }
  return sizes;
}

/// Step 5 of Algorithm 1: the first k columns, with every row scaled to length 1. A row of zeros stays zero.
std::vector<double> normalised_rows(const Eigenvectors& vectors, std::uint32_t k) {
  std::vector<double> rows(std::size_t{vectors.rows} * k);
  for (std::uint32_t row = 0; row < vectors.rows; ++row) {
    double square = 0;
    for (std::uint32_t column = 0; column < k; ++column) {
      const double value = vectors.values[std::size_t{column} * vectors.rows + row];
      rows[std::size_t{row} * k + column] = value;
      square += value * value;
    }
    if (!(square > 0)) continue;
    for (std::uint32_t column = 0; column < k; ++column) rows[std::size_t{row} * k + column] /= std::sqrt(square);
  }
  return rows;
}

}  // namespace

std::vector<std::uint32_t> apportion(std::uint32_t total, std::span<const std::uint32_t> sizes) {
  assert(sizes.size() <= total);
  const double sum = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  assert(total <= sum);
  std::vector<std::uint32_t> shares;
  std::vector<std::pair<double, std::size_t>> by_excess;  // share minus exact proportion, index
  std::uint64_t assigned = 0;
  for (std::size_t at = 0; at < sizes.size(); ++at) {
    const double proportion = total * (sizes[at] / sum);
    shares.push_back(std::clamp<std::uint32_t>(static_cast<std::uint32_t>(proportion), 1, sizes[at]));
    by_excess.emplace_back(shares[at] - proportion, at);
    assigned += shares[at];
  }
  std::sort(by_excess.begin(), by_excess.end());
  while (assigned < total) {
    for (std::size_t next = 0; next < by_excess.size() && assigned < total; ++next) {
      const std::size_t at = by_excess[next].second;
      if (shares[at] == sizes[at]) continue;
      ++shares[at];
      ++assigned;
    }
  }
  // Raising shares to one can exceed the total. The shares with the largest excess are then reduced.
  while (assigned > total) {
    for (std::size_t next = by_excess.size(); next-- > 0 && assigned > total;) {
      const std::size_t at = by_excess[next].second;
      if (shares[at] == 1) continue;
      --shares[at];
      --assigned;
    }
  }
  return shares;
}

struct SpectralClustering::Plan {
  /// Whether k clusters of this many elements are made in several steps.
  bool needs_division(std::uint32_t k, std::uint32_t elements) const {
    return k > options.max_direct_clusters ||
           (elements > max_dense_size && static_cast<double>(k) * elements > max_eigenvector_entries);
  }

  SpectralOptions options;
  std::uint64_t seed;
  Deadline deadline;
  std::uint64_t max_direct_k = 1;       // the largest requested k that needs no division
  double min_clusters_per_element = 1;  // the smallest requested k that needs a division, divided by the elements
};

class SpectralClustering::Piece {
 public:
  Piece(Affinity graph, const Plan& plan, std::uint64_t seed) : graph_(std::move(graph)), plan_(&plan), seed_(seed) {}

  std::uint32_t size() const { return graph_.size(); }

  /// The cluster of each element, 0..k-1; empty when the deadline passed.
  Labels labels(std::uint32_t k) {
    if (k == 1) return Labels(size(), 0);
    if (k == size()) {
      Labels singletons(size());
      std::iota(singletons.begin(), singletons.end(), 0U);
      return singletons;
    }
    if (!components_) components_ = connected_components(graph_);
    if (components_->size() > 1) return cluster_components(k);
    return plan_->needs_division(k, size()) ? cluster_by_division(k) : cluster_directly(k);
  }

 private:
  /// CP-NSC as in Algorithm 1.
  Labels cluster_directly(std::uint32_t k) {
    if (!vectors_ || vectors_->columns() < k) {
      const auto limit = size() <= max_dense_size ? plan_->options.max_direct_clusters : plan_->max_direct_k;
      const auto count = std::max(k, static_cast<std::uint32_t>(std::min<std::uint64_t>(size(), limit)));
      vectors_ = leading_eigenvectors(graph_, plan_->options.similarity, count, seed_, plan_->deadline);
      if (!vectors_) return {};
    }
    const std::uint32_t columns = std::min(k, vectors_->columns());
    const auto rows = normalised_rows(*vectors_, columns);
    Random random(seed_, k);
    return k_means(rows, columns, k, {.restarts = plan_->options.restarts, .deadline = plan_->deadline}, random);
  }

  Labels cluster_components(std::uint32_t k) {
    const Groups& components = *components_;
    if (components.size() > k) return bundle_components(k);
    if (pieces_.empty()) split(components);
    return cluster_pieces(components, k);
  }

  Labels cluster_by_division(std::uint32_t k) {
    if (pieces_.empty()) {
      const std::uint32_t pieces = piece_count();
      const auto labels = cluster_directly(pieces);
      if (labels.empty()) return {};
      division_ = groups_by_label(labels, pieces);
      split(division_);
    }
    return cluster_pieces(division_, k);
  }

  /// The number of pieces of `small_piece_size`; if one division cannot make that many, about its square root.
  std::uint32_t piece_count() const {
    const double wanted = std::min(std::ceil(size() / double{small_piece_size}),
                                   std::floor(size() * plan_->min_clusters_per_element / min_clusters_per_piece));
    const double limit =
        std::min(static_cast<double>(plan_->options.max_direct_clusters), std::floor(max_eigenvector_entries / size()));
    const double pieces = wanted <= limit ? wanted : std::min(limit, std::ceil(std::sqrt(wanted)));
    return static_cast<std::uint32_t>(std::clamp(pieces, 2.0, static_cast<double>(size())));
  }

  void split(const Groups& groups) {
    std::uint64_t seed = seed_;
    for (Affinity& graph : graph_.split(groups)) pieces_.emplace_back(std::move(graph), *plan_, seed = mix(seed));
  }

  /// Distributes k clusters over the pieces in proportion to their sizes; k is at least the number of pieces.
  Labels cluster_pieces(const Groups& groups, std::uint32_t k) {
    const auto shares = apportion(k, sizes_of(groups));
    std::vector<std::uint32_t> first(shares.size(), 0);
    std::exclusive_scan(shares.begin(), shares.end(), first.begin(), 0U);
    Labels labels(size());
    std::vector<std::uint8_t> stopped(shares.size(), 0);
    parallel_chunks(shares.size(), 1, [&](std::size_t piece, std::size_t) {
      const auto inside = pieces_[piece].labels(shares[piece]);
      stopped[piece] = inside.empty() ? 1 : 0;
      const auto members = groups[static_cast<std::uint32_t>(piece)];
      for (std::size_t at = 0; at < inside.size(); ++at) labels[members[at]] = first[piece] + inside[at];
    });
    if (std::find(stopped.begin(), stopped.end(), 1) != stopped.end()) return {};
    return labels;
  }

  Labels bundle_components(std::uint32_t k);

  Affinity graph_;
  const Plan* plan_;
  std::uint64_t seed_;
  std::optional<Groups> components_;
  std::optional<Eigenvectors> vectors_;
  Groups division_;
  std::vector<Piece> pieces_;  // the components, or the pieces of a division
};

/// For more components than clusters: components are collected, in the order of their smallest elements, into bundles
/// of about equal size, each of which is one cluster. A component at least 1.5 times as large as the mean cluster is
/// not bundled but clustered by itself.
auto SpectralClustering::Piece::bundle_components(std::uint32_t k) -> Labels {
  const Groups& components = *components_;
  const double mean = static_cast<double>(size()) / k;
  std::vector<std::uint32_t> large, small;
  std::uint32_t small_elements = 0;
  for (std::uint32_t component = 0; component < components.size(); ++component) {
    const auto elements = static_cast<std::uint32_t>(components[component].size());
    (elements >= 1.5 * mean ? large : small).push_back(component);
    small_elements += elements >= 1.5 * mean ? 0 : elements;
  }
  // There are more small components than bundles: fewer than k components have 1.5 times the mean size, and there are
  // more than k components.
  std::vector<std::uint32_t> sizes;
  sizes.reserve(large.size() + 1);
  for (const std::uint32_t component : large) sizes.push_back(static_cast<std::uint32_t>(components[component].size()));
  sizes.push_back(small_elements);
  const auto shares = apportion(k, sizes);
  const std::uint32_t bundles = shares.back();
  assert(bundles <= small.size());
  Labels labels(size());
  std::uint64_t gathered = 0;
  std::uint32_t bundle = 0;
  for (std::size_t at = 0; at < small.size(); ++at) {
    for (const std::uint32_t element : components[small[at]]) labels[element] = bundle;
    gathered += components[small[at]].size();
    const std::uint64_t left = small.size() - at - 1;
    const bool full = gathered * bundles >= std::uint64_t{bundle + 1} * small_elements;
    if (bundle + 1 < bundles && (full || left == bundles - bundle - 1)) ++bundle;
  }
  std::uint32_t first = bundles;
  for (std::size_t at = 0; at < large.size(); ++at) {
    Groups only;
    only.members.assign(components[large[at]].begin(), components[large[at]].end());
    only.close();
    Piece piece(std::move(graph_.split(only).front()), *plan_, mix(seed_ ^ large[at]));
    const auto inside = piece.labels(shares[at]);
    if (inside.empty()) return {};
    for (std::size_t member = 0; member < inside.size(); ++member) {
      labels[only.members[member]] = first + inside[member];
    }
    first += shares[at];
  }
  return labels;
}

SpectralClustering::SpectralClustering(Affinity affinity, const SpectralOptions& options,
                                       std::span<const std::uint32_t> cluster_counts, std::uint64_t seed,
                                       const Deadline& deadline)
    : plan_(std::make_unique<Plan>(Plan{.options = options, .seed = seed, .deadline = deadline})) {
  const std::uint32_t elements = affinity.size();
  for (const std::uint32_t k : cluster_counts) {
    if (plan_->needs_division(k, elements)) {
      plan_->min_clusters_per_element = std::min(plan_->min_clusters_per_element, static_cast<double>(k) / elements);
    } else {
      plan_->max_direct_k = std::max<std::uint64_t>(plan_->max_direct_k, k);
    }
  }
  root_ = std::make_unique<Piece>(std::move(affinity), *plan_, seed);
}

SpectralClustering::~SpectralClustering() = default;
SpectralClustering::SpectralClustering(SpectralClustering&&) noexcept = default;
SpectralClustering& SpectralClustering::operator=(SpectralClustering&&) noexcept = default;

std::optional<Groups> SpectralClustering::clusters(std::uint32_t k) {
  assert(k >= 1 && k <= root_->size());
  const auto labels = root_->labels(k);
  if (labels.empty()) return std::nullopt;
  Groups groups = groups_by_label(labels, k);
  assert(groups.size() == k);
  return groups;
}

}  // namespace rankloom
