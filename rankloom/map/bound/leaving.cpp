// SPDX-License-Identifier: Apache-2.0
// map/bound: how much traffic must leave groups of ranks.
#include "rankloom/map/bound/leaving.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <vector>

#include "rankloom/core/parallel.hpp"

namespace rankloom {
namespace {

/// One component of the traffic of a row and of the steps.
struct Component {
  double PairCost::*step;
  bool messages;
};
constexpr Component components[] = {{&PairCost::per_byte, false}, {&PairCost::per_message, true}};

void heaviest_first(const CommGraph& graph, Rank rank, bool messages, std::vector<double>& row) {
  row.clear();
  for (std::size_t edge = 0; edge < graph.degree(rank); ++edge) {
    if (graph.targets(rank)[edge] == rank) continue;
    row.push_back(!messages ? graph.bytes(rank)[edge]
                            : (graph.has_messages() ? graph.messages(rank)[edge] : graph.default_messages()));
  }
  std::sort(row.begin(), row.end(), std::greater<>());
}

/// What all partners but the heaviest ones cost. `row` becomes sums from each place to the end.
double beyond(std::vector<double>& row, std::span<const Shell> shells, double PairCost::*step) {
  for (std::size_t at = row.size(); at-- > 1;) row[at - 1] += row[at];
  double cost = 0;
  for (const Shell& shell : shells) {
    if (shell.places <= row.size()) cost += shell.step.*step * row[shell.places - 1];
  }
  return cost;
}

}  // namespace

double cost_beyond_shells(const CommGraph& graph, std::span<const Shell> shells) {
  double cost = 0;
  for (const auto& [step, messages] : components) {
    if (std::none_of(shells.begin(), shells.end(), [&](const Shell& shell) { return shell.step.*step > 0; })) continue;
    cost += parallel_sum<double>(graph.rank_count(), [&](std::size_t begin, std::size_t end) {
      std::vector<double> row;
      double sum = 0;
      for (std::size_t rank = begin; rank < end; ++rank) {
        heaviest_first(graph, Rank{static_cast<std::uint32_t>(rank)}, messages, row);
        sum += beyond(row, shells, step);
      }
      return sum;
    });
  }
  return cost;
}

double cost_beyond(const CommGraph& graph, const Shell& shell, std::uint64_t sweeps) {
  assert(graph.undirected() && shell.places > 0);
  const CommGraph::Rows& rows = graph.rows();
  std::vector<double> half(rows.targets.size());  // of each pair's cost; nothing for oneself
  for (const Rank rank : graph.ranks()) {
    for (EdgeIndex edge = rows.offsets[index(rank)]; edge < rows.offsets[index(rank) + 1]; ++edge) {
      const double messages = rows.messages.empty() ? graph.default_messages() : rows.messages[edge];
      if (rows.targets[edge] != rank)
        half[edge] = rows.bytes[edge] * shell.step.per_byte + messages * shell.step.per_message;
    }
  }
  // A rank with price y pays it for each of its places - 1 rooms; a pair u, v is kept at the most for what its cost
  // exceeds y_u + y_v. So at least the sum of min(cost, y_u + y_v), less the price of all rooms, leaves. For one rank
  // alone the best price is the largest excess that finds no room.
  IdVector<Rank, double> price(graph.rank_count(), 0.0);
  std::vector<double> excess;
  const auto best_price = [&](Rank rank, bool alone) {
    excess.clear();
    for (EdgeIndex edge = rows.offsets[index(rank)]; edge < rows.offsets[index(rank) + 1]; ++edge) {
      excess.push_back(alone ? half[edge] : 2 * half[edge] - price[rows.targets[edge]]);
    }
    if (excess.size() < shell.places) return 0.0;
    const auto first_outside = excess.begin() + static_cast<std::ptrdiff_t>(shell.places - 1);
    std::nth_element(excess.begin(), first_outside, excess.end(), std::greater<>());
    return std::max(0.0, *first_outside);
  };
  for (const Rank rank : graph.ranks()) price[rank] = best_price(rank, true);
  for (std::uint64_t sweep = 0; sweep < sweeps; ++sweep) {
    for (const Rank rank : graph.ranks()) price[rank] = best_price(rank, false);
  }
  double leaves = 0;
  for (const Rank rank : graph.ranks()) {
    double row = 0;
    for (EdgeIndex edge = rows.offsets[index(rank)]; edge < rows.offsets[index(rank) + 1]; ++edge) {
      row += std::min(half[edge], (price[rank] + price[rows.targets[edge]]) / 2);
    }
    leaves += row - static_cast<double>(shell.places - 1) * price[rank];
  }
  return leaves;
}

}  // namespace rankloom
