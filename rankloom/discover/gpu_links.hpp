// SPDX-License-Identifier: Apache-2.0
// discover: links between the GPUs of a host: how hwloc's matrices and the tools of the vendors describe them, and how
// a MachineSpec does.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// The links between the GPUs of one host.
struct GpuLinkTable {
  std::vector<std::uint32_t> gpus = {};  ///< The numbers of all GPUs, in ascending order.
  /// Of every pair with a link, the smaller number first: MB/s in one direction.
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> bandwidth = {};

  /// Adds a link between two different GPUs, unless the bandwidth is 0. Of two links of one pair, the faster counts.
  void add(std::uint32_t a, std::uint32_t b, double mb_per_second);
};

/// The output of `nvidia-smi topo -m`.
Result<GpuLinkTable> parse_nvidia_topology(std::string_view text);

/// The output of `rocm-smi --showtopo`, and after it that of `rocm-smi --shownodesbw`, which older versions do not
/// have.
Result<GpuLinkTable> parse_rocm_topology(std::string_view text);

/// The links with their costs in nanoseconds. GPUs that are all linked to each other at one bandwidth share an entry;
/// an entry for all GPUs of the host does not name them.
std::vector<GpuLinkSpec> group_links(const GpuLinkTable& table, double latency);

struct HostGpuLinks {
  GpuLinkTable table = {};
  std::vector<MachineRemark> remarks = {};
};
/// What nvidia-smi or rocm-smi says about the links between the GPUs of this host, which have these numbers, in
/// ascending order. A tool that is not installed, fails or takes too long is ignored; output that cannot be read is a
/// remark.
HostGpuLinks query_gpu_links(std::span<const std::uint32_t> gpus);

}  // namespace rankloom
