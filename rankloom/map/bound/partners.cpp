// SPDX-License-Identifier: Apache-2.0
// map/bound: the traffic of each rank with each partner.
#include "rankloom/map/bound/partners.hpp"

#include "rankloom/map/senders.hpp"

namespace rankloom {

CommGraph halved_between_partners(const CommGraph& graph) {
  const Senders senders(graph);
  CommGraph::Rows rows;
  rows.undirected = true;
  rows.offsets.push_back(0);
  for (const Rank rank : graph.ranks()) {
    const auto targets = graph.targets(rank);
    const auto incoming = senders[rank];
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
