// SPDX-License-Identifier: Apache-2.0
// map/local_search: threshold accepting on the 8th powers of the link loads.
#include "rankloom/map/local_search/link_load_search.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "rankloom/core/random.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/local_search/neighbourhood_descent.hpp"
#include "rankloom/model/cost/loads.hpp"
#include "rankloom/model/cost/neighbourhoods.hpp"

namespace rankloom {
namespace {

constexpr std::uint64_t link_load_stream = 0x11f7;
/// The largest increase that is accepted at first, as a fraction of the cost.
constexpr double first_threshold = 0.02;
constexpr std::uint64_t max_idle_trials_per_rank = 60;

/// The sum of the 8th powers of the link loads, relative to the largest load of the start.
class LinkLoadCost final : public IncrementalCost {
 public:
  LinkLoadCost(const CommGraph& graph, const Topology& topology, std::span<const Core> start)
      : IncrementalCost(start),
        neighbours_(graph),
        topology_(topology),
        loads_(link_loads(graph, topology, start)),
        touched_in_(loads_.size(), 0) {
    for (std::uint32_t link = 0; link < loads_.size(); ++link) loads_[link] *= topology.slowness(Link{link});
    const double max = max_load();
    unit_ = max > 0 ? 1 / max : 1;
    for (const double load : loads_) cost_ += power(load);
  }

  double move_delta(Rank rank, Core to) override {
    const Core from = core_of_[rank];
    begin_change();
    relocate(rank, to);
    const double delta = change_of_cost();
    undo();
    core_of_[rank] = from;
    return delta;
  }

  double exchange_delta(Rank a, Rank b) override {
    begin_change();
    relocate_both(a, b);
    const double delta = change_of_cost();
    undo();
    std::swap(core_of_[a], core_of_[b]);
    return delta;
  }

  void move(Rank rank, Core to) override {
    begin_change();
    relocate(rank, to);
    cost_ += change_of_cost();
  }

  void exchange(Rank a, Rank b) override {
    begin_change();
    relocate_both(a, b);
    cost_ += change_of_cost();
  }

  std::span<const Rank> neighbours(Rank rank) const override { return neighbours_.others(rank); }

  /// The ranks that send over the busiest link or receive over it.
  std::vector<Rank> ranks_in_the_way() const override {
    const auto busiest = static_cast<std::uint32_t>(std::max_element(loads_.begin(), loads_.end()) - loads_.begin());
    std::vector<Rank> ranks;
    std::vector<Link> route;
    for (std::uint32_t number = 0; number < core_of_.size(); ++number) {
      const Rank rank{number};
      const auto others = neighbours_.others(rank);
      const auto flows = neighbours_.flows(rank);
      for (std::size_t at = 0; at < others.size(); ++at) {
        if (flows[at].bytes_out == 0) continue;
        route.clear();
        topology_.route(core_of_[rank], core_of_[others[at]], route);
        if (std::find(route.begin(), route.end(), Link{busiest}) == route.end()) continue;
        ranks.push_back(rank);
        ranks.push_back(others[at]);
      }
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  }

  double max_load() const { return loads_.empty() ? 0 : *std::max_element(loads_.begin(), loads_.end()); }

 private:
  double power(double load) const {
    const double relative = load * unit_, square = relative * relative, fourth = square * square;
    return fourth * fourth;
  }

  void begin_change() {
    touched_.clear();
    ++change_;
  }

  void relocate(Rank rank, Core to) {
    const Core before = core_of_[rank];
    core_of_[rank] = to;
    if (topology_.rail_count() == 0 && topology_.node_of(before) == topology_.node_of(to)) return;
    const auto others = neighbours_.others(rank);
    const auto flows = neighbours_.flows(rank);
    for (std::size_t at = 0; at < others.size(); ++at) {
      const Core other = core_of_[others[at]];
      add(before, other, -flows[at].bytes_out);
      add(other, before, -flows[at].bytes_in);
      add(to, other, flows[at].bytes_out);
      add(other, to, flows[at].bytes_in);
    }
  }
  void relocate_both(Rank a, Rank b) {
    const Core core_of_a = core_of_[a];
    relocate(a, core_of_[b]);
    relocate(b, core_of_a);
  }

  void add(Core from, Core to, double bytes) {
    if (bytes == 0) return;
    route_.clear();
    topology_.route(from, to, route_);
    for (const Link link : route_) {
      if (touched_in_[index(link)] != change_) {
        touched_in_[index(link)] = change_;
        touched_.emplace_back(index(link), loads_[index(link)]);
      }
      loads_[index(link)] += bytes * topology_.slowness(link);
    }
  }

  double change_of_cost() const {
    double delta = 0;
    for (const auto& [link, before] : touched_) delta += power(loads_[link]) - power(before);
    return delta;
  }
  void undo() {
    for (const auto& [link, before] : touched_) loads_[link] = before;
  }

  Neighbourhoods neighbours_;
  const Topology& topology_;
  std::vector<double> loads_;                              // by link, times its slowness
  double unit_ = 1;                                        // 1 / the largest load of the start
  std::vector<std::uint64_t> touched_in_;                  // by link: the last change that touched it
  std::vector<std::pair<std::uint32_t, double>> touched_;  // links and their loads before the current change
  std::uint64_t change_ = 0;
  std::vector<Link> route_;
};

class LinkLoadSearch {
 public:
  LinkLoadSearch(const MapProblem& problem, std::span<const Core> start, std::uint64_t seed)
      : LinkLoadSearch(problem, start, seed, std::make_unique<LinkLoadCost>(problem.graph, problem.topology, start)) {}

  std::vector<Core> run(std::uint64_t trials, StopCondition& stop_condition) {
    NeighbourhoodDescent(state_).run(stop_condition);
    update_best();
    const std::uint64_t max_idle = max_idle_trials_per_rank * state_.rank_count();
    std::uint64_t last_gain = 0;
    std::vector<Rank> in_the_way;
    for (std::uint64_t trial = 0; trial < trials && trial - last_gain <= max_idle && !stop_condition.should_stop();
         ++trial) {
      if (trial % state_.rank_count() == 0) in_the_way = state_.ranks_in_the_way();
      const Rank rank = trial % 2 == 0 && !in_the_way.empty()
                            ? in_the_way[random_.below(in_the_way.size())]
                            : Rank{static_cast<std::uint32_t>(random_.below(state_.rank_count()))};
      const auto change = change_near_partner(rank);
      const double left = 1 - static_cast<double>(trial) / static_cast<double>(trials);
      if (!change || change->delta >= first_threshold * left * left * state_.cost()) continue;
      state_.apply(*change);
      if (update_best()) last_gain = trial;
    }
    return std::move(best_);
  }

 private:
  LinkLoadSearch(const MapProblem& problem, std::span<const Core> start, std::uint64_t seed,
                 std::unique_ptr<LinkLoadCost> cost)
      : topology_(problem.topology),
        cost_(*cost),
        state_(problem, start, std::move(cost)),
        neighbourhood_(problem.topology),
        random_(seed, link_load_stream),
        best_(start.begin(), start.end()),
        best_cost_(state_.cost()),
        best_load_(cost_.max_load()) {}

  /// The largest load takes a pass over all links, so it is computed only if the sum of powers is not far above.
  bool update_best() {
    if (state_.cost() >= 2 * best_cost_) return false;
    const double load = cost_.max_load();
    if (load > best_load_ || (load == best_load_ && state_.cost() >= best_cost_)) return false;
    best_ = state_.placement();
    best_load_ = load;
    best_cost_ = state_.cost();
    return true;
  }

  /// A move or an exchange to the node of a partner, to a node next to it, or, one time in four, to any node.
  std::optional<Change> change_near_partner(Rank rank) {
    const auto partners = state_.neighbours(rank);
    if (partners.empty()) return std::nullopt;
    Node node{static_cast<std::uint32_t>(random_.below(topology_.node_count()))};
    if (random_.below(4) != 0) {
      node = topology_.node_of(state_.core_of(partners[random_.below(partners.size())]));
      const auto adjacent = neighbourhood_.adjacent_nodes(node);
      if (const std::uint64_t choice = random_.below(adjacent.size() + 1); choice < adjacent.size())
        node = adjacent[choice];
    }
    if (node == topology_.node_of(state_.core_of(rank))) return std::nullopt;
    const std::uint32_t first = index(topology_.first_core(topology_.node_level(), index(node)));
    const std::uint32_t end = index(topology_.first_core(topology_.node_level(), index(node) + 1));
    const Core core{first + static_cast<std::uint32_t>(random_.below(end - first))};
    if (state_.has_free_slot(core)) return state_.try_move(rank, core);
    const auto other = state_.first_on(core);
    return other ? std::optional(state_.try_exchange(rank, *other)) : std::nullopt;
  }

  const Topology& topology_;
  const LinkLoadCost& cost_;
  PlacementState state_;
  Neighbourhood neighbourhood_;
  Random random_;
  std::vector<Core> best_;
  double best_cost_, best_load_;
};

}  // namespace

std::vector<Core> reduce_link_loads(const MapProblem& problem, std::vector<Core> start, std::uint64_t trials,
                                    std::uint64_t seed, StopCondition& stop_condition) {
  const TimedSection timing("link load search");
  if (!problem.topology.routed() || problem.graph.rank_count() == 0) return start;
  return LinkLoadSearch(problem, start, seed).run(trials, stop_condition);
}

}  // namespace rankloom
