// SPDX-License-Identifier: Apache-2.0
// place/online: detects when the communication pattern of a program changes.
#include "rankloom/place/online/phase_detector.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rankloom {

namespace {

/// Length of the moving average of messages per window.
constexpr double averaging_windows = 8;
/// After this many windows without traffic, an earlier suspicion is dropped.
constexpr std::size_t max_silent_windows = 2;

TrafficWindow merge(const TrafficWindow& a, const TrafficWindow& b) {
  std::vector<double> loads(a.traffic.loads().begin(), a.traffic.loads().end());
  const auto other_loads = b.traffic.loads();
  if (loads.size() == other_loads.size()) {
    for (std::size_t i = 0; i < loads.size(); ++i) loads[i] += other_loads[i];
  }
  auto rows = sum(a.traffic, b.traffic).release();
  rows.loads = std::move(loads);
  return {a.begin, b.end, CommGraph(std::move(rows))};
}

}  // namespace

TrafficPattern::TrafficPattern(const CommGraph& traffic) {
  for (const Rank from : traffic.ranks()) {
    const auto targets = traffic.targets(from);
    const auto bytes = traffic.bytes(from);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (targets[i] == from || bytes[i] <= 0) continue;
      const std::uint64_t low = std::min(index(from), index(targets[i])),
                          high = std::max(index(from), index(targets[i]));
      fractions_.emplace_back(low << 32 | high, bytes[i]);
    }
  }
  std::sort(fractions_.begin(), fractions_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t pairs = 0;
  double total = 0;
  for (const auto& [pair, bytes] : fractions_) {
    total += bytes;
    if (pairs > 0 && fractions_[pairs - 1].first == pair) {
      fractions_[pairs - 1].second += bytes;
    } else {
      fractions_[pairs++] = {pair, bytes};
    }
  }
  fractions_.resize(pairs);
  for (auto& fraction : fractions_) fraction.second /= total;
}

double distance(const TrafficPattern& a, const TrafficPattern& b) {
  double sum = 0;
  auto left = a.fractions_.begin(), right = b.fractions_.begin();
  while (left != a.fractions_.end() || right != b.fractions_.end()) {
    if (right == b.fractions_.end() || (left != a.fractions_.end() && left->first < right->first)) {
      sum += (left++)->second;
    } else if (left == a.fractions_.end() || right->first < left->first) {
      sum += (right++)->second;
    } else {
      sum += std::abs((left++)->second - (right++)->second);
    }
  }
  return sum / 2;
}

bool PhaseDetector::add_window(const TrafficWindow& window) {
  // A window without traffic does not change the phase, but a long silence refutes an earlier suspicion.
  const bool silent = window.traffic.edge_count() == 0;
  silent_windows_ = silent ? silent_windows_ + 1 : 0;
  if (silent_windows_ >= max_silent_windows) {
    if (suspected_begin_) phases_.back().windows += suspected_windows_;
    suspected_begin_.reset();
  }
  if (!phases_.empty() && !suspected_begin_) phases_.back().end = window.end;
  if (silent) {
    if (suspected_begin_) ++suspected_windows_;
    return false;
  }
  TrafficWindow merged = pending_ ? merge(*pending_, window) : window;
  const std::size_t windows = pending_windows_ + 1;
  if (merged.traffic.has_messages() && has_too_few_messages(merged, windows)) {
    pending_ = std::move(merged);
    pending_windows_ = windows;
    return false;
  }
  pending_.reset();
  pending_windows_ = 0;
  return classify(merged, windows);
}

/// A small number of messages shows only which ranks had CPU time. A number far below the average means either that
/// ranks had no CPU time or that the program now communicates less; the next window decides between the two.
bool PhaseDetector::has_too_few_messages(const TrafficWindow& window, std::size_t windows) const {
  const double messages = window.traffic.total_messages();
  return messages < options_.min_messages_per_rank * window.traffic.rank_count() ||
         (windows == 1 && messages < options_.min_message_fraction * mean_messages_);
}

bool PhaseDetector::classify(const TrafficWindow& window, std::size_t windows) {
  const TrafficPattern pattern(window.traffic);
  if (pattern.empty()) return false;
  if (window.traffic.has_messages()) {
    const double messages = window.traffic.total_messages() / static_cast<double>(windows);
    mean_messages_ = phases_.empty() ? messages : mean_messages_ + (messages - mean_messages_) / averaging_windows;
  }
  if (phases_.empty()) {
    kinds_.push_back({pattern, {}, 0, 0, 0, 0, 0});
    begin_phase(0, window, window.begin, windows);
    return true;
  }
  OnlinePhase& current = phases_.back();
  if (distance(pattern, kinds_[current.kind].pattern) <= options_.leave_distance) {
    if (suspected_begin_) current.windows += suspected_windows_;
    suspected_begin_.reset();
    current.windows += windows;
    current.end = window.end;
    accumulate(current.kind, window);
    return false;
  }
  suspect_change(window, windows, pattern);
  std::size_t kind = 0;
  if (const auto known = closest_kind(pattern); known) {
    kind = *known;
  } else if (is_new_kind(pattern)) {
    kind = kinds_.size();
    kinds_.push_back({pattern, {}, 0, 0, 0, 0, 0});
  } else {
    return false;
  }
  begin_phase(kind, window, *suspected_begin_, suspected_windows_);
  return true;
}

void PhaseDetector::suspect_change(const TrafficWindow& window, std::size_t windows, const TrafficPattern& pattern) {
  if (!suspected_begin_) {
    suspected_begin_ = window.begin;
    suspected_windows_ = 0;
    suspicions_ = 0;
    phases_.back().end = window.begin;
  }
  suspected_windows_ += windows;
  ++suspicions_;
  previously_suspected_ = std::exchange(suspected_, pattern);
}

/// A pattern is a new kind if the previous window is similar to it, or if the previous window contains both the end of
/// the current phase and the beginning of this one. A mixture of the current phase and a known kind is new only if it
/// lasts for more than max_mixture_windows.
bool PhaseDetector::is_new_kind(const TrafficPattern& pattern) const {
  if (suspicions_ < 2) return false;
  const TrafficPattern& current = kinds_[phases_.back().kind].pattern;
  // The fractions of a mixture lie between those of its parts, so the distances add up along the line between the
  // parts.
  const auto is_mixture = [&](const TrafficPattern& mixture, const TrafficPattern& other) {
    return distance(current, mixture) + distance(mixture, other) <=
           distance(current, other) + options_.mixture_tolerance;
  };
  if (distance(previously_suspected_, pattern) > options_.leave_distance && !is_mixture(previously_suspected_, pattern))
    return false;
  if (suspicions_ > options_.max_mixture_windows) return true;
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    if (kind != phases_.back().kind && is_mixture(pattern, kinds_[kind].pattern)) return false;
  }
  return true;
}

void PhaseDetector::begin_phase(std::size_t kind, const TrafficWindow& window, double begin, std::size_t windows) {
  if (!phases_.empty()) {
    Kind& previous = kinds_[phases_.back().kind];
    previous.finished_seconds += phases_.back().end - phases_.back().begin;
    ++previous.finished;
  }
  phases_.push_back({kind, begin, window.end, windows, windows});
  ++kinds_[kind].occurrences;
  suspected_begin_.reset();
  suspected_windows_ = 0;
  accumulate(kind, window);
}

void PhaseDetector::accumulate(std::size_t kind, const TrafficWindow& window) {
  Kind& entry = kinds_[kind];
  if (entry.windows == 0) {
    entry.traffic = window.traffic;
  } else {
    entry.traffic = merge({0, 0, entry.traffic}, window).traffic;
  }
  entry.seconds += window.seconds();
  ++entry.windows;
  // The pattern of many windows hardly changes, so it is recomputed only at powers of two.
  if ((entry.windows & (entry.windows - 1)) == 0) entry.pattern = TrafficPattern(entry.traffic);
}

std::optional<std::size_t> PhaseDetector::closest_kind(const TrafficPattern& pattern) const {
  std::optional<std::size_t> closest;
  double min_distance = options_.join_distance;
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    const double kind_distance = distance(pattern, kinds_[kind].pattern);
    if (kind_distance > min_distance || (closest && kind_distance == min_distance)) continue;
    min_distance = kind_distance;
    closest = kind;
  }
  return closest;
}

double PhaseDetector::mean_detection_seconds() const {
  double seconds = 0, windows = 0, detection_windows = 0;
  for (const Kind& kind : kinds_) {
    seconds += kind.seconds;
    windows += static_cast<double>(kind.windows);
  }
  for (std::size_t i = 1; i < phases_.size(); ++i) detection_windows += static_cast<double>(phases_[i].detected_after);
  const double mean = phases_.size() > 1 ? detection_windows / static_cast<double>(phases_.size() - 1) : 2;
  return windows > 0 ? mean * seconds / windows : 0;
}

double PhaseDetector::expected_remaining_seconds() const {
  if (phases_.empty()) return 0;
  const OnlinePhase& current = phases_.back();
  const Kind& kind = kinds_[current.kind];
  const double elapsed = current.end - current.begin;
  if (kind.finished == 0) return elapsed;
  const double mean = kind.finished_seconds / static_cast<double>(kind.finished);
  return elapsed < mean ? mean - elapsed : elapsed;
}

}  // namespace rankloom
