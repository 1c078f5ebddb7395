// SPDX-License-Identifier: Apache-2.0
// place/online: when a program begins to talk otherwise.
#include "rankloom/place/online/phase_finder.hpp"

#include <algorithm>

namespace rankloom {

namespace {

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
  // Silence says nothing of the phase, but time passes.
  if (!phases_.empty() && !suspicion_) phases_.back().end = window.end;
  if (window.traffic.edge_count() == 0) {
    if (suspicion_) ++suspected_windows_;
    return false;
  }
  OnlineWindow all = thin_ ? joined(*thin_, window) : window;
  const std::size_t windows = thin_windows_ + 1;
  if (all.traffic.has_messages() && all.traffic.total_messages() < options_.messages * all.traffic.rank_count()) {
    thin_ = std::move(all);
    thin_windows_ = windows;
    return false;
  }
  thin_.reset();
  thin_windows_ = 0;
  return take_whole(all, windows);
}

bool PhaseFinder::take_whole(const OnlineWindow& window, std::size_t windows) {
  const TrafficPattern pattern(window.traffic);
  if (pattern.empty()) return false;
  if (phases_.empty()) {
    kinds_.push_back({pattern, {}, 0, 0, 0, 0});
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
  const auto known = find_kind(pattern);
  if (!suspicion_) {
    suspicion_ = window.begin;
    suspected_windows_ = 0;
    suspicions_ = 0;
    now.end = window.begin;
  }
  suspected_windows_ += windows;
  if (!known && ++suspicions_ < 2) return false;
  std::size_t kind = 0;
  if (known) {
    kind = *known;
  } else {
    kind = kinds_.size();
    kinds_.push_back({pattern, {}, 0, 0, 0, 0});
  }
  begin(kind, window, *suspicion_, suspected_windows_);
  return true;
}

void PhaseFinder::begin(std::size_t kind, const OnlineWindow& window, double since, std::size_t windows) {
  if (!phases_.empty()) {
    Kind& before = kinds_[phases_.back().kind];
    before.finished_seconds += phases_.back().end - phases_.back().begin;
    ++before.finished;
  }
  phases_.push_back({kind, since, window.end, windows, windows});
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
