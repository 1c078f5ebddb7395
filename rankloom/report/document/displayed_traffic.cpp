// SPDX-License-Identifier: Apache-2.0
// report/document: traffic reduced to a size that can be shown.
#include "rankloom/report/document/displayed_traffic.hpp"

#include <numeric>

namespace rankloom {

namespace {

std::uint32_t blocks_of(std::size_t ranks, std::uint32_t block) {
  return static_cast<std::uint32_t>((ranks + block - 1) / block);
}

}  // namespace

std::uint32_t block_size(const CommGraph& graph, const DisplayLimits& limits) {
  if (graph.rank_count() <= limits.ranks && graph.edge_count() <= limits.pairs) return 1;
  return std::max(2U, blocks_of(graph.rank_count(), limits.blocks));
}

DisplayedTraffic in_blocks(const CommGraph& graph, std::span<const std::uint32_t> order, std::uint32_t block) {
  const std::uint32_t ranks = graph.rank_count(), blocks = blocks_of(ranks, block);
  std::vector<std::uint32_t> block_of(ranks);
  for (std::uint32_t place = 0; place < ranks; ++place) block_of[order.empty() ? place : order[place]] = place / block;
  // There are few blocks, hence few pairs of blocks.
  std::vector<double> bytes(std::size_t{blocks} * blocks, 0.0), messages(bytes.size(), 0.0);
  for (const Rank from : graph.ranks()) {
    const std::size_t row = std::size_t{block_of[index(from)]} * blocks;
    for (std::size_t edge = 0; edge < graph.degree(from); ++edge) {
      const std::size_t cell = row + block_of[index(graph.targets(from)[edge])];
      bytes[cell] += graph.bytes(from)[edge];
      messages[cell] += graph.messages(from, edge);
    }
  }
  CommGraphBuilder builder(blocks);
  for (std::uint32_t from = 0; from < blocks; ++from) {
    for (std::uint32_t to = 0; to < blocks; ++to) {
      const std::size_t cell = std::size_t{from} * blocks + to;
      if (bytes[cell] > 0 || messages[cell] > 0) builder.add(Rank{from}, Rank{to}, bytes[cell], messages[cell]);
    }
  }
  return {std::move(builder).build(true), block, ranks};
}

HeatOrder in_blocks(HeatOrder order, std::uint32_t block) {
  const std::uint32_t blocks = blocks_of(order.ranks.size(), block);
  HeatOrder result;
  result.id = order.id;
  result.ranks.resize(blocks);
  std::iota(result.ranks.begin(), result.ranks.end(), 0U);
  if (order.borders.size() * 2 > blocks) return result;
  for (std::size_t i = 0; i < order.borders.size(); ++i) {
    result.borders.push_back(order.borders[i] / block);
    result.nodes.push_back(order.nodes[i]);
  }
  return result;
}

}  // namespace rankloom
