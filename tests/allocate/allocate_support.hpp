// SPDX-License-Identifier: Apache-2.0
// tests: machines and node sets for the tests of the allocator.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "rankloom/allocate/routing/allocation_machine.hpp"
#include "rankloom/core/random.hpp"
#include "tests/support/instances.hpp"

namespace rankloom::testing {

/// The machine of a topology string, or one of two arbitrary graphs by name.
inline AllocationMachine allocation_machine(const std::string& text, Exclusive exclusive) {
  if (text == "graph") return {ring_with_chord(false), exclusive};
  if (text == "graph with tables") return {ring_with_chord(true), exclusive};
  return {topology(text), exclusive};
}

inline std::vector<std::string> networks_of_every_kind() {
  return {"core:4",
          "node:5 core:1",
          "mesh:7 core:1",
          "mesh:4x5 core:1",
          "mesh:3x4x5 core:1",
          "mesh:2x3x1x4 core:1",
          "mesh:3x70 core:1",
          "torus:6x5 core:1",
          "torus:2x4x3 core:1",
          "torus:2x70 core:1",
          "torus:8 core:1",
          "tree:3,2,4 core:1",
          "tree:16,4 core:1",
          "switch:2 node:3+5 core:2",
          "fattree:k=4 core:1",
          "fattree:2,3,4/2,2,1 core:1",
          "fattree:3,4/2,1 core:1",
          "fattree:2,2,3/3,2,2 core:1",
          "dragonfly:4,3,2 core:1",
          "graph",
          "graph with tables"};
}

/// Distinct nodes in ascending order.
inline std::vector<Node> random_nodes(Random& random, std::uint32_t of, std::uint64_t count) {
  std::vector<Node> all(of);
  for (std::uint32_t i = 0; i < of; ++i) all[i] = Node{i};
  random.shuffle(std::span(all));
  all.resize(count);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace rankloom::testing
