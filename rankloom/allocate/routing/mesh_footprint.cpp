// SPDX-License-Identifier: Apache-2.0
// allocate: f_rule of meshes and tori under dimension-order routing.
//
// A route corrects one dimension after another: when it is about dimension j, the digits before j are those of its
// target, those behind j still those of its source. So the routes of a set pass, in dimension j, the rows that join a
// "before" of some target with a "behind" of some source, between the positions that these have in j.
#include <algorithm>
#include <variant>

#include "rankloom/allocate/routing/route_footprint.hpp"

namespace rankloom {

namespace {

struct MeshDimension {
  std::uint32_t size, stride, cables, first_link;
};

class MeshRule final : public RoutingRule {
 public:
  MeshRule(const Network& network, Exclusive exclusive) : RoutingRule(network, exclusive) {
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

  void add_passages(std::span<const Node> nodes, Bits& passages) const override {
    if (nodes.size() < 2) return;
    for (const MeshDimension& dimension : dimensions_) add_dimension(dimension, nodes, passages);
  }

 private:
  /// Positions in one dimension, for each value of the other digits that occurs: the outermost, and on a ring all.
  struct Positions {
    std::uint32_t key, first, last;
    Bits all;
  };

  template <class Key>
  std::vector<Positions> collect(std::span<const Node> nodes, const MeshDimension& dimension, std::uint32_t keys,
                                 const Key& key_of) const {
    std::vector<Positions> result;
    std::vector<std::uint32_t> place(keys, 0);
    for (const Node node : nodes) {
      const std::uint32_t key = key_of(index(node)), at = index(node) / dimension.stride % dimension.size;
      if (place[key] == 0) {
        result.push_back({key, at, at, torus_ ? Bits(dimension.size) : Bits()});
        place[key] = static_cast<std::uint32_t>(result.size());
      }
      Positions& positions = result[place[key] - 1];
      positions.first = std::min(positions.first, at);
      positions.last = std::max(positions.last, at);
      if (torus_) positions.all.set(at);
    }
    return result;
  }

  void add_dimension(const MeshDimension& dimension, std::span<const Node> nodes, Bits& passages) const {
    const std::uint32_t block = dimension.stride * dimension.size;
    const auto targets =
        collect(nodes, dimension, dimension.stride, [&](std::uint32_t node) { return node % dimension.stride; });
    const auto sources =
        collect(nodes, dimension, network().node_count() / block, [&](std::uint32_t node) { return node / block; });
    for (const Positions& to : targets) {
      for (const Positions& from : sources) {
        if (torus_) {
          add_ring(dimension, from, to, passages);
        } else {
          add_row(dimension, from, to, passages);
        }
      }
    }
  }

  /// Every source of the row sends to every target: between the outermost of them all is passed.
  void add_row(const MeshDimension& dimension, const Positions& from, const Positions& to, Bits& passages) const {
    if (exclusive() == Exclusive::routers) {
      for (std::uint32_t at = std::min(from.first, to.first); at <= std::max(from.last, to.last); ++at)
        passages.set(vertex(dimension, from.key, to.key, at));
      return;
    }
    for (std::uint32_t at = from.first; at < to.last; ++at) passages.set(link(dimension, from.key, to.key, at, true));
    for (std::uint32_t at = to.first; at < from.last; ++at) passages.set(link(dimension, from.key, to.key, at, false));
  }

  /// On a ring the way of each pair is the shorter one, the rising one at half way.
  void add_ring(const MeshDimension& dimension, const Positions& from, const Positions& to, Bits& passages) const {
    const std::uint32_t high = from.key, low = to.key;
    from.all.each([&](std::uint32_t start) {
      to.all.each([&](std::uint32_t end) {
        const std::uint32_t size = dimension.size;
        const std::uint32_t up = end >= start ? end - start : end + size - start;
        const bool rises = size == 2 ? end >= start : up <= size - up;
        std::uint32_t at = start;
        if (exclusive() == Exclusive::routers) passages.set(vertex(dimension, high, low, at));
        while (at != end) {
          const std::uint32_t next = rises ? (at + 1) % size : (at + size - 1) % size;
          const std::uint32_t passed = exclusive() == Exclusive::routers
                                           ? vertex(dimension, high, low, next)
                                           : link(dimension, high, low, rises ? at : next, rises);
          passages.set(passed);
          at = next;
        }
      });
    });
  }

  static std::uint32_t vertex(const MeshDimension& dimension, std::uint32_t high, std::uint32_t low, std::uint32_t at) {
    return (high * dimension.size + at) * dimension.stride + low;
  }
  /// The link over the cable that begins at this position; numbered as the network does.
  static std::uint32_t link(const MeshDimension& dimension, std::uint32_t high, std::uint32_t low, std::uint32_t cable,
                            bool rises) {
    return dimension.first_link + 2 * ((high * dimension.cables + cable) * dimension.stride + low) + (rises ? 0 : 1);
  }

  std::vector<MeshDimension> dimensions_;  // in the order of routing
  bool torus_ = false;
};

}  // namespace

std::unique_ptr<RoutingRule> make_mesh_rule(const Network& network, Exclusive exclusive) {
  return std::make_unique<MeshRule>(network, exclusive);
}

}  // namespace rankloom
