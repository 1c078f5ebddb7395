// SPDX-License-Identifier: Apache-2.0
// apps/verbs/machine: prints a machine for users and for scripts.
#include "apps/rankloom/verbs/machine/machine_output.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/model/machine/origins.hpp"
#include "rankloom/report/terminal/machine_outline.hpp"

namespace rankloom::app {

namespace {

std::uint64_t count_slots(const Topology& topology) {
  std::uint64_t slots = 0;
  for (const Core core : topology.cores()) slots += topology.capacity(core);
  return slots;
}

std::uint64_t count_devices(const Topology& topology, std::string_view kind) {
  const auto devices = topology.devices();
  return static_cast<std::uint64_t>(std::count_if(devices.begin(), devices.end(),
                                                  [&](const Topology::Device& device) { return device.kind == kind; }));
}

/// "  numa 0 of node0: GPUs 4, 5; network card 0 (mlx5_0)", one line per group of devices with the same cores near
/// them.
std::string device_lines(const Topology& topology) {
  constexpr std::size_t max_lines = 16;
  std::string text;
  const auto devices = topology.devices();
  std::size_t lines = 0;
  for (std::size_t begin = 0, end = 0; begin < devices.size(); begin = end) {
    const Topology::Device& first = devices[begin];
    const auto same = [&](const Topology::Device& other) {
      return other.kind == first.kind && other.first == first.first && other.end == first.end;
    };
    while (end < devices.size() && same(devices[end])) ++end;
    if (++lines > max_lines) continue;
    std::string names;
    for (const Topology::Device& device : devices.subspan(begin, end - begin)) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", device.number);
      if (!device.name.empty()) names += fmt::format(" ({})", device.name);
    }
    text += fmt::format("  {} {} of {}: near cores {} to {}\n", first.kind, names, topology.node_name(first.node),
                        index(first.first), index(first.end) - 1);
  }
  if (lines > max_lines) text += fmt::format("  and {} more groups of devices\n", lines - max_lines);
  return text.empty() ? text : "\n" + text;
}

/// A link that the same GPUs of several nodes have.
struct LinkOfNodes {
  const Topology::GpuLink* link;  // of the first of these nodes
  std::uint64_t nodes = 0;
};

std::vector<LinkOfNodes> links_of_nodes(const Topology& topology) {
  std::vector<LinkOfNodes> links;
  using Key = std::tuple<std::vector<std::uint32_t>, double, double>;
  std::map<Key, std::size_t> known;
  for (const Topology::GpuLink& link : topology.gpu_links()) {
    const auto [position, is_new] =
        known.try_emplace(Key{link.gpus, link.cost.inverse_bandwidth, link.cost.latency}, links.size());
    if (is_new) links.push_back({&link});
    ++links[position->second].nodes;
  }
  return links;
}

/// "  link between gpu 0, 1, 2, 3 of 4 nodes: cost 0.02", one line per link.
std::string link_lines(const Topology& topology) {
  constexpr std::size_t max_lines = 32;
  const std::vector<LinkOfNodes> links = links_of_nodes(topology);
  std::string text;
  for (const LinkOfNodes& entry : std::span(links).first(std::min(links.size(), max_lines))) {
    text += fmt::format("  link between gpu {} of {}: cost {}\n", fmt::join(entry.link->gpus, ", "),
                        entry.nodes == 1 ? topology.node_name(entry.link->node) : counted(entry.nodes, "node"),
                        cost_text(entry.link->cost));
  }
  if (links.size() > max_lines) text += fmt::format("  and {} more links between GPUs\n", links.size() - max_lines);
  return text;
}

Json link_json(const LinkOfNodes& entry) {
  return {{"gpus", entry.link->gpus},
          {"nodes", entry.nodes},
          {"inverse_bandwidth", entry.link->cost.inverse_bandwidth},
          {"latency", entry.link->cost.latency}};
}

/// Where widths and costs come from.
std::string origin_lines(const Topology& topology) {
  std::string text;
  if (const std::string known = known_numbers(topology); !known.empty()) text += fmt::format("  known: {}\n", known);
  text += assumed_line(topology);
  return text.empty() ? text : "\n" + text;
}

Json widths_json(const Topology& topology) {
  Json json = Json::array();
  for (const ChannelSpec::Width& width : effective_widths(topology)) {
    json.push_back({{"kind", width.kind},
                    {"width", std::isinf(width.messages) ? Json() : Json(width.messages)},
                    {"origin", to_string(width.origin)}});
  }
  return json;
}

Json network_json(const Topology& topology) {
  const Network& network = topology.network();
  return {{"text", network.text()},
          {"nodes", network.node_count()},
          {"routers", network.vertex_count() - network.node_count()},
          {"links", network.link_count()},
          {"diameter", network.diameter()},
          {"inverse_bandwidth", network.per_hop().inverse_bandwidth},
          {"latency", network.per_hop().latency}};
}

std::string network_line(const Topology& topology) {
  const Network& network = topology.network();
  return fmt::format("{}: {}, diameter {}, {} per hop\n", network.text(), counted(network.link_count(), "link"),
                     counted(network.diameter(), "hop"), fmt::format("cost {}", cost_text(network.per_hop())));
}

}  // namespace

Json machine_json(const Topology& topology) {
  Json json{{"nodes", topology.node_count()},
            {"cores", count_cores(topology)},
            {"pus", topology.core_count()},
            {"slots", count_slots(topology)}};
  json["levels"] = Json::array();
  for (std::size_t i = 0; i < topology.levels().size(); ++i) {
    const Topology::Level& level = topology.levels()[i];
    json["levels"].push_back({{"kind", level.kind},
                              {"objects", level.objects},
                              {"arity", level.arity},
                              {"inverse_bandwidth", level.cost ? Json(level.cost->inverse_bandwidth) : Json()},
                              {"latency", level.cost ? Json(level.cost->latency) : Json()},
                              {"origin", to_string(cost_origin(topology, i))},
                              {"private", level.is_private()}});
  }
  json["widths"] = widths_json(topology);
  json["assumed"] = assumed_numbers(topology);
  json["symmetric"] = topology.symmetric();
  json["routed"] = topology.routed();
  if (topology.rail_count() > 0) json["rails"] = topology.rail_count();
  if (topology.routed()) json["network"] = network_json(topology);
  for (const std::string_view kind : {"gpu", "nic"}) {
    if (const std::uint64_t devices = count_devices(topology, kind); devices > 0)
      json[fmt::format("{}s", kind)] = devices;
  }
  for (const LinkOfNodes& entry : links_of_nodes(topology)) json["gpu_links"].push_back(link_json(entry));
  return json;
}

std::string machine_headline(const Topology& topology) {
  std::string text = fmt::format("{}, {}", counted(topology.node_count(), "node"), counted_cores(topology));
  const std::uint64_t slots = count_slots(topology);
  if (slots != topology.core_count()) text += fmt::format(", {}", counted(slots, "slot"));
  if (const std::uint64_t gpus = count_devices(topology, "gpu"); gpus > 0)
    text += fmt::format(", {}", counted(gpus, "GPU"));
  if (topology.rail_count() > 0) text += fmt::format(", {}", counted(topology.rail_count(), "rail"));
  return text;
}

std::string machine_drawing(const Topology& topology, bool ascii, std::size_t width) {
  return machine_headline(topology) + "\n" + (topology.routed() ? network_line(topology) : "") + "\n" +
         draw_outline(outline_machine(topology), {.ascii = ascii, .width = width}) + device_lines(topology) +
         link_lines(topology) + origin_lines(topology);
}

Result<int> deliver_machine(const Session& session, const Topology& topology, const std::string& output, bool ascii,
                            const Json& more, const std::string& details) {
  const std::string text = output.empty() ? std::string() : write_machine_json(topology.spec());
  if (!output.empty()) {
    if (auto written = write_file(output, text); !written) return propagate(written);
  }
  if (output == "-") return success;
  if (session.json) {
    Json json = machine_json(topology);
    if (!output.empty()) json["output"] = output;
    json.update(more);
    print_json(json);
    return success;
  }
  print(machine_drawing(topology, ascii, session.width) + details);
  if (!output.empty()) print(fmt::format("\nwritten to {}: use it with -t {}\n", output, shell_quote(output)));
  return success;
}

}  // namespace rankloom::app
