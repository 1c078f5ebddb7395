// SPDX-License-Identifier: Apache-2.0
// report/document: what a mapping changes.
#include <algorithm>
#include <numeric>
#include <variant>

#include <fmt/format.h>

#include "rankloom/evaluate/metrics.hpp"
#include "rankloom/evaluate/predict.hpp"
#include "rankloom/model/link_loads.hpp"
#include "rankloom/model/network/networks.hpp"
#include "rankloom/report/document/describe.hpp"
#include "rankloom/report/document/shown_traffic.hpp"

namespace rankloom {

namespace {

/// Beyond so many edges, routes are not walked: they take minutes that nobody asked for.
constexpr EdgeIndex many_edges = 20'000'000;
constexpr std::size_t most_links = 10;

std::string vertex_label(const Topology& topology, Vertex vertex) {
  const std::uint32_t nodes = topology.network().node_count();
  if (index(vertex) < nodes) return node_label(topology, Node{index(vertex)});
  // A tree of switches has one above all.
  const bool tree = std::holds_alternative<TreeShape>(topology.network().shape());
  if (tree && index(vertex) + 1 == topology.network().vertex_count()) return "top switch";
  return fmt::format("switch {}", index(vertex) - nodes);
}

/// The links that carry most before or after, by what they carry before.
std::vector<LinkRow> hottest_links(const CommGraph& graph, const Topology& topology, const Placements& placements) {
  const std::vector<double> before = link_loads(graph, topology, placements.before);
  const std::vector<double> after = placements.after.empty() ? std::vector<double>(before.size(), 0.0)
                                                             : link_loads(graph, topology, placements.after);
  std::vector<std::uint32_t> order;
  for (std::uint32_t link = 0; link < before.size(); ++link) {
    if (before[link] > 0 || after[link] > 0) order.push_back(link);
  }
  const auto most = [&](std::uint32_t link) { return std::max(before[link], after[link]); };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), most_links));
  std::partial_sort(order.begin(), end, order.end(),
                    [&](std::uint32_t a, std::uint32_t b) { return most(a) != most(b) ? most(a) > most(b) : a < b; });
  order.erase(end, order.end());
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return before[a] > before[b]; });
  std::vector<LinkRow> rows;
  for (const std::uint32_t link : order) {
    const auto [from, to] = topology.network().ends(Link{link});
    rows.push_back(
        {fmt::format("{} → {}", vertex_label(topology, from), vertex_label(topology, to)), before[link], after[link]});
  }
  return rows;
}

std::vector<LevelRow> levels_of(const CommGraph& graph, const Topology& topology, const Placements& placements) {
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

void predict_times(const CommGraph& graph, const Topology& topology, const Placements& placements,
                   ReportDocument& document) {
  auto platform = Platform::of(topology, {});
  if (!platform || placements.after.empty()) return;  // what has no wires is not predicted
  document.verdict.predicted = {predict(graph, *platform, placements.before).seconds,
                                predict(graph, *platform, placements.after).seconds};
}

void show(CommGraph graph, ReportDocument& document) {
  const std::uint32_t block = block_size(graph);
  document.total_bytes = graph.total_bytes();
  document.total_messages = graph.total_messages();
  document.undirected = graph.undirected();
  if (block == 1) {
    const std::uint32_t ranks = graph.rank_count();
    document.traffic = ShownTraffic{std::move(graph), 1, ranks};
    return;
  }
  document.traffic = in_blocks(graph, {}, block);
  // The last order is the one that is proposed.
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

void describe_placements(CommGraph graph, const Topology& topology, Placements placements, ReportDocument& document) {
  document.machine = lay_out_machine(topology);
  document.levels = levels_of(graph, topology, placements);
  document.model = info(placements.model).name;
  const bool walk = graph.edge_count() <= many_edges && !topology.is_matrix();
  if (walk) {
    document.links = hottest_links(graph, topology, placements);
    predict_times(graph, topology, placements, document);
  }
  const auto add = [&](std::string id, std::string label, std::vector<Core>& core_of) {
    document.heat_orders.push_back(heat_order(id, topology, core_of));
    const double cost = evaluate(graph, topology, core_of, placements.model);
    document.orders.push_back({std::move(id), std::move(label), std::move(core_of), cost});
  };
  const bool compared = !placements.after.empty();
  add("before", default_order, placements.before);
  if (compared) add("after", placements.after_label, placements.after);
  if (!document.cost_default) document.cost_default = document.orders.front().cost;
  show(std::move(graph), document);
}

}  // namespace rankloom
