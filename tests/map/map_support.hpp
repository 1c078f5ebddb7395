// SPDX-License-Identifier: Apache-2.0
// tests/map: helpers shared by the tests of several mappers.
#pragma once

#include <ctime>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "rankloom/map/run.hpp"
#include "tests/support/instances.hpp"

namespace rankloom::testing {

/// CPU time of all threads of this process since its construction. Unlike elapsed time, it does not grow with the load
/// of the machine.
class CpuTime {
 public:
  double seconds() const { return static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC; }

 private:
  std::clock_t start_ = std::clock();
};

/// A mapping problem that owns its graph, machine and capacities.
struct OwnedProblem {
  CommGraph graph;
  Topology topology;
  Capacities capacities;
  CostModel model = CostModel::bytes;
  std::vector<Core> start = {};

  MapProblem view() const {
    return {.graph = graph, .topology = topology, .capacities = capacities, .model = model, .start = start};
  }
  double cost(std::span<const Core> core_of) const {
    return objective(model, evaluate(graph, topology, core_of, model));
  }
};

inline OwnedProblem make_problem(CommGraph graph, Topology machine, CostModel model = CostModel::bytes,
                                 Capacities::Options options = {}) {
  auto capacities = Capacities::of(machine, graph.rank_count(), options);
  EXPECT_TRUE(capacities) << (capacities ? "" : to_string(capacities.error()));
  return {std::move(graph), std::move(machine), *std::move(capacities), model};
}

/// A mapper of the table with its options; the spec must be valid.
inline ConfiguredMapper mapper(std::string_view spec) {
  auto made = make_mapper(spec);
  EXPECT_TRUE(made) << (made ? "" : to_string(made.error()));
  return *std::move(made);
}

/// The result of the mapper itself, without the fallback of run_mapper.
inline Placement place_with(std::string_view spec, const OwnedProblem& problem, std::uint64_t seed = 0) {
  MapRun run;
  run.seed = seed;
  auto placement = mapper(spec).mapper->place(problem.view(), run);
  EXPECT_TRUE(placement) << (placement ? "" : to_string(placement.error()));
  return placement ? *std::move(placement) : Placement{};
}

inline double block_cost(const OwnedProblem& problem) {
  return problem.cost(block_placement(problem.graph.rank_count(), problem.topology, problem.capacities));
}

/// A graph with these edges: source, target, bytes.
inline CommGraph directed_graph(std::uint32_t ranks,
                                std::initializer_list<std::tuple<std::uint32_t, std::uint32_t, double>> edges) {
  CommGraphBuilder builder(ranks);
  for (const auto& [from, to, bytes] : edges) builder.add(Rank{from}, Rank{to}, bytes);
  return std::move(builder).build(false);
}

/// Groups of ranks with all-to-all traffic inside each group; the numbers of the ranks are shuffled.
inline CommGraph shuffled_groups(std::uint32_t groups, std::uint32_t size, std::uint64_t seed) {
  std::vector<Rank> numbers;
  for (std::uint32_t rank = 0; rank < groups * size; ++rank) numbers.push_back(Rank{rank});
  Random(seed).shuffle(std::span(numbers));
  CommGraphBuilder builder(groups * size);
  for (std::uint32_t a = 0; a < groups * size; ++a) {
    for (std::uint32_t b = 0; b < groups * size; ++b) {
      if (a != b && a / size == b / size) builder.add(numbers[a], numbers[b], 1000);
    }
  }
  return std::move(builder).build(true);
}

/// A grid in which each rank communicates with its neighbours; the numbers of the ranks are shuffled.
inline CommGraph shuffled_grid(std::uint32_t rows, std::uint32_t columns, std::uint64_t seed) {
  std::vector<Rank> numbers;
  for (std::uint32_t rank = 0; rank < rows * columns; ++rank) numbers.push_back(Rank{rank});
  Random(seed).shuffle(std::span(numbers));
  CommGraphBuilder builder(rows * columns);
  for (std::uint32_t at = 0; at < rows * columns; ++at) {
    if (at % columns + 1 < columns) builder.add(numbers[at], numbers[at + 1], 100);
    if (at + columns < rows * columns) builder.add(numbers[at], numbers[at + columns], 100);
  }
  return std::move(builder).build(false, true);
}

/// An instance of QAPLIB. Its file contains n, the traffic matrix and the distance matrix.
inline OwnedProblem qaplib(const std::string& name) {
  std::ifstream file(std::string(RANKLOOM_TEST_DATA "/qaplib/") + name + ".dat");
  std::uint32_t size = 0;
  file >> size;
  CommGraphBuilder builder(size);
  for (std::uint32_t at = 0; at < size * size; ++at) {
    double bytes = 0;
    file >> bytes;
    if (bytes > 0) builder.add(Rank{at / size}, Rank{at % size}, bytes);
  }
  std::vector<double> distances(std::size_t{size} * size);
  for (double& distance : distances) file >> distance;
  EXPECT_TRUE(file) << name;
  return make_problem(std::move(builder).build(false), *Topology::from_matrix(size, std::move(distances)));
}

/// Measured traffic. The file contains comments, then lines "source target bytes messages bytes messages", first
/// point-to-point, then collective.
inline CommGraph measured(const std::string& name, std::uint32_t ranks) {
  std::ifstream file(std::string(RANKLOOM_TEST_DATA "/matrices/") + name + ".txt");
  EXPECT_TRUE(file) << name;
  CommGraphBuilder builder(ranks);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream tokens(line);
    std::uint32_t from = 0, to = 0;
    double bytes = 0, messages = 0, collective_bytes = 0, collective_messages = 0;
    tokens >> from >> to >> bytes >> messages >> collective_bytes >> collective_messages;
    if (from != to) builder.add(Rank{from}, Rank{to}, bytes + collective_bytes, messages + collective_messages);
  }
  return std::move(builder).build(true);
}

}  // namespace rankloom::testing
