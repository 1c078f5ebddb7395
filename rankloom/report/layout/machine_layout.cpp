// SPDX-License-Identifier: Apache-2.0
// report/layout: a machine as boxes inside boxes: nodes in what they stand in, and what is around that.
#include "rankloom/report/layout/machine_layout.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "rankloom/model/network/networks.hpp"
#include "rankloom/report/allocation_picture.hpp"
#include "rankloom/report/layout/grid.hpp"
#include "rankloom/report/layout/node_templates.hpp"

namespace rankloom {

namespace {

class MachineLayouter {
 public:
  MachineLayouter(const Topology& topology, const MachineLayoutOptions& options)
      : topology_(topology), options_(options), levels_(topology.levels()) {}

  MachineLayout lay_out() {
    layout_.cores = topology_.core_count();
    describe_levels();
    if (topology_.node_count() <= options_.most_nodes) {
      NodeTemplates inside = node_templates(topology_);
      layout_.templates = std::move(inside.templates);
      inside_ = std::move(inside.of_node);
    } else {
      layout_.note = fmt::format("{} nodes are too many to draw each", topology_.node_count());
    }
    if (topology_.routed()) {
      if (!inside_.empty()) place_network();
    } else {
      place_levels();
    }
    return std::move(layout_);
  }

 private:
  struct Size {
    double width = 0, height = 0;
  };

  void describe_levels() {
    for (std::size_t at = 0; at < levels_.size(); ++at) {
      const Topology::Level& level = levels_[at];
      MachineLayout::Level row{level.kind, level_label(topology_, at), level.objects};
      if (level.cost) {
        row.gap = level.cost->gap;
        row.latency = level.cost->latency;
        row.has_cost = true;
      }
      layout_.levels.push_back(std::move(row));
    }
  }

  std::uint32_t first_core(std::size_t level, std::uint32_t object) const {
    return rankloom::first_core(topology_, level, object);
  }
  std::uint32_t end_core(std::size_t level, std::uint32_t object) const {
    return rankloom::end_core(topology_, level, object);
  }
  // ----- nodes in a hierarchy

  void place_levels() {
    const std::size_t node_level = topology_.node_level();
    std::size_t top = 0;
    while (top < node_level && levels_[top].is_private()) ++top;
    std::size_t lowest = node_level;
    while (inside_.empty() && lowest > top && levels_[lowest].objects > options_.most_nodes) --lowest;
    if (inside_.empty() && levels_[lowest].objects > options_.most_nodes) return;
    const Size size = add_objects(top, 0, static_cast<std::uint32_t>(levels_[top].objects), -1, 0, 0, lowest);
    layout_.width = size.width;
    layout_.height = size.height;
  }

  Size add_objects(std::size_t level, std::uint32_t begin, std::uint32_t end, std::int32_t parent, double x, double y,
                   std::size_t lowest) {
    Flow flow(x, y, parent < 0 ? options_.most_columns : 0);
    bool known = false;
    for (std::uint32_t object = begin; object < end; ++object) {
      const auto at = layout_.boxes.size();
      const Size size = add_object(level, object, parent, lowest);
      if (!known && flow.most_width == 0)
        flow.columns = fitting_grid(end - begin, size.width, size.height, 1.6).columns;
      known = true;
      const auto [left, top] = flow.next(size.width, size.height);
      for (std::size_t inside = at; inside < layout_.boxes.size(); ++inside) {
        layout_.boxes[inside].x += left;
        layout_.boxes[inside].y += top;
      }
    }
    return {flow.width() - x, flow.height() - y};
  }

  /// The box of an object with everything in it, its corner at 0, 0.
  Size add_object(std::size_t level, std::uint32_t object, std::int32_t parent, std::size_t lowest) {
    const auto at = layout_.boxes.size();
    const std::uint32_t first = first_core(level, object), end = end_core(level, object);
    const bool is_node = level == topology_.node_level();
    MachineBox box{parent, levels_[level].kind, fmt::format("{} {}", levels_[level].kind, object), 0, 0, 0, 0,
                   first,  end - first};
    Size size;
    if (is_node) box.label = node_label(topology_, Node{object});
    if (is_node && !inside_.empty()) {
      box.inside = inside_[object];
      const MachineTemplate& inside = layout_.templates[static_cast<std::size_t>(box.inside)];
      size = {inside.width, inside.height};
    } else if (level >= lowest) {
      box.label += fmt::format(": {} cores", end - first);
      size = {static_cast<double>(box.label.size()) + 4, 3};
    }
    layout_.boxes.push_back(box);
    if (size.width == 0) {
      std::size_t next = level + 1;
      while (next < lowest && levels_[next].is_private()) ++next;
      const std::uint32_t begin = topology_.object_of(next, Core{first});
      const std::uint32_t after = topology_.object_of(next, Core{end - 1}) + 1;
      const Size inner = add_objects(next, begin, after, static_cast<std::int32_t>(at), box_frame, box_frame, lowest);
      size = {inner.width + 2 * box_frame, inner.height + 2 * box_frame};
    }
    layout_.boxes[at].width = size.width;
    layout_.boxes[at].height = size.height;
    return size;
  }

  // ----- nodes in a network

  MachineBox node_box(Node node, std::int32_t parent, double x, double y) const {
    const std::size_t level = topology_.node_level();
    const std::int32_t inside = inside_[index(node)];
    const MachineTemplate& shape = layout_.templates[static_cast<std::size_t>(inside)];
    const std::uint32_t first = first_core(level, index(node));
    return {parent,
            levels_[level].kind,
            node_label(topology_, node),
            x,
            y,
            shape.width,
            shape.height,
            first,
            end_core(level, index(node)) - first,
            inside};
  }

  void place_network() {
    const std::vector<PicturePanel> panels = rankloom::lay_out(topology_);
    const bool mesh = std::holds_alternative<MeshShape>(topology_.network().shape());
    const double gap_x = mesh ? 3 : 1, gap_y = mesh ? 1 : 0;
    double widest = 0, highest = 0;
    for (const MachineTemplate& shape : layout_.templates) {
      widest = std::max(widest, shape.width);
      highest = std::max(highest, shape.height);
    }
    std::vector<std::uint32_t> box_of(topology_.node_count());
    Flow flow(0, 0, options_.most_columns);
    for (std::size_t at = 0; at < panels.size(); ++at) {
      const PicturePanel& panel = panels[at];
      std::size_t columns = 1;
      for (const auto& row : panel.rows) columns = std::max(columns, row.nodes.size());
      const bool framed = !panel.title.empty();
      const double edge = framed ? box_frame : 0;
      const double width = static_cast<double>(columns) * (widest + gap_x) - gap_x + 2 * edge;
      const double height = static_cast<double>(panel.rows.size()) * (highest + gap_y) - gap_y + 2 * edge;
      if (at == 0 && flow.most_width == 0)
        flow.columns = fitting_grid(static_cast<std::uint32_t>(panels.size()), width, height, 1.6).columns;
      const auto [left, top] = flow.next(width, height);
      std::int32_t parent = -1;
      if (framed) {
        parent = static_cast<std::int32_t>(layout_.boxes.size());
        const std::uint32_t first = first_core(topology_.node_level(), index(panel.rows.front().nodes.front()));
        const std::uint32_t end = end_core(topology_.node_level(), index(panel.rows.back().nodes.back()));
        layout_.boxes.push_back({-1, "group", panel.title, left, top, width, height, first, end - first});
      }
      double y = top + edge;
      for (const auto& row : panel.rows) {
        double x = left + edge;
        for (const Node node : row.nodes) {
          box_of[index(node)] = static_cast<std::uint32_t>(layout_.boxes.size());
          layout_.boxes.push_back(node_box(node, parent, x, y));
          x += widest + gap_x;
        }
        y += highest + gap_y;
      }
    }
    layout_.width = flow.width();
    layout_.height = flow.height();
    add_wires(box_of);
  }

  void add_wires(const std::vector<std::uint32_t>& box_of) {
    const Network& network = topology_.network();
    if (network.link_count() > 2 * options_.most_wires) return;
    for (std::uint32_t link = 0; link < network.link_count(); ++link) {
      const auto [from, to] = network.ends(Link{link});
      if (index(from) >= box_of.size() || index(to) >= box_of.size()) continue;
      const auto ends = std::minmax(box_of[index(from)], box_of[index(to)]);
      layout_.wires.emplace_back(ends.first, ends.second);
    }
    std::sort(layout_.wires.begin(), layout_.wires.end());
    layout_.wires.erase(std::unique(layout_.wires.begin(), layout_.wires.end()), layout_.wires.end());
  }

  const Topology& topology_;
  const MachineLayoutOptions& options_;
  std::span<const Topology::Level> levels_;
  MachineLayout layout_;
  std::vector<std::int32_t> inside_;  // by node; empty: nodes are not drawn
};

}  // namespace

MachineLayout lay_out_machine(const Topology& topology, const MachineLayoutOptions& options) {
  if (topology.is_matrix()) {
    MachineLayout layout;
    layout.cores = topology.core_count();
    layout.note = "a table of distances has no parts to draw";
    return layout;
  }
  return MachineLayouter(topology, options).lay_out();
}

std::string node_label(const Topology& topology, Node node) {
  std::string label = topology.node_name(node);
  const auto* mesh = std::get_if<MeshShape>(&topology.network().shape());
  if (!topology.routed() || mesh == nullptr || mesh->sizes.size() < 2) return label;
  std::string place;
  std::uint32_t rest = index(node);
  for (std::size_t i = mesh->sizes.size(); i-- > 0; rest /= mesh->sizes[i])
    place = fmt::format("{}{}{}", rest % mesh->sizes[i], place.empty() ? "" : ",", place);
  return fmt::format("{} ({})", label, place);
}

std::string level_label(const Topology& topology, std::size_t level) {
  const std::string& kind = topology.levels()[level].kind;
  const bool hisses = kind.ends_with("s") || kind.ends_with("x") || kind.ends_with("ch") || kind.ends_with("sh");
  std::string label = fmt::format("between {}{}", kind, hisses ? "es" : "s");
  std::size_t above = level;  // the next level in which there is a choice
  while (above > 0 && topology.levels()[above - 1].is_private()) --above;
  if (above > 0) label += fmt::format(" of a {}", topology.levels()[above - 1].kind);
  return label;
}

}  // namespace rankloom
