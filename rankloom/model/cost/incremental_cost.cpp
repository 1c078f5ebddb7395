// SPDX-License-Identifier: Apache-2.0
// model/cost: the change of the cost when one rank moves or two ranks exchange cores.
#include "rankloom/model/cost/incremental_cost.hpp"

#include <algorithm>
#include <cassert>

#include "rankloom/model/cost/loads.hpp"
#include "rankloom/model/cost/neighbourhoods.hpp"
#include "rankloom/model/cost/predicted_cost.hpp"
#include "rankloom/model/graph/traffic_parts.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom {

namespace {

double cost_of(const Flow& flow, PairCost out, PairCost in) {
  return flow.bytes_out * out.per_byte + flow.bytes_in * in.per_byte + flow.messages_out * out.per_message +
         flow.messages_in * in.per_message;
}

/// The models that are sums over pairs.
template <class ConcreteDistance>
class PairwiseCost final : public IncrementalCost {
 public:
  PairwiseCost(const CommGraph& graph, const Topology& topology, CostModel model, std::span<const Core> start,
               ConcreteDistance distance)
      : IncrementalCost(start),
        neighbours_(graph),
        distance_(std::move(distance)),
        with_self_(model != CostModel::quality) {
    cost_ = objective(model, evaluate(graph, topology, start, model));
  }

  double move_delta(Rank rank, Core to) override {
    const Core from = core_of_[rank];
    if (from == to) return 0;
    return relocation_delta(rank, from, to, rank) + self_delta(rank, from, to);
  }

  double exchange_delta(Rank a, Rank b) override {
    const Core p = core_of_[a];
    const Core q = core_of_[b];
    if (p == q) return 0;
    double delta =
        relocation_delta(a, p, q, b) + relocation_delta(b, q, p, a) + self_delta(a, p, q) + self_delta(b, q, p);
    if constexpr (!ConcreteDistance::always_symmetric) {
      const auto others = neighbours_.others(a);
      const auto found = std::lower_bound(others.begin(), others.end(), b);
      if (found != others.end() && *found == b) {
        const Flow& flow = neighbours_.flows(a)[static_cast<std::size_t>(found - others.begin())];
        delta += cost_of(flow, distance_(q, p), distance_(p, q)) - cost_of(flow, distance_(p, q), distance_(q, p));
      }
    }
    return delta;
  }

  void move(Rank rank, Core to) override {
    cost_ += move_delta(rank, to);
    core_of_[rank] = to;
  }

  void exchange(Rank a, Rank b) override {
    cost_ += exchange_delta(a, b);
    std::swap(core_of_[a], core_of_[b]);
  }

  std::span<const Rank> neighbours(Rank rank) const override { return neighbours_.others(rank); }

 private:
  /// The change if the rank moves from one core to another, without its traffic with `except`.
  double relocation_delta(Rank rank, Core from, Core to, Rank except) const {
    const auto others = neighbours_.others(rank);
    const auto flows = neighbours_.flows(rank);
    double delta = 0;
    for (std::size_t at = 0; at < others.size(); ++at) {
      if (others[at] == except) continue;
      const Core other = core_of_[others[at]];
      const PairCost after = distance_(to, other);
      const PairCost before = distance_(from, other);
      if constexpr (ConcreteDistance::always_symmetric) {
        delta += cost_of(flows[at], after, after) - cost_of(flows[at], before, before);
      } else {
        delta += cost_of(flows[at], after, distance_(other, to)) - cost_of(flows[at], before, distance_(other, from));
      }
    }
    return delta;
  }

  double self_delta(Rank rank, Core from, Core to) const {
    if (!with_self_) return 0;
    return cost_of(neighbours_.self(rank), distance_(to, to), {}) -
           cost_of(neighbours_.self(rank), distance_(from, from), {});
  }

  Neighbourhoods neighbours_;
  ConcreteDistance distance_;
  bool with_self_;
};

/// The maximum of many numbers that change one at a time: a tournament tree.
class TournamentTree {
 public:
  explicit TournamentTree(std::size_t count) : leaves_(std::max<std::size_t>(1, count)), max_(2 * leaves_, 0.0) {}
  double operator[](std::size_t at) const { return max_[leaves_ + at]; }
  void set(std::size_t at, double value) {
    std::size_t node = leaves_ + at;
    max_[node] = value;
    for (node /= 2; node > 0; node /= 2) {
      const double larger = std::max(max_[2 * node], max_[2 * node + 1]);
      if (max_[node] == larger) break;
      max_[node] = larger;
    }
  }
  double max() const { return std::max(max_[1], 0.0); }  // rounding leaves less than nothing on an unused link

 private:
  std::size_t leaves_;
  std::vector<double> max_;
};

/// The load of the most loaded link. Deltas apply the change, read the maximum, and undo the change.
class CongestionCost final : public IncrementalCost {
 public:
  CongestionCost(const CommGraph& graph, const Topology& topology, std::span<const Core> start)
      : IncrementalCost(start), neighbours_(graph), topology_(topology), loads_(topology.link_count()) {
    const auto loads = link_loads(graph, topology, start);
    for (std::uint32_t link = 0; link < loads.size(); ++link)
      loads_.set(link, loads[link] * topology.slowness(Link{link}));
    cost_ = loads_.max();
  }

  double move_delta(Rank rank, Core to) override {
    const double before = cost_;
    const Core from = core_of_[rank];
    move(rank, to);
    const double delta = cost_ - before;
    undo();
    core_of_[rank] = from;
    cost_ = before;
    return delta;
  }

  double exchange_delta(Rank a, Rank b) override {
    const double before = cost_;
    exchange(a, b);
    const double delta = cost_ - before;
    undo();
    std::swap(core_of_[a], core_of_[b]);
    cost_ = before;
    return delta;
  }

  void move(Rank rank, Core to) override {
    changed_.clear();
    relocate(rank, to);
    cost_ = loads_.max();
  }

  void exchange(Rank a, Rank b) override {
    const Core p = core_of_[a];
    changed_.clear();
    relocate(a, core_of_[b]);
    relocate(b, p);
    cost_ = loads_.max();
  }

  std::span<const Rank> neighbours(Rank rank) const override { return neighbours_.others(rank); }

 private:
  void relocate(Rank rank, Core to) {
    const Core before = core_of_[rank];
    core_of_[rank] = to;
    if (before == to || (topology_.rail_count() == 0 && topology_.node_of(before) == topology_.node_of(to))) return;
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

  void add(Core from, Core to, double bytes) {
    if (bytes == 0) return;
    route_.clear();
    topology_.route(from, to, route_);
    for (const Link link : route_) {
      changed_.emplace_back(link, loads_[index(link)]);
      loads_.set(index(link), loads_[index(link)] + bytes * topology_.slowness(link));
    }
  }

  void undo() {
    for (; !changed_.empty(); changed_.pop_back()) loads_.set(index(changed_.back().first), changed_.back().second);
  }

  Neighbourhoods neighbours_;
  const Topology& topology_;
  TournamentTree loads_;
  std::vector<std::pair<Link, double>> changed_;  // links and their previous loads, in order of change
  std::vector<Link> route_;
};

}  // namespace

std::unique_ptr<IncrementalCost> make_incremental_cost(const CommGraph& graph, const Topology& topology,
                                                       CostModel model, std::span<const Core> start) {
  assert(start.size() == graph.rank_count());
  model = on_machine(model, topology);
  if (model == CostModel::congestion) return std::make_unique<CongestionCost>(graph, topology, start);
  if (model == CostModel::predicted) {
    if (graph.parts() != nullptr && !graph.parts()->phases.empty())
      return std::make_unique<PhasedCost>(graph, topology, start);
    return std::make_unique<PredictedCost>(graph, topology, start);
  }
  return std::visit(
      [&](auto distance) -> std::unique_ptr<IncrementalCost> {
        return std::make_unique<PairwiseCost<decltype(distance)>>(graph, topology, model, start, std::move(distance));
      },
      make_distance(topology, model));
}

}  // namespace rankloom
