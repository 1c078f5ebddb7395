// SPDX-License-Identifier: Apache-2.0
// model/graph: the communication graph. capture/ produces this value, map/ uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "rankloom/core/array.hpp"
#include "rankloom/core/ids.hpp"

namespace rankloom {

using EdgeIndex = std::uint64_t;
struct TrafficParts;

/// The maximum of one amount of traffic or work. Together with max_valid_cost it keeps all sums of costs and their
/// squares finite.
inline constexpr double max_amount = 1e100;
/// The maximum of all amounts together.
inline constexpr double max_total_amount = 1e110;

/// Not negative, not too large and not NaN.
inline bool is_amount(double value) {
  return value >= 0 && value <= max_amount;
}

/// The traffic between n ranks as compressed sparse rows (CSR): row r lists the ranks that r sends to in ascending
/// order, with bytes and messages. 12 bytes per edge, 20 with messages, 8 per rank.
///
/// An edge of weight w from an undirected format is stored as w/2 in each direction, so that a sum over directed edges
/// counts it once. Numbers are doubles: integers are exact up to 2^53.
class CommGraph {
 public:
  /// The arrays. The targets of each row are strictly ascending; messages and loads may be empty.
  struct Rows {
    Array<EdgeIndex> offsets;  ///< n+1 entries; row r is offsets[r]..offsets[r+1]-1.
    Array<Rank> targets;
    Array<double> bytes;
    Array<double> messages;     ///< Empty: not recorded; every edge counts as one message.
    std::vector<double> loads;  ///< Work of each rank; empty: all equal.
    bool undirected = false;    ///< Both directions are stored with half the weight each.
  };

  CommGraph() : CommGraph(Rows{.offsets = {0}, .targets = {}, .bytes = {}, .messages = {}, .loads = {}}) {}
  explicit CommGraph(Rows rows);

  std::uint32_t rank_count() const { return static_cast<std::uint32_t>(rows_.offsets.size() - 1); }
  EdgeIndex edge_count() const { return rows_.targets.size(); }  ///< Directed edges.
  IdRange<Rank> ranks() const { return IdRange<Rank>(rank_count()); }

  std::span<const Rank> targets(Rank r) const { return {rows_.targets.data() + begin(r), degree(r)}; }
  std::span<const double> bytes(Rank r) const { return {rows_.bytes.data() + begin(r), degree(r)}; }
  /// Empty if messages were not recorded.
  std::span<const double> messages(Rank r) const {
    return has_messages() ? std::span<const double>(rows_.messages.data() + begin(r), degree(r))
                          : std::span<const double>();
  }
  std::size_t degree(Rank r) const { return static_cast<std::size_t>(rows_.offsets[index(r) + 1] - begin(r)); }

  bool has_messages() const { return !rows_.messages.empty(); }
  /// The number of messages per edge if messages were not recorded; an undirected edge counts once for both directions.
  double default_messages() const { return rows_.undirected ? 0.5 : 1.0; }
  double messages(Rank r, std::size_t edge) const {
    return has_messages() ? rows_.messages[begin(r) + edge] : default_messages();
  }
  bool undirected() const { return rows_.undirected; }
  std::span<const double> loads() const { return rows_.loads; }
  double load(Rank r) const { return rows_.loads.empty() ? 1.0 : rows_.loads[index(r)]; }

  double total_bytes() const;
  double total_messages() const;

  /// What the pairs do not say, for the cost model `predicted`; may be null. Graphs that are computed from this graph
  /// have no parts.
  const TrafficParts* parts() const { return parts_.get(); }
  void set_parts(std::shared_ptr<const TrafficParts> parts) { parts_ = std::move(parts); }

  const Rows& rows() const { return rows_; }
  /// Moves the arrays out, to build another graph without a copy.
  Rows release() && { return std::move(rows_); }

 private:
  EdgeIndex begin(Rank r) const { return rows_.offsets[index(r)]; }
  Rows rows_;
  std::shared_ptr<const TrafficParts> parts_;
};

/// Collects edges in any order, sums up duplicates, and builds the rows. Needs 24 bytes per edge.
class CommGraphBuilder {
 public:
  explicit CommGraphBuilder(std::uint32_t rank_count) : rank_count_(rank_count) {}

  /// Adds directed traffic; both ranks are below rank_count.
  void add(Rank from, Rank to, double bytes, double messages = 1) { edges_.push_back({from, to, bytes, messages}); }
  void set_loads(std::vector<double> loads) { loads_ = std::move(loads); }
  void reserve(std::size_t edges) { edges_.reserve(edges); }
  std::uint32_t rank_count() const { return rank_count_; }

  /// Without messages, the message counts are dropped, for sources that have only weights. `undirected`: each edge was
  /// added once with its total weight and is split into two directions.
  CommGraph build(bool with_messages, bool undirected = false) &&;

 private:
  struct Edge {
    Rank from, to;
    double bytes, messages;
  };
  std::uint32_t rank_count_;
  std::vector<Edge> edges_;
  std::vector<double> loads_;
};

/// A number that identifies the graph: equal for equal graphs on every machine, different for different ones except by
/// chance. O(edges) in parallel.
std::uint64_t digest(const CommGraph& graph);

/// The same traffic without messages of a rank to itself.
CommGraph remove_self_loops(CommGraph graph);

/// The sum of the traffic of two graphs over the same ranks.
CommGraph sum(const CommGraph& a, const CommGraph& b);

/// The same graph with rank r renumbered to new_rank[r].
CommGraph relabel(const CommGraph& graph, std::span<const Rank> new_rank);

}  // namespace rankloom
