// SPDX-License-Identifier: Apache-2.0
// evaluate: finds the fastest of several variants of a program with few runs.
#include "rankloom/evaluate/successive_halving.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <utility>

#include "rankloom/evaluate/statistics.hpp"

namespace rankloom {

SuccessiveHalving::SuccessiveHalving(std::size_t candidates, const Options& options)
    : options_(options),
      remaining_(candidates),
      seconds_(candidates),
      runs_(std::min(options.first_runs, options.max_runs)) {
  std::iota(remaining_.begin(), remaining_.end(), 0);
  if (candidates > 1) plan_stage();
}

std::optional<std::size_t> SuccessiveHalving::next() const {
  if (planned_.empty() || elapsed_ + longest_ >= options_.max_seconds) return std::nullopt;
  return planned_.back();
}

void SuccessiveHalving::add(double seconds, double elapsed_seconds) {
  seconds_[take_next(elapsed_seconds)].push_back(seconds);
  end_stage();
}

void SuccessiveHalving::drop(double elapsed_seconds) {
  const std::size_t candidate = take_next(elapsed_seconds);
  std::erase(remaining_, candidate);
  std::erase(planned_, candidate);
  if (remaining_.size() <= 1) planned_.clear();
  end_stage();
}

std::size_t SuccessiveHalving::take_next(double elapsed_seconds) {
  assert(next());
  elapsed_ += elapsed_seconds;
  longest_ = std::max(longest_, elapsed_seconds);
  const std::size_t candidate = planned_.back();
  planned_.pop_back();
  return candidate;
}

void SuccessiveHalving::plan_stage() {
  for (std::size_t runs = seconds_[remaining_.front()].size(); runs < runs_; ++runs) {
    for (const std::size_t position : run_order(rounds_++, remaining_.size())) planned_.push_back(remaining_[position]);
  }
  std::reverse(planned_.begin(), planned_.end());
}

void SuccessiveHalving::end_stage() {
  while (planned_.empty() && remaining_.size() > 1) {
    std::sort(remaining_.begin(), remaining_.end(), [this](std::size_t a, std::size_t b) { return is_faster(a, b); });
    remaining_.resize((remaining_.size() + 1) / 2);
    runs_ = std::min(2 * runs_, options_.max_runs);
    if (remaining_.size() > 1) plan_stage();
  }
}

bool SuccessiveHalving::is_faster(std::size_t a, std::size_t b) const {
  const auto time = [this](std::size_t candidate) {
    const std::vector<double>& seconds = seconds_[candidate];
    return seconds.empty() ? std::numeric_limits<double>::infinity() : median(seconds);
  };
  return std::pair(time(a), a) < std::pair(time(b), b);
}

std::optional<std::size_t> SuccessiveHalving::fastest() const {
  const auto found = std::min_element(remaining_.begin(), remaining_.end(),
                                      [this](std::size_t a, std::size_t b) { return is_faster(a, b); });
  return found == remaining_.end() ? std::nullopt : std::optional(*found);
}

std::size_t SuccessiveHalving::planned_runs(std::size_t candidates, Options options) {
  options.max_seconds = Options().max_seconds;
  SuccessiveHalving halving(candidates, options);
  std::size_t runs = 0;
  for (; halving.next(); ++runs) halving.add(1, 0);
  return runs;
}

}  // namespace rankloom
