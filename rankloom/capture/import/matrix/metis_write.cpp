// SPDX-License-Identifier: Apache-2.0
// capture/import/matrix: writes METIS graphs. The format has integral weights of undirected edges and no loops:
// directions are summed, loops are omitted, and fractional weights are an error.
#include <algorithm>

#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/text_writing.hpp"

namespace rankloom {

namespace {

/// An undirected graph with the sum of both directions of each pair.
CommGraph sum_directions(const CommGraph& graph) {
  CommGraphBuilder builder(graph.rank_count());
  builder.reserve(graph.edge_count());
  for (const Rank from : graph.ranks()) {
    for (std::size_t at = 0; at < graph.degree(from); ++at)
      builder.add(from, graph.targets(from)[at], graph.bytes(from)[at]);
  }
  builder.set_loads({graph.loads().begin(), graph.loads().end()});
  return std::move(builder).build(false, true);
}

/// METIS graphs have no loops and no edges of weight 0.
bool is_written(const CommGraph& graph, Rank from, std::size_t at) {
  return graph.targets(from)[at] != from && graph.bytes(from)[at] > 0;
}

Failure not_integral(std::string_view what, double value) {
  return fail(Code::usage, at("--to"),
              fmt::format("METIS graphs have integral weights only, but {} is {}", what, value),
              "write the format matrix-market or native, which store fractions");
}

struct Summary {
  std::uint64_t edges = 0;
  bool weighted = false;
};

/// Counts the edges that are written, and rejects fractional weights.
Result<Summary> summarise(const CommGraph& graph) {
  Summary summary;
  for (const Rank from : graph.ranks()) {
    for (std::size_t at = 0; at < graph.degree(from); ++at) {
      if (!is_written(graph, from, at)) continue;
      const double weight = 2 * graph.bytes(from)[at];
      if (!is_integral(weight))
        return not_integral(fmt::format("the weight of an edge of rank {}", index(from)), weight);
      ++summary.edges;
      summary.weighted |= weight != 1;
    }
  }
  summary.edges /= 2;
  for (const double load : graph.loads()) {
    if (!is_integral(load)) return not_integral("a load", load);
  }
  return summary;
}

}  // namespace

Result<void> write_metis(const Profile& profile, Sink& sink) {
  CommGraph storage;
  const auto pairs = all_as_pairs(profile, storage);
  if (!pairs) return Failure(pairs.error());
  CommGraph undirected;
  const CommGraph& graph = (*pairs)->undirected() ? **pairs : (undirected = sum_directions(**pairs));
  const auto summary = summarise(graph);
  if (!summary) return Failure(summary.error());
  const bool loads = !graph.loads().empty();
  TextWriter out(sink);
  out.text(fmt::format("{} {}{}\n", graph.rank_count(), summary->edges,
                       loads               ? (summary->weighted ? " 011" : " 010")
                       : summary->weighted ? " 001"
                                           : ""));
  for (const Rank from : graph.ranks()) {
    bool first = true;
    const auto put = [&](double number) {
      if (!first) out.text(" ");
      first = false;
      out.number(number);
    };
    if (loads) put(graph.load(from));
    for (std::size_t at = 0; at < graph.degree(from); ++at) {
      if (!is_written(graph, from, at)) continue;
      put(index(graph.targets(from)[at]) + 1.0);
      if (summary->weighted) put(2 * graph.bytes(from)[at]);
    }
    out.text("\n");
  }
  return {};
}

}  // namespace rankloom
