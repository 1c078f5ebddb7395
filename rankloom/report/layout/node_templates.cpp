// SPDX-License-Identifier: Apache-2.0
// report/layout: the insides of nodes.
#include "rankloom/report/layout/node_templates.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "rankloom/report/layout/grid.hpp"

namespace rankloom {

namespace {

class TemplateMaker {
 public:
  explicit TemplateMaker(const Topology& topology) : topology_(topology), levels_(topology.levels()) {
    // A chip holds the number of a rank; there may be more ranks than cores, so one digit more than cores need.
    chip_ = static_cast<double>(std::max<std::size_t>(3, std::to_string(topology.core_count() - 1).size() + 1));
  }

  NodeTemplates make() const {
    NodeTemplates made;
    std::map<std::string, std::int32_t> known;
    const std::size_t level = topology_.node_level();
    for (const Node node : topology_.nodes()) {
      const auto [entry, fresh] =
          known.try_emplace(shape_of(level, index(node)), static_cast<std::int32_t>(made.templates.size()));
      if (fresh) made.templates.push_back(make_template(level, index(node)));
      made.of_node.push_back(entry->second);
    }
    return made;
  }

 private:
  struct Size {
    double width = 0, height = 0;
  };

  MachineTemplate make_template(std::size_t level, std::uint32_t node) const {
    MachineTemplate made;
    const std::uint32_t offset = first_core(level, node);
    const Size size = add_inside(made.boxes, level, node, box_frame, box_frame, offset);
    made.width = std::max(size.width + 2 * box_frame, 12.0);  // a node's name needs some room
    made.height = size.height + 2 * box_frame;
    return made;
  }

  /// Adds what is inside an object at a place, and says how large that is.
  Size add_inside(std::vector<MachineBox>& boxes, std::size_t level, std::uint32_t object, double x, double y,
                  std::uint32_t offset) const {
    const std::uint32_t begin = first_core(level, object), end = end_core(level, object);
    const std::size_t next = level + 1 < levels_.size() ? below(level) : levels_.size() - 1;
    if (next + 1 >= levels_.size()) {
      const Grid grid = fitting_grid(end - begin, chip_, 1, 2.2);
      for (std::uint32_t core = begin; core < end; ++core) {
        const std::uint32_t at = core - begin;
        boxes.push_back({-1, levels_.back().kind, fmt::format("{} {}", levels_.back().kind, core - offset),
                         x + chip_ * (at % grid.columns), y + at / grid.columns, chip_, 1, core - offset, 1});
      }
      return {chip_ * grid.columns, static_cast<double>(grid.rows)};
    }
    // Children one after another in a grid; rows are as high as their highest.
    std::vector<std::uint32_t> children;
    for (std::uint32_t core = begin; core < end;) {
      children.push_back(topology_.object_of(next, Core{core}));
      core = end_core(next, children.back());
    }
    Flow flow(x, y, 0);
    std::optional<Grid> grid;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const std::size_t at = boxes.size();
      const std::uint32_t first = first_core(next, children[i]) - offset;
      boxes.push_back({-1, levels_[next].kind, fmt::format("{} {}", levels_[next].kind, i), 0, 0, 0, 0, first,
                       end_core(next, children[i]) - offset - first});
      const Size inner = add_inside(boxes, next, children[i], box_frame, box_frame, offset);
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
    }
    return {flow.width() - x, flow.height() - y};
  }

  /// The next level below in which there is a choice; the cores' level is always one.
  std::size_t below(std::size_t level) const {
    std::size_t next = level + 1;
    while (next + 1 < levels_.size() && levels_[next].is_private()) ++next;
    return next;
  }

  /// How the inside of a node is divided: equal texts, equal insides.
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
  double chip_ = 3;
};

}  // namespace

NodeTemplates node_templates(const Topology& topology) {
  return TemplateMaker(topology).make();
}

}  // namespace rankloom
