// SPDX-License-Identifier: Apache-2.0
// map/multilevel/network: the distances between the parts of a network.
#include "rankloom/map/multilevel/network/block_distances.hpp"

namespace rankloom::multilevel {

BlockDistances::BlockDistances(const Distance& distance, std::span<const MachineTree::Part> blocks, double inside)
    : distance_(&distance), inside_(inside) {
  constexpr std::size_t max_blocks_in_table = 1024;
  for (const MachineTree::Part& block : blocks) first_core_.push_back(Core{block.begin});
  if (blocks.size() > max_blocks_in_table) return;
  table_.reserve(blocks.size() * blocks.size());
  for (std::uint32_t p = 0; p < count(); ++p) {
    for (std::uint32_t q = 0; q < count(); ++q) table_.push_back(static_cast<float>(compute(p, q)));
  }
}

double BlockDistances::compute(std::uint32_t p, std::uint32_t q) const {
  if (p == q) return 0;
  return std::visit([&](const auto& d) { return d(first_core_[p], first_core_[q]).per_byte; }, *distance_) - inside_;
}

}  // namespace rankloom::multilevel
