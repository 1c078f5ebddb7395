// SPDX-License-Identifier: Apache-2.0
// place/online: windows in, moves out: at each window the phase is looked at, a mapping is found for it by a fast
// mapper, and ranks move when that pays over the rest of the phase. No clock, no process, no file: the agent on a node
// and the replay of recorded windows decide by the same code.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/mapping.hpp"
#include "rankloom/place/online/cost_history.hpp"
#include "rankloom/place/online/phase_finder.hpp"

namespace rankloom {

struct OnlineOptions {
  PhaseOptions phases;
  double move_seconds = 200e-6;  ///< What a rank loses that moves: its caches, above all.
};

/// What was decided at the end of a window, if there was anything to decide.
struct OnlineDecision {
  double time = 0;
  std::size_t window = 0;  ///< The how-manieth.
  std::size_t kind = 0;
  // Of the phase as far as it is known, in seconds of all ranks together for each second of the program.
  double cost_now = 0;
  double cost_target = 0;
  double rest = 0;   ///< Seconds that the phase may last.
  double after = 0;  ///< More than now for the phase that comes then, until it is found: seconds of all ranks together.
  double gain = 0;   ///< Over the rest, less what comes after: seconds of all ranks together,
  double price = 0;  ///< against this for the moves.
  std::uint32_t moved = 0;
  bool moves = false;
  std::string why;  ///< For people.
  double mapper_seconds = 0;
  std::vector<Core> target;
  bool back = false;  ///< The target is not the mapping for the phase, but where everybody was at the start.
};

/// A core for every rank: EagerMap (Cruz 2019), by load and balanced where cores are shared, else made better by
/// `refine`, with equal parts of the machine named so that many ranks stay where they are.
Result<std::vector<Core>> fast_mapping(const CommGraph& traffic, const Topology& topology, std::span<const Core> now);

/// What a placement costs the ranks together, in seconds: by the model `time`, and where cores are shared, the work of
/// the heaviest core, for which all wait.
double online_cost(const CommGraph& traffic, const Topology& topology, std::span<const Core> core_of);

class OnlinePlanner {
 public:
  OnlinePlanner(Topology topology, std::vector<Core> start, OnlineOptions options)
      : topology_(std::move(topology)),
        now_(start),
        start_(std::move(start)),
        options_(options),
        finder_(options.phases) {}

  /// The decision of this window; one that moves has been taken over: now() is then its target.
  std::optional<OnlineDecision> take(const OnlineWindow& window);

  /// From now on nobody moves; decisions say why.
  void stay(std::string why) { stay_ = std::move(why); }

  std::span<const Core> now() const { return now_; }
  std::span<const Core> start() const { return start_; }
  const Topology& topology() const { return topology_; }
  const PhaseFinder& phases() const { return finder_; }
  std::size_t windows() const { return windows_; }
  const std::vector<OnlineDecision>& decisions() const { return decisions_; }
  std::uint32_t bursts() const { return bursts_; }
  /// By the model, in seconds of all ranks together: as it was placed window by window, moves included, and had nobody
  /// moved.
  double cost_online() const { return cost_online_; }
  double cost_stayed() const { return cost_stayed_; }
  const CostHistory& history() const { return history_; }

 private:
  struct Target {
    std::vector<Core> core_of;
    std::size_t windows = 0;  // of the kind, when it was computed
    double seconds = 0;
    // What later windows cost, which it was not made of: as everybody is, and there.
    std::size_t proved_windows = 0;
    double proof_now = 0, proof_there = 0;
  };
  std::optional<OnlineDecision> decide(const OnlineWindow& window, bool is_new);
  void weigh(OnlineDecision& decision, std::span<const Core> target, const CommGraph& traffic) const;
  void prove(const OnlineWindow& window);
  bool is_noise(const OnlineDecision& decision) const;
  double cost_after(std::size_t kind, std::span<const Core> core_of) const;

  Topology topology_;
  std::vector<Core> now_, start_;
  OnlineOptions options_;
  PhaseFinder finder_;
  std::vector<Target> targets_;  // by kind
  std::vector<OnlineDecision> decisions_;
  std::string stay_;
  std::size_t windows_ = 0;
  std::uint32_t bursts_ = 0;
  double cost_online_ = 0, cost_stayed_ = 0;
  CostHistory history_;
};

}  // namespace rankloom
