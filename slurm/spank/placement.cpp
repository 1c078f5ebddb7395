// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: placements read, and carried to the nodes.
#include "slurm/spank/placement.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace rankloom::spank {

namespace {

// srun --export=NONE passes on what begins so.
constexpr std::string_view variable = "SLURM_RANKLOOM_CPUS_";
constexpr std::size_t ranks_in_variable = 8192;

std::optional<std::uint32_t> number_in(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string_view take(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(text.size(), at + 1));
  return part;
}

std::optional<Cpu> cpu_in(std::string_view word) {
  if (word == "-") return Cpu{};
  const bool position = word.starts_with('+');
  const auto number = number_in(position ? word.substr(1) : word);
  if (!number) return std::nullopt;
  return Cpu{position ? Cpu::By::position : Cpu::By::number, *number};
}

std::string word_of(const Cpu& cpu) {
  if (cpu.by == Cpu::By::nobody) return "-";
  return (cpu.by == Cpu::By::position ? "+" : "") + std::to_string(cpu.value);
}

}  // namespace

std::optional<Placement> read_placement(std::string_view text) {
  if (take(text, ' ') != "ranks") return std::nullopt;
  const auto ranks = number_in(take(text, '\n'));
  if (!ranks || *ranks == 0) return std::nullopt;
  Placement placement;
  for (std::uint32_t rank = 0; rank < *ranks; ++rank) {
    std::string_view line = take(text, '\n');
    const auto number = number_in(take(line, ' '));
    const std::string_view host = take(line, ' ');
    const auto cpu = cpu_in(line);
    if (!number || *number != rank || host.empty() || !cpu) return std::nullopt;
    placement.hosts.emplace_back(host);
    placement.cpus.push_back(*cpu);
  }
  if (!text.empty()) return std::nullopt;
  return placement;
}

std::vector<std::pair<std::string, std::string>> to_variables(const std::vector<Cpu>& cpus) {
  std::vector<std::pair<std::string, std::string>> variables;
  if (std::all_of(cpus.begin(), cpus.end(), [](const Cpu& cpu) { return cpu.by == Cpu::By::nobody; })) return variables;
  for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
    if (rank % ranks_in_variable == 0)
      variables.emplace_back(std::string(variable) + std::to_string(rank / ranks_in_variable), "");
    std::string& value = variables.back().second;
    if (!value.empty()) value += ',';
    value += word_of(cpus[rank]);
  }
  return variables;
}

std::vector<Cpu> from_environment(char* const* environment, std::vector<std::string>& found) {
  std::map<std::uint32_t, std::string_view> parts;
  for (char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view text = *entry;
    if (!text.starts_with(variable)) continue;
    const std::string_view name = take(text, '=');
    found.emplace_back(name);
    if (const auto part = number_in(name.substr(variable.size()))) parts[*part] = text;
  }
  std::vector<Cpu> cpus;
  std::uint32_t next = 0;
  for (auto& [part, text] : parts) {
    if (part != next++ || cpus.size() % ranks_in_variable != 0) return {};
    while (!text.empty()) {
      const auto cpu = cpu_in(take(text, ','));
      if (!cpu) return {};
      cpus.push_back(*cpu);
    }
  }
  return cpus;
}

}  // namespace rankloom::spank
