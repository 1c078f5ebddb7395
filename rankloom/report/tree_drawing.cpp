// SPDX-License-Identifier: Apache-2.0
// report: draws a folded machine as lines for the terminal.
#include "rankloom/report/tree_drawing.hpp"

#include <fmt/format.h>

#include "rankloom/core/units.hpp"
#include "rankloom/report/table.hpp"

namespace rankloom {

namespace {

struct Strokes {
  std::string_view branch, last, through, blank, times, dots;
};
constexpr Strokes box{"├─ ", "└─ ", "│  ", "   ", "×", "…"};
constexpr Strokes plain{"+- ", "`- ", "|  ", "   ", "x", ".."};

class Drawing {
 public:
  explicit Drawing(const TreeStyle& style) : style_(style), strokes_(style.ascii ? plain : box), table_({{}, {}, {}}) {}

  std::string draw(const MachineTree& tree) {
    row("", tree, tree.kind);
    children(tree, "");
    return table_.text(2);
  }

 private:
  void children(const MachineTree& tree, const std::string& prefix) {
    const std::size_t shown = std::min(tree.children.size(), style_.most_children);
    const bool all = shown == tree.children.size();
    for (std::size_t at = 0; at < shown; ++at) {
      const MachineTree& child = tree.children[at];
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

  void row(const std::string& prefix, const MachineTree& object, const std::string& label) {
    std::string notes = object.apart ? fmt::format("cost {}", cost_text(*object.apart)) : "";
    const auto add = [&](const std::string& note) { notes += (notes.empty() ? "" : ", ") + note; };
    if (object.children.empty() && object.capacity == 0) add("not used");
    if (object.children.empty() && object.capacity > 1) add(fmt::format("{} ranks each", object.capacity));
    table_.row({prefix + label, names(object), notes});
  }

  std::string names(const MachineTree& object) const {
    std::string text;
    for (const std::string& name : object.names) {
      if (!text.empty()) text += object.names_left_out ? fmt::format(" {} ", strokes_.dots) : ", ";
      text += name;
    }
    return text;
  }

  const TreeStyle& style_;
  const Strokes& strokes_;
  Table table_;
};

}  // namespace

std::string cost_text(const Cost& cost) {
  if (cost.latency == 0) return format_value(cost.gap);
  return fmt::format("{}, latency {}", format_value(cost.gap), format_seconds(cost.latency * 1e-9));
}

std::string draw_tree(const MachineTree& tree, const TreeStyle& style) {
  return Drawing(style).draw(tree);
}

}  // namespace rankloom
