// SPDX-License-Identifier: Apache-2.0
// apps/simulate: records when each action of a trace begins and ends, for timelines.
#pragma once

#include <optional>
#include <vector>

#include "rankloom/evaluate/simulate/simulation_request.hpp"
#include "rankloom/evaluate/simulate/timeline.hpp"

namespace rankloom {

class ActionRecorder {
 public:
  explicit ActionRecorder(const SimulationRequest& request);

  /// Replaces the actions that SimGrid registered by ones that also record. SimGrid registers them again at the start
  /// of every rank, so call this after it.
  void wrap_actions();

  /// Call after the end of the simulation. Nothing if there were too many actions.
  std::optional<Timeline> timeline(std::size_t job, const Platform& platform) const;

 private:
  friend struct RecordingAction;

  const SimulationRequest& request_;
  std::vector<std::vector<std::vector<ReplayedAction>>> actions_of_;  ///< By job and rank.
  std::uint64_t count_ = 0;
};

}  // namespace rankloom
