// SPDX-License-Identifier: Apache-2.0
// map/local_search: pair exchange (Brandfass, Alrutz, Gerhold 2013), as Wang 2015 uses it in section 4.4.3.
//
// A number of times: take a pair of processes, at random or in turn, and exchange their places if the cost falls. The
// paper has as many processes as cores; here free slots are partners too, as if empty processes sat on them, so with
// fewer ranks than cores an exchange may also be a move.
#include "rankloom/core/random.hpp"
#include "rankloom/map/local_search/local_searches.hpp"
#include "rankloom/map/local_search/seating.hpp"
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
    const Seats seats(problem.topology, problem.slots);
    if (problem.graph.rank_count() > 0) {
      order_ == Order::random ? at_random(seating, seats, run.seed, pulse) : in_turn(seating, seats, pulse);
    }
    return Placement{seating.placement(), {}, std::string(pulse.stopped() ? stopped_note : "")};
  }

 private:
  double done(std::uint64_t tried) const { return static_cast<double>(tried) / static_cast<double>(tries_); }

  void at_random(Seating& seating, const Seats& seats, std::uint64_t seed, Pulse& pulse) const {
    Random random(seed);
    for (std::uint64_t tried = 0; tried < tries_ && !pulse.stop(); ++tried) {
      pulse.set_fraction(done(tried));
      const Rank rank{static_cast<std::uint32_t>(random.below(seating.rank_count()))};
      exchange(seating, rank, seats[random.below(seats.total())]);
    }
  }

  /// Rank by rank, seat by seat, and from the start again; ends early when a whole round brought nothing.
  void in_turn(Seating& seating, const Seats& seats, Pulse& pulse) const {
    std::uint64_t since_gain = 0;
    const std::uint64_t round = seating.rank_count() * seats.total();
    for (std::uint64_t tried = 0; tried < tries_ && since_gain < round && !pulse.stop(); ++tried) {
      pulse.set_fraction(done(tried));
      const Rank rank{static_cast<std::uint32_t>(tried / seats.total() % seating.rank_count())};
      since_gain = exchange(seating, rank, seats[tried % seats.total()]) ? 0 : since_gain + 1;
    }
  }

  std::uint64_t tries_ = 500'000;
  Order order_ = Order::random;
};

}  // namespace

std::unique_ptr<Mapper> make_pair_exchange() {
  return std::make_unique<PairExchange>();
}

}  // namespace rankloom
