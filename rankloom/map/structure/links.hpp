// SPDX-License-Identifier: Apache-2.0
// map/structure: the rows of a graph or of an affinity, whichever is there.
#pragma once

#include <cstdint>
#include <span>

#include "rankloom/map/affinity.hpp"
#include "rankloom/model/comm_graph.hpp"

namespace rankloom {

inline std::uint32_t number(std::uint32_t element) {
  return element;
}
inline std::uint32_t number(Rank rank) {
  return index(rank);
}

/// Compressed rows of somebody else.
template <class Id>
struct Links {
  std::span<const EdgeIndex> offsets;
  std::span<const Id> ids;
  std::span<const double> bytes;

  std::uint32_t size() const { return static_cast<std::uint32_t>(offsets.size() - 1); }
  /// Calls found(neighbour, bytes) for everyone else that the element exchanges something with.
  template <class Found>
  void each(std::uint32_t element, const Found& found) const {
    for (EdgeIndex edge = offsets[element]; edge < offsets[element + 1]; ++edge) {
      const std::uint32_t neighbour = number(ids[edge]);
      if (neighbour != element && bytes[edge] > 0) found(neighbour, bytes[edge]);
    }
  }
};

inline Links<std::uint32_t> links_of(const Affinity& affinity) {
  return {affinity.offsets(), affinity.all_neighbours(), affinity.all_weights()};
}
inline Links<Rank> links_of(const CommGraph& graph) {
  return {graph.rows().offsets, graph.rows().targets, graph.rows().bytes};
}

/// About `count` elements spread over all of them, always the same ones.
template <class Body>
void for_some(std::uint32_t size, std::uint32_t count, const Body& body) {
  const std::uint32_t step = size > count ? size / count : 1;
  for (std::uint64_t at = 0; at < size; at += step) body(static_cast<std::uint32_t>(at));
}

}  // namespace rankloom
