// SPDX-License-Identifier: Apache-2.0
// map/metaheuristics: robust tabu search for the QAP (Taillard 1991). The cost change of every swap is kept in a matrix
// that is updated with SIMD instructions.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "rankloom/core/random.hpp"
#include "rankloom/map/metaheuristics/qap_instance.hpp"
#include "rankloom/map/stop_condition.hpp"

namespace rankloom {

/// Each iteration makes the best swap of two facilities that is not tabu, even if the cost rises. A swap is tabu if it
/// returns both facilities to locations which they left a short, random number of iterations ago; a swap that leads to
/// a new best cost is always allowed (aspiration). Swaps that cannot change the cost (within a class of facilities or
/// locations) are never made.
///
/// Number is std::int32_t if all entries are integers and every change of cost fits (then all results are exact),
/// otherwise double. An iteration takes O(size^2): one product for each pair of locations, one for each facility and
/// location. Taillard recomputes the 2 x size swaps of the two moved facilities in O(size) each, which is four times
/// the work of all others. Here cost_at_[i][p], the cost of facility i at location p, is kept up to date too, and those
/// swaps follow from it in O(1) each.
template <class Number>
class TabuSearch {
 public:
  /// The instance must outlive the search.
  explicit TabuSearch(const QapInstance& instance);

  /// Clears the tabu list and starts from this assignment.
  void begin(std::span<const std::uint32_t> facility_at);
  /// Runs up to `iterations` iterations; ends earlier after `patience` iterations without a new best cost of this run.
  /// Returns the number of iterations.
  std::uint64_t run(std::uint64_t iterations, std::uint64_t patience, Random& random, StopCondition& stop_condition);
  /// The best assignment since begin().
  const std::vector<std::uint32_t>& best() const { return best_; }
  double best_cost() const { return best_cost_; }

  /// For tests: the current assignment, and the change of cost if the facilities of two locations are swapped.
  std::span<const std::uint32_t> current() const { return facility_at_; }
  double current_cost() const { return cost_; }
  double delta(std::uint32_t location, std::uint32_t other) const;

 private:
  using Stamp = std::conditional_t<sizeof(Number) == 4, std::int32_t, std::int64_t>;
  static constexpr Stamp never = std::numeric_limits<Stamp>::max();
  static constexpr std::size_t lanes = 16 / sizeof(Number);  // of one SIMD register

  struct Term {
    std::vector<Number> flow, distance;   // as in QapInstance::Term, rows padded to stride_
    std::vector<Number> flow_difference;  // by facility: its flow with one of the two moving facilities minus the other
    std::vector<Number> flow_shift, distance_shift;  // by location
  };
  struct PairTerm {
    std::vector<Number> flow, distance;
  };
  struct Swap {
    std::uint32_t location, other;  // location < other
    Number delta;
    bool found;
  };

  std::vector<Number> padded(std::span<const double> table) const;
  void compute_all();
  void clear_tabu_list();
  void update_tabu_row(std::uint32_t location);
  void recompute_row(std::uint32_t location);
  void add_product(std::span<const Number> by_facility, std::span<const Number> by_location);
  void prepare_swap(std::uint32_t location, std::uint32_t other);
  void update_deltas_of_all_but_last_term();
  void update_deltas();
  Swap choose_swap(Random& random) const;
  Swap pick_minimum(const std::vector<Number>& min_in_row, Number minimum, Stamp latest, Random& random) const;
  void apply(const Swap& swap, Random& random);

  const QapInstance* instance_;
  std::uint32_t size_;
  std::size_t stride_;
  std::vector<Term> terms_;
  std::vector<PairTerm> pair_terms_;
  std::vector<std::uint32_t> facility_at_;
  std::vector<Number> cost_at_;       // facility x location
  std::vector<Number> current_cost_;  // by location: cost_at_ of its facility
  std::vector<Number> row_;           // by location: scratch memory for one row of deltas
  std::vector<Number> delta_;         // location x location, upper triangle; the rest is undefined
  std::vector<Stamp> tabu_until_;     // facility x location
  std::vector<Stamp> stamp_;          // location x location: the swap is tabu before this iteration; never: forbidden
  // By location, `lanes` numbers: the minimum deltas of its row, of swaps that are not tabu and of all swaps; then the
  // minima over all rows.
  std::vector<Number> min_free_, min_any_;
  Number min_free_overall_ = 0, min_any_overall_ = 0;
  Stamp now_ = 0;
  double cost_ = 0, best_cost_ = 0, tolerance_ = 0;
  std::vector<std::uint32_t> best_;
};

extern template class TabuSearch<std::int32_t>;
extern template class TabuSearch<double>;

}  // namespace rankloom
