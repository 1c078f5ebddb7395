// SPDX-License-Identifier: Apache-2.0
// report/document: traffic small enough to be shown: as it is, or with neighbouring ranks taken together.
#pragma once

#include <cstdint>
#include <span>

#include "rankloom/report/document/document.hpp"

namespace rankloom {

struct ShownLimits {
  std::uint32_t ranks = 16'384;
  std::uint64_t pairs = 1'500'000;
  std::uint32_t blocks = 1'024;  ///< What is too large becomes so many blocks at most.
};

/// How many ranks stand together so that it can be shown; 1: each by itself.
std::uint32_t block_size(const CommGraph& graph, const ShownLimits& limits = {});

/// With a block above 1, places b·block .. b·block + block - 1 of the order become one; an empty order is that of the
/// ranks' numbers. O(edges + blocks²).
ShownTraffic in_blocks(const CommGraph& graph, std::span<const std::uint32_t> order, std::uint32_t block);

/// Rows of ranks as rows of blocks. Where nodes are smaller than blocks there is nothing to see of them.
HeatOrder in_blocks(HeatOrder order, std::uint32_t block);

}  // namespace rankloom
