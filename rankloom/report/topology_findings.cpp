// SPDX-License-Identifier: Apache-2.0
// report: warnings about a valid machine.
#include "rankloom/report/topology_findings.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/report/terminal/machine_outline.hpp"

namespace rankloom {

namespace {

using Findings = std::vector<TopologyFinding>;

/// A higher level should not be cheaper: a mapper would separate ranks that communicate.
void find_cheap_levels(const Topology& topology, Findings& findings) {
  const auto levels = topology.levels();
  for (std::size_t level = 0; level < levels.size(); ++level) {
    if (!levels[level].cost || levels[level].is_private()) continue;
    for (std::size_t below = level + 1; below < levels.size(); ++below) {
      if (!levels[below].cost || levels[below].is_private()) continue;
      const bool cheaper = levels[level].cost->inverse_bandwidth < levels[below].cost->inverse_bandwidth ||
                           levels[level].cost->latency < levels[below].cost->latency;
      if (cheaper) {
        findings.push_back(
            {fmt::format("level {} (cost {}) is cheaper than level {} below it (cost {})", levels[level].kind,
                         cost_text(*levels[level].cost), levels[below].kind, cost_text(*levels[below].cost)),
             "costs usually decrease from the top level down; check their order"});
      }
      break;
    }
  }
}

/// Compares the cheapest link of the network with the most expensive level inside a node.
void find_cheap_network(const Topology& topology, Findings& findings) {
  if (!topology.routed()) return;
  const double per_hop = topology.network().per_hop().inverse_bandwidth;
  const auto levels = topology.levels();
  for (std::size_t level = topology.node_level() + 1; level < levels.size(); ++level) {
    if (!levels[level].cost || levels[level].is_private() || levels[level].cost->inverse_bandwidth <= per_hop ||
        per_hop == 0)
      continue;
    findings.push_back({fmt::format("one hop of the network (cost {}) is cheaper than level {} inside a node (cost {})",
                                    format_value(per_hop), levels[level].kind, cost_text(*levels[level].cost)),
                        "give the network a cost, such as torus:4x4=10"});
    return;
  }
}

void find_private_levels(const Topology& topology, Findings& findings) {
  const auto levels = topology.levels();
  for (std::size_t level = 0; level < levels.size(); ++level) {
    if (!levels[level].is_private() || level == topology.node_level()) continue;
    findings.push_back(
        {fmt::format("level {} has one object under every parent, so no mapper can choose there", levels[level].kind),
         "harmless; remove the level if it has no meaning"});
  }
}

void find_unequal_nodes(const Topology& topology, Findings& findings) {
  std::map<std::uint32_t, std::uint32_t> nodes_by_size;
  const std::size_t level = topology.node_level();
  for (const Node node : topology.nodes()) {
    const std::uint32_t end = index(node) + 1 < topology.node_count()
                                  ? index(topology.first_core(level, index(node) + 1))
                                  : topology.core_count();
    ++nodes_by_size[end - index(topology.first_core(level, index(node)))];
  }
  if (nodes_by_size.size() < 2) return;
  std::string sizes;
  for (const auto& [cores, nodes] : nodes_by_size) {
    if (!sizes.empty()) sizes += ", ";
    sizes += fmt::format("{} with {}", format_count(nodes), format_count(cores));
    if (sizes.size() > 120) {
      sizes += ", …";
      break;
    }
  }
  findings.push_back({fmt::format("nodes have different numbers of cores: {}", sizes),
                      "if this is wrong, look for a missing node or core"});
}

void find_capacities(const Topology& topology, Findings& findings) {
  std::uint64_t unused = 0, shared = 0;
  for (const Core core : topology.cores()) {
    if (topology.capacity(core) == 0) ++unused;
    if (topology.capacity(core) > 1) ++shared;
  }
  if (unused > 0) {
    findings.push_back({fmt::format("{} of {} cores must not be used", format_count(static_cast<double>(unused)),
                                    format_count(topology.core_count())),
                        "their capacity is 0; set it to 1 to use them"});
  }
  if (shared > 0) {
    findings.push_back({counted(shared, "core") + " may hold several ranks", "their capacity is above 1"});
  }
}

/// --device-traffic changes nothing if no link is cheaper than the path between the cores near its GPUs.
void find_expensive_links(const Topology& topology, Findings& findings) {
  const Topology::GpuLink* expensive = nullptr;
  std::map<std::pair<Node, std::uint32_t>, Core> core_near;
  for (const Topology::Device& device : topology.devices()) {
    if (device.kind == "gpu") core_near[{device.node, device.number}] = device.first;
  }
  for (const Topology::GpuLink& link : topology.gpu_links()) {
    for (std::size_t a = 0; a < link.gpus.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const Core p = core_near[{link.node, link.gpus[a]}], q = core_near[{link.node, link.gpus[b]}];
        // GPUs near the same cores: no path between cores to compare with.
        if (p == q || link.cost.inverse_bandwidth < topology.cost(p, q).inverse_bandwidth) return;
        expensive = &link;
      }
    }
  }
  if (expensive == nullptr) return;
  findings.push_back({fmt::format("no link between GPUs (cost {}) is cheaper than the path between the cores near them",
                                  cost_text(expensive->cost)),
                      "give links and levels costs in one unit; as they are, --device-traffic changes nothing"});
}

}  // namespace

std::vector<TopologyFinding> check_topology(const Topology& topology) {
  Findings findings;
  for (const MachineRemark& remark : topology.spec().remarks) findings.push_back({remark.what, remark.hint});
  if (!topology.is_matrix()) {
    find_cheap_levels(topology, findings);
    find_cheap_network(topology, findings);
    find_unequal_nodes(topology, findings);
    find_expensive_links(topology, findings);
  }
  find_capacities(topology, findings);
  if (!topology.is_matrix()) find_private_levels(topology, findings);
  if (!topology.symmetric())
    findings.push_back({"the cost depends on the direction", "check the costs unless they were measured"});
  return findings;
}

}  // namespace rankloom
