// SPDX-License-Identifier: Apache-2.0
// map/portfolio: a search that minimises the predicted time of the communication.
#include "rankloom/map/portfolio/time_search.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/local_search/neighbourhood_descent.hpp"
#include "rankloom/model/prediction/flow_prediction.hpp"
#include "rankloom/model/rank_limits.hpp"

namespace rankloom {

namespace {

constexpr std::uint64_t random_stream = 0x7e57;
constexpr std::size_t max_candidates = 16;
/// The prediction cannot tell smaller differences.
constexpr double noticeably_faster = 0.98;

/// A random move to a free slot or exchange with another rank; nothing if it would change nothing.
std::optional<Change> random_change(PlacementState& state, Rank rank, Random& random) {
  const auto open = state.open_cores();
  // Free slots and ranks have the same probability.
  const std::uint64_t target = random.below(open.size() + state.rank_count());
  if (target < open.size()) {
    const Core to = open[target];
    return to == state.core_of(rank) ? std::nullopt : std::optional(state.try_move(rank, to));
  }
  const Rank partner{static_cast<std::uint32_t>(target - open.size())};
  return state.core_of(partner) == state.core_of(rank) ? std::nullopt
                                                       : std::optional(state.try_exchange(rank, partner));
}

/// The threshold below which a cost increase is accepted falls to 0 over the trials.
class Threshold {
 public:
  Threshold(double first, std::uint64_t trials) : first_(first), trials_(static_cast<double>(trials)) {}
  /// As a fraction of the cost.
  double after(std::uint64_t trial) const {
    const double rest = 1 - static_cast<double>(trial) / trials_;
    return first_ * rest * rest;
  }

 private:
  double first_, trials_;
};

/// The best placement that was seen.
struct BestPlacement {
  std::vector<Core> core_of;
  double cost;

  explicit BestPlacement(const PlacementState& state) : core_of(state.placement()), cost(state.cost()) {}
  void update(const PlacementState& state) {
    if (state.cost() >= cost) return;
    core_of = state.placement();
    cost = state.cost();
  }
};

std::vector<Core> accept_below_threshold(PlacementState& state, std::uint64_t trials, Random& random,
                                         StopCondition& stop_condition) {
  const Threshold threshold(0.01, trials);
  BestPlacement best(state);
  std::vector<Rank> in_the_way;
  for (std::uint64_t trial = 0; trial < trials && !stop_condition.should_stop(); ++trial) {
    if (trial % state.rank_count() == 0) in_the_way = state.ranks_in_the_way();
    // Every other trial moves a rank that must move sooner or later.
    const Rank rank = trial % 2 == 0 && !in_the_way.empty()
                          ? in_the_way[random.below(in_the_way.size())]
                          : Rank{static_cast<std::uint32_t>(random.below(state.rank_count()))};
    const auto change = random_change(state, rank, random);
    if (!change || change->delta >= threshold.after(trial) * best.cost) continue;
    state.apply(*change);
    best.update(state);
  }
  return best.core_of;
}

/// Exchanges all ranks of a node with those of another one that has the same slots.
class NodeExchange {
 public:
  explicit NodeExchange(PlacementState& state) : state_(state), topology_(state.problem().topology) {}

  bool is_possible(Node a, Node b) const {
    const std::uint32_t first_a = first_core(a), first_b = first_core(b), count = core_count(a);
    if (a == b || count != core_count(b)) return false;
    for (std::uint32_t at = 0; at < count; ++at) {
      if (capacity(first_a + at) != capacity(first_b + at)) return false;
    }
    return true;
  }
  void apply(Node a, Node b) {
    for (std::uint32_t at = 0; at < core_count(a); ++at) exchange({Core{first_core(a) + at}, Core{first_core(b) + at}});
  }

 private:
  std::uint32_t first_core(Node node) const { return index(topology_.first_core(topology_.node_level(), index(node))); }
  std::uint32_t core_count(Node node) const {
    return index(topology_.first_core(topology_.node_level(), index(node) + 1)) - first_core(node);
  }
  std::uint32_t capacity(std::uint32_t core) const { return state_.problem().capacities[Core{core}]; }

  void exchange(const std::array<Core, 2>& cores) {
    std::array<std::vector<Rank>, 2> ranks;
    for (const std::size_t side : {0U, 1U}) {
      for (auto rank = state_.first_on(cores[side]); rank; rank = state_.next_on_core(*rank))
        ranks[side].push_back(*rank);
    }
    const std::size_t pairs = std::min(ranks[0].size(), ranks[1].size());
    for (std::size_t at = 0; at < pairs; ++at) state_.apply({0, ranks[0][at], cores[1], ranks[1][at]});
    for (const std::size_t side : {0U, 1U}) {
      for (std::size_t at = pairs; at < ranks[side].size(); ++at)
        state_.apply({0, ranks[side][at], cores[1 - side], std::nullopt});
    }
  }

  PlacementState& state_;
  const Topology& topology_;
};

/// The same with exchanges of whole nodes, which no exchanges of single ranks replace: half of one would cost more.
std::vector<Core> exchange_nodes(PlacementState& state, std::uint64_t trials, Random& random,
                                 StopCondition& stop_condition) {
  const Threshold threshold(0.05, trials);
  BestPlacement best(state);
  NodeExchange exchange(state);
  const std::uint32_t nodes = state.problem().topology.node_count();
  for (std::uint64_t trial = 0; trial < trials && !stop_condition.should_stop_now(); ++trial) {
    const Node a{static_cast<std::uint32_t>(random.below(nodes))}, b{static_cast<std::uint32_t>(random.below(nodes))};
    if (!exchange.is_possible(a, b)) continue;
    const double before = state.cost();
    exchange.apply(a, b);
    if (state.cost() - before > threshold.after(trial) * best.cost) exchange.apply(a, b);
    best.update(state);
  }
  return best.core_of;
}

}  // namespace

void TimeSearch::add(std::vector<Core> core_of) {
  const TimedSection timing("prediction");
  const auto is_same = [&](const Candidate& other) { return other.core_of == core_of; };
  if (std::any_of(candidates_.begin(), candidates_.end(), is_same)) return;
  const double seconds = price_.factor(core_of) * evaluate(problem_.graph, problem_.topology, core_of, problem_.model);
  if (!first_) first_ = {core_of, seconds};
  const auto at = std::upper_bound(candidates_.begin(), candidates_.end(), seconds,
                                   [](double time, const Candidate& other) { return time < other.seconds; });
  candidates_.insert(at, {std::move(core_of), seconds});
  if (candidates_.size() > max_candidates) candidates_.pop_back();
}

std::vector<Core> TimeSearch::take_best() {
  const bool is_faster = candidates_.front().seconds < noticeably_faster * first_->seconds;
  return std::move(is_faster ? candidates_.front().core_of : first_->core_of);
}

void TimeSearch::judge_by_flows(std::size_t max_judged, StopCondition& stop_condition) {
  const TimedSection timing("prediction by flows");
  // A placement that the other prediction calls slower than the first one would not be accepted.
  std::erase_if(candidates_, [&](const Candidate& candidate) { return candidate.seconds > first_->seconds; });
  if (candidates_.size() > max_judged) candidates_.resize(max_judged);
  if (std::all_of(candidates_.begin(), candidates_.end(),
                  [&](const Candidate& candidate) { return candidate.core_of == first_->core_of; }) ||
      stop_condition.should_stop_now() || rounds_predicted_by_flows(problem_.graph) == 0) {
    return;
  }
  const Platform platform = *Platform::of(problem_.topology);
  std::vector<Candidate*> judged;
  for (Candidate& candidate : candidates_) judged.push_back(&candidate);
  const auto same = std::find_if(candidates_.begin(), candidates_.end(),
                                 [&](const Candidate& candidate) { return candidate.core_of == first_->core_of; });
  if (same == candidates_.end()) judged.push_back(&*first_);
  // The exact time of a placement that is clearly slower than another one does not matter.
  constexpr double clearly_slower = 1.05;
  std::atomic<double> fastest = std::numeric_limits<double>::infinity();
  parallel_chunks(judged.size(), 1, [&](std::size_t at, std::size_t) {
    const std::vector<Core>& core_of = judged[at]->core_of;
    const double price = price_.factor(core_of);
    const double seconds =
        price * *predict_by_flows(problem_.graph, platform, core_of, {.limit = clearly_slower * fastest / price});
    judged[at]->seconds = seconds;
    for (double before = fastest; seconds < before && !fastest.compare_exchange_weak(before, seconds);) {
    }
  });
  if (same != candidates_.end()) first_->seconds = same->seconds;
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  if (rounds_predicted_by_flows(problem_.graph) < max_rounds_predicted_by_flows) compare_repeated_rounds(platform);
}

void TimeSearch::compare_repeated_rounds(const Platform& platform) {
  constexpr double hardly_slower = 1.1;
  const double limit = std::min(hardly_slower * candidates_.front().seconds, noticeably_faster * first_->seconds);
  const auto end = std::find_if(candidates_.begin(), candidates_.end(),
                                [&](const Candidate& candidate) { return candidate.seconds > limit; });
  const auto count = static_cast<std::size_t>(end - candidates_.begin());
  if (count < 2) return;
  std::vector<double> once_and_repeated(count);
  parallel_chunks(count, 1, [&](std::size_t at, std::size_t) {
    const Candidate& candidate = candidates_[at];
    const double repeated = *predict_by_flows(problem_.graph, platform, candidate.core_of, {.repeats = true});
    once_and_repeated[at] = candidate.seconds * price_.factor(candidate.core_of) * repeated;
  });
  const auto best = std::min_element(once_and_repeated.begin(), once_and_repeated.end()) - once_and_repeated.begin();
  std::swap(candidates_.front(), candidates_[static_cast<std::size_t>(best)]);
}

void TimeSearch::improve(const Limits& limits, StopCondition& stop_condition) {
  const TimedSection timing("time search");
  std::vector<std::vector<Core>> starts;
  for (std::size_t at = 0; at < std::min(limits.candidates, candidates_.size()); ++at)
    starts.push_back(candidates_[at].core_of);
  for (std::size_t at = 0; at < starts.size() && !stop_condition.should_stop_now(); ++at)
    add(search(starts[at], limits, mix(run_.seed) + at, stop_condition));
}

std::vector<Core> TimeSearch::search(const std::vector<Core>& start, const Limits& limits, std::uint64_t seed,
                                     StopCondition& stop_condition) const {
  constexpr double channels_per_route = 8, regions_per_rank = 16;
  const double ranks = problem_.graph.rank_count();
  // Two ranks, each with edges in both directions, before and after the change.
  const double visits_per_trial =
      8 * channels_per_route * std::max(1.0, static_cast<double>(problem_.graph.edge_count()) / ranks);
  const double visits_of_descent = regions_per_rank * ranks * visits_per_trial;
  Random random(seed, random_stream);
  const Capacities capacities = price_.in_use(start);
  const MapProblem problem{problem_.graph, problem_.topology, capacities, problem_.model, {}};
  double visits = limits.channel_visits;
  std::vector<Core> nodes_exchanged = start;
  // Between nodes of a tree, equal nodes of one switch are interchangeable.
  if (problem_.topology.routed() && problem_.topology.node_count() > 2) {
    constexpr double share_for_nodes = 0.25;
    const double ranks_per_node = std::max(1.0, ranks / problem_.topology.node_count());
    const double all_trials = std::min(static_cast<double>(limits.trials_per_rank) * ranks, visits / visits_per_trial);
    const auto trials = static_cast<std::uint64_t>(share_for_nodes * all_trials / (2 * ranks_per_node));
    PlacementState state(problem, start);
    nodes_exchanged = exchange_nodes(state, trials, random, stop_condition);
    visits *= 1 - share_for_nodes;
  }
  PlacementState state(problem, nodes_exchanged);
  if (limits.descend && visits_of_descent <= visits) {
    NeighbourhoodDescent(state).run(stop_condition);
    visits -= visits_of_descent;
  }
  const double trials = std::min(static_cast<double>(limits.trials_per_rank) * ranks, visits / visits_per_trial);
  return accept_below_threshold(state, static_cast<std::uint64_t>(trials), random, stop_condition);
}

namespace {

/// The nodes of a tree in an order in which the first n of them are spread evenly over its switches.
std::vector<Node> evenly_over_switches(const Topology& topology) {
  std::vector<Node> order;
  std::vector<std::vector<std::uint32_t>> positions;  // by node: in its switch, in the switch above it, and so on
  for (const Node node : topology.nodes()) {
    order.push_back(node);
    const Core core = topology.first_core(topology.node_level(), index(node));
    std::vector<std::uint32_t>& position = positions.emplace_back();
    for (std::size_t level = topology.node_level(); level > 0; --level) {
      const Core first = topology.first_core(level - 1, topology.object_of(level - 1, core));
      position.push_back(topology.object_of(level, core) - topology.object_of(level, first));
    }
    position.push_back(topology.object_of(0, core));
  }
  std::sort(order.begin(), order.end(), [&](Node a, Node b) { return positions[index(a)] < positions[index(b)]; });
  return order;
}

/// As few nodes as necessary, and the same number of them at each switch. Nothing if all nodes are necessary.
std::optional<Capacities> few_nodes_of_all_switches(const MapProblem& problem) {
  const Topology& topology = problem.topology;
  if (topology.routed() || topology.node_level() == 0) return std::nullopt;
  IdVector<Core, std::uint32_t> slots(topology.core_count(), 0);
  std::uint64_t fitting = 0;
  std::uint32_t nodes = 0;
  for (const Node node : evenly_over_switches(topology)) {
    if (fitting >= problem.graph.rank_count()) break;
    ++nodes;
    for (std::uint32_t core = index(topology.first_core(topology.node_level(), index(node)));
         core < index(topology.first_core(topology.node_level(), index(node) + 1)); ++core) {
      slots[Core{core}] = problem.capacities[Core{core}];
      fitting += slots[Core{core}];
    }
  }
  if (nodes == topology.node_count()) return std::nullopt;
  return Capacities::of_slots(std::move(slots));
}

}  // namespace

std::vector<Capacities> spread_capacities(const MapProblem& problem, const NodePrice& price, std::size_t max_count) {
  std::vector<Capacities> result{problem.capacities};
  const std::uint32_t ranks = problem.graph.rank_count();
  if (problem.capacities.total() <= ranks) return result;
  if (price.any()) result.insert(result.begin(), price.fewest());
  if (result.size() >= max_count) return result;
  RankLimits limits = even_limits(ranks, problem.topology, problem.capacities);
  std::uint64_t most = 0;
  for (const Node node : problem.topology.nodes()) {
    const std::size_t level = problem.topology.node_level();
    std::uint64_t slots = 0;
    for (std::uint32_t core = index(problem.topology.first_core(level, index(node)));
         core < index(problem.topology.first_core(level, index(node) + 1)); ++core)
      slots += problem.capacities[Core{core}];
    most = std::max(most, slots);
  }
  for (; limits.per_node < most && result.size() < max_count;
       limits = {2 * limits.per_node, 2 * limits.per_package, 2 * limits.per_numa}) {
    if (auto limited = limit_ranks(problem.capacities, problem.topology, limits, ranks))
      result.push_back(std::move(*limited));
  }
  if (result.size() < max_count) {
    if (auto few_nodes = few_nodes_of_all_switches(problem)) result.push_back(std::move(*few_nodes));
  }
  return result;
}

}  // namespace rankloom
