// SPDX-License-Identifier: Apache-2.0
// report/document: traffic reduced to a size that can be shown: unchanged, or with consecutive ranks combined.
#pragma once

#include <cstdint>
#include <span>

#include "rankloom/report/document/document.hpp"

namespace rankloom {

struct DisplayLimits {
  std::uint32_t ranks = 16'384;
  std::uint64_t pairs = 1'500'000;
  std::uint32_t blocks = 1'024;  ///< A larger graph is reduced to at most this many blocks.
};

/// The number of ranks per block that is needed to show the graph; 1: no blocks.
std::uint32_t block_size(const CommGraph& graph, const DisplayLimits& limits = {});

/// With block > 1, positions b·block .. b·block + block - 1 of the order become one vertex; an empty order means
/// numerical order. O(edges + blocks²).
DisplayedTraffic in_blocks(const CommGraph& graph, std::span<const std::uint32_t> order, std::uint32_t block);

/// Rows of ranks as rows of blocks. Nodes that are smaller than a block are not shown.
HeatOrder in_blocks(HeatOrder order, std::uint32_t block);

}  // namespace rankloom
