// SPDX-License-Identifier: Apache-2.0
// model/machine: the description of a machine. Every topology source (string, JSON, hostlist, hwloc, Slurm, probe)
// returns a MachineSpec, and Topology::build() compiles it for fast queries. Equal parts are described once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/ids.hpp"

namespace rankloom {

class Network;

/// The largest machine, half as large again as the largest one that was built. A larger number is an error in a count,
/// and would need gigabytes of memory.
inline constexpr std::uint64_t max_cores = std::uint64_t{1} << 24;

/// The cost of sending from one core to another, as in LogGP. Times are nanoseconds; a source that knows only ratios
/// uses any unit.
struct Cost {
  double inverse_bandwidth = 0;  ///< Time per byte (G).
  double latency = 0;            ///< Time per message.
  bool operator==(const Cost&) const = default;
};

/// Costs outside of these limits are errors of the input: with them, the sum of traffic times cost could be infinite.
inline constexpr double min_valid_cost = 1e-40, max_valid_cost = 1e40;
inline constexpr const char* cost_limits = "time per byte above 0, latency 0 or more, neither above 1e40";

inline bool is_valid_cost(Cost cost) {
  return cost.inverse_bandwidth >= min_valid_cost && cost.inverse_bandwidth <= max_valid_cost && cost.latency >= 0 &&
         cost.latency <= max_valid_cost;
}

/// A device of a node: a GPU ("gpu") or a network card ("nic").
struct DeviceSpec {
  std::string kind;
  std::string name = {};  ///< "NVIDIA H200", "mlx5_0"; may be empty.
  /// As programs count the devices of this kind on a node; none: in the order of the machine. All devices of a kind on
  /// a node have one, or none has.
  std::optional<std::uint32_t> number = {};
  std::string address = {};  ///< On the PCI bus: "0000:07:00.0"; may be empty.
  bool operator==(const DeviceSpec&) const = default;
};

/// Whether a level of a topology string is a kind of devices.
inline bool is_device_kind(std::string_view kind) {
  return kind == "gpu" || kind == "nic";
}

/// A link between GPUs of a node that bypasses the processors: NVLink, xGMI, Xe Link.
struct GpuLinkSpec {
  /// The numbers of the GPUs on the node, each linked to all others; empty: all GPUs below the object.
  std::vector<std::uint32_t> gpus = {};
  Cost cost = {};
  bool operator==(const GpuLinkSpec&) const = default;
};

/// A node with links has at most this many GPUs.
inline constexpr std::size_t max_linked_gpus = 256;

/// One object of the hierarchy, or `repeat` equal siblings.
struct ObjectSpec {
  std::string kind;  ///< "switch", "node", "package", "core", …: names the level.
  std::string name;  ///< The name of a host; empty: numbered. Only with repeat = 1.
  std::uint64_t repeat = 1;
  /// Cost between two cores under different children of this object; none: ten times the most expensive level below.
  std::optional<Cost> between;
  std::uint32_t capacity = 1;  ///< Leaves only: how many ranks fit; 0: the core must not be used.
  /// Leaves only: the number that the operating system of the node gives to the processing unit.
  std::optional<std::uint32_t> os_index;
  std::vector<ObjectSpec> children;         ///< Empty: this is a leaf, that is, a core.
  std::vector<DeviceSpec> devices = {};     ///< Near all cores of this object, and not nearer to some of them.
  std::vector<GpuLinkSpec> gpu_links = {};  ///< Between GPUs of this object and of those below it.
  /// Leaves only: the rail that the network card of this core is connected to. All cores have one, or none has.
  std::optional<std::uint32_t> rail = {};
};

/// A node has at most this many rails.
inline constexpr std::uint32_t max_rails = 256;

/// A warning about the input of a topology source, which `topo check` prints. It is not an error.
struct MachineRemark {
  std::string what;
  std::string hint;
};

/// Where a number of a machine comes from, the least certain first.
enum class Origin : std::uint8_t {
  assumed,     ///< A default.
  discovered,  ///< The operating system or a tool of the network states it.
  stated,      ///< The user wrote it.
  measured,    ///< `topo probe` measured it.
};
std::string_view to_string(Origin origin);
std::optional<Origin> parse_origin(std::string_view name);

/// How the costs of a machine become seconds, and how many messages its parts carry at full rate.
struct ChannelSpec {
  /// Bytes per second between the two closest cores; scales all inverse bandwidths. 0: they are nanoseconds per byte.
  double base_rate = 0;
  /// For machines without latencies: seconds between the two closest cores; other latencies are proportional to the
  /// inverse bandwidth. 0: the latencies of the machine.
  double base_latency = 0;
  /// How many messages the channel of an object carries at full rate, by the kind of its level ("node", "switch",
  /// "package"), "bus" for the channel that the cores of a node share, "link" for links of a routed network. Default: 1
  /// for cores, nodes, links and all levels above nodes, unlimited for all others.
  struct Width {
    std::string kind;
    double messages = 1;
    Origin origin = Origin::stated;
    bool operator==(const Width&) const = default;
  };
  std::vector<Width> widths = {};  ///< In ascending order of their kinds.
  /// Bytes per second of one network card of a node; 0: unknown. `topo discover` derives the cost and the width of the
  /// nodes from it.
  double card_rate = 0;
  /// Where the cost between the objects of a level comes from. Default: stated.
  struct CostOrigin {
    std::string kind;
    Origin origin = Origin::stated;
    bool operator==(const CostOrigin&) const = default;
  };
  std::vector<CostOrigin> cost_origins = {};  ///< In ascending order of their kinds.

  std::optional<double> width(std::string_view kind) const;
  void set_width(std::string_view kind, double messages, Origin origin = Origin::stated);
  Origin cost_origin(std::string_view kind) const;
  void set_cost_origin(std::string_view kind, Origin origin);
  bool is_default() const { return *this == ChannelSpec(); }
  bool operator==(const ChannelSpec&) const = default;
};

struct MachineSpec {
  ObjectSpec root;  ///< The complete machine; kind "machine".
  /// The network between the nodes if it is not a hierarchy. The children of the root are then the nodes, in the order
  /// of the network.
  std::shared_ptr<const Network> network;
  std::string text;  ///< The text that the user wrote, for messages.
  std::vector<MachineRemark> remarks;
  ChannelSpec channels = {};
};

/// A derived width with the precision of such numbers: two significant digits, and at least 1.
double rounded_width(double messages);

/// Records this origin for the costs of all levels below the root that have one.
void set_cost_origins(MachineSpec& machine, Origin origin);

/// Whether one object of `a` equals one object of `b`, regardless of their repeat counts.
bool equal_except_repeat(const ObjectSpec& a, const ObjectSpec& b);

/// Appends an object. If it equals the last one, increases the repeat count of the last one instead. Objects with a
/// name are always appended.
void append_with_repeat(std::vector<ObjectSpec>& objects, ObjectSpec object);

/// The same machine with every run of equal siblings written once. Two machines are equal if the results are equal.
ObjectSpec fold_repeats(const ObjectSpec& object);

}  // namespace rankloom
