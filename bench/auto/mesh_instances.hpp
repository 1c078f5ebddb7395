// SPDX-License-Identifier: Apache-2.0
// bench/auto: the instances with many tasks per core (suite B): a graph, a machine, and whether tasks have loads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/auto/measure.hpp"

namespace rankloom::bench {

/// Which figures of the table an instance belongs to.
enum class GraphFamily : std::uint8_t {
  mesh,   ///< Small cuts: meshes, grids, road networks.
  sparse  ///< No small cuts: sparse random and power-law graphs.
};

struct MeshInstance {
  std::string kind;                   ///< A kind of reference_graph(), "random" or "road".
  unsigned power;                     ///< The graph has 2^power vertices.
  std::string machine = "4:8:6";      ///< A hierarchy, bottom up, or a topology such as "torus:8x8x4=1".
  std::string distance = "1:10:100";  ///< Of a hierarchy.
  bool loads = false;                 ///< Tasks have loads of 1 to 10, and the load of a core is limited.

  std::uint32_t size() const { return 1U << power; }
  std::string name() const;  ///< "rggmesh 2^18", "rggmesh 2^18 loads"
  GraphFamily family() const;
};

/// The allowed imbalance of all instances, as in the published comparison.
constexpr double mesh_imbalance = 0.03;

/// The instances of the table, the small ones first: `power` 18 is that of the published comparison. Above it come
/// meshes of 2^20 and, with `large`, of 2^22 vertices.
std::vector<MeshInstance> mesh_instances(unsigned power, bool with_larger, bool with_largest);

/// Exits with an error message if the kind or the machine is unknown.
Problem mesh_problem(const MeshInstance& instance, std::uint64_t seed);

/// The most weight on a core over the allowed one, at most 1 if the placement is balanced: of tasks, ceil((1+ε)·ceil(n
/// / k)); of loads, (1+ε) times the average, or the heaviest task if that is more.
double relative_imbalance(const Problem& problem, const MeshInstance& instance, const std::vector<Core>& core_of);

}  // namespace rankloom::bench
