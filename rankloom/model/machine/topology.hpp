// SPDX-License-Identifier: Apache-2.0
// model: what is near what. The value that discover produces and map consumes.
#pragma once

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
#include "rankloom/model/machine/network.hpp"

namespace rankloom {

/// A machine: a hierarchy of objects of any shape whose leaves are the cores, and, where the nodes are wired otherwise
/// than as a tree, a routed network between the nodes. Immutable; copies share their data.
///
/// Every core has a 64-bit *path*: the numbers of its ancestors, level by level, packed so that the highest bit in
/// which two paths differ tells the level at which the two cores part. So cost() is O(1) on every tree, even or uneven,
/// at 8 bytes a core; between nodes of a network it is what the network's arithmetic takes.
class Topology {
 public:
  /// One level of the hierarchy, the objects of one kind.
  struct Level {
    std::string kind;
    std::uint64_t objects = 0;  ///< How many there are in the machine.
    std::uint32_t arity = 0;    ///< Objects under each parent; 0 when that differs.
    std::uint32_t widest = 0;   ///< The most objects under one parent.
    std::optional<Cost> cost;   ///< Between cores that part at this level; none: it differs, or a network decides.
    bool is_private() const { return widest == 1; }  ///< One child everywhere: no choice is made here.
  };

  /// Fails when the machine is empty, too large for 32-bit core numbers, or its levels contradict each other.
  static Result<Topology> build(MachineSpec spec);
  /// Cores at the distances of a square table, row by row; for quadratic assignment problems that come as a table.
  /// The only topology that stores pairs, because its input is the pairs.
  static Result<Topology> from_matrix(std::uint32_t size, std::vector<double> distances);

  std::uint32_t core_count() const { return static_cast<std::uint32_t>(data_->path.size()); }
  std::uint32_t node_count() const { return data_->node_count; }
  IdRange<Core> cores() const { return IdRange<Core>(core_count()); }
  IdRange<Node> nodes() const { return IdRange<Node>(node_count()); }

  /// Top down, the last one holds the cores; the level that holds the nodes is node_level().
  std::span<const Level> levels() const { return data_->levels; }
  std::size_t node_level() const { return data_->node_level; }
  /// The level at which two different cores part: the highest one where they belong to different objects.
  std::size_t parting_level(Core p, Core q) const { return data_->level_of_bit[highest_bit(p, q)]; }
  /// Which object of the level holds this core, counted over the machine.
  std::uint32_t object_of(std::size_t level, Core core) const;
  /// First core of an object; object == levels()[level].objects gives the end of the last.
  Core first_core(std::size_t level, std::uint32_t object) const;

  Cost cost(Core p, Core q) const;
  std::uint32_t hops(Core p, Core q) const;
  /// The same cost in both directions for every pair.
  bool symmetric() const { return data_->symmetric; }
  /// The smallest cost between two different cores that any level, link or table entry has; latency and gap each for
  /// itself.
  Cost least_cost() const;

  Node node_of(Core core) const { return Node{object_of(data_->node_level, core)}; }
  std::string node_name(Node node) const;
  /// The number by which the node's operating system knows this core.
  std::uint32_t os_index(Core core) const;
  /// How many ranks the core may hold.
  std::uint32_t capacity(Core core) const { return data_->capacity.empty() ? 1 : data_->capacity[index(core)]; }

  /// The wiring of the nodes. A hierarchy has one too: the tree of the levels above its nodes.
  const Network& network() const { return *data_->network; }
  /// The nodes are wired by a network that is no tree of levels, so levels()[node_level()] has no cost of its own.
  bool routed() const { return data_->routed; }

  /// What it was built from, for writing it out again; empty root for a matrix.
  const MachineSpec& spec() const { return data_->spec; }
  bool is_matrix() const { return data_->matrix_size > 0; }

  /// Costs for hot loops: when cost() depends on the parting level alone, the table indexed by
  /// std::bit_width(path(p) ^ path(q)); entry 0 is a core with itself.
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
    std::array<std::uint8_t, 65> level_of_bit{};         // by bit width of the difference of two paths
    std::vector<std::vector<std::uint32_t>> first_core;  // by level, by object, with an end mark; empty for the leaves
    std::vector<std::vector<Cost>> between;  // by level: cost between the children of each parent, where parents differ
    std::vector<std::uint32_t> capacity;     // by core; empty: all 1
    std::vector<std::uint32_t> os_index;     // by core; empty: the position in the node
    std::vector<std::string> node_names;     // empty: numbered
    std::shared_ptr<const Network> network;
    bool routed = false;
    bool symmetric = true;
    std::uint32_t matrix_size = 0;
    std::vector<double> matrix;
  };

  explicit Topology(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::size_t highest_bit(Core p, Core q) const {
    return static_cast<std::size_t>(std::bit_width(data_->path[index(p)] ^ data_->path[index(q)]));
  }

  std::shared_ptr<const Data> data_;
};

}  // namespace rankloom
