// SPDX-License-Identifier: Apache-2.0
// model/machine: the origins of widths and costs.
#include "rankloom/model/machine/origins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/model/machine/platform.hpp"

namespace rankloom {

namespace {

class WidthList {
 public:
  explicit WidthList(const ChannelSpec& channels) : channels_(channels) {}

  /// Several levels may have the same kind, and share its width.
  void add(const std::string& kind, std::optional<double> default_width) {
    if (std::ranges::find(list_, kind, &ChannelSpec::Width::kind) != list_.end()) return;
    const auto given = std::ranges::find(channels_.widths, kind, &ChannelSpec::Width::kind);
    if (given != channels_.widths.end()) {
      list_.push_back(*given);
    } else if (default_width) {
      list_.push_back({.kind = kind, .messages = *default_width, .origin = Origin::assumed});
    }
  }

  std::vector<ChannelSpec::Width> take() && { return std::move(list_); }

 private:
  const ChannelSpec& channels_;
  std::vector<ChannelSpec::Width> list_;
};

/// Whether an object has several children of this kind, but no cost between them.
bool lacks_cost(const ObjectSpec& object, const std::string& kind) {
  const auto& children = object.children;
  if (children.empty()) return false;
  const bool separates = children.size() > 1 || children[0].repeat > 1;
  if (separates && !object.between && children[0].kind == kind) return true;
  return std::ranges::any_of(children, [&](const ObjectSpec& child) { return lacks_cost(child, kind); });
}

std::string width_text(const ChannelSpec::Width& width) {
  return std::isinf(width.messages) ? fmt::format("{} unlimited", width.kind)
                                    : fmt::format("{}={}", width.kind, width.messages);
}

/// "width A, B; costs of C, D"
std::string join_numbers(const std::vector<std::string>& widths, const std::vector<std::string>& costs) {
  std::string text;
  if (!widths.empty()) text = fmt::format("width {}", fmt::join(widths, ", "));
  if (!costs.empty()) text += fmt::format("{}costs of {}", text.empty() ? "" : "; ", fmt::join(costs, ", "));
  return text;
}

/// Calls visit(kind, origin) for each kind of level at which cores diverge.
template <class Visit>
void for_each_cost(const Topology& topology, const Visit& visit) {
  std::vector<std::string> seen;
  for (std::size_t level = 0; level < topology.levels().size(); ++level) {
    const Topology::Level& row = topology.levels()[level];
    if (row.is_private() || std::ranges::find(seen, row.kind) != seen.end()) continue;
    visit(seen.emplace_back(row.kind), cost_origin(topology, level));
  }
}

}  // namespace

std::vector<ChannelSpec::Width> effective_widths(const Topology& topology) {
  if (topology.is_matrix()) return {};
  WidthList list(topology.spec().channels);
  for (std::size_t level = 0; level < topology.levels().size(); ++level) {
    const double width = channel_width(topology, level);
    const bool is_shared = level <= topology.node_level() && !std::isinf(width);
    list.add(topology.levels()[level].kind, is_shared ? std::optional(width) : std::nullopt);
  }
  if (topology.routed()) list.add("link", 1);
  std::optional<double> bus;
  if (topology.core_count() > topology.node_count()) bus = std::numeric_limits<double>::infinity();
  list.add("bus", bus);
  return std::move(list).take();
}

Origin cost_origin(const Topology& topology, std::size_t level) {
  const std::string& kind = topology.levels()[level].kind;
  const bool has_cost = level > topology.node_level() || !topology.routed();
  if (has_cost && lacks_cost(topology.spec().root, kind)) return Origin::assumed;
  return topology.spec().channels.cost_origin(kind);
}

std::string assumed_numbers(const Topology& topology) {
  if (topology.is_matrix()) return {};
  std::vector<std::string> widths, costs;
  for (const ChannelSpec::Width& width : effective_widths(topology)) {
    if (width.origin == Origin::assumed) widths.push_back(width_text(width));
  }
  for_each_cost(topology, [&](const std::string& kind, Origin origin) {
    if (origin == Origin::assumed) costs.push_back(kind);
  });
  return join_numbers(widths, costs);
}

std::string known_numbers(const Topology& topology) {
  if (topology.is_matrix()) return {};
  std::vector<std::string> widths, costs;
  for (const ChannelSpec::Width& width : effective_widths(topology)) {
    if (width.origin != Origin::assumed)
      widths.push_back(fmt::format("{} ({})", width_text(width), to_string(width.origin)));
  }
  for_each_cost(topology, [&](const std::string& kind, Origin origin) {
    if (origin == Origin::discovered || origin == Origin::measured)
      costs.push_back(fmt::format("{} ({})", kind, to_string(origin)));
  });
  return join_numbers(widths, costs);
}

}  // namespace rankloom
