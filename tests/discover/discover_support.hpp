// SPDX-License-Identifier: Apache-2.0
// tests: helpers for tests of topology sources: text in, a machine or an error out.
#pragma once

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/model/machine/machine_spec.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

using Reader = Result<MachineSpec> (*)(const FileContents&);

inline MachineSpec machine_of(Reader read, std::string text) {
  auto machine = read(FileContents("file", std::move(text)));
  EXPECT_TRUE(machine) << (machine ? "" : to_string(machine.error()));
  return machine ? std::move(*machine) : MachineSpec{};
}

inline Topology topology_of(const MachineSpec& machine) {
  auto topology = Topology::build(machine);
  EXPECT_TRUE(topology) << (topology ? "" : to_string(topology.error()));
  return *topology;
}

inline std::string problem_of(Reader read, std::string text) {
  const auto machine = read(FileContents("file", std::move(text)));
  return machine ? "none" : to_string(machine.error());
}

/// What a reader makes of every beginning of a text, and of the whole text.
struct Truncations {
  std::size_t errors = 0, machines = 0, max_nodes = 0;
};

/// Checks that every error names the file, and that every machine can be used.
inline Truncations truncations_of(Reader read, const std::string& text) {
  Truncations seen;
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const auto machine = read(FileContents("file", text.substr(0, length)));
    if (machine) {
      ++seen.machines;
      seen.max_nodes = std::max<std::size_t>(seen.max_nodes, topology_of(*machine).node_count());
    } else {
      ++seen.errors;
      EXPECT_EQ(to_string(machine.error()).rfind("file", 0), 0U) << to_string(machine.error());
    }
  }
  return seen;
}

/// "switch 4, node 16, core 16"
inline std::string shape_of(const Topology& topology) {
  std::string text;
  for (const auto& level : topology.levels())
    text += (text.empty() ? "" : ", ") + level.kind + " " + std::to_string(level.objects);
  return text;
}

/// The names of the nodes, separated by blanks.
inline std::string nodes_of(const Topology& topology) {
  std::string text;
  for (const Node node : topology.nodes()) text += (text.empty() ? "" : " ") + topology.node_name(node);
  return text;
}

}  // namespace rankloom
