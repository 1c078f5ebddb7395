// SPDX-License-Identifier: Apache-2.0
// map/clustering: the AQAP cost of clusters, and APE, which exchanges noise clusters.
#include "rankloom/map/clustering/ape.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "rankloom/core/random.hpp"
#include "rankloom/map/local_search/placement_state.hpp"

namespace rankloom {
namespace {

/// As in PlacementState: far above rounding errors, far below any useful gain.
constexpr double relative_tolerance = 1e-12;
/// APE stops after this many draws per pair without a gain: by then almost every pair has been drawn.
constexpr std::uint64_t max_draws_per_pair_without_gain = 2;
/// Keeps these random numbers independent of those that other parts of the mapper draw from the same seed.
constexpr std::uint64_t random_stream = 0x617065;  // "ape"

double cost_of(PairCost distance, double bytes, double messages) {
  return bytes * distance.per_byte + messages * distance.per_message;
}

void exchange_clusters(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, std::span<Core> core_of) {
  for (std::size_t member = 0; member < a.size(); ++member) std::swap(core_of[a[member]], core_of[b[member]]);
}

/// The noise clusters, sorted by size. A cluster without another one of the same size is left out.
class NoiseClusters {
 public:
  NoiseClusters(const Groups& clusters, std::uint64_t threshold) {
    for (std::uint32_t cluster = 0; cluster < clusters.size(); ++cluster) {
      if (clusters[cluster].size() < threshold) order_.push_back(cluster);
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return clusters[a].size() < clusters[b].size(); });
    std::vector<std::uint32_t> exchangeable;
    for (std::size_t begin = 0; begin < order_.size();) {
      std::size_t end = begin + 1;
      while (end < order_.size() && clusters[order_[end]].size() == clusters[order_[begin]].size()) ++end;
      if (end - begin > 1) {
        const auto first = static_cast<std::uint32_t>(exchangeable.size());
        const auto count = static_cast<std::uint32_t>(end - begin);
        pairs_ += std::uint64_t{count} * (count - 1) / 2;
        for (; begin < end; ++begin) {
          exchangeable.push_back(order_[begin]);
          same_size_.push_back({first, count});
        }
      }
      begin = end;
    }
    order_ = std::move(exchangeable);
  }

  bool empty() const { return order_.empty(); }
  /// Number of pairs of equal size.
  std::uint64_t pairs() const { return pairs_; }

  /// Two different clusters of equal size. The first is drawn from all, the second from those of the same size.
  std::pair<std::uint32_t, std::uint32_t> draw(Random& random) const {
    const auto first = static_cast<std::uint32_t>(random.below(order_.size()));
    const Range range = same_size_[first];
    auto second = range.begin + static_cast<std::uint32_t>(random.below(range.count - 1));
    if (second >= first) ++second;
    return {order_[first], order_[second]};
  }

 private:
  struct Range {
    std::uint32_t begin, count;
  };
  std::vector<std::uint32_t> order_;  // clusters by size, then by number
  std::uint64_t pairs_ = 0;
  std::vector<Range> same_size_;  // by position in order_: the range of clusters of the same size
};

}  // namespace

AqapCost::AqapCost(const MapProblem& problem, const Groups& clusters)
    : graph_(&problem.graph),
      clusters_(&clusters),
      cluster_of_(problem.graph.rank_count()),
      position_of_(problem.graph.rank_count()),
      incoming_(problem.graph),
      distance_(make_distance(problem.topology, problem.model)),
      counts_self_messages_(problem.model != CostModel::quality) {
  assert(problem.model != CostModel::congestion);
  for (std::uint32_t cluster = 0; cluster < clusters.size(); ++cluster) {
    const auto members = clusters[cluster];
    for (std::uint32_t position = 0; position < members.size(); ++position) {
      cluster_of_[members[position]] = cluster;
      position_of_[members[position]] = position;
    }
  }
  if (std::holds_alternative<TreeDistance>(distance_) && problem.model != CostModel::time) affinity_.emplace(*graph_);
}

double AqapCost::between(std::uint32_t a, std::uint32_t b, std::span<const Core> core_of) const {
  return std::visit(
      [&](const auto& distance) {
        double sum = 0;
        for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
          for (const std::uint32_t member : (*clusters_)[from]) {
            const Rank rank{member};
            const auto targets = graph_->targets(rank);
            for (std::size_t edge = 0; edge < targets.size(); ++edge) {
              if (cluster_of_[index(targets[edge])] != to || !is_counted(rank, targets[edge])) continue;
              sum += cost_of(distance(core_of[member], core_of[index(targets[edge])]), graph_->bytes(rank)[edge],
                             graph_->messages(rank, edge));
            }
          }
        }
        return sum;
      },
      distance_);
}

double AqapCost::inside(std::uint32_t cluster, std::span<const Core> core_of) const {
  // between() visits every edge inside a single cluster twice.
  return between(cluster, cluster, core_of) / 2;
}

double AqapCost::total(std::span<const Core> core_of) const {
  double sum = 0;
  for (std::uint32_t a = 0; a < clusters_->size(); ++a) {
    sum += inside(a, core_of);
    for (std::uint32_t b = a + 1; b < clusters_->size(); ++b) sum += between(a, b, core_of);
  }
  return sum;
}

/// The cost of all edges with an endpoint in one of the two clusters.
double AqapCost::incident_cost(std::uint32_t a, std::uint32_t b, std::span<const Core> core_of) const {
  return std::visit(
      [&](const auto& distance) {
        double sum = 0;
        for (const std::uint32_t cluster : {a, b}) {
          for (const std::uint32_t member : (*clusters_)[cluster]) {
            const Rank rank{member};
            const Core core = core_of[member];
            const auto targets = graph_->targets(rank);
            const auto bytes = graph_->bytes(rank);
            for (std::size_t edge = 0; edge < targets.size(); ++edge) {
              if (!is_counted(rank, targets[edge])) continue;
              sum += cost_of(distance(core, core_of[index(targets[edge])]), bytes[edge], graph_->messages(rank, edge));
            }
            for (const ReverseAdjacency::Entry& sent : incoming_[rank]) {
              const std::uint32_t other = cluster_of_[index(sent.from)];
              if (other == a || other == b) continue;  // already counted at the sender
              sum += cost_of(distance(core_of[index(sent.from)], core), sent.bytes, sent.messages);
            }
          }
        }
        return sum;
      },
      distance_);
}

double AqapCost::symmetric_delta(const TreeDistance& distance, std::uint32_t a, std::uint32_t b,
                                 std::span<const Core> core_of) const {
  double delta = 0;
  for (const auto& [moved, other] : {std::pair(a, b), std::pair(b, a)}) {
    const auto members = (*clusters_)[moved], partners = (*clusters_)[other];
    for (std::size_t at = 0; at < members.size(); ++at) {
      const Core from = core_of[members[at]], to = core_of[partners[at]];
      const auto neighbours = affinity_->neighbours(members[at]);
      const auto weights = affinity_->weights(members[at]);
      for (std::size_t edge = 0; edge < neighbours.size(); ++edge) {
        const std::uint32_t cluster = cluster_of_[neighbours[edge]];
        const Core neighbour_core = core_of[neighbours[edge]];
        if (cluster != a && cluster != b) {
          delta += weights[edge] * (distance(to, neighbour_core).per_byte - distance(from, neighbour_core).per_byte);
        } else {  // The neighbour moves too; half of the change is counted at each end.
          const Core neighbour_to = core_of[(*clusters_)[cluster == a ? b : a][position_of_[neighbours[edge]]]];
          delta += weights[edge] / 2 * (distance(to, neighbour_to).per_byte - distance(from, neighbour_core).per_byte);
        }
      }
    }
  }
  return delta;
}

double AqapCost::exchange_delta(std::uint32_t a, std::uint32_t b, std::span<Core> core_of) const {
  if (affinity_) return symmetric_delta(std::get<TreeDistance>(distance_), a, b, core_of);
  const double before = incident_cost(a, b, core_of);
  exchange_clusters((*clusters_)[a], (*clusters_)[b], core_of);
  const double after = incident_cost(a, b, core_of);
  exchange_clusters((*clusters_)[a], (*clusters_)[b], core_of);
  return after - before;
}

namespace {

/// For cost models that are sums over pairs of ranks.
void exchange_by_delta(const MapProblem& problem, const Groups& clusters, const NoiseClusters& noise,
                       std::uint64_t tries, Random& random, StopCondition& stop_condition, std::vector<Core>& core_of) {
  const AqapCost cost(problem, clusters);
  const double tolerance =
      relative_tolerance * std::abs(evaluate(problem.graph, problem.topology, core_of, problem.model));
  std::uint64_t draws_without_gain = 0;
  for (std::uint64_t tried = 0; tried < tries && draws_without_gain < max_draws_per_pair_without_gain * noise.pairs() &&
                                !stop_condition.should_stop();
       ++tried) {
    const auto [a, b] = noise.draw(random);
    ++draws_without_gain;
    if (cost.exchange_delta(a, b, core_of) >= -tolerance) continue;
    exchange_clusters(clusters[a], clusters[b], core_of);
    draws_without_gain = 0;
  }
}

/// For the congestion model: an exchange is made member by member and undone if the cost did not decrease.
void exchange_and_undo(const MapProblem& problem, const Groups& clusters, const NoiseClusters& noise,
                       std::uint64_t tries, Random& random, StopCondition& stop_condition, std::vector<Core>& core_of) {
  PlacementState state(problem, core_of);
  const auto exchange = [&](std::uint32_t a, std::uint32_t b) {
    for (std::size_t member = 0; member < clusters[a].size(); ++member) {
      const Rank first{clusters[a][member]}, second{clusters[b][member]};
      if (state.core_of(first) != state.core_of(second)) state.apply(state.try_exchange(first, second));
    }
  };
  std::uint64_t draws_without_gain = 0;
  for (std::uint64_t tried = 0; tried < tries && draws_without_gain < max_draws_per_pair_without_gain * noise.pairs() &&
                                !stop_condition.should_stop();
       ++tried) {
    const auto [a, b] = noise.draw(random);
    const double before = state.cost();
    exchange(a, b);
    if (state.is_gain(state.cost() - before)) {
      draws_without_gain = 0;
    } else {
      exchange(a, b);
      ++draws_without_gain;
    }
  }
  core_of = state.placement();
}

}  // namespace

void aggregated_pair_exchange(const MapProblem& problem, const Groups& clusters, const ApeOptions& options,
                              std::uint64_t seed, StopCondition& stop_condition, std::vector<Core>& core_of) {
  const NoiseClusters noise(clusters, options.noise_threshold);
  if (noise.empty()) return;
  Random random(seed, random_stream);
  const auto exchange = problem.model == CostModel::congestion ? exchange_and_undo : exchange_by_delta;
  exchange(problem, clusters, noise, options.tries, random, stop_condition, core_of);
}

}  // namespace rankloom
