// SPDX-License-Identifier: Apache-2.0
// map/multilevel/refinement: simulated annealing. A sweep visits the vertices in batches: those of one batch decide in
// parallel on what the batch before left, and then move in their order.
#include "rankloom/map/multilevel/refinement/annealing.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/portable_math.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/core/timing.hpp"

namespace rankloom::multilevel {
namespace {

using Block = std::uint16_t;

/// -ln of uniformly distributed numbers: a loss is accepted if it is less than temperature × such a number.
class Thresholds {
 public:
  Thresholds() {
    for (std::size_t i = 0; i < size; ++i)
      values_[i] = -portable_log((static_cast<double>(i) + 0.5) / static_cast<double>(size));
  }
  double operator()(std::uint64_t random) const { return values_[random % size]; }

 private:
  static constexpr std::size_t size = 4096;
  std::array<double, size> values_{};
};

class Annealing {
 public:
  Annealing(const WeightedGraph& graph, std::span<const std::uint64_t> max_block_weight, std::uint64_t seed)
      : graph_(graph),
        max_block_weight_(max_block_weight),
        block_weight_(max_block_weight.size(), 0),
        block_of_(graph.vertex_count()),
        seed_(mix(seed)) {
    fill_blocks();
  }

  /// In the first tenth of the sweeps, the temperature is adapted until three in ten losses are accepted. Then it falls
  /// to a tenth, with the time that has passed if that is limited. Sweeps without losses end the search.
  void run(const AnnealingOptions& options) {
    constexpr double accepted_at_first = 0.3, adapting = 0.1, last_temperature = 0.1;
    constexpr std::uint32_t sweeps_at_zero = 2;
    const Deadline::Clock::duration time = options.deadline.left();
    const auto progress = [&](std::uint32_t sweeps) {
      const double share = static_cast<double>(sweeps) / options.sweeps;
      if (!options.deadline.limited()) return share;
      const std::chrono::duration<double> left = options.deadline.left();
      return std::max(share, 1 - left / time);
    };
    double temperature = mean_edge_weight();
    std::uint32_t sweeps = 0;
    for (double done = 0; done < 1 && time.count() > 0;) {
      const Losses losses = sweep(sweeps++, temperature);
      const double before = std::exchange(done, progress(sweeps));
      temperature *= done < adapting ? losses.correction(accepted_at_first)
                                     : portable_pow(last_temperature, (done - before) / (1 - adapting));
    }
    for (std::uint32_t at = 0; at < sweeps_at_zero; ++at) sweep(sweeps + at, 0);
  }

  Array<std::uint32_t> partition() const { return {block_of_.begin(), block_of_.end()}; }

 private:
  struct Move {
    std::uint32_t vertex;
    Block to;
  };
  /// Moves tried that increase the cut.
  struct Losses {
    std::uint64_t tried = 0, accepted = 0;
    Losses& operator+=(const Losses& other) {
      tried += other.tried;
      accepted += other.accepted;
      return *this;
    }
    /// The factor that brings the temperature closer to the one at which this share is accepted.
    double correction(double share) const {
      if (tried == 0) return 1;
      const double observed = static_cast<double>(accepted) / static_cast<double>(tried);
      return portable_pow(share / std::max(observed, share / 100), 0.3);
    }
  };

  /// In proportion to their maximum weights, each with vertices from everywhere: multiples of the golden ratio are
  /// spread evenly. What does not fit because of rounding goes to the next block where it does.
  void fill_blocks() {
    std::vector<double> end_of_block;
    double capacity = 0;
    for (const std::uint64_t weight : max_block_weight_)
      end_of_block.push_back(capacity += static_cast<double>(weight));
    constexpr std::uint32_t golden_ratio = 2654435769;
    for (std::uint32_t vertex = 0; vertex < graph_.vertex_count(); ++vertex) {
      const double position = static_cast<double>(vertex * golden_ratio) * 0x1p-32 * capacity;
      auto block = static_cast<std::size_t>(std::upper_bound(end_of_block.begin(), end_of_block.end() - 1, position) -
                                            end_of_block.begin());
      for (std::size_t tried = 0; tried < max_block_weight_.size() && !fits(vertex, block); ++tried)
        block = (block + 1) % max_block_weight_.size();
      block_of_[vertex] = static_cast<Block>(block);
      block_weight_[block] += graph_.vertex_weight(vertex);
    }
  }

  double mean_edge_weight() const {
    const double total = parallel_sum<double>(graph_.vertex_count(), [&](std::size_t begin, std::size_t end) {
      double sum = 0;
      for (std::size_t vertex = begin; vertex < end; ++vertex)
        for (const Edge edge : graph_.edges(static_cast<std::uint32_t>(vertex))) sum += edge.weight;
      return sum;
    });
    return total / static_cast<double>(std::max<std::uint64_t>(1, graph_.edge_count()));
  }

  bool fits(std::uint32_t vertex, std::size_t to) const {
    return block_weight_[to] + graph_.vertex_weight(vertex) <= max_block_weight_[to];
  }

  /// Every vertex tries to move to the block of a random neighbour.
  Losses sweep(std::uint32_t number, double temperature) {
    constexpr std::size_t batches = 16, chunk = chunk_size;
    const std::size_t count = graph_.vertex_count();
    Losses losses;
    for (std::size_t batch = 0; batch < batches; ++batch) {
      const std::size_t first = count * batch / batches, size = count * (batch + 1) / batches - first;
      chunks_.resize(std::max(chunks_.size(), (size + chunk - 1) / chunk));
      parallel_chunks(size, chunk, [&](std::size_t begin, std::size_t end) {
        Chunk& found = chunks_[begin / chunk];
        found = {.moves = std::move(found.moves), .losses = {}};
        found.moves.clear();
        decide(first + begin, first + end, number, temperature, found);
      });
      for (std::size_t at = 0; at * chunk < size; ++at) {
        losses += chunks_[at].losses;
        for (const Move& move : chunks_[at].moves) {
          if (!fits(move.vertex, move.to)) continue;
          block_weight_[block_of_[move.vertex]] -= graph_.vertex_weight(move.vertex);
          block_weight_[move.to] += graph_.vertex_weight(move.vertex);
          block_of_[move.vertex] = move.to;
        }
      }
    }
    return losses;
  }

  static constexpr std::size_t chunk_size = 1024;  // vertices that one thread decides on
  struct Chunk {
    std::vector<Move> moves;
    Losses losses;
  };
  struct Try {
    std::uint32_t vertex;
    std::uint16_t random;
    Block to;
  };

  /// Without branches that depend on random numbers, except one per try.
  void decide(std::size_t begin, std::size_t end, std::uint64_t number, double temperature, Chunk& found) const {
    static const Thresholds thresholds;
    std::array<Try, chunk_size> tries;
    std::size_t count = 0;
    for (auto vertex = static_cast<std::uint32_t>(begin); vertex < end; ++vertex) {
      const auto edges = graph_.edges(vertex);
      if (edges.empty()) continue;
      const std::uint64_t random = mix(seed_ ^ (number << 32 | vertex));
      const Block to = block_of_[edges[((random >> 32) * edges.size()) >> 32].to];
      tries[count] = {vertex, static_cast<std::uint16_t>(random), to};
      count += to != block_of_[vertex];
    }
    for (const Try& move : std::span(tries).first(count)) {
      if (!fits(move.vertex, move.to)) continue;
      const Block from = block_of_[move.vertex];
      double loss = 0;
      for (const Edge edge : graph_.edges(move.vertex)) {
        const Block block = block_of_[edge.to];
        loss +=
            static_cast<double>(edge.weight) * (static_cast<int>(block == from) - static_cast<int>(block == move.to));
      }
      const bool accepted = loss <= 0 || loss < temperature * thresholds(move.random);
      found.losses.tried += loss > 0;
      found.losses.accepted += loss > 0 && accepted;
      if (accepted) found.moves.push_back({move.vertex, move.to});
    }
  }

  const WeightedGraph& graph_;
  std::span<const std::uint64_t> max_block_weight_;
  std::vector<std::uint64_t> block_weight_;
  std::vector<Block> block_of_;
  std::vector<Chunk> chunks_;  // of a batch; kept, so that sweeps allocate nothing
  std::uint64_t seed_;
};

}  // namespace

Array<std::uint32_t> annealed_partition(const WeightedGraph& graph, std::span<const std::uint64_t> max_block_weight,
                                        const AnnealingOptions& options, std::uint64_t seed) {
  const TimedSection timing("annealing");
  Annealing annealing(graph, max_block_weight, seed);
  annealing.run(options);
  return annealing.partition();
}

}  // namespace rankloom::multilevel
