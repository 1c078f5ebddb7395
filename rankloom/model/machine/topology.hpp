// SPDX-License-Identifier: Apache-2.0
// model/machine: the machine with its communication costs. discover/ produces this value, map/ uses it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/machine_spec.hpp"
#include "rankloom/model/machine/network/network.hpp"

namespace rankloom {

/// A machine: a hierarchy of objects of any shape whose leaves are the cores, and a routed network between the nodes if
/// the network is not a tree. Immutable; copies share their data.
///
/// Every core has a 64-bit *path*: the child numbers of its ancestors, level by level. The highest bit in which two
/// paths differ determines the level at which the two cores diverge. cost() is therefore O(1) on every tree, balanced
/// or not, with 8 bytes per core. Between nodes of a routed network it takes the time of Network::cost().
class Topology {
 public:
  /// One level of the hierarchy: all objects of one kind.
  struct Level {
    std::string kind;
    std::uint64_t objects = 0;    ///< In the whole machine.
    std::uint32_t arity = 0;      ///< Objects per parent; 0 if it differs.
    std::uint32_t max_arity = 0;  ///< The maximum number of objects per parent.
    std::optional<Cost> cost;  ///< Between cores that diverge at this level; none: it differs, or the network decides.
    bool is_private() const { return max_arity == 1; }  ///< Every parent has one child: no cores diverge here.
  };

  /// A device of a node.
  struct Device {
    std::string kind;  ///< "gpu" or "nic"
    std::string name, address;
    Node node{};
    std::uint32_t number = 0;  ///< Among the devices of its kind on the node.
    Core first{}, end{};       ///< The cores near it.
  };

  /// A link between GPUs of a node.
  struct GpuLink {
    Node node{};
    std::vector<std::uint32_t> gpus;  ///< Their numbers on the node, in ascending order; each is linked to all others.
    Cost cost;
  };

  /// Fails if the machine is empty, too large for 32-bit core numbers, or has contradictory levels.
  static Result<Topology> build(MachineSpec spec);
  /// The same machine with other channels. Fails if they do not suit the machine.
  Result<Topology> with_channels(ChannelSpec channels) const;
  /// A machine given by a square distance matrix in row-major order, for quadratic assignment problems. This is the
  /// only kind of topology that stores all pairs.
  static Result<Topology> from_matrix(std::uint32_t size, std::vector<double> distances);

  std::uint32_t core_count() const { return static_cast<std::uint32_t>(data_->path.size()); }
  std::uint32_t node_count() const { return data_->node_count; }
  IdRange<Core> cores() const { return IdRange<Core>(core_count()); }
  IdRange<Node> nodes() const { return IdRange<Node>(node_count()); }

  /// Top down; the objects of the last level are the cores, those of node_level() the nodes.
  std::span<const Level> levels() const { return data_->levels; }
  std::size_t node_level() const { return data_->node_level; }
  /// The level at which two different cores diverge: the highest one on which they belong to different objects.
  std::size_t divergence_level(Core p, Core q) const { return data_->level_of_bit[highest_bit(p, q)]; }
  /// The same by the highest bit in which their paths differ: std::bit_width(paths()[p] ^ paths()[q]), 1 to 64.
  std::size_t level_of_bit(std::size_t bit) const { return data_->level_of_bit[bit]; }
  /// The object of the level that contains this core, counted over the whole machine.
  std::uint32_t object_of(std::size_t level, Core core) const;
  /// The first core of an object; object == levels()[level].objects returns the end of the last object.
  Core first_core(std::size_t level, std::uint32_t object) const;

  Cost cost(Core p, Core q) const;
  /// The cost of the level at which the cores diverge, as if both were on one rail.
  Cost level_cost(Core p, Core q) const;
  std::uint32_t hops(Core p, Core q) const;
  /// Whether the cost is the same in both directions for every pair.
  bool symmetric() const { return data_->symmetric; }
  /// The minimum cost between two different cores over all levels, links or matrix entries; inverse bandwidth and
  /// latency are minimised separately.
  Cost min_cost() const;

  Node node_of(Core core) const { return Node{object_of(data_->node_level, core)}; }
  std::string node_name(Node node) const;
  /// The number that the operating system of the node gives to this core.
  std::uint32_t os_index(Core core) const;
  /// How many ranks fit on the core; 0: the core must not be used.
  std::uint32_t capacity(Core core) const { return data_->capacity.empty() ? 1 : data_->capacity[index(core)]; }

  /// By node, then in the order of the machine.
  std::span<const Device> devices() const { return data_->devices; }
  /// By node. If several links connect two GPUs, the cheapest one counts.
  std::span<const GpuLink> gpu_links() const { return data_->gpu_links; }

  /// The number of rails; 0: the cores of a node share its connection to the network. On a machine with rails, each
  /// core has a card on one rail. The switches of the rails are the objects of the level above the nodes, one switch
  /// per object and rail; the levels above are common to all rails.
  std::uint32_t rail_count() const { return data_->rail_count; }
  std::uint32_t rail(Core core) const { return data_->rail[index(core)]; }
  /// How a message reaches a core on another node: the cheaper one of the ways that exist.
  struct RailRoute {
    enum class Kind : std::uint8_t {
      direct,  ///< On one rail, or over switches above the rails that the message passes anyway.
      relay,   ///< Inside the node to a core on the rail of the destination, then on that rail.
      spine,   ///< Over the switches above the rails, although both nodes are connected to the same rail switches.
    } kind = Kind::direct;
    Core relay{};
  };
  /// For cores of different nodes of a machine with rails.
  RailRoute rail_route(Core p, Core q) const;

  /// Appends the links of the network between two cores, none inside a node. With rails, each link of network() that
  /// belongs to a node or to the level above has one link per rail.
  void route(Core p, Core q, std::vector<Link>& links) const;
  std::uint32_t link_count() const { return network().link_count() * std::max(1U, rail_count()); }
  /// The link of network() that this link of route() belongs to.
  Link network_link(Link link) const { return rail_count() == 0 ? link : Link{index(link) / rail_count()}; }
  double slowness(Link link) const { return network().slowness(network_link(link)); }
  /// The rail of a link of route(); none for links that all rails share.
  std::optional<std::uint32_t> rail_of(Link link) const;

  /// The network between the nodes. For a hierarchy it is the tree of the levels above the nodes.
  const Network& network() const { return *data_->network; }
  /// Whether a routed network connects the nodes, instead of a tree of levels; levels()[node_level()] has no cost then.
  bool routed() const { return data_->routed; }

  /// The description that this topology was built from, for writing files; without root for a matrix.
  const MachineSpec& spec() const { return data_->spec; }
  bool is_matrix() const { return data_->matrix_size > 0; }

  /// For hot loops: if cost() depends on the divergence level alone, the costs indexed by
  /// std::bit_width(paths()[p] ^ paths()[q]); entry 0 is a core with itself.
  std::optional<std::array<Cost, 65>> cost_by_bit() const;
  std::array<std::uint32_t, 65> hops_by_bit() const;
  std::span<const std::uint64_t> paths() const { return data_->path; }

 private:
  friend class TopologyBuilder;
  struct Data {
    MachineSpec spec;
    std::vector<Level> levels;
    std::size_t node_level = 0;
    std::uint32_t node_count = 0;
    std::vector<std::uint64_t> path;                     // by core
    std::array<std::uint8_t, 65> level_of_bit{};         // by bit width of the XOR of two paths
    std::vector<std::vector<std::uint32_t>> first_core;  // by level and object, with a final end; empty for the leaves
    std::vector<std::vector<Cost>> between;  // by level and parent: cost between its children, if parents differ
    std::vector<std::uint32_t> capacity;     // by core; empty: all 1
    std::vector<std::uint32_t> os_index;     // by core; empty: the index in the node
    std::vector<std::string> node_names;     // empty: numbered
    std::vector<Device> devices;
    std::vector<GpuLink> gpu_links;
    std::shared_ptr<const Network> network;
    bool routed = false;
    bool symmetric = true;
    std::uint32_t rail_count = 0;
    std::vector<std::uint32_t> rail;        // by core; empty: no rails
    std::vector<std::uint32_t> rail_cores;  // by node and rail: the first core on the rail, or no_core
    std::uint32_t matrix_size = 0;
    std::vector<double> matrix;
  };

  static constexpr std::uint32_t no_core = UINT32_MAX;
  /// Between cores below different objects of the level above the nodes.
  Cost spine_cost(Core core) const;
  /// Whether the link leads up from a node or from a switch of the rails, or down to it.
  bool is_rail_link(Link link) const;

  explicit Topology(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::size_t highest_bit(Core p, Core q) const {
    return static_cast<std::size_t>(std::bit_width(data_->path[index(p)] ^ data_->path[index(q)]));
  }

  std::shared_ptr<const Data> data_;
};

}  // namespace rankloom
