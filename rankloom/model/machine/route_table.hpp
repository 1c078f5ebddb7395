// SPDX-License-Identifier: Apache-2.0
// model/machine: the routes of a platform for hot loops.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rankloom/model/machine/platform.hpp"

namespace rankloom {

/// Tabulates what Platform computes for each message: the channels of every core and, for networks of up to 1,024
/// nodes, the links between each pair of nodes that was asked for. Not thread-safe.
class RouteTable {
 public:
  explicit RouteTable(const Platform& platform);
  /// How many entries the table of this platform has: it pays for about as many messages.
  static std::uint64_t entry_count(const Platform& platform);

  /// Calls visit(channel) for the channels of the route that have a limited rate; for none within a core.
  template <class Visit>
  void for_each_channel(Core from, Core to, const Visit& visit) const {
    const std::size_t at_bit = bit(from, to);
    if (!has_rails_ || !crossing_[at_bit].between_nodes) return visit_channels(from, to, crossing_[at_bit], visit);
    const Topology::RailRoute rails = platform_.topology().rail_route(from, to);
    switch (rails.kind) {
      case Topology::RailRoute::Kind::direct:
        return visit_channels(from, to, crossing_[at_bit], visit);
      case Topology::RailRoute::Kind::relay:
        visit_channels(from, rails.relay, crossing_[bit(from, rails.relay)], visit);
        return visit_channels(rails.relay, to, crossing_[at_bit], visit);
      case Topology::RailRoute::Kind::spine:
        return visit_channels(from, to, over_spine_, visit);
    }
  }

  /// The values of Platform.
  Cost seconds(Core from, Core to) const {
    return seconds_by_bit_ ? (*seconds_by_bit_)[bit(from, to)] : platform_.seconds(from, to);
  }
  double max_rate(Core from, Core to) const {
    return seconds_by_bit_ ? rate_by_bit_[bit(from, to)] : platform_.max_rate(from, to);
  }

 private:
  /// What a message uses whose cores diverge at some level.
  struct Crossing {
    std::uint32_t levels = 0, buses = 0;
    bool network = false, between_nodes = false;
  };

  template <class Visit>
  void visit_channels(Core from, Core to, const Crossing& crossing, const Visit& visit) const {
    const std::uint32_t* const out = channels_.data() + std::size_t{index(from)} * width_;
    const std::uint32_t* const in = channels_.data() + std::size_t{index(to)} * width_;
    for (std::uint32_t at = 0; at < crossing.levels; ++at) {
      visit(Channel{out[at]});
      visit(Channel{in[at]} + 1);
    }
    if (crossing.buses > 0) visit(Channel{out[width_ - 1]});
    if (crossing.buses > 1) visit(Channel{in[width_ - 1]});
    if (crossing.network) {
      for (const std::uint32_t channel : links(from, to)) visit(Channel{channel});
    }
  }

  std::size_t bit(Core from, Core to) const {
    return static_cast<std::size_t>(std::bit_width(paths_[index(from)] ^ paths_[index(to)]));
  }
  std::span<const std::uint32_t> links(Core from, Core to) const;

  const Platform& platform_;
  std::span<const std::uint64_t> paths_;
  // By bit width of the XOR of two paths.
  std::array<Crossing, 65> crossing_{};
  Crossing over_spine_;  // between nodes of one switch of the rails, over the switches above
  bool has_rails_ = false;
  std::optional<std::array<Cost, 65>> seconds_by_bit_;
  std::array<double, 65> rate_by_bit_{};  // if there are seconds
  std::size_t width_ = 0;                 // entries of a core
  std::vector<std::uint32_t> channels_;   // by core: the channels out of its objects, innermost first, then the bus
  std::vector<std::uint32_t> node_of_;    // by core; empty: no network
  std::uint32_t tabulated_nodes_ = 0;     // 0: links are not kept
  struct Kept {
    std::uint32_t begin = 0, end = 0;
    bool known = false;
  };
  mutable std::vector<Kept> kept_;  // by pair of nodes
  mutable std::vector<std::uint32_t> links_, route_;
};

}  // namespace rankloom
