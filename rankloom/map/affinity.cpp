// SPDX-License-Identifier: Apache-2.0
// map: construction, contraction and submatrices of the affinity matrix.
#include "rankloom/map/affinity.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include <oneapi/tbb/enumerable_thread_specific.h>

#include "rankloom/core/parallel.hpp"

namespace rankloom {
namespace {

/// The incoming edges of each rank, in ascending order of their sources, with their bytes.
struct IncomingEdges {
  struct Incoming {
    std::uint32_t from;
    double bytes;
  };
  Array<EdgeIndex> offsets;
  Array<Incoming> edges;

  explicit IncomingEdges(const CommGraph& graph)
      : offsets(graph.rank_count() + std::size_t{1}, 0), edges(graph.edge_count()) {
    const auto targets = std::span(graph.rows().targets);
    parallel_chunks(targets.size(), std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
      for (const Rank target : targets.subspan(begin, end - begin)) take_next(offsets[index(target) + std::size_t{1}]);
    });
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    Array<EdgeIndex> next(offsets.begin(), offsets.end() - 1);
    parallel_chunks(graph.rank_count(), [&](std::size_t begin, std::size_t end) {
      for (auto rank = static_cast<std::uint32_t>(begin); rank < end; ++rank) {
        const auto targets_of_rank = graph.targets(Rank{rank});
        const auto sent = graph.bytes(Rank{rank});
        for (std::size_t edge = 0; edge < targets_of_rank.size(); ++edge)
          edges[take_next(next[index(targets_of_rank[edge])])] = {rank, sent[edge]};
      }
    });
    parallel_chunks(graph.rank_count(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t rank = begin; rank < end; ++rank) {
        std::sort(edges.data() + offsets[rank], edges.data() + offsets[rank + 1],
                  [](const Incoming& a, const Incoming& b) { return a.from < b.from; });
      }
    });
  }

 private:
  static EdgeIndex take_next(EdgeIndex& number) {
    return std::atomic_ref(number).fetch_add(1, std::memory_order_relaxed);
  }
};

/// Calls visit(neighbour, bytes of both directions) for each rank with which this one exchanges bytes, in ascending
/// order.
template <class Visit>
void merge_directions(const CommGraph& graph, const IncomingEdges& incoming, std::uint32_t rank, const Visit& visit) {
  const auto targets = graph.targets(Rank{rank});
  const auto sent = graph.bytes(Rank{rank});
  std::size_t out = 0;
  EdgeIndex in = incoming.offsets[rank];
  const EdgeIndex end = incoming.offsets[rank + 1];
  while (out < targets.size() || in < end) {
    const bool sends = in == end || (out < targets.size() && index(targets[out]) <= incoming.edges[in].from);
    const bool receives = out == targets.size() || (in < end && incoming.edges[in].from <= index(targets[out]));
    const std::uint32_t neighbour = sends ? index(targets[out]) : incoming.edges[in].from;
    const double bytes = (sends ? sent[out] : 0) + (receives ? incoming.edges[in].bytes : 0);
    out += sends ? 1 : 0;
    in += receives ? 1 : 0;
    if (neighbour != rank && bytes > 0) visit(neighbour, bytes);
  }
}

}  // namespace

Affinity::Affinity(const CommGraph& graph) {
  if (!add_reverse_edges(graph)) merge_with_incoming(graph);
  check_exactness();
}

bool Affinity::add_reverse_edges(const CommGraph& graph) {
  const auto& rows = graph.rows();
  struct EdgeCount {
    EdgeIndex lower = 0, upper = 0, dropped = 0;
    bool all_reversed = true;
    EdgeCount& operator+=(const EdgeCount& other) {
      lower += other.lower;
      upper += other.upper;
      dropped += other.dropped;
      all_reversed &= other.all_reversed;
      return *this;
    }
  };
  weights_.resize(graph.edge_count());
  // The row of the smaller rank of each pair writes the weights of both directions.
  const auto count = parallel_sum<EdgeCount>(graph.rank_count(), [&](std::size_t begin, std::size_t end) {
    EdgeCount counted;
    for (auto rank = static_cast<std::uint32_t>(begin); rank < end && counted.all_reversed; ++rank) {
      for (EdgeIndex edge = rows.offsets[rank]; edge < rows.offsets[rank + std::size_t{1}]; ++edge) {
        const std::uint32_t target = index(rows.targets[edge]);
        if (target < rank) {
          ++counted.lower;
        } else if (target == rank) {
          weights_[edge] = 0;
          ++counted.dropped;
        } else {
          const auto row = graph.targets(Rank{target});
          const auto found = std::lower_bound(row.begin(), row.end(), Rank{rank});
          if (found == row.end() || *found != Rank{rank}) {
            counted.all_reversed = false;
            break;
          }
          const EdgeIndex reverse = rows.offsets[target] + static_cast<EdgeIndex>(found - row.begin());
          const double bytes = rows.bytes[edge] + rows.bytes[reverse];
          weights_[edge] = weights_[reverse] = bytes > 0 ? bytes : 0;
          ++counted.upper;
          counted.dropped += bytes > 0 ? 0 : 2;
        }
      }
    }
    return counted;
  });
  if (!count.all_reversed || count.upper != count.lower) return false;
  offsets_.assign(rows.offsets.begin(), rows.offsets.end());
  neighbours_.resize(graph.edge_count());
  parallel_chunks(graph.edge_count(), std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t edge = begin; edge < end; ++edge) neighbours_[edge] = index(rows.targets[edge]);
  });
  if (count.dropped > 0) drop_edges_without_weight();
  return true;
}

void Affinity::drop_edges_without_weight() {
  EdgeIndex kept = 0, edge = 0;
  for (std::size_t row = 1; row < offsets_.size(); ++row) {
    for (; edge < offsets_[row]; ++edge) {
      if (!(weights_[edge] > 0)) continue;
      neighbours_[kept] = neighbours_[edge];
      weights_[kept++] = weights_[edge];
    }
    offsets_[row] = kept;
  }
  neighbours_.resize(kept);
  weights_.resize(kept);
}

void Affinity::merge_with_incoming(const CommGraph& graph) {
  const IncomingEdges incoming(graph);
  const std::uint32_t ranks = graph.rank_count();
  offsets_.assign(ranks + std::size_t{1}, 0);
  parallel_chunks(ranks, [&](std::size_t begin, std::size_t end) {
    for (std::size_t rank = begin; rank < end; ++rank) {
      EdgeIndex& degree = offsets_[rank + 1];
      merge_directions(graph, incoming, static_cast<std::uint32_t>(rank), [&](std::uint32_t, double) { ++degree; });
    }
  });
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  neighbours_.resize(offsets_.back());
  weights_.resize(offsets_.back());
  parallel_chunks(ranks, [&](std::size_t begin, std::size_t end) {
    for (std::size_t rank = begin; rank < end; ++rank) {
      EdgeIndex at = offsets_[rank];
      merge_directions(graph, incoming, static_cast<std::uint32_t>(rank), [&](std::uint32_t neighbour, double bytes) {
        neighbours_[at] = neighbour;
        weights_[at++] = bytes;
      });
    }
  });
}

void Affinity::check_exactness() {
  struct WeightCheck {
    double sum = 0;
    bool all_half_integers = true;
    WeightCheck& operator+=(const WeightCheck& other) {
      sum += other.sum;
      all_half_integers &= other.all_half_integers;
      return *this;
    }
  };
  const WeightCheck check = parallel_sum<WeightCheck>(
      weights_.size(),
      [&](std::size_t begin, std::size_t end) {
        WeightCheck chunk;
        for (std::size_t at = begin; at < end; ++at) {
          chunk.sum += weights_[at];
          chunk.all_half_integers &= std::floor(2 * weights_[at]) == 2 * weights_[at];
        }
        return chunk;
      },
      std::size_t{1} << 16);
  exact_ = check.all_half_integers && check.sum < 0x1p52;
}

Affinity Affinity::contract(const Groups& groups) const {
  // The group of each element, and its position in the list of all members.
  Array<std::uint32_t> group_of(size()), position_of(size());
  parallel_chunks(groups.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t group = begin; group < end; ++group) {
      for (std::uint64_t position = groups.ends[group]; position < groups.ends[group + 1]; ++position) {
        group_of[groups.members[position]] = static_cast<std::uint32_t>(group);
        position_of[groups.members[position]] = static_cast<std::uint32_t>(position);
      }
    }
  });

  struct Scratch {
    std::vector<double> sum;  // by group; 0 if not touched
    std::vector<std::uint32_t> touched;
    std::vector<std::pair<std::uint32_t, double>> partners;  // of one member: (position, weight)
  };
  oneapi::tbb::enumerable_thread_specific<Scratch> scratches;
  struct Rows {
    std::vector<std::uint32_t> neighbours;
    std::vector<double> weights;
  };
  constexpr std::size_t chunk_size = 2048;
  std::vector<Rows> upper((groups.size() + chunk_size - 1) / chunk_size);  // pairs (a, b) with a < b, by chunks of a
  std::vector<EdgeIndex> upper_degree(groups.size());

  parallel_chunks(groups.size(), chunk_size, [&](std::size_t begin, std::size_t end) {
    Scratch& scratch = scratches.local();
    scratch.sum.resize(groups.size(), 0.0);
    Rows& rows = upper[begin / chunk_size];
    const auto add = [&](std::uint32_t group, double weight) {
      if (scratch.sum[group] == 0) scratch.touched.push_back(group);
      scratch.sum[group] += weight;
    };
    for (auto group = static_cast<std::uint32_t>(begin); group < end; ++group) {
      for (const std::uint32_t member : groups[group]) {
        const auto adjacent = neighbours(member);
        const auto weight = weights(member);
        scratch.partners.clear();
        for (std::size_t edge = 0; edge < adjacent.size(); ++edge) {
          if (group_of[adjacent[edge]] <= group) continue;
          if (exact_) {
            add(group_of[adjacent[edge]], weight[edge]);
          } else {
            scratch.partners.emplace_back(position_of[adjacent[edge]], weight[edge]);
          }
        }
        std::sort(scratch.partners.begin(), scratch.partners.end());
        for (const auto& [position, bytes] : scratch.partners) add(group_of[groups.members[position]], bytes);
      }
      std::sort(scratch.touched.begin(), scratch.touched.end());
      upper_degree[group] = scratch.touched.size();
      for (const std::uint32_t other : scratch.touched) {
        rows.neighbours.push_back(other);
        rows.weights.push_back(std::exchange(scratch.sum[other], 0.0));
      }
      scratch.touched.clear();
    }
  });

  // Each row consists of its lower half, which the upper halves of smaller groups fill in ascending order, and its
  // upper half.
  Affinity coarse;
  coarse.exact_ = exact_;
  coarse.offsets_.assign(groups.size() + std::size_t{1}, 0);
  for (std::size_t group = 0; group < groups.size(); ++group) coarse.offsets_[group + 1] = upper_degree[group];
  for (const Rows& rows : upper) {
    for (const std::uint32_t other : rows.neighbours) ++coarse.offsets_[other + 1];
  }
  std::partial_sum(coarse.offsets_.begin(), coarse.offsets_.end(), coarse.offsets_.begin());
  coarse.neighbours_.resize(coarse.offsets_.back());
  coarse.weights_.resize(coarse.offsets_.back());
  Array<EdgeIndex> next(coarse.offsets_.begin(), coarse.offsets_.end() - 1);
  const auto append = [&](std::uint32_t row, std::uint32_t neighbour, double weight) {
    coarse.neighbours_[next[row]] = neighbour;
    coarse.weights_[next[row]++] = weight;
  };
  for (std::uint32_t group = 0; group < groups.size();) {
    const Rows& rows = upper[group / chunk_size];
    std::size_t at = 0;
    for (const std::size_t end = std::min<std::size_t>(groups.size(), group + chunk_size); group < end; ++group) {
      for (EdgeIndex edge = 0; edge < upper_degree[group]; ++edge, ++at) {
        append(group, rows.neighbours[at], rows.weights[at]);
        append(rows.neighbours[at], group, rows.weights[at]);
      }
    }
  }
  return coarse;
}

std::vector<Affinity> Affinity::split(const Groups& groups) const {
  constexpr std::uint32_t no_group = 0xffffffff;
  Array<std::uint32_t> group_of(size(), no_group), number(size());
  for (std::uint32_t group = 0; group < groups.size(); ++group) {
    const auto members = groups[group];
    for (std::uint32_t at = 0; at < members.size(); ++at) {
      group_of[members[at]] = group;
      number[members[at]] = at;
    }
  }
  std::vector<Affinity> submatrices(groups.size(), Affinity{});
  parallel_chunks(groups.size(), 1, [&](std::size_t begin, std::size_t) {
    const auto group = static_cast<std::uint32_t>(begin);
    Affinity& submatrix = submatrices[group];
    submatrix.exact_ = exact_;
    submatrix.offsets_.assign(1, 0);
    std::vector<std::pair<std::uint32_t, double>> row;
    for (const std::uint32_t member : groups[group]) {
      const auto adjacent = neighbours(member);
      const auto weight = weights(member);
      row.clear();
      for (std::size_t edge = 0; edge < adjacent.size(); ++edge) {
        if (group_of[adjacent[edge]] == group) row.emplace_back(number[adjacent[edge]], weight[edge]);
      }
      std::sort(row.begin(), row.end());
      for (const auto& [neighbour, bytes] : row) {
        submatrix.neighbours_.push_back(neighbour);
        submatrix.weights_.push_back(bytes);
      }
      submatrix.offsets_.push_back(submatrix.neighbours_.size());
    }
  });
  return submatrices;
}

}  // namespace rankloom
