// SPDX-License-Identifier: Apache-2.0
// report/document: the properties of a program or a machine, and the effect of a mapping.
#include "rankloom/report/document/describe.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/evaluate/metrics.hpp"
#include "rankloom/evaluate/size_distance.hpp"
#include "rankloom/model/cost/loads.hpp"
#include "rankloom/model/machine/origins.hpp"
#include "rankloom/model/prediction/bottlenecks.hpp"
#include "rankloom/report/document/displayed_traffic.hpp"
#include "rankloom/report/layout/network_layout.hpp"
#include "rankloom/report/terminal/machine_outline.hpp"
#include "rankloom/report/topology_findings.hpp"

namespace rankloom {

namespace {

constexpr std::size_t max_links = 10;

/// The bytes on each link; `after` is empty if nothing is compared.
struct LinkLoads {
  std::vector<double> before, after;
};

/// The most loaded links before or after, sorted by their load before.
std::vector<LinkRow> hottest_links(const Topology& topology, const LinkLoads& loads) {
  const auto before = [&](std::uint32_t link) { return loads.before[link]; };
  const auto after = [&](std::uint32_t link) { return loads.after.empty() ? 0.0 : loads.after[link]; };
  std::vector<std::uint32_t> order;
  for (std::uint32_t link = 0; link < loads.before.size(); ++link) {
    if (before(link) > 0 || after(link) > 0) order.push_back(link);
  }
  const auto most = [&](std::uint32_t link) { return std::max(before(link), after(link)); };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), max_links));
  std::partial_sort(order.begin(), end, order.end(),
                    [&](std::uint32_t a, std::uint32_t b) { return most(a) != most(b) ? most(a) > most(b) : a < b; });
  order.erase(end, order.end());
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return before(a) > before(b); });
  std::vector<LinkRow> rows;
  for (const std::uint32_t link : order) {
    const auto [from, to] = topology.network().endpoints(topology.network_link(Link{link}));
    const auto rail = topology.rail_of(Link{link});
    rows.push_back({fmt::format("{} → {}{}", vertex_label(topology, from), vertex_label(topology, to),
                                rail ? fmt::format(", rail {}", *rail) : ""),
                    before(link), after(link)});
  }
  return rows;
}

NetworkSection::Loads cable_loads(const Topology& topology, const NetworkLayout& layout,
                                  std::span<const double> loads) {
  NetworkSection::Loads result;
  if (loads.empty()) return result;
  result.there.resize(layout.cables.size());
  result.back.resize(layout.cables.size());
  for (std::uint32_t link = 0; link < loads.size(); ++link) {
    const std::uint32_t of_network = index(topology.network_link(Link{link}));  // of the rails of a cable the busiest
    float& load = (layout.forward[of_network] ? result.there : result.back)[layout.cable_of[of_network]];
    load = std::max(load, static_cast<float>(loads[link]));
  }
  return result;
}

std::optional<NetworkSection> network_of(const Topology& topology, const LinkLoads& loads) {
  auto layout = lay_out_network(topology);
  if (!layout) return std::nullopt;
  NetworkSection section;
  section.before = cable_loads(topology, *layout, loads.before);
  section.after = cable_loads(topology, *layout, loads.after);
  section.layout = *std::move(layout);
  const std::uint32_t vertices = topology.network().vertex_count();
  section.labels.reserve(vertices);
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex)
    section.labels.push_back(vertex_label(topology, Vertex{vertex}));
  section.first_core.reserve(topology.node_count());
  for (const Node node : topology.nodes())
    section.first_core.push_back(index(topology.first_core(topology.node_level(), index(node))));
  return section;
}

std::vector<LevelRow> levels_of(const CommGraph& graph, const Topology& topology,
                                const ComparedPlacements& placements) {
  const auto before = level_traffic(graph, topology, placements.before);
  const auto after = placements.after.empty() ? before : level_traffic(graph, topology, placements.after);
  std::vector<LevelRow> rows;
  for (std::size_t at = 0; at < before.size(); ++at) {
    const bool carries =
        before[at].messages > 0 || after[at].messages > 0 || before[at].bytes > 0 || after[at].bytes > 0;
    if (!carries && (at == before.size() - 1 || topology.levels()[at].is_private())) continue;
    const std::string label = at + 1 < before.size() ? level_label(topology, at) : "on the same core";
    rows.push_back({label, before[at].bytes, before[at].messages, after[at].bytes, after[at].messages});
  }
  return rows;
}

std::string distance_label(const Topology& topology, const SizesAtDistance& row) {
  if (row.hops > 0)
    return row.hops == SizesAtDistance::max_hops ? fmt::format("{} hops or more", row.hops) : counted(row.hops, "hop");
  return row.level < topology.levels().size() ? level_label(topology, row.level) : "on the same core";
}

/// The farther distance is the lower one.
std::pair<std::uint32_t, std::size_t> distance_key(const SizesAtDistance& row) {
  return {SizesAtDistance::max_hops - row.hops, row.level};
}

/// Nothing if the profile does not count messages. Sizes without traffic at both ends are left out.
std::optional<SizeDistanceMap> size_distance_of(const CommGraph& graph, const Topology& topology,
                                                const ComparedPlacements& placements) {
  const auto before = sizes_by_distance(graph, topology, placements.before);
  const auto after =
      placements.after.empty() ? std::vector<SizesAtDistance>() : sizes_by_distance(graph, topology, placements.after);
  if (before.empty()) return std::nullopt;
  std::map<std::pair<std::uint32_t, std::size_t>, std::string> labels;
  std::size_t first = SizesAtDistance::size_classes, end = 0;
  for (const auto* const rows : {&before, &after}) {
    for (const SizesAtDistance& row : *rows) {
      labels.emplace(distance_key(row), distance_label(topology, row));
      for (std::size_t size = 0; size < row.bytes.size(); ++size) {
        if (row.bytes[size] == 0) continue;
        first = std::min(first, size);
        end = std::max(end, size + 1);
      }
    }
  }
  SizeDistanceMap map;
  for (std::size_t size = first; size < end; ++size) map.sizes.push_back(std::uint64_t{1} << size);
  for (const auto& [key, label] : labels) map.distances.push_back(label);
  const auto fill = [&](const std::vector<SizesAtDistance>& rows, std::vector<SizeDistanceMap::Row>& table) {
    table.assign(labels.size(), SizeDistanceMap::Row(end - first));
    for (const SizesAtDistance& row : rows) {
      const auto at = static_cast<std::size_t>(std::distance(labels.begin(), labels.find(distance_key(row))));
      std::copy_n(row.bytes.begin() + static_cast<std::ptrdiff_t>(first), end - first, table[at].begin());
    }
  };
  fill(before, map.before);
  if (!placements.after.empty()) fill(after, map.after);
  return map;
}

/// The share of the bytes that stays within nodes.
double share_inside(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of) {
  const auto levels = level_traffic(graph, topology, core_of);
  double all = 0, inside = 0;
  for (std::size_t at = 0; at < levels.size(); ++at) {
    all += levels[at].bytes;
    if (at > topology.node_level()) inside += levels[at].bytes;
  }
  return all > 0 ? inside / all : 1;
}

void predict_times(const CommGraph& graph, const Topology& topology, const ComparedPlacements& placements,
                   ReportDocument& document) {
  auto platform = Platform::of(topology);
  if (!platform || placements.after.empty()) return;  // without links there is no prediction
  PredictedTime before = predict_time(graph, *platform, placements.before);
  PredictedTime after = predict_time(graph, *platform, placements.after);
  document.verdict.predicted = {before.seconds, after.seconds};
  document.verdict.bottlenecks_before = std::move(before.bottlenecks);
  document.verdict.bottlenecks_after = std::move(after.bottlenecks);
}

void show(CommGraph graph, ReportDocument& document) {
  const std::uint32_t block = block_size(graph);
  document.total_bytes = graph.total_bytes();
  document.total_messages = graph.total_messages();
  document.undirected = graph.undirected();
  if (block == 1) {
    const std::uint32_t ranks = graph.rank_count();
    document.traffic = DisplayedTraffic{std::move(graph), 1, ranks};
    return;
  }
  document.traffic = in_blocks(graph, {}, block);
  // The last placement is the proposed one.
  if (document.orders.size() > 1) document.traffic_mapped = in_blocks(graph, document.heat_orders.back().ranks, block);
  for (HeatOrder& order : document.heat_orders) order = in_blocks(std::move(order), block);
}

}  // namespace

void describe_traffic(CommGraph graph, ReportDocument& document) {
  HeatOrder order;
  order.id = "ranks";
  order.ranks.resize(graph.rank_count());
  std::iota(order.ranks.begin(), order.ranks.end(), 0U);
  document.heat_orders.push_back(std::move(order));
  show(std::move(graph), document);
}

void describe_placements(CommGraph graph, const Topology& topology, ComparedPlacements placements,
                         ReportDocument& document) {
  document.machine = lay_out_machine(topology);
  document.levels = levels_of(graph, topology, placements);
  document.size_distance = size_distance_of(graph, topology, placements);
  document.model = info(placements.model).name;
  if (!topology.is_matrix() && topology.node_count() > 1 && !placements.after.empty())
    document.verdict.inside = {share_inside(graph, topology, placements.before),
                               share_inside(graph, topology, placements.after)};
  const bool walk = graph.edge_count() <= many_edges && !topology.is_matrix();
  if (walk) {
    LinkLoads loads{link_loads(graph, topology, placements.before), {}};
    if (!placements.after.empty()) loads.after = link_loads(graph, topology, placements.after);
    document.links = hottest_links(topology, loads);
    document.network = network_of(topology, loads);
    predict_times(graph, topology, placements, document);
  }
  const bool draws_nodes = !document.machine->templates.empty();
  const auto add = [&](std::string id, std::string label, std::vector<Core>& core_of) {
    document.heat_orders.push_back(heat_order(id, topology, core_of));
    const double cost = evaluate(graph, topology, core_of, placements.model);
    RankSlots slots = draws_nodes ? rank_slots(core_of, topology, placements.shapes) : RankSlots();
    document.orders.push_back({std::move(id), std::move(label), std::move(core_of), cost, std::move(slots)});
  };
  const bool compared = !placements.after.empty();
  document.default_is_first = true;
  add("before", label_of_default(placements.before_name), placements.before);
  if (compared) add("after", placements.after_label, placements.after);
  if (!document.cost_default) document.cost_default = document.orders.front().cost;
  show(std::move(graph), document);
}

namespace {

std::string width_name(const std::string& kind) {
  if (kind == "bus") return "messages at full rate on the memory bus of a node";
  if (kind == "node") return "messages at full rate through the network cards of a node";
  if (kind == "link") return "messages at full rate on a link";
  return fmt::format("messages at full rate through the uplink of a {}", kind);
}

/// Costs from the top down, then widths.
std::vector<NumberRow> numbers_of(const Topology& topology) {
  std::vector<NumberRow> rows;
  if (topology.is_matrix()) return rows;
  if (topology.routed())
    rows.push_back({"over one hop of the network", cost_text(topology.network().per_hop()),
                    std::string(to_string(cost_origin(topology, topology.node_level())))});
  for (std::size_t level = 0; level < topology.levels().size(); ++level) {
    if (const auto& cost = topology.levels()[level].cost)
      rows.push_back(
          {level_label(topology, level), cost_text(*cost), std::string(to_string(cost_origin(topology, level)))});
  }
  for (const ChannelSpec::Width& width : effective_widths(topology)) {
    rows.push_back({width_name(width.kind),
                    std::isinf(width.messages) ? "unlimited" : fmt::format("{}", width.messages),
                    std::string(to_string(width.origin))});
  }
  return rows;
}

}  // namespace

void describe_machine(const Topology& topology, std::string_view headline, ReportDocument& document) {
  document.machine = lay_out_machine(topology);
  if (!topology.is_matrix()) document.network = network_of(topology, {});
  document.numbers = numbers_of(topology);
  document.verdict.kind = "machine";
  document.verdict.sentence = fmt::format("{}.", headline);
  for (const TopologyFinding& finding : check_topology(topology))
    document.verdict.notes.push_back(fmt::format("{}. {}", finding.what, finding.hint));
}

namespace {

constexpr std::size_t max_collectives = 40;

std::string name_of(const Profile& profile, std::uint32_t communicator) {
  const Communicator& group = profile.communicators[communicator];
  if (!group.name.empty()) return group.name;
  return group.members.empty() ? "MPI_COMM_WORLD" : fmt::format("communicator {}", communicator);
}

/// Grouped by operation and communicator; all rows after the first forty are added up.
std::vector<CollectiveRow> collectives_of(const Profile& profile) {
  std::map<std::pair<CollectiveOp, std::uint32_t>, CollectiveRow> rows;
  for (const Collective& collective : profile.collectives) {
    CollectiveRow& row = rows[{collective.op, collective.communicator}];
    row.count += collective.count;
    row.bytes += collective.count * collective.bytes;
  }
  std::vector<CollectiveRow> list;
  for (auto& [key, row] : rows) {
    const auto& members = profile.communicators[key.second].members;
    row.operation = to_string(key.first);
    row.communicator = name_of(profile, key.second);
    row.members = members.empty() ? profile.rank_count() : members.size();
    list.push_back(std::move(row));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const CollectiveRow& a, const CollectiveRow& b) { return a.bytes > b.bytes; });
  if (list.size() <= max_collectives) return list;
  CollectiveRow rest{"others", fmt::format("{} more", list.size() - max_collectives), 0, 0, 0};
  for (std::size_t i = max_collectives; i < list.size(); ++i) {
    rest.count += list[i].count;
    rest.bytes += list[i].bytes;
  }
  list.resize(max_collectives);
  list.push_back(std::move(rest));
  return list;
}

double bytes_between_ranks(const CommGraph& graph) {
  double bytes = graph.total_bytes();
  for (const Rank rank : graph.ranks()) {
    const auto targets = graph.targets(rank);
    const auto self = std::lower_bound(targets.begin(), targets.end(), rank);
    if (self != targets.end() && *self == rank) bytes -= graph.bytes(rank)[self - targets.begin()];
  }
  return bytes;
}

}  // namespace

void describe_profile(const Profile& profile, ReportDocument& document) {
  for (const auto& [size, messages] : profile.sizes)
    document.sizes.push_back({size, size == 0 ? 0 : 2 * size - 1, messages});
  document.point_to_point = bytes_between_ranks(profile.point_to_point);
  document.collectives = collectives_of(profile);
  if (profile.expanded_collectives.rank_count() > 0) {
    document.collectives.push_back(
        {"as pairs", "recorded as point-to-point messages", 0, 0, bytes_between_ranks(profile.expanded_collectives)});
  }
  for (const RankActivity& activity : profile.activity) {
    document.in_mpi.push_back(static_cast<float>(activity.seconds_in_mpi));
    document.outside.push_back(static_cast<float>(activity.seconds_outside));
  }
  for (const Phase& phase : profile.phases) {
    if (phase.end <= phase.begin) continue;  // the page shows them over time
    document.phases.push_back({phase.name, phase.begin, phase.end, bytes_between_ranks(phase.point_to_point),
                               phase.point_to_point.total_messages()});
  }
}

}  // namespace rankloom
