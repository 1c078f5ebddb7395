// SPDX-License-Identifier: Apache-2.0
// map/local_search: PE, the pair exchange (Brandfass, Alrutz, Gerhold 2013), as Wang 2015 uses it in section 4.4.3.
//
// A number of times: choose a pair of processes, at random or in turn, and exchange them if the cost decreases. The
// paper has as many processes as cores. Here free slots take part as if they were occupied by processes without
// traffic, so with fewer ranks than slots an exchange may also be a move.
#include "rankloom/map/local_search/pair_exchange.hpp"

#include "rankloom/core/random.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/mapper_factories.hpp"
#include "rankloom/map/slot_numbering.hpp"

namespace rankloom {
namespace {

enum class Order : std::uint8_t { random, turn };

/// Exchanges the rank with the occupant of the slot, or moves it there if the slot is free. Returns false and changes
/// nothing if that does not reduce the cost.
bool exchange(PlacementState& state, Rank rank, SlotNumbering::Slot target) {
  if (target.core == state.core_of(rank)) return false;
  std::optional<Rank> partner = state.first_on(target.core);
  for (std::uint32_t slot = 0; partner && slot < target.index_on_core; ++slot) partner = state.next_on_core(*partner);
  const Change change = partner ? state.try_exchange(rank, *partner) : state.try_move(rank, target.core);
  if (!state.is_gain(change.delta)) return false;
  state.apply(change);
  return true;
}

double fraction_of(std::uint64_t tried, std::uint64_t trials) {
  return static_cast<double>(tried) / static_cast<double>(trials);
}

class PairExchange final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.count("tries", trials_, "number of pairs to try");
    options.choice("order", order_, {{"random", Order::random}, {"turn", Order::turn}},
                   "draw pairs at random, or try each rank with every slot in turn");
  }

  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    PlacementState state(problem, start_of(problem));
    StopCondition stop_condition(run, "pair-exchange");
    order_ == Order::random ? exchange_random_pairs(state, trials_, run.seed, stop_condition)
                            : exchange_in_turn(state, stop_condition);
    return Placement{state.placement(), {}, std::string(stop_condition.stopped() ? stopped_note : "")};
  }

 private:
  /// Each rank with every slot, in order, then again from the start. Ends early after a round without a gain.
  void exchange_in_turn(PlacementState& state, StopCondition& stop_condition) const {
    const SlotNumbering slots(state.problem().topology, state.problem().capacities);
    std::uint64_t trials_without_gain = 0;
    const std::uint64_t round = state.rank_count() * slots.total();
    for (std::uint64_t tried = 0; tried < trials_ && trials_without_gain < round && !stop_condition.should_stop();
         ++tried) {
      stop_condition.set_fraction(fraction_of(tried, trials_));
      const Rank rank{static_cast<std::uint32_t>(tried / slots.total() % state.rank_count())};
      const bool gained = exchange(state, rank, slots[tried % slots.total()]);
      trials_without_gain = gained ? 0 : trials_without_gain + 1;
    }
  }

  std::uint64_t trials_ = pair_exchange_trials;
  Order order_ = Order::random;
};

}  // namespace

void exchange_random_pairs(PlacementState& state, std::uint64_t trials, std::uint64_t seed,
                           StopCondition& stop_condition) {
  const TimedSection timing("pair exchange");
  if (state.rank_count() == 0) return;
  const SlotNumbering slots(state.problem().topology, state.problem().capacities);
  Random random(seed);
  for (std::uint64_t tried = 0; tried < trials && !stop_condition.should_stop(); ++tried) {
    stop_condition.set_fraction(fraction_of(tried, trials));
    const Rank rank{static_cast<std::uint32_t>(random.below(state.rank_count()))};
    exchange(state, rank, slots[random.below(slots.total())]);
  }
}

std::unique_ptr<Mapper> make_pair_exchange() {
  return std::make_unique<PairExchange>();
}

}  // namespace rankloom
