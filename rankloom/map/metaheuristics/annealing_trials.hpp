// SPDX-License-Identifier: Apache-2.0
// map/metaheuristics: the trials of simulated annealing, with the placement that they change.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/portable_math.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/map/metaheuristics/annealing_domains.hpp"
#include "rankloom/map/metaheuristics/sparse_qap.hpp"

namespace rankloom {

/// -ln(u) for u evenly spread over (0, 1): a table from which exponentially distributed acceptance limits are drawn,
/// in units of the temperature.
inline const std::array<double, 4096>& exponential_draws() {
  static const auto draws = [] {
    std::array<double, 4096> values{};
    for (std::size_t at = 0; at < values.size(); ++at) {
      values[at] = -portable_log((static_cast<double>(at) + 0.5) / static_cast<double>(values.size()));
    }
    return values;
  }();
  return draws;
}

/// A placement, and trials that change it. Space: a Distance's alternative; with_messages: messages count too.
template <class Space, bool with_messages>
class AnnealingTrials {
 public:
  AnnealingTrials(const Space& space, const SparseQap& graph, std::span<const std::uint32_t> facility_at)
      : space_(space),
        graph_(graph),
        facility_at_(facility_at.begin(), facility_at.end()),
        location_of_(graph.location_count()),
        place_of_(graph.location_count()),
        place_of_location_(graph.location_count()),
        current_cost_(graph.location_count(), not_computed) {
    for (std::uint32_t location = 0; location < graph.location_count(); ++location) {
      location_of_[facility_at_[location]] = location;
      place_of_location_[location] = place_of_[facility_at_[location]] = space.key(graph.locations().core_of(location));
    }
  }

  /// From now on, only the ranks in the locations of one domain take part, and they stay in it. The other ranks are
  /// where `facility_at` says.
  void restrict_to_domain(std::uint32_t domain, AnnealingDomains::Kind kind, std::span<const std::uint16_t> domain_of,
                          std::span<const std::uint32_t> facility_at) {
    domain_ = domain;
    is_scattered_ = kind == AnnealingDomains::Kind::scattered;
    domain_of_ = domain_of;
    ranks_.clear();
    for (std::uint32_t location = 0; location < facility_at.size(); ++location) {
      const std::uint32_t facility = facility_at[location];
      // At high temperatures most ranks have moved, and nearly all costs have changed.
      if (facility_at_[location] != facility) is_scattered_ ? put(facility, location) : assign(facility, location);
      if (domain_of[location] != domain) continue;
      if (is_scattered_) current_cost_[facility] = not_computed;
      if (facility < graph_.ranks()) ranks_.push_back(facility);
    }
  }
  /// The ranks of the domain.
  std::size_t rank_count() const { return ranks_.size(); }

  /// One trial. The Metropolis rule: an increase of cost is accepted if it is below the temperature times an
  /// exponentially distributed random number. False if the locations are in different domains.
  bool run_trial(double temperature, Random& random) {
    const std::uint64_t bits = random.next();
    const std::uint32_t facility = domain_of_.empty()
                                       ? below(bits & 0xffffffff, graph_.ranks())
                                       : ranks_[below(bits & 0xffffffff, static_cast<std::uint32_t>(ranks_.size()))];
    const auto edges = graph_.edges(facility);
    if (edges.empty()) return true;
    const std::uint32_t location = location_of_[facility];
    const std::uint64_t more_bits = random.next();
    const SparseQap::Region region =
        target_region(location, edges[below(bits >> 32, static_cast<std::uint32_t>(edges.size()))].to,
                      static_cast<std::uint32_t>(more_bits >> 44));
    if (region.begin == region.end) return true;
    std::uint32_t other = region.begin + below(more_bits & 0xffffffff, region.end - region.begin);
    if (is_scattered_) other = next_in_domain(region, other);
    if (!domain_of_.empty() && domain_of_[other] != domain_) return false;
    if (are_equivalent(location, other)) return true;
    const double limit = temperature * exponential_draws()[(more_bits >> 32) % 4096];
    const double delta = swap_delta(facility, facility_at_[other]);
    if (delta > limit || (delta == 0 && temperature == 0)) return true;
    swap(location, other);
    cost_ += delta;
    return true;
  }
  /// The change of cost since the start, unless a domain restricts the trials.
  double cost_delta() const { return cost_; }

  /// The cost of the traffic in an assignment.
  double cost_of(std::span<const std::uint32_t> facility_at) const {
    std::vector<Place> place_of(facility_at.size());
    for (std::size_t location = 0; location < facility_at.size(); ++location)
      place_of[facility_at[location]] = place_of_location_[location];
    return parallel_sum<double>(
               graph_.ranks(),
               [&](std::size_t begin, std::size_t end) {
                 double cost = 0;
                 for (auto rank = static_cast<std::uint32_t>(begin); rank < end; ++rank) {
                   for (const SparseQap::Edge& edge : graph_.edges(rank))
                     cost += cost_of_edge(edge, place_of[rank], place_of[edge.to]);
                 }
                 return cost;
               },
               512) /
           2;
  }

  /// The facility at each location.
  const std::vector<std::uint32_t>& assignment() const { return facility_at_; }

 private:
  using Place = typename Space::CoreKey;
  static std::uint32_t below(std::uint64_t bits, std::uint32_t bound) {
    return static_cast<std::uint32_t>((bits * bound) >> 32);
  }

  /// A random region that contains the partner but not this location; empty if there is none.
  SparseQap::Region target_region(std::uint32_t location, std::uint32_t partner, std::uint32_t draw) const {
    const std::uint32_t there = location_of_[partner];
    const auto nearby = graph_.nearby(there);
    if (draw < global_draws_ || (graph_.levels() == 0 && nearby.empty())) return {0, graph_.location_count()};
    std::size_t first = 0;
    while (first < graph_.levels() && graph_.region(first, location).begin == graph_.region(first, there).begin)
      ++first;
    const std::size_t choices = graph_.levels() - first;
    if (!nearby.empty()) return region_in_network(first, choices, there, draw);
    if (choices == 0) return {0, 0};
    return graph_.region(first + draw % choices, there);
  }

  /// A region inside the partner's node, or a node one or two hops away from it.
  SparseQap::Region region_in_network(std::size_t first, std::size_t choices, std::uint32_t there,
                                      std::uint32_t draw) const {
    const auto nearby = graph_.nearby(there);
    const std::size_t total = choices + nearby.size();
    const std::size_t choice = draw % total, more = draw / total;
    if (choice < choices) return graph_.region(first + choice, there);
    const SparseQap::Region one_hop = nearby[choice - choices];
    const auto next = graph_.nearby(one_hop.begin);
    if (more % two_hops_in != 0 || next.empty()) return one_hop;
    return next[more / two_hops_in % next.size()];
  }

  /// The first location of the domain from this one on, cyclically in the region; this one if there is none.
  std::uint32_t next_in_domain(SparseQap::Region region, std::uint32_t location) const {
    for (std::uint32_t next = location; next < region.end; ++next)
      if (domain_of_[next] == domain_) return next;
    for (std::uint32_t next = region.begin; next < location; ++next)
      if (domain_of_[next] == domain_) return next;
    return location;
  }

  bool are_equivalent(std::uint32_t location, std::uint32_t other) const {
    return location == other || (graph_.levels() > 0 && graph_.region(graph_.levels() - 1, location).begin ==
                                                            graph_.region(graph_.levels() - 1, other).begin);
  }

  double cost_of_edge(const SparseQap::Edge& edge, Place at, Place there) const {
    const auto& distance = space_.between(at, there);
    double cost = edge.bytes * distance.per_byte;
    if constexpr (with_messages) cost += edge.messages * distance.per_message;
    return cost;
  }

  /// The cost of the traffic of a facility in its place. Most trials change nothing, so it is stored.
  double current_cost(std::uint32_t facility) {
    if (current_cost_[facility] == not_computed) {
      const Place at = place_of_[facility];
      double cost = 0;
      for (const SparseQap::Edge& edge : graph_.edges(facility)) cost += cost_of_edge(edge, at, place_of_[edge.to]);
      current_cost_[facility] = cost;
    }
    return current_cost_[facility];
  }

  /// The change of cost if the facility moves, without its traffic with facility `except`.
  double move_delta(std::uint32_t facility, Place from, Place to, std::uint32_t except) {
    double before = current_cost(facility), after = 0;
    for (const SparseQap::Edge& edge : graph_.edges(facility)) {
      if (edge.to == except) {
        before -= cost_of_edge(edge, from, to);
      } else {
        after += cost_of_edge(edge, to, place_of_[edge.to]);
      }
    }
    return after - before;
  }

  double swap_delta(std::uint32_t facility, std::uint32_t other) {
    const Place from = place_of_[facility], to = place_of_[other];
    return move_delta(facility, from, to, other) + move_delta(other, to, from, facility);
  }

  void swap(std::uint32_t location, std::uint32_t other) {
    const std::uint32_t facility = facility_at_[location];
    assign(facility_at_[other], location);
    assign(facility, other);
  }
  void put(std::uint32_t facility, std::uint32_t location) {
    facility_at_[location] = facility;
    location_of_[facility] = location;
    place_of_[facility] = place_of_location_[location];
  }
  void assign(std::uint32_t facility, std::uint32_t location) {
    put(facility, location);
    current_cost_[facility] = not_computed;
    for (const SparseQap::Edge& edge : graph_.edges(facility)) current_cost_[edge.to] = not_computed;
  }

  /// The fraction of trials whose target is any location.
  static constexpr double global_fraction = 0.05;
  /// On networks, one of this many targets next to the partner's node is two hops away from it instead of one.
  static constexpr std::size_t two_hops_in = 4;
  static constexpr double not_computed = std::numeric_limits<double>::infinity();
  const Space& space_;
  const SparseQap& graph_;
  std::vector<std::uint32_t> facility_at_, location_of_;
  std::vector<Place> place_of_, place_of_location_;  // by facility, by location
  std::vector<double> current_cost_;                 // by facility
  static constexpr std::uint32_t global_draws_ = static_cast<std::uint32_t>(global_fraction * (1 << 20));
  double cost_ = 0;
  std::uint32_t domain_ = 0;
  bool is_scattered_ = false;
  std::span<const std::uint16_t> domain_of_;  // by location; empty: no domains
  std::vector<std::uint32_t> ranks_;          // of the domain
};

}  // namespace rankloom
