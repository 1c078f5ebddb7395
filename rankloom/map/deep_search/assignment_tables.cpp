// SPDX-License-Identifier: Apache-2.0
// map/deep_search: a small problem written out as a quadratic assignment problem.
#include "rankloom/map/deep_search/assignment_tables.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "rankloom/model/distance.hpp"

namespace rankloom {
namespace {

using Table = std::vector<double>;

Table transposed(const Table& table, std::size_t size) {
  Table turned(table.size());
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column < size; ++column) turned[column * size + row] = table[row * size + column];
  }
  return turned;
}

Table sum(const Table& a, const Table& b) {
  Table total(a.size());
  std::transform(a.begin(), a.end(), b.begin(), total.begin(), std::plus<>());
  return total;
}

/// Exchanging p and q leaves the table as it is.
bool alike(const Table& table, std::size_t size, std::size_t p, std::size_t q) {
  if (table[p * size + q] != table[q * size + p] || table[p * size + p] != table[q * size + q]) return false;
  for (std::size_t other = 0; other < size; ++other) {
    if (other == p || other == q) continue;
    if (table[p * size + other] != table[q * size + other] || table[other * size + p] != table[other * size + q]) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool AssignmentTables::fit(const MapProblem& problem) {
  if (problem.model == CostModel::congestion) return false;
  std::uint64_t seats = 0;
  for (const Core core : problem.topology.cores()) {
    seats += std::min(problem.capacities[core], problem.graph.rank_count());
    if (seats > most_seats) return false;
  }
  return true;
}

AssignmentTables::AssignmentTables(const MapProblem& problem) : ranks_(problem.graph.rank_count()) {
  assert(fit(problem));
  const CommGraph& graph = problem.graph;
  for (const Core core : problem.topology.cores()) {
    core_of_seat_.insert(core_of_seat_.end(), std::min(problem.capacities[core], ranks_), core);
  }
  size_ = static_cast<std::uint32_t>(core_of_seat_.size());
  const std::size_t entries = std::size_t{size_} * size_;

  Table bytes(entries, 0.0), messages(entries, 0.0);
  for (const Rank rank : graph.ranks()) {
    for (std::size_t edge = 0; edge < graph.degree(rank); ++edge) {
      const std::size_t at = std::size_t{index(rank)} * size_ + index(graph.targets(rank)[edge]);
      bytes[at] += graph.bytes(rank)[edge];
      messages[at] += graph.has_messages() ? graph.messages(rank)[edge] : graph.default_messages();
    }
  }
  Table per_byte(entries), per_message(entries);
  const Distance any = make_distance(problem.topology, problem.model);
  std::visit(
      [&](const auto& distance) {
        for (std::size_t at = 0; at < entries; ++at) {
          const PairCost pair = distance(core_of_seat_[at / size_], core_of_seat_[at % size_]);
          per_byte[at] = pair.per_byte;
          per_message[at] = pair.per_message;
        }
      },
      any);
  // What a rank sends to itself is no part of the quality.
  if (problem.model != CostModel::quality) {
    linear_.assign(entries, 0.0);
    for (std::size_t item = 0; item < size_; ++item) {
      for (std::size_t seat = 0; seat < size_; ++seat) {
        const std::size_t self = item * size_ + item, here = seat * size_ + seat;
        linear_[item * size_ + seat] = bytes[self] * per_byte[here] + messages[self] * per_message[here];
      }
    }
    if (std::all_of(linear_.begin(), linear_.end(), [](double cost) { return cost == 0; })) linear_.clear();
  }
  for (std::size_t at = 0; at < entries; at += size_ + std::size_t{1}) {
    bytes[at] = messages[at] = 0;
    per_byte[at] = per_message[at] = 0;
  }
  add_layer(bytes, per_byte);
  if (std::any_of(per_message.begin(), per_message.end(), [](double cost) { return cost != 0; })) {
    add_layer(messages, per_message);
  }
  find_kinds();
  measure();
}

/// One product of traffic and distance. When either is symmetric, the other can be made so.
void AssignmentTables::add_layer(const Table& flow, const Table& way) {
  const Table flow_back = transposed(flow, size_);
  const Table way_back = transposed(way, size_);
  if (way == way_back) {
    terms_.push_back({sum(flow, flow_back), way});
    between_.push_back({terms_.back().flow, sum(way, way)});
  } else if (flow == flow_back) {
    terms_.push_back({flow, sum(way, way_back)});
    between_.push_back({flow, sum(terms_.back().way, terms_.back().way)});
  } else {
    terms_.push_back({flow_back, way_back});
    terms_.push_back({flow, way});
    between_.push_back({sum(flow, flow_back), sum(way, way_back)});
  }
}

void AssignmentTables::find_kinds() {
  const auto kinds = [&](const auto& same) {
    std::vector<std::uint32_t> kind(size_), first;
    for (std::uint32_t one = 0; one < size_; ++one) {
      const auto like = std::find_if(first.begin(), first.end(), [&](std::uint32_t other) { return same(one, other); });
      kind[one] = static_cast<std::uint32_t>(like - first.begin());
      if (like == first.end()) first.push_back(one);
    }
    return kind;
  };
  item_kind_ = kinds([&](std::uint32_t a, std::uint32_t b) {
    for (std::uint32_t seat = 0; seat < (linear_.empty() ? 0 : size_); ++seat) {
      if (linear_[std::size_t{a} * size_ + seat] != linear_[std::size_t{b} * size_ + seat]) return false;
    }
    return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) { return alike(term.flow, size_, a, b); });
  });
  seat_kind_ = kinds([&](std::uint32_t a, std::uint32_t b) {
    for (std::uint32_t item = 0; item < (linear_.empty() ? 0 : size_); ++item) {
      if (linear_[std::size_t{item} * size_ + a] != linear_[std::size_t{item} * size_ + b]) return false;
    }
    return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) { return alike(term.way, size_, a, b); });
  });
}

void AssignmentTables::measure() {
  const auto is_whole = [](double value) { return value == std::floor(value); };
  for (const Term& term : terms_) {
    whole_ = whole_ && std::all_of(term.flow.begin(), term.flow.end(), is_whole) &&
             std::all_of(term.way.begin(), term.way.end(), is_whole);
    double farthest = 0, busiest = 0;
    for (const double way : term.way) farthest = std::max(farthest, std::abs(way));
    for (std::size_t item = 0; item < size_; ++item) {
      double traffic = 0;
      for (std::size_t other = 0; other < size_; ++other) traffic += std::abs(term.flow[item * size_ + other]);
      busiest = std::max(busiest, traffic);
    }
    largest_change_ += 8 * busiest * farthest;
  }
  whole_ = whole_ && std::all_of(linear_.begin(), linear_.end(), is_whole);
  for (const double cost : linear_) largest_change_ = std::max(largest_change_, 8 * std::abs(cost));
}

std::vector<std::uint32_t> AssignmentTables::items_on_seats(std::span<const Core> core_of) const {
  std::vector<std::uint32_t> next_seat(index(core_of_seat_.back()) + std::size_t{1}, 0);
  for (std::uint32_t seat = size_; seat-- > 0;) next_seat[index(core_of_seat_[seat])] = seat;
  constexpr std::uint32_t nobody = ~std::uint32_t{0};
  std::vector<std::uint32_t> item_on_seat(size_, nobody);
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) item_on_seat[next_seat[index(core_of[rank])]++] = rank;
  std::uint32_t empty = ranks_;
  for (std::uint32_t& item : item_on_seat) {
    if (item == nobody) item = empty++;
  }
  return item_on_seat;
}

std::vector<Core> AssignmentTables::placement(std::span<const std::uint32_t> item_on_seat) const {
  std::vector<Core> core_of(ranks_);
  for (std::uint32_t seat = 0; seat < size_; ++seat) {
    if (item_on_seat[seat] < ranks_) core_of[item_on_seat[seat]] = core_of_seat_[seat];
  }
  return core_of;
}

double AssignmentTables::cost(std::span<const std::uint32_t> item_on_seat) const {
  double total = 0;
  for (const Term& term : terms_) {
    for (std::uint32_t p = 0; p < size_; ++p) {
      const double* const flow = term.flow.data() + std::size_t{item_on_seat[p]} * size_;
      const double* const way = term.way.data() + std::size_t{p} * size_;
      double row = 0;
      for (std::uint32_t q = 0; q < size_; ++q) row += flow[item_on_seat[q]] * way[q];
      total += row / 2;  // every unordered pair twice, or every ordered pair in a term and in its mirror image
    }
  }
  for (std::uint32_t seat = 0; seat < size_ && !linear_.empty(); ++seat) {
    total += linear_[std::size_t{item_on_seat[seat]} * size_ + seat];
  }
  return total;
}

}  // namespace rankloom
