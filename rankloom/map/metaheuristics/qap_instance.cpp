// SPDX-License-Identifier: Apache-2.0
// map/metaheuristics: construction of the matrices of a QAP, and its cost function.
#include "rankloom/map/metaheuristics/qap_instance.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "rankloom/model/machine/distance.hpp"

namespace rankloom {

QapLocations::QapLocations(const MapProblem& problem) : ranks_(problem.graph.rank_count()) {
  for (const Core core : problem.topology.cores()) {
    core_of_location_.insert(core_of_location_.end(), std::min(problem.capacities[core], ranks_), core);
  }
}

std::uint64_t QapLocations::count(const MapProblem& problem, std::uint64_t limit) {
  std::uint64_t locations = 0;
  for (const Core core : problem.topology.cores()) {
    locations += std::min(problem.capacities[core], problem.graph.rank_count());
    if (locations > limit) return limit + 1;
  }
  return locations;
}

std::vector<std::uint32_t> QapLocations::assignment_of(std::span<const Core> core_of) const {
  std::vector<std::uint32_t> next_location(index(core_of_location_.back()) + std::size_t{1}, 0);
  for (std::uint32_t location = size(); location-- > 0;) next_location[index(core_of_location_[location])] = location;
  constexpr std::uint32_t unassigned = ~std::uint32_t{0};
  std::vector<std::uint32_t> facility_at(size(), unassigned);
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) facility_at[next_location[index(core_of[rank])]++] = rank;
  std::uint32_t dummy = ranks_;
  for (std::uint32_t& facility : facility_at) {
    if (facility == unassigned) facility = dummy++;
  }
  return facility_at;
}

std::vector<Core> QapLocations::placement_of(std::span<const std::uint32_t> facility_at) const {
  std::vector<Core> core_of(ranks_);
  for (std::uint32_t location = 0; location < size(); ++location) {
    if (facility_at[location] < ranks_) core_of[facility_at[location]] = core_of_location_[location];
  }
  return core_of;
}

namespace {

using Matrix = std::vector<double>;

Matrix transpose(const Matrix& matrix, std::size_t size) {
  Matrix result(matrix.size());
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column < size; ++column) result[column * size + row] = matrix[row * size + column];
  }
  return result;
}

Matrix sum(const Matrix& a, const Matrix& b) {
  Matrix result(a.size());
  std::transform(a.begin(), a.end(), b.begin(), result.begin(), std::plus<>());
  return result;
}

/// Whether exchanging rows and columns p and q leaves the matrix unchanged.
bool interchangeable(const Matrix& matrix, std::size_t size, std::size_t p, std::size_t q) {
  if (matrix[p * size + q] != matrix[q * size + p] || matrix[p * size + p] != matrix[q * size + q]) return false;
  for (std::size_t other = 0; other < size; ++other) {
    if (other == p || other == q) continue;
    if (matrix[p * size + other] != matrix[q * size + other] || matrix[other * size + p] != matrix[other * size + q]) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool QapInstance::fits(const MapProblem& problem) {
  return pairwise_model(problem.model) == problem.model && QapLocations::count(problem, max_locations) <= max_locations;
}

QapInstance::QapInstance(const MapProblem& problem) : locations_(problem) {
  assert(fits(problem));
  const CommGraph& graph = problem.graph;
  const std::size_t n = size();
  const std::size_t entries = n * n;

  Matrix bytes(entries, 0.0), messages(entries, 0.0);
  for (const Rank rank : graph.ranks()) {
    for (std::size_t edge = 0; edge < graph.degree(rank); ++edge) {
      const std::size_t entry = index(rank) * n + index(graph.targets(rank)[edge]);
      bytes[entry] += graph.bytes(rank)[edge];
      messages[entry] += graph.has_messages() ? graph.messages(rank)[edge] : graph.default_messages();
    }
  }
  Matrix per_byte(entries), per_message(entries);
  std::visit(
      [&](const auto& distance) {
        for (std::size_t entry = 0; entry < entries; ++entry) {
          const PairCost pair = distance(locations_.core_of(static_cast<std::uint32_t>(entry / n)),
                                         locations_.core_of(static_cast<std::uint32_t>(entry % n)));
          per_byte[entry] = pair.per_byte;
          per_message[entry] = pair.per_message;
        }
      },
      make_distance(problem.topology, problem.model));
  // The cost model `quality` does not count what a rank sends to itself.
  if (problem.model != CostModel::quality) {
    linear_.assign(entries, 0.0);
    for (std::size_t facility = 0; facility < n; ++facility) {
      for (std::size_t location = 0; location < n; ++location) {
        const std::size_t self = facility * n + facility, same = location * n + location;
        linear_[facility * n + location] = bytes[self] * per_byte[same] + messages[self] * per_message[same];
      }
    }
    if (std::all_of(linear_.begin(), linear_.end(), [](double cost) { return cost == 0; })) linear_.clear();
  }
  for (std::size_t entry = 0; entry < entries; entry += n + 1) {
    bytes[entry] = messages[entry] = 0;
    per_byte[entry] = per_message[entry] = 0;
  }
  add_terms(bytes, per_byte);
  if (std::any_of(per_message.begin(), per_message.end(), [](double cost) { return cost != 0; })) {
    add_terms(messages, per_message);
  }
  find_classes();
  compute_bounds();
}

/// One product of flow and distance. If one of the two matrices is symmetric, the other can be made symmetric.
void QapInstance::add_terms(const Matrix& flow, const Matrix& distance) {
  const Matrix flow_transposed = transpose(flow, size());
  const Matrix distance_transposed = transpose(distance, size());
  if (distance == distance_transposed) {
    terms_.push_back({sum(flow, flow_transposed), distance});
    pair_terms_.push_back({terms_.back().flow, sum(distance, distance)});
  } else if (flow == flow_transposed) {
    terms_.push_back({flow, sum(distance, distance_transposed)});
    pair_terms_.push_back({flow, sum(terms_.back().distance, terms_.back().distance)});
  } else {
    terms_.push_back({flow_transposed, distance_transposed});
    terms_.push_back({flow, distance});
    pair_terms_.push_back({sum(flow, flow_transposed), sum(distance, distance_transposed)});
  }
}

void QapInstance::find_classes() {
  const std::uint32_t n = size();
  const auto classes = [&](const auto& same_class) {
    std::vector<std::uint32_t> class_of(n), representatives;
    for (std::uint32_t element = 0; element < n; ++element) {
      const auto match = std::find_if(representatives.begin(), representatives.end(),
                                      [&](std::uint32_t other) { return same_class(element, other); });
      class_of[element] = static_cast<std::uint32_t>(match - representatives.begin());
      if (match == representatives.end()) representatives.push_back(element);
    }
    return class_of;
  };
  facility_class_ = classes([&](std::uint32_t a, std::uint32_t b) {
    for (std::uint32_t location = 0; location < (linear_.empty() ? 0 : n); ++location) {
      if (linear_[std::size_t{a} * n + location] != linear_[std::size_t{b} * n + location]) return false;
    }
    return std::all_of(terms_.begin(), terms_.end(),
                       [&](const Term& term) { return interchangeable(term.flow, n, a, b); });
  });
  location_class_ = classes([&](std::uint32_t a, std::uint32_t b) {
    for (std::uint32_t facility = 0; facility < (linear_.empty() ? 0 : n); ++facility) {
      if (linear_[std::size_t{facility} * n + a] != linear_[std::size_t{facility} * n + b]) return false;
    }
    return std::all_of(terms_.begin(), terms_.end(),
                       [&](const Term& term) { return interchangeable(term.distance, n, a, b); });
  });
}

void QapInstance::compute_bounds() {
  const std::size_t n = size();
  const auto is_integral = [](double value) { return value == std::floor(value); };
  for (const Term& term : terms_) {
    integral_ = integral_ && std::all_of(term.flow.begin(), term.flow.end(), is_integral) &&
                std::all_of(term.distance.begin(), term.distance.end(), is_integral);
    double max_distance = 0, max_total_flow = 0;
    for (const double distance : term.distance) max_distance = std::max(max_distance, std::abs(distance));
    for (std::size_t facility = 0; facility < n; ++facility) {
      double total_flow = 0;
      for (std::size_t other = 0; other < n; ++other) total_flow += std::abs(term.flow[facility * n + other]);
      max_total_flow = std::max(max_total_flow, total_flow);
    }
    max_delta_ += 8 * max_total_flow * max_distance;
  }
  integral_ = integral_ && std::all_of(linear_.begin(), linear_.end(), is_integral);
  for (const double cost : linear_) max_delta_ = std::max(max_delta_, 8 * std::abs(cost));
}

double QapInstance::cost(std::span<const std::uint32_t> facility_at) const {
  const std::uint32_t n = size();
  double total = 0;
  for (const Term& term : terms_) {
    for (std::uint32_t p = 0; p < n; ++p) {
      const double* const flow = term.flow.data() + std::size_t{facility_at[p]} * n;
      const double* const distance = term.distance.data() + std::size_t{p} * n;
      double row = 0;
      for (std::uint32_t q = 0; q < n; ++q) row += flow[facility_at[q]] * distance[q];
      total += row / 2;  // counts every unordered pair twice, or every ordered pair in a term and its transpose
    }
  }
  for (std::uint32_t location = 0; location < n && !linear_.empty(); ++location) {
    total += linear_[std::size_t{facility_at[location]} * n + location];
  }
  return total;
}

}  // namespace rankloom
