// SPDX-License-Identifier: Apache-2.0
// map/deep_search: a small problem written out as a quadratic assignment problem: who gets which seat?
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// As many *items* as *seats*. Seats are the capacities of the cores, at most one for each rank on a core; items are the
/// ranks and, after them, one empty item for each seat that stays free. The cost of a placement is the sum of the
/// linear entries and, over all terms, of flow[i][j] x way[seat of i][seat of j] for each ordered pair (a term and its
/// mirror image cover both orders) or unordered pair (a term that is its own mirror image).
class AssignmentTables {
 public:
  /// Seats x seats numbers of 8 bytes, a few times over.
  static constexpr std::uint64_t most_seats = 1024;
  /// Every model but congestion, up to most_seats.
  static bool fit(const MapProblem& problem);

  explicit AssignmentTables(const MapProblem& problem);

  /// Row x of `flow` is what every item has with item x, row s of `way` how far every seat is from seat s.
  struct Term {
    std::vector<double> flow, way;
  };
  /// For the exchange of two items, what they have with each other: both directions of the flow and of the way.
  struct Between {
    std::vector<double> flow, way;
  };

  std::uint32_t size() const { return size_; }
  std::uint32_t ranks() const { return ranks_; }
  std::span<const Term> terms() const { return terms_; }
  std::span<const Between> between() const { return between_; }
  /// What an item costs on a seat whoever sits elsewhere: traffic with itself. Empty: nothing.
  std::span<const double> linear() const { return linear_; }
  /// Items (seats) of one kind can be exchanged without any change of the cost.
  std::span<const std::uint32_t> item_kind() const { return item_kind_; }
  std::span<const std::uint32_t> seat_kind() const { return seat_kind_; }
  /// All numbers are whole.
  bool whole() const { return whole_; }
  /// No change of cost by one exchange, and no entry of a search's tables, is larger.
  double largest_change() const { return largest_change_; }

  /// Which item sits on each seat, from a valid placement, and back.
  std::vector<std::uint32_t> items_on_seats(std::span<const Core> core_of) const;
  std::vector<Core> placement(std::span<const std::uint32_t> item_on_seat) const;
  double cost(std::span<const std::uint32_t> item_on_seat) const;

 private:
  void add_layer(const std::vector<double>& flow, const std::vector<double>& way);
  void find_kinds();
  void measure();

  std::uint32_t ranks_, size_ = 0;
  std::vector<Core> core_of_seat_;
  std::vector<Term> terms_;
  std::vector<Between> between_;
  std::vector<double> linear_;
  std::vector<std::uint32_t> item_kind_, seat_kind_;
  bool whole_ = true;
  double largest_change_ = 0;
};

}  // namespace rankloom
