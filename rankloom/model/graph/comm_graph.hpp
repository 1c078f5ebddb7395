// SPDX-License-Identifier: Apache-2.0
// model: who talks to whom. The value that capture produces and map consumes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/array.hpp"
#include "rankloom/core/ids.hpp"

namespace rankloom {

using EdgeIndex = std::uint64_t;

/// Sparse traffic between n ranks in compressed rows: row r lists the ranks that r sends to, in rising order, with the
/// bytes and messages of each. 12 bytes an edge, 20 with messages, 8 a rank.
///
/// A graph read from an undirected format stores an edge of weight w as w/2 in each direction, so that every sum over
/// directed edges counts it once. Numbers are doubles: integers are exact up to 2^53.
class CommGraph {
 public:
  /// The rows as they are stored. Each row's targets rise strictly; messages and loads may be empty.
  struct Rows {
    Array<EdgeIndex> offsets;  ///< n+1 entries, row r is offsets[r]..offsets[r+1].
    Array<Rank> targets;
    Array<double> bytes;
    Array<double> messages;     ///< Empty: not recorded, counted as one message for each edge.
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
  /// Empty when messages were not recorded.
  std::span<const double> messages(Rank r) const {
    return has_messages() ? std::span<const double>(rows_.messages.data() + begin(r), degree(r))
                          : std::span<const double>();
  }
  std::size_t degree(Rank r) const { return static_cast<std::size_t>(rows_.offsets[index(r) + 1] - begin(r)); }

  bool has_messages() const { return !rows_.messages.empty(); }
  /// Messages that an edge without a record stands for: an undirected edge counts one for both directions together.
  double default_messages() const { return rows_.undirected ? 0.5 : 1.0; }
  bool undirected() const { return rows_.undirected; }
  std::span<const double> loads() const { return rows_.loads; }
  double load(Rank r) const { return rows_.loads.empty() ? 1.0 : rows_.loads[index(r)]; }

  double total_bytes() const;
  double total_messages() const;

  const Rows& rows() const { return rows_; }
  /// Takes the arrays out, to build another graph from them without a copy.
  Rows release() && { return std::move(rows_); }

 private:
  EdgeIndex begin(Rank r) const { return rows_.offsets[index(r)]; }
  Rows rows_;
};

/// Collects edges in any order, adds up repeated ones, and makes the rows. 24 bytes an edge while it collects.
class CommGraphBuilder {
 public:
  explicit CommGraphBuilder(std::uint32_t rank_count) : rank_count_(rank_count) {}

  /// Directed traffic; both ends below rank_count.
  void add(Rank from, Rank to, double bytes, double messages = 1) { edges_.push_back({from, to, bytes, messages}); }
  void set_loads(std::vector<double> loads) { loads_ = std::move(loads); }
  void reserve(std::size_t edges) { edges_.reserve(edges); }
  std::uint32_t rank_count() const { return rank_count_; }

  /// without_messages drops the message counts, for sources that know only weights. `undirected`: each edge was added
  /// once, with its whole weight, and is split into two directions.
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

/// The same traffic without what a rank sends to itself.
CommGraph without_self(CommGraph graph);

/// The traffic of two graphs over the same ranks, added edge by edge.
CommGraph sum(const CommGraph& a, const CommGraph& b);

/// The same program with rank r renamed new_name[r].
CommGraph renamed(const CommGraph& graph, std::span<const Rank> new_name);

}  // namespace rankloom
