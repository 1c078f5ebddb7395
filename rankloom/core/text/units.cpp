// SPDX-License-Identifier: Apache-2.0
// core/text: reads numbers with units, and writes numbers for people.
#include "rankloom/core/text/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace rankloom {

namespace {

std::optional<double> if_finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

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
  double factor = 1;
  for (std::size_t step = 0; step <= power; ++step) factor *= binary ? 1024 : 1000;
  return factor;
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
  return if_finite(value * *factor);
}

std::optional<double> parse_nanoseconds(std::string_view text, double bare_unit_ns) {
  static constexpr std::array<std::pair<std::string_view, double>, 6> units{
      {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}}};
  const auto parsed = leading_number(text);
  if (!parsed) return std::nullopt;
  if (parsed->second.empty()) return if_finite(parsed->first * bare_unit_ns);
  for (const auto& [name, factor] : units) {
    if (parsed->second == name) return if_finite(parsed->first * factor);
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
  if (unit == "B/s") return if_finite(1e9 / (value * *factor));
  if (unit == "bit/s" || unit == "b/s") return if_finite(8e9 / (value * *factor));
  return std::nullopt;
}

namespace {

/// Three digits, never with an exponent between 0.001 and 999.
std::string three_digits(double value) {
  return fmt::format("{:.3g}", value);
}

/// From this ratio on, a factor says more than a percentage.
constexpr double large_factor = 10;

}  // namespace

std::string format_bytes(double bytes) {
  static constexpr std::array<std::string_view, 9> units{"B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < units.size()) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{} {}", three_digits(bytes), units[unit]);
}

std::string format_seconds(double seconds) {
  struct Unit {
    double end, size;  // up to this many of the unit, rounded; seconds
    std::string_view name;
  };
  static constexpr std::array<Unit, 6> units{{{999.5, 1e-9, "ns"},
                                              {999.5, 1e-6, "µs"},
                                              {999.5, 1e-3, "ms"},
                                              {120, 1, "s"},
                                              {120, 60, "min"},
                                              {72, 3600, "h"}}};
  if (seconds == 0) return "0 s";
  for (const Unit& unit : units) {
    if (std::abs(seconds) / unit.size < unit.end)
      return fmt::format("{} {}", three_digits(seconds / unit.size), unit.name);
  }
  const double days = seconds / 86400;
  return fmt::format("{} days", std::abs(days) < 999.5 ? three_digits(days) : cost_number(std::round(days)));
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

std::string cost_number(double value) {
  if (value == 0) return "0";  // also for a zero with a sign
  if (std::abs(value) < 1e15 && value == std::floor(value)) return format_count(value);
  if (std::abs(value) >= 1000 && std::abs(value) < 1e15) return format_count(std::round(value));
  return fmt::format("{:.6g}", value);
}

std::string percent(double value) {
  const double size = std::abs(value);
  if (size >= 999.95) return cost_number(std::round(value)) + " %";
  if (size >= 99.95 && size < 100) return value > 0 ? "> 99.9 %" : "< -99.9 %";
  if (size >= 0.05 || size == 0) return fmt::format("{:.1f} %", value + 0.0);  // + 0.0: a zero without a sign
  if (size < 0.005) return value > 0 ? "< 0.01 %" : "> -0.01 %";
  return fmt::format("{:.2f} %", value);
}

std::string factor(double value) {
  if (std::abs(value) >= 99.95) return cost_number(std::round(value));
  return std::abs(value) >= 9.995 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

std::string change(double before, double after) {
  if (before == after) return "same";
  if (before == 0) return "new";
  if (after / before >= large_factor) return factor(after / before) + " times as much";
  return fmt::format("{} {}", percent(100 * std::abs(after - before) / std::abs(before)),
                     after < before ? "less" : "more");
}

std::string excess(double best, double value, std::string_view adjective) {
  if (best == 0) return "";
  if (value / best >= large_factor) return factor(value / best) + " times the best";
  return fmt::format("{} {}", percent(100 * (value - best) / std::abs(best)), adjective);
}

std::string plural(const std::string& noun) {
  if (noun.ends_with("leaf")) return noun.substr(0, noun.size() - 1) + "ves";
  if (noun.ends_with("chassis") || noun.ends_with("series")) return noun;
  const bool ends_in_sibilant =
      noun.ends_with("s") || noun.ends_with("x") || noun.ends_with("ch") || noun.ends_with("sh");
  return noun + (ends_in_sibilant ? "es" : "s");
}

std::string counted(std::uint64_t count, const std::string& noun) {
  return fmt::format("{} {}", format_count(static_cast<double>(count)), count == 1 ? noun : plural(noun));
}

}  // namespace rankloom
