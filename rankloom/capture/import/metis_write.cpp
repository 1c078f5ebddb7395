// SPDX-License-Identifier: Apache-2.0
// capture: writes METIS graphs. The format holds whole weights of undirected edges and no loops; what does not fit is
// summed over both directions, left out, or refused, never rounded.
#include <algorithm>

#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/writing.hpp"

namespace rankloom {

namespace {

/// Both directions of each pair together, half in each.
CommGraph both_directions(const CommGraph& graph) {
  CommGraphBuilder builder(graph.rank_count());
  builder.reserve(graph.edge_count());
  for (const Rank from : graph.ranks()) {
    for (std::size_t at = 0; at < graph.degree(from); ++at)
      builder.add(from, graph.targets(from)[at], graph.bytes(from)[at]);
  }
  builder.set_loads({graph.loads().begin(), graph.loads().end()});
  return std::move(builder).build(false, true);
}

/// METIS knows no loops and no edges without weight.
bool is_written(const CommGraph& graph, Rank from, std::size_t at) {
  return graph.targets(from)[at] != from && graph.bytes(from)[at] > 0;
}

Failure not_whole(std::string_view what, double value) {
  return fail(Code::usage, at("--to"), fmt::format("METIS holds whole numbers only, but {} is {}", what, value),
              "write the format matrix-market or native, which hold fractions");
}

struct Summary {
  std::uint64_t edges = 0;
  bool weighted = false;
};

/// Counts what will be written, and refuses what cannot be.
Result<Summary> examine(const CommGraph& graph) {
  Summary summary;
  for (const Rank from : graph.ranks()) {
    for (std::size_t at = 0; at < graph.degree(from); ++at) {
      if (!is_written(graph, from, at)) continue;
      const double weight = 2 * graph.bytes(from)[at];
      if (!is_whole(weight)) return not_whole(fmt::format("the weight of an edge of rank {}", index(from)), weight);
      ++summary.edges;
      summary.weighted |= weight != 1;
    }
  }
  summary.edges /= 2;
  for (const double load : graph.loads()) {
    if (!is_whole(load)) return not_whole("a load", load);
  }
  return summary;
}

}  // namespace

Result<void> write_metis(const Profile& profile, Sink& sink) {
  CommGraph storage;
  const auto pairs = all_as_pairs(profile, storage);
  if (!pairs) return Failure(pairs.error());
  CommGraph undirected;
  const CommGraph& graph = (*pairs)->undirected() ? **pairs : (undirected = both_directions(**pairs));
  const auto summary = examine(graph);
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
