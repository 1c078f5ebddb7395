// SPDX-License-Identifier: Apache-2.0
// map/metaheuristics: a small mapping problem as a quadratic assignment problem (QAP) with dense matrices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// The slots of a machine as the locations of a QAP: at most one slot per rank on each core. Facilities are the ranks
/// and, after them, one dummy facility for each slot that stays free, so there are as many facilities as locations.
class QapLocations {
 public:
  explicit QapLocations(const MapProblem& problem);

  /// The number of locations, without their construction; `limit` + 1 if there are more than that.
  static std::uint64_t count(const MapProblem& problem, std::uint64_t limit);

  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(core_of_location_.size()); }
  Core core_of(std::uint32_t location) const { return core_of_location_[location]; }

  /// The facility at each location, from a valid placement, and back.
  std::vector<std::uint32_t> assignment_of(std::span<const Core> core_of) const;
  std::vector<Core> placement_of(std::span<const std::uint32_t> facility_at) const;

 private:
  std::uint32_t ranks_;
  std::vector<Core> core_of_location_;
};

/// The cost of an assignment is the sum of linear costs and, over all terms, of flow[i][j] x distance[location of
/// i][location of j] for each ordered pair of facilities (asymmetric matrices: two terms, one of them transposed) or
/// unordered pair (symmetric matrices: one term).
class QapInstance {
 public:
  /// The matrices of this size take 8 MiB each.
  static constexpr std::uint64_t max_locations = 1024;
  /// Whether the problem can be written as a QAP: any cost model except congestion, at most max_locations.
  static bool fits(const MapProblem& problem);

  explicit QapInstance(const MapProblem& problem);

  /// Row i of `flow` is the traffic of all facilities with facility i, row p of `distance` the distance of all
  /// locations from location p.
  struct Term {
    std::vector<double> flow, distance;
  };
  /// For a swap of two facilities, the traffic between the two: both directions of flow and distance.
  struct PairTerm {
    std::vector<double> flow, distance;
  };

  std::uint32_t size() const { return locations_.size(); }
  const QapLocations& locations() const { return locations_; }
  std::span<const Term> terms() const { return terms_; }
  std::span<const PairTerm> pair_terms() const { return pair_terms_; }
  /// facility x location: the cost that does not depend on other facilities, which is traffic of a rank with itself.
  /// Empty: all zero.
  std::span<const double> linear() const { return linear_; }
  /// Swapping two facilities (locations) of one class never changes the cost.
  std::span<const std::uint32_t> facility_class() const { return facility_class_; }
  std::span<const std::uint32_t> location_class() const { return location_class_; }
  /// Whether all entries are integers.
  bool integral() const { return integral_; }
  /// An upper bound on the change of cost by one swap and on the entries of the matrices of a search.
  double max_delta() const { return max_delta_; }

  double cost(std::span<const std::uint32_t> facility_at) const;

 private:
  void add_terms(const std::vector<double>& flow, const std::vector<double>& distance);
  void find_classes();
  void compute_bounds();

  QapLocations locations_;
  std::vector<Term> terms_;
  std::vector<PairTerm> pair_terms_;
  std::vector<double> linear_;
  std::vector<std::uint32_t> facility_class_, location_class_;
  bool integral_ = true;
  double max_delta_ = 0;
};

}  // namespace rankloom
