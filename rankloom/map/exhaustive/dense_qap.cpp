// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: a small mapping problem as a QAP with dense matrices.
#include "rankloom/map/exhaustive/dense_qap.hpp"

#include <cassert>

namespace rankloom {

DenseQap::DenseQap(const MapProblem& problem)
    : tasks_(problem.graph.rank_count()),
      cores_(problem.topology.core_count()),
      bytes_(std::size_t{tasks_} * tasks_, 0.0),
      messages_(std::size_t{tasks_} * tasks_, 0.0),
      counts_self_(problem.model != CostModel::quality) {
  assert(cores_ <= max_cores);
  const CommGraph& graph = problem.graph;
  for (const Rank rank : graph.ranks()) {
    for (std::size_t edge = 0; edge < graph.degree(rank); ++edge) {
      const std::size_t at = std::size_t{index(rank)} * tasks_ + index(graph.targets(rank)[edge]);
      bytes_[at] = graph.bytes(rank)[edge];
      messages_[at] = graph.messages(rank, edge);
    }
  }
  for (const Core core : problem.topology.cores()) capacities_.push_back(problem.capacities[core]);

  const CostModel model = problem.model == CostModel::congestion ? CostModel::bytes : problem.model;
  const Distance any = make_distance(problem.topology, model);
  distance_.reserve(std::size_t{cores_} * cores_);
  for (const Core from : problem.topology.cores()) {
    for (const Core to : problem.topology.cores()) {
      distance_.push_back(std::visit([&](const auto& concrete) { return concrete(from, to); }, any));
    }
  }
  for (std::uint32_t p = 0; p < cores_; ++p) {
    for (std::uint32_t q = 0; q < cores_; ++q) {
      if (distance(p, q).per_message != 0) bytes_only_ = false;
      if (distance(p, q).per_byte != distance(q, p).per_byte ||
          distance(p, q).per_message != distance(q, p).per_message) {
        symmetric_ = false;
      }
    }
  }
}

}  // namespace rankloom
