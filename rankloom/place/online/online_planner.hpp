// SPDX-License-Identifier: Apache-2.0
// place/online: turns traffic windows into decisions to move ranks. For every window the planner determines the current
// phase, computes a mapping for that phase by a fast mapper, and moves ranks if the gain over the rest of the phase
// exceeds the cost of moving and the possible loss fits into a budget. It uses no clock, process or file, so the agent
// on a node and the replay of recorded windows make the same decisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/mapping.hpp"
#include "rankloom/place/online/phase_detector.hpp"

namespace rankloom {

struct OnlineOptions {
  PhaseOptions phases;
  double move_seconds = 200e-6;  ///< The time that a moved rank loses, mainly by refilling its caches.
  /// The cost with moves exceeds the cost without moves by at most this fraction of it, at the end of every window, if
  /// no window costs more than its length times the number of ranks, or more than an earlier window (no rank can
  /// communicate for longer than the window lasts). Infinity: no limit.
  double max_loss = 0.02;
};

/// The decision at the end of a window. Costs per second are summed over all ranks, per second of program time.
struct OnlineDecision {
  double time = 0;
  std::size_t window = 0;  ///< Index of the window.
  std::size_t kind = 0;    ///< Kind of the current phase.
  double current_cost = 0;
  double target_cost = 0;
  double remaining_seconds = 0;  ///< The expected remaining time of the phase.
  /// The additional cost in the next phase until that phase is detected, in seconds, summed over all ranks.
  double transition_cost = 0;
  /// Over the remaining time, minus the transition cost, in seconds, summed over all ranks.
  double gain = 0;
  double move_cost = 0;  ///< In seconds, summed over all ranks.
  double min_gain = 0;   ///< The gain must exceed this: the cost of the move, and more after moves that lost.
  /// What the move may lose in the worst case before the planner can undo it: its cost, one window, and the way back.
  double possible_loss = 0;
  double loss_budget = 0;         ///< What moves may still lose; moves that gained add to it.
  std::uint32_t moved = 0;        ///< The number of ranks that the target moves.
  bool moves = false;             ///< The planner decided to move.
  std::string reason;             ///< An explanation for users.
  double mapper_seconds = 0;      ///< Run time of the mapper.
  std::vector<Core> target;       ///< By rank.
  bool returns_to_start = false;  ///< The target is the initial placement rather than a new mapping.
};

/// The cost of every window under the model, with moves and with the initial placement, for charts. The number of
/// points is limited: when the limit is reached, pairs of points are merged.
class CostHistory {
 public:
  struct Point {
    double end = 0;  ///< End of the last window of this point.
    /// The cost under the model in seconds, summed over all ranks; `online` includes the cost of moves.
    double cost_without_migration = 0, online = 0;
  };

  void add(const Point& point);
  /// Adds the cost of a move to the last window.
  void add_move_cost(double seconds) { points_.back().online += seconds; }

  const std::vector<Point>& points() const { return points_; }
  std::size_t windows_per_point() const { return windows_per_point_; }

 private:
  static constexpr std::size_t max_points = 2048;
  void merge_pairs();

  std::vector<Point> points_;
  std::size_t windows_per_point_ = 1, windows_in_last_ = 0;
};

/// A core for every rank: EagerMap (Cruz 2019), improved by `refine`. If ranks share cores, EagerMap balances their
/// loads instead. Equivalent parts of the machine are permuted such that many ranks keep their current core.
Result<std::vector<Core>> fast_mapping(const CommGraph& traffic, const Topology& topology,
                                       std::span<const Core> current);

/// The cost of a placement in seconds, summed over all ranks: the model `time`, plus the work of the most loaded core
/// where cores are shared, because all ranks wait for that core.
double online_cost(const CommGraph& traffic, const Topology& topology, std::span<const Core> core_of);

/// The largest factor by which any traffic costs more in `to` than in `from`, from the costs of all pairs of ranks.
/// O(ranks²).
double max_cost_ratio(const Topology& topology, std::span<const Core> from, std::span<const Core> to);

class OnlinePlanner {
 public:
  OnlinePlanner(Topology topology, std::vector<Core> start, OnlineOptions options)
      : topology_(std::move(topology)),
        placement_(start),
        previous_(start),
        start_(std::move(start)),
        options_(options),
        detector_(options.phases) {}

  /// Adds the next window and decides. After a decision to move, placement() is its target.
  std::optional<OnlineDecision> add_window(const TrafficWindow& window);

  /// Suppresses all further moves. Decisions contain the reason.
  void disable_moves(std::string reason) { disabled_reason_ = std::move(reason); }

  std::span<const Core> placement() const { return placement_; }
  std::span<const Core> start() const { return start_; }
  const Topology& topology() const { return topology_; }
  const PhaseDetector& phases() const { return detector_; }
  std::size_t windows() const { return windows_; }
  const std::vector<OnlineDecision>& decisions() const { return decisions_; }
  /// The number of decisions to move.
  std::uint32_t migrations() const { return migrations_; }
  /// The total cost under the model with the placement of each window, including the cost of moves, in seconds, summed
  /// over all ranks.
  double cost_online() const { return cost_online_; }
  /// The total cost under the model with the initial placement in all windows, in seconds, summed over all ranks.
  double cost_without_migration() const { return cost_without_migration_; }
  const CostHistory& history() const { return history_; }

 private:
  /// The mapping for a kind of phase.
  struct Candidate {
    std::vector<Core> core_of;
    std::size_t windows = 0;  // of the kind when the mapping was computed
    double mapper_seconds = 0;
    double loss_fraction = 0;
    // Validation by later windows, which the mapping was not computed from: their cost as placed and as mapped.
    std::size_t validation_windows = 0;
    double validation_current_cost = 0, validation_target_cost = 0;
  };
  OnlineDecision new_decision(const TrafficWindow& window) const;
  std::optional<OnlineDecision> decide(const TrafficWindow& window, bool phase_begins);
  std::optional<OnlineDecision> forced_return(const TrafficWindow& window) const;
  void evaluate_move(OnlineDecision& decision, std::span<const Core> target, double target_loss_fraction,
                     const CommGraph& traffic) const;
  void execute(const OnlineDecision& decision);
  double loss_budget() const;
  double loss_fraction(std::span<const Core> core_of) const;
  double return_cost(std::span<const Core> core_of) const;
  void validate_candidate(const TrafficWindow& window);
  bool is_within_noise(const OnlineDecision& decision) const;
  double cost_after_phase(std::size_t kind, std::span<const Core> core_of) const;

  Topology topology_;
  std::vector<Core> placement_, previous_, start_;  // previous_: before the last move
  OnlineOptions options_;
  PhaseDetector detector_;
  std::vector<Candidate> candidates_;  // by kind of phase
  std::vector<OnlineDecision> decisions_;
  std::string disabled_reason_;
  std::size_t windows_ = 0;
  std::uint32_t migrations_ = 0;
  double cost_online_ = 0, cost_without_migration_ = 0;
  double max_window_cost_ = 0;  // no window is expected to cost more
  double loss_fraction_ = 0;    // of the current placement
  double last_move_loss_ = 0;   // cost since the last move, minus the cost in the placement before it
  double min_extra_gain_ = 0;   // what moves that lost add to the gain that the next move must promise
  CostHistory history_;
};

}  // namespace rankloom
