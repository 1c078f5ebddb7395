// SPDX-License-Identifier: Apache-2.0
// allocate/routing: the route footprint of meshes and tori under dimension-order routing.
//
// A route corrects one dimension after another. While it corrects dimension j, the coordinates before j are those of
// the target, and the coordinates after j are those of the source. In dimension j, the routes of a set of nodes
// therefore use the rows that combine the low coordinates of some target with the high coordinates of some source,
// between the positions that target and source have in j.
#include <algorithm>
#include <variant>

#include "rankloom/allocate/routing/route_footprint.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

namespace {

struct MeshDimension {
  std::uint32_t size, stride, cables, first_link;
};

class MeshFootprint final : public RouteFootprint {
 public:
  MeshFootprint(const Network& network, Exclusive exclusive) : RouteFootprint(network, exclusive) {
    const auto& shape = std::get<MeshShape>(network.shape());
    torus_ = shape.torus;
    std::uint32_t stride = 1, links = 0;
    for (auto size = shape.sizes.rbegin(); size != shape.sizes.rend(); ++size) {
      if (*size == 1) continue;
      const std::uint32_t cables = torus_ && *size > 2 ? *size : *size - 1;
      dimensions_.push_back({*size, stride, cables, links});
      links += 2 * (network.node_count() / *size) * cables;
      stride *= *size;
    }
  }

  void add_resources(std::span<const Node> nodes, Bitset& shared_resources) const override {
    if (nodes.size() < 2) return;
    for (const MeshDimension& dimension : dimensions_) add_dimension(dimension, nodes, shared_resources);
  }

 private:
  /// Positions in one dimension of the nodes with equal other coordinates: the outermost two and, on a torus, all of
  /// them.
  struct Positions {
    std::uint32_t key, first, last;
    Bitset all;
  };

  template <class Key>
  std::vector<Positions> collect(std::span<const Node> nodes, const MeshDimension& dimension, std::uint32_t keys,
                                 const Key& key_of) const {
    std::vector<Positions> result;
    std::vector<std::uint32_t> entry_of(keys, 0);  // 1 + index in result
    for (const Node node : nodes) {
      const std::uint32_t key = key_of(index(node)), at = index(node) / dimension.stride % dimension.size;
      if (entry_of[key] == 0) {
        result.push_back({key, at, at, torus_ ? Bitset(dimension.size) : Bitset()});
        entry_of[key] = static_cast<std::uint32_t>(result.size());
      }
      Positions& positions = result[entry_of[key] - 1];
      positions.first = std::min(positions.first, at);
      positions.last = std::max(positions.last, at);
      if (torus_) positions.all.set(at);
    }
    return result;
  }

  void add_dimension(const MeshDimension& dimension, std::span<const Node> nodes, Bitset& shared_resources) const {
    const std::uint32_t block = dimension.stride * dimension.size;
    const auto targets =
        collect(nodes, dimension, dimension.stride, [&](std::uint32_t node) { return node % dimension.stride; });
    const auto sources =
        collect(nodes, dimension, network().node_count() / block, [&](std::uint32_t node) { return node / block; });
    const Positions *last_from = nullptr, *last_to = nullptr;
    RingUse use;
    for (const Positions& to : targets) {
      for (const Positions& from : sources) {
        if (!torus_) {
          add_row(dimension, from, to, shared_resources);
          continue;
        }
        // All rings of a box are used alike.
        if (last_from == nullptr || !(last_from->all == from.all && last_to->all == to.all))
          use = ring_use(dimension.size, from.all, to.all);
        last_from = &from, last_to = &to;
        add_ring(dimension, from, to, use, shared_resources);
      }
    }
  }

  /// Every source of the row sends to every target, so the routes use everything between the outermost positions.
  void add_row(const MeshDimension& dimension, const Positions& from, const Positions& to,
               Bitset& shared_resources) const {
    if (exclusive() == Exclusive::routers) {
      for (std::uint32_t at = std::min(from.first, to.first); at <= std::max(from.last, to.last); ++at)
        shared_resources.set(vertex(dimension, from.key, to.key, at));
      return;
    }
    for (std::uint32_t at = from.first; at < to.last; ++at)
      shared_resources.set(link(dimension, from.key, to.key, at, true));
    for (std::uint32_t at = to.first; at < from.last; ++at)
      shared_resources.set(link(dimension, from.key, to.key, at, false));
  }

  /// What the messages of one ring use.
  struct RingUse {
    std::vector<std::uint32_t> routers;                // their positions
    std::vector<std::uint32_t> ascending, descending;  // the cables in each direction
  };

  /// On a ring each pair uses the shorter direction; with equal lengths, the ascending one. From each source, the
  /// farthest target in each direction decides.
  static RingUse ring_use(std::uint32_t size, const Bitset& from, const Bitset& to) {
    std::vector<bool> routers(size), ascending(size), descending(size);
    from.for_each([&](std::uint32_t start) {
      std::uint32_t up = 0, down = 0;
      to.for_each([&](std::uint32_t end) {
        const std::uint32_t distance = end >= start ? end - start : end + size - start;
        const bool is_ascending = size == 2 ? end >= start : distance <= size - distance;
        is_ascending ? up = std::max(up, distance) : down = std::max(down, size - distance);
      });
      for (std::uint32_t step = 0; step <= up; ++step) routers[(start + step) % size] = true;
      for (std::uint32_t step = 0; step < up; ++step) ascending[(start + step) % size] = true;
      for (std::uint32_t step = 1; step <= down; ++step)
        routers[(start + size - step) % size] = descending[(start + size - step) % size] = true;
    });
    RingUse use;
    for (std::uint32_t at = 0; at < size; ++at) {
      if (routers[at]) use.routers.push_back(at);
      if (ascending[at]) use.ascending.push_back(at);
      if (descending[at]) use.descending.push_back(at);
    }
    return use;
  }

  void add_ring(const MeshDimension& dimension, const Positions& from, const Positions& to, const RingUse& use,
                Bitset& shared_resources) const {
    if (exclusive() == Exclusive::routers) {
      for (const std::uint32_t at : use.routers) shared_resources.set(vertex(dimension, from.key, to.key, at));
      return;
    }
    for (const std::uint32_t at : use.ascending) shared_resources.set(link(dimension, from.key, to.key, at, true));
    for (const std::uint32_t at : use.descending) shared_resources.set(link(dimension, from.key, to.key, at, false));
  }

  static std::uint32_t vertex(const MeshDimension& dimension, std::uint32_t high, std::uint32_t low, std::uint32_t at) {
    return (high * dimension.size + at) * dimension.stride + low;
  }
  /// The link of the cable that starts at this position, with the number that the network gives it.
  static std::uint32_t link(const MeshDimension& dimension, std::uint32_t high, std::uint32_t low, std::uint32_t cable,
                            bool ascending) {
    return dimension.first_link + 2 * ((high * dimension.cables + cable) * dimension.stride + low) +
           (ascending ? 0 : 1);
  }

  std::vector<MeshDimension> dimensions_;  // in routing order
  bool torus_ = false;
};

}  // namespace

std::unique_ptr<RouteFootprint> make_mesh_footprint(const Network& network, Exclusive exclusive) {
  return std::make_unique<MeshFootprint>(network, exclusive);
}

}  // namespace rankloom
