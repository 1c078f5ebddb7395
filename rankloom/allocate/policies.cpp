// SPDX-License-Identifier: Apache-2.0
// allocate: the table of policies, and the policies that need no search.
#include <algorithm>
#include <array>
#include <variant>

#include <fmt/format.h>

#include "rankloom/allocate/closed_fit.hpp"
#include "rankloom/allocate/policy.hpp"
#include "rankloom/core/text/suggest.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

namespace {

/// Free nodes with consecutive numbers.
struct Run {
  std::uint32_t first = 0, count = 0;
};

std::vector<Run> free_runs(const Bitset& free) {
  std::vector<Run> runs;
  free.for_each([&](std::uint32_t node) {
    if (runs.empty() || runs.back().first + runs.back().count != node) runs.push_back({node, 0});
    ++runs.back().count;
  });
  return runs;
}

std::vector<Node> first_free(const Bitset& free, std::uint32_t nodes) {
  std::vector<Node> chosen;
  free.for_each([&](std::uint32_t node) {
    if (chosen.size() < nodes) chosen.push_back(Node{node});
  });
  return chosen;
}

std::vector<Node> in_run(Run run, std::uint32_t nodes) {
  std::vector<Node> chosen;
  for (std::uint32_t i = 0; i < nodes; ++i) chosen.push_back(Node{run.first + i});
  return chosen;
}

std::optional<Allocation> sequential(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes,
                                     const AllocationOptions&) {
  if (occupancy.free_count() < nodes) return std::nullopt;
  return make_allocation(allocator.machine(), occupancy, first_free(occupancy.free_nodes(), nodes));
}

std::optional<Allocation> first_fit(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes,
                                    const AllocationOptions&) {
  if (occupancy.free_count() < nodes) return std::nullopt;
  for (const Run run : free_runs(occupancy.free_nodes())) {
    if (run.count >= nodes) return make_allocation(allocator.machine(), occupancy, in_run(run, nodes));
  }
  return make_allocation(allocator.machine(), occupancy, first_free(occupancy.free_nodes(), nodes));
}

bool has_switches(const Network& network) {
  return std::holds_alternative<TreeShape>(network.shape()) || std::holds_alternative<FatTreeShape>(network.shape());
}

/// In a tree, the lowest switch with enough free nodes, and among those the one with the fewest free nodes; elsewhere
/// the shortest run that is long enough.
std::optional<Allocation> best_fit_switch(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes,
                                          const AllocationOptions& options) {
  if (occupancy.free_count() < nodes) return std::nullopt;
  if (has_switches(allocator.machine().network())) return allocator.search().find_nearest(occupancy, nodes);
  Run best;
  for (const Run run : free_runs(occupancy.free_nodes())) {
    if (run.count >= nodes && (best.count == 0 || run.count < best.count)) best = run;
  }
  if (best.count == 0) return sequential(allocator, occupancy, nodes, options);
  return make_allocation(allocator.machine(), occupancy, in_run(best, nodes));
}

std::optional<Allocation> isolated_minimum(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes,
                                           const AllocationOptions&) {
  return allocator.search().find_template(occupancy, nodes);
}

std::optional<Allocation> isolated_best(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes,
                                        const AllocationOptions& options) {
  return allocator.search().find_isolated(occupancy, nodes, Objective::min_diameter, options.limits);
}

std::optional<Allocation> isolated_fit(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes,
                                       const AllocationOptions& options) {
  auto decision = choose_fit(allocator, occupancy, nodes, options);
  if (!decision) return std::nullopt;
  return std::move(decision->allocation);
}

std::optional<Allocation> isolated_fewest(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes,
                                          const AllocationOptions& options) {
  return allocator.search().find_isolated(occupancy, nodes, Objective::min_nodes, options.limits);
}

std::optional<Allocation> min_diameter(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes,
                                       const AllocationOptions&) {
  if (occupancy.free_count() < nodes) return std::nullopt;
  return allocator.search().find_nearest(occupancy, nodes);
}

// The policies that isolate jobs are called closed, the word of Zhang 2014.
constexpr auto table = std::to_array<PolicyInfo>({
    {"closed-best", "isolated nodes of the smallest available diameter, packed so that large free regions remain",
     "ours, after Zhang 2014", true, isolated_best},
    {"closed-fit", "the isolated nodes that suit the traffic of the job: predicted run time and packing; see --prefer",
     "ours", true, isolated_fit, true},
    {"closed-minimum", "the first free position of the template of smallest diameter; reserves the whole template",
     "Zhang 2014, Figure 3", true, isolated_minimum},
    {"closed-fewest", "the isolated set with the fewest nodes, of any diameter", "Zhang 2014, section 4, fallback b",
     true, isolated_fewest},
    {"min-diameter", "free nodes of the smallest diameter, isolated or not", "Zhang 2014, section 4, fallback a", false,
     min_diameter},
    {"sequential", "the free nodes with the lowest numbers", "Zhang 2014, section 5, the baseline", false, sequential},
    {"first-fit", "the first run of consecutive node numbers that is long enough, else as sequential",
     "schedulers without a topology", false, first_fit},
    {"best-fit-switch", "the lowest switch with enough free nodes, and among those the one with the fewest",
     "Slurm, topology/tree", false, best_fit_switch},
});

std::shared_ptr<const IsolatedSearch> make_search(const AllocationMachine& machine) {
  if (std::holds_alternative<MeshShape>(machine.network().shape())) return make_box_search(machine);
  if (has_switches(machine.network())) return make_subtree_search(machine);
  return make_greedy_search(machine);
}

}  // namespace

Allocator::Allocator(AllocationMachine machine) : machine_(std::move(machine)), search_(make_search(machine_)) {}

std::string_view name_of(Fallback fallback) {
  switch (fallback) {
    case Fallback::wait:
      return "wait";
    case Fallback::diameter:
      return "diameter";
    case Fallback::isolated:
      break;
  }
  return "closed";
}

std::span<const PolicyInfo> policies() {
  return table;
}

Result<const PolicyInfo*> find_policy(std::string_view name) {
  std::vector<std::string_view> names;
  for (const PolicyInfo& row : table) {
    if (row.name == name) return &row;
    names.push_back(row.name);
  }
  return fail(Code::usage, at("--policy"), fmt::format("unknown policy '{}'", name), suggest(name, names));
}

std::optional<Allocation> allocate_nodes(const Allocator& allocator, const Occupancy& occupancy,
                                         const PolicyInfo& policy, std::uint32_t nodes,
                                         const AllocationOptions& options) {
  if (nodes == 0 || nodes > occupancy.free_count()) return std::nullopt;
  auto allocation = policy.allocate(allocator, occupancy, nodes, options);
  if (allocation || options.fallback == Fallback::wait) return allocation;
  return options.fallback == Fallback::diameter ? min_diameter(allocator, occupancy, nodes, options)
                                                : isolated_fewest(allocator, occupancy, nodes, options);
}

}  // namespace rankloom
