// SPDX-License-Identifier: Apache-2.0
// capi: the common base of the C library and the Python module: the stages of rankloom/ for callers that pass arrays
// and names. All arguments are validated here.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankloom/allocate/closed_fit.hpp"
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

/// What a job requests whose nodes are chosen with its traffic.
struct ProposalRequest {
  std::uint64_t nodes = 0;   ///< 0: as many as the ranks need.
  std::string prefer;        ///< As `alloc request --prefer`; empty: balanced.
  double communication = 0;  ///< Share of the run time; 0: the default.
  double limit_ms = 50;      ///< For the choice of the nodes and the mapping; 0: none.
};

class Planner;

/// Nodes for a job and the cores of its ranks. Nothing is reserved until it is committed.
struct Proposal {
  Allocation allocation;
  std::vector<std::uint32_t> nodes, cores;
  std::string reason;
  /// Predicted communication, and that of the launcher's default placement on the same nodes; NaN: not computed.
  double seconds = std::numeric_limits<double>::quiet_NaN(), seconds_default = seconds;
  std::shared_ptr<const Planner> planner;  ///< Identifies the allocator.
};

/// Makes proposals. Thread-safe: concurrent calls do not wait for each other. It keeps what it has computed for the
/// shapes of sets.
class Planner : public std::enable_shared_from_this<Planner> {
 public:
  explicit Planner(const AllocationMachine& machine);
  ~Planner();
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  /// Nothing if the job has to wait.
  Result<std::optional<Proposal>> propose(const Allocator& allocator, const Occupancy& occupancy,
                                          const CommGraph& graph, const ProposalRequest& request);

 private:
  struct Worker;
  Result<std::unique_ptr<Worker>> take();
  void give_back(std::unique_ptr<Worker> worker);

  AllocationMachine machine_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

/// The running jobs and their nodes, in memory: `rankloom alloc` without its state file.
class JobTable {
 public:
  /// Defaults for empty strings: the policy closed-best, and the exclusive resources of the network.
  static Result<JobTable> of(const Topology& topology, std::string_view policy, std::string_view exclusive);

  /// Allocates nodes to a job; nothing if the job has to wait. Fails if the job can never run.
  Result<std::optional<std::uint64_t>> request(std::uint64_t nodes, std::string_view policy, std::string_view fallback);
  /// The nodes of a proposal for a job; nothing if another job has taken some of them or of their links meanwhile.
  Result<std::optional<std::uint64_t>> commit(const Proposal& proposal);
  Result<void> release(std::uint64_t job);
  Result<const Allocation*> find(std::uint64_t job) const;
  Result<void> drain(std::uint64_t node, bool failed);
  Result<void> resume(std::uint64_t node);

  const std::map<std::uint64_t, Allocation>& jobs() const { return jobs_; }
  std::uint32_t free_nodes() const { return occupancy_.free_count(); }
  const AllocationMachine& machine() const { return allocator_.machine(); }
  std::string_view policy() const { return policy_->name; }
  /// For proposals: copies of these values remain valid while other threads change the jobs.
  const Allocator& allocator() const { return allocator_; }
  const Occupancy& occupancy() const { return occupancy_; }
  const std::shared_ptr<Planner>& planner() const { return planner_; }

 private:
  JobTable(Allocator allocator, const PolicyInfo* policy)
      : allocator_(std::move(allocator)),
        occupancy_(allocator_.machine()),
        planner_(std::make_shared<Planner>(allocator_.machine())),
        policy_(policy) {}
  std::uint64_t add(Allocation allocation);
  Result<void> check_node(std::uint64_t node) const;

  Allocator allocator_;
  Occupancy occupancy_;
  std::shared_ptr<Planner> planner_;
  const PolicyInfo* policy_;
  std::map<std::uint64_t, Allocation> jobs_;
  std::uint64_t next_job_ = 1;
};

}  // namespace rankloom::bridge
