// SPDX-License-Identifier: Apache-2.0
// map/metaheuristics: a mapping problem as a sparse QAP for simulated annealing: traffic as a graph, locations in
// regions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/metaheuristics/qap_instance.hpp"

namespace rankloom {

/// Facilities and locations as in QapInstance, but without matrices: O(locations x levels + edges) memory. The traffic
/// is undirected, so distances have to be symmetric.
class SparseQap {
 public:
  static constexpr std::uint64_t max_locations = std::uint64_t{1} << 20;
  /// Any cost model except congestion, symmetric distances, at most max_locations.
  static bool fits(const MapProblem& problem);

  explicit SparseQap(const MapProblem& problem);

  struct Edge {
    std::uint32_t to;
    double bytes, messages;  ///< Of both directions.
  };
  /// Consecutive locations: the slots of one object of the machine.
  struct Region {
    std::uint32_t begin, end;
  };

  const QapLocations& locations() const { return locations_; }
  std::uint32_t ranks() const { return locations_.ranks(); }
  std::uint32_t location_count() const { return locations_.size(); }
  std::span<const Edge> edges(std::uint32_t facility) const {
    return {edges_.data() + offsets_[facility], offsets_[facility + 1] - offsets_[facility]};
  }
  bool has_traffic() const { return !edges_.empty(); }

  /// The levels at which the machine splits, top down. All locations of a region of the last level are equivalent.
  std::size_t levels() const { return regions_.size(); }
  Region region(std::size_t level, std::uint32_t location) const { return regions_[level][location]; }
  /// On a routed network, the locations of each node adjacent to that of the location; empty on other machines.
  std::span<const Region> nearby(std::uint32_t location) const {
    if (node_of_.empty()) return {};
    const std::uint32_t node = node_of_[location];
    return {nearby_.data() + nearby_offsets_[node], nearby_offsets_[node + 1] - nearby_offsets_[node]};
  }

 private:
  void find_regions(const Topology& topology);
  void find_nearby(const Topology& topology);
  void collect_edges(const CommGraph& graph);

  QapLocations locations_;
  std::vector<std::vector<Region>> regions_;  // by level, by location
  std::vector<std::uint32_t> node_of_;        // by location; empty: not a routed network
  std::vector<std::size_t> nearby_offsets_;   // by node, with an end
  std::vector<Region> nearby_;
  std::vector<std::size_t> offsets_;  // by facility, with an end
  std::vector<Edge> edges_;
};

}  // namespace rankloom
