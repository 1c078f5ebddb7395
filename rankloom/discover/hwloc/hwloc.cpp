// SPDX-License-Identifier: Apache-2.0
// discover/hwloc: converts a topology of hwloc to a MachineSpec. hwloc attaches memory to the tree of processors; here
// a NUMA node is a level of the tree, directly below the object that it is attached to.
#include "rankloom/discover/hwloc/hwloc.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <hwloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rankloom/core/system/process.hpp"
#include "rankloom/discover/default_costs.hpp"
#include "rankloom/discover/gpu_links.hpp"
#include "rankloom/discover/hwloc/devices.hpp"
#include "rankloom/discover/system/host_channels.hpp"

namespace rankloom {

namespace {

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using HwlocTopology = std::unique_ptr<hwloc_topology, Destroy>;

/// Keeps processors, caches and memory. Devices are only kept for list_devices(), because hwloc may add groups of
/// processors that are near a device.
HwlocTopology make_topology(bool with_devices = false) {
  hwloc_topology* raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  HwlocTopology topology(raw);
  hwloc_topology_set_cache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_icache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_io_types_filter(raw,
                                     with_devices ? HWLOC_TYPE_FILTER_KEEP_IMPORTANT : HWLOC_TYPE_FILTER_KEEP_NONE);
  // They load libraries of drivers and open windows, and say nothing that the PCI bus does not say.
  for (const char* const component : {"opencl", "gl"})
    if (with_devices) hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_NONE);
  return topology;
}

/// Objects without a processing unit (offline packages, memory-only nodes) are left out.
bool contains_pu(hwloc_obj_t object) {
  if (object->type == HWLOC_OBJ_PU) return true;
  for (hwloc_obj_t child = object->first_child; child != nullptr; child = child->next_sibling) {
    if (contains_pu(child)) return true;
  }
  return false;
}

template <class Visit>
void for_each_child(hwloc_obj_t object, const Visit& visit) {
  for (hwloc_obj_t child = object->first_child; child != nullptr; child = child->next_sibling) {
    if (contains_pu(child)) visit(child);
  }
}

/// Whether one of these memory objects is a NUMA node that is local to some processors, unlike memory of a device.
bool contains_numa_node(hwloc_obj_t memory) {
  for (; memory != nullptr; memory = memory->next_sibling) {
    const bool is_local = memory->cpuset != nullptr && hwloc_bitmap_iszero(memory->cpuset) == 0;
    if (memory->type == HWLOC_OBJ_NUMANODE && is_local) return true;
    if (contains_numa_node(memory->memory_first_child)) return true;
  }
  return false;
}

bool contains_numa_node_below(hwloc_obj_t object) {
  bool found = false;
  for_each_child(object, [&](hwloc_obj_t child) {
    found = found || contains_numa_node(child->memory_first_child) || contains_numa_node_below(child);
  });
  return found;
}

/// If NUMA nodes are nested (non-volatile memory of a package, and one NUMA node per half), the innermost is the level.
bool is_numa_level(hwloc_obj_t object) {
  return contains_numa_node(object->memory_first_child) && !contains_numa_node_below(object);
}

class HostReader {
 public:
  HostReader(hwloc_topology_t topology, HostDevices devices)
      : topology_(topology), root_(hwloc_get_root_obj(topology)), devices_(std::move(devices)) {
    find_numa_depths(root_);
    single_numa_level_ = fits_single_level(root_);
    name_levels();
    const int pus = hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_PU);
    for (int i = 0; i < pus; ++i) {
      const auto number = static_cast<unsigned>(i);
      os_order_is_logical_ =
          os_order_is_logical_ && hwloc_get_obj_by_type(topology_, HWLOC_OBJ_PU, number)->os_index == number;
    }
  }

  MachineSpec read() const {
    MachineSpec machine;
    machine.root.kind = "machine";
    ObjectSpec node = read_object(root_);
    if (const char* const host = hwloc_obj_get_info_by_name(root_, "HostName"); host != nullptr) node.name = host;
    node.gpu_links = group_links(devices_.links, link_latency());
    machine.root.children.push_back(std::move(node));
    set_cost_origins(machine, Origin::assumed);
    add_cpu_kind_remark(machine);
    return machine;
  }

 private:
  struct Level {
    int depth;  ///< As hwloc counts it.
    bool is_numa;
  };

  void find_numa_depths(hwloc_obj_t object) {
    if (is_numa_level(object)) deepest_numa_ = std::max(deepest_numa_, object->depth);
    for_each_child(object, [&](hwloc_obj_t child) { find_numa_depths(child); });
  }

  /// Whether all NUMA nodes fit into one level: directly below the deepest object that has one.
  bool fits_single_level(hwloc_obj_t object) const {
    bool fits = true;
    for_each_child(object, [&](hwloc_obj_t child) {
      if (is_numa_level(object) && child->depth <= deepest_numa_) fits = false;
      fits = fits && fits_single_level(child);
    });
    return fits;
  }

  int numa_depth(hwloc_obj_t object) const { return single_numa_level_ ? deepest_numa_ : object->depth; }

  /// Every depth has its own name, because parts of a machine may lack some of them.
  std::string kind_of(int depth) const {
    switch (hwloc_get_depth_type(topology_, depth)) {
      case HWLOC_OBJ_MACHINE:
        return depth == 0 ? "node" : "machine-part";
      case HWLOC_OBJ_PACKAGE:
        return "package";
      case HWLOC_OBJ_DIE:
        return "die";
      case HWLOC_OBJ_CORE:
        return "core";
      case HWLOC_OBJ_PU:
        return "pu";
      case HWLOC_OBJ_L1CACHE:
        return "l1";
      case HWLOC_OBJ_L2CACHE:
        return "l2";
      case HWLOC_OBJ_L3CACHE:
        return "l3";
      case HWLOC_OBJ_L4CACHE:
        return "l4";
      case HWLOC_OBJ_L5CACHE:
        return "l5";
      default:
        return hwloc_get_type_depth(topology_, HWLOC_OBJ_GROUP) == HWLOC_TYPE_DEPTH_MULTIPLE
                   ? fmt::format("group{}", depth)
                   : "group";
    }
  }

  std::string numa_kind(int depth) const { return depth == deepest_numa_ ? "numa" : fmt::format("numa{}", depth); }

  void name_levels() {
    for (int depth = 0; depth < hwloc_topology_get_depth(topology_); ++depth) {
      levels_.push_back({depth, false});
      kinds_.push_back(kind_of(depth));
      levels_.push_back({depth, true});
      kinds_.push_back(numa_kind(depth));
      if (!has_numa_level_at(depth)) {
        levels_.pop_back();
        kinds_.pop_back();
      }
    }
    costs_ = default_level_costs(kinds_);
  }

  bool has_numa_level_at(int depth) const {
    if (single_numa_level_) return depth == deepest_numa_;
    for (hwloc_obj_t object = hwloc_get_obj_by_depth(topology_, depth, 0); object != nullptr;
         object = object->next_cousin) {
      if (is_numa_level(object)) return true;
    }
    return false;
  }

  ObjectSpec make(int depth, bool is_numa) const {
    const auto level =
        std::find_if(levels_.begin(), levels_.end(),
                     [&](const Level& candidate) { return candidate.depth == depth && candidate.is_numa == is_numa; }) -
        levels_.begin();
    ObjectSpec object{.kind = kinds_[static_cast<std::size_t>(level)],
                      .name = {},
                      .between = costs_[static_cast<std::size_t>(level)],
                      .os_index = {},
                      .children = {}};
    return object;
  }

  ObjectSpec read_object(hwloc_obj_t object) const {
    ObjectSpec spec = make(object->depth, false);
    if (object->type == HWLOC_OBJ_PU) {
      spec.between.reset();
      if (!os_order_is_logical_) spec.os_index = object->os_index;
      return spec;
    }
    std::vector<ObjectSpec> children;
    for_each_child(object, [&](hwloc_obj_t child) { children.push_back(read_object(child)); });
    spec.devices = devices_near(object);
    if (is_numa_level(object)) {
      ObjectSpec numa = make(numa_depth(object), true);
      numa.children = std::move(children);
      numa.devices = std::exchange(spec.devices, {});
      spec.children.push_back(std::move(numa));
    } else {
      spec.children = std::move(children);
    }
    return spec;
  }

  /// The devices whose processing units are in this object, but not all in one object below; of the root, also those
  /// that are near no processing unit that may be used.
  std::vector<DeviceSpec> devices_near(hwloc_obj_t object) const {
    std::vector<DeviceSpec> near;
    for (const HostDevice& device : devices_.list) {
      const bool known = hwloc_bitmap_intersects(device.near.get(), root_->cpuset) != 0;
      const auto contains = [&](hwloc_obj_t other) {
        return known && hwloc_bitmap_isincluded(device.near.get(), other->cpuset) != 0;
      };
      bool below = false;
      for_each_child(object,
                     [&](hwloc_obj_t child) { below = below || (child->type != HWLOC_OBJ_PU && contains(child)); });
      if (object == root_ ? !below : contains(object) && !below) near.push_back(device.spec);
    }
    return near;
  }

  /// The default costs do not contain the time that a GPU needs to start a message, which is the same on every path. So
  /// links have the lowest latency inside the node, that between the processing units of a core, and differ from other
  /// paths in their bandwidth.
  double link_latency() const { return costs_[costs_.size() > 1 ? costs_.size() - 2 : 0].latency; }

  /// Fast and slow cores in one package: the cores differ in more than their distances.
  void add_cpu_kind_remark(MachineSpec& machine) const {
    const int kinds = hwloc_cpukinds_get_nr(topology_, 0);
    if (kinds < 2) return;
    std::string text;
    hwloc_bitmap_t pus = hwloc_bitmap_alloc();
    for (int kind = 0; kind < kinds; ++kind) {
      struct hwloc_info_s* infos = nullptr;
      unsigned info_count = 0;
      int efficiency = 0;
      if (hwloc_cpukinds_get_info(topology_, static_cast<unsigned>(kind), pus, &efficiency, &info_count, &infos, 0) !=
          0)
        continue;
      std::string name;
      for (unsigned i = 0; i < info_count; ++i) {
        if (std::string_view(infos[i].name) == "CoreType") name = fmt::format(" ({})", infos[i].value);
      }
      text += fmt::format("{}{}{}", text.empty() ? "" : ", ", hwloc_bitmap_weight(pus), name);
    }
    hwloc_bitmap_free(pus);
    machine.remarks.push_back({fmt::format("the processing units are of {} kinds, from slow to fast: {}", kinds, text),
                               "mappers consider distances, not speeds; to leave out the slow units, set their "
                               "capacity to 0 in the topology JSON"});
  }

  hwloc_topology_t topology_;
  hwloc_obj_t root_;
  HostDevices devices_;
  int deepest_numa_ = -1;
  bool single_numa_level_ = true;
  bool os_order_is_logical_ = true;  // the OS numbers the processing units in hwloc order
  std::vector<Level> levels_;
  std::vector<std::string> kinds_;
  std::vector<Cost> costs_;
};

/// hwloc 2 refuses files of hwloc 3 because of their version number, although the parts that matter here are the same.
void accept_version_3(std::string& xml) {
  const auto element = xml.find("<topology");
  const auto end = element == std::string::npos ? element : xml.find('>', element);
  const auto version = element == std::string::npos ? element : xml.find("version=\"3.", element);
  if (HWLOC_API_VERSION < 0x30000 && end != std::string::npos && version < end)
    xml.replace(version, 12, "version=\"2.");
}

/// Whether elements are nested so deep that functions of hwloc, which recurse into them, could exhaust the stack.
bool nested_too_deep(std::string_view xml) {
  constexpr int max_depth = 256;
  int depth = 0;
  for (std::size_t at = 0; at + 1 < xml.size(); ++at) {
    if (xml[at] == '<' && xml[at + 1] != '/' && xml[at + 1] != '!' && xml[at + 1] != '?') ++depth;
    if ((xml[at] == '<' && xml[at + 1] == '/') || (xml[at] == '/' && xml[at + 1] == '>')) --depth;
    if (depth > max_depth) return true;
  }
  return false;
}

Result<MachineSpec> read_loaded(hwloc_topology_t topology, HostDevices devices, const std::string& source) {
  if (hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU) <= 0) {
    return fail(Code::bad_input, at(source), "describes a machine without processing units",
                "export it again on that machine: lstopo machine.xml");
  }
  MachineSpec machine = HostReader(topology, std::move(devices)).read();
  machine.text = source;
  return machine;
}

/// The topology of an XML file; nullptr if hwloc cannot read it.
HwlocTopology load_buffer(const std::string& text, bool with_devices) {
  HwlocTopology topology = make_topology(with_devices);
  const bool loaded =
      topology && hwloc_topology_set_xmlbuffer(topology.get(), text.c_str(), static_cast<int>(text.size() + 1)) == 0 &&
      hwloc_topology_load(topology.get()) == 0;
  return loaded ? std::move(topology) : nullptr;
}

Result<MachineSpec> load_xml(const std::string& text, const std::string& source) {
  const bool readable = text.size() <= 0x4000'0000 && !nested_too_deep(text);
  const HwlocTopology topology = readable ? load_buffer(text, false) : nullptr;
  const HwlocTopology with_devices = topology ? load_buffer(text, true) : nullptr;
  if (!topology || !with_devices) {
    return fail(Code::bad_input, at(source), "hwloc cannot read this XML",
                fmt::format("the file may be incomplete; export it again with lstopo of hwloc {} or earlier",
                            HWLOC_API_VERSION >> 16));
  }
  return read_loaded(topology.get(), list_devices(with_devices.get()), source);
}

/// libhwloc trusts its XML: objects without the attributes that lstopo writes crash it. So another process reads the
/// file first. False if that process does not survive.
bool survives(const std::string& text) {
  ChildProcess reader = ChildProcess::fork([&] {
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nothing, STDOUT_FILENO);
    ::dup2(nothing, STDERR_FILENO);
    constexpr rlim_t max_seconds = 60;
    const rlimit limit{.rlim_cur = max_seconds, .rlim_max = max_seconds};
    ::setrlimit(RLIMIT_CPU, &limit);
    const rlimit no_core_file{.rlim_cur = 0, .rlim_max = 0};
    ::setrlimit(RLIMIT_CORE, &no_core_file);
    (void)load_xml(text, "");
    return 0;
  });
  return !reader.started() || reader.wait() == 0 || !reader.status_known();
}

}  // namespace

bool has_hwloc() {
  return true;
}

Result<MachineSpec> read_hwloc_xml(const FileContents& file) {
  std::string text(file.view());  // hwloc needs a terminating zero
  accept_version_3(text);
  if (!survives(text)) {
    return fail(Code::bad_input, at(file.name()), "libhwloc crashes when it reads this XML",
                "the file is damaged; export it again: lstopo machine.xml");
  }
  return load_xml(text, file.name());
}

Result<MachineSpec> discover_host(const HostOptions& options) {
  const HwlocTopology topology = make_topology(), with_devices = make_topology(true);
  const unsigned long flags =
      options.bound ? HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING : 0UL;
  if (!topology || hwloc_topology_set_flags(topology.get(), flags) != 0 || hwloc_topology_load(topology.get()) != 0) {
    return fail(Code::environment, at("this host"), "hwloc cannot read the topology of this host",
                "check that /sys is mounted");
  }
  const bool devices_known = options.devices && with_devices &&
                             hwloc_topology_set_flags(with_devices.get(), flags) == 0 &&
                             hwloc_topology_load(with_devices.get()) == 0;
  HostDevices devices = devices_known ? list_devices(with_devices.get()) : HostDevices();
  HostGpuLinks links;
  // hwloc of most distributions does not use the libraries of the vendors.
  if (devices.links.bandwidth.empty()) links = query_gpu_links(devices.links.gpus);
  if (!links.table.bandwidth.empty()) devices.links = std::move(links.table);
  auto machine = read_loaded(topology.get(), std::move(devices), "this host");
  if (!machine) return machine;
  machine->remarks.insert(machine->remarks.end(), links.remarks.begin(), links.remarks.end());
  if (options.channels_root.empty()) return machine;
  ChannelSpec channels = read_host_channels(options.channels_root);
  channels.cost_origins = std::move(machine->channels.cost_origins);
  machine->channels = std::move(channels);
  return machine;
}

}  // namespace rankloom
