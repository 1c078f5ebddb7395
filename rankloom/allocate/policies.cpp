// SPDX-License-Identifier: Apache-2.0
// allocate: the table of policies, and those of them that need no search.
#include <algorithm>
#include <array>
#include <variant>

#include <fmt/format.h>

#include "rankloom/allocate/policy.hpp"
#include "rankloom/core/suggest.hpp"
#include "rankloom/model/network/networks.hpp"

namespace rankloom {

namespace {

using Found = std::optional<Allotment>;

/// Numbers of neighbouring free nodes.
struct Run {
  std::uint32_t first = 0, count = 0;
};

std::vector<Run> free_runs(const Bits& free) {
  std::vector<Run> runs;
  free.each([&](std::uint32_t node) {
    if (runs.empty() || runs.back().first + runs.back().count != node) runs.push_back({node, 0});
    ++runs.back().count;
  });
  return runs;
}

std::vector<Node> first_of(const Bits& free, std::uint32_t nodes) {
  std::vector<Node> chosen;
  free.each([&](std::uint32_t node) {
    if (chosen.size() < nodes) chosen.push_back(Node{node});
  });
  return chosen;
}

std::vector<Node> in_run(Run run, std::uint32_t nodes) {
  std::vector<Node> chosen;
  for (std::uint32_t i = 0; i < nodes; ++i) chosen.push_back(Node{run.first + i});
  return chosen;
}

Found sequential(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes, const PlaceOptions&) {
  if (occupancy.free_count() < nodes) return std::nullopt;
  return describe(allocator.machine(), occupancy, first_of(occupancy.free(), nodes));
}

Found first_fit(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes, const PlaceOptions&) {
  if (occupancy.free_count() < nodes) return std::nullopt;
  for (const Run run : free_runs(occupancy.free())) {
    if (run.count >= nodes) return describe(allocator.machine(), occupancy, in_run(run, nodes));
  }
  return describe(allocator.machine(), occupancy, first_of(occupancy.free(), nodes));
}

bool has_switches(const Network& network) {
  return std::holds_alternative<TreeShape>(network.shape()) || std::holds_alternative<FatTreeShape>(network.shape());
}

/// In a tree, the lowest switch with enough free nodes, of several the one with the fewest; elsewhere the shortest run.
Found best_fit_switch(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes,
                      const PlaceOptions& options) {
  if (occupancy.free_count() < nodes) return std::nullopt;
  if (has_switches(allocator.machine().network())) return allocator.search().nearest(occupancy, nodes);
  Run best;
  for (const Run run : free_runs(occupancy.free())) {
    if (run.count >= nodes && (best.count == 0 || run.count < best.count)) best = run;
  }
  if (best.count == 0) return sequential(allocator, occupancy, nodes, options);
  return describe(allocator.machine(), occupancy, in_run(best, nodes));
}

Found closed_minimum(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes, const PlaceOptions&) {
  return allocator.search().closed_minimum(occupancy, nodes);
}

Found closed_best(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes,
                  const PlaceOptions& options) {
  return allocator.search().closed(occupancy, nodes, Prefer::least_diameter, options.limits);
}

Found closed_fewest(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes,
                    const PlaceOptions& options) {
  return allocator.search().closed(occupancy, nodes, Prefer::fewest_nodes, options.limits);
}

Found min_diameter(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes, const PlaceOptions&) {
  if (occupancy.free_count() < nodes) return std::nullopt;
  return allocator.search().nearest(occupancy, nodes);
}

constexpr auto table = std::to_array<PolicyInfo>({
    {"closed-best", "a closed set of the least diameter that can be had, packed so that large free regions stay",
     "ours, after Zhang 2014", true, closed_best},
    {"closed-minimum", "the first free place of the one template of least diameter; all of it is kept",
     "Zhang 2014, Figure 3", true, closed_minimum},
    {"closed-fewest", "the closed set with the fewest nodes, whatever its diameter",
     "Zhang 2014, section 4, fallback b", true, closed_fewest},
    {"min-diameter", "free nodes of the least diameter, closed or not", "Zhang 2014, section 4, fallback a", false,
     min_diameter},
    {"sequential", "the first free nodes in the order of their numbers", "Zhang 2014, section 5, the baseline", false,
     sequential},
    {"first-fit", "the first run of neighbouring numbers that is long enough, else the first free nodes",
     "schedulers without a topology", false, first_fit},
    {"best-fit-switch", "under the lowest switch with enough free nodes, of several the fullest",
     "Slurm, topology/tree", false, best_fit_switch},
});

std::shared_ptr<const ClosedSearch> make_search(const AllocationMachine& machine) {
  if (std::holds_alternative<MeshShape>(machine.network().shape())) return make_box_search(machine);
  if (has_switches(machine.network())) return make_subtree_search(machine);
  return make_growing_search(machine);
}

}  // namespace

Allocator::Allocator(AllocationMachine machine) : machine_(std::move(machine)), search_(make_search(machine_)) {}

std::string_view name_of(Fallback fallback) {
  switch (fallback) {
    case Fallback::wait:
      return "wait";
    case Fallback::diameter:
      return "diameter";
    case Fallback::closed:
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
  return fail(Code::usage, at("--policy"), fmt::format("there is no policy '{}'", name), suggest(name, names));
}

std::optional<Allotment> place(const Allocator& allocator, const Occupancy& occupancy, const PolicyInfo& policy,
                               std::uint32_t nodes, const PlaceOptions& options) {
  if (nodes == 0 || nodes > occupancy.free_count()) return std::nullopt;
  auto allotment = policy.place(allocator, occupancy, nodes, options);
  if (allotment || options.fallback == Fallback::wait) return allotment;
  return options.fallback == Fallback::diameter ? min_diameter(allocator, occupancy, nodes, options)
                                                : closed_fewest(allocator, occupancy, nodes, options);
}

Allotment describe(const AllocationMachine& machine, const Occupancy& occupancy, std::vector<Node> nodes) {
  Allotment allotment;
  allotment.passages = Bits(machine.rule().passage_count());
  machine.rule().add_passages(nodes, allotment.passages);
  allotment.diameter = diameter_of(machine.network(), nodes);
  allotment.closed = !allotment.passages.meets(occupancy.held());
  allotment.nodes = std::move(nodes);
  return allotment;
}

}  // namespace rankloom
