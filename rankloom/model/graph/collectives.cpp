// SPDX-License-Identifier: Apache-2.0
// model/graph: expands collectives into traffic between pairs, row by row and in parallel. Each row enumerates the
// sends of one rank in all collectives that it takes part in, so only the result is stored.
#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/system/memory.hpp"
#include "rankloom/model/graph/collective_steps.hpp"
#include "rankloom/model/graph/traffic_parts.hpp"

namespace rankloom {

namespace {

using collective_shapes::sends;
using collective_shapes::Shape;

constexpr std::array<CollectiveModelInfo, 8> model_table = {{
    {CollectiveModel::none, "none", "collectives are ignored"},
    {CollectiveModel::logical, "logical",
     "the data flow that the MPI standard defines: root with each member, or all pairs"},
    {CollectiveModel::tree, "tree",
     "common algorithms for any size: binomial trees, recursive doubling, rings, pairwise exchange"},
    {CollectiveModel::flat, "flat", "all data through the root, or member 0"},
    {CollectiveModel::openmpi, "openmpi", "the algorithms of Open MPI 4, chosen by communicator and message size"},
    {CollectiveModel::openmpi5, "openmpi5", "the same for Open MPI 5 and later, with two levels between nodes"},
    {CollectiveModel::mpich, "mpich", "the algorithms of MPICH 4, with two levels between nodes"},
    {CollectiveModel::automatic, "auto", "by the MPI library that was recorded; tree if it is not known"},
}};

constexpr std::array<std::string_view, 10> op_names = {
    "barrier", "bcast", "reduce", "gather", "scatter", "allreduce", "allgather", "alltoall", "reduce_scatter", "scan"};

/// The sum of all steps of one shape on one communicator.
struct Exchange {
  Shape shape;
  std::uint32_t root;
  double bytes;
  double messages;
};

struct Edge {
  Rank to;
  double bytes;
  double messages;
};

Rank rank(std::uint64_t number) {
  return Rank{static_cast<std::uint32_t>(number)};
}

/// Enumerates the traffic of single ranks in the collectives of a profile.
class Expansion {
 public:
  Expansion(const Profile& profile, CollectiveModel model)
      : ranks_(profile.rank_count()), communicators_(profile.communicators), exchanges_(communicators_.size()) {
    sum_up(profile.collectives, model);
    if (empty()) return;
    sort_members();
    list_memberships();
  }

  bool empty() const {
    return std::all_of(exchanges_.begin(), exchanges_.end(), [](const auto& list) { return list.empty(); });
  }

  /// An upper bound on the number of edges: all pairs, or a tree in both directions.
  double max_edges() const {
    double edges = 0;
    for (std::uint32_t c = 0; c < communicators_.size(); ++c) {
      if (exchanges_[c].empty()) continue;
      const double members = size(c);
      const bool all_pairs = std::any_of(exchanges_[c].begin(), exchanges_[c].end(), is_all_pairs);
      const double shapes = static_cast<double>(exchanges_[c].size());
      edges += members * (all_pairs ? members : std::min(members, shapes * 2.0 * std::bit_width(size(c))));
    }
    return edges;
  }

  /// An upper bound on the sum of all bytes and messages.
  double max_amounts() const {
    double sum = 0;
    for (std::uint32_t c = 0; c < communicators_.size(); ++c) {
      for (const Exchange& exchange : exchanges_[c])
        sum += (exchange.bytes + exchange.messages) * size(c) * (sends_many_blocks(exchange) ? size(c) : 2.0);
    }
    return sum;
  }

  void append(Rank from, std::vector<Edge>& edges) const {
    for (std::uint32_t world : worlds_) append(world, index(from), edges);
    for (std::uint64_t at = first_[index(from)]; at < first_[index(from) + 1]; ++at)
      append(memberships_[at].communicator, memberships_[at].position, edges);
  }

 private:
  struct Membership {
    std::uint32_t communicator;
    std::uint32_t position;
  };

  std::uint32_t size(std::uint32_t communicator) const {
    const auto& members = communicators_[communicator].members;
    return members.empty() ? ranks_ : static_cast<std::uint32_t>(members.size());
  }

  static bool is_all_pairs(const Exchange& exchange) { return exchange.shape == Shape::all_pairs; }

  static bool sends_many_blocks(const Exchange& exchange) {
    switch (exchange.shape) {
      case Shape::all_pairs:
      case Shape::halving:
      case Shape::halving_gather:
      case Shape::block_doubling:
      case Shape::bruck:
      case Shape::bruck_alltoall:
        return true;
      default:
        return false;
    }
  }

  /// Bytes and messages are additive in every shape, so equal shapes are combined into one exchange.
  void sum_up(std::span<const Collective> collectives, CollectiveModel model) {
    std::map<std::tuple<std::uint32_t, Shape, std::uint32_t>, std::pair<double, double>> totals;
    for (const Collective& call : collectives) {
      assert(call.communicator < communicators_.size());
      if (size(call.communicator) < 2 || call.count <= 0) continue;
      assert(call.root < size(call.communicator));
      for (const CollectiveStep& step : collective_steps(call.op, model, size(call.communicator), call.bytes)) {
        auto& [bytes, messages] = totals[{call.communicator, step.shape, call.root}];
        bytes += call.count * step.blocks * call.bytes;
        messages += call.count * step.messages;
      }
    }
    for (const auto& [key, total] : totals)
      exchanges_[std::get<0>(key)].push_back({std::get<1>(key), std::get<2>(key), total.first, total.second});
  }

  void sort_members() {
    sorted_members_.resize(communicators_.size());
    for (std::size_t c = 0; c < communicators_.size(); ++c) {
      if (std::none_of(exchanges_[c].begin(), exchanges_[c].end(), is_all_pairs)) continue;
      sorted_members_[c] = communicators_[c].members;
      std::sort(sorted_members_[c].begin(), sorted_members_[c].end());
    }
  }

  void list_memberships() {
    const auto for_each_member = [&](const auto& visit) {
      for (std::uint32_t c = 0; c < communicators_.size(); ++c)
        for (std::uint32_t p = 0; !exchanges_[c].empty() && p < communicators_[c].members.size(); ++p)
          visit(index(communicators_[c].members[p]), Membership{c, p});
    };
    for (std::uint32_t c = 0; c < communicators_.size(); ++c)
      if (communicators_[c].members.empty() && !exchanges_[c].empty()) worlds_.push_back(c);
    first_.assign(ranks_ + std::size_t{2}, 0);
    for_each_member([&](std::uint32_t member, Membership) {
      assert(member < ranks_);
      ++first_[member + std::size_t{2}];
    });
    for (std::size_t r = 2; r < first_.size(); ++r) first_[r] += first_[r - 1];
    memberships_.resize(first_.back());
    for_each_member([&](std::uint32_t member, Membership m) { memberships_[first_[member + std::size_t{1}]++] = m; });
  }

  void append(std::uint32_t communicator, std::uint32_t position, std::vector<Edge>& edges) const {
    const auto& members = communicators_[communicator].members;
    const auto rank_at = [&](std::uint64_t at) { return members.empty() ? rank(at) : members[at]; };
    for (const Exchange& exchange : exchanges_[communicator]) {
      const auto emit = [&](Rank to, double blocks) {
        edges.push_back({to, exchange.bytes * blocks, exchange.messages});
      };
      if (exchange.shape == Shape::all_pairs && !members.empty()) {
        const Rank self = members[position];
        for (const Rank to : sorted_members_[communicator])  // all members, so that sorted order saves sorting the row
          if (to != self) emit(to, 1);
      } else {
        sends(exchange.shape, size(communicator), exchange.root, position,
              [&](std::uint64_t to, std::uint64_t blocks) { emit(rank_at(to), static_cast<double>(blocks)); });
      }
    }
  }

  std::uint32_t ranks_;
  const std::vector<Communicator>& communicators_;
  std::vector<std::vector<Exchange>> exchanges_;   // by communicator
  std::vector<std::vector<Rank>> sorted_members_;  // by communicator, for all-pairs exchanges only
  std::vector<std::uint32_t> worlds_;              // communicators of all ranks
  std::vector<std::uint64_t> first_;               // memberships of rank r: first_[r]..first_[r+1]
  std::vector<Membership> memberships_;
};

void append_row(const CommGraph& graph, Rank from, std::vector<Edge>& edges) {
  const auto targets = graph.targets(from);
  const auto bytes = graph.bytes(from);
  const auto messages = graph.messages(from);
  for (std::size_t e = 0; e < targets.size(); ++e)
    edges.push_back({targets[e], bytes[e], messages.empty() ? graph.default_messages() : messages[e]});
}

/// Sorts by target. Most rows consist of few ascending runs, one per source, and merging runs is faster than sorting.
void sort_runs(std::vector<Edge>& edges) {
  constexpr int max_runs = 8;
  const auto before = [](const Edge& a, const Edge& b) { return a.to < b.to; };
  auto sorted = std::is_sorted_until(edges.begin(), edges.end(), before);
  for (int run = 1; run < max_runs && sorted != edges.end(); ++run) {
    const auto end = std::is_sorted_until(sorted, edges.end(), before);
    std::inplace_merge(edges.begin(), sorted, end, before);
    sorted = end;
  }
  if (sorted != edges.end()) std::stable_sort(edges.begin(), edges.end(), before);
}

/// Sorts by target and sums up duplicates.
void merge_duplicates(std::vector<Edge>& edges) {
  sort_runs(edges);
  std::size_t last = 0;
  for (std::size_t e = 1; e < edges.size(); ++e) {
    if (edges[e].to == edges[last].to) {
      edges[last].bytes += edges[e].bytes;
      edges[last].messages += edges[e].messages;
    } else {
      edges[++last] = edges[e];
    }
  }
  if (!edges.empty()) edges.resize(last + 1);
}

/// Builds the rows that row(rank, edges) appends; calls it twice for every rank: to count, then to fill.
template <class Row>
CommGraph::Rows make_rows(std::uint32_t ranks, const Row& row) {
  constexpr std::size_t chunk = 64;  // rows of an all-to-all are long
  CommGraph::Rows rows;
  rows.offsets.resize(ranks + std::size_t{1});
  rows.offsets[0] = 0;
  parallel_chunks(ranks, chunk, [&](std::size_t begin, std::size_t end) {
    std::vector<Edge> edges;
    for (std::size_t r = begin; r < end; ++r) {
      row(rank(r), edges);
      rows.offsets[r + 1] = edges.size();
    }
  });
  for (std::size_t r = 0; r < ranks; ++r) rows.offsets[r + 1] += rows.offsets[r];
  rows.targets.resize(rows.offsets[ranks]);
  rows.bytes.resize(rows.offsets[ranks]);
  rows.messages.resize(rows.offsets[ranks]);
  parallel_chunks(ranks, chunk, [&](std::size_t begin, std::size_t end) {
    std::vector<Edge> edges;
    for (std::size_t r = begin; r < end; ++r) {
      row(rank(r), edges);
      for (EdgeIndex at = rows.offsets[r]; const Edge& edge : edges) {
        rows.targets[at] = edge.to;
        rows.bytes[at] = edge.bytes;
        rows.messages[at++] = edge.messages;
      }
    }
  });
  return rows;
}

}  // namespace

std::span<const CollectiveModelInfo> collective_models() {
  return model_table;
}

std::string_view to_string(CollectiveOp op) {
  return op_names[static_cast<std::size_t>(op)];
}

std::optional<CollectiveOp> find_collective_op(std::string_view name) {
  const auto found = std::find(op_names.begin(), op_names.end(), name);
  if (found == op_names.end()) return std::nullopt;
  return static_cast<CollectiveOp>(found - op_names.begin());
}

Result<void> check_traffic_fits(const Profile& profile, CollectiveModel model) {
  constexpr double bytes_per_edge = 20;
  const Expansion expansion(profile, collective_model(model, profile));
  double amounts = expansion.max_amounts();
  for (const CommGraph* graph : {&profile.point_to_point, &profile.expanded_collectives})
    amounts += graph->total_bytes() + graph->total_messages();
  if (!(amounts <= max_total_amount)) {
    return fail(Code::bad_input, at("profile"),
                fmt::format("the traffic adds up to more than {:g} bytes and messages", max_total_amount),
                "correct the amounts, or divide all of them by the same number");
  }
  return check_memory(at("--collectives"), "the expanded traffic", expansion.max_edges() * bytes_per_edge,
                      "use --collectives none or --collectives tree, which has fewer pairs");
}

CommGraph expand_collectives(Profile profile, CollectiveModel model) {
  const Expansion expansion(profile, model);
  const bool add_collectives = !expansion.empty();
  const bool add_expanded = model != CollectiveModel::none && profile.expanded_collectives.edge_count() > 0;
  if (!add_collectives && !add_expanded)
    return profile.self_traffic_counts ? std::move(profile.point_to_point)
                                       : remove_self_loops(std::move(profile.point_to_point));

  CommGraph::Rows rows = make_rows(profile.rank_count(), [&](Rank from, std::vector<Edge>& edges) {
    edges.clear();
    append_row(profile.point_to_point, from, edges);
    if (add_expanded) append_row(profile.expanded_collectives, from, edges);
    if (add_collectives) expansion.append(from, edges);
    if (!profile.self_traffic_counts) std::erase_if(edges, [&](const Edge& edge) { return edge.to == from; });
    merge_duplicates(edges);
  });
  const auto loads = profile.point_to_point.loads();
  rows.loads.assign(loads.begin(), loads.end());
  return CommGraph(std::move(rows));
}

}  // namespace rankloom
