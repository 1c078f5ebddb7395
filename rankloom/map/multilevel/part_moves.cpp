// SPDX-License-Identifier: Apache-2.0
// map/multilevel: k-way moves with rollback.
#include "rankloom/map/multilevel/part_moves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "rankloom/map/multilevel/gain_heap.hpp"

namespace rankloom::multilevel {
namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
/// A pass that gains less of the whole is the last.
constexpr double worth_another_pass = 5e-4;
constexpr std::uint32_t longest_chain = 6;
/// A vertex with more neighbours is not looked at again for every move of one of them.
constexpr std::uint64_t often_enough = 256;
constexpr double impossible = -std::numeric_limits<double>::infinity();

/// The vertices of each part by gain, and the parts by their best.
class PartHeaps {
 public:
  PartHeaps(std::size_t vertices, std::size_t parts)
      : places_(vertices), part_places_(parts), heaps_(parts, GainHeap(places_)), best_(part_places_) {}

  std::size_t size() const { return size_; }
  bool contains(std::uint32_t vertex) const { return heaps_.front().contains(vertex); }
  void set(std::uint32_t vertex, std::uint32_t part, double gain) {
    size_ += contains(vertex) ? 0 : 1;
    heaps_[part].set(vertex, gain);
    best_.set(part, heaps_[part].top_gain());
  }
  void remove(std::uint32_t vertex, std::uint32_t part) {
    --size_;
    heaps_[part].remove(vertex);
    if (heaps_[part].empty()) {
      best_.remove(part);
    } else {
      best_.set(part, heaps_[part].top_gain());
    }
  }
  /// The best vertex of the part, or of all parts; nowhere: there is none.
  std::uint32_t top(std::uint32_t part) const { return heaps_[part].empty() ? nowhere : heaps_[part].top(); }
  std::uint32_t top() const { return best_.empty() ? nowhere : heaps_[best_.top()].top(); }
  void clear() {
    for (GainHeap& heap : heaps_) heap.clear();
    best_.clear();
    size_ = 0;
  }

 private:
  HeapPlaces places_, part_places_;
  std::vector<GainHeap> heaps_;
  GainHeap best_;
  std::size_t size_ = 0;
};

/// All parts are equally far from each other.
struct Uniform {
  static constexpr bool uniform = true;
  double step;
  double operator()(std::uint32_t p, std::uint32_t q) const { return p == q ? 0.0 : step; }
};

/// Parts are objects of so many cores; the distance beyond that inside a part.
template <class D>
struct Apart {
  static constexpr bool uniform = false;
  const D& distance;
  std::uint32_t cores;
  double inside;
  double operator()(std::uint32_t p, std::uint32_t q) const {
    return p == q ? 0.0 : distance(Core{p * cores}, Core{q * cores}).per_byte - inside;
  }
};

/// Parts are cores.
template <class D>
struct Between {
  static constexpr bool uniform = false;
  const D& distance;
  double operator()(std::uint32_t p, std::uint32_t q) const { return distance(Core{p}, Core{q}).per_byte; }
};

/// far(p, q): the distance between two parts; quality knows one from a part to itself, and costs below 0.
template <class Far>
class PartMoves {
 public:
  PartMoves(const WeightedGraph& graph, const Far& far, std::span<const std::uint64_t> room,
            std::span<std::uint32_t> part_of)
      : graph_(graph),
        far_(far),
        room_(room),
        part_of_(part_of),
        held_(room.size(), 0),
        place_of_part_(room.size(), nowhere),
        heap_(graph.vertex_count(), room.size()),
        locked_(graph.vertex_count(), 0),
        news_(graph.vertex_count(), 0) {
    for (std::uint32_t vertex = 0; vertex < graph_.vertex_count(); ++vertex) {
      held_[part_of_[vertex]] += graph_.size(vertex);
      bool at_border = false;
      for (const Edge edge : graph_.edges(vertex)) {
        cost_ += edge.weight * far_(part_of_[vertex], part_of_[edge.to]);
        at_border = at_border || part_of_[edge.to] != part_of_[vertex];
      }
      if (at_border) candidates_.push_back(vertex);
    }
    cost_ /= 2;
    for (std::uint32_t part = 0; part < room_.size(); ++part) overload_ += over(part);
  }

  double run(std::uint32_t passes) {
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      const double cost = cost_;
      const std::uint64_t overload = overload_;
      run_pass();
      if (is_tight() && overload_ == 0) run_chains();
      if (overload_ >= overload && cost_ >= cost - worth_another_pass * std::abs(cost)) break;
    }
    return cost_;
  }

 private:
  struct Move {
    double gain = impossible;
    std::uint32_t to = nowhere;
  };
  struct Tie {
    std::uint32_t part;
    double weight;
  };
  struct Moved {
    std::uint32_t vertex, from;
  };

  std::uint64_t over(std::uint32_t part) const { return held_[part] > room_[part] ? held_[part] - room_[part] : 0; }

  /// The parts around a vertex and what it exchanges with each, its own first.
  void look_around(std::uint32_t vertex) {
    around_.clear();
    around_.push_back({part_of_[vertex], 0});
    place_of_part_[part_of_[vertex]] = 0;
    for (const Edge edge : graph_.edges(vertex)) {
      std::uint32_t& place = place_of_part_[part_of_[edge.to]];
      if (place == nowhere) {
        place = static_cast<std::uint32_t>(around_.size());
        around_.push_back({part_of_[edge.to], 0});
      }
      around_[place].weight += edge.weight;
    }
    for (const Tie& tie : around_) place_of_part_[tie.part] = nowhere;
  }

  double cost_at(std::uint32_t part) const {
    double cost = 0;
    for (const Tie& tie : around_) cost += tie.weight * far_(part, tie.part);
    return cost;
  }

  /// What the vertex would gain by going from its part to the one at this place around it, or to one further away.
  double gain_of(std::size_t place) const {
    if constexpr (Far::uniform) return far_.step * (around_[place].weight - around_.front().weight);
    return cost_here_ - cost_at(around_[place].part);
  }
  double gain_of_leaving_for(std::uint32_t part) const {
    for (std::size_t place = 1; place < around_.size(); ++place) {
      if (around_[place].part == part) return gain_of(place);
    }
    if constexpr (Far::uniform) return -far_.step * around_.front().weight;
    return cost_here_ - cost_at(part);
  }

  /// The best part next to it that it fits into, `spare` more than its room allowed.
  Move best_move(std::uint32_t vertex, std::uint64_t spare) {
    look_around(vertex);
    Move best;
    if (around_.size() == 1 && overfull_ == nowhere) return best;
    if constexpr (!Far::uniform) cost_here_ = cost_at(part_of_[vertex]);
    for (std::size_t at = 1; at < around_.size(); ++at) {
      const std::uint32_t to = around_[at].part;
      if (held_[to] + graph_.size(vertex) > room_[to] + spare) continue;
      const double gain = gain_of(at);
      if (gain > best.gain || (gain == best.gain && held_[to] < held_[best.to])) best = {gain, to};
    }
    // Somebody who made room may be followed by one who has nobody there.
    if (overfull_ != nowhere && left_ != nowhere && left_ != part_of_[vertex] &&
        held_[left_] + graph_.size(vertex) <= room_[left_]) {
      const double gain = gain_of_leaving_for(left_);
      if (gain > best.gain) best = {gain, left_};
    }
    return best;
  }

  void put(std::uint32_t vertex, std::uint32_t to, double gain) {
    const std::uint32_t from = part_of_[vertex];
    overload_ -= over(from) + over(to);
    held_[from] -= graph_.size(vertex);
    held_[to] += graph_.size(vertex);
    overload_ += over(from) + over(to);
    part_of_[vertex] = to;
    cost_ -= gain;
  }

  /// So little room is free that hardly anybody can move unless somebody else does.
  bool is_tight() const {
    const std::uint64_t room = std::accumulate(room_.begin(), room_.end(), std::uint64_t{0});
    return room < graph_.total_size() + room_.size() * graph_.largest();
  }

  /// Moves, each with those it pushes on until somebody fits in; only what gains stays. A pass cannot find them all: it
  /// takes the moves that look best first, and whom they push on is not free any more for the others.
  void run_chains() {
    heap_.clear();
    overfull_ = left_ = nowhere;
    for (const std::uint32_t vertex : candidates_) {
      if (!is_hub(vertex)) offer(vertex);  // it would be looked at for every chain that it might be part of
    }
    std::vector<Moved> chain, kept;
    for (const std::uint32_t first : candidates_) {
      if (!heap_.contains(first)) continue;
      const double before = cost_;
      moved_.clear();
      push_on(first);
      const bool gained = overload_ == 0 && cost_ < before - 1e-9 * std::abs(before);
      chain = moved_;
      for (; !gained && !moved_.empty(); moved_.pop_back()) put(moved_.back().vertex, moved_.back().from, 0);
      if (!gained) cost_ = before;
      overfull_ = left_ = nowhere;
      for (const Moved& link : chain) {
        offer(link.vertex);
        for (const Edge edge : graph_.edges(link.vertex)) {
          if (gained && is_due(edge.to)) offer(edge.to);
        }
        if (gained) kept.push_back(link);
      }
    }
    moved_ = std::move(kept);
    gather_candidates();
  }

  void push_on(std::uint32_t vertex) {
    left_ = part_of_[vertex];
    for (std::uint32_t length = 0; length < longest_chain && vertex != nowhere; ++length) {
      const Move move = best_move(vertex, overfull_ == nowhere ? graph_.largest() : 0);
      heap_.remove(vertex, part_of_[vertex]);
      if (move.to == nowhere) return;
      moved_.push_back({vertex, part_of_[vertex]});
      put(vertex, move.to, move.gain);
      if (over(move.to) == 0) return;
      overfull_ = move.to;
      vertex = heap_.top(overfull_);
    }
  }

  void run_pass() {
    heap_.clear();
    overfull_ = left_ = nowhere;
    for (const std::uint32_t vertex : candidates_) offer(vertex);
    moved_.clear();
    double best_cost = cost_;
    std::uint64_t best_overload = overload_;
    std::size_t best_length = 0;
    find_overfull();
    const std::size_t patience = 60 + heap_.size() / 4;
    while (moved_.size() - best_length < patience) {
      const std::uint32_t vertex = next_vertex();
      if (vertex == nowhere) break;
      const Move move = best_move(vertex, overfull_ == nowhere ? graph_.largest() : 0);
      heap_.remove(vertex, part_of_[vertex]);
      if (move.to == nowhere) continue;
      locked_[vertex] = 1;
      moved_.push_back({vertex, part_of_[vertex]});
      if (overfull_ == nowhere) left_ = part_of_[vertex];
      put(vertex, move.to, move.gain);
      overfull_ = over(move.to) > 0 ? move.to : overfull_ != nowhere && over(overfull_) > 0 ? overfull_ : nowhere;
      if (overfull_ == nowhere && overload_ > 0) find_overfull();
      if (overload_ < best_overload || (overload_ == best_overload && cost_ < best_cost - 1e-9 * std::abs(best_cost))) {
        best_overload = overload_;
        best_cost = cost_;
        best_length = moved_.size();
      }
      for (const Edge edge : graph_.edges(vertex)) {
        if (locked_[edge.to] == 0 && is_due(edge.to)) offer(edge.to);
      }
    }
    while (moved_.size() > best_length) {
      put(moved_.back().vertex, moved_.back().from, 0);
      locked_[moved_.back().vertex] = 0;
      moved_.pop_back();
    }
    for (const Moved& moved : moved_) locked_[moved.vertex] = 0;
    cost_ = best_cost;
    gather_candidates();
  }

  /// For the next pass: who was at a border, and whoever stands at one since somebody moved.
  void gather_candidates() {
    for (const std::uint32_t vertex : candidates_) locked_[vertex] = 1;
    const auto add = [&](std::uint32_t vertex) {
      if (locked_[vertex] == 1) return;
      locked_[vertex] = 1;
      candidates_.push_back(vertex);
    };
    for (const Moved& moved : moved_) {
      add(moved.vertex);
      for (const Edge edge : graph_.edges(moved.vertex)) add(edge.to);
    }
    for (const std::uint32_t vertex : candidates_) locked_[vertex] = 0;
  }

  void find_overfull() {
    overfull_ = nowhere;
    for (std::uint32_t part = 0; overload_ > 0 && part < room_.size(); ++part) {
      if (over(part) > 0) overfull_ = part;
    }
  }

  /// The best of all, or of the part that is too full.
  std::uint32_t next_vertex() const { return overfull_ == nowhere ? heap_.top() : heap_.top(overfull_); }

  /// Has far more neighbours than most.
  bool is_hub(std::uint32_t vertex) const {
    return graph_.edges(vertex).size() > often_enough + 16 * graph_.edge_count() / graph_.vertex_count();
  }

  /// Whether to look around the vertex again now that a neighbour has moved. Hubs wait for several, or each of those
  /// around them would pay for all: what their gain is in truth is seen when they come to move.
  bool is_due(std::uint32_t vertex) {
    if (++news_[vertex] * often_enough < graph_.edges(vertex).size()) return false;
    news_[vertex] = 0;
    return true;
  }

  void offer(std::uint32_t vertex) {
    if (const Move move = best_move(vertex, graph_.largest()); move.to != nowhere) {
      heap_.set(vertex, part_of_[vertex], move.gain);
    } else if (heap_.contains(vertex)) {
      heap_.remove(vertex, part_of_[vertex]);
    }
  }

  const WeightedGraph& graph_;
  const Far far_;
  std::span<const std::uint64_t> room_;
  std::span<std::uint32_t> part_of_;
  std::vector<std::uint64_t> held_;
  std::vector<std::uint32_t> place_of_part_;
  std::vector<Tie> around_;
  double cost_here_ = 0;  // of the vertex that was looked at last
  PartHeaps heap_;
  std::vector<std::uint8_t> locked_;
  std::vector<std::uint32_t> news_;  // neighbours that moved since the last look
  std::vector<Moved> moved_;
  std::vector<std::uint32_t> candidates_;  // who may stand at a border
  std::uint32_t overfull_ = nowhere;       // the part that must give somebody away next
  std::uint32_t left_ = nowhere;           // the part that the last chain of moves began in
  std::uint64_t overload_ = 0;
  double cost_ = 0;
};

}  // namespace

double improve_cut(const WeightedGraph& graph, std::span<const std::uint64_t> room, std::span<std::uint32_t> part_of,
                   std::uint32_t passes) {
  return PartMoves(graph, Uniform{1}, room, part_of).run(passes);
}

double improve_grouping(const WeightedGraph& graph, const Distance& distance, std::uint32_t above, std::uint32_t below,
                        std::span<const std::uint64_t> room, std::span<std::uint32_t> part_of, std::uint32_t passes) {
  const auto last = static_cast<std::uint32_t>(room.size() - 1);
  return std::visit(
      [&](const auto& d) {
        const Apart far{d, above, d(Core{0}, Core{below}).per_byte};
        // On an even machine the nearest and the farthest tell of all.
        if (far(0, 1) == far(0, last)) return PartMoves(graph, Uniform{far(0, 1)}, room, part_of).run(passes);
        return PartMoves(graph, far, room, part_of).run(passes);
      },
      distance);
}

double improve_mapping(const WeightedGraph& graph, const Distance& distance, std::span<const std::uint64_t> room,
                       std::span<std::uint32_t> core_of, std::uint32_t passes) {
  return std::visit([&](const auto& d) { return PartMoves(graph, Between{d}, room, core_of).run(passes); }, distance);
}

}  // namespace rankloom::multilevel
