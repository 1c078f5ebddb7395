// SPDX-License-Identifier: Apache-2.0
// capi: what the C library and the Python module share: the stages of rankloom/ for callers who come with arrays and
// words instead of files and flags, and whose numbers nobody has checked yet.
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
#include "rankloom/model/comm_graph.hpp"
#include "rankloom/model/cost_model.hpp"
#include "rankloom/model/topology.hpp"

namespace rankloom::bridge {

struct Traffic {
  CommGraph graph;
  std::optional<Topology> topology;  ///< For formats that bring their own distances (QAPLIB).
};

/// What every PROFILE of the program takes but a pipe: a file of any format, or "gen:PATTERN". `format` may be empty:
/// the content tells.
Result<Traffic> load_traffic(const std::string& profile, const std::string& format, std::string_view collectives);

/// Traffic in any order; repeated pairs are added up, what ranks send to themselves is left out.
struct Edges {
  std::span<const std::uint32_t> from, to;
  std::span<const double> bytes;
  std::span<const double> messages;  ///< Empty: not known.
  std::span<const double> loads;     ///< Work of each rank; empty: all equal.
  bool undirected = false;           ///< Each pair is given once, with all that both say.
};
/// Fails on ends that are no ranks and on numbers that are negative or not finite.
Result<CommGraph> graph_of(std::uint32_t ranks, const Edges& edges);

/// A row of the table of cost models; empty: bytes.
Result<CostModel> cost_model(std::string_view name);

/// What `rankloom map` takes as flags.
struct MapRequest {
  std::string mapper = "auto";
  std::vector<std::pair<std::string, std::string>> options;  ///< The mapper's own, by name.
  std::string model;
  std::uint64_t seed = 0;
  std::uint64_t budget_ms = 0;  ///< 0: no limit.
  std::uint64_t threads = 0;    ///< 0: all cores.
  Capacities::Options fit;
  std::optional<std::vector<std::uint32_t>> start;
  double move_price = 0;
  RunOptions run;
};
Result<MapResult> map(const CommGraph& graph, const Topology& topology, const MapRequest& request);

/// A placement by somebody else, for scoring: a core of the machine for every rank. Several ranks may sit on a core.
Result<std::vector<Core>> placement(std::span<const std::uint32_t> cores, const CommGraph& graph,
                                    const Topology& topology);

/// Nodes for several jobs at once, in memory: `rankloom alloc` without its file.
class JobTable {
 public:
  /// Empty words: closed-best, and what suits the network.
  static Result<JobTable> of(const Topology& topology, std::string_view policy, std::string_view exclusive);

  /// Nodes for a job, or none if it has to wait. Fails on what can never be.
  Result<std::optional<std::uint64_t>> request(std::uint64_t nodes, std::string_view policy, std::string_view fallback);
  Result<void> release(std::uint64_t job);
  Result<const Allotment*> find(std::uint64_t job) const;
  Result<void> drain(std::uint64_t node, bool failed);
  Result<void> resume(std::uint64_t node);

  const std::map<std::uint64_t, Allotment>& jobs() const { return jobs_; }
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
  std::map<std::uint64_t, Allotment> jobs_;
  std::uint64_t next_ = 1;
};

}  // namespace rankloom::bridge
