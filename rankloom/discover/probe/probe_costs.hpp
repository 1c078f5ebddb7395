// SPDX-License-Identifier: Apache-2.0
// discover: from the pairs of a probe to one cost a level.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rankloom/discover/probe/probe_analysis.hpp"

namespace rankloom {

/// More digits than that were not measured.
double four_digits(double value);
/// How long a message of 1 MiB takes: by this pairs are compared.
double usual_time(const Cost& cost);
double largest_message(const ProbePair& pair);

/// What was measured at each level, top down.
class LevelCosts {
 public:
  LevelCosts(std::size_t levels, const ProbeOptions& options) : alone_(levels), together_(levels), options_(options) {}

  /// Of pairs for which the time allowed less than for others only as long as there is nothing better. Pairs that were
  /// alone count at their fastest: what disturbed them was not sent by anybody who is measured.
  void add(std::size_t level, const ProbePair& pair);

  bool empty(std::size_t level) const { return alone_[level].costs.empty() && together_[level].costs.empty(); }

  /// Costs of the kind that was asked for, where they were measured.
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
