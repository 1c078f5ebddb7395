// SPDX-License-Identifier: Apache-2.0
// apps/verbs/mapping: the table and the JSON of `--timing`.
#include "apps/rankloom/verbs/mapping/timing.hpp"

#include <utility>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

/// Sections with less of the whole time are left out of the table.
constexpr double min_share = 0.005;

void add_rows(const SectionTime& section, double all, const std::string& indent, Table& table) {
  const auto is_shown = [&](double seconds) { return seconds >= min_share * all; };
  const auto add = [&](const std::string& name, double seconds, std::string runs) {
    if (!is_shown(seconds)) return;
    table.row({indent + name, format_seconds(seconds), fmt::format("{:.1f} %", all > 0 ? 100 * seconds / all : 100),
               std::move(runs)});
  };
  const std::string inner = indent + "  ";
  add(section.name, section.cpu_seconds, fmt::format("{}", section.runs));
  double rest = section.cpu_seconds;
  bool has_rows = false;
  for (const SectionTime& part : section.parts) {
    if (!is_shown(part.cpu_seconds)) continue;
    add_rows(part, all, inner, table);
    rest -= part.cpu_seconds;
    has_rows = true;
  }
  if (has_rows) add("  other", rest, "");
}

}  // namespace

std::string timing_text(const SectionTime& timing, std::size_t width) {
  Table table({{"section"},
               {"CPU time, all threads", Table::Align::right},
               {"share", Table::Align::right},
               {"runs", Table::Align::right}});
  add_rows(timing, timing.cpu_seconds, "", table);
  return table.text(width);
}

Json timing_json(const SectionTime& timing) {
  Json parts = Json::array();
  for (const SectionTime& part : timing.parts) parts.push_back(timing_json(part));
  return {{"section", timing.name},
          {"cpu_seconds", timing.cpu_seconds},
          {"runs", timing.runs},
          {"parts", std::move(parts)}};
}

}  // namespace rankloom::app
