// SPDX-License-Identifier: Apache-2.0
// tests/fuzz: what every machine that a reader accepts must allow.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/model/machine/device_costs.hpp"
#include "rankloom/model/machine/topology.hpp"
#include "tests/fuzz/fuzz_target.hpp"

namespace rankloom::fuzz {

inline double core_count(const ObjectSpec& object) {
  double cores = object.children.empty() ? 1 : 0;
  for (const ObjectSpec& child : object.children) cores += core_count(child);
  return cores * static_cast<double>(object.repeat);
}

/// Builds the topology of a machine; nothing if it is refused or so large that it takes long.
inline std::optional<Topology> build_small(const MachineSpec& spec) {
  constexpr double max_cores = 5'000;
  if (core_count(spec.root) > max_cores) return std::nullopt;
  auto topology = Topology::build(spec);
  if (!has_value(topology)) return std::nullopt;
  return *std::move(topology);
}

/// Whether the text describes a machine, and a small one.
inline bool is_small_machine(std::string_view json) {
  const auto spec = read_machine_json(file_of(json));
  return has_value(spec) && build_small(*spec).has_value();
}

/// The machine is written and read back without a change, and all functions of its topology have a value.
inline std::optional<Topology> check_machine(const MachineSpec& spec) {
  auto topology = build_small(spec);
  if (!topology) return std::nullopt;
  const std::string text = write_machine_json(spec);
  const auto again = read_machine_json(file_of(text));
  if (!again) expect(false, "a written machine is read: " + again.error().what + "\n" + text);
  expect(write_machine_json(*again) == text, "a machine reads back to the same machine");
  const std::uint32_t cores = topology->core_count();
  const std::array<std::uint32_t, 5> some{0, 1 % cores, cores / 3, cores / 2, cores - 1};
  for (const std::uint32_t p : some) {
    for (const std::uint32_t q : some) {
      const Cost cost = topology->cost(Core{p}, Core{q});
      expect(cost.inverse_bandwidth >= 0 && cost.latency >= 0, "a cost is not negative");
      (void)topology->hops(Core{p}, Core{q});
    }
    expect(index(topology->node_of(Core{p})) < topology->node_count(), "a core belongs to a node");
    (void)topology->node_name(topology->node_of(Core{p}));
    (void)topology->os_index(Core{p});
  }
  const auto devices = with_gpu_links(*topology);
  if (!devices) expect(false, "a machine with links between GPUs has costs between GPUs: " + devices.error().what);
  expect(devices->core_count() == cores, "costs between GPUs do not change the cores");
  return topology;
}

}  // namespace rankloom::fuzz
