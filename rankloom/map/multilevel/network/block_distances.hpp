// SPDX-License-Identifier: Apache-2.0
// map/multilevel/network: the distances between the parts of a network.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/machine/machine_tree.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom::multilevel {

/// What a byte between two blocks costs more than a byte inside one block. A block is a part of the machine, such as a
/// node. Up to 1,024 blocks in a table of 4 bytes per pair; more are computed from the network each time.
class BlockDistances {
 public:
  /// `distance` must outlive this object.
  BlockDistances(const Distance& distance, std::span<const MachineTree::Part> blocks, double inside);

  std::uint32_t count() const { return static_cast<std::uint32_t>(first_core_.size()); }
  double operator()(std::uint32_t p, std::uint32_t q) const {
    return table_.empty() ? compute(p, q) : double{table_[std::size_t{p} * first_core_.size() + q]};
  }

 private:
  double compute(std::uint32_t p, std::uint32_t q) const;

  const Distance* distance_;
  std::vector<Core> first_core_;  // by block
  double inside_;
  std::vector<float> table_;
};

}  // namespace rankloom::multilevel
