// SPDX-License-Identifier: Apache-2.0
// discover/probe: combines the measurements of many pairs into one cost per level.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rankloom/discover/probe/probe_analysis.hpp"

namespace rankloom {

/// Rounds to the precision of the measurement.
double round_to_four_digits(double value);
/// The time of a message of 1 MiB, by which pairs are compared.
double reference_time(const Cost& cost);
double largest_message(const ProbePair& pair);

/// The measurements of each level, top down.
class LevelCosts {
 public:
  LevelCosts(std::size_t levels, const ProbeOptions& options) : alone_(levels), together_(levels), options_(options) {}

  /// Pairs that lack the larger messages count only if no pair of the level has them. Pairs that were measured alone
  /// count with their fastest repetition, because only other programs can have disturbed them.
  void add(std::size_t level, const ProbePair& pair);

  bool empty(std::size_t level) const { return alone_[level].costs.empty() && together_[level].costs.empty(); }

  /// The costs of the requested kind (alone or together), or of the other kind if the level has no others.
  const std::vector<Cost>& chosen(std::size_t level) const;
  ProbeLevel level(std::size_t number, std::string kind) const;
  std::vector<double> times(std::size_t level) const;

 private:
  struct Measured {
    std::vector<Cost> costs;
    double largest_message = 0;
  };
  std::vector<Measured> alone_, together_;  // by level
  const ProbeOptions& options_;
};

}  // namespace rankloom
