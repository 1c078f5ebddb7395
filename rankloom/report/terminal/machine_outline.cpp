// SPDX-License-Identifier: Apache-2.0
// report/terminal: merges equal siblings of a machine. From the cores up, every object gets the number of its shape.
// Objects of one shape have equal subtrees, so only one of them is drawn.
#include "rankloom/report/terminal/machine_outline.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom {

namespace {

using ShapeNumber = std::uint32_t;

/// Consecutive equal children.
struct Run {
  ShapeNumber shape = 0;
  std::uint32_t first = 0;  ///< Index of the first among its siblings.
  std::uint64_t count = 0;
  auto operator<=>(const Run&) const = default;
};

struct Shape {
  std::vector<Run> children;
  Cost sibling_cost;  ///< Between the children.
  std::uint32_t capacity = 1;
  std::uint64_t cores = 1;
  DeviceCounts devices = {};
};

bool has_names(const ObjectSpec& object) {
  return !object.name.empty() || std::any_of(object.children.begin(), object.children.end(), has_names);
}

constexpr std::size_t many_runs = 12;

/// When unequal siblings alternate, one line per run would fill pages; then all siblings of one shape become one run.
std::vector<Run> put_together(const std::vector<Run>& runs) {
  if (runs.size() <= many_runs) return runs;
  std::vector<Run> together;
  for (const Run& run : runs) {
    const auto same =
        std::find_if(together.begin(), together.end(), [&](const Run& other) { return other.shape == run.shape; });
    if (same == together.end()) {
      together.push_back(run);
    } else {
      same->count += run.count;
    }
  }
  return together;
}

class Folder {
 public:
  explicit Folder(const Topology& topology) : topology_(topology), levels_(topology.levels()), shapes_(levels_.size()) {
    for (const Topology::Device& device : topology.devices()) count(device);
  }

  MachineOutline fold() {
    std::vector<ShapeNumber> below = fold_cores();
    for (std::size_t level = levels_.size() - 1; level-- > 0;) below = fold_level(level, below);
    Shape root = shape_of(0, below, 0, below.size());
    named_ = has_names(topology_.spec().root);
    MachineOutline tree = unfold(root, 0, 0, 0, 1);
    tree.kind = "machine";
    return tree;
  }

 private:
  /// Adds a device to the smallest object above the cores that contains all cores near it; of several, the outermost.
  void count(const Topology::Device& device) {
    std::size_t level = topology_.node_level();
    std::uint32_t object = index(device.node);
    for (std::size_t inner_level = level + 1; inner_level + 1 < levels_.size(); ++inner_level) {
      const std::uint32_t inner = topology_.object_of(inner_level, device.first);
      if (topology_.first_core(inner_level, inner + 1) < device.end) break;
      if (core_count(inner_level, inner) == core_count(level, object)) continue;
      level = inner_level;
      object = inner;
    }
    DeviceCounts& devices = devices_[{level, object}];
    ++(device.kind == "gpu" ? devices.gpus : devices.network_cards);
  }

  std::uint32_t core_count(std::size_t level, std::uint32_t object) const {
    return index(topology_.first_core(level, object + 1)) - index(topology_.first_core(level, object));
  }

  std::vector<ShapeNumber> fold_cores() {
    const std::size_t last = levels_.size() - 1;
    std::map<std::uint32_t, ShapeNumber> known;
    std::vector<ShapeNumber> numbers(topology_.core_count());
    for (const Core core : topology_.cores()) {
      const auto [entry, fresh] = known.try_emplace(topology_.capacity(core), static_cast<ShapeNumber>(known.size()));
      if (fresh) shapes_[last].push_back({.children = {}, .sibling_cost = {}, .capacity = entry->first, .cores = 1});
      numbers[index(core)] = entry->second;
    }
    return numbers;
  }

  /// The shape numbers of the objects of a level, computed from those of the level below.
  std::vector<ShapeNumber> fold_level(std::size_t level, const std::vector<ShapeNumber>& below) {
    using Key = std::tuple<std::vector<Run>, double, double, DeviceCounts>;
    std::map<Key, ShapeNumber> known;
    const auto objects = static_cast<std::uint32_t>(levels_[level].objects);
    std::vector<ShapeNumber> numbers(objects);
    for (std::uint32_t object = 0; object < objects; ++object) {
      const std::size_t first = first_child(level, object);
      const std::size_t end = object + 1 < objects ? first_child(level, object + 1) : below.size();
      Shape shape = shape_of(level + 1, below, first, end);
      if (const auto devices = devices_.find({level, object}); devices != devices_.end())
        shape.devices = devices->second;
      const auto [entry, fresh] = known.try_emplace(
          Key{shape.children, shape.sibling_cost.inverse_bandwidth, shape.sibling_cost.latency, shape.devices},
          static_cast<ShapeNumber>(known.size()));
      if (fresh) shapes_[level].push_back(std::move(shape));
      numbers[object] = entry->second;
    }
    return numbers;
  }

  std::uint32_t first_child(std::size_t level, std::uint32_t object) const {
    return topology_.object_of(level + 1, topology_.first_core(level, object));
  }

  /// The shape of a parent whose children are the objects first..end-1 of `level`.
  Shape shape_of(std::size_t level, const std::vector<ShapeNumber>& numbers, std::size_t first, std::size_t end) const {
    Shape shape{.children = {}, .sibling_cost = {}, .capacity = 1, .cores = 0};
    for (std::size_t child = first; child < end; ++child) {
      shape.cores += shapes_[level][numbers[child]].cores;
      if (shape.children.empty() || shape.children.back().shape != numbers[child]) {
        shape.children.push_back(
            {.shape = numbers[child], .first = static_cast<std::uint32_t>(child - first), .count = 0});
      }
      ++shape.children.back().count;
    }
    const bool network = topology_.is_matrix() || (topology_.routed() && level == topology_.node_level());
    if (end - first > 1 && !network) {
      const auto core_of = [&](std::size_t child) {
        return topology_.first_core(level, static_cast<std::uint32_t>(child));
      };
      shape.sibling_cost = topology_.cost(core_of(first), core_of(first + 1));
    }
    return shape;
  }

  /// The outline below a shape. It represents `parents` objects, of which the first and the last are known; its
  /// children are objects of `level`.
  MachineOutline unfold(const Shape& shape, std::size_t level, std::uint32_t first_parent, std::uint32_t last_parent,
                        std::uint64_t parents) const {
    MachineOutline tree;
    tree.cores = shape.cores;
    tree.capacity = shape.capacity;
    tree.devices = shape.devices;
    if (level == levels_.size()) return tree;
    const auto child_of = [&](std::uint32_t parent) { return level == 0 ? 0 : first_child(level - 1, parent); };
    for (const Run& run : put_together(shape.children)) {
      const std::uint32_t first = child_of(first_parent) + run.first;
      const std::uint32_t last = child_of(last_parent) + run.first + static_cast<std::uint32_t>(run.count) - 1;
      MachineOutline child = unfold(shapes_[level][run.shape], level + 1, first, last, parents * run.count);
      child.kind = levels_[level].kind;
      child.count = run.count;
      if (shape.sibling_cost.inverse_bandwidth > 0) child.sibling_cost = shape.sibling_cost;
      if (named_ && level == topology_.node_level()) name(child, first, last, parents * run.count);
      tree.children.push_back(std::move(child));
    }
    return tree;
  }

  void name(MachineOutline& node, std::uint32_t first, std::uint32_t last, std::uint64_t count) const {
    const bool all = count <= 3 && last - first + 1 == count;
    for (std::uint32_t at = first; at <= last; at += all ? 1 : std::max(1U, last - first))
      node.names.push_back(topology_.node_name(Node{at}));
    node.names_omitted = !all;
  }

  const Topology& topology_;
  std::span<const Topology::Level> levels_;
  std::vector<std::vector<Shape>> shapes_;                                 // by level
  std::map<std::pair<std::size_t, std::uint32_t>, DeviceCounts> devices_;  // by level and object
  bool named_ = false;
};

}  // namespace

MachineOutline outline_machine(const Topology& topology) {
  return Folder(topology).fold();
}

namespace {

struct Strokes {
  std::string_view branch, last, through, blank, times, dots;
};
constexpr Strokes box{"├─ ", "└─ ", "│  ", "   ", "×", "…"};
constexpr Strokes plain{"+- ", "`- ", "|  ", "   ", "x", ".."};

class Drawing {
 public:
  explicit Drawing(const OutlineStyle& style)
      : style_(style), strokes_(style.ascii ? plain : box), table_({{}, {}, {}}) {}

  std::string draw(const MachineOutline& tree) {
    row("", tree, tree.kind);
    children(tree, "");
    return table_.text(style_.width);
  }

 private:
  void children(const MachineOutline& tree, const std::string& prefix) {
    const std::size_t shown = std::min(tree.children.size(), style_.max_children);
    const bool all = shown == tree.children.size();
    for (std::size_t at = 0; at < shown; ++at) {
      const MachineOutline& child = tree.children[at];
      const bool last = all && at + 1 == shown;
      const std::string count =
          child.count > 1 ? fmt::format(" {}{}", strokes_.times, format_count(static_cast<double>(child.count))) : "";
      row(fmt::format("{}{}", prefix, last ? strokes_.last : strokes_.branch), child, child.kind + count);
      children(child, fmt::format("{}{}", prefix, last ? strokes_.blank : strokes_.through));
    }
    if (!all)
      table_.row(
          {fmt::format("{}{}{} {} more kinds", prefix, strokes_.last, strokes_.dots, tree.children.size() - shown)});
  }

  void row(const std::string& prefix, const MachineOutline& object, const std::string& label) {
    std::string notes = object.sibling_cost ? fmt::format("cost {}", cost_text(*object.sibling_cost)) : "";
    const auto add = [&](const std::string& note) { notes += (notes.empty() ? "" : ", ") + note; };
    if (object.children.empty() && object.capacity == 0) add("not used");
    if (object.children.empty() && object.capacity > 1) add(fmt::format("{} ranks each", object.capacity));
    const std::string each = object.count > 1 ? " each" : "";
    if (object.devices.gpus > 0) add(counted(object.devices.gpus, "GPU") + each);
    if (object.devices.network_cards > 0) add(counted(object.devices.network_cards, "network card") + each);
    table_.row({prefix + label, names(object), notes});
  }

  std::string names(const MachineOutline& object) const {
    std::string text;
    for (const std::string& name : object.names) {
      if (!text.empty()) text += object.names_omitted ? fmt::format(" {} ", strokes_.dots) : ", ";
      text += name;
    }
    return text;
  }

  const OutlineStyle& style_;
  const Strokes& strokes_;
  Table table_;
};

}  // namespace

std::string cost_text(const Cost& cost) {
  if (cost.latency == 0) return format_value(cost.inverse_bandwidth);
  return fmt::format("{}, latency {}", format_value(cost.inverse_bandwidth), format_seconds(cost.latency * 1e-9));
}

std::string draw_outline(const MachineOutline& tree, const OutlineStyle& style) {
  return Drawing(style).draw(tree);
}

}  // namespace rankloom
