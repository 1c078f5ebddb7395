// SPDX-License-Identifier: Apache-2.0
// map/multilevel/refinement: when a pass of FM without improvement ends.
#pragma once

#include <cstddef>

namespace rankloom::multilevel {

/// The adaptive stopping rule of Osipov and Sanders (2010): the gains of the moves since the last improvement are taken
/// as steps of a random walk. If their mean is so far below 0, compared with their variance, that the walk will hardly
/// return to its start, the pass ends.
class StoppingRule {
 public:
  void restart() { *this = {}; }
  void add(double gain) {
    ++moves_;
    sum_ += gain;
    sum_of_squares_ += gain * gain;
  }
  bool should_stop() const {
    constexpr double min_moves = 250;
    const auto moves = static_cast<double>(moves_);
    if (moves <= min_moves || sum_ >= 0) return false;
    const double drift = sum_ * sum_ / moves;  // moves x squared mean
    return drift * moves > sum_of_squares_ - drift;
  }

 private:
  std::size_t moves_ = 0;
  double sum_ = 0, sum_of_squares_ = 0;
};

}  // namespace rankloom::multilevel
