// SPDX-License-Identifier: Apache-2.0
// model/machine: the routes of a platform for hot loops.
#include "rankloom/model/machine/route_table.hpp"

#include <algorithm>

namespace rankloom {

namespace {

constexpr std::uint32_t max_tabulated_nodes = 1024;

}  // namespace

std::uint64_t RouteTable::entry_count(const Platform& platform) {
  const Topology& topology = platform.topology();
  const std::uint64_t nodes = topology.routed() ? topology.node_count() : 0;
  return topology.core_count() + (nodes <= max_tabulated_nodes ? nodes * nodes : 0);
}

RouteTable::RouteTable(const Platform& platform)
    : platform_(platform), paths_(platform.topology().paths()), seconds_by_bit_(platform.seconds_by_bit()) {
  const Topology& topology = platform.topology();
  for (std::size_t bit = 0; seconds_by_bit_ && bit <= 64; ++bit)
    rate_by_bit_[bit] = rate_of((*seconds_by_bit_)[bit].inverse_bandwidth);
  const auto levels = platform.channel_levels();
  width_ = levels.size() + 1;
  channels_.resize(std::size_t{topology.core_count()} * width_, 0);
  for (const Core core : topology.cores()) {
    std::uint32_t* const row = channels_.data() + std::size_t{index(core)} * width_;
    for (std::size_t at = 0; at < levels.size(); ++at)
      row[at] = static_cast<std::uint32_t>(platform.channel_out(levels[at], core));
    if (const auto bus = platform.bus_of(topology.node_of(core))) row[width_ - 1] = static_cast<std::uint32_t>(*bus);
  }
  const auto crossing_at = [&](std::size_t divergence) {
    Crossing crossing{.between_nodes = divergence <= topology.node_level()};
    for (const auto& level : levels) crossing.levels += level.level >= divergence ? 1 : 0;
    if (platform.bus_of(Node{0})) crossing.buses = crossing.between_nodes ? 2 : 1;
    crossing.network = crossing.between_nodes && topology.routed();
    return crossing;
  };
  for (std::size_t bit = 1; bit <= 64; ++bit) crossing_[bit] = crossing_at(topology.level_of_bit(bit));
  has_rails_ = topology.rail_count() > 0;
  if (has_rails_ && topology.node_level() > 0) over_spine_ = crossing_at(topology.node_level() - 1);
  if (!topology.routed()) return;
  for (const Core core : topology.cores()) node_of_.push_back(index(topology.node_of(core)));
  if (topology.node_count() > max_tabulated_nodes) return;
  tabulated_nodes_ = topology.node_count();
  kept_.resize(std::size_t{tabulated_nodes_} * tabulated_nodes_);
}

std::span<const std::uint32_t> RouteTable::links(Core from, Core to) const {
  const std::uint32_t p = node_of_[index(from)], q = node_of_[index(to)];
  const auto append = [&](std::vector<std::uint32_t>& list) {
    platform_.for_each_link(Node{p}, Node{q},
                            [&](Channel channel) { list.push_back(static_cast<std::uint32_t>(channel)); });
  };
  if (tabulated_nodes_ == 0) {
    route_.clear();
    append(route_);
    return route_;
  }
  Kept& kept = kept_[std::size_t{p} * tabulated_nodes_ + q];
  if (!kept.known) {
    kept.begin = static_cast<std::uint32_t>(links_.size());
    append(links_);
    kept.end = static_cast<std::uint32_t>(links_.size());
    kept.known = true;
  }
  return std::span<const std::uint32_t>(links_).subspan(kept.begin, kept.end - kept.begin);
}

}  // namespace rankloom
