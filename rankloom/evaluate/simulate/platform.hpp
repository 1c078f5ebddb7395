// SPDX-License-Identifier: Apache-2.0
// evaluate: a machine as wires that messages share, in seconds and bytes: what the simulation runs on and the analytic
// prediction adds up. Made from a Topology alone; routes between nodes are the routes of its network.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// How costs become seconds, and how much of what a wire carries besides one message at full rate.
struct PlatformOptions {
  /// Bytes a second between the two nearest cores; all gaps are scaled by it. 0: gaps are nanoseconds a byte.
  double rate = 0;
  /// Seconds between the two nearest cores, elsewhere by the ratio of the gaps, for machines whose costs have no
  /// latency. 0: the topology's own.
  double latency = 0;
  /// How many messages at full rate fit side by side through the wire of one object, by the kind of its level ("node",
  /// "switch", "package"), "bus" for what a node's cores share, "link" for links of a routed network. Not named: core,
  /// node, link and everything above nodes 1, everything else unlimited.
  std::map<std::string, double> width = {};

  /// What calibration found: factors on gap and latency of each level of the topology, top down. Empty: 1.
  struct Factor {
    double gap = 1, latency = 1;
    bool operator==(const Factor&) const = default;
  };
  std::vector<Factor> factors = {};
  bool operator==(const PlatformOptions&) const = default;
};

/// Number of a wire, dense from 0.
using Wire = std::uint64_t;

/// Wires: each core has one out and one in, so has each object whose level has a width, each node a bus if it was asked
/// for, each link of a routed network is one. A message occupies all wires of its route at once; messages on one wire
/// share its rate. Besides, no message is faster than 1/gap of its pair, alone or not.
///
/// So a message alone takes latency + bytes·gap of Topology::cost, and what it gets beside others depends on the wires.
/// On a network the gap of a pair is the sum over its links, while each link is held at the rate of the message only: a
/// route of h links is h times slower, not h times as busy.
///
/// Holds 8 bytes for each object that has a wire of its own rate; routes are computed. The topology is shared.
class Platform {
 public:
  /// Fails for a table of distances, which has no wires, for a width below 1 or of an unknown kind, and for costs that
  /// are no times.
  static Result<Platform> of(const Topology& topology, const PlatformOptions& options);

  Wire wire_count() const { return wire_count_; }
  /// Bytes a second.
  double rate(Wire wire) const;
  /// "core 12 out", "node 3 in", "node 3 bus", "link 17"
  std::string name(Wire wire) const;

  /// Appends the wires of the way; none within a core.
  void route(Core from, Core to, std::vector<Wire>& wires) const;
  /// Seconds before the first byte is there; 0 within a core.
  double latency(Core from, Core to) const;
  /// The most that a message alone gets, in bytes a second; infinite within a core or when the gap is 0.
  double fastest(Core from, Core to) const;

  const Topology& topology() const { return topology_; }

 private:
  /// The wires of one kind of object: out of object o is first + 2·o, into it first + 2·o + 1.
  struct Family {
    std::size_t level = 0;
    Wire first = 0;
    std::vector<double> rates;  ///< By object; one entry: the same for all.
    double rate(std::uint32_t object) const { return rates.size() == 1 ? rates[0] : rates[object]; }
  };

  Platform(const Topology& topology, const PlatformOptions& options) : topology_(topology), options_(options) {}
  Result<void> check() const;
  void set_scale();
  void add_family(std::size_t level, double width);
  void add_bus(double width);
  double width(const std::string& kind, double otherwise) const;
  Cost seconds(std::size_t level, const Cost& cost) const;
  Cost seconds(Core from, Core to) const {
    return seconds(topology_.parting_level(from, to), topology_.cost(from, to));
  }
  double least_gap_out_of(std::size_t level, Core core) const;

  Topology topology_;
  PlatformOptions options_;
  double per_gap_ = 1e-9, per_latency_ = 1e-9;
  bool latency_by_gap_ = false;
  std::vector<Family> families_;  // innermost first
  std::vector<double> bus_;       // by node; empty: none
  Wire bus_first_ = 0;
  Wire links_first_ = 0;
  double link_rate_ = 0;  // of the fastest link
  Wire wire_count_ = 0;
};

}  // namespace rankloom
