// SPDX-License-Identifier: Apache-2.0
// map/machine: a machine without the leaves that no rank may use, so that mappers see a machine whose leaves are slots.
#pragma once

#include <optional>
#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// Distances between the remaining leaves are those of the whole machine.
struct UsableMachine {
  Topology topology;
  Capacities capacities;
  std::vector<Core> original;  ///< The leaf of the whole machine, by leaf of this one.

  std::vector<Core> to_original(std::span<const Core> core_of) const;
  /// Every core must be usable.
  std::vector<Core> from_original(std::span<const Core> core_of) const;
};

/// Nothing if all leaves may be used, if ranks have to share slots (the quality of their traffic depends on the
/// smallest cost of the whole machine), if the start uses other leaves, or if the machine is a matrix. In a routed
/// network, a node without usable leaves keeps one with capacity 0. O(leaves).
std::optional<UsableMachine> usable_machine(const MapProblem& problem);

}  // namespace rankloom
