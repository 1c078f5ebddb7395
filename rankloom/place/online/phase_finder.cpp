// SPDX-License-Identifier: Apache-2.0
// place/online: when a program begins to talk otherwise.
#include "rankloom/place/online/phase_finder.hpp"

#include <algorithm>
#include <utility>

namespace rankloom {

namespace {

/// Windows over which the usual number of messages is taken.
constexpr double usual_span = 8;
/// Windows without a word after which nothing goes on that began before.
constexpr std::size_t long_silence = 2;

/// Two windows as one.
OnlineWindow joined(const OnlineWindow& a, const OnlineWindow& b) {
  std::vector<double> loads(a.traffic.loads().begin(), a.traffic.loads().end());
  const auto more = b.traffic.loads();
  if (loads.size() == more.size()) {
    for (std::size_t i = 0; i < loads.size(); ++i) loads[i] += more[i];
  }
  auto rows = sum(a.traffic, b.traffic).release();
  rows.loads = std::move(loads);
  return {a.begin, b.end, CommGraph(std::move(rows))};
}

}  // namespace

bool PhaseFinder::take(const OnlineWindow& window) {
  // Silence says nothing of the phase, but time passes; and what was suspected before a long one is over.
  const bool silent = window.traffic.edge_count() == 0;
  silent_windows_ = silent ? silent_windows_ + 1 : 0;
  if (silent_windows_ >= long_silence) {
    if (suspicion_) phases_.back().windows += suspected_windows_;
    suspicion_.reset();
  }
  if (!phases_.empty() && !suspicion_) phases_.back().end = window.end;
  if (silent) {
    if (suspicion_) ++suspected_windows_;
    return false;
  }
  OnlineWindow all = thin_ ? joined(*thin_, window) : window;
  const std::size_t windows = thin_windows_ + 1;
  if (all.traffic.has_messages() && is_thin(all, windows)) {
    thin_ = std::move(all);
    thin_windows_ = windows;
    return false;
  }
  thin_.reset();
  thin_windows_ = 0;
  return take_whole(all, windows);
}

/// Too few messages say who was quicker. Far fewer than usual say that ranks were kept waiting, or that the program now
/// talks less: the second window tells.
bool PhaseFinder::is_thin(const OnlineWindow& window, std::size_t windows) const {
  const double messages = window.traffic.total_messages();
  return messages < options_.messages * window.traffic.rank_count() ||
         (windows == 1 && messages < options_.starved * usual_messages_);
}

bool PhaseFinder::take_whole(const OnlineWindow& window, std::size_t windows) {
  const TrafficPattern pattern(window.traffic);
  if (pattern.empty()) return false;
  if (window.traffic.has_messages()) {
    const double messages = window.traffic.total_messages() / static_cast<double>(windows);
    usual_messages_ = phases_.empty() ? messages : usual_messages_ + (messages - usual_messages_) / usual_span;
  }
  if (phases_.empty()) {
    kinds_.push_back({pattern, {}, 0, 0, 0, 0, 0});
    begin(0, window, window.begin, windows);
    return true;
  }
  OnlinePhase& now = phases_.back();
  if (distance(pattern, kinds_[now.kind].pattern) <= options_.leave) {
    if (suspicion_) now.windows += suspected_windows_;
    suspicion_.reset();
    now.windows += windows;
    now.end = window.end;
    add(now.kind, window);
    return false;
  }
  suspect(window, windows, pattern);
  std::size_t kind = 0;
  if (const auto known = find_kind(pattern); known) {
    kind = *known;
  } else if (is_confirmed(pattern)) {
    kind = kinds_.size();
    kinds_.push_back({pattern, {}, 0, 0, 0, 0, 0});
  } else {
    return false;
  }
  begin(kind, window, *suspicion_, suspected_windows_);
  return true;
}

void PhaseFinder::suspect(const OnlineWindow& window, std::size_t windows, const TrafficPattern& pattern) {
  if (!suspicion_) {
    suspicion_ = window.begin;
    suspected_windows_ = 0;
    suspicions_ = 0;
    phases_.back().end = window.begin;
  }
  suspected_windows_ += windows;
  ++suspicions_;
  suspected_before_ = std::exchange(suspected_, pattern);
}

/// A new kind: the window before was like this one, or was the one in which the phase ended and this one began. Not new
/// is what lies between the phase and a known one, unless it lasts.
bool PhaseFinder::is_confirmed(const TrafficPattern& pattern) const {
  if (suspicions_ < 2) return false;
  const TrafficPattern& phase = kinds_[phases_.back().kind].pattern;
  // Shares of a mixture are between the shares of its parts, so in this distance it is on the straight way.
  const auto mixes = [&](const TrafficPattern& mixture, const TrafficPattern& other) {
    return distance(phase, mixture) + distance(mixture, other) <= distance(phase, other) + options_.between;
  };
  if (distance(suspected_before_, pattern) > options_.leave && !mixes(suspected_before_, pattern)) return false;
  if (suspicions_ > options_.mixed_windows) return true;
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    if (kind != phases_.back().kind && mixes(pattern, kinds_[kind].pattern)) return false;
  }
  return true;
}

void PhaseFinder::begin(std::size_t kind, const OnlineWindow& window, double since, std::size_t windows) {
  if (!phases_.empty()) {
    Kind& before = kinds_[phases_.back().kind];
    before.finished_seconds += phases_.back().end - phases_.back().begin;
    ++before.finished;
  }
  phases_.push_back({kind, since, window.end, windows, windows});
  ++kinds_[kind].times;
  suspicion_.reset();
  suspected_windows_ = 0;
  add(kind, window);
}

void PhaseFinder::add(std::size_t kind, const OnlineWindow& window) {
  Kind& to = kinds_[kind];
  if (to.windows == 0) {
    to.traffic = window.traffic;
  } else {
    to.traffic = joined({0, 0, to.traffic}, window).traffic;
  }
  to.seconds += window.seconds();
  ++to.windows;
  // The pattern of many windows hardly changes any more; powers of two are enough.
  if ((to.windows & (to.windows - 1)) == 0) to.pattern = TrafficPattern(to.traffic);
}

std::optional<std::size_t> PhaseFinder::find_kind(const TrafficPattern& pattern) const {
  std::optional<std::size_t> best;
  double least = options_.join;
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    const double far = distance(pattern, kinds_[kind].pattern);
    if (far > least || (best && far == least)) continue;
    least = far;
    best = kind;
  }
  return best;
}

double PhaseFinder::found_after_seconds() const {
  double seconds = 0, windows = 0, found = 0;
  for (const Kind& kind : kinds_) {
    seconds += kind.seconds;
    windows += static_cast<double>(kind.windows);
  }
  for (std::size_t i = 1; i < phases_.size(); ++i) found += static_cast<double>(phases_[i].found_after);
  const double usual = phases_.size() > 1 ? found / static_cast<double>(phases_.size() - 1) : 2;
  return windows > 0 ? usual * seconds / windows : 0;
}

double PhaseFinder::expected_rest() const {
  if (phases_.empty()) return 0;
  const OnlinePhase& now = phases_.back();
  const Kind& kind = kinds_[now.kind];
  const double elapsed = now.end - now.begin;
  if (kind.finished == 0) return elapsed;
  const double usual = kind.finished_seconds / static_cast<double>(kind.finished);
  return elapsed < usual ? usual - elapsed : elapsed;
}

}  // namespace rankloom
