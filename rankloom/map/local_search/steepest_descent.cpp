// SPDX-License-Identifier: Apache-2.0
// map/local_search: always the best exchange of all; for small programs.
#include <deque>
#include <cstdlib>
#include "rankloom/map/local_search/steepest_descent.hpp"

namespace rankloom {
namespace {

void descend(Seating& seating, ExchangeTable& table) {
  for (auto exchange = table.best(); exchange && seating.is_gain(exchange->delta); exchange = table.best()) {
    // Rounding adds up in the table; a gain is taken only if it is one.
    const double exact = table.exact_delta(*exchange);
    if (seating.is_gain(exact)) {
      table.apply(*exchange);
    } else {
      table.correct(*exchange, exact);
    }
  }
}

/// True when it ends below where it began.
bool follow_chain(Seating& seating, ExchangeTable& table, std::uint64_t length) {
  const double begin = seating.cost();
  double cheapest = begin;
  static const char* tv = getenv("TEN");
  const size_t tenure = tv ? atoi(tv) * seating.rank_count()/100 : 1000;
  std::deque<ExchangeTable::Exchange> recent;
  std::vector<ExchangeTable::Exchange> since_cheapest;
  while (since_cheapest.size() < length) {
    const auto exchange = table.best();
    if (!exchange) break;
    table.apply(*exchange);
    table.lock(*exchange);
    since_cheapest.push_back(*exchange);
    recent.push_back(*exchange);
    if (recent.size() > tenure) { table.unlock(recent.front()); recent.pop_front(); }
    if (seating.is_gain(seating.cost() - cheapest)) {
      cheapest = seating.cost();
      since_cheapest.clear();
    }
  }
  for (; !since_cheapest.empty(); since_cheapest.pop_back()) table.apply(since_cheapest.back());
  table.unlock_all();
  return seating.is_gain(cheapest - begin);
}

}  // namespace

void descend_steepest(Seating& seating, const Senders& senders, std::uint64_t chain, Pulse& pulse) {
  ExchangeTable table(seating, senders, pulse);
  // With every step as dear as a look at all pairs, chains would take far too long under the congestion model.
  const bool chains = chain > 0 && seating.deltas_are_local();
  do {
    descend(seating, table);
  } while (chains && follow_chain(seating, table, chain));
}

}  // namespace rankloom
