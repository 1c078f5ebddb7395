// SPDX-License-Identifier: Apache-2.0
// discover: what hwloc knows of one host: this one, or one whose XML file was kept. The row of the table is always
// there; the reading needs libhwloc (RANKLOOM_HWLOC).
#pragma once

#include <string_view>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// Whether this build has libhwloc.
bool reads_hwloc();

bool is_hwloc_xml(std::string_view text);
/// One node: packages, dies, NUMA nodes, caches, groups, cores; its leaves are the processing units that may be used.
Result<MachineSpec> read_hwloc_xml(const FileContents& file);

struct HostOptions {
  bool bound = false;  ///< Only the processing units that this process is bound to, not all that its cgroup allows.
};
/// This host, in the limits of its cgroup.
Result<MachineSpec> discover_host(const HostOptions& options);

}  // namespace rankloom
