// SPDX-License-Identifier: Apache-2.0
// model/cost: the traffic of every rank with each of its neighbours, in both directions.
#include "rankloom/model/cost/neighbourhoods.hpp"

namespace rankloom {

Neighbourhoods::Neighbourhoods(const CommGraph& graph) : self_(graph.rank_count()) {
  const std::size_t n = graph.rank_count();
  // Reverses the edges by counting sort, then merges the outgoing and incoming list of each rank; both are sorted.
  std::vector<EdgeIndex> in_offsets(n + 1, 0);
  for (const Rank r : graph.ranks()) {
    for (const Rank t : graph.targets(r)) ++in_offsets[index(t) + 1];
  }
  for (std::size_t r = 0; r < n; ++r) in_offsets[r + 1] += in_offsets[r];
  struct Incoming {
    Rank from;
    double bytes, messages;
  };
  std::vector<Incoming> incoming(graph.edge_count());
  std::vector<EdgeIndex> next(in_offsets.begin(), in_offsets.end() - 1);
  for (const Rank r : graph.ranks()) {
    for (std::size_t e = 0; e < graph.degree(r); ++e) {
      incoming[next[index(graph.targets(r)[e])]++] = {r, graph.bytes(r)[e], graph.messages(r, e)};
    }
  }
  offsets_.reserve(n + 1);
  offsets_.push_back(0);
  for (const Rank r : graph.ranks()) {
    const auto out = graph.targets(r);
    std::size_t o = 0;
    EdgeIndex i = in_offsets[index(r)];
    const EdgeIndex end = in_offsets[index(r) + 1];
    while (o < out.size() || i < end) {
      const Rank other = i == end || (o < out.size() && out[o] < incoming[i].from) ? out[o] : incoming[i].from;
      Flow flow;
      if (o < out.size() && out[o] == other) {
        flow.bytes_out = graph.bytes(r)[o];
        flow.messages_out = graph.messages(r, o++);
      }
      if (i < end && incoming[i].from == other) {
        flow.bytes_in = incoming[i].bytes;
        flow.messages_in = incoming[i++].messages;
      }
      if (other == r) {
        self_[r] = {flow.bytes_out, 0, flow.messages_out, 0};
        continue;
      }
      others_.push_back(other);
      flows_.push_back(flow);
    }
    offsets_.push_back(others_.size());
  }
}

}  // namespace rankloom
