// SPDX-License-Identifier: Apache-2.0
// model/graph: the messages of a program divided into rounds.
#include "rankloom/model/graph/exchange_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace rankloom {

double estimate_rounds(const CommGraph& graph) {
  std::vector<std::pair<double, double>> pairs;  // messages, bytes
  double total = 0;
  for (const Rank from : graph.ranks()) {
    for (std::size_t edge = 0; edge < graph.degree(from); ++edge) {
      if (graph.targets(from)[edge] == from) continue;
      pairs.emplace_back(messages_of_pair(graph, from, edge), graph.bytes(from)[edge]);
      total += graph.bytes(from)[edge];
    }
  }
  if (pairs.empty()) return 1;
  std::sort(pairs.begin(), pairs.end(), std::greater<>());
  constexpr double significant_share = 0.95;
  double sum_of_bytes = 0;
  for (const auto& [messages, bytes] : pairs) {
    sum_of_bytes += bytes;
    if (sum_of_bytes >= significant_share * total) return std::max(messages, 1.0);
  }
  return std::max(pairs.back().first, 1.0);
}

std::uint64_t count_in_round(double total, double rounds, std::uint32_t round) {
  const auto until = [&](double end) { return std::ceil(end * total / rounds - 1e-9); };
  constexpr double max_count = 1e15;  // is exact, and fits into an integer
  return static_cast<std::uint64_t>(std::clamp(until(round + 1.0) - until(round), 0.0, max_count));
}

std::vector<ExchangeStep> exchange_steps(const CommGraph& graph, double rounds, std::uint32_t round,
                                         std::size_t max_steps) {
  struct Pair {
    StepMessage one;  // message
    std::uint64_t count;
  };
  std::vector<Pair> pairs;
  std::uint64_t turns = 0;
  for (const Rank from : graph.ranks()) {
    for (std::size_t edge = 0; edge < graph.degree(from); ++edge) {
      const Rank to = graph.targets(from)[edge];
      const double recorded = messages_of_pair(graph, from, edge);
      if (to == from || recorded <= 0) continue;
      const double messages = std::max(recorded, 1.0);
      const std::uint64_t count = count_in_round(messages, rounds, round);
      if (count == 0) continue;
      pairs.push_back({{from, to, graph.bytes(from)[edge] / messages, 1}, count});
      turns = std::max(turns, count);
    }
  }
  const std::uint64_t steps = std::min<std::uint64_t>(turns, max_steps);
  // The first turn of each step. Most pairs have few messages: the first steps are single turns, later ones grow.
  std::vector<std::uint64_t> first{0};
  for (std::uint64_t step = 1; step <= steps; ++step) {
    const std::uint64_t steps_left = steps - step, turns_left = turns - first.back();
    const double growth = std::pow(static_cast<double>(turns_left), 1.0 / static_cast<double>(steps_left + 1));
    const auto length = turns_left <= steps_left + 1 ? 1 : static_cast<std::uint64_t>(growth + 1e-9);
    first.push_back(steps_left == 0 ? turns
                                    : std::min(first.back() + std::max<std::uint64_t>(1, length), turns - steps_left));
  }
  std::vector<ExchangeStep> result(steps);
  for (const auto& [one, count] : pairs) {
    for (std::uint64_t step = 0; step < steps && first[step] < count; ++step) {
      const auto here = static_cast<double>(std::min(count, first[step + 1]) - first[step]);
      result[step].push_back({one.from, one.to, one.bytes * here, here});
    }
  }
  return result;
}

}  // namespace rankloom
