// SPDX-License-Identifier: Apache-2.0
// model/graph: the messages of a program divided into rounds (iterations). A profile does not contain the order of
// messages; the synthetic traces of simulations and the prediction by flows assume the same one.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

/// Estimates the number of rounds of a run: the largest number N such that the pairs with at least N messages carry
/// 95 % of the bytes. In one round most of these pairs exchange one message or a few. 1 without messages between ranks.
double estimate_rounds(const CommGraph& graph);

/// The messages of a pair; at least one if messages were not recorded.
inline double messages_of_pair(const CommGraph& graph, Rank rank, std::size_t edge) {
  return graph.has_messages() ? graph.messages(rank)[edge] : 1.0;
}

/// How many of `total` messages belong to a round if they are distributed evenly, beginning with the first round.
std::uint64_t count_in_round(double total, double rounds, std::uint32_t round);

/// Messages between two ranks in one step.
struct StepMessage {
  Rank from{}, to{};
  double bytes = 0;  ///< Of all of them.
  double count = 1;
};

/// A step of a round: every rank posts its messages of the step and waits for all of them.
using ExchangeStep = std::vector<StepMessage>;

/// The steps of one round. Pairs with several messages in the round exchange one of them per step. Beyond `max_steps`,
/// a step has several messages of a pair. O(edges + messages).
std::vector<ExchangeStep> exchange_steps(const CommGraph& graph, double rounds, std::uint32_t round,
                                         std::size_t max_steps);

}  // namespace rankloom
