// SPDX-License-Identifier: Apache-2.0
// model/machine: a machine as channels that messages share.
#include "rankloom/model/machine/platform.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

bool has_latency(const Topology& topology) {
  if (topology.routed() && topology.network().per_hop().latency > 0) return true;
  for (const Topology::Level& level : topology.levels()) {
    if (level.cost && level.cost->latency > 0) return true;
  }
  return false;
}

/// Its name, if the machine has names; otherwise "node (0,1)" in a mesh or torus, else "node 1".
std::string node_name(const Topology& topology, Node node) {
  std::string name = topology.node_name(node);
  if (name != fmt::format("node{}", index(node))) return name;
  const auto* const mesh = std::get_if<MeshShape>(&topology.network().shape());
  if (topology.routed() && mesh != nullptr && mesh->sizes.size() > 1)
    return fmt::format("node ({})", fmt::join(mesh->coordinates(node), ","));
  return fmt::format("node {}", index(node));
}

std::string vertex_name(const Topology& topology, Vertex vertex) {
  const std::uint32_t nodes = topology.network().node_count();
  if (index(vertex) < nodes) return node_name(topology, Node{index(vertex)});
  return fmt::format("switch {}", index(vertex) - nodes);
}

}  // namespace

double rate_of(double seconds_per_byte) {
  return seconds_per_byte > 0 ? 1 / seconds_per_byte : unlimited;
}

Result<void> check_channels(const Topology& topology, const ChannelSpec& channels) {
  std::vector<std::string> kinds{"bus"};
  if (topology.routed()) kinds.emplace_back("link");
  for (const Topology::Level& level : topology.levels()) kinds.push_back(level.kind);
  for (const auto& [kind, width, origin] : channels.widths) {
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
      return fail(Code::usage, at("width"), fmt::format("this machine has no level \"{}\"", kind),
                  fmt::format("use one of: {}", fmt::join(kinds, ", ")));
    }
    if (!(width >= 1)) {
      return fail(Code::usage, at("width"), fmt::format("the width {} of {} is below 1", width, kind),
                  "give the number of concurrent messages at full rate, at least 1");
    }
  }
  if (channels.base_latency > 0 && has_latency(topology)) {
    return fail(Code::usage, at("base latency"), "this machine already has latencies", "remove the base latency");
  }
  return {};
}

double channel_width(const Topology& topology, std::size_t level) {
  const std::size_t leaves = topology.levels().size() - 1;
  if (topology.levels()[level].is_private() && level != leaves) return unlimited;
  // A routed network has no levels above the nodes; its links are the channels between nodes.
  const bool outside = level <= topology.node_level() && !topology.routed();
  return topology.spec()
      .channels.width(topology.levels()[level].kind)
      .value_or(level == leaves || outside ? 1 : unlimited);
}

Topology with_channels_of(const Topology& machine, const Topology& whole) {
  ChannelSpec channels = whole.spec().channels;
  std::erase_if(channels.widths,
                [&](const ChannelSpec::Width& width) { return !check_channels(machine, {.widths = {width}}); });
  if (!check_channels(machine, channels)) channels.base_latency = 0;
  return *machine.with_channels(std::move(channels));
}

Result<Platform> Platform::of(const Topology& topology, std::vector<CostFactor> factors) {
  if (topology.is_matrix()) {
    return fail(Code::bad_input, at("-t"), "a distance matrix has no channels that messages share",
                "use a machine of cores, nodes and networks");
  }
  if (!factors.empty() && factors.size() != topology.levels().size()) {
    return fail(
        Code::bad_input, at("--calibration"),
        fmt::format("the calibration has {} levels, the machine has {}", factors.size(), topology.levels().size()),
        "calibrate this machine with: rankloom simulate --calibrate");
  }
  Platform platform(topology, std::move(factors));
  platform.set_scale();
  for (std::size_t level = topology.levels().size(); level-- > 0;)
    platform.add_level(level, channel_width(topology, level));
  platform.add_bus(platform.width("bus", unlimited));
  platform.first_link_ = platform.channel_count_;
  if (topology.routed()) {
    const double inverse_bandwidth = platform.seconds(0, topology.network().per_hop()).inverse_bandwidth;
    platform.link_rate_ = platform.width("link", 1) * rate_of(inverse_bandwidth);
    platform.channel_count_ += topology.network().link_count();
  }
  return platform;
}

void Platform::set_scale() {
  const double minimum = topology_.min_cost().inverse_bandwidth;
  if (channels().base_rate > 0 && minimum > 0) seconds_per_cost_ = 1 / (channels().base_rate * minimum);
  if (channels().base_latency > 0 && minimum > 0) {
    latency_from_inverse_bandwidth_ = true;
    seconds_per_latency_ = channels().base_latency / minimum;
  }
}

double Platform::width(const std::string& kind, double default_width) const {
  return channels().width(kind).value_or(default_width);
}

Cost Platform::seconds(std::size_t level, const Cost& cost) const {
  const CostFactor factor = factors_.empty() ? CostFactor() : factors_[level];
  return {cost.inverse_bandwidth * seconds_per_cost_ * factor.inverse_bandwidth,
          (latency_from_inverse_bandwidth_ ? cost.inverse_bandwidth : cost.latency) * seconds_per_latency_ *
              factor.latency};
}

/// The minimum over all pairs of this core that diverge at this level or above. A channel must not be slower than the
/// fastest pair that uses it.
double Platform::min_inverse_bandwidth(std::size_t level, Core core) const {
  double minimum = unlimited;
  for (std::size_t l = level + 1; l-- > 0;) {
    if (l == 0 && topology_.routed()) {
      if (topology_.node_count() > 1)
        minimum = std::min(minimum, seconds(0, topology_.network().per_hop()).inverse_bandwidth);
      continue;
    }
    const std::uint32_t object = topology_.object_of(l, core);
    const Core begin = l == 0 ? Core{0} : topology_.first_core(l - 1, topology_.object_of(l - 1, core));
    const Core end =
        l == 0 ? Core{topology_.core_count()} : topology_.first_core(l - 1, topology_.object_of(l - 1, core) + 1);
    const Core after = topology_.first_core(l, object + 1);
    if (topology_.object_of(l, begin) != object) {
      minimum = std::min(minimum, seconds(core, begin).inverse_bandwidth);
    } else if (index(after) < index(end)) {
      minimum = std::min(minimum, seconds(core, after).inverse_bandwidth);
    }
  }
  return minimum;
}

void Platform::add_level(std::size_t level, double width) {
  if (width == unlimited) return;
  const Topology::Level& topology_level = topology_.levels()[level];
  const bool on_rails =
      topology_.rail_count() > 0 && level <= topology_.node_level() && level + 1 >= topology_.node_level();
  LevelChannels channels{
      .level = level, .first = channel_count_, .rails = on_rails ? topology_.rail_count() : 1, .rates = {}};
  const bool uniform = std::all_of(topology_.levels().begin(), topology_.levels().end(),
                                   [](const Topology::Level& l) { return l.arity > 0; }) &&
                       std::all_of(topology_.levels().begin() + (topology_.routed() ? 1 : 0), topology_.levels().end(),
                                   [](const Topology::Level& l) { return l.cost.has_value(); });
  const std::uint64_t rate_count = uniform ? 1 : topology_level.objects;
  for (std::uint64_t object = 0; object < rate_count; ++object) {
    const double inverse_bandwidth =
        min_inverse_bandwidth(level, topology_.first_core(level, static_cast<std::uint32_t>(object)));
    channels.rates.push_back(inverse_bandwidth == unlimited ? unlimited : width * rate_of(inverse_bandwidth));
  }
  channel_count_ += 2 * topology_level.objects * channels.rails;
  levels_.push_back(std::move(channels));
}

void Platform::add_bus(double width) {
  first_bus_ = channel_count_;
  if (width == unlimited) return;
  for (const Node node : topology_.nodes()) {
    const Core core = topology_.first_core(topology_.node_level(), index(node));
    const double inverse_bandwidth = min_inverse_bandwidth(topology_.levels().size() - 1, core);
    bus_.push_back(inverse_bandwidth == unlimited ? unlimited : width * rate_of(inverse_bandwidth));
  }
  channel_count_ += bus_.size();
}

double Platform::rate(Channel channel) const {
  if (topology_.routed() && channel >= first_link_) {
    return link_rate_ / topology_.network().slowness(Link{static_cast<std::uint32_t>(channel - first_link_)});
  }
  if (channel >= first_bus_) return bus_[channel - first_bus_];
  const LevelChannels& level = level_of(channel);
  return level.rate(static_cast<std::uint32_t>((channel - level.first) / 2 / level.rails));
}

const Platform::LevelChannels& Platform::level_of(Channel channel) const {
  return *std::find_if(levels_.rbegin(), levels_.rend(), [&](const LevelChannels& f) { return f.first <= channel; });
}

std::vector<Channel> Platform::kinds() const {
  std::vector<Channel> first;
  for (const LevelChannels& level : levels_) first.push_back(level.first);
  if (!bus_.empty()) first.push_back(first_bus_);
  if (topology_.routed()) first.push_back(first_link_);
  return first;
}

std::string Platform::name(Channel channel) const {
  if (topology_.routed() && channel >= first_link_) {
    const auto [from, to] = topology_.network().endpoints(Link{static_cast<std::uint32_t>(channel - first_link_)});
    return fmt::format("link from {} to {}", vertex_name(topology_, from), vertex_name(topology_, to));
  }
  if (channel >= first_bus_) {
    const Node node{static_cast<std::uint32_t>(channel - first_bus_)};
    return fmt::format("memory bus of {}", node_name(topology_, node));
  }
  const LevelChannels& channels = level_of(channel);
  const auto object = static_cast<std::uint32_t>((channel - channels.first) / 2 / channels.rails);
  const auto rail = (channel - channels.first) / 2 % channels.rails;
  const char* const direction = (channel - channels.first) % 2 == 0 ? "out" : "in";
  const std::size_t node_level = topology_.node_level();
  if (channels.rails > 1 && channels.level == node_level)
    return fmt::format("{}'s card on rail {}, {}", node_name(topology_, Node{object}), rail, direction);
  if (channels.level == node_level) return fmt::format("{}'s card, {}", node_name(topology_, Node{object}), direction);
  const std::string& kind = topology_.levels()[channels.level].kind;
  if (channels.rails > 1)
    return fmt::format("uplink of {} {} on rail {}, {}", topology_.levels()[channels.level].kind, object, rail,
                       direction);
  if (channels.level < node_level) return fmt::format("uplink of {} {}, {}", kind, object, direction);
  const Node node = topology_.node_of(topology_.first_core(channels.level, object));
  const std::uint32_t first = topology_.object_of(channels.level, topology_.first_core(node_level, index(node)));
  return fmt::format("{} {} of {}, {}", kind, object - first, node_name(topology_, node), direction);
}

std::span<const Link> Platform::links(Node from, Node to) const {
  thread_local std::vector<Link> route;
  route.clear();
  topology_.network().route(from, to, route);
  return route;
}

void Platform::route(Core from, Core to, std::vector<Channel>& channels) const {
  if (from == to) return;
  const std::size_t divergence = topology_.divergence_level(from, to);
  if (topology_.rail_count() == 0 || divergence > topology_.node_level())
    return append_route(from, to, divergence, channels);
  const Topology::RailRoute rails = topology_.rail_route(from, to);
  if (rails.kind == Topology::RailRoute::Kind::relay) {
    append_route(from, rails.relay, topology_.divergence_level(from, rails.relay), channels);
    return append_route(rails.relay, to, divergence, channels);
  }
  const bool over_spine = rails.kind == Topology::RailRoute::Kind::spine;
  append_route(from, to, over_spine ? divergence - 1 : divergence, channels);
}

void Platform::append_route(Core from, Core to, std::size_t divergence, std::vector<Channel>& channels) const {
  const bool between_nodes = divergence <= topology_.node_level();
  for (const LevelChannels& level : levels_) {
    if (level.level >= divergence) channels.push_back(channel_out(level, from));
  }
  if (!bus_.empty()) channels.push_back(first_bus_ + index(topology_.node_of(from)));
  if (between_nodes) {
    if (topology_.routed())
      for_each_link(topology_.node_of(from), topology_.node_of(to), [&](Channel link) { channels.push_back(link); });
    if (!bus_.empty()) channels.push_back(first_bus_ + index(topology_.node_of(to)));
  }
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    if (level->level >= divergence) channels.push_back(channel_out(*level, to) + 1);
  }
}

std::optional<std::array<Cost, 65>> Platform::seconds_by_bit() const {
  auto table = topology_.cost_by_bit();
  if (!table || !factors_.empty()) return std::nullopt;
  for (Cost& cost : *table) cost = seconds(0, cost);
  return table;
}

double Platform::max_rate(Core from, Core to) const {
  return rate_of(seconds(from, to).inverse_bandwidth);
}

}  // namespace rankloom
