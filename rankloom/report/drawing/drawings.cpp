// SPDX-License-Identifier: Apache-2.0
// report/drawing: all pictures of a document, in reading order.
#include "rankloom/report/drawing/drawings.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/report/layout/heat_map_layout.hpp"
#include "rankloom/report/terminal/table.hpp"
#include "rankloom/report/text_format.hpp"

namespace rankloom {

namespace {

std::string order_title(const ReportDocument& document, const std::string& id) {
  for (const PlacementRow& order : document.orders) {
    if (order.id == id) return "ranks ordered by core, " + order.label;
  }
  return "ranks in numerical order";
}

/// Before and after have the same scale.
void add_heat_maps(const ReportDocument& document, DrawingOptions options, std::vector<Drawing>& drawings) {
  if (!document.traffic) return;
  const auto traffic_of = [&](const HeatOrder& order) -> const DisplayedTraffic& {
    return order.id == "after" && document.traffic_mapped ? *document.traffic_mapped : *document.traffic;
  };
  for (const HeatOrder& order : document.heat_orders)
    options.heat_max =
        std::max(options.heat_max, heat_cells(traffic_of(order).graph, order.ranks, options.heat_cells).most);
  for (const HeatOrder& order : document.heat_orders)
    drawings.push_back(draw_heat_map(traffic_of(order), order, "traffic: " + order_title(document, order.id), options));
}

void add_machine(const ReportDocument& document, const MachineLayout& machine, std::vector<Drawing>& drawings) {
  if (machine.boxes.empty()) return;
  if (document.verdict.kind == "machine") drawings.push_back(draw_machine(machine, {}, "machine", "the machine"));
  for (const PlacementRow& order : document.orders) {
    if (order.core_of.empty()) continue;
    drawings.push_back(draw_machine(machine, order.core_of, "machine-" + order.id,
                                    "placement of the ranks: " + order.label, order.slots));
  }
}

std::string bytes_and_messages(double bytes, double messages) {
  return fmt::format("{} in {} messages", format_bytes(bytes), format_count(std::round(messages)));
}

void add_comparison(const ReportDocument& document, const DrawingOptions& options, std::vector<Drawing>& drawings) {
  const bool compared = document.orders.size() > 1;
  std::vector<BarRow> rows;
  for (const LevelRow& row : document.levels) {
    rows.push_back({row.label, row.bytes_before, bytes_and_messages(row.bytes_before, row.messages_before)});
    if (!compared) continue;
    rows.back().after = row.bytes_after;
    rows.back().after_text = bytes_and_messages(row.bytes_after, row.messages_after);
  }
  const std::string two =
      compared ? fmt::format("; {} above, {} below", document.baseline(), document.orders.back().label) : "";
  if (!rows.empty()) drawings.push_back(draw_bars("levels", "bytes between parts of the machine" + two, rows, options));
  rows.clear();
  for (const LinkRow& row : document.links) {
    rows.push_back({row.label, row.before, format_bytes(row.before)});
    if (!compared) continue;
    rows.back().after = row.after;
    rows.back().after_text = format_bytes(row.after);
  }
  if (!rows.empty()) drawings.push_back(draw_bars("links", "most loaded links" + two, rows, options));
}

void add_profile(const ReportDocument& document, const DrawingOptions& options, std::vector<Drawing>& drawings) {
  std::vector<BarRow> rows;
  const auto add = [&](std::string label, double value, std::string text, Meaning meaning = Meaning::neutral) {
    rows.push_back({std::move(label), value, std::move(text)});
    rows.back().meaning = meaning;
  };
  const auto finish = [&](std::string name, std::string title) {
    if (!rows.empty()) drawings.push_back(draw_bars(std::move(name), std::move(title), rows, options));
    rows.clear();
  };
  for (const SizeRow& row : document.sizes)
    add(row.from == 0 ? "0 B" : "from " + format_bytes(static_cast<double>(row.from)),
        static_cast<double>(row.messages), format_count(static_cast<double>(row.messages)));
  finish("sizes", "messages by size");
  if (document.point_to_point && !document.collectives.empty()) {
    add("point to point", *document.point_to_point, format_bytes(*document.point_to_point));
    for (const CollectiveRow& row : document.collectives)
      add(fmt::format("{} on {}", row.operation, row.communicator), row.bytes,
          fmt::format("{} in {} calls", format_bytes(row.bytes), format_count(std::round(row.count))));
    finish("kinds", "bytes of point-to-point and collective operations");
  }
  for (const PhaseRow& row : document.phases) add(row.label, row.bytes, format_bytes(row.bytes));
  finish("phases", "point-to-point bytes of each phase");
}

void add_mappers(const ReportDocument& document, const DrawingOptions& options, std::vector<Drawing>& drawings) {
  std::vector<BarRow> rows;
  for (const MapperRow& row : document.mappers) {
    const std::string spread =
        row.seeds > 1 ? fmt::format(" ± {} of {} seeds", document.cost_text(row.cost_spread), row.seeds) : "";
    const std::string time = row.time_ms ? ", " + format_seconds(*row.time_ms / 1e3) : "";
    rows.push_back({row.name, row.cost, document.cost_text(row.cost).append(spread).append(time)});
    rows.back().meaning = row.chosen ? Meaning::after : Meaning::neutral;
  }
  if (rows.empty()) return;
  if (document.lower_bound)
    rows.push_back({document.larger_is_better() ? "upper bound" : "lower bound",
                    *document.lower_bound,
                    document.cost_text(*document.lower_bound),
                    {},
                    {},
                    Meaning::neutral});
  drawings.push_back(
      draw_bars("mappers", "cost of each mapping (" + document.model + ") and mapping time", rows, options));
}

void add_allocation(const AllocationSection& allocation, const DrawingOptions& options,
                    std::vector<Drawing>& drawings) {
  std::vector<BarRow> rows;
  double begin = 1e300, end = -1e300;
  for (const PolicyRow& policy : allocation.policies) {
    rows.push_back({policy.policy, policy.utilisation, percent(100 * policy.utilisation) + " used",
                    policy.contention_free, percent(100 * policy.contention_free) + " isolated"});
    for (const JobRow& job : policy.jobs) {
      begin = std::min(begin, job.submit);
      end = std::max(end, job.end);
    }
  }
  if (allocation.now) {
    for (const PolicyRow& policy : allocation.policies)
      drawings.push_back(draw_policy(policy, allocation.nodes, begin, end, options));
    return;
  }
  drawings.push_back(draw_bars(
      "policies", "share of the machine in use, and of parallel jobs that share no link or router", rows, options));
  rows.clear();
  for (const PolicyRow& policy : allocation.policies) {
    rows.push_back({policy.policy, policy.mean_wait, format_seconds(policy.mean_wait)});
    rows.back().meaning = Meaning::neutral;
  }
  drawings.push_back(draw_bars("waits", "mean waiting time", rows, options));
  for (const PolicyRow& policy : allocation.policies) {
    if (!policy.jobs.empty()) drawings.push_back(draw_policy(policy, allocation.nodes, begin, end, options));
  }
}

}  // namespace

std::vector<Drawing> draw(const ReportDocument& document, const Topology* topology, const DrawingOptions& options) {
  std::vector<Drawing> drawings;
  add_heat_maps(document, options, drawings);
  if (document.machine) {
    if (options.whole_machine || topology == nullptr) {
      add_machine(document, *document.machine, drawings);
    } else {
      const MachineLayoutOptions narrow{.max_columns = static_cast<std::uint32_t>(options.columns)};
      add_machine(document, lay_out_machine(*topology, narrow), drawings);
    }
  }
  add_comparison(document, options, drawings);
  add_profile(document, options, drawings);
  add_mappers(document, options, drawings);
  if (document.allocation) add_allocation(*document.allocation, options, drawings);
  if (document.online) {
    for (const OnlineNode& node : document.online->nodes) drawings.push_back(draw_online(node, options));
  }
  return drawings;
}

Drawing draw_bars(std::string name, std::string title, const std::vector<BarRow>& rows, const DrawingOptions& options) {
  Drawing drawing{std::move(name), std::move(title), {}};
  double most = 0, label_width = 0, text_width = 0;
  for (const BarRow& row : rows) {
    most = std::max({most, row.before, row.after.value_or(0)});
    label_width = std::max(label_width, static_cast<double>(display_width(row.label)));
    text_width = std::max({text_width, static_cast<double>(display_width(row.before_text)),
                           static_cast<double>(display_width(row.after_text))});
  }
  const double left = label_width + 1;
  const double room = std::max(10.0, static_cast<double>(options.columns) - left - text_width - 1);
  DisplayList& list = drawing.list;
  double y = 0;
  const auto bar = [&](Meaning meaning, double value, const std::string& text) {
    const double length = most > 0 && value > 0 ? std::max(0.25, room * value / most) : 0;
    if (length > 0) list.rectangle(meaning, left, y, length, 1, value, {}, text);
    const double end = length > 0 ? left + std::max(1.0, std::round(length)) + 1 : left;
    list.text(Meaning::label, end, y, text);
    list.width = std::max(list.width, end + static_cast<double>(display_width(text)));
    ++y;
  };
  for (const BarRow& row : rows) {
    list.text(Meaning::label, label_width, y, row.label, DisplayItem::Align::right);
    bar(row.meaning, row.before, row.before_text);
    if (row.after) bar(Meaning::after, *row.after, row.after_text);
  }
  list.height = y;
  return drawing;
}

}  // namespace rankloom
