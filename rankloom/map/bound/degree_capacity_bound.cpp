// SPDX-License-Identifier: Apache-2.0
// map/bound: how much traffic must leave shells with a limited number of slots.
#include "rankloom/map/bound/degree_capacity_bound.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <vector>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/reverse_adjacency.hpp"

namespace rankloom {
namespace {

/// One component of the traffic: bytes or messages, and its cost in a step.
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

/// The cost of all partners except the heaviest ones that fit inside. Replaces `row` by its suffix sums.
double cost_outside(std::vector<double>& row, std::span<const DistanceShell> shells, double PairCost::*step) {
  for (std::size_t at = row.size(); at-- > 1;) row[at - 1] += row[at];
  double cost = 0;
  for (const DistanceShell& shell : shells) {
    if (shell.slots <= row.size()) cost += shell.step.*step * row[shell.slots - 1];
  }
  return cost;
}

}  // namespace

double degree_capacity_bound(const CommGraph& graph, std::span<const DistanceShell> shells) {
  double cost = 0;
  for (const auto& component : components) {
    // Clang 14 does not capture structured bindings.
    const auto step = component.step;
    const auto messages = component.messages;
    if (std::none_of(shells.begin(), shells.end(), [&](const DistanceShell& shell) { return shell.step.*step > 0; }))
      continue;
    cost += parallel_sum<double>(graph.rank_count(), [&](std::size_t begin, std::size_t end) {
      std::vector<double> row;
      double sum = 0;
      for (std::size_t rank = begin; rank < end; ++rank) {
        heaviest_first(graph, Rank{static_cast<std::uint32_t>(rank)}, messages, row);
        sum += cost_outside(row, shells, step);
      }
      return sum;
    });
  }
  return cost;
}

double matching_bound(const CommGraph& graph, const DistanceShell& shell, std::uint64_t sweeps) {
  assert(graph.undirected() && shell.slots > 0);
  const CommGraph::Rows& rows = graph.rows();
  std::vector<double> half(rows.targets.size());  // half of the cost of each pair; 0 for traffic of a rank with itself
  for (const Rank rank : graph.ranks()) {
    for (EdgeIndex edge = rows.offsets[index(rank)]; edge < rows.offsets[index(rank) + 1]; ++edge) {
      const double messages = rows.messages.empty() ? graph.default_messages() : rows.messages[edge];
      if (rows.targets[edge] != rank)
        half[edge] = rows.bytes[edge] * shell.step.per_byte + messages * shell.step.per_message;
    }
  }
  // The dual: a rank v with price y_v pays it for each of its slots - 1 partners. Keeping a pair (u, v) saves at most
  // its cost minus y_u + y_v. So the cost that leaves is at least the sum of min(cost, y_u + y_v) over all pairs, minus
  // the prices of all slots. The best price of one rank, for given prices of the others, is the largest excess of a
  // partner that does not fit.
  IdVector<Rank, double> price(graph.rank_count(), 0.0);
  std::vector<double> excess;
  const auto best_price = [&](Rank rank, bool alone) {
    excess.clear();
    for (EdgeIndex edge = rows.offsets[index(rank)]; edge < rows.offsets[index(rank) + 1]; ++edge) {
      excess.push_back(alone ? half[edge] : 2 * half[edge] - price[rows.targets[edge]]);
    }
    if (excess.size() < shell.slots) return 0.0;
    const auto first_outside = excess.begin() + static_cast<std::ptrdiff_t>(shell.slots - 1);
    std::nth_element(excess.begin(), first_outside, excess.end(), std::greater<>());
    return std::max(0.0, *first_outside);
  };
  for (const Rank rank : graph.ranks()) price[rank] = best_price(rank, true);
  for (std::uint64_t sweep = 0; sweep < sweeps; ++sweep) {
    for (const Rank rank : graph.ranks()) price[rank] = best_price(rank, false);
  }
  double bound = 0;
  for (const Rank rank : graph.ranks()) {
    double row = 0;
    for (EdgeIndex edge = rows.offsets[index(rank)]; edge < rows.offsets[index(rank) + 1]; ++edge) {
      row += std::min(half[edge], (price[rank] + price[rows.targets[edge]]) / 2);
    }
    bound += row - static_cast<double>(shell.slots - 1) * price[rank];
  }
  return bound;
}

CommGraph symmetrise_traffic(const CommGraph& graph) {
  const ReverseAdjacency reverse_adjacency(graph);
  CommGraph::Rows rows;
  rows.undirected = true;
  rows.offsets.push_back(0);
  for (const Rank rank : graph.ranks()) {
    const auto targets = graph.targets(rank);
    const auto incoming = reverse_adjacency[rank];
    std::size_t out = 0, in = 0;
    while (out < targets.size() || in < incoming.size()) {
      const bool sends = in == incoming.size() || (out < targets.size() && targets[out] <= incoming[in].from);
      const bool receives = out == targets.size() || (in < incoming.size() && incoming[in].from <= targets[out]);
      const Rank other = sends ? targets[out] : incoming[in].from;
      double bytes = 0, messages = 0;
      if (sends) {
        bytes += graph.bytes(rank)[out];
        messages += graph.has_messages() ? graph.messages(rank)[out] : graph.default_messages();
        ++out;
      }
      if (receives) {
        bytes += incoming[in].bytes;
        messages += incoming[in].messages;
        ++in;
      }
      if (other == rank) continue;
      rows.targets.push_back(other);
      rows.bytes.push_back(bytes / 2);
      rows.messages.push_back(messages / 2);
    }
    rows.offsets.push_back(rows.targets.size());
  }
  return CommGraph(std::move(rows));
}

}  // namespace rankloom
