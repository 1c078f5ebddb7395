// SPDX-License-Identifier: Apache-2.0
// capi: the common base of the C library and the Python module: the stages of rankloom/ for callers that pass arrays
// and names. All arguments are validated here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankloom/allocate/policy.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/map/run.hpp"
#include "rankloom/model/cost/cost_model.hpp"
#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom::bridge {

struct Traffic {
  CommGraph graph;
  std::optional<Topology> topology;  ///< For formats that contain distances (QAPLIB).
};

/// Loads a file of any format, or "gen:PATTERN". An empty `format` is detected from the content.
Result<Traffic> load_traffic(const std::string& profile, const std::string& format, std::string_view collectives);

/// Traffic in any order. Repeated pairs are added, and messages of a rank to itself are ignored.
struct Edges {
  std::span<const std::uint32_t> from, to;
  std::span<const double> bytes;
  std::span<const double> messages;  ///< Empty: unknown.
  std::span<const double> loads;     ///< Load of each rank; empty: all equal.
  bool undirected = false;           ///< Each pair is given once, with the traffic of both directions.
};
/// Fails if an end is not a rank, or if an amount is negative or not finite.
Result<CommGraph> build_graph(std::uint32_t ranks, const Edges& edges);

/// The cost model of this name; empty: bytes.
Result<CostModel> cost_model(std::string_view name, const CommGraph& graph, const Topology& topology);

/// The options of `rankloom map`.
struct MapRequest {
  std::string mapper = "auto";
  std::vector<std::pair<std::string, std::string>> options;  ///< Options of the mapper, by name.
  std::string model;
  std::uint64_t seed = 0;
  std::uint64_t budget_ms = 0;  ///< 0: no limit.
  std::uint64_t threads = 0;    ///< 0: all cores.
  Capacities::Options fit;
  std::optional<std::vector<std::uint32_t>> start;
  double migration_cost = 0;
  MapRunOptions run;
};
Result<MapResult> map(const CommGraph& graph, const Topology& topology, const MapRequest& request);

/// Validates a placement of the caller for evaluation: a core of the machine for every rank. Several ranks may share a
/// core.
Result<std::vector<Core>> placement(std::span<const std::uint32_t> cores, const CommGraph& graph,
                                    const Topology& topology);

/// The running jobs and their nodes, in memory: `rankloom alloc` without its state file.
class JobTable {
 public:
  /// Defaults for empty strings: the policy closed-best, and the exclusive resources of the network.
  static Result<JobTable> of(const Topology& topology, std::string_view policy, std::string_view exclusive);

  /// Allocates nodes to a job; nothing if the job has to wait. Fails if the job can never run.
  Result<std::optional<std::uint64_t>> request(std::uint64_t nodes, std::string_view policy, std::string_view fallback);
  Result<void> release(std::uint64_t job);
  Result<const Allocation*> find(std::uint64_t job) const;
  Result<void> drain(std::uint64_t node, bool failed);
  Result<void> resume(std::uint64_t node);

  const std::map<std::uint64_t, Allocation>& jobs() const { return jobs_; }
  std::uint32_t free_nodes() const { return occupancy_.free_count(); }
  const AllocationMachine& machine() const { return allocator_.machine(); }
  std::string_view policy() const { return policy_->name; }

 private:
  JobTable(Allocator allocator, const PolicyInfo* policy)
      : allocator_(std::move(allocator)), occupancy_(allocator_.machine()), policy_(policy) {}
  Result<void> check_node(std::uint64_t node) const;

  Allocator allocator_;
  Occupancy occupancy_;
  const PolicyInfo* policy_;
  std::map<std::uint64_t, Allocation> jobs_;
  std::uint64_t next_job_ = 1;
};

}  // namespace rankloom::bridge
