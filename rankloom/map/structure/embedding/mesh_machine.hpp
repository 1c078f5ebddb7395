// SPDX-License-Identifier: Apache-2.0
// map/structure/embedding: a mesh or torus of equal nodes as a sequence of levels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rankloom/map/mapper.hpp"
#include "rankloom/map/structure/embedding/machine_level.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

/// The machine from the innermost level outward; all nodes alike.
class MeshMachine {
 public:
  /// Nothing if the nodes are not a mesh or torus, or differ in their slots.
  static std::optional<MeshMachine> of(const MapProblem& problem);

  std::span<const MachineLevel> levels() const { return levels_; }
  std::uint64_t slots() const { return std::uint64_t{nodes_} * slots_.size(); }
  /// The core at these positions, one per level.
  Core core(std::span<const std::uint32_t> position) const;

 private:
  MeshMachine(const MapProblem& problem, const MeshShape& mesh, std::uint32_t cores);

  std::uint32_t cores_, nodes_;
  std::vector<std::uint32_t> slots_;  // the cores of a node, each as often as its capacity
  std::vector<MachineLevel> levels_;
};

}  // namespace rankloom
