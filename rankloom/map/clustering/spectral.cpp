// SPDX-License-Identifier: Apache-2.0
// map/clustering: CP-NSC on one connected graph, on one in several parts, and on one that is too large for all clusters
// at once.
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

/// Elements of a part that is not divided any more: all its eigenvectors cost some milliseconds.
constexpr std::uint32_t small_part = 128;
/// A part that is divided leaves so many clusters to each piece at least, so that the division decides little.
constexpr double clusters_a_piece = 4;

/// Numbers in the eigenvectors of one division: more would take gigabytes.
constexpr double most_numbers = 1 << 23;

using Labels = std::vector<std::uint32_t>;

/// Elements by label; empty labels are left out.
Groups grouped(const Labels& labels, std::uint32_t count) {
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

/// Those that can reach each other, in the order of their smallest elements.
Groups components(const Affinity& graph) {
  constexpr std::uint32_t unseen = std::numeric_limits<std::uint32_t>::max();
  Labels label(graph.size(), unseen);
  std::vector<std::uint32_t> open;
  std::uint32_t count = 0;
  for (std::uint32_t seed = 0; seed < graph.size(); ++seed) {
    if (label[seed] != unseen) continue;
    label[seed] = count;
    open.assign(1, seed);
    while (!open.empty()) {
      const std::uint32_t element = open.back();
      open.pop_back();
      for (const std::uint32_t near : graph.neighbours(element)) {
        if (label[near] != unseen) continue;
        label[near] = count;
        open.push_back(near);
      }
    }
    ++count;
  }
  return grouped(label, count);
}

std::vector<std::uint32_t> sizes_of(const Groups& groups) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t group = 0; group < groups.size(); ++group) {
    sizes.push_back(static_cast<std::uint32_t>(groups[group].size()));
  }
  return sizes;
}

/// Step 5 of Algorithm 1: the rows of the first k columns, each of length 1; a row of zeros stays one.
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

std::vector<std::uint32_t> shared_out(std::uint32_t total, std::span<const std::uint32_t> sizes) {
  assert(sizes.size() <= total);
  const double sum = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  assert(total <= sum);
  std::vector<std::uint32_t> shares;
  std::vector<std::pair<double, std::size_t>> wants;  // how far above its fair share, who
  std::uint64_t given = 0;
  for (std::size_t at = 0; at < sizes.size(); ++at) {
    const double fair = total * (sizes[at] / sum);
    shares.push_back(std::clamp<std::uint32_t>(static_cast<std::uint32_t>(fair), 1, sizes[at]));
    wants.emplace_back(shares[at] - fair, at);
    given += shares[at];
  }
  std::sort(wants.begin(), wants.end());
  while (given < total) {
    for (std::size_t next = 0; next < wants.size() && given < total; ++next) {
      const std::size_t at = wants[next].second;
      if (shares[at] == sizes[at]) continue;
      ++shares[at];
      ++given;
    }
  }
  // Those that were lifted to one took too much from the others: back from those farthest above their share.
  while (given > total) {
    for (std::size_t next = wants.size(); next-- > 0 && given > total;) {
      const std::size_t at = wants[next].second;
      if (shares[at] == 1) continue;
      --shares[at];
      --given;
    }
  }
  return shares;
}

struct SpectralClustering::Plan {
  /// So many clusters of so many elements are not made at once.
  bool divides(std::uint32_t k, std::uint32_t elements) const {
    return k > options.at_once || (elements > whole_spectrum && static_cast<double>(k) * elements > most_numbers);
  }

  SpectralOptions options;
  std::uint64_t seed;
  Deadline deadline;
  std::uint64_t most_at_once = 1;  // the largest number that is made without dividing
  double least_divided = 1;        // clusters an element, for the smallest number that is made by dividing
};

class SpectralClustering::Part {
 public:
  Part(Affinity graph, const Plan& plan, std::uint64_t seed) : graph_(std::move(graph)), plan_(&plan), seed_(seed) {}

  std::uint32_t size() const { return graph_.size(); }

  /// The cluster of each element, 0..k-1; empty when the time is up.
  Labels labels(std::uint32_t k) {
    if (k == 1) return Labels(size(), 0);
    if (k == size()) {
      Labels own(size());
      std::iota(own.begin(), own.end(), 0U);
      return own;
    }
    if (!components_) components_ = components(graph_);
    if (components_->size() > 1) return by_components(k);
    return plan_->divides(k, size()) ? by_dividing(k) : at_once(k);
  }

 private:
  /// Algorithm 1 itself.
  Labels at_once(std::uint32_t k) {
    if (!vectors_ || vectors_->columns() < k) {
      const auto limit = size() <= whole_spectrum ? plan_->options.at_once : plan_->most_at_once;
      const auto count = std::max(k, static_cast<std::uint32_t>(std::min<std::uint64_t>(size(), limit)));
      vectors_ = leading_eigenvectors(graph_, plan_->options.similarity, count, seed_, plan_->deadline);
      if (!vectors_) return {};
    }
    const std::uint32_t columns = std::min(k, vectors_->columns());
    const auto rows = normalised_rows(*vectors_, columns);
    Random random(seed_, k);
    return k_means(rows, columns, k, {.restarts = plan_->options.restarts, .deadline = plan_->deadline}, random);
  }

  Labels by_components(std::uint32_t k) {
    // When there are more than clusters, those below the average size of a cluster are packed together in order.
    const Groups& apart = *components_;
    if (apart.size() > k) return packed(k);
    if (pieces_.empty()) split(apart);
    return in_pieces(apart, k);
  }

  Labels by_dividing(std::uint32_t k) {
    if (pieces_.empty()) {
      const std::uint32_t pieces = piece_count();
      const auto labels = at_once(pieces);
      if (labels.empty()) return {};
      division_ = grouped(labels, pieces);
      split(division_);
    }
    return in_pieces(division_, k);
  }

  /// Small parts at once, or, where that are too many for a division, about the square root of that.
  std::uint32_t piece_count() const {
    const double wanted =
        std::min(std::ceil(size() / double{small_part}), std::floor(size() * plan_->least_divided / clusters_a_piece));
    const double limit = std::min(static_cast<double>(plan_->options.at_once), std::floor(most_numbers / size()));
    const double pieces = wanted <= limit ? wanted : std::min(limit, std::ceil(std::sqrt(wanted)));
    return static_cast<std::uint32_t>(std::clamp(pieces, 2.0, static_cast<double>(size())));
  }

  void split(const Groups& groups) {
    std::uint64_t seed = seed_;
    for (Affinity& graph : graph_.split(groups)) pieces_.emplace_back(std::move(graph), *plan_, seed = mix(seed));
  }

  /// Each piece has its own clusters; k is at least their number.
  Labels in_pieces(const Groups& groups, std::uint32_t k) {
    const auto shares = shared_out(k, sizes_of(groups));
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

  Labels packed(std::uint32_t k);

  Affinity graph_;
  const Plan* plan_;
  std::uint64_t seed_;
  std::optional<Groups> components_;
  std::optional<Eigenvectors> vectors_;
  Groups division_;
  std::vector<Part> pieces_;  // the components, or the pieces of a division
};

/// More components than clusters. Components are gathered in order of their smallest elements into k bundles of about
/// equal size; a component that is larger than such a bundle by half or more is a bundle of its own, and divided.
auto SpectralClustering::Part::packed(std::uint32_t k) -> Labels {
  const Groups& apart = *components_;
  const double mean = static_cast<double>(size()) / k;
  std::vector<std::uint32_t> large, small;
  std::uint32_t small_elements = 0;
  for (std::uint32_t component = 0; component < apart.size(); ++component) {
    const auto elements = static_cast<std::uint32_t>(apart[component].size());
    (elements >= 1.5 * mean ? large : small).push_back(component);
    small_elements += elements >= 1.5 * mean ? 0 : elements;
  }
  // There are small ones, and more of them than bundles: the large ones, each 1.5 times a k-th of the whole, are fewer
  // than k, and all together are more.
  std::vector<std::uint32_t> sizes;
  for (const std::uint32_t component : large) sizes.push_back(static_cast<std::uint32_t>(apart[component].size()));
  sizes.push_back(small_elements);
  const auto shares = shared_out(k, sizes);
  const std::uint32_t bundles = shares.back();
  assert(bundles <= small.size());
  Labels labels(size());
  std::uint64_t gathered = 0;
  std::uint32_t bundle = 0;
  for (std::size_t at = 0; at < small.size(); ++at) {
    for (const std::uint32_t element : apart[small[at]]) labels[element] = bundle;
    gathered += apart[small[at]].size();
    const std::uint64_t left = small.size() - at - 1;
    const bool full = gathered * bundles >= std::uint64_t{bundle + 1} * small_elements;
    if (bundle + 1 < bundles && (full || left == bundles - bundle - 1)) ++bundle;
  }
  std::uint32_t first = bundles;
  for (std::size_t at = 0; at < large.size(); ++at) {
    Groups only;
    only.members.assign(apart[large[at]].begin(), apart[large[at]].end());
    only.close();
    Part part(std::move(graph_.split(only).front()), *plan_, mix(seed_ ^ large[at]));
    const auto inside = part.labels(shares[at]);
    if (inside.empty()) return {};
    for (std::size_t member = 0; member < inside.size(); ++member) {
      labels[only.members[member]] = first + inside[member];
    }
    first += shares[at];
  }
  return labels;
}

SpectralClustering::SpectralClustering(Affinity affinity, const SpectralOptions& options,
                                       std::span<const std::uint32_t> numbers, std::uint64_t seed,
                                       const Deadline& deadline)
    : plan_(std::make_unique<Plan>(Plan{.options = options, .seed = seed, .deadline = deadline})) {
  const std::uint32_t elements = affinity.size();
  for (const std::uint32_t number : numbers) {
    if (plan_->divides(number, elements)) {
      plan_->least_divided = std::min(plan_->least_divided, static_cast<double>(number) / elements);
    } else {
      plan_->most_at_once = std::max<std::uint64_t>(plan_->most_at_once, number);
    }
  }
  whole_ = std::make_unique<Part>(std::move(affinity), *plan_, seed);
}

SpectralClustering::~SpectralClustering() = default;
SpectralClustering::SpectralClustering(SpectralClustering&&) noexcept = default;
SpectralClustering& SpectralClustering::operator=(SpectralClustering&&) noexcept = default;

std::optional<Groups> SpectralClustering::clusters(std::uint32_t k) {
  assert(k >= 1 && k <= whole_->size());
  const auto labels = whole_->labels(k);
  if (labels.empty()) return std::nullopt;
  Groups groups = grouped(labels, k);
  assert(groups.size() == k);
  return groups;
}

}  // namespace rankloom
