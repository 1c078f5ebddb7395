// SPDX-License-Identifier: Apache-2.0
// map/metaheuristics: robust tabu search for the QAP (Taillard 1991).
#include "rankloom/map/metaheuristics/tabu_search.hpp"

#include <algorithm>
#include <cmath>

namespace rankloom {
namespace {

/// The tabu tenure: how many iterations a location stays tabu for the facility that left it, relative to the number of
/// locations (Taillard 1991).
constexpr double min_tenure = 0.9;
constexpr double max_tenure = 1.1;
/// Rounding errors accumulate in matrices of doubles: they are recomputed after this many iterations.
constexpr std::uint64_t iterations_between_recomputations = 1 << 13;
constexpr double relative_tolerance = 1e-12;

/// Unsigned integers for arithmetic that may overflow: entries outside the upper triangle are undefined.
template <class Number>
struct Wrapping {
  using type = Number;
};
template <>
struct Wrapping<std::int32_t> {
  using type = std::uint32_t;
};

/// A SIMD vector in a register, and the same in memory, which need not be aligned.
template <class T, std::size_t count>
struct LanesOf {
  typedef T type __attribute__((vector_size(count * sizeof(T))));
  typedef T in_memory __attribute__((vector_size(count * sizeof(T)), aligned(alignof(T)), may_alias));
};

template <class Lanes, class T>
Lanes load(const T* from) {
  constexpr std::size_t count = sizeof(Lanes) / sizeof(T);
  return Lanes(*reinterpret_cast<const typename LanesOf<T, count>::in_memory*>(from));
}

template <class Lanes, class T>
void store(T* to, Lanes lanes) {
  constexpr std::size_t count = sizeof(Lanes) / sizeof(T);
  using InMemory = typename LanesOf<T, count>::in_memory;
  *reinterpret_cast<InMemory*>(to) = InMemory(lanes);
}

}  // namespace

template <class Number>
TabuSearch<Number>::TabuSearch(const QapInstance& instance)
    : instance_(&instance), size_(instance.size()), stride_((size_ + lanes - 1) / lanes * lanes) {
  for (const QapInstance::Term& term : instance.terms()) {
    const std::vector<Number> zeros(stride_, Number{0});
    terms_.push_back({padded(term.flow), padded(term.distance), zeros, zeros, zeros});
  }
  for (const QapInstance::PairTerm& pair : instance.pair_terms()) {
    pair_terms_.push_back({padded(pair.flow), padded(pair.distance)});
  }
  cost_at_.resize(size_ * stride_);
  delta_.resize(size_ * stride_);
  tabu_until_.resize(size_ * stride_);
  stamp_.resize(size_ * stride_);
  current_cost_.resize(stride_);
  row_.resize(stride_);
  min_free_.resize(size_ * lanes);
  min_any_.resize(size_ * lanes);
}

template <class Number>
std::vector<Number> TabuSearch<Number>::padded(std::span<const double> table) const {
  std::vector<Number> rows(size_ * stride_, Number{0});
  for (std::size_t row = 0; row < size_; ++row) {
    for (std::size_t column = 0; column < size_; ++column) {
      rows[row * stride_ + column] = static_cast<Number>(table[row * size_ + column]);
    }
  }
  return rows;
}

template <class Number>
void TabuSearch<Number>::begin(std::span<const std::uint32_t> facility_at) {
  facility_at_.assign(facility_at.begin(), facility_at.end());
  best_ = facility_at_;
  cost_ = best_cost_ = instance_->cost(facility_at_);
  tolerance_ = std::is_integral_v<Number> ? 0 : relative_tolerance * std::abs(cost_);
  compute_all();
  clear_tabu_list();
  update_deltas();
}

/// Computes cost_at_, current_cost_ and delta_ from the assignment alone.
template <class Number>
void TabuSearch<Number>::compute_all() {
  std::fill(cost_at_.begin(), cost_at_.end(), Number{0});
  if (!instance_->linear().empty()) cost_at_ = padded(instance_->linear());
  for (Term& term : terms_) {
    for (std::uint32_t location = 0; location < size_; ++location) {
      add_product({term.flow.data() + facility_at_[location] * stride_, stride_},
                  {term.distance.data() + location * stride_, stride_});
    }
    std::fill(term.flow_shift.begin(), term.flow_shift.end(), Number{0});
    std::fill(term.distance_shift.begin(), term.distance_shift.end(), Number{0});
  }
  for (std::uint32_t location = 0; location < size_; ++location)
    current_cost_[location] = cost_at_[facility_at_[location] * stride_ + location];
  for (std::uint32_t location = 0; location < size_; ++location) recompute_row(location);
}

template <class Number>
void TabuSearch<Number>::clear_tabu_list() {
  now_ = 1;
  std::fill(tabu_until_.begin(), tabu_until_.end(), Stamp{0});
  std::fill(stamp_.begin(), stamp_.end(), never);
  for (std::uint32_t location = 0; location < size_; ++location) update_tabu_row(location);
}

/// Updates when the swaps of this location will be allowed.
template <class Number>
void TabuSearch<Number>::update_tabu_row(std::uint32_t location) {
  const std::uint32_t facility = facility_at_[location];
  const std::uint32_t* const facility_class = instance_->facility_class().data();
  const std::uint32_t* const location_class = instance_->location_class().data();
  const std::uint32_t own_facility_class = facility_class[facility], own_location_class = location_class[location];
  const Stamp* const own_tabu_until = tabu_until_.data() + facility * stride_;
  const auto until = [&](std::uint32_t other) {
    const std::uint32_t other_facility = facility_at_[other];
    const bool forbidden =
        facility_class[other_facility] == own_facility_class || location_class[other] == own_location_class;
    return forbidden ? never : std::min(own_tabu_until[other], tabu_until_[other_facility * stride_ + location]);
  };
  for (std::uint32_t other = 0; other < location; ++other) stamp_[other * stride_ + location] = until(other);
  for (std::uint32_t other = location + 1; other < size_; ++other) stamp_[location * stride_ + other] = until(other);
}

/// Recomputes the deltas of all swaps of this location: the costs of both facilities at their new locations minus those
/// at their current ones, corrected by the traffic between the two. update_deltas() follows and adds the effect of the
/// last swap to all rows, so this function subtracts it.
template <class Number>
void TabuSearch<Number>::recompute_row(std::uint32_t location) {
  using Wrapped = typename Wrapping<Number>::type;
  const std::size_t stride = stride_, size = size_;
  const std::uint32_t* const facility_at = facility_at_.data();
  const std::size_t facility = facility_at[location] * stride;
  Number* const row = row_.data();
  const Number* const own_cost_at = cost_at_.data() + facility;
  const Number* const other_cost_at = cost_at_.data() + location;
  const Number* const current_cost = current_cost_.data();
  const Number own_current_cost = current_cost[location];
  for (std::size_t at = 0; at < size; ++at)
    row[at] = own_cost_at[at] - own_current_cost - current_cost[at] + other_cost_at[facility_at[at] * stride];
  for (const PairTerm& pair : pair_terms_) {
    const Number* const flow = pair.flow.data() + facility;
    const Number* const distance = pair.distance.data() + location * stride;
    for (std::size_t at = 0; at < size; ++at) row[at] += flow[facility_at[at]] * distance[at];
  }
  for (const Term& term : terms_) {
    const Number* const flow = term.flow_shift.data();
    const Number* const distance = term.distance_shift.data();
    const Number own_flow = flow[location], own_distance = distance[location];
    for (std::size_t at = 0; at < size; ++at) {
      row[at] =
          static_cast<Number>(static_cast<Wrapped>(row[at]) - static_cast<Wrapped>(own_flow - flow[at]) *
                                                                  static_cast<Wrapped>(own_distance - distance[at]));
    }
  }
  Number* const column = delta_.data() + location;
  for (std::size_t other = 0; other < location; ++other) column[other * stride] = row[other];
  std::copy(row + location + 1, row + size, column + location * stride + 1);
}

/// cost_at_[i][p] += by_facility[i] x by_location[p].
template <class Number>
void TabuSearch<Number>::add_product(std::span<const Number> by_facility, std::span<const Number> by_location) {
  using Wrapped = typename Wrapping<Number>::type;
  using Row = typename LanesOf<Wrapped, lanes>::type;
  const std::size_t stride = stride_;
  for (std::uint32_t facility = 0; facility < size_; ++facility) {
    if (by_facility[facility] == 0) continue;
    const auto factor = static_cast<Wrapped>(by_facility[facility]);
    Number* const row = cost_at_.data() + facility * stride;
    for (std::size_t at = 0; at < stride; at += lanes) {
      store(row + at, load<Row>(row + at) + factor * load<Row>(by_location.data() + at));
    }
  }
}

/// Called before the facilities x at `location` and y at `other` are swapped. In the delta of a swap of two further
/// locations u and v, each term contains (flow[u][x] - flow[v][x]) (distance[v][location] - distance[u][location]) and
/// the same with y and `other`; with x and y swapped it grows by
/// (flow_shift[u] - flow_shift[v]) (distance_shift[u] - distance_shift[v]).
template <class Number>
void TabuSearch<Number>::prepare_swap(std::uint32_t location, std::uint32_t other) {
  for (Term& term : terms_) {
    const Number* const flow_x = term.flow.data() + facility_at_[location] * stride_;
    const Number* const flow_y = term.flow.data() + facility_at_[other] * stride_;
    const Number* const distance_x = term.distance.data() + location * stride_;
    const Number* const distance_y = term.distance.data() + other * stride_;
    for (std::size_t at = 0; at < stride_; ++at) term.flow_difference[at] = flow_y[at] - flow_x[at];
    for (std::size_t at = 0; at < stride_; ++at) term.distance_shift[at] = distance_x[at] - distance_y[at];
    for (std::uint32_t at = 0; at < size_; ++at) term.flow_shift[at] = -term.flow_difference[facility_at_[at]];
    add_product(term.flow_difference, term.distance_shift);
    for (std::size_t at = 0; at < stride_; ++at) current_cost_[at] -= term.flow_shift[at] * term.distance_shift[at];
  }
}

template <class Number>
void TabuSearch<Number>::update_deltas_of_all_but_last_term() {
  using Wrapped = typename Wrapping<Number>::type;
  using Row = typename LanesOf<Wrapped, lanes>::type;
  for (std::size_t term = 0; term + 1 < terms_.size(); ++term) {
    const Number* const flow = terms_[term].flow_shift.data();
    const Number* const distance = terms_[term].distance_shift.data();
    for (std::uint32_t location = 0; location < size_; ++location) {
      Number* const row = delta_.data() + location * stride_;
      const auto own_flow = static_cast<Wrapped>(flow[location]),
                 own_distance = static_cast<Wrapped>(distance[location]);
      for (std::size_t at = (location + 1) / lanes * lanes; at < stride_; at += lanes) {
        store(row + at,
              load<Row>(row + at) + (own_flow - load<Row>(flow + at)) * (own_distance - load<Row>(distance + at)));
      }
    }
  }
}

/// Adds the effect of the last swap to all deltas and finds the minimum deltas.
template <class Number>
void TabuSearch<Number>::update_deltas() {
  using Wrapped = typename Wrapping<Number>::type;
  using Row = typename LanesOf<Wrapped, lanes>::type;
  using Signed = typename LanesOf<Number, lanes>::type;
  using Stamps = typename LanesOf<Stamp, lanes>::type;
  update_deltas_of_all_but_last_term();
  const Number* const flow = terms_.back().flow_shift.data();
  const Number* const distance = terms_.back().distance_shift.data();
  const Signed infinity = std::numeric_limits<Number>::max() - Signed{};
  const Stamp now = now_;
  const std::size_t stride = stride_;
  Signed min_free_overall = infinity, min_any_overall = infinity;
  for (std::uint32_t location = 0; location < size_; ++location) {
    Number* const row = delta_.data() + location * stride;
    const Stamp* const stamps = stamp_.data() + location * stride;
    const auto own_flow = static_cast<Wrapped>(flow[location]), own_distance = static_cast<Wrapped>(distance[location]);
    Signed min_free = infinity, min_any = infinity;
    for (std::size_t at = (location + 1) / lanes * lanes; at < stride; at += lanes) {
      const Row shifted =
          load<Row>(row + at) + (own_flow - load<Row>(flow + at)) * (own_distance - load<Row>(distance + at));
      store(row + at, shifted);
      const auto delta = Signed(shifted);
      const Stamps stamp = load<Stamps>(stamps + at);
      const Signed free = stamp <= now ? delta : infinity;
      const Signed any = stamp != never ? delta : infinity;
      min_free = free < min_free ? free : min_free;
      min_any = any < min_any ? any : min_any;
    }
    store(min_free_.data() + location * lanes, min_free);
    store(min_any_.data() + location * lanes, min_any);
    min_free_overall = min_free < min_free_overall ? min_free : min_free_overall;
    min_any_overall = min_any < min_any_overall ? min_any : min_any_overall;
  }
  min_free_overall_ = min_free_overall[0];
  min_any_overall_ = min_any_overall[0];
  for (std::size_t lane = 1; lane < lanes; ++lane) {
    min_free_overall_ = std::min<Number>(min_free_overall_, min_free_overall[lane]);
    min_any_overall_ = std::min<Number>(min_any_overall_, min_any_overall[lane]);
  }
}

template <class Number>
typename TabuSearch<Number>::Swap TabuSearch<Number>::choose_swap(Random& random) const {
  constexpr Number none = std::numeric_limits<Number>::max();
  const Number any = min_any_overall_;
  if (any == none) return {0, 0, 0, false};
  const bool new_best = cost_ + static_cast<double>(any) < best_cost_ - tolerance_;
  if (new_best || min_free_overall_ == none) return pick_minimum(min_any_, any, never - 1, random);
  return pick_minimum(min_free_, min_free_overall_, now_, random);
}

/// A random one of the swaps with this delta.
template <class Number>
typename TabuSearch<Number>::Swap TabuSearch<Number>::pick_minimum(const std::vector<Number>& min_in_row,
                                                                   Number minimum, Stamp latest, Random& random) const {
  std::uint32_t rows = 0, location = 0;
  for (std::uint32_t row = 0; row < size_; ++row) {
    bool contains_minimum = false;
    for (std::size_t lane = 0; lane < lanes; ++lane) contains_minimum |= min_in_row[row * lanes + lane] == minimum;
    if (contains_minimum && (++rows == 1 || random.below(rows) == 0)) location = row;
  }
  std::uint32_t others = 0, other = location;
  for (std::uint32_t at = location + 1; at < size_; ++at) {
    const std::size_t entry = location * stride_ + at;
    if (delta_[entry] == minimum && stamp_[entry] <= latest && (++others == 1 || random.below(others) == 0)) other = at;
  }
  return {location, other, minimum, true};
}

template <class Number>
void TabuSearch<Number>::apply(const Swap& swap, Random& random) {
  const auto [location, other, delta, found] = swap;
  prepare_swap(location, other);
  const auto shortest_tenure = static_cast<std::uint64_t>(min_tenure * size_);
  const auto spread = static_cast<std::uint64_t>((max_tenure - min_tenure) * size_) + 1;
  ++now_;
  for (const std::uint32_t vacated : {location, other}) {
    tabu_until_[facility_at_[vacated] * stride_ + vacated] =
        now_ + static_cast<Stamp>(shortest_tenure + random.below(spread));
  }
  std::swap(facility_at_[location], facility_at_[other]);
  cost_ += static_cast<double>(delta);
  for (const std::uint32_t moved : {location, other})
    current_cost_[moved] = cost_at_[facility_at_[moved] * stride_ + moved];
  for (const std::uint32_t moved : {location, other}) {
    recompute_row(moved);
    update_tabu_row(moved);
  }
  update_deltas();
}

template <class Number>
std::uint64_t TabuSearch<Number>::run(std::uint64_t iterations, std::uint64_t patience, Random& random,
                                      StopCondition& stop_condition) {
  std::uint64_t last_gain = 0;
  std::uint64_t step = 0;
  double minimum = std::numeric_limits<double>::infinity();
  while (step < iterations && step - last_gain < patience && !stop_condition.should_stop()) {
    const Swap swap = choose_swap(random);
    if (!swap.found) return iterations;  // no swap can change the cost
    apply(swap, random);
    ++step;
    if (!std::is_integral_v<Number> && step % iterations_between_recomputations == 0) {
      compute_all();
      cost_ = instance_->cost(facility_at_);
      update_deltas();
    }
    if (cost_ < minimum - tolerance_) {
      minimum = cost_;
      last_gain = step;
    }
    if (cost_ < best_cost_ - tolerance_) {
      best_cost_ = cost_;
      best_ = facility_at_;
    }
  }
  return step;
}

template <class Number>
double TabuSearch<Number>::delta(std::uint32_t location, std::uint32_t other) const {
  return static_cast<double>(delta_[std::min(location, other) * stride_ + std::max(location, other)]);
}

template class TabuSearch<std::int32_t>;
template class TabuSearch<double>;

}  // namespace rankloom
