// SPDX-License-Identifier: Apache-2.0
// evaluate/simulate: a machine as channels that messages share, in bytes per second. The simulation and the analytic
// prediction use it. It is derived from a Topology; routes between nodes are the routes of its network.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// How costs are converted to seconds, and how many messages a channel carries at full rate.
struct PlatformOptions {
  /// Bytes per second between the two closest cores; scales all inverse bandwidths. 0: they are nanoseconds per byte.
  double rate = 0;
  /// For machines without latencies: seconds between the two closest cores; other latencies are proportional to the
  /// inverse bandwidth. 0: the latencies of the topology.
  double latency = 0;
  /// How many messages the channel of an object carries at full rate, by the kind of its level ("node", "switch",
  /// "package"), "bus" for the channel that the cores of a node share, "link" for links of a routed network. Default: 1
  /// for cores, nodes, links and all levels above nodes, unlimited for all others.
  std::map<std::string, double> width = {};

  /// Results of a calibration: factors for inverse bandwidth and latency by level of the topology. Empty: 1.
  struct Factor {
    double inverse_bandwidth = 1, latency = 1;
    bool operator==(const Factor&) const = default;
  };
  std::vector<Factor> factors = {};
  bool operator==(const PlatformOptions&) const = default;
};

/// The number of a channel, from 0 to channel_count() - 1.
using Channel = std::uint64_t;

/// Each core has a channel out and a channel in; so has each object whose level has a width. A node has a bus if its
/// width is given. Each link of a routed network is a channel. A message occupies all channels of its route at once,
/// and the messages on one channel share its rate. In addition, the rate of a message is at most 1 / inverse bandwidth
/// of its pair of cores.
///
/// A single message therefore takes latency + bytes x inverse bandwidth of Topology::cost(); concurrent messages share
/// channels. On a routed network the inverse bandwidth of a pair is the sum over its links, while the message uses each
/// link only at its own rate: a route of h links is h times slower, but not h times as busy.
///
/// Needs 8 bytes per object with an individual rate; routes are computed. The topology is shared.
class Platform {
 public:
  /// Fails for a distance matrix, which has no channels, and for a width below 1 or of an unknown kind.
  static Result<Platform> of(const Topology& topology, const PlatformOptions& options);

  Channel channel_count() const { return channel_count_; }
  /// Bytes per second.
  double rate(Channel channel) const;
  /// "core 12 out", "node 3 in", "node 3 bus", "link 17"
  std::string name(Channel channel) const;

  /// Appends the channels of the route; none within a core.
  void route(Core from, Core to, std::vector<Channel>& channels) const;
  /// Seconds; 0 within a core.
  double latency(Core from, Core to) const;
  /// The rate of a single message in bytes per second; infinite within a core.
  double max_rate(Core from, Core to) const;

  const Topology& topology() const { return topology_; }

 private:
  /// The channels of all objects of a level: first + 2·o leads out of object o, first + 2·o + 1 into it.
  struct LevelChannels {
    std::size_t level = 0;
    Channel first = 0;
    std::vector<double> rates;  ///< By object; one entry: equal for all.
    double rate(std::uint32_t object) const { return rates.size() == 1 ? rates[0] : rates[object]; }
  };

  Platform(const Topology& topology, const PlatformOptions& options) : topology_(topology), options_(options) {}
  Result<void> check() const;
  void set_scale();
  void add_level(std::size_t level, double width);
  void add_bus(double width);
  double width(const std::string& kind, double default_width) const;
  Cost seconds(std::size_t level, const Cost& cost) const;
  Cost seconds(Core from, Core to) const {
    return seconds(topology_.divergence_level(from, to), topology_.cost(from, to));
  }
  double min_inverse_bandwidth(std::size_t level, Core core) const;

  Topology topology_;
  PlatformOptions options_;
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
