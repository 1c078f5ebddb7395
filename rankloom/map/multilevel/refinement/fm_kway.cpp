// SPDX-License-Identifier: Apache-2.0
// map/multilevel/refinement: k-way FM (after Fiduccia, Mattheyses 1982) for any distance between blocks.
#include "rankloom/map/multilevel/refinement/fm_kway.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>
#include <unordered_map>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/multilevel/refinement/gain_queue.hpp"
#include "rankloom/map/multilevel/refinement/gain_table.hpp"
#include "rankloom/map/multilevel/refinement/stopping_rule.hpp"

namespace rankloom::multilevel {
namespace {

/// No vertex, no block.
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
/// A pass that gains a smaller fraction of the cost is the last one.
constexpr double min_gain_of_pass = 5e-4;
constexpr std::uint32_t max_chain_length = 6;
/// The gain of a vertex with more neighbours is not recomputed for every move of a neighbour.
constexpr std::uint64_t max_degree_for_eager_update = 256;
constexpr double no_move_gain = -std::numeric_limits<double>::infinity();

/// One gain queue per block, and a queue of the blocks by their best gain.
class BlockQueues {
 public:
  BlockQueues(std::size_t vertices, std::size_t blocks)
      : vertex_positions_(vertices),
        block_positions_(blocks),
        queues_(blocks, GainQueue(vertex_positions_)),
        best_block_(block_positions_) {}

  std::size_t size() const { return size_; }
  bool contains(std::uint32_t vertex) const { return queues_.front().contains(vertex); }
  void set(std::uint32_t vertex, std::uint32_t block, double gain) {
    size_ += contains(vertex) ? 0 : 1;
    queues_[block].set(vertex, gain);
    best_block_.set(block, queues_[block].top_gain());
  }
  void remove(std::uint32_t vertex, std::uint32_t block) {
    --size_;
    queues_[block].remove(vertex);
    if (queues_[block].empty()) {
      best_block_.remove(block);
    } else {
      best_block_.set(block, queues_[block].top_gain());
    }
  }
  /// The best vertex of one block, or of all blocks; `none` if there is none.
  std::uint32_t top(std::uint32_t block) const { return queues_[block].empty() ? none : queues_[block].top(); }
  std::uint32_t top() const { return best_block_.empty() ? none : queues_[best_block_.top()].top(); }
  void clear() {
    for (GainQueue& queue : queues_) queue.clear();
    best_block_.clear();
    size_ = 0;
  }

 private:
  QueuePositions vertex_positions_, block_positions_;
  std::vector<GainQueue> queues_;
  GainQueue best_block_;
  std::size_t size_ = 0;
};

/// All blocks are at the same distance from each other.
struct UniformDistance {
  static constexpr bool uniform = true;
  double between_blocks;
  double operator()(std::uint32_t p, std::uint32_t q) const { return p == q ? 0.0 : between_blocks; }
};

/// Blocks are parts of the machine: the distance between parts minus the distance inside a part.
template <class D>
struct PartDistance {
  static constexpr bool uniform = false;
  const D& distance;
  std::uint32_t cores_per_block;
  double inside;
  double operator()(std::uint32_t p, std::uint32_t q) const {
    return p == q ? 0.0 : distance(Core{p * cores_per_block}, Core{q * cores_per_block}).per_byte - inside;
  }
};

/// Blocks are parts of a network.
struct NetworkDistance {
  static constexpr bool uniform = false;
  const BlockDistances& distances;
  double operator()(std::uint32_t p, std::uint32_t q) const { return distances(p, q); }
};

/// Blocks are cores.
template <class D>
struct CoreDistance {
  static constexpr bool uniform = false;
  const D& distance;
  double operator()(std::uint32_t p, std::uint32_t q) const { return distance(Core{p}, Core{q}).per_byte; }
};

/// K-way FM for one block distance. Do not assume distance(b, b) = 0 or non-negative costs: the model `quality` has
/// neither.
template <class BlockDistance>
class KWayFm {
 public:
  KWayFm(const WeightedGraph& graph, const BlockDistance& distance, std::span<const std::uint64_t> max_block_weight,
         std::span<std::uint32_t> block_of)
      : graph_(graph),
        distance_(distance),
        max_block_weight_(max_block_weight),
        block_of_(block_of),
        block_weight_(max_block_weight.size(), 0),
        evaluation_(max_block_weight.size()),
        gain_table_(graph, block_of, static_cast<std::uint32_t>(max_block_weight.size())),
        queues_(graph.vertex_count(), max_block_weight.size()),
        locked_(graph.vertex_count(), 0) {
    for (std::uint32_t vertex = 0; vertex < graph_.vertex_count(); ++vertex)
      block_weight_[block_of_[vertex]] += graph_.vertex_weight(vertex);
    std::vector<double> cost_of_chunk(graph_.vertex_count() / default_chunk + std::size_t{1}, 0);
    candidates_ = parallel_collect<std::uint32_t>(
        graph_.vertex_count(), [&](std::size_t begin, std::size_t end, std::vector<std::uint32_t>& boundary) {
          double cost = 0;
          for (auto vertex = static_cast<std::uint32_t>(begin); vertex < end; ++vertex) {
            bool on_boundary = false;
            for (const Edge edge : graph_.edges(vertex)) {
              cost += edge.weight * distance_(block_of_[vertex], block_of_[edge.to]);
              on_boundary = on_boundary || block_of_[edge.to] != block_of_[vertex];
            }
            if (on_boundary) boundary.push_back(vertex);
          }
          cost_of_chunk[begin / default_chunk] = cost;
        });
    cost_ = std::accumulate(cost_of_chunk.begin(), cost_of_chunk.end(), 0.0) / 2;
    for (std::uint32_t block = 0; block < max_block_weight_.size(); ++block) overload_ += overload(block);
    const std::uint64_t capacity =
        std::accumulate(max_block_weight_.begin(), max_block_weight_.end(), std::uint64_t{0});
    is_tight_ = capacity < graph_.total_vertex_weight() + max_block_weight_.size() * graph_.max_vertex_weight();
  }

  double run(std::uint32_t passes) {
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      const double cost_before = cost_;
      const std::uint64_t overload_before = overload_;
      run_pass();
      if (is_tight_ && overload_ == 0) run_ejection_chains();
      if (overload_ >= overload_before && cost_ >= cost_before - min_gain_of_pass * std::abs(cost_before)) break;
    }
    return cost_;
  }

 private:
  struct Move {
    double gain = no_move_gain;
    std::uint32_t to = none;
  };
  struct AdjacentBlock {
    std::uint32_t block;
    double weight;
  };
  /// Of the vertex that was evaluated last: the blocks adjacent to it, its own first, and its cost in its block.
  struct Evaluation {
    explicit Evaluation(std::size_t blocks) : position_of_block(blocks, none) {}
    std::vector<AdjacentBlock> adjacent;
    std::vector<std::uint32_t> position_of_block;  // in `adjacent`
    double current_cost = 0;
  };
  struct MovedVertex {
    std::uint32_t vertex, from;
  };

  std::uint64_t overload(std::uint32_t block) const {
    return block_weight_[block] > max_block_weight_[block] ? block_weight_[block] - max_block_weight_[block] : 0;
  }

  /// Collects the blocks adjacent to a vertex and the edge weight to each, the vertex's own block first.
  void collect_adjacent_blocks(std::uint32_t vertex, Evaluation& of) {
    of.adjacent.clear();
    of.adjacent.push_back({block_of_[vertex], 0});
    if (!is_tight_ && gain_table_.has_row(vertex)) return collect_from_row(vertex, of);
    of.position_of_block[block_of_[vertex]] = 0;
    for (const Edge edge : graph_.edges(vertex)) {
      std::uint32_t& position = of.position_of_block[block_of_[edge.to]];
      if (position == none) {
        position = static_cast<std::uint32_t>(of.adjacent.size());
        of.adjacent.push_back({block_of_[edge.to], 0});
      }
      of.adjacent[position].weight += edge.weight;
    }
    for (const AdjacentBlock& adjacent : of.adjacent) of.position_of_block[adjacent.block] = none;
  }

  void collect_from_row(std::uint32_t vertex, Evaluation& of) {
    const std::span<const float> weights = gain_table_.row(vertex);
    of.adjacent.front().weight = weights[block_of_[vertex]];
    for (std::uint32_t block = 0; block < weights.size(); ++block)
      if (weights[block] > 0 && block != block_of_[vertex]) of.adjacent.push_back({block, weights[block]});
  }

  double cost_in(std::uint32_t block, const Evaluation& of) const {
    double cost = 0;
    for (const AdjacentBlock& adjacent : of.adjacent) cost += adjacent.weight * distance_(block, adjacent.block);
    return cost;
  }

  /// The gain of moving the vertex from its block to the adjacent block at this position, or to any block.
  double gain_of_adjacent(std::size_t position, const Evaluation& of) const {
    if constexpr (BlockDistance::uniform)
      return distance_.between_blocks * (of.adjacent[position].weight - of.adjacent.front().weight);
    return of.current_cost - cost_in(of.adjacent[position].block, of);
  }
  double gain_of_block(std::uint32_t block, const Evaluation& of) const {
    for (std::size_t position = 1; position < of.adjacent.size(); ++position) {
      if (of.adjacent[position].block == block) return gain_of_adjacent(position, of);
    }
    if constexpr (BlockDistance::uniform) return -distance_.between_blocks * of.adjacent.front().weight;
    return of.current_cost - cost_in(block, of);
  }

  /// The best move to an adjacent block that stays within the maximum weight plus `allowed_overload`.
  Move best_move(std::uint32_t vertex, std::uint64_t allowed_overload, Evaluation& of) {
    collect_adjacent_blocks(vertex, of);
    Move best;
    if (of.adjacent.size() == 1 && overloaded_ == none) return best;
    if constexpr (!BlockDistance::uniform) of.current_cost = cost_in(block_of_[vertex], of);
    for (std::size_t position = 1; position < of.adjacent.size(); ++position) {
      const std::uint32_t to = of.adjacent[position].block;
      if (block_weight_[to] + graph_.vertex_weight(vertex) > max_block_weight_[to] + allowed_overload) continue;
      const double gain = gain_of_adjacent(position, of);
      if (gain > best.gain || (gain == best.gain && block_weight_[to] < block_weight_[best.to])) best = {gain, to};
    }
    // The block in which the current chain began has free capacity: an ejected vertex may move there even if it has no
    // neighbour in that block.
    if (overloaded_ != none && chain_start_ != none && chain_start_ != block_of_[vertex] &&
        block_weight_[chain_start_] + graph_.vertex_weight(vertex) <= max_block_weight_[chain_start_]) {
      const double gain = gain_of_block(chain_start_, of);
      if (gain > best.gain) best = {gain, chain_start_};
    }
    return best;
  }

  void move(std::uint32_t vertex, std::uint32_t to, double gain) {
    const std::uint32_t from = block_of_[vertex];
    overload_ -= overload(from) + overload(to);
    block_weight_[from] -= graph_.vertex_weight(vertex);
    block_weight_[to] += graph_.vertex_weight(vertex);
    overload_ += overload(from) + overload(to);
    block_of_[vertex] = to;
    cost_ -= gain;
    gain_table_.move(vertex, from, to);
  }

  /// Tries an ejection chain from every boundary vertex: a move, then a move of the vertex that it ejects, and so on
  /// until a vertex fits. Keeps only chains with a gain. A pass of FM cannot find all of them: it takes the moves with
  /// the best gains first, and locks the vertices that these moves eject.
  void run_ejection_chains() {
    queues_.clear();
    overloaded_ = chain_start_ = none;
    // A hub would be evaluated for every chain that could eject it.
    fill_queues([&](std::uint32_t vertex) { return !is_hub(vertex); });
    std::vector<MovedVertex> chain, kept;
    for (const std::uint32_t first : candidates_) {
      if (!queues_.contains(first)) continue;
      const double cost_before = cost_;
      moves_.clear();
      run_ejection_chain(first);
      const bool gained = overload_ == 0 && cost_ < cost_before - 1e-9 * std::abs(cost_before);
      chain = moves_;
      for (; !gained && !moves_.empty(); moves_.pop_back()) move(moves_.back().vertex, moves_.back().from, 0);
      if (!gained) cost_ = cost_before;
      overloaded_ = chain_start_ = none;
      for (const MovedVertex& moved : chain) {
        update_queue(moved.vertex);
        for (const Edge edge : graph_.edges(moved.vertex)) {
          if (gained && needs_update(edge.to)) update_queue(edge.to);
        }
        if (gained) kept.push_back(moved);
      }
    }
    moves_ = std::move(kept);
    collect_candidates();
  }

  void run_ejection_chain(std::uint32_t vertex) {
    chain_start_ = block_of_[vertex];
    for (std::uint32_t length = 0; length < max_chain_length && vertex != none; ++length) {
      const Move best = best_move(vertex, overloaded_ == none ? graph_.max_vertex_weight() : 0, evaluation_);
      queues_.remove(vertex, block_of_[vertex]);
      if (best.to == none) return;
      moves_.push_back({vertex, block_of_[vertex]});
      move(vertex, best.to, best.gain);
      if (overload(best.to) == 0) return;
      overloaded_ = best.to;
      vertex = queues_.top(overloaded_);
    }
  }

  void run_pass() {
    queues_.clear();
    overloaded_ = chain_start_ = none;
    fill_queues([](std::uint32_t) { return true; });
    moves_.clear();
    double best_cost = cost_;
    std::uint64_t best_overload = overload_;
    std::size_t best_length = 0;
    find_overloaded_block();
    // A pass stops after this many moves without improvement, or, if most vertices are on the boundary, by the stopping
    // rule. On the small boundaries of meshes it would stop before a layer of vertices with equal gains has moved. In a
    // tight partition, the gains of the moves of an ejection chain depend on each other, so their sum is not a random
    // walk.
    const std::size_t patience = 60 + queues_.size() / 4;
    const bool may_stop_early = !is_tight_ && 2 * queues_.size() > graph_.vertex_count();
    StoppingRule stopping_rule;
    while (moves_.size() - best_length < patience && !(may_stop_early && stopping_rule.should_stop())) {
      const std::uint32_t vertex = next_vertex();
      if (vertex == none) break;
      const Move best = best_move(vertex, overloaded_ == none ? graph_.max_vertex_weight() : 0, evaluation_);
      queues_.remove(vertex, block_of_[vertex]);
      if (best.to == none) continue;
      locked_[vertex] = 1;
      moves_.push_back({vertex, block_of_[vertex]});
      if (overloaded_ == none) chain_start_ = block_of_[vertex];
      move(vertex, best.to, best.gain);
      stopping_rule.add(best.gain);
      overloaded_ = overload(best.to) > 0                              ? best.to
                    : overloaded_ != none && overload(overloaded_) > 0 ? overloaded_
                                                                       : none;
      if (overloaded_ == none && overload_ > 0) find_overloaded_block();
      if (overload_ < best_overload || (overload_ == best_overload && cost_ < best_cost - 1e-9 * std::abs(best_cost))) {
        best_overload = overload_;
        best_cost = cost_;
        best_length = moves_.size();
        stopping_rule.restart();
      }
      for (const Edge edge : graph_.edges(vertex)) {
        if (locked_[edge.to] == 0 && needs_update(edge.to)) update_queue(edge.to);
      }
    }
    while (moves_.size() > best_length) {
      move(moves_.back().vertex, moves_.back().from, 0);
      locked_[moves_.back().vertex] = 0;
      moves_.pop_back();
    }
    for (const MovedVertex& moved : moves_) locked_[moved.vertex] = 0;
    cost_ = best_cost;
    collect_candidates();
  }

  /// For the next pass: the candidates of this pass, the vertices that moved, and their neighbours. Between passes no
  /// vertex is locked, so `locked_` marks the visited vertices here.
  void collect_candidates() {
    for (const std::uint32_t vertex : candidates_) locked_[vertex] = 1;
    const auto add = [&](std::uint32_t vertex) {
      if (locked_[vertex] == 1) return;
      locked_[vertex] = 1;
      candidates_.push_back(vertex);
    };
    for (const MovedVertex& moved : moves_) {
      add(moved.vertex);
      for (const Edge edge : graph_.edges(moved.vertex)) add(edge.to);
    }
    for (const std::uint32_t vertex : candidates_) locked_[vertex] = 0;
  }

  void find_overloaded_block() {
    overloaded_ = none;
    for (std::uint32_t block = 0; overload_ > 0 && block < max_block_weight_.size(); ++block) {
      if (overload(block) > 0) overloaded_ = block;
    }
  }

  /// The best vertex of all, or of the overloaded block.
  std::uint32_t next_vertex() const { return overloaded_ == none ? queues_.top() : queues_.top(overloaded_); }

  /// Whether the vertex has a much higher degree than the average.
  bool is_hub(std::uint32_t vertex) const {
    return graph_.edges(vertex).size() > max_degree_for_eager_update + 16 * graph_.edge_count() / graph_.vertex_count();
  }

  /// Whether to recompute the gain of the vertex now that a neighbour has moved. Hubs wait for several moved
  /// neighbours, because each recomputation visits all their edges. Their exact gain is computed before they move.
  bool needs_update(std::uint32_t vertex) {
    const std::size_t degree = graph_.edges(vertex).size();
    if (degree <= max_degree_for_eager_update) return true;
    std::uint32_t& moved = moved_neighbours_[vertex];
    if (++moved * max_degree_for_eager_update < degree) return false;
    moved = 0;
    return true;
  }

  /// Evaluates the candidates for the empty queues: in tight partitions, in parallel. The others make gain table rows.
  template <class Filter>
  void fill_queues(const Filter& filter) {
    const std::size_t chunk =
        std::max<std::size_t>(256, max_block_weight_.size());  // an evaluation has a table of all blocks
    if (!is_tight_ || candidates_.size() <= chunk) {
      for (const std::uint32_t vertex : candidates_)
        if (filter(vertex)) update_queue(vertex);
      return;
    }
    std::vector<Move> best(candidates_.size());
    parallel_chunks(candidates_.size(), chunk, [&](std::size_t begin, std::size_t end) {
      Evaluation evaluation(max_block_weight_.size());
      for (std::size_t at = begin; at < end; ++at)
        if (filter(candidates_[at])) best[at] = best_move(candidates_[at], graph_.max_vertex_weight(), evaluation);
    });
    for (std::size_t at = 0; at < best.size(); ++at)
      if (best[at].to != none) queues_.set(candidates_[at], block_of_[candidates_[at]], best[at].gain);
  }

  void update_queue(std::uint32_t vertex) {
    if (const Move best = best_move(vertex, graph_.max_vertex_weight(), evaluation_); best.to != none) {
      queues_.set(vertex, block_of_[vertex], best.gain);
    } else if (queues_.contains(vertex)) {
      queues_.remove(vertex, block_of_[vertex]);
    }
  }

  const WeightedGraph& graph_;
  const BlockDistance distance_;
  std::span<const std::uint64_t> max_block_weight_;
  std::span<std::uint32_t> block_of_;
  std::vector<std::uint64_t> block_weight_;
  Evaluation evaluation_;
  GainTable gain_table_;
  bool is_tight_ = false;  // so little capacity is free that hardly any vertex can move unless another one is ejected
  BlockQueues queues_;
  Array<std::uint8_t> locked_;
  std::unordered_map<std::uint32_t, std::uint32_t> moved_neighbours_;  // of hubs, since the last update of their gain
  std::vector<MovedVertex> moves_;
  std::vector<std::uint32_t> candidates_;  // vertices that may be on the boundary of their block
  std::uint32_t overloaded_ = none;        // the block that a vertex must leave next
  std::uint32_t chain_start_ = none;       // the block in which the last chain of moves began
  std::uint64_t overload_ = 0;             // of all blocks
  double cost_ = 0;
};

}  // namespace

double fm_kway_cut(const WeightedGraph& graph, std::span<const std::uint64_t> max_block_weight,
                   std::span<std::uint32_t> block_of, std::uint32_t passes) {
  const TimedSection timing("FM refinement");
  return KWayFm(graph, UniformDistance{1}, max_block_weight, block_of).run(passes);
}

double fm_kway_grouping(const WeightedGraph& graph, const Distance& distance, std::uint32_t cores_per_block,
                        std::uint32_t cores_per_child, std::span<const std::uint64_t> max_block_weight,
                        std::span<std::uint32_t> block_of, std::uint32_t passes) {
  const TimedSection timing("FM refinement");
  const auto last = static_cast<std::uint32_t>(max_block_weight.size() - 1);
  return std::visit(
      [&](const auto& d) {
        const PartDistance<std::decay_t<decltype(d)>> between{d, cores_per_block,
                                                              d(Core{0}, Core{cores_per_child}).per_byte};
        // The machine is symmetric: if the closest and the most distant block are at the same distance, all are.
        if (between(0, 1) == between(0, last))
          return KWayFm(graph, UniformDistance{between(0, 1)}, max_block_weight, block_of).run(passes);
        return KWayFm(graph, between, max_block_weight, block_of).run(passes);
      },
      distance);
}

double fm_kway_network(const WeightedGraph& graph, const BlockDistances& distance,
                       std::span<const std::uint64_t> max_block_weight, std::span<std::uint32_t> block_of,
                       std::uint32_t passes) {
  const TimedSection timing("FM refinement");
  return KWayFm(graph, NetworkDistance{distance}, max_block_weight, block_of).run(passes);
}

double fm_kway_mapping(const WeightedGraph& graph, const Distance& distance,
                       std::span<const std::uint64_t> max_block_weight, std::span<std::uint32_t> core_of,
                       std::uint32_t passes) {
  const TimedSection timing("FM refinement");
  return std::visit(
      [&](const auto& d) {
        const CoreDistance<std::decay_t<decltype(d)>> between{d};
        return KWayFm(graph, between, max_block_weight, core_of).run(passes);
      },
      distance);
}

}  // namespace rankloom::multilevel
