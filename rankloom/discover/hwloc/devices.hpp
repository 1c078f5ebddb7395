// SPDX-License-Identifier: Apache-2.0
// discover/hwloc: GPUs and network cards of a host, the processing units near them, and the links between GPUs.
#pragma once

#include <memory>
#include <vector>

#include <hwloc.h>

#include "rankloom/discover/gpu_links.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};

struct HostDevice {
  DeviceSpec spec;
  std::unique_ptr<hwloc_bitmap_s, FreeBitmap> near;  ///< Processing units by their numbers in the operating system.
};

struct HostDevices {
  std::vector<HostDevice> list = {};
  GpuLinkTable links = {};  ///< All GPUs of the list, and the links that hwloc knows.
};

/// The GPUs that programs can compute on (NVIDIA, AMD, Intel) and the cards of fast networks (OpenFabrics, Slingshot)
/// of a topology that was loaded with its devices. GPUs have the numbers of the vendor's library where hwloc knows
/// them, otherwise those of their order on the PCI bus.
HostDevices list_devices(hwloc_topology_t topology);

}  // namespace rankloom
