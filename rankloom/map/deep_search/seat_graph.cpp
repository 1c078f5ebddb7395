// SPDX-License-Identifier: Apache-2.0
// map/deep_search: a problem with few partners for each rank, as annealing wants it.
#include "rankloom/map/deep_search/seat_graph.hpp"

#include <algorithm>
#include <cassert>

#include "rankloom/map/senders.hpp"

namespace rankloom {

bool SeatGraph::fits(const MapProblem& problem) {
  // The cost of a table's diagonal, for ranks that send to themselves, is left to the assignment tables.
  if (problem.model == CostModel::congestion || problem.topology.is_matrix()) return false;
  std::uint64_t seats = 0;
  for (const Core core : problem.topology.cores()) {
    seats += std::min(problem.capacities[core], problem.graph.rank_count());
    if (seats > most_seats) return false;
  }
  return problem.topology.symmetric();
}

SeatGraph::SeatGraph(const MapProblem& problem) : ranks_(problem.graph.rank_count()) {
  assert(fits(problem));
  for (const Core core : problem.topology.cores()) {
    core_of_seat_.insert(core_of_seat_.end(), std::min(problem.capacities[core], ranks_), core);
  }
  find_regions(problem.topology);
  collect_edges(problem.graph);
}

void SeatGraph::find_regions(const Topology& topology) {
  for (std::size_t level = 0; level < topology.levels().size(); ++level) {
    if (topology.levels()[level].is_private()) continue;
    std::vector<Region> regions(seats());
    bool single = true;
    for (std::uint32_t begin = 0, end = 0; begin < seats(); begin = end) {
      const std::uint32_t object = topology.object_of(level, core_of_seat_[begin]);
      while (end < seats() && topology.object_of(level, core_of_seat_[end]) == object) ++end;
      std::fill(regions.begin() + begin, regions.begin() + end, Region{begin, end});
      single = single && end - begin == 1;
    }
    if (!single) regions_.push_back(std::move(regions));
  }
}

void SeatGraph::collect_edges(const CommGraph& graph) {
  const Senders senders(graph);
  offsets_.assign(seats() + std::size_t{1}, 0);
  std::vector<Edge> partners;
  for (const Rank rank : graph.ranks()) {
    partners.clear();
    for (std::size_t edge = 0; edge < graph.degree(rank); ++edge) {
      const double messages = graph.has_messages() ? graph.messages(rank)[edge] : graph.default_messages();
      partners.push_back({index(graph.targets(rank)[edge]), graph.bytes(rank)[edge], messages});
    }
    for (const Senders::Entry& sender : senders[rank]) {
      partners.push_back({index(sender.from), sender.bytes, sender.messages});
    }
    std::stable_sort(partners.begin(), partners.end(), [](const Edge& a, const Edge& b) { return a.to < b.to; });
    const std::size_t first = edges_.size();
    for (const Edge& edge : partners) {
      if (edge.to == index(rank)) continue;
      if (edges_.size() > first && edges_.back().to == edge.to) {
        edges_.back().bytes += edge.bytes;
        edges_.back().messages += edge.messages;
      } else {
        edges_.push_back(edge);
      }
    }
    offsets_[index(rank) + 1] = edges_.size();
  }
  std::fill(offsets_.begin() + ranks_ + 1, offsets_.end(), edges_.size());
}

std::vector<std::uint32_t> SeatGraph::items_on_seats(std::span<const Core> core_of) const {
  std::vector<std::uint32_t> next_seat(index(core_of_seat_.back()) + std::size_t{1}, 0);
  for (std::uint32_t seat = seats(); seat-- > 0;) next_seat[index(core_of_seat_[seat])] = seat;
  constexpr std::uint32_t nobody = ~std::uint32_t{0};
  std::vector<std::uint32_t> item_on_seat(seats(), nobody);
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) item_on_seat[next_seat[index(core_of[rank])]++] = rank;
  std::uint32_t empty = ranks_;
  for (std::uint32_t& item : item_on_seat) {
    if (item == nobody) item = empty++;
  }
  return item_on_seat;
}

std::vector<Core> SeatGraph::placement(std::span<const std::uint32_t> item_on_seat) const {
  std::vector<Core> core_of(ranks_);
  for (std::uint32_t seat = 0; seat < seats(); ++seat) {
    if (item_on_seat[seat] < ranks_) core_of[item_on_seat[seat]] = core_of_seat_[seat];
  }
  return core_of;
}

}  // namespace rankloom
