// SPDX-License-Identifier: Apache-2.0
// map/deep_search: robust tabu search (Taillard 1991) on assignment tables.
#include "rankloom/map/deep_search/tabu_search.hpp"

#include <algorithm>
#include <cmath>

namespace rankloom {
namespace {

/// How many steps a seat stays tabu for the item that left it, relative to the number of seats (Taillard 1991).
constexpr double shortest_tabu = 0.9;
constexpr double longest_tabu = 1.1;
/// Rounding adds up in tables of doubles: computed afresh after so many steps.
constexpr std::uint64_t steps_between_renewals = 1 << 13;
constexpr double relative_tolerance = 1e-12;

/// Wraps around where signed numbers must not: entries outside the triangle in use may hold anything.
template <class Number>
struct Wrapping {
  using type = Number;
};
template <>
struct Wrapping<std::int32_t> {
  using type = std::uint32_t;
};

/// A few numbers side by side, in registers; and as they lie in memory, aligned or not.
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
TabuSearch<Number>::TabuSearch(const AssignmentTables& tables)
    : tables_(&tables), size_(tables.size()), stride_((size_ + lanes - 1) / lanes * lanes) {
  for (const AssignmentTables::Term& term : tables.terms()) {
    const std::vector<Number> none(stride_, Number{0});
    terms_.push_back({padded(term.flow), padded(term.way), none, none, none});
  }
  for (const AssignmentTables::Between& pair : tables.between()) {
    between_.push_back({padded(pair.flow), padded(pair.way)});
  }
  alone_.resize(size_ * stride_);
  change_.resize(size_ * stride_);
  tabu_until_.resize(size_ * stride_);
  stamp_.resize(size_ * stride_);
  home_.resize(stride_);
  row_.resize(stride_);
  least_free_.resize(size_ * lanes);
  least_any_.resize(size_ * lanes);
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
void TabuSearch<Number>::begin(std::span<const std::uint32_t> item_on_seat) {
  item_on_.assign(item_on_seat.begin(), item_on_seat.end());
  best_ = item_on_;
  cost_ = best_cost_ = tables_->cost(item_on_);
  tolerance_ = std::is_integral_v<Number> ? 0 : relative_tolerance * std::abs(cost_);
  compute_all();
  clear_stamps();
  scan();
}

/// alone_, home_ and change_ from nothing but the seats.
template <class Number>
void TabuSearch<Number>::compute_all() {
  std::fill(alone_.begin(), alone_.end(), Number{0});
  if (!tables_->linear().empty()) alone_ = padded(tables_->linear());
  for (Term& term : terms_) {
    for (std::uint32_t seat = 0; seat < size_; ++seat) {
      add_product({term.flow.data() + item_on_[seat] * stride_, stride_}, {term.way.data() + seat * stride_, stride_});
    }
    std::fill(term.flow_shift.begin(), term.flow_shift.end(), Number{0});
    std::fill(term.way_shift.begin(), term.way_shift.end(), Number{0});
  }
  for (std::uint32_t seat = 0; seat < size_; ++seat) home_[seat] = alone_[item_on_[seat] * stride_ + seat];
  for (std::uint32_t seat = 0; seat < size_; ++seat) renew(seat);
}

template <class Number>
void TabuSearch<Number>::clear_stamps() {
  now_ = 1;
  std::fill(tabu_until_.begin(), tabu_until_.end(), Stamp{0});
  std::fill(stamp_.begin(), stamp_.end(), never);
  for (std::uint32_t seat = 0; seat < size_; ++seat) restamp(seat);
}

/// When the exchanges of this seat will be allowed.
template <class Number>
void TabuSearch<Number>::restamp(std::uint32_t seat) {
  const std::uint32_t item = item_on_[seat];
  const std::uint32_t* const item_kind = tables_->item_kind().data();
  const std::uint32_t* const seat_kind = tables_->seat_kind().data();
  const std::uint32_t my_item_kind = item_kind[item], my_seat_kind = seat_kind[seat];
  const Stamp* const mine = tabu_until_.data() + item * stride_;
  const auto until = [&](std::uint32_t other) {
    const std::uint32_t there = item_on_[other];
    const bool barred = item_kind[there] == my_item_kind || seat_kind[other] == my_seat_kind;
    return barred ? never : std::min(mine[other], tabu_until_[there * stride_ + seat]);
  };
  for (std::uint32_t other = 0; other < seat; ++other) stamp_[other * stride_ + seat] = until(other);
  for (std::uint32_t other = seat + 1; other < size_; ++other) stamp_[seat * stride_ + other] = until(other);
}

/// The changes of all exchanges of this seat: both items on the other seat, less both on their own; what the two have
/// with each other is counted wrongly by that and put right. The scan that follows will add to them what the last
/// exchange adds to all others, so that is taken off here.
template <class Number>
void TabuSearch<Number>::renew(std::uint32_t seat) {
  using Wrapped = typename Wrapping<Number>::type;
  const std::size_t stride = stride_, size = size_;
  const std::uint32_t* const item_on = item_on_.data();
  const std::size_t item = item_on[seat] * stride;
  Number* const row = row_.data();
  const Number* const mine = alone_.data() + item;
  const Number* const theirs = alone_.data() + seat;
  const Number* const home = home_.data();
  const Number my_home = home[seat];
  for (std::size_t at = 0; at < size; ++at) row[at] = mine[at] - my_home - home[at] + theirs[item_on[at] * stride];
  for (const Between& pair : between_) {
    const Number* const flow = pair.flow.data() + item;
    const Number* const way = pair.way.data() + seat * stride;
    for (std::size_t at = 0; at < size; ++at) row[at] += flow[item_on[at]] * way[at];
  }
  for (const Term& term : terms_) {
    const Number* const flow = term.flow_shift.data();
    const Number* const way = term.way_shift.data();
    const Number my_flow = flow[seat], my_way = way[seat];
    for (std::size_t at = 0; at < size; ++at) {
      row[at] = static_cast<Number>(static_cast<Wrapped>(row[at]) -
                                    static_cast<Wrapped>(my_flow - flow[at]) * static_cast<Wrapped>(my_way - way[at]));
    }
  }
  Number* const column = change_.data() + seat;
  for (std::size_t other = 0; other < seat; ++other) column[other * stride] = row[other];
  std::copy(row + seat + 1, row + size, column + seat * stride + 1);
}

/// alone_[i][s] += by_item[i] x by_seat[s].
template <class Number>
void TabuSearch<Number>::add_product(std::span<const Number> by_item, std::span<const Number> by_seat) {
  using Wrapped = typename Wrapping<Number>::type;
  using Row = typename LanesOf<Wrapped, lanes>::type;
  const std::size_t stride = stride_;
  for (std::uint32_t item = 0; item < size_; ++item) {
    if (by_item[item] == 0) continue;
    const auto factor = static_cast<Wrapped>(by_item[item]);
    Number* const row = alone_.data() + item * stride;
    for (std::size_t at = 0; at < stride; at += lanes) {
      store(row + at, load<Row>(row + at) + factor * load<Row>(by_seat.data() + at));
    }
  }
}

/// Before the items x on `seat` and y on `other` change places. In the change of cost of an exchange of two further
/// seats u and v, each term has (flow[u][x] - flow[v][x]) (way[v][seat] - way[u][seat]) and the same with y and
/// `other`; with x and y exchanged it grows by (flow_shift[u] - flow_shift[v]) (way_shift[u] - way_shift[v]).
template <class Number>
void TabuSearch<Number>::prepare(std::uint32_t seat, std::uint32_t other) {
  for (Term& term : terms_) {
    const Number* const flow_x = term.flow.data() + item_on_[seat] * stride_;
    const Number* const flow_y = term.flow.data() + item_on_[other] * stride_;
    const Number* const way_x = term.way.data() + seat * stride_;
    const Number* const way_y = term.way.data() + other * stride_;
    for (std::size_t at = 0; at < stride_; ++at) term.parting[at] = flow_y[at] - flow_x[at];
    for (std::size_t at = 0; at < stride_; ++at) term.way_shift[at] = way_x[at] - way_y[at];
    for (std::uint32_t at = 0; at < size_; ++at) term.flow_shift[at] = -term.parting[item_on_[at]];
    add_product(term.parting, term.way_shift);
    for (std::size_t at = 0; at < stride_; ++at) home_[at] -= term.flow_shift[at] * term.way_shift[at];
  }
}

template <class Number>
void TabuSearch<Number>::shift_all_but_last_term() {
  using Wrapped = typename Wrapping<Number>::type;
  using Row = typename LanesOf<Wrapped, lanes>::type;
  for (std::size_t term = 0; term + 1 < terms_.size(); ++term) {
    const Number* const flow = terms_[term].flow_shift.data();
    const Number* const way = terms_[term].way_shift.data();
    for (std::uint32_t seat = 0; seat < size_; ++seat) {
      Number* const row = change_.data() + seat * stride_;
      const auto my_flow = static_cast<Wrapped>(flow[seat]), my_way = static_cast<Wrapped>(way[seat]);
      for (std::size_t at = (seat + 1) / lanes * lanes; at < stride_; at += lanes) {
        store(row + at, load<Row>(row + at) + (my_flow - load<Row>(flow + at)) * (my_way - load<Row>(way + at)));
      }
    }
  }
}

/// Brings the changes up to date and finds the least of them.
template <class Number>
void TabuSearch<Number>::scan() {
  using Wrapped = typename Wrapping<Number>::type;
  using Row = typename LanesOf<Wrapped, lanes>::type;
  using Signed = typename LanesOf<Number, lanes>::type;
  using Stamps = typename LanesOf<Stamp, lanes>::type;
  shift_all_but_last_term();
  const Number* const flow = terms_.back().flow_shift.data();
  const Number* const way = terms_.back().way_shift.data();
  const Signed nothing = std::numeric_limits<Number>::max() - Signed{};
  const Stamp now = now_;
  const std::size_t stride = stride_;
  Signed least_free_of_all = nothing, least_any_of_all = nothing;
  for (std::uint32_t seat = 0; seat < size_; ++seat) {
    Number* const row = change_.data() + seat * stride;
    const Stamp* const stamps = stamp_.data() + seat * stride;
    const auto my_flow = static_cast<Wrapped>(flow[seat]), my_way = static_cast<Wrapped>(way[seat]);
    Signed least_free = nothing, least_any = nothing;
    for (std::size_t at = (seat + 1) / lanes * lanes; at < stride; at += lanes) {
      const Row shifted = load<Row>(row + at) + (my_flow - load<Row>(flow + at)) * (my_way - load<Row>(way + at));
      store(row + at, shifted);
      const auto change = Signed(shifted);
      const Stamps stamp = load<Stamps>(stamps + at);
      const Signed free = stamp <= now ? change : nothing;
      const Signed any = stamp != never ? change : nothing;
      least_free = free < least_free ? free : least_free;
      least_any = any < least_any ? any : least_any;
    }
    store(least_free_.data() + seat * lanes, least_free);
    store(least_any_.data() + seat * lanes, least_any);
    least_free_of_all = least_free < least_free_of_all ? least_free : least_free_of_all;
    least_any_of_all = least_any < least_any_of_all ? least_any : least_any_of_all;
  }
  least_free_of_all_ = least_free_of_all[0];
  least_any_of_all_ = least_any_of_all[0];
  for (std::size_t lane = 1; lane < lanes; ++lane) {
    least_free_of_all_ = std::min<Number>(least_free_of_all_, least_free_of_all[lane]);
    least_any_of_all_ = std::min<Number>(least_any_of_all_, least_any_of_all[lane]);
  }
}

template <class Number>
typename TabuSearch<Number>::Exchange TabuSearch<Number>::choose(Random& random) const {
  constexpr Number none = std::numeric_limits<Number>::max();
  const Number any = least_any_of_all_;
  if (any == none) return {0, 0, 0, false};
  const bool best_so_far = cost_ + static_cast<double>(any) < best_cost_ - tolerance_;
  if (best_so_far || least_free_of_all_ == none) return pick(least_any_, any, never - 1, random);
  return pick(least_free_, least_free_of_all_, now_, random);
}

/// One of the best, at random.
template <class Number>
typename TabuSearch<Number>::Exchange TabuSearch<Number>::pick(const std::vector<Number>& least_in_row, Number least,
                                                               Stamp latest, Random& random) const {
  std::uint32_t rows = 0, seat = 0;
  for (std::uint32_t row = 0; row < size_; ++row) {
    bool has_it = false;
    for (std::size_t lane = 0; lane < lanes; ++lane) has_it |= least_in_row[row * lanes + lane] == least;
    if (has_it && (++rows == 1 || random.below(rows) == 0)) seat = row;
  }
  std::uint32_t others = 0, other = seat;
  for (std::uint32_t at = seat + 1; at < size_; ++at) {
    const std::size_t here = seat * stride_ + at;
    if (change_[here] == least && stamp_[here] <= latest && (++others == 1 || random.below(others) == 0)) other = at;
  }
  return {seat, other, least, true};
}

template <class Number>
void TabuSearch<Number>::apply(const Exchange& exchange, Random& random) {
  const auto [seat, other, change, found] = exchange;
  prepare(seat, other);
  const auto shortest = static_cast<std::uint64_t>(shortest_tabu * size_);
  const auto spread = static_cast<std::uint64_t>((longest_tabu - shortest_tabu) * size_) + 1;
  ++now_;
  for (const std::uint32_t left : {seat, other}) {
    tabu_until_[item_on_[left] * stride_ + left] = now_ + static_cast<Stamp>(shortest + random.below(spread));
  }
  std::swap(item_on_[seat], item_on_[other]);
  cost_ += static_cast<double>(change);
  for (const std::uint32_t moved : {seat, other}) home_[moved] = alone_[item_on_[moved] * stride_ + moved];
  for (const std::uint32_t moved : {seat, other}) {
    renew(moved);
    restamp(moved);
  }
  scan();
}

template <class Number>
std::uint64_t TabuSearch<Number>::run(std::uint64_t steps, std::uint64_t patience, Random& random, Pulse& pulse) {
  std::uint64_t last_gain = 0;
  std::uint64_t step = 0;
  double least = std::numeric_limits<double>::infinity();
  while (step < steps && step - last_gain < patience && !pulse.stop()) {
    const Exchange exchange = choose(random);
    if (!exchange.found) return steps;  // nothing that could make a difference
    apply(exchange, random);
    ++step;
    if (!std::is_integral_v<Number> && step % steps_between_renewals == 0) {
      compute_all();
      cost_ = tables_->cost(item_on_);
      scan();
    }
    if (cost_ < least - tolerance_) {
      least = cost_;
      last_gain = step;
    }
    if (cost_ < best_cost_ - tolerance_) {
      best_cost_ = cost_;
      best_ = item_on_;
    }
  }
  return step;
}

template <class Number>
double TabuSearch<Number>::change(std::uint32_t seat, std::uint32_t other) const {
  return static_cast<double>(change_[std::min(seat, other) * stride_ + std::max(seat, other)]);
}

template class TabuSearch<std::int32_t>;
template class TabuSearch<double>;

}  // namespace rankloom
