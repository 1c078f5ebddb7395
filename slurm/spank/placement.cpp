// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/spank: reads placements and passes them to the nodes.
#include "slurm/spank/placement.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "rankloom/core/text/number_ranges.hpp"

namespace rankloom::spank {

namespace {

// srun --export=NONE passes variables with the prefix SLURM_ on.
constexpr std::string_view variable_prefix = "SLURM_RANKLOOM_CPUS_";
constexpr std::size_t ranks_per_variable = 2048;
constexpr char separator = ';';  // between ranks; the units of a rank have commas

std::optional<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(text.size(), at + 1));
  return part;
}

/// "0-3,8", "+0-3 gpus=4" or "-"
std::optional<SlotChoice> parse_slot(std::string_view text) {
  const std::string_view units = take_until(text, ' ');
  SlotChoice slot;
  if (units != "-") {
    const bool position = units.starts_with('+');
    auto numbers = parse_number_ranges(position ? units.substr(1) : units);
    if (!numbers || numbers->empty()) return std::nullopt;
    slot.kind = position ? SlotChoice::Kind::position : SlotChoice::Kind::os_index;
    slot.values = std::move(*numbers);
  }
  if (text.empty()) return slot;
  if (take_until(text, '=') != "gpus") return std::nullopt;
  auto gpus = parse_number_ranges(text);
  if (!gpus || gpus->empty()) return std::nullopt;
  slot.gpus = std::move(*gpus);
  return slot;
}

std::string format_slot(const SlotChoice& slot) {
  std::string text = "-";
  if (slot.kind != SlotChoice::Kind::none)
    text = (slot.kind == SlotChoice::Kind::position ? "+" : "") + format_number_ranges(slot.values);
  return slot.gpus.empty() ? text : text + " gpus=" + format_number_ranges(slot.gpus);
}

}  // namespace

std::optional<Placement> read_placement(std::string_view text) {
  std::string_view header = take_until(text, '\n');
  if (take_until(header, ' ') != "ranks") return std::nullopt;
  const auto ranks = parse_number(take_until(header, ' '));
  if (!ranks || *ranks == 0) return std::nullopt;
  Placement placement;
  if (!header.empty()) {
    if (take_until(header, ' ') != "gpus-per-task") return std::nullopt;
    const auto gpus = parse_number(header);
    if (!gpus) return std::nullopt;
    placement.gpus_per_task = *gpus;
  }
  for (std::uint32_t rank = 0; rank < *ranks; ++rank) {
    std::string_view line = take_until(text, '\n');
    const auto number = parse_number(take_until(line, ' '));
    const std::string_view host = take_until(line, ' ');
    auto slot = parse_slot(line);
    if (!number || *number != rank || host.empty() || !slot) return std::nullopt;
    placement.hosts.emplace_back(host);
    placement.slots.push_back(std::move(*slot));
  }
  if (!text.empty()) return std::nullopt;
  return placement;
}

std::optional<Recording> read_recording(std::string_view text) {
  if (take_until(text, '\n') != "record") return std::nullopt;
  Recording recording;
  for (std::string* const line : {&recording.directory, &recording.prefix, &recording.library}) {
    *line = take_until(text, '\n');
    if (!line->starts_with('/')) return std::nullopt;
  }
  if (!text.empty()) return std::nullopt;
  return recording;
}

std::vector<std::pair<std::string, std::string>> write_variables(const std::vector<SlotChoice>& slots) {
  std::vector<std::pair<std::string, std::string>> variables;
  if (std::all_of(slots.begin(), slots.end(),
                  [](const SlotChoice& slot) { return slot.kind == SlotChoice::Kind::none; }))
    return variables;
  for (std::size_t rank = 0; rank < slots.size(); ++rank) {
    if (rank % ranks_per_variable == 0)
      variables.emplace_back(std::string(variable_prefix) + std::to_string(rank / ranks_per_variable), "");
    std::string& value = variables.back().second;
    if (!value.empty()) value += separator;
    value += format_slot(slots[rank]);
  }
  return variables;
}

std::vector<SlotChoice> read_variables(char* const* environment, std::vector<std::string>& names) {
  std::map<std::uint32_t, std::string_view> parts;
  for (char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view text = *entry;
    if (!text.starts_with(variable_prefix)) continue;
    const std::string_view name = take_until(text, '=');
    names.emplace_back(name);
    if (const auto part = parse_number(name.substr(variable_prefix.size()))) parts[*part] = text;
  }
  std::vector<SlotChoice> slots;
  std::uint32_t next = 0;
  for (auto& [part, text] : parts) {
    if (part != next++ || slots.size() % ranks_per_variable != 0) return {};
    while (!text.empty()) {
      auto slot = parse_slot(take_until(text, separator));
      if (!slot) return {};
      slots.push_back(std::move(*slot));
    }
  }
  return slots;
}

}  // namespace rankloom::spank
