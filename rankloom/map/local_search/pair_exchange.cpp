// SPDX-License-Identifier: Apache-2.0
// map/local_search: pair exchange (Brandfass, Alrutz, Gerhold 2013), as Wang 2015 uses it in section 4.4.3.
//
// A number of times: take a pair of processes, at random or in turn, and exchange their places if the cost falls. The
// paper has as many processes as cores; here free capacities are partners too, as if empty processes sat on them, so with
// fewer ranks than cores an exchange may also be a move.
#include "rankloom/map/local_search/pair_exchange.hpp"

#include "rankloom/core/random.hpp"
#include "rankloom/map/local_search/local_searches.hpp"
#include "rankloom/map/seats.hpp"

namespace rankloom {
namespace {

enum class Order : std::uint8_t { random, turn };

/// Exchanges the rank with whoever sits on the seat, or moves it there if nobody does; nothing if that is no gain.
bool exchange(Seating& seating, Rank rank, Seats::Seat seat) {
  if (seat.core == seating.core_of(rank)) return false;
  std::optional<Rank> partner = seating.first_on(seat.core);
  for (std::uint32_t slot = 0; partner && slot < seat.slot; ++slot) partner = seating.next_on_core(*partner);
  const Change change = partner ? seating.try_swap(rank, *partner) : seating.try_move(rank, seat.core);
  if (!seating.is_gain(change.delta)) return false;
  seating.apply(change);
  return true;
}

double share_of(std::uint64_t tried, std::uint64_t tries) {
  return static_cast<double>(tried) / static_cast<double>(tries);
}

class PairExchange final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.count("tries", tries_, "pairs to look at");
    options.choice("order", order_, {{"random", Order::random}, {"turn", Order::turn}},
                   "pairs drawn at random, or each rank with every place in turn");
  }

  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    Seating seating(problem, start_of(problem));
    Pulse pulse(run, "pair-exchange");
    order_ == Order::random ? exchange_random_pairs(seating, tries_, run.seed, pulse) : in_turn(seating, pulse);
    return Placement{seating.placement(), {}, std::string(pulse.stopped() ? stopped_note : "")};
  }

 private:
  /// Rank by rank, seat by seat, and from the start again; ends early when a whole round brought nothing.
  void in_turn(Seating& seating, Pulse& pulse) const {
    const Seats seats(seating.problem().topology, seating.problem().capacities);
    std::uint64_t since_gain = 0;
    const std::uint64_t round = seating.rank_count() * seats.total();
    for (std::uint64_t tried = 0; tried < tries_ && since_gain < round && !pulse.stop(); ++tried) {
      pulse.set_fraction(share_of(tried, tries_));
      const Rank rank{static_cast<std::uint32_t>(tried / seats.total() % seating.rank_count())};
      since_gain = exchange(seating, rank, seats[tried % seats.total()]) ? 0 : since_gain + 1;
    }
  }

  std::uint64_t tries_ = pair_exchange_tries;
  Order order_ = Order::random;
};

}  // namespace

void exchange_random_pairs(Seating& seating, std::uint64_t tries, std::uint64_t seed, Pulse& pulse) {
  if (seating.rank_count() == 0) return;
  const Seats seats(seating.problem().topology, seating.problem().capacities);
  Random random(seed);
  for (std::uint64_t tried = 0; tried < tries && !pulse.stop(); ++tried) {
    pulse.set_fraction(share_of(tried, tries));
    const Rank rank{static_cast<std::uint32_t>(random.below(seating.rank_count()))};
    exchange(seating, rank, seats[random.below(seats.total())]);
  }
}

std::unique_ptr<Mapper> make_pair_exchange() {
  return std::make_unique<PairExchange>();
}

}  // namespace rankloom
