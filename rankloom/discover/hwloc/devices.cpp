// SPDX-License-Identifier: Apache-2.0
// discover/hwloc: GPUs and network cards of a host, and the links between GPUs.
#include "rankloom/discover/hwloc/devices.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rankloom {

namespace {

/// Classes of PCI devices: the upper byte and the subclass.
enum PciClass : unsigned { display = 0x03, vga = 0x0300, accelerator = 0x1200 };
enum Vendor : unsigned { nvidia = 0x10de, amd = 0x1002, intel = 0x8086 };

bool is_compute_device(hwloc_obj_t device) {
  const auto type = device->attr->osdev.type;
  return type == HWLOC_OBJ_OSDEV_COPROC || type == HWLOC_OBJ_OSDEV_GPU;
}

template <class Visit>
void for_each_os_device(hwloc_obj_t pci, const Visit& visit) {
  for (hwloc_obj_t child = pci->io_first_child; child != nullptr; child = child->next_sibling) {
    if (child->type == HWLOC_OBJ_OS_DEVICE && child->name != nullptr) visit(child);
  }
}

/// Graphics of a processor or of a service processor is not a GPU here, unless a library computes on it.
bool is_gpu(hwloc_obj_t pci) {
  const auto& attributes = pci->attr->pcidev;
  const bool known = attributes.vendor_id == nvidia || attributes.vendor_id == amd || attributes.vendor_id == intel;
  if (!known || (attributes.class_id >> 8 != display && attributes.class_id != accelerator)) return false;
  if (attributes.class_id != vga || attributes.vendor_id == nvidia) return true;
  bool computes = false;
  for_each_os_device(pci, [&](hwloc_obj_t device) { computes = computes || is_compute_device(device); });
  return computes;
}

std::string pci_address(hwloc_obj_t pci) {
  const auto& at = pci->attr->pcidev;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", at.domain, at.bus, at.dev, at.func);
}

/// "nvml3", "rsmi3", "ze3" → 3
std::optional<std::uint32_t> number_of(hwloc_obj_t pci) {
  std::optional<std::uint32_t> number;
  for (const std::string_view library : {"nvml", "rsmi", "ze"}) {
    for_each_os_device(pci, [&](hwloc_obj_t device) {
      const std::string_view name = device->name;
      std::uint32_t value = 0;
      if (number || !name.starts_with(library)) return;
      const auto [end, error] = std::from_chars(name.data() + library.size(), name.data() + name.size(), value);
      if (error == std::errc() && end == name.data() + name.size()) number = value;
    });
  }
  return number;
}

std::string model_of(hwloc_obj_t pci) {
  std::string model;
  for_each_os_device(pci, [&](hwloc_obj_t device) {
    const char* const name = hwloc_obj_get_info_by_name(device, "GPUModel");
    if (model.empty() && name != nullptr) model = name;
  });
  const char* const name = hwloc_obj_get_info_by_name(pci, "PCIDevice");
  return model.empty() && name != nullptr ? name : model;
}

bool is_network_card(hwloc_obj_t device) {
  if (device->name == nullptr) return false;
  const auto type = device->attr->osdev.type;
  return type == HWLOC_OBJ_OSDEV_OPENFABRICS ||
         (type == HWLOC_OBJ_OSDEV_NETWORK && std::string_view(device->name).starts_with("hsn"));
}

HostDevice make(hwloc_topology_t topology, hwloc_obj_t object, DeviceSpec spec) {
  constexpr std::size_t max_length = 64;
  spec.name.resize(std::min(spec.name.size(), max_length));
  hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, object);
  HostDevice device{std::move(spec), nullptr};
  device.near.reset(near != nullptr && near->cpuset != nullptr ? hwloc_bitmap_dup(near->cpuset) : hwloc_bitmap_alloc());
  return device;
}

/// Where a library numbers some GPUs, the others belong to other jobs. Without a library, the order on the bus counts.
void number_gpus(std::vector<HostDevice>& gpus) {
  const auto has_number = [](const HostDevice& gpu) { return gpu.spec.number.has_value(); };
  if (std::any_of(gpus.begin(), gpus.end(), has_number))
    std::erase_if(gpus, [&](const HostDevice& gpu) { return !has_number(gpu); });
  std::sort(gpus.begin(), gpus.end(),
            [](const HostDevice& a, const HostDevice& b) { return a.spec.address < b.spec.address; });
  std::set<std::uint32_t> numbers;
  for (const HostDevice& gpu : gpus) numbers.insert(gpu.spec.number.value_or(0));
  if (numbers.size() == gpus.size() && !gpus.empty() && has_number(gpus[0])) return;
  for (std::size_t i = 0; i < gpus.size(); ++i) gpus[i].spec.number = static_cast<std::uint32_t>(i);
}

bool is_nvswitch(hwloc_obj_t object) {
  return object != nullptr && object->subtype != nullptr && std::string_view(object->subtype) == "NVSwitch";
}

/// The number of the GPU that an object of a matrix belongs to: a device of the operating system below its PCI device.
std::optional<std::uint32_t> gpu_of(hwloc_obj_t object, const std::vector<HostDevice>& devices) {
  while (object != nullptr && object->type != HWLOC_OBJ_PCI_DEVICE) object = object->parent;
  if (object == nullptr) return std::nullopt;
  const std::string address = pci_address(object);
  for (const HostDevice& device : devices) {
    if (device.spec.kind == "gpu" && device.spec.address == address) return device.spec.number;
  }
  return std::nullopt;
}

/// Bandwidths in MB/s. Of GPUs that are linked to switches, the matrix contains only the way to the switches.
void add_links(const hwloc_distances_s& matrix, const std::vector<HostDevice>& devices, GpuLinkTable& links) {
  const std::size_t size = matrix.nbobjs;
  const auto bandwidth = [&](std::size_t from, std::size_t to) {
    return static_cast<double>(matrix.values[from * size + to]);
  };
  std::vector<std::optional<std::uint32_t>> gpus(size);
  std::vector<double> to_switches(size);
  for (std::size_t to = 0; to < size; ++to) {
    gpus[to] = gpu_of(matrix.objs[to], devices);
    if (!is_nvswitch(matrix.objs[to])) continue;
    for (std::size_t from = 0; from < size; ++from) to_switches[from] += bandwidth(from, to);
  }
  for (std::size_t from = 0; from < size; ++from) {
    for (std::size_t to = 0; to < size; ++to) {
      if (from == to || !gpus[from] || !gpus[to]) continue;
      links.add(*gpus[from], *gpus[to], bandwidth(from, to) + std::min(to_switches[from], to_switches[to]));
    }
  }
}

GpuLinkTable list_links(hwloc_topology_t topology, const std::vector<HostDevice>& devices) {
  GpuLinkTable links;
  for (const HostDevice& device : devices) {
    if (device.spec.kind == "gpu" && device.spec.number) links.gpus.push_back(*device.spec.number);
  }
  std::sort(links.gpus.begin(), links.gpus.end());
  for (const char* const name : {"NVLinkBandwidth", "XGMIBandwidth", "XeLinkBandwidth"}) {
    std::array<hwloc_distances_s*, 4> matrices{};
    auto count = static_cast<unsigned>(matrices.size());
    if (hwloc_distances_get_by_name(topology, name, &count, matrices.data(), 0) != 0) continue;
    for (hwloc_distances_s* const matrix : matrices) {
      if (matrix == nullptr) continue;
      add_links(*matrix, devices, links);
      hwloc_distances_release(topology, matrix);
    }
  }
  return links;
}

}  // namespace

HostDevices list_devices(hwloc_topology_t topology) {
  std::vector<HostDevice> devices;
  for (hwloc_obj_t pci = hwloc_get_next_pcidev(topology, nullptr); pci != nullptr;
       pci = hwloc_get_next_pcidev(topology, pci)) {
    if (!is_gpu(pci)) continue;
    devices.push_back(make(
        topology, pci, {.kind = "gpu", .name = model_of(pci), .number = number_of(pci), .address = pci_address(pci)}));
  }
  number_gpus(devices);
  std::uint32_t cards = 0;
  for (hwloc_obj_t device = hwloc_get_next_osdev(topology, nullptr); device != nullptr;
       device = hwloc_get_next_osdev(topology, device)) {
    if (!is_network_card(device)) continue;
    const bool on_bus = device->parent != nullptr && device->parent->type == HWLOC_OBJ_PCI_DEVICE;
    devices.push_back(make(topology, device,
                           {.kind = "nic",
                            .name = device->name,
                            .number = cards++,
                            .address = on_bus ? pci_address(device->parent) : std::string()}));
  }
  GpuLinkTable links = list_links(topology, devices);
  return {.list = std::move(devices), .links = std::move(links)};
}

}  // namespace rankloom
