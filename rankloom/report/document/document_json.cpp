// SPDX-License-Identifier: Apache-2.0
// report/document: the document as JSON.
#include "rankloom/report/document/document_json.hpp"

#include <algorithm>
#include <map>
#include <span>

#include <fmt/format.h>

#include "rankloom/report/document/packed_array.hpp"

namespace rankloom {

namespace {

using Json = nlohmann::ordered_json;
constexpr double unit_x = 8, unit_y = 16;

Json box_json(const MachineBox& box) {
  return {{"kind", box.kind},        {"label", box.label},       {"x", box.x * unit_x},          {"y", box.y * unit_y},
          {"w", box.width * unit_x}, {"h", box.height * unit_y}, {"first_core", box.first_core}, {"cores", box.cores}};
}

Json device_json(const DeviceBox& device) {
  Json json{{"kind", device.kind}, {"number", device.number}, {"label", device.label}};
  if (!device.name.empty()) json["name"] = device.name;
  if (!device.address.empty()) json["address"] = device.address;
  json["x"] = device.x * unit_x;
  json["y"] = device.y * unit_y;
  json["w"] = device.width * unit_x;
  json["h"] = device.height * unit_y;
  json["first_core"] = device.first_core;
  json["cores"] = device.cores;
  return json;
}

/// The number of nodes in use, at each time when it changes.
Json busy_json(const std::vector<JobRow>& jobs) {
  std::map<double, std::int64_t> changes;
  for (const JobRow& job : jobs) {
    changes[job.start] += job.size;
    changes[job.end] -= job.size;
  }
  Json times = Json::array(), nodes = Json::array();
  std::int64_t busy = 0;
  for (const auto& [time, change] : changes) {
    if (change == 0) continue;
    busy += change;
    times.push_back(time);
    nodes.push_back(busy);
  }
  return {{"time", std::move(times)}, {"nodes", std::move(nodes)}};
}

Json policy_json(const PolicyRow& row) {
  Json json{{"policy", row.policy},
            {"utilisation", row.utilisation},
            {"contention_free", row.contention_free},
            {"bounded_slowdown", row.bounded_slowdown},
            {"mean_wait", row.mean_wait},
            {"jobs_run", row.jobs_run},
            {"jobs", Json::array()}};
  for (const JobRow& job : row.jobs) {
    json["jobs"].push_back({{"id", job.id},
                            {"size", job.size},
                            {"submit", job.submit},
                            {"start", job.start},
                            {"end", job.end},
                            {"nodes", ranges(job.nodes)},
                            {"shares_links", job.shares_links}});
  }
  if (!row.jobs_note.empty()) json["jobs_note"] = row.jobs_note;
  if (!row.jobs.empty()) json["busy"] = busy_json(row.jobs);
  return json;
}

}  // namespace

std::string ranges(std::vector<std::uint32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string text;
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t end = begin + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[begin]);
    if (end - begin > 1) text += fmt::format("-{}", numbers[end - 1]);
    begin = end;
  }
  return text;
}

Json bottlenecks_json(std::span<const Bottleneck> bottlenecks) {
  Json json = Json::array();
  for (const Bottleneck& bottleneck : bottlenecks)
    json.push_back({{"name", bottleneck.name}, {"bytes", bottleneck.bytes}, {"seconds", bottleneck.seconds}});
  return json;
}

Json machine_json(const MachineLayout& machine) {
  Json json{{"size", {machine.width * unit_x, machine.height * unit_y}}, {"levels", Json::array()}};
  for (const MachineLayout::Level& level : machine.levels) {
    Json row{{"kind", level.kind}, {"count", level.count}, {"label", level.label}};
    if (level.has_cost) {
      row["gap"] = level.gap;
      row["latency"] = level.latency;
    }
    json["levels"].push_back(std::move(row));
  }
  json["boxes"] = Json::array();
  for (std::size_t at = 0; at < machine.boxes.size(); ++at) {
    Json box{{"id", at}, {"parent", machine.boxes[at].parent}};
    box.update(box_json(machine.boxes[at]));
    box["template"] = machine.boxes[at].template_index;
    json["boxes"].push_back(std::move(box));
  }
  json["templates"] = Json::array();
  for (const MachineTemplate& shape : machine.templates) {
    Json boxes = Json::array();
    for (const MachineBox& box : shape.boxes) boxes.push_back(box_json(box));
    Json row{{"w", shape.width * unit_x}, {"h", shape.height * unit_y}, {"boxes", std::move(boxes)}};
    for (const DeviceBox& device : shape.devices) row["devices"].push_back(device_json(device));
    json["templates"].push_back(std::move(row));
  }
  if (!machine.wires.empty()) json["wires"] = machine.wires;
  json["cores"] = machine.cores;
  if (!machine.note.empty()) json["note"] = machine.note;
  return json;
}

Json allocation_json(const AllocationSection& allocation) {
  Json json{{"trace", allocation.trace}, {"nodes", allocation.nodes}};
  if (allocation.machine) json["machine"] = machine_json(*allocation.machine);
  json["policies"] = Json::array();
  for (const PolicyRow& row : allocation.policies) json["policies"].push_back(policy_json(row));
  if (allocation.now) json["now"] = *allocation.now;
  if (!allocation.names.empty()) json["names"] = allocation.names;
  return json;
}

Json online_json(const OnlineSection& online) {
  Json json{{"program", online.program},
            {"windows", online.windows},
            {"window_s", online.window_seconds},
            {"nodes", Json::array()}};
  for (const OnlineNode& node : online.nodes) {
    Json row{{"name", node.name}, {"ranks", node.ranks}, {"seconds", node.seconds}, {"phases", Json::array()}};
    for (const auto& phase : node.phases)
      row["phases"].push_back({{"kind", phase.kind}, {"begin", phase.begin}, {"end", phase.end}});
    row["migrations"] = Json::array();
    for (const auto& [at, moved] : node.migrations) row["migrations"].push_back({{"at", at}, {"moved", moved}});
    row["cost"] = {{"time", node.decision_time}, {"stayed", node.cost_without_migration}, {"online", node.cost_online}};
    row["effect"] = {{"stayed", node.total_cost_without_migration}, {"online", node.total_cost_online}};
    json["nodes"].push_back(std::move(row));
  }
  if (online.restart) json["restart"] = {{"cost_mapped", online.restart->second}, {"cost_now", online.restart->first}};
  return json;
}

namespace {

using Json = nlohmann::ordered_json;

Json verdict_json(const Verdict& verdict) {
  Json json{
      {"kind", verdict.kind}, {"sentence", verdict.sentence}, {"notes", verdict.notes}, {"commands", verdict.commands}};
  const auto pair = [](const std::pair<double, double>& seconds) {
    return Json{{"before", seconds.first}, {"after", seconds.second}, {"unit", "s"}};
  };
  if (verdict.saved) json["saved"] = *verdict.saved;
  if (verdict.inside) json["inside"] = {{"before", verdict.inside->first}, {"after", verdict.inside->second}};
  if (verdict.predicted) {
    json["predicted"] = pair(*verdict.predicted);
    json["predicted"]["bottlenecks_before"] = bottlenecks_json(verdict.bottlenecks_before);
    json["predicted"]["bottlenecks_after"] = bottlenecks_json(verdict.bottlenecks_after);
  }
  if (verdict.simulated) json["simulated"] = pair(*verdict.simulated);
  if (verdict.measured) {
    const Measured& measured = *verdict.measured;
    json["measured"] = {{"before", measured.before},
                        {"after", measured.after},
                        {"unit", measured.unit},
                        {"speedup", measured.speedup},
                        {"spread", measured.spread}};
  }
  return json;
}

Json traffic_json(const ReportDocument& document, const DisplayedTraffic& shown) {
  const CommGraph& graph = shown.graph;
  std::vector<std::uint32_t> rows{0}, columns;
  std::vector<float> bytes, messages;
  for (const Rank rank : graph.ranks()) {
    for (std::size_t edge = 0; edge < graph.degree(rank); ++edge) {
      columns.push_back(index(graph.targets(rank)[edge]));
      bytes.push_back(static_cast<float>(graph.bytes(rank)[edge]));
      if (graph.has_messages()) messages.push_back(static_cast<float>(graph.messages(rank)[edge]));
    }
    rows.push_back(static_cast<std::uint32_t>(columns.size()));
  }
  Json json{{"ranks", graph.rank_count()},
            {"unit", "bytes"},
            {"total_bytes", document.total_bytes},
            {"total_messages", document.total_messages},
            {"rows", packed(rows)},
            {"columns", packed(columns)},
            {"bytes", packed(bytes)}};
  if (graph.has_messages()) json["messages"] = packed(messages);
  json["block"] = shown.ranks_per_vertex;
  if (shown.ranks_per_vertex > 1) {
    json["world_ranks"] = shown.rank_count;
    json["blocks_note"] = "too many ranks or pairs: consecutive ranks are combined into blocks";
  }
  if (document.undirected) json["undirected"] = true;
  return json;
}

Json heat_json(const ReportDocument& document) {
  Json json{{"labels", "sender rows, receiver columns"}, {"orders", Json::array()}};
  for (const HeatOrder& order : document.heat_orders)
    json["orders"].push_back(
        {{"id", order.id}, {"ranks", packed(order.ranks)}, {"borders", order.borders}, {"nodes", order.nodes}});
  double least = 0, most = 0;
  const CommGraph& graph = document.traffic->graph;
  for (const Rank rank : graph.ranks()) {
    for (std::size_t edge = 0; edge < graph.degree(rank); ++edge) {
      const double bytes = graph.bytes(rank)[edge];
      if (!(bytes > 0) || graph.targets(rank)[edge] == rank) continue;
      most = std::max(most, bytes);
      least = least > 0 ? std::min(least, bytes) : bytes;
    }
  }
  json["scale"] = {{"min", least}, {"max", most}};
  return json;
}

Json packed_cores(std::span<const Core> cores) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(cores.size());
  for (const Core core : cores) numbers.push_back(index(core));
  return packed(numbers);
}

Json slots_json(const RankSlots& slots) {
  Json json{{"slot_of", packed(slots.slot_of)}, {"ends", packed(slots.ends)}, {"leaves", packed_cores(slots.leaves)}};
  if (!slots.gpu_ends.empty()) {
    json["gpu_ends"] = packed(slots.gpu_ends);
    json["gpus"] = packed(slots.gpus);
  }
  return json;
}

const char* stroke_name(NetworkLayout::Stroke stroke) {
  switch (stroke) {
    case NetworkLayout::Stroke::axis:
      return "axis";
    case NetworkLayout::Stroke::node:
      return "node";
    case NetworkLayout::Stroke::curve:
      return "curve";
    case NetworkLayout::Stroke::line:
      break;
  }
  return "line";
}

Json loads_json(const NetworkSection::Loads& loads) {
  return {{"there", packed(loads.there)}, {"back", packed(loads.back)}};
}

Json network_json(const NetworkSection& network) {
  const NetworkLayout& layout = network.layout;
  Json json{{"text", layout.text},
            {"size", {layout.width, layout.height}},
            {"nodes", layout.nodes},
            {"labels", network.labels},
            {"first_core", packed(network.first_core)},
            {"x", packed(std::vector<float>(layout.x.begin(), layout.x.end()))},
            {"y", packed(std::vector<float>(layout.y.begin(), layout.y.end()))}};
  json["frames"] = Json::array();
  for (const NetworkLayout::Frame& frame : layout.frames)
    json["frames"].push_back({{"label", frame.label}, {"x", frame.x}, {"y", frame.y}, {"points", frame.points}});
  json["kinds"] = Json::array();
  for (const NetworkLayout::CableKind& kind : layout.kinds) {
    Json row{{"label", kind.label}, {"stroke", stroke_name(kind.stroke)}};
    if (kind.stroke == NetworkLayout::Stroke::curve) row["bend"] = kind.bend;
    if (kind.stroke == NetworkLayout::Stroke::axis) row["direction"] = {kind.dx, kind.dy};
    json["kinds"].push_back(std::move(row));
  }
  std::vector<std::uint32_t> a, b, kind;
  a.reserve(layout.cables.size());
  b.reserve(layout.cables.size());
  kind.reserve(layout.cables.size());
  for (const NetworkLayout::Cable& cable : layout.cables) {
    a.push_back(cable.a);
    b.push_back(cable.b);
    kind.push_back(cable.kind);
  }
  json["cables"] = {{"a", packed(a)}, {"b", packed(b)}, {"kind", packed(kind)}};
  if (!network.before.there.empty()) json["before"] = loads_json(network.before);
  if (!network.after.there.empty()) json["after"] = loads_json(network.after);
  return json;
}

Json orders_json(const std::vector<PlacementRow>& orders) {
  Json json = Json::array();
  for (const PlacementRow& order : orders) {
    json.push_back(
        {{"id", order.id}, {"label", order.label}, {"core_of", packed_cores(order.core_of)}, {"cost", order.cost}});
    if (!order.slots.empty()) json.back()["slots"] = slots_json(order.slots);
  }
  return json;
}

Json mappers_json(const ReportDocument& document) {
  Json json = Json::array();
  const double whole = document.cost_default.value_or(0);
  for (const MapperRow& row : document.mappers) {
    json.push_back({{"name", row.name},
                    {"cost", row.cost},
                    {"cost_spread", row.cost_spread},
                    {"seeds", row.seeds},
                    {"chosen", row.chosen}});
    if (row.time_ms) json.back()["time_ms"] = *row.time_ms;
    if (whole != 0) json.back()["relative"] = row.cost / whole;
    if (!row.note.empty()) json.back()["note"] = row.note;
  }
  return json;
}

Json reproduce_json(const Reproduction& reproduce) {
  Json files = Json::array();
  for (const SourceFile& file : reproduce.files)
    files.push_back({{"name", file.name}, {"sha256", file.sha256}, {"bytes", file.bytes}});
  return {{"version", reproduce.version},
          {"seed", reproduce.seed},
          {"commands", reproduce.commands},
          {"files", std::move(files)},
          {"libraries", reproduce.libraries}};
}

void add_traffic(const ReportDocument& document, Json& json) {
  if (!document.traffic) return;
  json["traffic"] = traffic_json(document, *document.traffic);
  if (document.traffic_mapped) json["traffic_mapped"] = traffic_json(document, *document.traffic_mapped);
  const bool placed = !document.orders.empty() && !document.orders.front().core_of.empty();
  if (document.traffic->ranks_per_vertex == 1 && placed) json["orders"] = orders_json(document.orders);
  if (!document.heat_orders.empty()) json["heatmap"] = heat_json(document);
}

void add_comparison(const ReportDocument& document, Json& json) {
  const bool compared = document.orders.size() > 1;
  for (const LevelRow& row : document.levels) {
    Json line{{"label", row.label}, {"bytes_before", row.bytes_before}, {"messages_before", row.messages_before}};
    if (compared) {
      line["bytes_after"] = row.bytes_after;
      line["messages_after"] = row.messages_after;
    }
    json["levels"].push_back(std::move(line));
  }
  if (document.size_distance) {
    const SizeDistanceMap& map = *document.size_distance;
    json["size_distance"] = {{"distances", map.distances}, {"sizes", map.sizes}, {"before", map.before}};
    if (!map.after.empty()) json["size_distance"]["after"] = map.after;
  }
  for (const LinkRow& row : document.links) {
    json["links"].push_back({{"label", row.label}, {"before", row.before}});
    if (compared) json["links"].back()["after"] = row.after;
  }
}

void add_profile(const ReportDocument& document, Json& json) {
  for (const SizeRow& row : document.sizes)
    json["sizes"].push_back({{"from", row.from}, {"to", row.to}, {"messages", row.messages}});
  if (document.point_to_point) {
    json["kinds"] = {{"point_to_point", *document.point_to_point}, {"collectives", Json::array()}};
    for (const CollectiveRow& row : document.collectives)
      json["kinds"]["collectives"].push_back({{"op", row.operation},
                                              {"communicator", row.communicator},
                                              {"members", row.members},
                                              {"count", row.count},
                                              {"bytes", row.bytes}});
  }
  if (!document.in_mpi.empty())
    json["ranks"] = {{"in_mpi", packed(document.in_mpi)}, {"outside", packed(document.outside)}};
  for (const PhaseRow& row : document.phases)
    json["phases"].push_back({{"label", row.label},
                              {"begin", row.begin},
                              {"end", row.end},
                              {"bytes", row.bytes},
                              {"messages", row.messages}});
}

}  // namespace

namespace {

/// Three shares in thousandths of an interval: computation, transfer << 10, waiting << 20.
std::vector<std::uint32_t> packed_states(const Timeline& timeline) {
  constexpr unsigned bits = 10;
  std::vector<std::uint32_t> states;
  states.reserve(timeline.compute.size());
  for (std::size_t cell = 0; cell < timeline.compute.size(); ++cell)
    states.push_back(std::uint32_t{timeline.compute[cell]} | std::uint32_t{timeline.transfer[cell]} << bits |
                     std::uint32_t{timeline.wait[cell]} << (2 * bits));
  return states;
}

std::vector<float> in_single_precision(const std::vector<double>& numbers) {
  return {numbers.begin(), numbers.end()};
}

Json timeline_json(const TimelineRow& row) {
  const Timeline& timeline = row.timeline;
  std::vector<std::uint32_t> kind, to, from;
  std::vector<float> begin, end;
  for (const PathStep& step : timeline.path) {
    kind.push_back(static_cast<std::uint32_t>(step.kind));
    to.push_back(step.to);
    from.push_back(step.from);
    begin.push_back(static_cast<float>(step.begin));
    end.push_back(static_cast<float>(step.end));
  }
  Json parts = Json::array();
  parts.push_back({{"label", "computation"}, {"seconds", timeline.path_compute}});
  parts.push_back({{"label", "collectives"}, {"seconds", timeline.path_collectives}});
  for (std::size_t level = 0; level < row.levels.size(); ++level)
    parts.push_back({{"label", "messages " + row.levels[level]}, {"seconds", timeline.path_messages[level]}});
  return {{"name", row.name},
          {"ranks", timeline.ranks},
          {"ranks_per_row", timeline.ranks_per_row},
          {"intervals", timeline.intervals},
          {"seconds", timeline.seconds},
          {"states", packed(packed_states(timeline))},
          {"compute", packed(in_single_precision(timeline.rank_compute))},
          {"transfer", packed(in_single_precision(timeline.rank_transfer))},
          {"wait", packed(in_single_precision(timeline.rank_wait))},
          {"path",
           {{"steps", timeline.path_steps},
            {"parts", std::move(parts)},
            {"kind", packed(kind)},
            {"to", packed(to)},
            {"from", packed(from)},
            {"begin", packed(begin)},
            {"end", packed(end)}}}};
}

}  // namespace

Json to_json(const ReportDocument& document) {
  Json json{{"schema", "rankloom-report/1"}, {"title", document.title}};
  if (!document.verdict.kind.empty()) json["verdict"] = verdict_json(document.verdict);
  add_traffic(document, json);
  if (document.machine && !document.machine->boxes.empty()) json["machine"] = machine_json(*document.machine);
  for (const NumberRow& row : document.numbers)
    json["numbers"].push_back({{"what", row.what}, {"value", row.value}, {"origin", row.origin}});
  add_comparison(document, json);
  if (document.network) json["network"] = network_json(*document.network);
  add_profile(document, json);
  for (const TimelineRow& row : document.timelines) json["timelines"].push_back(timeline_json(row));
  if (!document.mappers.empty()) json["mappers"] = mappers_json(document);
  if (!document.model.empty()) json["model"] = document.model;
  if (document.larger_is_better()) json["larger_is_better"] = true;
  if (document.lower_bound) json["lower_bound"] = *document.lower_bound;
  if (document.cost_default) json["cost_default"] = *document.cost_default;
  if (document.allocation) json["allocation"] = allocation_json(*document.allocation);
  if (document.online) json["online"] = online_json(*document.online);
  json["reproduce"] = reproduce_json(document.reproduce);
  return json;
}

}  // namespace rankloom
