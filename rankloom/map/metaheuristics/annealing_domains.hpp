// SPDX-License-Identifier: Apache-2.0
// map/metaheuristics: parts of a large machine in which simulated annealing runs in parallel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/metaheuristics/sparse_qap.hpp"

namespace rankloom {

/// Several divisions of the locations into domains of about equal size. Pairs of locations that one division separates
/// are in one domain of another.
class AnnealingDomains {
 public:
  enum class Kind : std::uint8_t {
    grown,  ///< Grows along the traffic between nodes, or parts of nodes: most partners of a rank are in its domain.
    scattered,  ///< Each location is in a random domain: a rank can move across the whole machine in every phase.
  };
  /// After this many phases, the divisions repeat.
  static constexpr std::size_t division_count = 8;
  /// Fewer locations than this are one domain.
  static constexpr std::uint32_t min_locations = 4096;
  /// So are more than this many, because each domain keeps a placement of its own.
  static constexpr std::uint32_t max_locations = 1U << 17;

  AnnealingDomains(const SparseQap& graph, std::span<const std::uint32_t> facility_at, Kind kind, std::uint64_t seed);

  Kind kind() const { return kind_; }
  std::uint32_t domains() const { return domains_; }
  /// By location: its domain in phase `phase` of the search.
  std::span<const std::uint16_t> division(std::uint64_t phase) const { return divisions_[phase % divisions_.size()]; }

 private:
  Kind kind_;
  std::uint32_t domains_;
  std::vector<std::vector<std::uint16_t>> divisions_;  // by division, by location
};

}  // namespace rankloom
