// SPDX-License-Identifier: Apache-2.0
// report/layout: the network between the nodes as a picture.
#include "rankloom/report/layout/network_layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/report/layout/grid.hpp"
#include "rankloom/report/layout/machine_layout.hpp"

namespace rankloom {

namespace {

using Stroke = NetworkLayout::Stroke;

constexpr double mesh_pitch = 2;    // between neighbours of a mesh
constexpr double node_pitch = 1.3;  // between the nodes of a switch
constexpr double label_height = 2.2;
constexpr double frame_margin = 1.4;

/// A point of a circle. Rounded, because sines differ in their last digits between machines.
std::pair<double, double> on_circle(double centre, double radius, double angle) {
  const auto rounded = [](double value) { return std::round(value * 64) / 64; };
  return {rounded(centre + radius * std::cos(angle)), rounded(centre + radius * std::sin(angle))};
}

std::vector<std::pair<double, double>> rectangle(double x, double y, double width, double height) {
  return {{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}};
}

class NetworkLayouter {
 public:
  explicit NetworkLayouter(const Network& network) : network_(network) {
    layout_.text = network_.text();
    layout_.nodes = network_.node_count();
    layout_.x.resize(network_.vertex_count());
    layout_.y.resize(network_.vertex_count());
    collect_cables();
  }

  NetworkLayout lay_out() {
    const NetworkShape& shape = network_.shape();
    if (const auto* mesh = std::get_if<MeshShape>(&shape)) {
      place_mesh(*mesh);
    } else if (const auto* fat = std::get_if<FatTreeShape>(&shape)) {
      place_fat_tree(*fat);
    } else if (const auto* fly = std::get_if<DragonflyShape>(&shape)) {
      place_dragonfly(*fly);
    } else {
      place_rows();
    }
    return std::move(layout_);
  }

 private:
  bool is_node(std::uint32_t vertex) const { return vertex < layout_.nodes; }

  /// All links between two vertices become one cable.
  void collect_cables() {
    struct End {
      std::uint32_t a, b, link;
    };
    const std::uint32_t links = network_.link_count();
    std::vector<End> ends;
    ends.reserve(links);
    layout_.forward.resize(links);
    layout_.cable_of.resize(links);
    for (std::uint32_t link = 0; link < links; ++link) {
      const auto [from, to] = network_.endpoints(Link{link});
      layout_.forward[link] = from < to;
      ends.push_back({std::min(index(from), index(to)), std::max(index(from), index(to)), link});
    }
    std::sort(ends.begin(), ends.end(),
              [](const End& p, const End& q) { return std::tie(p.a, p.b, p.link) < std::tie(q.a, q.b, q.link); });
    for (const End& end : ends) {
      if (layout_.cables.empty() || layout_.cables.back().a != end.a || layout_.cables.back().b != end.b)
        layout_.cables.push_back({end.a, end.b, 0});
      layout_.cable_of[end.link] = static_cast<std::uint32_t>(layout_.cables.size() - 1);
    }
  }

  // ----- mesh and torus: a plane of the last two dimensions in each frame

  /// In the order of the coordinates of a node: "node (2,0,5)" is at x = 2, y = 0, z = 5.
  static std::string dimension_name(std::size_t dimension, std::size_t dimensions) {
    constexpr const char* names[] = {"x", "y", "z"};
    return dimensions <= 3 ? names[dimension] : fmt::format("dimension {}", dimension + 1);
  }

  void place_mesh(const MeshShape& mesh) {
    const std::size_t dimensions = mesh.sizes.size();
    // A ring is folded into rows, every other one backwards.
    const bool ring = dimensions == 1;
    const std::uint32_t columns = ring ? std::min(mesh.sizes[0], ring_columns(mesh.sizes[0])) : mesh.sizes.back();
    const std::uint32_t rows = ring ? (mesh.sizes[0] + columns - 1) / columns : mesh.sizes[dimensions - 2];
    const std::uint32_t plane = columns * rows, planes = ring ? 1 : layout_.nodes / plane;
    const double head = planes > 1 ? label_height : 0;
    const double width = columns * mesh_pitch + 2 * frame_margin, height = rows * mesh_pitch + 2 * frame_margin + head;
    const BoxGrid grid = fitting_grid(planes, width, height * (1 / row_in_columns), 1.15);
    for (std::uint32_t at = 0; at < planes; ++at) {
      const std::uint32_t plane_column = at % grid.columns, plane_row = at / grid.columns;
      const double left = plane_column * (width + 1), top = plane_row * (height + 1);
      if (planes > 1)
        layout_.frames.push_back({plane_label(mesh, at), left + width / 2, top + label_height / 2 + 0.3,
                                  rectangle(left, top, width, height)});
      for (std::uint32_t inside = 0; inside < plane && at * plane + inside < layout_.nodes; ++inside) {
        const std::uint32_t row = inside / columns;
        std::uint32_t column = inside % columns;
        if (ring && row % 2 == 1) column = columns - 1 - column;
        layout_.x[at * plane + inside] = left + frame_margin + (column + 0.5) * mesh_pitch;
        layout_.y[at * plane + inside] = top + head + frame_margin + (row + 0.5) * mesh_pitch;
      }
    }
    layout_.width = std::min(planes, grid.columns) * (width + 1) - 1;
    layout_.height = grid.rows * (height + 1) - 1;
    for (std::size_t from_last = 0; from_last < dimensions; ++from_last) {
      const std::pair<double, double> way = stub_of(from_last);
      layout_.kinds.push_back(
          {ring ? "along the ring" : "along " + dimension_name(dimensions - 1 - from_last, dimensions), Stroke::axis, 0,
           way.first, way.second});
    }
    for (NetworkLayout::Cable& cable : layout_.cables) orient(cable, mesh);
    for (std::uint32_t link = 0; link < layout_.forward.size(); ++link)
      layout_.forward[link] = index(network_.endpoints(Link{link}).first) == layout_.cables[layout_.cable_of[link]].a;
  }

  static std::uint32_t ring_columns(std::uint32_t size) {
    return std::max(1U, static_cast<std::uint32_t>(std::ceil(std::sqrt(2.0 * size))));
  }

  /// Right, down, then diagonals that share no direction with each other.
  static std::pair<double, double> stub_of(std::size_t from_last) {
    constexpr std::pair<double, double> ways[] = {{0.8, 0}, {0, 0.8}, {0.75, -0.75}, {0.75, 0.75}};
    if (from_last < 4) return ways[from_last];
    const double slope = 1.0 / static_cast<double>(from_last);
    return {0.85, from_last % 2 == 0 ? -slope : slope};
  }

  static std::string plane_label(const MeshShape& mesh, std::uint32_t plane) {
    std::string label;
    const std::size_t outer = mesh.sizes.size() - 2;
    for (std::size_t at = outer; at-- > 0; plane /= mesh.sizes[at])
      label = fmt::format("{} = {}{}{}", dimension_name(at, mesh.sizes.size()), plane % mesh.sizes[at],
                          label.empty() ? "" : ", ", label);
    return label;
  }

  /// The kind of a cable is the dimension in which its ends differ; it leads from a coordinate to the next one.
  static void orient(NetworkLayout::Cable& cable, const MeshShape& mesh) {
    const std::vector<std::uint32_t> a = mesh.coordinates(Node{cable.a}), b = mesh.coordinates(Node{cable.b});
    for (std::size_t at = 0; at < a.size(); ++at) {
      if (a[at] == b[at]) continue;
      cable.kind = static_cast<std::uint32_t>(a.size() - 1 - at);
      if (b[at] != a[at] + 1) std::swap(cable.a, cable.b);
      return;
    }
  }

  // ----- switches in rows

  /// The width of the nodes below a switch.
  static double block_width(std::uint32_t nodes) { return std::max(1U, block_columns(nodes)) * node_pitch + 0.9; }
  static std::uint32_t block_columns(std::uint32_t nodes) {
    return static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(nodes))));
  }

  /// The nodes of a switch as a square below it.
  void place_block(std::span<const std::uint32_t> nodes, double centre, double top) {
    const auto count = static_cast<std::uint32_t>(nodes.size());
    const std::uint32_t columns = std::max(1U, block_columns(count));
    const double left = centre - (std::min(columns, count) - 1) * node_pitch / 2;
    for (std::uint32_t at = 0; at < count; ++at) {
      layout_.x[nodes[at]] = left + (at % columns) * node_pitch;
      const std::uint32_t row = at / columns;
      layout_.y[nodes[at]] = top + 1.9 + row * node_pitch;
    }
  }

  /// The distance of two rows of switches, for a picture that is about twice as wide as high.
  static double row_gap(double width, std::size_t rows) {
    return std::clamp(width / 2.3 / static_cast<double>(std::max<std::size_t>(1, rows)), 5.0, 400.0);
  }

  void finish_rows() {
    const double lowest = *std::max_element(layout_.y.begin(), layout_.y.end());
    layout_.height = lowest + 1.5;
  }

  void place_fat_tree(const FatTreeShape& tree) {
    const std::size_t levels = tree.children.size();  // of switches
    const std::uint32_t per_leaf = tree.children.back(), leaves = layout_.nodes / per_leaf;
    const double leaf_width = block_width(per_leaf);
    const double pod_gap = levels > 2 ? 1.2 : 0;
    const std::uint32_t pods = levels > 2 ? tree.children[0] : 1, leaves_per_pod = leaves / pods;
    layout_.width = leaves * leaf_width + pods * pod_gap;
    const double gap = row_gap(layout_.width, levels);
    const auto left_of = [&](std::uint32_t leaf) {
      const std::uint32_t pod = leaf / leaves_per_pod;
      return leaf * leaf_width + (pod + 0.5) * pod_gap;
    };
    const auto right_of = [&](std::uint32_t leaf) { return left_of(leaf) + leaf_width; };
    std::uint32_t vertex = layout_.nodes, subtree_nodes = 1, roots = 1;
    std::vector<std::uint32_t> first_of_level{0, vertex};
    for (std::size_t up = 1; up <= levels; ++up) {  // up: levels above the nodes
      subtree_nodes *= tree.children[levels - up];
      roots *= tree.parents[levels - up];
      const double y = label_height + static_cast<double>(levels - up) * gap;
      for (std::uint32_t subtree = 0; subtree < layout_.nodes / subtree_nodes; ++subtree) {
        const std::uint32_t first_leaf = subtree * (subtree_nodes / per_leaf);
        const double left = left_of(first_leaf), right = right_of(first_leaf + subtree_nodes / per_leaf - 1);
        for (std::uint32_t root = 0; root < roots; ++root, ++vertex) {
          layout_.x[vertex] = left + (right - left) * (root + 0.5) / roots;
          layout_.y[vertex] = y;
        }
      }
      first_of_level.push_back(vertex);
    }
    const double leaf_y = label_height + static_cast<double>(levels - 1) * gap;
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
      std::vector<std::uint32_t> nodes(per_leaf);
      for (std::uint32_t at = 0; at < per_leaf; ++at) nodes[at] = leaf * per_leaf + at;
      place_block(nodes, left_of(leaf) + leaf_width / 2, leaf_y);
    }
    finish_rows();
    if (levels > 2) {
      const double top = label_height + gap - 1.2;
      for (std::uint32_t pod = 0; pod < pods; ++pod) {
        const double left = left_of(pod * leaves_per_pod) - 0.3, right = right_of((pod + 1) * leaves_per_pod - 1) + 0.3;
        layout_.frames.push_back({fmt::format("pod {}", pod), (left + right) / 2, layout_.height + label_height / 2,
                                  rectangle(left, top, right - left, layout_.height - top)});
      }
      layout_.height += label_height;
    }
    layout_.frames.push_back({"top switches", layout_.width / 2, label_height / 2 - 0.4, {}});
    for (std::size_t up = 1; up <= levels; ++up)
      layout_.kinds.push_back({fmt::format("between {} and {}", tier_name(up - 1, levels), tier_name(up, levels)),
                               up == 1 && tree.parents.back() == 1 ? Stroke::node : Stroke::line});
    for (NetworkLayout::Cable& cable : layout_.cables) {
      const auto above = std::upper_bound(first_of_level.begin(), first_of_level.end(), cable.b);
      cable.kind = static_cast<std::uint32_t>(above - first_of_level.begin()) - 2;
    }
  }

  static std::string tier_name(std::size_t up, std::size_t levels) {
    if (up == 0) return "nodes";
    if (up == levels) return levels == 1 ? "the switch" : "top switches";
    if (up == 1) return "leaf switches";
    return levels == 3 ? "middle switches" : fmt::format("switches of level {}", up);
  }

  /// Trees and arbitrary graphs: the row of a switch is its distance from the farthest switch with nodes below it.
  void place_rows() {
    const std::uint32_t vertices = network_.vertex_count();
    std::vector<std::vector<std::uint32_t>> switches_at(vertices), nodes_at(vertices);
    std::vector<std::uint32_t> home(layout_.nodes, vertices);
    std::uint32_t node_cables = 0;
    std::vector<std::uint32_t> degree(layout_.nodes);
    for (const NetworkLayout::Cable& cable : layout_.cables) {
      if (is_node(cable.b)) {
        ++node_cables;
      } else if (is_node(cable.a)) {
        ++degree[cable.a];
        if (home[cable.a] == vertices) home[cable.a] = cable.b;
      } else {
        switches_at[cable.a].push_back(cable.b);
        switches_at[cable.b].push_back(cable.a);
      }
    }
    for (std::uint32_t node = 0; node < layout_.nodes; ++node)
      if (home[node] < vertices) nodes_at[home[node]].push_back(node);
    const bool single = std::all_of(degree.begin(), degree.end(), [](std::uint32_t cables) { return cables <= 1; });
    layout_.kinds = {{"between nodes and switches", single ? Stroke::node : Stroke::line},
                     {"between switches", Stroke::line},
                     {"between nodes", Stroke::curve, 0.2}};
    for (NetworkLayout::Cable& cable : layout_.cables) cable.kind = is_node(cable.b) ? 2 : is_node(cable.a) ? 0 : 1;
    if (node_cables > 0 || vertices == layout_.nodes) {
      place_circle();
      return;
    }
    const std::vector<std::uint32_t> row = rows_of_switches(switches_at, nodes_at);
    const std::uint32_t rows = 1 + *std::max_element(row.begin() + layout_.nodes, row.end());
    split_kinds(row, rows);
    place_switches(switches_at, nodes_at, row, rows);
  }

  /// By vertex: 0 for switches with nodes, otherwise the number of cables to the nearest of them. A tree has its root
  /// in the last row: its rows are the heights.
  std::vector<std::uint32_t> rows_of_switches(const std::vector<std::vector<std::uint32_t>>& switches_at,
                                              const std::vector<std::vector<std::uint32_t>>& nodes_at) const {
    std::vector<std::uint32_t> row(switches_at.size(), 0);
    if (const auto* tree = std::get_if<TreeShape>(&network_.shape())) {
      // Children before parents, whose numbers need not be larger.
      std::vector<std::uint32_t> children(row.size(), 0), ready;
      for (std::uint32_t vertex = layout_.nodes; vertex + 1 < row.size(); ++vertex)
        ++children[index(tree->parent[vertex])];
      for (std::uint32_t vertex = layout_.nodes; vertex < row.size(); ++vertex)
        if (children[vertex] == 0) ready.push_back(vertex);
      for (std::size_t at = 0; at < ready.size(); ++at) {
        const std::uint32_t parent = index(tree->parent[ready[at]]);
        if (parent == ready[at]) continue;  // the root
        row[parent] = std::max(row[parent], row[ready[at]] + 1);
        if (--children[parent] == 0) ready.push_back(parent);
      }
      return row;
    }
    std::vector<std::uint32_t> queue;
    std::vector<bool> seen(row.size(), false);
    for (std::uint32_t vertex = layout_.nodes; vertex < row.size(); ++vertex) {
      if (nodes_at[vertex].empty()) continue;
      seen[vertex] = true;
      queue.push_back(vertex);
    }
    for (std::size_t at = 0; at < queue.size(); ++at) {
      for (const std::uint32_t next : switches_at[queue[at]]) {
        if (seen[next]) continue;
        seen[next] = true;
        row[next] = row[queue[at]] + 1;
        queue.push_back(next);
      }
    }
    return row;
  }

  /// The cables between two rows of switches are one kind.
  void split_kinds(const std::vector<std::uint32_t>& row, std::uint32_t rows) {
    if (rows < 2) return;
    const std::size_t first = layout_.kinds.size();
    for (std::uint32_t at = 1; at < rows; ++at)
      layout_.kinds.push_back(
          {fmt::format("between {} and {}", tier_name(at, rows), tier_name(at + 1, rows)), Stroke::line});
    for (NetworkLayout::Cable& cable : layout_.cables) {
      if (cable.kind != 1) continue;
      const std::uint32_t low = std::min(row[cable.a], row[cable.b]), high = std::max(row[cable.a], row[cable.b]);
      if (low != high) cable.kind = static_cast<std::uint32_t>(first) + high - 1;
    }
  }

  /// Switches with nodes from left to right in the order of their first nodes, all others above the middle of the
  /// switches below them.
  void place_switches(const std::vector<std::vector<std::uint32_t>>& switches_at,
                      const std::vector<std::vector<std::uint32_t>>& nodes_at, const std::vector<std::uint32_t>& row,
                      std::uint32_t rows) {
    std::vector<std::vector<std::uint32_t>> in_row(rows);
    for (std::uint32_t vertex = layout_.nodes; vertex < row.size(); ++vertex) in_row[row[vertex]].push_back(vertex);
    std::vector<std::uint32_t> holders;
    for (std::uint32_t vertex = layout_.nodes; vertex < row.size(); ++vertex)
      if (!nodes_at[vertex].empty()) holders.push_back(vertex);
    std::sort(holders.begin(), holders.end(),
              [&](std::uint32_t p, std::uint32_t q) { return nodes_at[p].front() < nodes_at[q].front(); });
    double right = 0;
    for (const std::uint32_t vertex : holders) {
      const double width = block_width(static_cast<std::uint32_t>(nodes_at[vertex].size()));
      layout_.x[vertex] = right + width / 2;
      right += width;
    }
    for (const auto& switches : in_row) right = std::max(right, 2.0 * static_cast<double>(switches.size()));
    layout_.width = right;
    const double gap = row_gap(layout_.width, rows);
    for (std::uint32_t at = 0; at < rows; ++at) {
      std::vector<std::uint32_t>& switches = in_row[at];
      for (const std::uint32_t vertex : switches) {
        layout_.y[vertex] = label_height + (rows - 1 - at) * gap;
        if (!nodes_at[vertex].empty()) {
          place_block(nodes_at[vertex], layout_.x[vertex], layout_.y[vertex]);
          continue;
        }
        double sum = 0;
        std::uint32_t below = 0;
        for (const std::uint32_t other : switches_at[vertex]) {
          if (row[other] >= at) continue;
          sum += layout_.x[other];
          ++below;
        }
        layout_.x[vertex] = below > 0 ? sum / below : layout_.width / 2;
      }
      spread(switches, nodes_at);
    }
    finish_rows();
    layout_.frames.push_back({rows > 1 ? "top switches" : "switches", layout_.width / 2, label_height / 2 - 0.4, {}});
  }

  /// Switches without nodes that are too close to each other are distributed evenly over the whole width.
  void spread(std::vector<std::uint32_t>& switches, const std::vector<std::vector<std::uint32_t>>& nodes_at) {
    std::vector<std::uint32_t> free;
    for (const std::uint32_t vertex : switches)
      if (nodes_at[vertex].empty()) free.push_back(vertex);
    std::stable_sort(free.begin(), free.end(),
                     [&](std::uint32_t p, std::uint32_t q) { return layout_.x[p] < layout_.x[q]; });
    bool crowded = false;
    for (std::size_t at = 1; at < free.size(); ++at)
      crowded = crowded || layout_.x[free[at]] - layout_.x[free[at - 1]] < 1.9;
    if (!crowded) return;
    for (std::size_t at = 0; at < free.size(); ++at)
      layout_.x[free[at]] = layout_.width * (static_cast<double>(at) + 0.5) / static_cast<double>(free.size());
  }

  // ----- circles

  void place_circle() {
    const auto count = static_cast<double>(layout_.x.size());
    const double radius = std::max(2.0, 1.8 * count / (2 * std::numbers::pi));
    for (std::size_t vertex = 0; vertex < layout_.x.size(); ++vertex) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(vertex) / count - std::numbers::pi / 2;
      std::tie(layout_.x[vertex], layout_.y[vertex]) = on_circle(radius + 1.5, radius, angle);
    }
    layout_.width = layout_.height = 2 * radius + 3;
  }

  /// Routers on a circle, group by group, with their nodes outside.
  void place_dragonfly(const DragonflyShape& shape) {
    const std::uint32_t columns = std::max(1U, static_cast<std::uint32_t>(std::lround(std::sqrt(shape.nodes / 2.0))));
    const std::uint32_t deep = (shape.nodes + columns - 1) / columns;
    const double router_arc = std::max(2.2, columns * node_pitch + 0.5), group_gap = std::max(1.6, 0.5 * router_arc);
    const double around = shape.groups * (shape.routers * router_arc + group_gap);
    const double radius = std::max(5.0, around / (2 * std::numbers::pi));
    const double outer = radius + 1.6 + deep * node_pitch, centre = outer + 2 * label_height;
    const auto at = [&](double distance, double arc) {
      return on_circle(centre, distance, 2 * std::numbers::pi * arc / around - std::numbers::pi / 2);
    };
    for (std::uint32_t group = 0; group < shape.groups; ++group) {
      const double begin = group * (shape.routers * router_arc + group_gap), end = begin + shape.routers * router_arc;
      for (std::uint32_t router = 0; router < shape.routers; ++router) {
        const std::uint32_t number = group * shape.routers + router, vertex = layout_.nodes + number;
        const double middle = begin + (router + 0.5) * router_arc;
        std::tie(layout_.x[vertex], layout_.y[vertex]) = at(radius, middle);
        for (std::uint32_t node = 0; node < shape.nodes; ++node) {
          const std::uint32_t column = node % columns, layer = node / columns;
          const double distance = radius + 1.7 + layer * node_pitch;
          // The arc is measured on the circle of the routers.
          const double aside = (column - (columns - 1) / 2.0) * node_pitch * radius / distance;
          std::tie(layout_.x[number * shape.nodes + node], layout_.y[number * shape.nodes + node]) =
              at(distance, middle + aside);
        }
      }
      NetworkLayout::Frame frame{fmt::format("group {}", group), 0, 0, {}};
      std::tie(frame.x, frame.y) = at(outer + label_height / 2, (begin + end) / 2);
      constexpr int steps = 12;
      for (int step = 0; step <= steps; ++step)
        frame.points.push_back(at(radius - 1, begin + (end - begin) * step / steps));
      for (int step = steps; step >= 0; --step)
        frame.points.push_back(at(outer - 0.3, begin + (end - begin) * step / steps));
      layout_.frames.push_back(std::move(frame));
    }
    layout_.width = layout_.height = 2 * centre;
    layout_.kinds = {{"between nodes and routers", Stroke::node},
                     {"within groups", Stroke::curve, 0.3},
                     {"between groups", Stroke::curve, 0.18}};
    for (NetworkLayout::Cable& cable : layout_.cables) {
      const auto group_of = [&](std::uint32_t vertex) { return (vertex - layout_.nodes) / shape.routers; };
      cable.kind = is_node(cable.a) ? 0 : group_of(cable.a) == group_of(cable.b) ? 1 : 2;
    }
  }

  const Network& network_;
  NetworkLayout layout_;
};

}  // namespace

std::optional<NetworkLayout> lay_out_network(const Topology& topology, const NetworkLayoutOptions& options) {
  if (topology.is_matrix()) return std::nullopt;
  const Network& network = topology.network();
  if (network.node_count() < 2 || network.link_count() > options.max_links) return std::nullopt;
  const bool star = network.vertex_count() == network.node_count() + 1 && !graph_shape(network);
  if (star) return std::nullopt;
  return NetworkLayouter(network).lay_out();
}

std::string vertex_label(const Topology& topology, Vertex vertex) {
  const std::uint32_t nodes = topology.network().node_count();
  if (index(vertex) < nodes) return node_label(topology, Node{index(vertex)});
  // The last vertex of a tree of switches is its root.
  const bool tree = std::holds_alternative<TreeShape>(topology.network().shape());
  if (tree && index(vertex) + 1 == topology.network().vertex_count()) return "top switch";
  return fmt::format("switch {}", index(vertex) - nodes);
}

}  // namespace rankloom
