// SPDX-License-Identifier: Apache-2.0
// model/cost: the traffic of every rank with each of its neighbours, in both directions.
#pragma once

#include <span>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

/// Traffic between a rank and one neighbour, outgoing and incoming.
struct Flow {
  double bytes_out = 0, bytes_in = 0;
  double messages_out = 0, messages_in = 0;
};

/// For every rank, its neighbours in either direction in ascending order, and its traffic with itself.
class Neighbourhoods {
 public:
  explicit Neighbourhoods(const CommGraph& graph);

  std::span<const Rank> others(Rank r) const {
    return {others_.data() + offsets_[index(r)], offsets_[index(r) + 1] - offsets_[index(r)]};
  }
  std::span<const Flow> flows(Rank r) const {
    return {flows_.data() + offsets_[index(r)], offsets_[index(r) + 1] - offsets_[index(r)]};
  }
  const Flow& self(Rank r) const { return self_[r]; }

 private:
  std::vector<std::size_t> offsets_;
  std::vector<Rank> others_;
  std::vector<Flow> flows_;
  IdVector<Rank, Flow> self_;
};

}  // namespace rankloom
