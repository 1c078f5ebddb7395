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

std::optional<UnitChoice> parse_unit(std::string_view text) {
  if (text == "-") return UnitChoice{};
  const bool position = text.starts_with('+');
  auto numbers = parse_number_ranges(position ? text.substr(1) : text);
  if (!numbers || numbers->empty()) return std::nullopt;
  return UnitChoice{position ? UnitChoice::Kind::position : UnitChoice::Kind::os_index, std::move(*numbers)};
}

std::string format_unit(const UnitChoice& unit) {
  if (unit.kind == UnitChoice::Kind::none) return "-";
  return (unit.kind == UnitChoice::Kind::position ? "+" : "") + format_number_ranges(unit.values);
}

}  // namespace

std::optional<Placement> read_placement(std::string_view text) {
  if (take_until(text, ' ') != "ranks") return std::nullopt;
  const auto ranks = parse_number(take_until(text, '\n'));
  if (!ranks || *ranks == 0) return std::nullopt;
  Placement placement;
  for (std::uint32_t rank = 0; rank < *ranks; ++rank) {
    std::string_view line = take_until(text, '\n');
    const auto number = parse_number(take_until(line, ' '));
    const std::string_view host = take_until(line, ' ');
    auto unit = parse_unit(line);
    if (!number || *number != rank || host.empty() || !unit) return std::nullopt;
    placement.hosts.emplace_back(host);
    placement.units.push_back(std::move(*unit));
  }
  if (!text.empty()) return std::nullopt;
  return placement;
}

std::vector<std::pair<std::string, std::string>> write_variables(const std::vector<UnitChoice>& units) {
  std::vector<std::pair<std::string, std::string>> variables;
  if (std::all_of(units.begin(), units.end(),
                  [](const UnitChoice& unit) { return unit.kind == UnitChoice::Kind::none; }))
    return variables;
  for (std::size_t rank = 0; rank < units.size(); ++rank) {
    if (rank % ranks_per_variable == 0)
      variables.emplace_back(std::string(variable_prefix) + std::to_string(rank / ranks_per_variable), "");
    std::string& value = variables.back().second;
    if (!value.empty()) value += separator;
    value += format_unit(units[rank]);
  }
  return variables;
}

std::vector<UnitChoice> read_variables(char* const* environment, std::vector<std::string>& names) {
  std::map<std::uint32_t, std::string_view> parts;
  for (char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view text = *entry;
    if (!text.starts_with(variable_prefix)) continue;
    const std::string_view name = take_until(text, '=');
    names.emplace_back(name);
    if (const auto part = parse_number(name.substr(variable_prefix.size()))) parts[*part] = text;
  }
  std::vector<UnitChoice> units;
  std::uint32_t next = 0;
  for (auto& [part, text] : parts) {
    if (part != next++ || units.size() % ranks_per_variable != 0) return {};
    while (!text.empty()) {
      auto unit = parse_unit(take_until(text, separator));
      if (!unit) return {};
      units.push_back(std::move(*unit));
    }
  }
  return units;
}

}  // namespace rankloom::spank
