// SPDX-License-Identifier: Apache-2.0
// map/clustering: the cost of clusters, and exchanges of whole clusters.
#include "rankloom/map/clustering/aqap.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "rankloom/core/random.hpp"
#include "rankloom/map/local_search/seating.hpp"

namespace rankloom {
namespace {

/// As in Seating: far above rounding, far below any gain worth a step.
constexpr double relative_tolerance = 1e-12;
/// After so many times the number of pairs without a gain, hardly one is left that was never drawn.
constexpr std::uint64_t patience = 2;
/// The streams of numbers that other parts of a mapper draw from the same seed are others.
constexpr std::uint64_t random_stream = 0x617065;

double messages_of(const CommGraph& graph, Rank rank, std::size_t edge) {
  const auto messages = graph.messages(rank);
  return messages.empty() ? graph.default_messages() : messages[edge];
}

double cost_of(PairCost distance, double bytes, double messages) {
  return bytes * distance.per_byte + messages * distance.per_message;
}

void exchange_places(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, std::span<Core> core_of) {
  for (std::size_t member = 0; member < a.size(); ++member) std::swap(core_of[a[member]], core_of[b[member]]);
}

/// Noise clusters by size; those that have no equal are left out.
class Noise {
 public:
  Noise(const Groups& clusters, std::uint64_t threshold) {
    for (std::uint32_t cluster = 0; cluster < clusters.size(); ++cluster) {
      if (clusters[cluster].size() < threshold) order_.push_back(cluster);
    }
    std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t one, std::uint32_t other) {
      return clusters[one].size() < clusters[other].size();
    });
    std::vector<std::uint32_t> kept;
    for (std::size_t begin = 0; begin < order_.size();) {
      std::size_t end = begin + 1;
      while (end < order_.size() && clusters[order_[end]].size() == clusters[order_[begin]].size()) ++end;
      if (end - begin > 1) {
        const auto first = static_cast<std::uint32_t>(kept.size());
        const auto count = static_cast<std::uint32_t>(end - begin);
        pairs_ += std::uint64_t{count} * (count - 1) / 2;
        for (; begin < end; ++begin) {
          kept.push_back(order_[begin]);
          equals_.push_back({first, count});
        }
      }
      begin = end;
    }
    order_ = std::move(kept);
  }

  bool empty() const { return order_.empty(); }
  /// Pairs of equal size.
  std::uint64_t pairs() const { return pairs_; }

  /// Two different ones of equal size: the first is any, the second any of its equals.
  std::pair<std::uint32_t, std::uint32_t> draw(Random& random) const {
    const auto first = static_cast<std::uint32_t>(random.below(order_.size()));
    const Equals equals = equals_[first];
    auto second = equals.begin + static_cast<std::uint32_t>(random.below(equals.count - 1));
    if (second >= first) ++second;
    return {order_[first], order_[second]};
  }

 private:
  struct Equals {
    std::uint32_t begin, count;
  };
  std::vector<std::uint32_t> order_;  // by size, then by number
  std::uint64_t pairs_ = 0;
  std::vector<Equals> equals_;  // for each of them, where its equals stand in the order
};

}  // namespace

AggregatedCost::AggregatedCost(const MapProblem& problem, const Groups& clusters)
    : graph_(&problem.graph),
      clusters_(&clusters),
      cluster_of_(problem.graph.rank_count()),
      position_of_(problem.graph.rank_count()),
      senders_(problem.graph),
      distance_(make_distance(problem.topology, problem.model)),
      with_self_(problem.model != CostModel::quality) {
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

double AggregatedCost::between(std::uint32_t a, std::uint32_t b, std::span<const Core> core_of) const {
  return std::visit(
      [&](const auto& distance) {
        double sum = 0;
        for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
          for (const std::uint32_t member : (*clusters_)[from]) {
            const Rank rank{member};
            const auto targets = graph_->targets(rank);
            for (std::size_t edge = 0; edge < targets.size(); ++edge) {
              if (cluster_of_[index(targets[edge])] != to || !counts(rank, targets[edge])) continue;
              sum += cost_of(distance(core_of[member], core_of[index(targets[edge])]), graph_->bytes(rank)[edge],
                             messages_of(*graph_, rank, edge));
            }
          }
        }
        return sum;
      },
      distance_);
}

double AggregatedCost::inside(std::uint32_t cluster, std::span<const Core> core_of) const {
  // Both directions of a cluster with itself are the same edges, looked at twice.
  return between(cluster, cluster, core_of) / 2;
}

double AggregatedCost::total(std::span<const Core> core_of) const {
  double sum = 0;
  for (std::uint32_t a = 0; a < clusters_->size(); ++a) {
    sum += inside(a, core_of);
    for (std::uint32_t b = a + 1; b < clusters_->size(); ++b) sum += between(a, b, core_of);
  }
  return sum;
}

/// What all edges cost that have an end in one of the two clusters.
double AggregatedCost::touching(std::uint32_t a, std::uint32_t b, std::span<const Core> core_of) const {
  return std::visit(
      [&](const auto& distance) {
        double sum = 0;
        for (const std::uint32_t cluster : {a, b}) {
          for (const std::uint32_t member : (*clusters_)[cluster]) {
            const Rank rank{member};
            const Core here = core_of[member];
            const auto targets = graph_->targets(rank);
            const auto bytes = graph_->bytes(rank);
            for (std::size_t edge = 0; edge < targets.size(); ++edge) {
              if (!counts(rank, targets[edge])) continue;
              sum +=
                  cost_of(distance(here, core_of[index(targets[edge])]), bytes[edge], messages_of(*graph_, rank, edge));
            }
            for (const Senders::Entry& sent : senders_[rank]) {
              const std::uint32_t other = cluster_of_[index(sent.from)];
              if (other == a || other == b) continue;  // counted where it was sent
              sum += cost_of(distance(core_of[index(sent.from)], here), sent.bytes, sent.messages);
            }
          }
        }
        return sum;
      },
      distance_);
}

double AggregatedCost::symmetric_delta(const TreeDistance& distance, std::uint32_t a, std::uint32_t b,
                                       std::span<const Core> core_of) const {
  double delta = 0;
  for (const auto& [own, other] : {std::pair(a, b), std::pair(b, a)}) {
    const auto members = (*clusters_)[own], partners = (*clusters_)[other];
    for (std::size_t at = 0; at < members.size(); ++at) {
      const Core from = core_of[members[at]], to = core_of[partners[at]];
      const auto near = affinity_->neighbours(members[at]);
      const auto weights = affinity_->weights(members[at]);
      for (std::size_t edge = 0; edge < near.size(); ++edge) {
        const std::uint32_t cluster = cluster_of_[near[edge]];
        const Core there = core_of[near[edge]];
        if (cluster != a && cluster != b) {
          delta += weights[edge] * (distance(to, there).per_byte - distance(from, there).per_byte);
        } else {  // it moves too, and meets this pair again from its side
          const Core then = core_of[(*clusters_)[cluster == a ? b : a][position_of_[near[edge]]]];
          delta += weights[edge] / 2 * (distance(to, then).per_byte - distance(from, there).per_byte);
        }
      }
    }
  }
  return delta;
}

double AggregatedCost::exchange_delta(std::uint32_t a, std::uint32_t b, std::span<Core> core_of) const {
  if (affinity_) return symmetric_delta(std::get<TreeDistance>(distance_), a, b, core_of);
  const double before = touching(a, b, core_of);
  exchange_places((*clusters_)[a], (*clusters_)[b], core_of);
  const double after = touching(a, b, core_of);
  exchange_places((*clusters_)[a], (*clusters_)[b], core_of);
  return after - before;
}

namespace {

/// Under a model that is a sum over pairs.
void exchange_by_pairs(const MapProblem& problem, const Groups& clusters, const Noise& noise, std::uint64_t tries,
                       Random& random, Pulse& pulse, std::vector<Core>& core_of) {
  const AggregatedCost cost(problem, clusters);
  const double tolerance =
      relative_tolerance * std::abs(evaluate(problem.graph, problem.topology, core_of, problem.model));
  std::uint64_t in_vain = 0;
  for (std::uint64_t tried = 0; tried < tries && in_vain < patience * noise.pairs() && !pulse.stop(); ++tried) {
    const auto [a, b] = noise.draw(random);
    ++in_vain;
    if (cost.exchange_delta(a, b, core_of) >= -tolerance) continue;
    exchange_places(clusters[a], clusters[b], core_of);
    in_vain = 0;
  }
}

/// Under congestion an exchange is made member by member, and taken back if it did not gain.
void exchange_by_steps(const MapProblem& problem, const Groups& clusters, const Noise& noise, std::uint64_t tries,
                       Random& random, Pulse& pulse, std::vector<Core>& core_of) {
  Seating seating(problem, core_of);
  const auto exchange = [&](std::uint32_t a, std::uint32_t b) {
    for (std::size_t member = 0; member < clusters[a].size(); ++member) {
      const Rank one{clusters[a][member]}, other{clusters[b][member]};
      if (seating.core_of(one) != seating.core_of(other)) seating.apply(seating.try_swap(one, other));
    }
  };
  std::uint64_t in_vain = 0;
  for (std::uint64_t tried = 0; tried < tries && in_vain < patience * noise.pairs() && !pulse.stop(); ++tried) {
    const auto [a, b] = noise.draw(random);
    const double before = seating.cost();
    exchange(a, b);
    if (seating.is_gain(seating.cost() - before)) {
      in_vain = 0;
    } else {
      exchange(a, b);
      ++in_vain;
    }
  }
  core_of = seating.placement();
}

}  // namespace

void aggregated_pair_exchange(const MapProblem& problem, const Groups& clusters, const ApeOptions& options,
                              std::uint64_t seed, Pulse& pulse, std::vector<Core>& core_of) {
  const Noise noise(clusters, options.noise);
  if (noise.empty()) return;
  Random random(seed, random_stream);
  const auto exchange = problem.model == CostModel::congestion ? exchange_by_steps : exchange_by_pairs;
  exchange(problem, clusters, noise, options.tries, random, pulse, core_of);
}

}  // namespace rankloom
