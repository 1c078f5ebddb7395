// SPDX-License-Identifier: Apache-2.0
// place/reorder: bytes to a question, a plan to bytes.
#include "rankloom/place/reorder/answer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "rankloom/model/topology_json.hpp"
#include "rankloom/place/reorder/plan.hpp"
#include "rankloom/place/reorder/wire.hpp"

namespace rankloom::reorder {

namespace {

Failure garbled(std::string what) {
  return fail(Code::bad_input, at("request"), std::move(what), "are the library and its program of one build?");
}

/// One process a line: its host, a blank, its processing units.
Result<std::vector<Seat>> read_seats(std::string_view text) {
  std::vector<Seat> seats;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t blank = line.find(' ');
    if (blank == line.npos || blank == 0) return garbled("a process has no host");
    auto units = parse_units(line.substr(blank + 1));
    if (!units) return propagate(units);
    seats.push_back({std::string(line.substr(0, blank)), *std::move(units)});
  }
  return seats;
}

/// Weights are int in MPI, and a vertex may talk to itself, which costs nothing anywhere.
Result<CommGraph> read_edges(std::int32_t vertices, const std::vector<std::int32_t>& triples) {
  if (vertices < 0 || triples.size() % 3 != 0) return garbled("edges are cut short");
  CommGraphBuilder builder(static_cast<std::uint32_t>(vertices));
  builder.reserve(triples.size() / 3);
  for (std::size_t at = 0; at < triples.size(); at += 3) {
    const std::int32_t from = triples[at], to = triples[at + 1], weight = triples[at + 2];
    if (from < 0 || from >= vertices || to < 0 || to >= vertices || weight < 0)
      return garbled(fmt::format("edge {} -> {} is outside the {} vertices", from, to, vertices));
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
    return garbled("the grid does not fit the processes");
  return grid_graph(dims, periods);
}

Result<Question> read_question(std::string_view request, const std::string& machine) {
  Reader reader(request);
  if (reader.number<std::uint32_t>() != request_mark) return garbled("it is none");
  auto seats = read_seats(reader.text());
  if (!seats) return propagate(seats);
  Question question{.seats = *std::move(seats), .interiors = {}, .machine = machine, .graph = {}};
  const auto interiors = reader.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < interiors && reader.good(); ++i) {
    std::string host = reader.text();
    auto inside = read_machine_json(FileContents(host, reader.text()));
    if (!inside) return propagate(inside);
    question.interiors.push_back({{std::move(host)}, *std::move(inside)});
  }
  const auto shape = reader.number<Shape>();
  Result<CommGraph> graph = garbled("it is cut short");
  if (shape == Shape::grid) {
    const auto dims = reader.numbers<std::int32_t>();
    const auto periods = reader.numbers<std::int32_t>();
    if (reader.good()) graph = read_grid(dims, periods, question.seats.size());
  } else {
    const auto vertices = reader.number<std::int32_t>();
    const auto triples = reader.numbers<std::int32_t>();
    if (reader.good()) graph = read_edges(vertices, triples);
  }
  if (!graph) return propagate(graph);
  question.graph = *std::move(graph);
  return question;
}

Result<Plan> plan_for(std::string_view request, const std::string& machine) {
  auto question = read_question(request, machine);
  if (!question) return propagate(question);
  return make_plan(*question);
}

}  // namespace

std::string answer(std::string_view request, const std::string& machine) {
  auto plan = plan_for(request, machine);
  Writer reply;
  reply.number(reply_mark);
  reply.text(plan ? std::string() : to_string(plan.error()));
  if (!plan) plan = Plan{};
  reply.number<std::int32_t>(plan->changed ? 1 : 0);
  reply.number(plan->before);
  reply.number(plan->after);
  reply.numbers(plan->new_rank.data(), plan->new_rank.size());
  return reply.bytes();
}

}  // namespace rankloom::reorder
