// SPDX-License-Identifier: Apache-2.0
// model/graph: the communication graph.
#include "rankloom/model/graph/comm_graph.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/model/graph/traffic_parts.hpp"

namespace rankloom {

namespace {

using Rows = CommGraph::Rows;

double total(const Array<double>& values) {
  return parallel_sum<double>(values.size(), [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t at = begin; at < end; ++at) sum += values[at];
    return sum;
  });
}

/// Sorts each row by target and sums up duplicates in place.
void sort_and_merge_duplicates(Rows& rows) {
  const bool messages = !rows.messages.empty();
  std::vector<std::size_t> order;
  std::vector<Rank> targets;
  std::vector<double> bytes, counts;
  EdgeIndex out = 0;
  EdgeIndex begin = rows.offsets[0];
  for (std::size_t r = 0; r + 1 < rows.offsets.size(); ++r) {
    const EdgeIndex end = rows.offsets[r + 1];
    order.resize(end - begin);
    std::iota(order.begin(), order.end(), begin);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rows.targets[a] < rows.targets[b]; });
    targets.clear(), bytes.clear(), counts.clear();
    for (const std::size_t at : order) {
      if (targets.empty() || targets.back() != rows.targets[at]) {
        targets.push_back(rows.targets[at]);
        bytes.push_back(0);
        counts.push_back(0);
      }
      bytes.back() += rows.bytes[at];
      if (messages) counts.back() += rows.messages[at];
    }
    const auto position = static_cast<std::ptrdiff_t>(out);
    std::copy(targets.begin(), targets.end(), rows.targets.begin() + position);
    std::copy(bytes.begin(), bytes.end(), rows.bytes.begin() + position);
    if (messages) std::copy(counts.begin(), counts.end(), rows.messages.begin() + position);
    out += targets.size();
    begin = end;
    rows.offsets[r + 1] = out;
  }
  rows.targets.resize(out);
  rows.bytes.resize(out);
  if (messages) rows.messages.resize(out);
}

}  // namespace

CommGraph::CommGraph(Rows rows) : rows_(std::move(rows)) {
  assert(!rows_.offsets.empty() && rows_.offsets.back() == rows_.targets.size());
  assert(rows_.bytes.size() == rows_.targets.size());
  assert(rows_.messages.empty() || rows_.messages.size() == rows_.targets.size());
  assert(rows_.loads.empty() || rows_.loads.size() + 1 == rows_.offsets.size());
}

double CommGraph::total_bytes() const {
  return total(rows_.bytes);
}

double CommGraph::total_messages() const {
  return has_messages() ? total(rows_.messages) : static_cast<double>(edge_count()) * default_messages();
}

CommGraph CommGraphBuilder::build(bool with_messages, bool undirected) && {
  const std::size_t directions = undirected ? 2 : 1;
  Rows rows;
  rows.undirected = undirected;
  rows.loads = std::move(loads_);
  rows.offsets.assign(std::size_t{rank_count_} + 1, 0);
  for (const Edge& edge : edges_) {
    ++rows.offsets[index(edge.from) + 1];
    if (undirected) ++rows.offsets[index(edge.to) + 1];
  }
  std::partial_sum(rows.offsets.begin(), rows.offsets.end(), rows.offsets.begin());
  const std::size_t count = edges_.size() * directions;
  rows.targets.resize(count);
  rows.bytes.resize(count);
  if (with_messages) rows.messages.resize(count);

  std::vector<EdgeIndex> next(rows.offsets.begin(), rows.offsets.end() - 1);
  const double factor = undirected ? 0.5 : 1.0;
  const auto put = [&](Rank from, Rank to, const Edge& edge) {
    const EdgeIndex edge_index = next[index(from)]++;
    rows.targets[edge_index] = to;
    rows.bytes[edge_index] = edge.bytes * factor;
    if (with_messages) rows.messages[edge_index] = edge.messages * factor;
  };
  for (const Edge& edge : edges_) {
    put(edge.from, edge.to, edge);
    if (undirected) put(edge.to, edge.from, edge);
  }
  edges_ = {};
  sort_and_merge_duplicates(rows);
  return CommGraph(std::move(rows));
}

std::uint64_t digest(const CommGraph& graph) {
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  // The sum of one number per rank does not depend on the order of the ranks.
  const std::uint64_t rows = parallel_sum<std::uint64_t>(graph.rank_count(), [&](std::size_t begin, std::size_t end) {
    std::uint64_t sum = 0;
    for (std::size_t at = begin; at < end; ++at) {
      const Rank rank{static_cast<std::uint32_t>(at)};
      std::uint64_t row = mix(at ^ bits(graph.load(rank)));
      for (std::size_t edge = 0; edge < graph.degree(rank); ++edge) {
        row = mix(row ^ index(graph.targets(rank)[edge]));
        row = mix(row ^ bits(graph.bytes(rank)[edge]));
        row = mix(row ^ bits(graph.messages(rank, edge)));
      }
      sum += row;
    }
    return sum;
  });
  std::uint64_t number = mix(rows ^ graph.rank_count());
  if (graph.parts() == nullptr) return number;
  for (const CommGraph& phase : graph.parts()->phases) number = mix(number ^ digest(phase));
  for (const Collective& call : graph.parts()->node_collectives.calls) {
    number = mix(number ^ static_cast<std::uint64_t>(call.op) ^ (std::uint64_t{call.root} << 8));
    number = mix(number ^ bits(call.bytes));
    number = mix(number ^ bits(call.count));
  }
  return number;
}

CommGraph remove_self_loops(CommGraph graph) {
  const auto ranks = graph.ranks();
  const bool has_self_loop = std::any_of(ranks.begin(), ranks.end(), [&](Rank r) {
    const auto targets = graph.targets(r);
    return std::binary_search(targets.begin(), targets.end(), r);
  });
  if (!has_self_loop) return graph;
  Rows rows = std::move(graph).release();
  EdgeIndex out = 0;
  EdgeIndex begin = 0;
  for (std::uint32_t r = 0; r + 1 < rows.offsets.size(); ++r) {
    const EdgeIndex end = rows.offsets[r + 1];
    for (EdgeIndex at = begin; at < end; ++at) {
      if (rows.targets[at] == Rank{r}) continue;
      rows.targets[out] = rows.targets[at];
      rows.bytes[out] = rows.bytes[at];
      if (!rows.messages.empty()) rows.messages[out] = rows.messages[at];
      ++out;
    }
    begin = end;
    rows.offsets[r + 1] = out;
  }
  rows.targets.resize(out);
  rows.bytes.resize(out);
  if (!rows.messages.empty()) rows.messages.resize(out);
  return CommGraph(std::move(rows));
}

CommGraph sum(const CommGraph& a, const CommGraph& b) {
  assert(a.rank_count() == b.rank_count());
  CommGraphBuilder builder(a.rank_count());
  builder.reserve(a.edge_count() + b.edge_count());
  for (const CommGraph* graph : {&a, &b}) {
    for (const Rank r : graph->ranks()) {
      const auto targets = graph->targets(r);
      for (std::size_t at = 0; at < targets.size(); ++at) {
        builder.add(r, targets[at], graph->bytes(r)[at], graph->messages(r, at));
      }
    }
  }
  const auto loads = a.loads().empty() ? b.loads() : a.loads();
  builder.set_loads({loads.begin(), loads.end()});
  return std::move(builder).build(true);
}

CommGraph relabel(const CommGraph& graph, std::span<const Rank> new_rank) {
  assert(new_rank.size() == graph.rank_count());
  const std::size_t n = graph.rank_count();
  IdVector<Rank, Rank> old_rank(n);
  for (const Rank r : graph.ranks()) old_rank[new_rank[index(r)]] = r;

  Rows rows;
  rows.undirected = graph.undirected();
  rows.offsets.resize(n + 1);
  rows.offsets[0] = 0;
  for (const Rank r : graph.ranks()) rows.offsets[index(r) + 1] = rows.offsets[index(r)] + graph.degree(old_rank[r]);
  rows.targets.resize(graph.edge_count());
  rows.bytes.resize(graph.edge_count());
  if (graph.has_messages()) rows.messages.resize(graph.edge_count());
  parallel_chunks(n, [&](std::size_t begin, std::size_t end) {
    std::vector<std::size_t> order;
    for (std::size_t r = begin; r < end; ++r) {
      const Rank old = old_rank[Rank{static_cast<std::uint32_t>(r)}];
      const auto targets = graph.targets(old);
      order.resize(targets.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return new_rank[index(targets[a])] < new_rank[index(targets[b])];
      });
      EdgeIndex out = rows.offsets[r];
      for (const std::size_t at : order) {
        rows.targets[out] = new_rank[index(targets[at])];
        rows.bytes[out] = graph.bytes(old)[at];
        if (graph.has_messages()) rows.messages[out] = graph.messages(old)[at];
        ++out;
      }
    }
  });
  if (!graph.loads().empty()) {
    rows.loads.resize(n);
    for (const Rank r : graph.ranks()) rows.loads[index(new_rank[index(r)])] = graph.load(r);
  }
  return CommGraph(std::move(rows));
}

}  // namespace rankloom
