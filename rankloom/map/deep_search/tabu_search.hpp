// SPDX-License-Identifier: Apache-2.0
// map/deep_search: robust tabu search (Taillard 1991) on assignment tables, with every exchange's change of cost kept
// up to date in vector registers.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "rankloom/core/random.hpp"
#include "rankloom/map/deep_search/assignment_tables.hpp"
#include "rankloom/map/pulse.hpp"

namespace rankloom {

/// Each step takes the best exchange of two items that does not bring both back to seats which they left a short,
/// random while ago, even if the cost rises; an exchange that leads below the best so far is always allowed. Exchanges
/// that cannot change the cost (of seats or of items of one kind) are never made.
///
/// Number is std::int32_t where every change of cost fits and all numbers are whole (then all is exact), else double.
/// A step costs O(size^2): one product for each pair of seats, one for each item and seat. Taillard computes the 2 x
/// size exchanges of the two moved items afresh in O(size) each, which is four times the work of all others; here
/// alone_[i][s], what item i would cost on seat s, is kept up to date too, and they follow from it in O(1) each.
template <class Number>
class TabuSearch {
 public:
  /// The tables must outlive it.
  explicit TabuSearch(const AssignmentTables& tables);

  /// Forgets what was tabu and starts from here.
  void begin(std::span<const std::uint32_t> item_on_seat);
  /// Takes up to `steps` steps, but ends as soon as `patience` steps have found nothing better than the best of this
  /// run. Returns the number of steps made.
  std::uint64_t run(std::uint64_t steps, std::uint64_t patience, Random& random, Pulse& pulse);
  /// The best since begin().
  const std::vector<std::uint32_t>& best() const { return best_; }
  double best_cost() const { return best_cost_; }

  /// For tests: where it stands, and what an exchange of two seats would change there.
  std::span<const std::uint32_t> current() const { return item_on_; }
  double current_cost() const { return cost_; }
  double change(std::uint32_t seat, std::uint32_t other) const;

 private:
  using Stamp = std::conditional_t<sizeof(Number) == 4, std::int32_t, std::int64_t>;
  static constexpr Stamp never = std::numeric_limits<Stamp>::max();
  static constexpr std::size_t lanes = 16 / sizeof(Number);  // of one vector register

  struct Term {
    std::vector<Number> flow, way;  // as AssignmentTables::Term, rows padded to stride_
    std::vector<Number> parting;    // by item: its flow with the one of the two that move, less that with the other
    std::vector<Number> flow_shift, way_shift;  // by seat
  };
  struct Between {
    std::vector<Number> flow, way;
  };
  struct Exchange {
    std::uint32_t seat, other;  // seat < other
    Number change;
    bool found;
  };

  std::vector<Number> padded(std::span<const double> table) const;
  void compute_all();
  void clear_stamps();
  void restamp(std::uint32_t seat);
  void renew(std::uint32_t seat);
  void add_product(std::span<const Number> by_item, std::span<const Number> by_seat);
  void prepare(std::uint32_t seat, std::uint32_t other);
  void shift_all_but_last_term();
  void scan();
  Exchange choose(Random& random) const;
  Exchange pick(const std::vector<Number>& least_in_row, Number least, Stamp latest, Random& random) const;
  void apply(const Exchange& exchange, Random& random);

  const AssignmentTables* tables_;
  std::uint32_t size_;
  std::size_t stride_;
  std::vector<Term> terms_;
  std::vector<Between> between_;
  std::vector<std::uint32_t> item_on_;
  std::vector<Number> alone_;      // item x seat
  std::vector<Number> home_;       // by seat: alone_ of the item that sits there
  std::vector<Number> row_;        // by seat: room for the changes of one row
  std::vector<Number> change_;     // seat x seat, where seat < other; the rest holds nothing of use
  std::vector<Stamp> tabu_until_;  // item x seat
  std::vector<Stamp> stamp_;       // seat x seat: the exchange is tabu before this step; never: it is barred
  // By seat, `lanes` numbers: the least changes in its row, of those not tabu and of all, by lane; and of all rows.
  std::vector<Number> least_free_, least_any_;
  Number least_free_of_all_ = 0, least_any_of_all_ = 0;
  Stamp now_ = 0;
  double cost_ = 0, best_cost_ = 0, tolerance_ = 0;
  std::vector<std::uint32_t> best_;
};

extern template class TabuSearch<std::int32_t>;
extern template class TabuSearch<double>;

}  // namespace rankloom
