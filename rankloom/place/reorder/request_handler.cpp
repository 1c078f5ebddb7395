// SPDX-License-Identifier: Apache-2.0
// place/reorder: decodes a request, computes the reordering and encodes the reply.
#include "rankloom/place/reorder/request_handler.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/place/reorder/message_format.hpp"
#include "rankloom/place/reorder/rank_reordering.hpp"

namespace rankloom::reorder {

namespace {

constexpr std::uint32_t max_processing_unit = (1U << 20U) - 1;

Failure malformed(std::string what) {
  return fail(Code::bad_input, at("request"), std::move(what),
              "install the library and rankloom-reorder from the same build");
}

/// One line per process: its host, a space, and its processing units.
Result<std::vector<ProcessBinding>> read_bindings(std::string_view text) {
  constexpr std::size_t max_total_units = 1U << 26U;
  std::vector<ProcessBinding> bindings;
  std::size_t total_units = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t space = line.find(' ');
    if (space == line.npos || space == 0) return malformed("a process has no host");
    std::string error;
    auto units = parse_number_ranges(line.substr(space + 1), max_processing_unit, &error);
    if (!units) return malformed("processing units: " + error);
    total_units += units->size();
    if (total_units > max_total_units) return malformed("the processes have too many processing units");
    bindings.push_back({std::string(line.substr(0, space)), *std::move(units)});
  }
  return bindings;
}

/// Weights are of type int in MPI. Edges from a vertex to itself are allowed and cost nothing.
Result<CommGraph> read_edges(std::int32_t vertices, const std::vector<std::int32_t>& triples, std::size_t processes) {
  if (vertices < 0 || triples.size() % 3 != 0) return malformed("the list of edges is truncated");
  if (static_cast<std::size_t>(vertices) > processes)
    return malformed("the graph has more vertices than there are processes");
  CommGraphBuilder builder(static_cast<std::uint32_t>(vertices));
  builder.reserve(triples.size() / 3);
  for (std::size_t at = 0; at < triples.size(); at += 3) {
    const std::int32_t from = triples[at], to = triples[at + 1], weight = triples[at + 2];
    if (from < 0 || from >= vertices || to < 0 || to >= vertices || weight < 0)
      return malformed(fmt::format("edge {} -> {} is outside of the {} vertices", from, to, vertices));
    if (from != to && weight > 0)
      builder.add(Rank{static_cast<std::uint32_t>(from)}, Rank{static_cast<std::uint32_t>(to)}, weight);
  }
  return std::move(builder).build(false);
}

Result<CommGraph> read_grid(const std::vector<std::int32_t>& dims, const std::vector<std::int32_t>& periods,
                            std::size_t processes) {
  double size = 1;
  for (const std::int32_t dim : dims) size *= dim > 0 ? dim : 0;
  if (dims.size() != periods.size() || size < 1 || size > static_cast<double>(processes))
    return malformed("the grid has more vertices than there are processes");
  return grid_graph(dims, periods);
}

Result<ReorderProblem> read_problem(std::string_view request, const std::string& machine) {
  MessageReader reader(request);
  if (reader.number<std::uint32_t>() != request_magic) return malformed("it does not begin with the magic number");
  auto bindings = read_bindings(reader.text());
  if (!bindings) return propagate(bindings);
  ReorderProblem problem{.bindings = *std::move(bindings), .interiors = {}, .machine = machine, .graph = {}};
  const auto interiors = reader.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < interiors && reader.good(); ++i) {
    std::string host = reader.text();
    auto interior = read_machine_json(FileContents(host, reader.text()));
    if (!interior) return propagate(interior);
    problem.interiors.push_back({{std::move(host)}, *std::move(interior)});
  }
  const auto kind = reader.number<TopologyKind>();
  Result<CommGraph> graph = malformed("it is truncated");
  if (kind == TopologyKind::grid) {
    const auto dims = reader.numbers<std::int32_t>();
    const auto periods = reader.numbers<std::int32_t>();
    if (reader.good()) graph = read_grid(dims, periods, problem.bindings.size());
  } else {
    const auto vertices = reader.number<std::int32_t>();
    const auto triples = reader.numbers<std::int32_t>();
    if (reader.good()) graph = read_edges(vertices, triples, problem.bindings.size());
  }
  if (!graph) return propagate(graph);
  problem.graph = *std::move(graph);
  return problem;
}

Result<Reordering> reordering_for(std::string_view request, const std::string& machine) {
  auto problem = read_problem(request, machine);
  if (!problem) return propagate(problem);
  return compute_reordering(*problem);
}

}  // namespace

std::string handle_request(std::string_view request, const std::string& machine) {
  auto reordering = reordering_for(request, machine);
  MessageWriter reply;
  reply.number(reply_magic);
  reply.text(reordering ? std::string() : to_string(reordering.error()));
  if (!reordering) reordering = Reordering{};
  reply.number<std::int32_t>(reordering->changed ? 1 : 0);
  reply.number(reordering->before);
  reply.number(reordering->after);
  reply.numbers(reordering->new_rank.data(), reordering->new_rank.size());
  return reply.bytes();
}

}  // namespace rankloom::reorder
