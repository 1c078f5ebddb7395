// SPDX-License-Identifier: Apache-2.0
// map/structure/recognition: one interface to the rows of a communication graph and of an affinity matrix.
#pragma once

#include <cstdint>
#include <span>

#include "rankloom/map/affinity.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

inline std::uint32_t number(std::uint32_t element) {
  return element;
}
inline std::uint32_t number(Rank rank) {
  return index(rank);
}

/// A view of compressed sparse rows that belong to another object.
template <class Id>
struct AdjacencyView {
  std::span<const EdgeIndex> offsets;
  std::span<const Id> ids;
  std::span<const double> bytes;

  std::uint32_t size() const { return static_cast<std::uint32_t>(offsets.size() - 1); }
  /// Calls visit(neighbour, bytes) for every other element with which this one exchanges bytes.
  template <class Visit>
  void each(std::uint32_t element, const Visit& visit) const {
    for (EdgeIndex edge = offsets[element]; edge < offsets[element + 1]; ++edge) {
      const std::uint32_t neighbour = number(ids[edge]);
      if (neighbour != element && bytes[edge] > 0) visit(neighbour, bytes[edge]);
    }
  }
};

inline AdjacencyView<std::uint32_t> adjacency_of(const Affinity& affinity) {
  return {affinity.offsets(), affinity.all_neighbours(), affinity.all_weights()};
}
inline AdjacencyView<Rank> adjacency_of(const CommGraph& graph) {
  return {graph.rows().offsets, graph.rows().targets, graph.rows().bytes};
}

/// Calls body(element) for about `count` elements, evenly spread; always the same ones.
template <class Body>
void for_sample(std::uint32_t size, std::uint32_t count, const Body& body) {
  const std::uint32_t stride = size > count ? size / count : 1;
  for (std::uint64_t at = 0; at < size; at += stride) body(static_cast<std::uint32_t>(at));
}

}  // namespace rankloom
