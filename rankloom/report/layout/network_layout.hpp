// SPDX-License-Identifier: Apache-2.0
// report/layout: the network between the nodes as a picture. Tori are framed planes, trees and fat trees rows of
// switches, dragonflies a circle of groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// Coordinates are in sides of the square of a node; vertices are given by their centres.
struct NetworkLayout {
  /// How cables of one kind are drawn.
  enum class Stroke : std::uint8_t {
    line,  ///< Straight; as an arc between two switches of one row.
    axis,  ///< A link of a mesh: straight between neighbours in the picture, else as a stub at both ends.
    node,  ///< The only cable of a node: the square of the node has its colour.
    curve  ///< Bent towards the centre of the picture.
  };
  struct CableKind {
    std::string label;  ///< "between groups"
    Stroke stroke = Stroke::line;
    double bend = 0;        ///< Of a curve, in lengths of the cable.
    double dx = 0, dy = 0;  ///< Of an axis: the direction of its stubs, in sides of a node.
  };
  /// The links between two vertices. On an axis, `a` precedes `b`.
  struct Cable {
    std::uint32_t a = 0, b = 0;
    std::uint32_t kind = 0;
  };
  /// A plane, pod or group with its label; without points, a label alone.
  struct Frame {
    std::string label;
    double x = 0, y = 0;                            ///< Of the centre of the label.
    std::vector<std::pair<double, double>> points;  ///< Of the outline.
  };

  std::string text;  ///< "torus:8x8x8"
  double width = 0, height = 0;
  std::uint32_t nodes = 0;   ///< Vertices 0..nodes-1 are nodes, all others switches.
  std::vector<double> x, y;  ///< By vertex.
  std::vector<Frame> frames;
  std::vector<CableKind> kinds;
  std::vector<Cable> cables;            ///< By pair of vertices.
  std::vector<std::uint32_t> cable_of;  ///< By link.
  std::vector<bool> forward;            ///< By link: whether it leads from `a` to `b`.
};

struct NetworkLayoutOptions {
  std::uint32_t max_links = 200'000;  ///< A network with more links is not laid out.
};

/// Nothing if the network has at most one switch and no other links, or too many links. O(links log links).
std::optional<NetworkLayout> lay_out_network(const Topology& topology, const NetworkLayoutOptions& options = {});

/// "node3 (1,0)", "switch 7", "top switch"
std::string vertex_label(const Topology& topology, Vertex vertex);

}  // namespace rankloom
