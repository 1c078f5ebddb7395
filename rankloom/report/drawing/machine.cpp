// SPDX-License-Identifier: Apache-2.0
// report/drawing: the machine as nested boxes, with the ranks on their cores.
#include <algorithm>

#include <fmt/format.h>

#include "rankloom/report/drawing/drawings.hpp"

namespace rankloom {

Drawing draw_machine(const MachineLayout& machine, const std::vector<Core>& core_of, std::string name,
                     std::string title) {
  Drawing drawing{std::move(name), std::move(title), {}};
  DisplayList& list = drawing.list;
  list.width = machine.width;
  list.height = machine.height;
  // The lowest rank and the number of ranks of each core.
  std::vector<std::uint32_t> first(machine.cores, 0), count(machine.cores, 0);
  for (std::uint32_t rank = 0; rank < core_of.size(); ++rank) {
    const std::uint32_t core = index(core_of[rank]);
    if (count[core]++ == 0) first[core] = rank;
  }
  for (const auto& [a, b] : machine.wires) {
    const MachineBox& one = machine.boxes[a];
    const MachineBox& other = machine.boxes[b];
    const double x = one.x + one.width / 2, y = one.y + one.height / 2;
    list.line(Meaning::wire, x, y, other.x + other.width / 2 - x, other.y + other.height / 2 - y);
  }
  const auto add_core = [&](double x, double y, double width, std::uint32_t core) {
    const bool taken = count[core] > 0;
    const std::string text = !taken ? "" : fmt::format("{}{}", first[core], count[core] > 1 ? "+" : "");
    const std::string about = !taken ? fmt::format("core {}", core)
                              : count[core] == 1
                                  ? fmt::format("core {}: rank {}", core, first[core])
                                  : fmt::format("core {}: rank {} and {} more", core, first[core], count[core] - 1);
    list.rectangle(Meaning::core, x, y, width, 1, taken ? 1 : 0, text, about);
  };
  for (const MachineBox& box : machine.boxes) {
    list.rectangle(box.template_index >= 0 ? Meaning::node : Meaning::container, box.x, box.y, box.width, box.height, 0,
                   box.label);
    if (box.template_index < 0) continue;
    for (const MachineBox& part : machine.templates[static_cast<std::size_t>(box.template_index)].boxes) {
      if (part.cores == 1 && part.height == 1) {
        add_core(box.x + part.x, box.y + part.y, part.width, box.first_core + part.first_core);
      } else {
        list.rectangle(Meaning::container, box.x + part.x, box.y + part.y, part.width, part.height, 0, part.label);
      }
    }
  }
  if (!machine.note.empty()) {
    list.text(Meaning::note, 0, list.height, machine.note);
    list.height += 1;
    list.width = std::max(list.width, static_cast<double>(machine.note.size()));
  }
  return drawing;
}

}  // namespace rankloom
