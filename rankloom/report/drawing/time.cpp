// SPDX-License-Identifier: Apache-2.0
// report/drawing: pictures over time: jobs on their nodes, phases of a program.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/report/drawing/drawings.hpp"
#include "rankloom/report/text_format.hpp"

namespace rankloom {

namespace {

constexpr double label_width = 12;

void time_axis(DisplayList& list, double begin, double end, double y, double width) {
  list.text(Meaning::note, label_width, y, "0");
  list.text(Meaning::note, label_width + width, y, format_seconds(end - begin), DisplayItem::Align::right);
}

}  // namespace

Drawing draw_policy(const PolicyRow& policy, std::uint32_t nodes, double begin, double end,
                    const DrawingOptions& options) {
  std::uint64_t shared = 0;
  for (const JobRow& job : policy.jobs) shared += job.shares_links ? 1 : 0;
  Drawing drawing{"jobs-" + policy.policy,
                  fmt::format("{}: nodes (rows) over time; {} of {} jobs share a link or router with another",
                              policy.policy, shared, policy.jobs.size()),
                  {}};
  DisplayList& list = drawing.list;
  const double rows = std::min<double>(nodes, static_cast<double>(options.time_rows));
  const double width = static_cast<double>(options.columns) - label_width;
  const double row = rows / nodes;
  const auto x_of = [&](double time) { return end > begin ? width * (time - begin) / (end - begin) : 0; };
  list.text(Meaning::label, label_width - 1, 0, "node 0", DisplayItem::Align::right);
  if (rows > 1)
    list.text(Meaning::label, label_width - 1, rows - 1, fmt::format("node {}", nodes - 1), DisplayItem::Align::right);
  for (std::size_t number = 0; number < policy.jobs.size(); ++number) {
    const JobRow& job = policy.jobs[number];
    std::vector<std::uint32_t> where = job.nodes;
    std::sort(where.begin(), where.end());
    const std::string about = fmt::format("job {}: {}, waited {}, ran {}{}", job.id, counted(job.size, "node"),
                                          format_seconds(job.start - job.submit), format_seconds(job.end - job.start),
                                          job.shares_links ? ", shared links or routers" : "");
    for (std::size_t first = 0; first < where.size();) {
      std::size_t last = first + 1;
      while (last < where.size() && where[last] == where[last - 1] + 1) ++last;
      list.rectangle(job.shares_links ? Meaning::shared_job : Meaning::job, label_width + x_of(job.start),
                     where[first] * row, std::max(0.1, x_of(job.end) - x_of(job.start)),
                     static_cast<double>(last - first) * row, static_cast<double>(number), {}, about);
      first = last;
    }
  }
  time_axis(list, begin, end, rows, width);
  list.width = label_width + width;
  list.height = rows + 1;
  return drawing;
}

Drawing draw_online(const OnlineNode& node, const DrawingOptions& options) {
  Drawing drawing{"online-" + node.name, fmt::format("{}: phases over time, migrations below", node.name), {}};
  DisplayList& list = drawing.list;
  const double width = static_cast<double>(options.columns) - label_width;
  const auto x_of = [&](double time) {
    return label_width + (node.seconds > 0 ? width * std::clamp(time / node.seconds, 0.0, 1.0) : 0);
  };
  list.text(Meaning::label, label_width - 1, 0, "phase", DisplayItem::Align::right);
  for (const auto& phase : node.phases)
    list.rectangle(Meaning::phase, x_of(phase.begin), 0, std::max(0.2, x_of(phase.end) - x_of(phase.begin)), 1,
                   phase.kind.empty() ? 0 : phase.kind[0] - 'A', phase.kind,
                   fmt::format("{}: {} to {}", phase.kind, format_seconds(phase.begin), format_seconds(phase.end)));
  if (!node.migrations.empty()) list.text(Meaning::label, label_width - 1, 1, "moves", DisplayItem::Align::right);
  for (const auto& [at, moved] : node.migrations)
    list.rectangle(Meaning::mark, std::min(x_of(at), label_width + width - 1), 1, 0.25, 1, moved, {},
                   fmt::format("{} migrated at {}", counted(moved, "rank"), format_seconds(at)));
  time_axis(list, 0, node.seconds, 2, width);
  list.width = label_width + width;
  list.height = 3;
  return drawing;
}

}  // namespace rankloom
