// SPDX-License-Identifier: Apache-2.0
// map/portfolio: mappings of one problem under different goals.
#include "rankloom/map/portfolio/candidate_mappings.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "rankloom/map/machine/machine_tree.hpp"
#include "rankloom/map/portfolio/time_search.hpp"
#include "rankloom/model/prediction/flow_prediction.hpp"

namespace rankloom {

namespace {

/// A run of the mapper.
struct Goal {
  CostModel model;
  const Capacities* capacities;
};

/// Those of the problem's own capacities first. Spreading the ranks is part of the search for the shortest predicted
/// time, and a goal of its own for other models.
std::vector<Goal> other_goals(const MapProblem& problem, std::span<const Capacities> spread) {
  std::vector<Goal> goals;
  const auto add = [&](CostModel model) {
    if (model != problem.model) goals.push_back({model, &problem.capacities});
  };
  if (!problem.topology.is_matrix()) add(CostModel::predicted);
  add(CostModel::time);
  add(CostModel::bytes);
  if (problem.topology.routed()) add(CostModel::congestion);
  for (const Capacities& capacities : spread) goals.push_back({CostModel::time, &capacities});
  return goals;
}

/// An equal part of the time for each of the remaining runs.
Deadline share_of(const Deadline& deadline, std::size_t runs) {
  using std::chrono::milliseconds;
  if (!deadline.limited()) return deadline;
  const auto left = std::chrono::duration_cast<milliseconds>(deadline.left());
  return Deadline::in(std::max(milliseconds(1), left / static_cast<milliseconds::rep>(runs)));
}

class CandidateList {
 public:
  explicit CandidateList(const MapProblem& problem) : problem_(problem) {
    if (auto platform = Platform::of(problem.topology); platform && rounds_predicted_by_flows(problem.graph) > 0)
      platform_.emplace(*std::move(platform));
  }

  void add(std::string_view goal, const Mapping& mapping) {
    for (const CandidateMapping& other : candidates_) {
      if (equal_up_to_symmetry(other.mapping.cores(), mapping.cores(), problem_.topology, problem_.capacities)) return;
    }
    CandidateMapping candidate{.goal = std::string(goal), .mapping = mapping, .is_default = candidates_.empty()};
    std::vector<Node> nodes;
    for (const Core core : mapping.cores()) nodes.push_back(problem_.topology.node_of(core));
    std::sort(nodes.begin(), nodes.end());
    candidate.nodes = static_cast<std::uint32_t>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
    candidate.cost = evaluate(problem_.graph, problem_.topology, mapping.cores(), problem_.model);
    candidate.predicted_seconds = predicted_seconds(mapping.cores());
    candidates_.push_back(std::move(candidate));
  }

  Result<void> add(std::string_view goal, std::span<const Core> core_of) {
    auto mapping =
        Mapping::create({core_of.begin(), core_of.end()}, problem_.topology, problem_.capacities, std::string(goal));
    if (!mapping) return propagate(mapping);
    add(goal, *mapping);
    return {};
  }

  std::vector<CandidateMapping> by_predicted_time() && {
    std::stable_sort(candidates_.begin(), candidates_.end(), [](const CandidateMapping& a, const CandidateMapping& b) {
      return a.predicted_seconds < b.predicted_seconds;
    });
    return std::move(candidates_);
  }

 private:
  double predicted_seconds(std::span<const Core> core_of) const {
    if (platform_) return *predict_by_flows(problem_.graph, *platform_, core_of);
    return evaluate(problem_.graph, problem_.topology, core_of, CostModel::predicted);
  }

  const MapProblem& problem_;
  std::optional<Platform> platform_;  // if the program is predicted by flows
  std::vector<CandidateMapping> candidates_;
};

/// Whether the objects of this level that contain the ranks correspond one to one.
bool objects_correspond(std::span<const Core> a, std::span<const Core> b, const Topology& topology, std::size_t level) {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> image(topology.levels()[level].objects, none), origin(image);
  for (std::size_t rank = 0; rank < a.size(); ++rank) {
    const std::uint32_t from = topology.object_of(level, a[rank]), to = topology.object_of(level, b[rank]);
    if (image[from] == none && origin[to] == none) {
      image[from] = to;
      origin[to] = from;
    }
    if (image[from] != to || origin[to] != from) return false;
  }
  return true;
}

}  // namespace

std::string CandidateMapping::name() const {
  return goal + " on " + std::to_string(nodes) + (nodes == 1 ? " node" : " nodes");
}

bool equal_up_to_symmetry(std::span<const Core> a, std::span<const Core> b, const Topology& topology,
                          const Capacities& capacities) {
  if (std::ranges::equal(a, b)) return true;
  if (topology.is_matrix() || topology.rail_count() > 0 || !topology.devices().empty() ||
      capacities.mixed_shapes() != nullptr)
    return false;
  const auto levels = topology.levels();
  std::size_t first = 0;
  if (topology.routed()) {
    const auto on_same_node = [&](Core p, Core q) { return topology.node_of(p) == topology.node_of(q); };
    if (!std::ranges::equal(a, b, on_same_node)) return false;
    first = topology.node_level() + 1;
  }
  for (std::size_t level = first; level < levels.size(); ++level) {
    if (!levels[level].cost && !levels[level].is_private()) return false;
    if (!objects_correspond(a, b, topology, level)) return false;
  }
  return MachineTree(topology, capacities).symmetric();
}

Result<std::vector<CandidateMapping>> candidate_mappings(const ConfiguredMapper& mapper, const MapProblem& problem,
                                                         const MapRun& run, std::span<const Core> default_placement,
                                                         const MapResult& mapped) {
  if (mapper.mapper->balances_load()) {
    return fail(Code::usage, at(mapper.spec), "mappings that balance loads are not compared by time",
                "leave out the balancing of loads, or the choice among several mappings");
  }
  CandidateList list(problem);
  const std::vector<Core> block = block_placement(problem.graph.rank_count(), problem.topology, problem.capacities);
  if (auto added = list.add("default placement", default_placement.empty() ? block : default_placement); !added)
    return propagate(added);
  if (!problem.start.empty()) {
    if (auto added = list.add("start", problem.start); !added) return propagate(added);
  }
  if (auto added = list.add("block", block); !added) return propagate(added);
  list.add(info(mapped.model).name, mapped.mapping);

  std::vector<Capacities> spread;
  if (problem.capacities.mixed_shapes() == nullptr) spread = spread_capacities(problem, NodePrice(problem, 0));
  const auto others = std::span(spread).subspan(spread.empty() ? 0 : 1);  // the first are those of the problem
  const std::vector<Goal> goals = other_goals(problem, others);
  for (std::size_t i = 0; i < goals.size() && !run.deadline.passed(); ++i) {
    const auto& [model, capacities] = goals[i];
    const bool own_capacities = capacities == &problem.capacities;
    const MapProblem with_goal{problem.graph, problem.topology, *capacities, model,
                               own_capacities ? problem.start : std::span<const Core>()};
    const MapRun share{run.seed, share_of(run.deadline, goals.size() - i), run.progress};
    auto result = run_mapper(mapper, with_goal, share, {.keep_worse = true});
    if (!result) return propagate(result);
    list.add(info(model).name, result->mapping);
  }
  return std::move(list).by_predicted_time();
}

}  // namespace rankloom
