// SPDX-License-Identifier: Apache-2.0
// model/machine: a machine as channels that messages share, in bytes per second. The simulation and the analytic
// prediction use it. It is derived from a Topology; routes between nodes are the routes of its network.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// A correction of the costs of one level: a result of calibrating the simulator.
struct CostFactor {
  double inverse_bandwidth = 1, latency = 1;
  bool operator==(const CostFactor&) const = default;
};

/// Bytes per second; infinite if a byte takes no time.
double rate_of(double seconds_per_byte);

/// The number of a channel, from 0 to channel_count() - 1.
using Channel = std::uint64_t;

/// Fails for a width below 1 or of a kind that the machine does not have, and for a second definition of its latencies.
Result<void> check_channels(const Topology& topology, const ChannelSpec& channels);

/// How many messages the channels of a level carry at full rate, as given or by default; infinite: it has no channels.
double channel_width(const Topology& topology, std::size_t level);

/// This machine with the channels of one that it is a part of; widths of levels that it does not have are left out.
Topology with_channels_of(const Topology& machine, const Topology& whole);

/// Each core has a channel out and a channel in; so has each object whose level has a width. A node has a bus if its
/// width is given. Each link of a routed network is a channel. A message occupies all channels of its route at once,
/// and the messages on one channel share its rate. In addition, the rate of a message is at most 1 / inverse bandwidth
/// of its pair of cores.
///
/// With rails, a node has one card per rail, and an object of the level above one uplink per rail. A message that is
/// relayed to another rail occupies the channels of both parts of its route, inside the node and on the rail.
///
/// A single message therefore takes latency + bytes x inverse bandwidth of Topology::cost(); concurrent messages share
/// channels. On a routed network the inverse bandwidth of a pair is the sum over its links, while the message uses each
/// link only at its own rate: a route of h links is h times slower, but not h times as busy.
///
/// Needs 8 bytes per object with an individual rate; routes are computed. The topology is shared.
class Platform {
 public:
  /// The channels of all objects of a level: first + 2·o leads out of object o, first + 2·o + 1 into it. Nodes and the
  /// level above them have one pair of channels per rail: first + 2·(o·rails + r).
  struct LevelChannels {
    std::size_t level = 0;
    Channel first = 0;
    std::uint32_t rails = 1;
    std::vector<double> rates;  ///< By object; one entry: equal for all.
    double rate(std::uint32_t object) const { return rates.size() == 1 ? rates[0] : rates[object]; }
  };

  /// Widths and base rate are those of the topology. `factors`: by level of the topology; empty: 1. Fails for a
  /// distance matrix, which has no channels, and for factors of another machine.
  static Result<Platform> of(const Topology& topology, std::vector<CostFactor> factors = {});

  Channel channel_count() const { return channel_count_; }
  /// Bytes per second.
  double rate(Channel channel) const;
  /// In plain words: "core 4 of node 3, out", "node 3's card, in", "uplink of switch 0, out", "memory bus of node 3",
  /// "link from node (0,1) to node (0,2)". Nodes have their names if the machine has them.
  std::string name(Channel channel) const;
  /// The first channels of each kind: cores, objects of other levels, buses, links. Channels of one kind are
  /// consecutive.
  std::vector<Channel> kinds() const;

  /// The channel out of the object of this level that contains the core, on the rail of the core.
  Channel channel_out(const LevelChannels& level, Core core) const {
    const Channel object{topology_.object_of(level.level, core)};
    return level.first + 2 * (level.rails == 1 ? object : object * level.rails + topology_.rail(core));
  }
  /// Appends the channels of the route; none within a core. Hot loops use RouteTable.
  void route(Core from, Core to, std::vector<Channel>& channels) const;
  /// Per message and per byte of a pair, without other messages; 0 within a core.
  Cost seconds(Core from, Core to) const {
    return from == to ? Cost{} : seconds(topology_.divergence_level(from, to), topology_.cost(from, to));
  }
  /// Seconds; 0 within a core.
  double latency(Core from, Core to) const { return seconds(from, to).latency; }
  /// The rate of a single message in bytes per second; infinite within a core.
  double max_rate(Core from, Core to) const;

  /// Innermost first.
  std::span<const LevelChannels> channel_levels() const { return levels_; }
  std::optional<Channel> bus_of(Node node) const {
    return bus_.empty() ? std::nullopt : std::optional(first_bus_ + index(node));
  }
  /// Calls visit(channel) for the links between two nodes of a routed network.
  template <class Visit>
  void for_each_link(Node from, Node to, const Visit& visit) const {
    for (const Link link : links(from, to)) visit(first_link_ + index(link));
  }

  /// For hot loops: Topology::cost_by_bit() in seconds. Nothing with factors of a calibration.
  std::optional<std::array<Cost, 65>> seconds_by_bit() const;

  const Topology& topology() const { return topology_; }

 private:
  Platform(const Topology& topology, std::vector<CostFactor> factors)
      : topology_(topology), factors_(std::move(factors)) {}
  const ChannelSpec& channels() const { return topology_.spec().channels; }
  void set_scale();
  void add_level(std::size_t level, double width);
  void add_bus(double width);
  double width(const std::string& kind, double default_width) const;
  Cost seconds(std::size_t level, const Cost& cost) const;
  double min_inverse_bandwidth(std::size_t level, Core core) const;
  const LevelChannels& level_of(Channel channel) const;
  /// Appends the channels from a core to another, out of and into the objects from this level down.
  void append_route(Core from, Core to, std::size_t level, std::vector<Channel>& channels) const;
  /// The links of a route between nodes; valid until the next call by this thread.
  std::span<const Link> links(Node from, Node to) const;

  Topology topology_;
  std::vector<CostFactor> factors_;
  double seconds_per_cost_ = 1e-9, seconds_per_latency_ = 1e-9;
  bool latency_from_inverse_bandwidth_ = false;
  std::vector<LevelChannels> levels_;  // innermost first
  std::vector<double> bus_;            // by node; empty: no buses
  Channel first_bus_ = 0;
  Channel first_link_ = 0;
  double link_rate_ = 0;  // of the fastest link
  Channel channel_count_ = 0;
};

}  // namespace rankloom
