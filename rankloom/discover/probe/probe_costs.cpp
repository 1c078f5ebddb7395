// SPDX-License-Identifier: Apache-2.0
// discover/probe: average costs of levels.
#include "rankloom/discover/probe/probe_costs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"

namespace rankloom {

namespace {

/// The mean without the tenth with the highest inverse bandwidth.
Cost average(std::vector<Cost> costs) {
  if (costs.empty()) return {};
  std::sort(costs.begin(), costs.end(),
            [](const Cost& a, const Cost& b) { return a.inverse_bandwidth < b.inverse_bandwidth; });
  costs.resize(costs.size() - costs.size() / 10);
  Cost mean;
  for (const Cost& cost : costs) {
    mean.inverse_bandwidth += cost.inverse_bandwidth / static_cast<double>(costs.size());
    mean.latency += cost.latency / static_cast<double>(costs.size());
  }
  return {round_to_four_digits(mean.inverse_bandwidth), round_to_four_digits(mean.latency)};
}

}  // namespace

double round_to_four_digits(double value) {
  return parse_number(fmt::format("{:.4g}", value)).value_or(value);
}

double reference_time(const Cost& cost) {
  constexpr double reference_bytes = 1 << 20;
  return cost.latency + reference_bytes * cost.inverse_bandwidth;
}

double largest_message(const ProbePair& pair) {
  double bytes = 0;
  for (const auto& time : pair.times) bytes = std::max(bytes, time.bytes);
  return bytes;
}

void LevelCosts::add(std::size_t level, const ProbePair& pair) {
  auto& [costs, largest] = (pair.alone ? alone_ : together_)[level];
  const double bytes = largest_message(pair);
  if (bytes < largest) return;
  if (bytes > largest) costs.clear();
  largest = bytes;
  costs.push_back(pair.alone ? fit_min_cost(pair.times) : fit_cost(pair.times));
}

const std::vector<Cost>& LevelCosts::chosen(std::size_t level) const {
  const bool use_together = alone_[level].costs.empty() || (options_.under_load && !together_[level].costs.empty());
  return use_together ? together_[level].costs : alone_[level].costs;
}

ProbeLevel LevelCosts::level(std::size_t number, std::string kind) const {
  return {.kind = std::move(kind),
          .cost = average(chosen(number)),
          .alone = average(alone_[number].costs),
          .together = average(together_[number].costs),
          .pairs_alone = alone_[number].costs.size(),
          .pairs_together = together_[number].costs.size()};
}

std::vector<double> LevelCosts::times(std::size_t level) const {
  std::vector<double> times;
  for (const Cost& cost : chosen(level)) times.push_back(reference_time(cost));
  return times;
}

}  // namespace rankloom
