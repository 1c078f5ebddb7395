// SPDX-License-Identifier: Apache-2.0
// tests/support: small random problems and one machine of every kind, for the property tests of all stages.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/model/machine/topology.hpp"
#include "rankloom/model/mapping.hpp"

namespace rankloom::testing {

inline Topology topology(std::string_view text) {
  auto spec = parse_topology_string(text);
  EXPECT_TRUE(spec) << (spec ? "" : to_string(spec.error()));
  auto built = Topology::build(std::move(*spec));
  EXPECT_TRUE(built) << (built ? "" : to_string(built.error()));
  return *std::move(built);
}

/// Every kind of machine that a topology string describes, each with at least a dozen cores.
inline std::vector<std::string> machines_of_every_kind() {
  return {
      "core:16=1",
      "node:4=10 core:4=1",
      "switch:2=4.1 node:3=3.7,2us core:4=1,0.1us",
      "node:3=10,1us package:2=3,0.5us core:3=1,0.1us",
      "node:3=10 core:2+7+4=1",
      "node:4=8 core:4=1 !core:1,6-7 !node:3",
      "node:5=8 core:2*2=1",
      "mesh:4x3=5 core:2=1",
      "torus:3x4x2=5,1us core:1=1",
      "tree:2,3,2=2 core:2=1",
      "fattree:2,2,3=2 core:2=1",
      "fattree:k=4=2 core:1=1",
      "dragonfly:3,2,2=2 core:2=1",
      "leaf:2=8,2us node:3=4,1us rails:2 core:4=1,0.1us",
  };
}

struct NamedMachine {
  std::string name;
  Topology topology;
};

inline Topology built(MachineSpec spec) {
  auto machine = Topology::build(std::move(spec));
  EXPECT_TRUE(machine) << (machine ? "" : to_string(machine.error()));
  return *std::move(machine);
}

/// Six nodes of two cores on a ring of routers with one chord and links of different speed; with routing tables, all
/// messages use the ring in one direction, so that costs differ by direction.
inline Topology ring_with_chord(bool tables) {
  GraphShape shape;
  shape.nodes = 6;
  shape.vertices = 12;
  for (std::uint32_t v = 0; v < 6; ++v) {
    shape.cables.push_back({Vertex{v}, Vertex{6 + v}, Cost{1, 10}});
    shape.cables.push_back({Vertex{6 + v}, Vertex{6 + (v + 1) % 6}, Cost{2.0 + v % 3, 20}});
  }
  if (!tables) shape.cables.push_back({Vertex{6}, Vertex{9}, Cost{9, 5}});
  for (std::uint32_t destination = 0; tables && destination < 6; ++destination) {
    auto& next = shape.next.emplace_back(12);
    for (std::uint32_t v = 0; v < 6; ++v) {
      next[v] = Vertex{6 + v};
      next[6 + v] = v == destination ? Vertex{v} : Vertex{6 + (v + 1) % 6};
    }
  }
  auto network = make_graph(std::move(shape));
  EXPECT_TRUE(network) << (network ? "" : to_string(network.error()));
  MachineSpec spec = *parse_topology_string("node:6 core:2=1,1ns");
  spec.network = *network;
  return built(std::move(spec));
}

/// A node of two packages next to plain nodes with slower cores, under two switches of different speed.
inline Topology mixed_nodes() {
  MachineSpec spec = *parse_topology_string("switch:2=9,900ns node:2=5,500ns core:4=2,20ns");
  ObjectSpec packages = parse_topology_string("node:1 package:2=3,30ns core:2=1,10ns")->root.children[0];
  ObjectSpec other = spec.root.children[0];
  spec.root.children[0].repeat = 1;
  spec.root.children[0].children.push_back(packages);
  other.repeat = 1;
  other.between = Cost{6, 600};
  spec.root.children.push_back(other);
  return built(std::move(spec));
}

inline Topology random_table(std::uint32_t size, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> distances(std::size_t{size} * size);
  for (double& distance : distances) distance = static_cast<double>(random.below(100));
  return *Topology::from_matrix(size, std::move(distances));
}

/// One topology of every kind.
inline std::vector<NamedMachine> every_machine() {
  std::vector<NamedMachine> machines;
  for (const auto& text : machines_of_every_kind()) machines.push_back({text, topology(text)});
  machines.push_back({"a graph with shortest paths", ring_with_chord(false)});
  machines.push_back({"a graph with routing tables", ring_with_chord(true)});
  machines.push_back({"nodes of different types", mixed_nodes()});
  machines.push_back({"a table of distances", random_table(14, 5)});
  return machines;
}

/// Directed traffic with integer numbers of bytes, so that sums are exact; some ranks send to themselves.
inline CommGraph random_graph(std::uint32_t ranks, double density, std::uint64_t seed, bool undirected = false) {
  Random random(seed, ranks);
  CommGraphBuilder builder(ranks);
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::uint32_t to = 0; to < ranks; ++to) {
      if (random.unit() >= density || (undirected && to <= from)) continue;
      const double bytes =
          2.0 * static_cast<double>(random.below(1000));  // apart: compilers order arguments as they like
      builder.add(Rank{from}, Rank{to}, bytes, static_cast<double>(2 * random.below(10)));
    }
  }
  return std::move(builder).build(true, undirected);
}

/// A random valid placement.
inline std::vector<Core> random_placement(std::uint32_t ranks, const Topology& topology, const Capacities& capacities,
                                          std::uint64_t seed) {
  std::vector<Core> slots;
  for (const Core core : topology.cores()) slots.insert(slots.end(), capacities[core], core);
  Random(seed).shuffle(std::span(slots));
  slots.resize(ranks);
  return slots;
}

}  // namespace rankloom::testing
