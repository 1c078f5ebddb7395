// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping: `rankloom map --judge`: chooses among mappings under different goals by their predicted or
// simulated times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/arguments/simulation_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "rankloom/map/portfolio/candidate_mappings.hpp"

namespace rankloom::app {

enum class JudgeKind : std::uint8_t { predict, simulate };

/// The candidates, by predicted time, and the choice.
struct Judgement {
  JudgeKind kind;
  std::vector<CandidateMapping> candidates;
  std::vector<double> simulated_seconds;  ///< By candidate; empty: not simulated.
  std::size_t chosen = 0;

  const CandidateMapping& choice() const { return candidates[chosen]; }
  /// {judge, candidates: [{goal, nodes, predicted_seconds, simulated_seconds, chosen}]}
  Json json() const;
  /// A table with one row for each candidate.
  std::string text(std::size_t width) const;
};

class Judge {
 public:
  explicit Judge(JudgeKind kind) : kind_(kind) {}

  /// Fails before anything is mapped if the simulator is not installed.
  Result<void> prepare();
  bool needs_profile() const { return kind_ == JudgeKind::simulate; }
  /// The candidate with the shortest time; of equal times, the one with the shorter predicted time.
  Result<Judgement> choose(std::vector<CandidateMapping> candidates, const ProfileArguments& from,
                           const Instance& instance, Progress& progress) const;

 private:
  JudgeKind kind_;
  SimulationArguments simulation_;
};

/// The result of the mapper with the chosen mapping instead of its own.
MapResult with_choice(MapResult result, const Judgement& judgement, const MapProblem& problem);

}  // namespace rankloom::app
