// SPDX-License-Identifier: Apache-2.0
// map/eager: a search that leaves local optima.
#include "rankloom/map/eager/annealing.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "rankloom/map/local_search/vicinity.hpp"

namespace rankloom {
namespace {

/// Temperatures relative to the average cost of a rank: enough to cross the barriers between good placements where
/// overload is only dear; less where it is barred and the placement is good already.
constexpr double hottest_when_priced = 0.3;
constexpr double hottest_when_barred = 0.15;
constexpr double coldest = 0.003;
/// What the overload of one average rank costs, relative to the average cost of a rank.
constexpr double first_price = 2;
constexpr double last_price = 1000;
constexpr std::uint64_t steps = 200;
/// Of all tries, those that go to any core, and to a core with a near number. The rest goes near a partner.
constexpr double anywhere = 0.2;
constexpr double nearby = 0.2;
constexpr std::uint32_t window = 32;

class Annealing {
 public:
  Annealing(Seating& seating, LoadLimit& limit, Overload overload, Random& random)
      : seating_(seating),
        limit_(limit),
        overload_(overload),
        random_(random),
        vicinity_(seating.problem().topology),
        cores_(seating.problem().topology.core_count()) {}

  void run(std::uint64_t tries, Pulse& pulse) {
    const double cost_of_rank = std::abs(seating_.cost()) / seating_.rank_count();
    const double load_of_rank = limit_.limit() * cores_ / seating_.rank_count();
    const double hottest = overload_ == Overload::priced ? hottest_when_priced : hottest_when_barred;
    for (std::uint64_t step = 0; step < steps && !pulse.stopped(); ++step) {
      const double progress = static_cast<double>(step) / (steps - 1);
      temperature_ = cost_of_rank * hottest * std::pow(coldest / hottest, progress);
      price_ = cost_of_rank / load_of_rank * first_price * std::pow(last_price / first_price, progress);
      for (std::uint64_t tried = 0; tried < tries / steps && !pulse.stop(); ++tried) try_one();
    }
  }

 private:
  void try_one() {
    const Rank rank{static_cast<std::uint32_t>(random_.below(seating_.rank_count()))};
    const Core core = somewhere(rank);
    if (core == seating_.core_of(rank) || seating_.problem().capacities[core] == 0) return;
    const auto partner = somebody_on(core);
    if (!partner && !seating_.has_room(core)) return;
    if (overload_ == Overload::barred &&
        !(partner ? limit_.admits_swap(rank, *partner, seating_) : limit_.admits_move(rank, core))) {
      return;
    }
    const Change change = partner ? seating_.try_swap(rank, *partner) : seating_.try_move(rank, core);
    double worse = change.delta;
    if (overload_ == Overload::priced) worse += price_ * limit_.overload_delta(change, seating_);
    if (worse > 0 && random_.unit() >= std::exp(-worse / temperature_)) return;
    limit_.apply(change, seating_);
    seating_.apply(change);
  }

  Core somewhere(Rank rank) {
    const Core here = seating_.core_of(rank);
    const auto partners = seating_.neighbours(rank);
    const double dice = random_.unit();
    if (dice < anywhere || partners.empty()) return Core{static_cast<std::uint32_t>(random_.below(cores_))};
    if (dice < anywhere + nearby) {
      const std::uint32_t first = index(here) / window * window;
      return Core{first + static_cast<std::uint32_t>(random_.below(std::min(window, cores_ - first)))};
    }
    regions_.clear();
    vicinity_.regions(here, seating_.core_of(partners[random_.below(partners.size())]), regions_);
    if (regions_.empty()) return here;
    near_.clear();
    const auto region = regions_[random_.below(regions_.size())];  // apart: compilers order arguments as they like
    vicinity_.cores(region, random_.next(), near_);
    return near_.empty() ? here : near_[random_.below(near_.size())];
  }

  /// One of those on the core, or nobody: then the rank would move there without an exchange.
  std::optional<Rank> somebody_on(Core core) {
    std::uint64_t count = 0;
    for (auto rank = seating_.first_on(core); rank; rank = seating_.next_on_core(*rank)) ++count;
    auto rank = seating_.first_on(core);
    for (std::uint64_t skip = random_.below(count + 1); rank && skip > 0; --skip) rank = seating_.next_on_core(*rank);
    return rank;
  }

  Seating& seating_;
  LoadLimit& limit_;
  Overload overload_;
  Random& random_;
  Vicinity vicinity_;
  std::uint32_t cores_;
  double temperature_ = 0, price_ = 0;
  std::vector<Vicinity::Region> regions_;  // scratch
  std::vector<Core> near_;                 // scratch
};

}  // namespace

void anneal(Seating& seating, LoadLimit& limit, Overload overload, std::uint64_t tries, Random& random, Pulse& pulse) {
  if (seating.rank_count() > 0) Annealing(seating, limit, overload, random).run(tries, pulse);
}

}  // namespace rankloom
