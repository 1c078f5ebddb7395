// SPDX-License-Identifier: Apache-2.0
// evaluate/simulate: what each rank of a simulated run does over time, and the critical path, which determines the time
// of the run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace rankloom {

/// One action of the trace of a rank, with the simulated times of its begin and its end.
struct ReplayedAction {
  enum class Kind : std::uint8_t { compute, send, receive, post_send, post_receive, wait, wait_all, collective, other };
  Kind kind = Kind::other;
  std::uint32_t partner = 0;  ///< Of a message: the other rank.
  std::int32_t tag = 0;
  float bytes = 0;
  double begin = 0, end = 0;  ///< Seconds.
};

struct PathStep {
  enum class Kind : std::uint8_t { compute, message, collective };
  Kind kind = Kind::compute;
  std::uint32_t to = 0;    ///< The rank that computed, or waited until `end`.
  std::uint32_t from = 0;  ///< Of a message: the other rank; of a collective: the last rank to begin it.
  double begin = 0, end = 0;
};

/// Time is divided into equal intervals, ranks into rows of consecutive ranks.
struct Timeline {
  static constexpr std::uint32_t max_rows = 256, max_intervals = 400, max_steps = 2000;
  /// Of recorded actions; a run with more has no timeline.
  static constexpr std::uint64_t max_actions = 10'000'000;

  std::uint32_t ranks = 0, ranks_per_row = 1, intervals = 0;
  double seconds = 0;  ///< Of the run.
  /// By row and interval, row by row: the shares of time, in thousandths. The rest of an interval is after the end of
  /// the ranks. Waiting is time in MPI before the partner of a message, or the last rank of a collective, has begun its
  /// own call; transfer is the other time in MPI.
  std::vector<std::uint16_t> compute, transfer, wait;
  /// By rank, in seconds.
  std::vector<double> rank_compute, rank_transfer, rank_wait;
  /// Backwards from the end of the last rank: its computation, or the message or the last rank of a collective that it
  /// waited for, and so on. In order of time; of a longer path only the longest max_steps.
  std::vector<PathStep> path;
  std::uint64_t path_steps = 0;  ///< Of the complete path.
  /// Seconds of the complete path.
  double path_compute = 0, path_collectives = 0;
  std::vector<double> path_messages;  ///< By the level of TimelineOptions.
};

struct TimelineOptions {
  double begin = 0;  ///< Of the run, in seconds; times in the timeline are relative to it.
  /// Senders of smaller messages do not wait for the receiver.
  double eager = 0;
  /// The time of a message without other traffic, by sender, receiver and bytes. It decides which of several messages
  /// arrived last.
  std::function<double(std::uint32_t, std::uint32_t, double)> message_seconds = {};
  /// The level of the machine that messages between two ranks cross, below `levels`.
  std::function<std::size_t(std::uint32_t, std::uint32_t)> level = {};
  std::size_t levels = 1;
};

/// Messages are matched by sender, receiver and tag, in the order of the traces. O(actions log actions).
Timeline make_timeline(const std::vector<std::vector<ReplayedAction>>& actions_of, const TimelineOptions& options);

nlohmann::json to_json(const Timeline& timeline);
/// Throws the exceptions of the JSON library, and std::invalid_argument if sizes do not agree.
Timeline timeline_from_json(const nlohmann::json& json);

}  // namespace rankloom
