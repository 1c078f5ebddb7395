// SPDX-License-Identifier: Apache-2.0
// report/layout: a machine as nested boxes.
#include "rankloom/report/layout/machine_layout.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/model/machine/topology.hpp"
#include "rankloom/report/drawing/allocation_map.hpp"
#include "rankloom/report/layout/grid.hpp"

namespace rankloom {

namespace {

/// The margin between a box and its contents, in rows and columns.
inline constexpr double box_frame = 1;

/// If nodes with different names of devices need more templates, the names are omitted.
inline constexpr std::size_t max_templates_with_names = 32;
/// Longer names of devices are shown by tooltips only.
inline constexpr std::size_t max_device_label = 16;

struct NodeTemplates {
  std::vector<MachineTemplate> templates;
  std::vector<std::int32_t> of_node;  ///< By node.
};

/// The cores of an object: [first_core, end_core).
inline std::uint32_t first_core(const Topology& topology, std::size_t level, std::uint32_t object) {
  return index(topology.first_core(level, object));
}
inline std::uint32_t end_core(const Topology& topology, std::size_t level, std::uint32_t object) {
  return object + 1 < topology.levels()[level].objects ? first_core(topology, level, object + 1)
                                                       : topology.core_count();
}

class TemplateMaker {
 public:
  TemplateMaker(const Topology& topology, bool device_names)
      : topology_(topology), levels_(topology.levels()), device_names_(device_names) {
    // The box of a core shows a rank number; with more ranks than cores it may need one more digit than core numbers.
    chip_ = static_cast<double>(std::max<std::size_t>(3, std::to_string(topology.core_count() - 1).size() + 1));
  }

  NodeTemplates make() const {
    NodeTemplates made;
    std::map<std::string, std::int32_t> known;
    const std::size_t level = topology_.node_level();
    for (const Node node : topology_.nodes()) {
      const auto [entry, fresh] = known.try_emplace(shape_of(level, index(node)) + text_of_devices(parts_of(node)),
                                                    static_cast<std::int32_t>(made.templates.size()));
      if (fresh) made.templates.push_back(make_template(node));
      made.of_node.push_back(entry->second);
    }
    return made;
  }

 private:
  struct Size {
    double width = 0, height = 0;
  };
  struct NodeParts {
    std::uint32_t first_core = 0;
    std::span<const Topology::Device> devices;  // by the first core near them
  };

  NodeParts parts_of(Node node) const {
    const std::span<const Topology::Device> all = topology_.devices();
    const auto begin = std::partition_point(all.begin(), all.end(), [&](const auto& one) { return one.node < node; });
    const auto end = std::partition_point(begin, all.end(), [&](const auto& one) { return one.node == node; });
    return {first_core(topology_.node_level(), index(node)), {begin, end}};
  }

  MachineTemplate make_template(Node node) const {
    MachineTemplate made;
    const Size size = add_inside(made, topology_.node_level(), index(node), box_frame, box_frame, parts_of(node));
    made.width = std::max(size.width + 2 * box_frame, 12.0);  // minimum width for the name of a node
    made.height = size.height + 2 * box_frame;
    return made;
  }

  /// Adds the inside of an object at a position and returns its size.
  Size add_inside(MachineTemplate& made, std::size_t level, std::uint32_t object, double x, double y,
                  const NodeParts& node) const {
    std::vector<MachineBox>& boxes = made.boxes;
    const std::uint32_t offset = node.first_core;
    const std::uint32_t begin = first_core(level, object), end = end_core(level, object);
    const std::size_t next = level + 1 < levels_.size() ? below(level) : levels_.size() - 1;
    if (next + 1 >= levels_.size()) {
      const BoxGrid grid = fitting_grid(end - begin, chip_, 1, 2.2);
      for (std::uint32_t core = begin; core < end; ++core) {
        const std::uint32_t at = core - begin, line = at / grid.columns;
        boxes.push_back({-1, levels_.back().kind, fmt::format("{} {}", levels_.back().kind, core - offset),
                         x + chip_ * (at % grid.columns), y + line, chip_, 1, core - offset, 1});
      }
      const Size cores{chip_ * grid.columns, static_cast<double>(grid.rows)};
      const auto inside = [](const Topology::Device&) { return true; };
      return add_devices(made, node, begin, end, x, y, cores, inside);
    }
    // Children in a grid; the height of a row is the height of its highest child.
    std::vector<std::uint32_t> children;
    for (std::uint32_t core = begin; core < end;) {
      children.push_back(topology_.object_of(next, Core{core}));
      core = end_core(next, children.back());
    }
    Flow flow(x, y, 0);
    std::optional<BoxGrid> grid;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const std::size_t at = boxes.size(), first_device = made.devices.size();
      const std::uint32_t first = first_core(next, children[i]) - offset;
      boxes.push_back({-1, levels_[next].kind, fmt::format("{} {}", levels_[next].kind, i), 0, 0, 0, 0, first,
                       end_core(next, children[i]) - offset - first});
      const Size inner = add_inside(made, next, children[i], box_frame, box_frame, node);
      const Size outer{std::max(inner.width + 2 * box_frame, static_cast<double>(boxes[at].label.size()) + 3),
                       inner.height + 2 * box_frame};
      if (!grid) {
        grid = fitting_grid(static_cast<std::uint32_t>(children.size()), outer.width, outer.height, 2.2);
        flow.columns = grid->columns;
      }
      const auto [left, top] = flow.next(outer.width, outer.height);
      boxes[at].width = outer.width;
      boxes[at].height = outer.height;
      for (std::size_t inside = at; inside < boxes.size(); ++inside) {
        boxes[inside].x += left;
        boxes[inside].y += top;
      }
      for (std::size_t inside = first_device; inside < made.devices.size(); ++inside) {
        made.devices[inside].x += left;
        made.devices[inside].y += top;
      }
    }
    // Devices that are near one child are in the box of the child.
    const auto across = [&](const Topology::Device& device) {
      return topology_.object_of(next, device.first) != topology_.object_of(next, Core{index(device.end) - 1});
    };
    return add_devices(made, node, begin, end, x, y, {flow.width() - x, flow.height() - y}, across);
  }

  /// Adds those devices near the cores [begin, end) of an object that `belongs` accepts, below the other contents of
  /// the object, and returns the size of both.
  template <class Belongs>
  Size add_devices(MachineTemplate& made, const NodeParts& node, std::uint32_t begin, std::uint32_t end, double x,
                   double y, Size contents, const Belongs& belongs) const {
    Flow flow(x, y + contents.height, contents.width);
    auto device = std::partition_point(node.devices.begin(), node.devices.end(),
                                       [&](const auto& one) { return index(one.first) < begin; });
    for (; device != node.devices.end() && index(device->first) < end; ++device) {
      if (index(device->end) > end || !belongs(*device)) continue;
      DeviceBox box{.kind = device->kind, .number = device->number, .label = label_of(*device)};
      if (device_names_) {
        box.name = device->name;
        box.address = device->address;
      }
      // A GPU also shows its rank: "GPU 4: 12".
      box.width = static_cast<double>(box.label.size()) + 1 + (box.kind == "gpu" ? 1 + chip_ : 0);
      std::tie(box.x, box.y) = flow.next(box.width, box.height);
      box.first_core = index(device->first) - node.first_core;
      box.cores = index(device->end) - index(device->first);
      made.devices.push_back(std::move(box));
    }
    return {std::max(contents.width, flow.width() - x), flow.height() - y};
  }

  std::string label_of(const Topology::Device& device) const {
    if (device.kind == "gpu") return fmt::format("GPU {}", device.number);
    if (device_names_ && !device.name.empty() && device.name.size() <= max_device_label) return device.name;
    return fmt::format("{} {}", device.kind == "nic" ? "NIC" : device.kind.c_str(), device.number);
  }

  /// Nodes of one shape with equal texts have equal devices.
  std::string text_of_devices(const NodeParts& node) const {
    std::string text;
    for (const Topology::Device& device : node.devices) {
      text += fmt::format(" {} {} {}-{}", device.kind, device.number, index(device.first) - node.first_core,
                          index(device.end) - node.first_core);
      if (device_names_)
        text += fmt::format(" {}:{} {}:{}", device.name.size(), device.name, device.address.size(), device.address);
    }
    return text;
  }

  /// The next level below with more than one object per parent; the level of the cores always counts.
  std::size_t below(std::size_t level) const {
    std::size_t next = level + 1;
    while (next + 1 < levels_.size() && levels_[next].is_private()) ++next;
    return next;
  }

  /// A text that describes the inside of a node; nodes with equal texts have equal insides.
  std::string shape_of(std::size_t level, std::uint32_t object) const {
    const std::uint32_t begin = first_core(level, object), end = end_core(level, object);
    if (level + 1 >= levels_.size() || below(level) + 1 >= levels_.size()) return std::to_string(end - begin);
    const std::size_t next = below(level);
    std::string text = "(";
    for (std::uint32_t core = begin; core < end;) {
      const std::uint32_t child = topology_.object_of(next, Core{core});
      text += shape_of(next, child) + " ";
      core = end_core(next, child);
    }
    return text + ")";
  }

  std::uint32_t first_core(std::size_t level, std::uint32_t object) const {
    return rankloom::first_core(topology_, level, object);
  }
  std::uint32_t end_core(std::size_t level, std::uint32_t object) const {
    return rankloom::end_core(topology_, level, object);
  }

  const Topology& topology_;
  std::span<const Topology::Level> levels_;
  bool device_names_;
  double chip_ = 3;
};

/// O(cores).
NodeTemplates node_templates(const Topology& topology) {
  NodeTemplates named = TemplateMaker(topology, true).make();
  if (topology.devices().empty() || named.templates.size() <= max_templates_with_names) return named;
  NodeTemplates numbered = TemplateMaker(topology, false).make();
  if (numbered.templates.size() < named.templates.size()) return numbered;
  return named;
}

class MachineLayouter {
 public:
  MachineLayouter(const Topology& topology, const MachineLayoutOptions& options)
      : topology_(topology), options_(options), levels_(topology.levels()) {}

  MachineLayout lay_out() {
    layout_.cores = topology_.core_count();
    describe_levels();
    if (topology_.node_count() <= options_.max_nodes) {
      NodeTemplates inside = node_templates(topology_);
      layout_.templates = std::move(inside.templates);
      inside_ = std::move(inside.of_node);
    } else {
      layout_.note = counted(topology_.node_count(), "node") + " are too many to draw";
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
        row.gap = level.cost->inverse_bandwidth;
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
    while (inside_.empty() && lowest > top && levels_[lowest].objects > options_.max_nodes) --lowest;
    if (inside_.empty() && levels_[lowest].objects > options_.max_nodes) return;
    const Size size = add_objects(top, 0, static_cast<std::uint32_t>(levels_[top].objects), -1, 0, 0, lowest);
    layout_.width = size.width;
    layout_.height = size.height;
  }

  Size add_objects(std::size_t level, std::uint32_t begin, std::uint32_t end, std::int32_t parent, double x, double y,
                   std::size_t lowest) {
    Flow flow(x, y, parent < 0 ? options_.max_columns : 0);
    bool known = false;
    for (std::uint32_t object = begin; object < end; ++object) {
      const auto at = layout_.boxes.size();
      const Size size = add_object(level, object, parent, lowest);
      if (!known && flow.max_width == 0) flow.columns = fitting_grid(end - begin, size.width, size.height, 1.6).columns;
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
      box.template_index = inside_[object];
      const MachineTemplate& inside = layout_.templates[static_cast<std::size_t>(box.template_index)];
      size = {inside.width, inside.height};
    } else if (level >= lowest) {
      box.label += ": " + counted(end - first, "core");
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
    Flow flow(0, 0, options_.max_columns);
    for (std::size_t at = 0; at < panels.size(); ++at) {
      const PicturePanel& panel = panels[at];
      std::size_t columns = 1;
      for (const auto& row : panel.rows) columns = std::max(columns, row.nodes.size());
      const bool framed = !panel.title.empty();
      const double edge = framed ? box_frame : 0;
      const double width = static_cast<double>(columns) * (widest + gap_x) - gap_x + 2 * edge;
      const double height = static_cast<double>(panel.rows.size()) * (highest + gap_y) - gap_y + 2 * edge;
      if (at == 0 && flow.max_width == 0)
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
    if (network.link_count() > 2 * options_.max_wires) return;
    for (std::uint32_t link = 0; link < network.link_count(); ++link) {
      const auto [from, to] = network.endpoints(Link{link});
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
    layout.note = "a machine given by a distance matrix has no parts to draw";
    return layout;
  }
  return MachineLayouter(topology, options).lay_out();
}

std::string node_label(const Topology& topology, Node node) {
  std::string label = topology.node_name(node);
  const auto* mesh = std::get_if<MeshShape>(&topology.network().shape());
  if (!topology.routed() || mesh == nullptr || mesh->sizes.size() < 2) return label;
  return fmt::format("{} ({})", label, fmt::join(mesh->coordinates(node), ","));
}

std::string level_label(const Topology& topology, std::size_t level) {
  const std::string& kind = topology.levels()[level].kind;
  std::string label = "between " + plural(kind);
  std::size_t above = level;  // the next level with more than one object per parent
  while (above > 0 && topology.levels()[above - 1].is_private()) --above;
  if (above > 0) label += fmt::format(" of a {}", topology.levels()[above - 1].kind);
  return label;
}

}  // namespace rankloom
