// SPDX-License-Identifier: Apache-2.0
// map/local_search: remapping with a migration cost.
#include "rankloom/map/local_search/migration_cost.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>
#include <utility>

#include "rankloom/map/local_search/placement_state.hpp"
#include "rankloom/map/locality_order.hpp"
#include "rankloom/map/machine/machine_tree.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;

/// Exchanges of one ejection chain; by then the chain must have reduced the cost.
constexpr std::size_t max_chain_length = 64;
constexpr int max_passes = 8;

/// Permutes symmetric parts of the machine so that more ranks are on their start cores.
class SymmetricPermutation {
 public:
  SymmetricPermutation(const MapProblem& problem, std::vector<Core> core_of)
      : problem_(problem), tree_(problem.topology, problem.capacities), core_of_(std::move(core_of)) {}

  std::vector<Core> run() && {
    std::vector<Rank> all_ranks(problem_.graph.ranks().begin(), problem_.graph.ranks().end());
    permute(tree_.root(), std::move(all_ranks));
    return std::move(core_of_);
  }

 private:
  /// `ranks`: those placed on this part.
  void permute(const Part& parent, std::vector<Rank> ranks) {
    if (ranks.empty() || parent.is_core()) return;
    const auto parts = tree_.children(parent);
    if (has_symmetric_children(parent)) permute_children(parts, ranks);
    std::vector<std::vector<Rank>> on_part(parts.size());
    for (const Rank rank : ranks) on_part[part_of(parts, core_of_[index(rank)])].push_back(rank);
    std::vector<Rank>().swap(ranks);
    for (std::size_t part = 0; part < parts.size(); ++part) permute(parts[part], std::move(on_part[part]));
  }

  /// All children have the same shape, the same capacities, and the same costs inside and between them.
  bool has_symmetric_children(const Part& parent) const {
    if (has_network(tree_, parent) || !tree_.symmetric(parent)) return false;
    const Topology& topology = problem_.topology;
    // The cores of a node are on different rails; nodes with the same rails are symmetric.
    if (topology.rail_count() > 0 && (parent.next_level > topology.node_level() || !topology.symmetric())) return false;
    const auto levels = topology.levels().subspan(parent.next_level);
    return std::all_of(levels.begin(), levels.end(),
                       [](const Topology::Level& level) { return level.cost.has_value() || level.is_private(); });
  }

  /// Greedy matching of current parts with start parts, by the number of ranks in common.
  void permute_children(const std::vector<Part>& parts, const std::vector<Rank>& ranks) {
    std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> common;  // by current part and start part
    for (const Rank rank : ranks) {
      const Core start_core = problem_.start[index(rank)];
      if (index(start_core) < parts.front().begin || index(start_core) >= parts.back().end) continue;
      ++common[{part_of(parts, core_of_[index(rank)]), part_of(parts, start_core)}];
    }
    std::vector<std::tuple<std::uint64_t, std::size_t, std::size_t>> pairs;
    pairs.reserve(common.size());
    for (const auto& [pair, count] : common) pairs.emplace_back(count, pair.first, pair.second);
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const auto& a, const auto& b) { return std::get<0>(a) > std::get<0>(b); });
    const std::size_t none = parts.size();
    std::vector<std::size_t> new_part(parts.size(), none);
    std::vector<bool> assigned(parts.size(), false);
    for (const auto& [count, current, start] : pairs) {
      if (new_part[current] != none || assigned[start]) continue;
      new_part[current] = start;
      assigned[start] = true;
    }
    std::size_t next = 0;
    for (std::size_t& part : new_part) {
      if (part != none) continue;
      while (assigned[next]) ++next;
      part = next++;
    }
    for (const Rank rank : ranks) {
      Core& core = core_of_[index(rank)];
      const std::size_t current = part_of(parts, core);
      core = Core{index(core) - parts[current].begin + parts[new_part[current]].begin};
    }
  }

  static std::size_t part_of(const std::vector<Part>& parts, Core core) {
    const auto after = std::upper_bound(parts.begin(), parts.end(), index(core),
                                        [](std::uint32_t at, const Part& part) { return at < part.begin; });
    return static_cast<std::size_t>(after - parts.begin()) - 1;
  }

  const MapProblem& problem_;
  MachineTree tree_;
  std::vector<Core> core_of_;
};

/// Returns ranks to their start cores where that reduces the cost with migration.
class MigrationReduction {
 public:
  MigrationReduction(const MapProblem& problem, std::span<const Core> core_of)
      : problem_(problem), state_(problem, core_of), last_pass_(problem.graph.rank_count(), -1) {}

  std::vector<Core> run(const Deadline& deadline) {
    for (int pass = 0; pass < max_passes; ++pass) {
      bool gained = false;
      for (const Rank rank : problem_.graph.ranks()) {
        if (deadline.passed()) return state_.placement();
        // A rank that was part of a chain without a gain would start the same chain again.
        if (is_migrated(rank) && last_pass_[rank] != pass) gained |= run_ejection_chain(rank, pass);
      }
      if (!gained) break;
    }
    return state_.placement();
  }

 private:
  bool is_migrated(Rank rank) const { return state_.core_of(rank) != problem_.start[index(rank)]; }

  /// An ejection chain: the rank returns to its start core, the rank that it ejects from there returns to its own, and
  /// so on. The prefix of the chain with the lowest cost is kept, the other steps are undone. Returns true if steps
  /// remain.
  bool run_ejection_chain(Rank rank, int pass) {
    struct Step {
      Rank rank;
      Core from;
      std::optional<Rank> ejected;
    };
    std::vector<Step> steps;
    double total = 0, best = 0;
    std::size_t best_length = 0;
    while (steps.size() < max_chain_length) {
      last_pass_[rank] = pass;
      const Core start_core = problem_.start[index(rank)];
      const auto ejected = state_.has_free_slot(start_core) ? std::nullopt : rank_to_eject(start_core);
      if (!state_.has_free_slot(start_core) && !ejected) break;
      const Change change = ejected ? state_.try_exchange(rank, *ejected) : state_.try_move(rank, start_core);
      steps.push_back({rank, state_.core_of(rank), ejected});
      const bool leaves_start = ejected && !is_migrated(*ejected);
      state_.apply(change);
      const bool reaches_start = ejected && !is_migrated(*ejected);
      total += change.delta + problem_.migration_cost * ((leaves_start ? 1 : 0) - (reaches_start ? 1 : 0) - 1);
      if (state_.is_gain(total - best)) {
        best = total;
        best_length = steps.size();
      }
      if (!ejected || leaves_start || reaches_start) break;  // The next step would undo this one, or there is none.
      rank = *ejected;
    }
    for (; steps.size() > best_length; steps.pop_back()) {
      const Step& last = steps.back();
      state_.apply(last.ejected ? state_.try_exchange(last.rank, *last.ejected)
                                : state_.try_move(last.rank, last.from));
    }
    return best_length > 0;
  }

  /// A rank of the core, preferably one whose start core is another.
  std::optional<Rank> rank_to_eject(Core core) const {
    const std::optional<Rank> first = state_.first_on(core);
    for (auto rank = first; rank; rank = state_.next_on_core(*rank)) {
      if (is_migrated(*rank)) return rank;
    }
    return first;
  }

  const MapProblem& problem_;
  PlacementState state_;
  IdVector<Rank, int> last_pass_;  // the pass in which the rank was last part of a chain
};

}  // namespace

std::uint64_t moved_ranks(std::span<const Core> from, std::span<const Core> to) {
  assert(from.size() == to.size());
  std::uint64_t moved = 0;
  for (std::size_t rank = 0; rank < from.size(); ++rank) moved += from[rank] != to[rank] ? 1 : 0;
  return moved;
}

double cost_with_migration(const MapProblem& problem, std::span<const Core> core_of) {
  const double value = evaluate(problem.graph, problem.topology, core_of, problem.model);
  const std::uint64_t moved = problem.start.empty() ? 0 : moved_ranks(problem.start, core_of);
  return objective(problem.model, value) + problem.migration_cost * static_cast<double>(moved);
}

std::vector<Core> permute_towards_start(const MapProblem& problem, std::vector<Core> core_of) {
  return SymmetricPermutation(problem, std::move(core_of)).run();
}

std::vector<Core> keep_worthwhile_migrations(const MapProblem& problem, std::vector<Core> core_of,
                                             const Deadline& deadline) {
  assert(problem.start.size() == core_of.size());
  auto permuted = permute_towards_start(problem, core_of);
  auto reduced = MigrationReduction(problem, permuted).run(deadline);
  std::vector<Core> start(problem.start.begin(), problem.start.end());
  std::vector<Core>* best = &start;
  double best_cost = cost_with_migration(problem, start);
  for (std::vector<Core>* const candidate : {&reduced, &permuted, &core_of}) {
    const double cost = cost_with_migration(problem, *candidate);
    if (cost < best_cost) std::tie(best, best_cost) = std::pair(candidate, cost);
  }
  return std::move(*best);
}

}  // namespace rankloom
