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
  if (is_matrix() || data_->routed) return std::nullopt;
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
