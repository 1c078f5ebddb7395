// SPDX-License-Identifier: Apache-2.0
// map: traffic with both directions together.
#include "rankloom/map/affinity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <oneapi/tbb/enumerable_thread_specific.h>

#include "rankloom/core/parallel.hpp"

namespace rankloom {
namespace {

/// Who sends to each rank, in rising order of the senders, with the bytes.
struct Incoming {
  Array<EdgeIndex> offsets;
  Array<std::uint32_t> from;
  Array<double> bytes;

  explicit Incoming(const CommGraph& graph) : offsets(graph.rank_count() + std::size_t{1}, 0) {
    for (const Rank target : graph.rows().targets) ++offsets[index(target) + 1];
    for (std::size_t at = 1; at < offsets.size(); ++at) offsets[at] += offsets[at - 1];
    from.resize(graph.edge_count());
    bytes.resize(graph.edge_count());
    Array<EdgeIndex> next(offsets.begin(), offsets.end() - 1);
    for (const Rank rank : graph.ranks()) {
      const auto targets = graph.targets(rank);
      const auto sent = graph.bytes(rank);
      for (std::size_t edge = 0; edge < targets.size(); ++edge) {
        const EdgeIndex place = next[index(targets[edge])]++;
        from[place] = index(rank);
        bytes[place] = sent[edge];
      }
    }
  }
};

/// Calls found(neighbour, bytes both ways) for each pair of the rank that exchanges any, in rising order.
template <class Found>
void merge_directions(const CommGraph& graph, const Incoming& incoming, std::uint32_t rank, const Found& found) {
  const auto targets = graph.targets(Rank{rank});
  const auto sent = graph.bytes(Rank{rank});
  std::size_t out = 0;
  EdgeIndex in = incoming.offsets[rank];
  const EdgeIndex end = incoming.offsets[rank + 1];
  while (out < targets.size() || in < end) {
    const bool sends = in == end || (out < targets.size() && index(targets[out]) <= incoming.from[in]);
    const bool receives = out == targets.size() || (in < end && incoming.from[in] <= index(targets[out]));
    const std::uint32_t neighbour = sends ? index(targets[out]) : incoming.from[in];
    const double bytes = (sends ? sent[out] : 0) + (receives ? incoming.bytes[in] : 0);
    out += sends ? 1 : 0;
    in += receives ? 1 : 0;
    if (neighbour != rank && bytes > 0) found(neighbour, bytes);
  }
}

void add_up(Array<EdgeIndex>& offsets) {
  for (std::size_t at = 1; at < offsets.size(); ++at) offsets[at] += offsets[at - 1];
}

}  // namespace

Affinity::Affinity(const CommGraph& graph) {
  if (!add_answers(graph)) merge_with_incoming(graph);
  note_whether_exact();
}

bool Affinity::add_answers(const CommGraph& graph) {
  const auto& rows = graph.rows();
  Array<EdgeIndex> answer(rows.offsets.begin(), rows.offsets.end() - 1);  // in each row, the next edge to be asked for
  offsets_.resize(rows.offsets.size());
  neighbours_.resize(graph.edge_count());
  weights_.resize(graph.edge_count());
  EdgeIndex kept = 0;
  offsets_[0] = 0;
  for (const Rank rank : graph.ranks()) {
    for (EdgeIndex edge = rows.offsets[index(rank)]; edge < rows.offsets[index(rank) + 1]; ++edge) {
      // Ranks come in rising order, and so do the targets of a row: the answer to each edge is the row's next one.
      const std::uint32_t target = index(rows.targets[edge]);
      const EdgeIndex back = answer[target]++;
      if (back == rows.offsets[target + 1] || rows.targets[back] != rank) return false;
      const double bytes = rows.bytes[edge] + rows.bytes[back];
      if (target == index(rank) || !(bytes > 0)) continue;
      neighbours_[kept] = target;
      weights_[kept++] = bytes;
    }
    offsets_[index(rank) + 1] = kept;
  }
  // As many answers were asked for as there are edges, each in its row, so every edge has been one.
  neighbours_.resize(kept);
  weights_.resize(kept);
  return true;
}

void Affinity::merge_with_incoming(const CommGraph& graph) {
  const Incoming incoming(graph);
  const std::uint32_t ranks = graph.rank_count();
  offsets_.assign(ranks + std::size_t{1}, 0);
  parallel_chunks(ranks, [&](std::size_t begin, std::size_t end) {
    for (std::size_t rank = begin; rank < end; ++rank) {
      EdgeIndex& degree = offsets_[rank + 1];
      merge_directions(graph, incoming, static_cast<std::uint32_t>(rank), [&](std::uint32_t, double) { ++degree; });
    }
  });
  add_up(offsets_);
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

void Affinity::note_whether_exact() {
  struct Seen {
    double sum = 0;
    bool halves = true;
    Seen& operator+=(const Seen& other) {
      sum += other.sum;
      halves &= other.halves;
      return *this;
    }
  };
  const Seen seen = parallel_sum<Seen>(
      weights_.size(),
      [&](std::size_t begin, std::size_t end) {
        Seen chunk;
        for (std::size_t at = begin; at < end; ++at) {
          chunk.sum += weights_[at];
          chunk.halves &= std::floor(2 * weights_[at]) == 2 * weights_[at];
        }
        return chunk;
      },
      std::size_t{1} << 16);
  exact_ = seen.halves && seen.sum < 0x1p52;
}

Affinity Affinity::contracted(const Groups& groups) const {
  // Where each element stands: its group, and its place in the order of all members.
  Array<std::uint32_t> group_of(size()), place_of(size());
  parallel_chunks(groups.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t group = begin; group < end; ++group) {
      for (std::uint64_t place = groups.ends[group]; place < groups.ends[group + 1]; ++place) {
        group_of[groups.members[place]] = static_cast<std::uint32_t>(group);
        place_of[groups.members[place]] = static_cast<std::uint32_t>(place);
      }
    }
  });

  struct Scratch {
    std::vector<double> sum;  // by group; 0 where untouched
    std::vector<std::uint32_t> touched;
    std::vector<std::pair<std::uint32_t, double>> partners;  // of one member: (place, weight)
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
        const auto near = neighbours(member);
        const auto weight = weights(member);
        scratch.partners.clear();
        for (std::size_t edge = 0; edge < near.size(); ++edge) {
          if (group_of[near[edge]] <= group) continue;
          if (exact_) {
            add(group_of[near[edge]], weight[edge]);
          } else {
            scratch.partners.emplace_back(place_of[near[edge]], weight[edge]);
          }
        }
        std::sort(scratch.partners.begin(), scratch.partners.end());
        for (const auto& [place, bytes] : scratch.partners) add(group_of[groups.members[place]], bytes);
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

  // Each row is its lower half, which the upper halves of smaller groups fill in rising order, and its upper half.
  Affinity coarse;
  coarse.exact_ = exact_;
  coarse.offsets_.assign(groups.size() + std::size_t{1}, 0);
  for (std::size_t group = 0; group < groups.size(); ++group) coarse.offsets_[group + 1] = upper_degree[group];
  for (const Rows& rows : upper) {
    for (const std::uint32_t other : rows.neighbours) ++coarse.offsets_[other + 1];
  }
  add_up(coarse.offsets_);
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
  constexpr std::uint32_t nowhere = 0xffffffff;
  Array<std::uint32_t> group_of(size(), nowhere), name(size());
  for (std::uint32_t group = 0; group < groups.size(); ++group) {
    const auto members = groups[group];
    for (std::uint32_t at = 0; at < members.size(); ++at) {
      group_of[members[at]] = group;
      name[members[at]] = at;
    }
  }
  std::vector<Affinity> parts(groups.size(), Affinity{});
  parallel_chunks(groups.size(), 1, [&](std::size_t begin, std::size_t) {
    const auto group = static_cast<std::uint32_t>(begin);
    Affinity& part = parts[group];
    part.exact_ = exact_;
    part.offsets_.assign(1, 0);
    std::vector<std::pair<std::uint32_t, double>> row;
    for (const std::uint32_t member : groups[group]) {
      const auto near = neighbours(member);
      const auto weight = weights(member);
      row.clear();
      for (std::size_t edge = 0; edge < near.size(); ++edge) {
        if (group_of[near[edge]] == group) row.emplace_back(name[near[edge]], weight[edge]);
      }
      std::sort(row.begin(), row.end());
      for (const auto& [neighbour, bytes] : row) {
        part.neighbours_.push_back(neighbour);
        part.weights_.push_back(bytes);
      }
      part.offsets_.push_back(part.neighbours_.size());
    }
  });
  return parts;
}

}  // namespace rankloom
