// SPDX-License-Identifier: Apache-2.0
// model/machine: queries of a machine.
#include "rankloom/model/machine/topology.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/model/machine/platform.hpp"

namespace rankloom {

Result<Topology> Topology::with_channels(ChannelSpec channels) const {
  if (channels == spec().channels) return *this;
  if (auto valid = check_channels(*this, channels); !valid) return propagate(valid);
  auto data = std::make_shared<Data>(*data_);
  data->spec.channels = std::move(channels);
  return Topology(std::move(data));
}

Result<Topology> Topology::from_matrix(std::uint32_t size, std::vector<double> distances) {
  assert(distances.size() == std::size_t{size} * size);
  if (std::any_of(distances.begin(), distances.end(), [](double distance) { return !is_valid_cost({1, distance}); })) {
    return fail(Code::bad_input, at("distances"), "a distance is negative, not a number or above 1e40",
                "give distances from 0 to 1e40");
  }
  MachineSpec spec;
  spec.root.kind = "machine";
  spec.root.children.push_back(
      {.kind = "node",
       .name = {},
       .repeat = size,
       .between = {},
       .os_index = {},
       .children = {{.kind = "core", .name = {}, .between = {}, .os_index = {}, .children = {}}}});
  auto plain = build(std::move(spec));
  if (!plain) return plain;
  auto data = std::make_shared<Data>(*plain->data_);
  data->spec = {};
  data->levels[0].cost.reset();
  data->matrix_size = size;
  data->matrix = std::move(distances);
  for (std::uint32_t p = 0; p < size && data->symmetric; ++p) {
    for (std::uint32_t q = 0; q < p; ++q) {
      if (data->matrix[std::size_t{p} * size + q] != data->matrix[std::size_t{q} * size + p]) data->symmetric = false;
    }
  }
  return Topology(std::move(data));
}

std::uint32_t Topology::object_of(std::size_t level, Core core) const {
  const auto& first = data_->first_core[level];
  if (level + 1 == data_->levels.size()) return index(core);
  if (first.size() == 2) return 0;
  // Most machines are balanced: guess by proportion, and search only if the guess is wrong.
  const auto guess = static_cast<std::uint32_t>(std::uint64_t{index(core)} * (first.size() - 1) / data_->path.size());
  if (first[guess] <= index(core) && index(core) < first[guess + 1]) return guess;
  return static_cast<std::uint32_t>(std::upper_bound(first.begin(), first.end(), index(core)) - first.begin()) - 1;
}

Core Topology::first_core(std::size_t level, std::uint32_t object) const {
  return Core{level + 1 == data_->levels.size() ? object : data_->first_core[level][object]};
}

Cost Topology::cost(Core p, Core q) const {
  if (data_->rail_count == 0 || p == q || divergence_level(p, q) > data_->node_level) return level_cost(p, q);
  const RailRoute route = rail_route(p, q);
  const Cost cost = level_cost(p, q);
  switch (route.kind) {
    case RailRoute::Kind::direct:
      return cost;
    case RailRoute::Kind::relay: {
      const Cost inside = level_cost(p, route.relay);
      return {inside.inverse_bandwidth + cost.inverse_bandwidth, inside.latency + cost.latency};
    }
    case RailRoute::Kind::spine:
      break;
  }
  return spine_cost(p);
}

Cost Topology::spine_cost(Core core) const {
  const std::size_t level = data_->node_level - 1;
  if (data_->levels[level].cost) return *data_->levels[level].cost;
  return data_->between[level][level == 0 ? 0 : object_of(level - 1, core)];
}

Topology::RailRoute Topology::rail_route(Core p, Core q) const {
  using Kind = RailRoute::Kind;
  const std::uint32_t rail = data_->rail[index(q)];
  if (data_->rail[index(p)] == rail) return {};
  // Nodes below different switches of the rails: the switches above connect all rails.
  if (divergence_level(p, q) < data_->node_level) return {};
  const bool has_spine = data_->node_level > 0 && data_->levels[data_->node_level - 1].objects > 1;
  const std::uint32_t relay = data_->rail_cores[std::size_t{index(node_of(p))} * data_->rail_count + rail];
  if (relay == no_core) return {has_spine ? Kind::spine : Kind::direct, {}};
  if (!has_spine) return {Kind::relay, Core{relay}};
  const double over_relay = level_cost(p, Core{relay}).inverse_bandwidth + level_cost(p, q).inverse_bandwidth;
  return over_relay <= spine_cost(p).inverse_bandwidth ? RailRoute{Kind::relay, Core{relay}}
                                                       : RailRoute{Kind::spine, {}};
}

bool Topology::is_rail_link(Link link) const {
  const std::uint32_t below = index(link) / 2;  // the lower vertex of a link of a tree
  const std::uint32_t nodes = data_->node_count;
  return below < nodes || (data_->node_level > 0 && below < nodes + data_->levels[data_->node_level - 1].objects);
}

std::optional<std::uint32_t> Topology::rail_of(Link link) const {
  if (data_->rail_count == 0 || !is_rail_link(network_link(link))) return std::nullopt;
  return index(link) % data_->rail_count;
}

void Topology::route(Core p, Core q, std::vector<Link>& links) const {
  const Node from = node_of(p), to = node_of(q);
  if (from == to) return;
  const std::size_t begin = links.size();
  network().route(from, to, links);
  if (data_->rail_count == 0) return;
  const RailRoute::Kind kind = rail_route(p, q).kind;
  if (kind == RailRoute::Kind::spine) {  // up to the switch above the rails and down again
    const Vertex rails{data_->node_count + object_of(data_->node_level - 1, p)};
    links.insert(links.end() - 1, {Link{2 * index(rails)}, Link{2 * index(rails) + 1}});
  }
  const std::uint32_t rail_up = data_->rail[index(kind == RailRoute::Kind::relay ? q : p)];
  for (std::size_t at = begin; at < links.size(); ++at) {
    const bool up = index(links[at]) % 2 == 0;
    const std::uint32_t rail = up ? rail_up : data_->rail[index(q)];
    links[at] = Link{index(links[at]) * data_->rail_count + (is_rail_link(links[at]) ? rail : 0)};
  }
}

Cost Topology::level_cost(Core p, Core q) const {
  if (is_matrix()) return {data_->matrix[std::size_t{index(p)} * data_->matrix_size + index(q)], 0};
  if (p == q) return {};
  const std::size_t level = divergence_level(p, q);
  if (level == 0 && data_->routed) return data_->network->cost(node_of(p), node_of(q));
  if (data_->levels[level].cost) return *data_->levels[level].cost;
  return data_->between[level][level == 0 ? 0 : object_of(level - 1, p)];
}

Cost Topology::min_cost() const {
  constexpr double none = std::numeric_limits<double>::infinity();
  Cost minimum{none, none};
  const auto include = [&](const Cost& cost) {
    minimum = {std::min(minimum.inverse_bandwidth, cost.inverse_bandwidth), std::min(minimum.latency, cost.latency)};
  };
  for (const double distance : data_->matrix) {
    if (distance > 0) include({distance, 0});
  }
  for (std::size_t level = 0; level < data_->levels.size() && !is_matrix(); ++level) {
    if (data_->levels[level].is_private()) continue;
    if (level == 0 && data_->routed) {
      include(data_->network->per_hop());
    } else if (data_->levels[level].cost) {
      include(*data_->levels[level].cost);
    }
    for (const Cost& cost : data_->between[level]) include(cost);
  }
  return std::isfinite(minimum.inverse_bandwidth) ? minimum : Cost{1, 0};
}

std::uint32_t Topology::hops(Core p, Core q) const {
  if (p == q) return 0;
  const std::size_t level = divergence_level(p, q);
  if (level > data_->node_level) return 0;
  if (data_->routed) return data_->network->hops(node_of(p), node_of(q));
  if (data_->rail_count > 0 && rail_route(p, q).kind == RailRoute::Kind::spine) return 4;
  return 2 * static_cast<std::uint32_t>(data_->node_level - level + 1);
}

std::string Topology::node_name(Node node) const {
  const auto& names = data_->node_names;
  if (index(node) < names.size() && !names[index(node)].empty()) return names[index(node)];
  return fmt::format("node{}", index(node));
}

std::uint32_t Topology::os_index(Core core) const {
  if (!data_->os_index.empty()) return data_->os_index[index(core)];
  return index(core) - index(first_core(data_->node_level, index(node_of(core))));
}

std::optional<std::array<Cost, 65>> Topology::cost_by_bit() const {
  if (is_matrix() || data_->routed || data_->rail_count > 0) return std::nullopt;
  std::array<Cost, 65> table{};
  for (std::size_t bit = 1; bit <= 64; ++bit) {
    const auto& cost = data_->levels[data_->level_of_bit[bit]].cost;
    if (!cost) return std::nullopt;
    table[bit] = *cost;
  }
  return table;
}

std::array<std::uint32_t, 65> Topology::hops_by_bit() const {
  assert(!data_->routed);
  std::array<std::uint32_t, 65> table{};
  for (std::size_t bit = 1; bit <= 64; ++bit) {
    const std::size_t level = data_->level_of_bit[bit];
    if (level <= data_->node_level) table[bit] = 2 * static_cast<std::uint32_t>(data_->node_level - level + 1);
  }
  return table;
}

}  // namespace rankloom
