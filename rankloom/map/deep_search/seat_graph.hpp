// SPDX-License-Identifier: Apache-2.0
// map/deep_search: a problem with few partners for each rank, as annealing wants it: seats in regions, and who talks to
// whom.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// Items on seats as in AssignmentTables, but nothing of size items x seats: O(seats x levels + edges). Traffic is
/// undirected, so distances have to be symmetric.
class SeatGraph {
 public:
  static constexpr std::uint64_t most_seats = std::uint64_t{1} << 20;
  /// Every model but congestion, symmetric distances, up to most_seats.
  static bool fits(const MapProblem& problem);

  explicit SeatGraph(const MapProblem& problem);

  struct Edge {
    std::uint32_t to;
    double bytes, messages;  ///< Of both directions.
  };
  /// Consecutive seats: those of an object of the machine.
  struct Region {
    std::uint32_t begin, end;
  };

  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t seats() const { return static_cast<std::uint32_t>(core_of_seat_.size()); }
  std::span<const Edge> edges(std::uint32_t item) const {
    return {edges_.data() + offsets_[item], offsets_[item + 1] - offsets_[item]};
  }
  bool without_traffic() const { return edges_.empty(); }
  Core core_of(std::uint32_t seat) const { return core_of_seat_[seat]; }

  /// Levels at which the machine splits, top down; the regions of the last are leaf groups: all their seats are alike.
  std::size_t levels() const { return regions_.size(); }
  Region region(std::size_t level, std::uint32_t seat) const { return regions_[level][seat]; }

  std::vector<std::uint32_t> items_on_seats(std::span<const Core> core_of) const;
  std::vector<Core> placement(std::span<const std::uint32_t> item_on_seat) const;

 private:
  void find_regions(const Topology& topology);
  void collect_edges(const CommGraph& graph);

  std::uint32_t ranks_;
  std::vector<Core> core_of_seat_;
  std::vector<std::vector<Region>> regions_;  // by level, by seat
  std::vector<std::size_t> offsets_;          // by item, with an end
  std::vector<Edge> edges_;
};

}  // namespace rankloom
