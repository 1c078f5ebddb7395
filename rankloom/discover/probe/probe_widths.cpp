// SPDX-License-Identifier: Apache-2.0
// discover/probe: widths of channels from measured rates.
#include "rankloom/discover/probe/probe_widths.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace rankloom {

namespace {

/// Differences below are noise.
constexpr double min_width_above_one = 1.1;

double median_rate(std::vector<double> rates) {
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  if (rates.size() % 2 == 1) return *middle;
  return (*std::max_element(rates.begin(), middle) + *middle) / 2;
}

/// The rates of one channel, by the number of pairs that send at once.
using RatesByPairs = std::map<std::uint32_t, std::vector<double>>;

std::optional<double> width_of(const RatesByPairs& rates) {
  const auto alone = rates.find(1);
  if (alone == rates.end() || rates.size() < 2) return std::nullopt;
  const double single = median_rate(alone->second);
  double width = 1;
  for (const auto& [pairs, together] : rates)
    width = std::max(width, std::min<double>(pairs, median_rate(together) / single));
  return width < min_width_above_one ? 1 : rounded_width(width);
}

}  // namespace

std::vector<ChannelSpec::Width> widths_from_loads(std::span<const ProbeLoad> loads) {
  std::map<std::string, RatesByPairs> by_channel;
  for (const ProbeLoad& load : loads) by_channel[load.channel][load.pairs].push_back(load.bytes_per_second);
  std::vector<ChannelSpec::Width> widths;
  for (const auto& [channel, rates] : by_channel) {
    if (const auto width = width_of(rates))
      widths.push_back({.kind = channel, .messages = *width, .origin = Origin::measured});
  }
  return widths;
}

void add_measured_widths(std::span<const ProbeLoad> loads, MachineSpec& machine) {
  const auto topology = Topology::build(machine);
  if (!topology) return;  // the caller reports the error when it builds the machine
  const std::size_t nodes = topology->node_level();
  for (ChannelSpec::Width& width : widths_from_loads(loads)) {
    if (width.kind == "node") {
      if (topology->node_count() < 2) continue;
      width.kind = topology->levels()[nodes].kind;
    } else if (width.kind == "uplink") {
      if (nodes == 0) continue;
      width.kind = topology->levels()[nodes - 1].kind;
    }
    machine.channels.set_width(width.kind, width.messages, width.origin);
  }
}

UplinkHosts hosts_of_uplink(const Topology& topology) {
  const std::size_t nodes = topology.node_level();
  if (topology.routed() || topology.is_matrix() || nodes == 0 || topology.levels()[nodes - 1].objects < 2) return {};
  const std::size_t switches = nodes - 1;
  const auto hosts_of = [&](std::uint32_t switch_number) {
    std::vector<std::string> hosts;
    for (const Node node : topology.nodes()) {
      const Core first = topology.first_core(nodes, index(node));
      if (topology.object_of(switches, first) == switch_number) hosts.push_back(topology.node_name(node));
    }
    return hosts;
  };
  return {.from = hosts_of(0), .to = hosts_of(1)};
}

}  // namespace rankloom
