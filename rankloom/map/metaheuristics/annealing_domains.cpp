// SPDX-License-Identifier: Apache-2.0
// map/metaheuristics: domains of locations, grown along the traffic.
#include "rankloom/map/metaheuristics/annealing_domains.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <queue>
#include <utility>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"

namespace rankloom {
namespace {

constexpr std::uint32_t locations_per_domain = 1024;
constexpr std::uint32_t max_domains = 8;
/// Domains consist of units: objects of the first level with at least this many, grouped to at most `max_units`.
constexpr std::size_t min_objects = 32;
constexpr std::uint32_t max_units = 256;

/// Consecutive locations that stay together, and the traffic between them in a given assignment.
class UnitGraph {
 public:
  struct Edge {
    std::uint32_t to;
    double weight;
  };

  UnitGraph(const SparseQap& graph, std::span<const std::uint32_t> facility_at) {
    find_units(graph);
    std::vector<std::uint32_t> location_of(facility_at.size());
    for (std::uint32_t location = 0; location < facility_at.size(); ++location)
      location_of[facility_at[location]] = location;
    edges_.resize(size());
    parallel_chunks(size(), 16, [&](std::size_t begin, std::size_t end) {
      std::vector<double> weight(size(), 0.0);
      std::vector<std::uint32_t> touched;
      for (std::size_t unit = begin; unit < end; ++unit) {
        touched.clear();
        for (std::uint32_t location = first_[unit]; location < first_[unit + 1]; ++location) {
          for (const SparseQap::Edge& edge : graph.edges(facility_at[location])) {
            const std::uint32_t to = unit_of_[location_of[edge.to]];
            if (weight[to] == 0) touched.push_back(to);
            weight[to] += edge.bytes + edge.messages;
          }
        }
        for (const std::uint32_t to : touched) {
          if (to != unit) edges_[unit].push_back({to, weight[to]});
          weight[to] = 0;
        }
      }
    });
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(first_.size()) - 1; }
  std::uint32_t locations(std::uint32_t unit) const { return first_[unit + 1] - first_[unit]; }
  std::uint32_t unit_of(std::uint32_t location) const { return unit_of_[location]; }
  std::span<const Edge> edges(std::uint32_t unit) const { return edges_[unit]; }

 private:
  void find_units(const SparseQap& graph) {
    const std::uint32_t count = graph.location_count();
    const auto begins_object = [&](std::size_t level, std::uint32_t location) {
      return level == graph.levels() || graph.region(level, location).begin == location;
    };
    std::size_t level = 0;
    for (; level < graph.levels(); ++level) {
      std::size_t objects = 0;
      for (std::uint32_t location = 0; location < count; ++location) objects += begins_object(level, location) ? 1 : 0;
      if (objects >= min_objects) break;
    }
    const std::uint32_t min_size = (count + max_units - 1) / max_units;
    for (std::uint32_t location = 0; location < count; ++location) {
      if (first_.empty() || (begins_object(level, location) && location - first_.back() >= min_size))
        first_.push_back(location);
      unit_of_.push_back(static_cast<std::uint32_t>(first_.size()) - 1);
    }
    first_.push_back(count);
  }

  std::vector<std::uint32_t> first_;    // by unit, with an end: its first location
  std::vector<std::uint32_t> unit_of_;  // by location
  std::vector<std::vector<Edge>> edges_;
};

/// One domain after another grows from a random unit, always by the unit with the most traffic to it.
std::vector<std::uint16_t> grow_domains(const UnitGraph& units, std::uint32_t locations, std::uint32_t domains,
                                        Random random) {
  constexpr std::uint16_t none = 0xffff;
  std::vector<std::uint16_t> domain_of(units.size(), none);
  std::vector<std::uint32_t> order(units.size());
  std::iota(order.begin(), order.end(), 0U);
  random.shuffle(std::span(order));
  auto next_seed = order.begin();
  std::vector<double> weight(units.size());
  std::uint32_t left = locations;
  for (std::uint16_t domain = 0; domain < domains; ++domain) {
    std::fill(weight.begin(), weight.end(), 0.0);
    std::priority_queue<std::pair<double, std::uint32_t>> frontier;
    const std::uint32_t target = left / (domains - domain);
    for (std::uint32_t size = 0; size < target;) {
      std::uint32_t unit;
      if (frontier.empty()) {
        while (next_seed != order.end() && domain_of[*next_seed] != none) ++next_seed;
        if (next_seed == order.end()) break;
        unit = *next_seed;
      } else {
        unit = frontier.top().second;
        frontier.pop();
        if (domain_of[unit] != none) continue;
      }
      domain_of[unit] = domain;
      size += units.locations(unit);
      left -= units.locations(unit);
      for (const UnitGraph::Edge& edge : units.edges(unit)) {
        if (domain_of[edge.to] == none) frontier.emplace(weight[edge.to] += edge.weight, edge.to);
      }
    }
  }
  std::vector<std::uint16_t> of_location(locations);
  for (std::uint32_t location = 0; location < locations; ++location)
    of_location[location] = domain_of[units.unit_of(location)];
  return of_location;
}

std::vector<std::uint16_t> scatter_domains(std::uint32_t locations, std::uint32_t domains, Random random) {
  constexpr std::uint32_t locations_per_draw = 16;  // with one random number
  std::vector<std::uint16_t> domain_of(locations);
  std::uint64_t bits = 0;
  for (std::uint32_t location = 0; location < locations; ++location, bits /= domains) {
    if (location % locations_per_draw == 0) bits = random.next();
    domain_of[location] = static_cast<std::uint16_t>(bits % domains);
  }
  return domain_of;
}

}  // namespace

AnnealingDomains::AnnealingDomains(const SparseQap& graph, std::span<const std::uint32_t> facility_at, Kind kind,
                                   std::uint64_t seed)
    : kind_(kind),
      domains_(kind == Kind::scattered ? max_domains
                                       : std::min(max_domains, graph.location_count() / locations_per_domain)),
      divisions_(division_count) {
  std::optional<UnitGraph> units;
  if (kind == Kind::grown) units.emplace(graph, facility_at);
  parallel_chunks(divisions_.size(), 1, [&](std::size_t at, std::size_t) {
    const Random random(seed, at);
    divisions_[at] = units ? grow_domains(*units, graph.location_count(), domains_, random)
                           : scatter_domains(graph.location_count(), domains_, random);
  });
}

}  // namespace rankloom
