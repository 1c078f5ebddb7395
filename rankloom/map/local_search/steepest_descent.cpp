// SPDX-License-Identifier: Apache-2.0
// map/local_search: always the best exchange of all; for small programs.
#include "rankloom/map/local_search/steepest_descent.hpp"

#include "rankloom/map/local_search/neighbourhood_descent.hpp"

namespace rankloom {
namespace {

using Exchange = ExchangeTable::Exchange;

/// Enough that the descent seldom just takes them back, few enough that most of the placement stays.
constexpr std::uint32_t exchanges_in_kick = 5;

/// Appends what it does to `done`.
void descend(const Seating& seating, ExchangeTable& table, std::vector<Exchange>& done) {
  for (auto exchange = table.best(); exchange && seating.is_gain(exchange->delta); exchange = table.best()) {
    // Rounding adds up in the table; a gain is taken only if it is one.
    exchange->delta = table.correct(*exchange);
    if (!seating.is_gain(exchange->delta)) continue;
    table.apply(*exchange);
    done.push_back(*exchange);
  }
}

void kick(ExchangeTable& table, Random& random, std::vector<Exchange>& done) {
  for (std::uint32_t count = 0; count < exchanges_in_kick; ++count) {
    const auto rank = static_cast<std::uint32_t>(random.below(table.ranks()));
    const auto other = static_cast<std::uint32_t>(random.below(table.occupants() - 1));
    done.push_back(table.exchange(rank, other < rank ? other : other + 1));
    table.apply(done.back());
  }
}

}  // namespace

void descend_steepest(Seating& seating, const Senders& senders, std::uint64_t kicks, Random& random, Pulse& pulse) {
  if (!ExchangeTable::fits(seating.problem())) return NeighbourhoodDescent(seating).run(pulse);
  ExchangeTable table(seating, senders, pulse);
  std::vector<Exchange> done;
  descend(seating, table, done);
  if (!seating.deltas_are_local() || table.ranks() == 0 || table.occupants() < 2) return;
  for (std::uint64_t count = 0; count < kicks && !pulse.stopped(); ++count) {
    const double before = seating.cost();
    done.clear();
    kick(table, random, done);
    descend(seating, table, done);
    if (seating.cost() <= before) continue;
    for (; !done.empty(); done.pop_back()) table.apply(done.back());
  }
}

}  // namespace rankloom
