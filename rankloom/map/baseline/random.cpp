// SPDX-License-Identifier: Apache-2.0
// map/baseline: ranks thrown onto the capacities by a seed; the yardstick of the mapping literature.
#include <numeric>
#include <unordered_set>

#include "rankloom/map/baseline/baselines.hpp"
#include "rankloom/map/seats.hpp"

namespace rankloom {
namespace {

class RandomMapper final : public Mapper {
 public:
  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    Random random(run.seed);
    return Placement{random_placement(problem.graph.rank_count(), problem.topology, problem.capacities, random), {}, {}};
  }
};

/// Few seats: shuffle them all.
std::vector<std::uint64_t> seats_by_shuffle(std::uint32_t ranks, std::uint64_t total, Random& random) {
  std::vector<std::uint64_t> seats(total);
  std::iota(seats.begin(), seats.end(), std::uint64_t{0});
  for (std::uint32_t rank = 0; rank < ranks; ++rank) std::swap(seats[rank], seats[rank + random.below(total - rank)]);
  seats.resize(ranks);
  return seats;
}

/// Many seats: draw again when one is taken, which happens less than every second time.
std::vector<std::uint64_t> seats_by_rejection(std::uint32_t ranks, std::uint64_t total, Random& random) {
  std::vector<std::uint64_t> seats;
  seats.reserve(ranks);
  std::unordered_set<std::uint64_t> taken;
  taken.reserve(ranks);
  while (seats.size() < ranks) {
    const std::uint64_t seat = random.below(total);
    if (taken.insert(seat).second) seats.push_back(seat);
  }
  return seats;
}

}  // namespace

std::vector<Core> random_placement(std::uint32_t ranks, const Topology& topology, const Capacities& capacities, Random& random) {
  const Seats seats(topology, capacities);
  const auto chosen = seats.total() <= 2 * std::uint64_t{ranks} ? seats_by_shuffle(ranks, seats.total(), random)
                                                                : seats_by_rejection(ranks, seats.total(), random);
  std::vector<Core> core_of;
  core_of.reserve(ranks);
  for (const std::uint64_t seat : chosen) core_of.push_back(seats[seat].core);
  return core_of;
}

std::unique_ptr<Mapper> make_random() {
  return std::make_unique<RandomMapper>();
}

}  // namespace rankloom
