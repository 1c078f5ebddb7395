// SPDX-License-Identifier: Apache-2.0
// discover/hwloc: the inside of one host as hwloc describes it: this host, or a host whose XML file was exported. Needs
// libhwloc (CMake option RANKLOOM_HWLOC).
#pragma once

#include <string>
#include <string_view>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// Whether this build uses libhwloc.
bool has_hwloc();

inline bool is_hwloc_xml(std::string_view text) {
  const std::string_view start = text.substr(0, 65536);
  const auto first = start.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return first != std::string_view::npos && start[first] == '<' && start.find("<topology") != std::string_view::npos;
}

/// One node with packages, dies, NUMA nodes, caches, groups and cores. Its leaves are the processing units that may be
/// used.
Result<MachineSpec> read_hwloc_xml(const FileContents& file);

struct HostOptions {
  bool bound = false;  ///< Only the processing units that this process is bound to, not all units of its cgroup.
  /// Also GPUs, the links between them, and network cards. Libraries of drivers may be loaded for that, and on a host
  /// with several GPUs nvidia-smi or rocm-smi is run.
  bool devices = false;
  /// Also the numbers and rates of network cards and memory channels, from the folder that contains sys: "/", or
  /// another one in tests; empty: without them.
  std::string channels_root = {};
};
/// This host, within the limits of the cgroup of this process.
Result<MachineSpec> discover_host(const HostOptions& options);

}  // namespace rankloom
