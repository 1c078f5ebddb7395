// SPDX-License-Identifier: Apache-2.0
// evaluate: finds the fastest of several variants of a program with few runs.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace rankloom {

/// Successive halving (Karnin, Koren, Somekh 2013; Jamieson, Talwalkar 2016): all candidates run a few times, the
/// slower half is left out, and the others run as often again, until one is left. Candidates are compared by the median
/// of all of their times. Within a stage they run in rounds, one run of each, in the order of run_order(). The same
/// times give the same runs. The winner was chosen because its times were short: they must not be used to claim a gain.
///
/// The caller runs the candidate of next(), and reports the run by add() or drop().
class SuccessiveHalving {
 public:
  struct Options {
    std::size_t first_runs = 3;  ///< Of each candidate in the first stage: the median ignores one disturbed run.
    std::size_t max_runs = 20;   ///< Of one candidate.
    /// No run is started that would end later if it took as long as the longest run so far.
    double max_seconds = std::numeric_limits<double>::infinity();
  };

  /// Candidates that are expected to be fast come first: of equal times, and without any times, the first one wins.
  SuccessiveHalving(std::size_t candidates, const Options& options);

  /// The candidate to run; nothing: the search is over.
  std::optional<std::size_t> next() const;
  /// The run of next(): the time that counts, and the time that has passed.
  void add(double seconds, double elapsed_seconds);
  /// The run of next() failed: the candidate is left out.
  void drop(double elapsed_seconds);

  /// The candidate with the shortest median of those that are left; nothing: all of them failed.
  std::optional<std::size_t> fastest() const;
  std::span<const double> seconds(std::size_t candidate) const { return seconds_[candidate]; }
  double elapsed_seconds() const { return elapsed_; }

  /// The number of runs if no limit of time ends the search and no run fails.
  static std::size_t planned_runs(std::size_t candidates, Options options);

 private:
  /// The candidate of next(), whose run is over.
  std::size_t take_next(double elapsed_seconds);
  /// Plans rounds until every remaining candidate has as many runs as this stage gives it.
  void plan_stage();
  /// If all planned runs are done: leaves out the slower half, and plans the next stage.
  void end_stage();
  /// By median, then by number.
  bool is_faster(std::size_t a, std::size_t b) const;

  Options options_;
  std::vector<std::size_t> remaining_;        // candidates
  std::vector<std::vector<double>> seconds_;  // by candidate
  std::vector<std::size_t> planned_;          // candidates of the next runs, in reverse order
  std::size_t runs_;                          // of each remaining candidate, at the end of the stage
  std::size_t rounds_ = 0;
  double elapsed_ = 0, longest_ = 0;
};

}  // namespace rankloom
