// SPDX-License-Identifier: Apache-2.0
// core/text: reads and writes numbers with units.
#include "rankloom/core/text/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace rankloom {

namespace {

/// The number at the start of the text, and the rest of the text.
std::optional<std::pair<double, std::string_view>> leading_number(std::string_view text) {
  double value = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return std::pair(value, text.substr(static_cast<std::size_t>(end - text.data())));
}

/// The factor of a size prefix ("", "k", "Mi", …); removes the prefix from the text.
std::optional<double> take_prefix(std::string_view& unit) {
  static constexpr std::string_view letters = "kMGTP";
  if (unit.empty()) return 1.0;
  const char letter = unit[0] == 'K' ? 'k' : unit[0];
  const auto power = letters.find(letter);
  if (power == std::string_view::npos) return 1.0;
  unit.remove_prefix(1);
  const bool binary = unit.starts_with('i');
  if (binary) unit.remove_prefix(1);
  return std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power + 1));
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  const auto parsed = leading_number(text);
  if (!parsed || !parsed->second.empty()) return std::nullopt;
  return parsed->first;
}

std::optional<double> parse_bytes(std::string_view text) {
  auto parsed = leading_number(text);
  if (!parsed) return std::nullopt;
  auto [value, unit] = *parsed;
  const auto factor = take_prefix(unit);
  if (!factor || !(unit.empty() || unit == "B")) return std::nullopt;
  return value * *factor;
}

std::optional<double> parse_nanoseconds(std::string_view text, double bare_unit_ns) {
  static constexpr std::array<std::pair<std::string_view, double>, 6> units{
      {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}}};
  const auto parsed = leading_number(text);
  if (!parsed) return std::nullopt;
  if (parsed->second.empty()) return parsed->first * bare_unit_ns;
  for (const auto& [name, factor] : units) {
    if (parsed->second == name) return parsed->first * factor;
  }
  return std::nullopt;
}

std::optional<double> parse_inverse_bandwidth(std::string_view text) {
  auto parsed = leading_number(text);
  if (!parsed) return std::nullopt;
  auto [value, unit] = *parsed;
  if (unit.empty()) return value;
  const auto factor = take_prefix(unit);
  if (!factor || value <= 0) return std::nullopt;
  if (unit == "B/s") return 1e9 / (value * *factor);
  if (unit == "bit/s" || unit == "b/s") return 8e9 / (value * *factor);
  return std::nullopt;
}

std::string format_bytes(double bytes) {
  static constexpr std::array<std::string_view, 6> units{"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < units.size()) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.4g} B", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string format_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  return fmt::format("{:.3g} min", seconds / 60);
}

std::string format_count(double count) {
  std::string digits = fmt::format("{:.0f}", count);
  const std::size_t sign = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = digits.size(); at > sign + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string format_value(double value) {
  return fmt::format("{}", value);
}

}  // namespace rankloom
