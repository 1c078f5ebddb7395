// SPDX-License-Identifier: Apache-2.0
// discover: reads machines from files and strings, and the table of topology sources. To add a source, add a file and a
// row in sources.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/machine/machine_spec.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

struct TopologySourceInfo {
  std::string_view name;
  std::string_view summary;
  bool (*recognise)(std::string_view text);  ///< By content; the first row that returns true reads the file.
  Result<MachineSpec> (*read)(const FileContents& file);
};

std::span<const TopologySourceInfo> topology_sources();

/// "switch:2=4.1 node:6=3.7 core:16=1", "torus:8x8x8 core:4": docs/topology.md describes the syntax.
Result<MachineSpec> parse_topology_string(std::string_view text);
/// The bottom-up notation of the partitioning literature: --hierarchy 4:8:6 --distance 1:10:100.
Result<MachineSpec> parse_hierarchy(std::string_view hierarchy, std::string_view distance);

/// The argument of every -t: a file of any source in the table, or a topology string.
Result<MachineSpec> load_machine(const std::string& file_or_string);
Result<Topology> load_topology(const std::string& file_or_string);

}  // namespace rankloom
