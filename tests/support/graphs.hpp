// SPDX-License-Identifier: Apache-2.0
// tests/support: small graphs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom::testing {

struct PairTraffic {
  std::uint32_t from, to;
  double bytes, messages;
};

inline CommGraph graph_of_messages(std::uint32_t ranks, std::initializer_list<PairTraffic> pairs) {
  CommGraphBuilder builder(ranks);
  for (const auto& [from, to, bytes, messages] : pairs) builder.add(Rank{from}, Rank{to}, bytes, messages);
  return std::move(builder).build(true);
}

}  // namespace rankloom::testing
