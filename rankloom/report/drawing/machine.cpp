// SPDX-License-Identifier: Apache-2.0
// report/drawing: the machine as nested boxes, with the ranks on their cores and GPUs.
#include <algorithm>
#include <map>
#include <span>

#include <fmt/format.h>

#include "rankloom/report/drawing/drawings.hpp"

namespace rankloom {

namespace {

/// The ranks on a core.
struct RanksOnCore {
  std::uint32_t lowest = 0, count = 0;

  /// "7", or "7+" for rank 7 and others.
  std::string number() const { return fmt::format("{}{}", lowest, count > 1 ? "+" : ""); }
  /// "rank 7", or "rank 7 and 2 more".
  std::string sentence() const {
    return count == 1 ? fmt::format("rank {}", lowest) : fmt::format("rank {} and {} more", lowest, count - 1);
  }
};

std::vector<RanksOnCore> ranks_by_core(std::uint32_t cores, std::span<const Core> core_of, const RankSlots& slots) {
  std::vector<RanksOnCore> ranks(cores);
  for (std::uint32_t rank = 0; rank < core_of.size(); ++rank) {
    const auto leaves = slots.empty() ? core_of.subspan(rank, 1) : slots.leaves_of(slots.slot_of[rank]);
    for (const Core leaf : leaves) {
      if (ranks[index(leaf)].count++ == 0) ranks[index(leaf)].lowest = rank;
    }
  }
  return ranks;
}

/// The ranks that use each GPU of a node, by its number.
std::map<std::uint32_t, RanksOnCore> users_of_gpus(const MachineBox& node, std::span<const RanksOnCore> ranks,
                                                   const RankSlots& slots) {
  std::map<std::uint32_t, RanksOnCore> users;
  if (slots.gpu_ends.empty()) return users;
  for (const RanksOnCore& on_core : ranks.subspan(node.first_core, node.cores)) {
    if (on_core.count == 0) continue;
    for (const std::uint32_t gpu : slots.gpus_of(slots.slot_of[on_core.lowest])) users[gpu] = on_core;
  }
  return users;
}

/// "GPU 4, NVIDIA H200, 0000:c9:00.0, near cores 16 to 31"
std::string describe_device(const DeviceBox& device, std::uint32_t first_core) {
  std::string text = device.label;
  if (!device.name.empty() && device.name != device.label) text += ", " + device.name;
  if (!device.address.empty()) text += ", " + device.address;
  const std::uint32_t first = first_core + device.first_core;
  return text + (device.cores == 1 ? fmt::format(", near core {}", first)
                                   : fmt::format(", near cores {} to {}", first, first + device.cores - 1));
}

void add_devices(const MachineBox& node, std::span<const DeviceBox> devices, std::span<const RanksOnCore> ranks,
                 const RankSlots& slots, DisplayList& list) {
  if (devices.empty()) return;
  const auto users = users_of_gpus(node, ranks, slots);
  for (const DeviceBox& device : devices) {
    std::string text = device.label, about = describe_device(device, node.first_core);
    const auto user = device.kind == "gpu" ? users.find(device.number) : users.end();
    const bool used = user != users.end();
    if (used) {
      text += ": " + user->second.number();
      about += ": " + user->second.sentence();
    }
    list.rectangle(Meaning::device, node.x + device.x, node.y + device.y, device.width, device.height, used ? 1 : 0,
                   std::move(text), std::move(about));
  }
}

}  // namespace

Drawing draw_machine(const MachineLayout& machine, const std::vector<Core>& core_of, std::string name,
                     std::string title, const RankSlots& slots) {
  Drawing drawing{std::move(name), std::move(title), {}};
  DisplayList& list = drawing.list;
  list.width = machine.width;
  list.height = machine.height;
  const std::vector<RanksOnCore> ranks = ranks_by_core(machine.cores, core_of, slots);
  for (const auto& [a, b] : machine.wires) {
    const MachineBox& one = machine.boxes[a];
    const MachineBox& other = machine.boxes[b];
    const double x = one.x + one.width / 2, y = one.y + one.height / 2;
    list.line(Meaning::wire, x, y, other.x + other.width / 2 - x, other.y + other.height / 2 - y);
  }
  const auto add_core = [&](double x, double y, double width, std::uint32_t core) {
    const bool taken = ranks[core].count > 0;
    std::string about = fmt::format("core {}", core);
    if (taken) about += ": " + ranks[core].sentence();
    list.rectangle(Meaning::core, x, y, width, 1, taken ? 1 : 0, taken ? ranks[core].number() : "", std::move(about));
  };
  for (const MachineBox& box : machine.boxes) {
    list.rectangle(box.template_index >= 0 ? Meaning::node : Meaning::container, box.x, box.y, box.width, box.height, 0,
                   box.label);
    if (box.template_index < 0) continue;
    const MachineTemplate& inside = machine.templates[static_cast<std::size_t>(box.template_index)];
    for (const MachineBox& part : inside.boxes) {
      if (part.cores == 1 && part.height == 1) {
        add_core(box.x + part.x, box.y + part.y, part.width, box.first_core + part.first_core);
      } else {
        list.rectangle(Meaning::container, box.x + part.x, box.y + part.y, part.width, part.height, 0, part.label);
      }
    }
    add_devices(box, inside.devices, ranks, slots, list);
  }
  if (!machine.note.empty()) {
    list.text(Meaning::note, 0, list.height, machine.note);
    list.height += 1;
    list.width = std::max(list.width, static_cast<double>(machine.note.size()));
  }
  return drawing;
}

}  // namespace rankloom
