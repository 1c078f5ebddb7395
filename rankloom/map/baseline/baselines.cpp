// SPDX-License-Identifier: Apache-2.0
// map/baseline: the mappers that ignore the traffic: block, round-robin and random placement.
#include "rankloom/map/baseline/baselines.hpp"

#include <cassert>
#include <numeric>
#include <unordered_set>

#include "rankloom/map/mapper_factories.hpp"
#include "rankloom/map/slot_numbering.hpp"

namespace rankloom {
namespace {

/// The default placement of launchers: consecutive ranks fill one core after another.
class Block final : public Mapper {
 public:
  Result<Placement> place(const MapProblem& problem, const MapRun&) const override {
    return Placement{block_placement(problem.graph.rank_count(), problem.topology, problem.capacities), {}, {}};
  }
};

/// One rank per node in turn, as launchers do when asked to distribute ranks cyclically.
class RoundRobin final : public Mapper {
 public:
  Result<Placement> place(const MapProblem& problem, const MapRun&) const override {
    return Placement{round_robin_placement(problem.graph.rank_count(), problem.topology, problem.capacities), {}, {}};
  }
};

/// Hands out the slots of one node cyclically: the first slot of every core, then the second slots, and so on.
class CyclicNodeSlots {
 public:
  CyclicNodeSlots(std::uint32_t first, std::uint32_t end) : first_(first), end_(end), next_(first) {}

  /// The core of the next free slot; end() when the node is full.
  std::uint32_t take(const Capacities& capacities) {
    while (true) {
      for (; next_ < end_; ++next_) {
        if (capacities[Core{next_}] > round_) {
          taken_in_round_ = true;
          return next_++;
        }
      }
      if (!taken_in_round_) return end_;
      next_ = first_;
      taken_in_round_ = false;
      ++round_;
    }
  }
  std::uint32_t end() const { return end_; }

 private:
  std::uint32_t first_, end_, next_;
  std::uint32_t round_ = 0;
  bool taken_in_round_ = false;
};

/// Ranks on random slots: the baseline of the mapping literature.
class RandomMapper final : public Mapper {
 public:
  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    Random random(run.seed);
    return Placement{
        random_placement(problem.graph.rank_count(), problem.topology, problem.capacities, random), {}, {}};
  }
};

/// Shuffles all slots: fast when most of them are used.
std::vector<std::uint64_t> draw_slots_by_shuffle(std::uint32_t ranks, std::uint64_t total, Random& random) {
  std::vector<std::uint64_t> slots(total);
  std::iota(slots.begin(), slots.end(), std::uint64_t{0});
  for (std::uint32_t rank = 0; rank < ranks; ++rank) std::swap(slots[rank], slots[rank + random.below(total - rank)]);
  slots.resize(ranks);
  return slots;
}

/// Draws again when a slot is already used. With at least twice as many slots as ranks, fewer than half of the draws
/// are rejected.
std::vector<std::uint64_t> draw_slots_by_rejection(std::uint32_t ranks, std::uint64_t total, Random& random) {
  std::vector<std::uint64_t> slots;
  slots.reserve(ranks);
  std::unordered_set<std::uint64_t> taken;
  taken.reserve(ranks);
  while (slots.size() < ranks) {
    const std::uint64_t slot = random.below(total);
    if (taken.insert(slot).second) slots.push_back(slot);
  }
  return slots;
}

}  // namespace

std::vector<Core> round_robin_placement(std::uint32_t ranks, const Topology& topology, const Capacities& capacities) {
  std::vector<CyclicNodeSlots> open;
  for (const Node node : topology.nodes()) {
    open.emplace_back(index(topology.first_core(topology.node_level(), index(node))),
                      index(topology.first_core(topology.node_level(), index(node) + 1)));
  }
  std::vector<Core> core_of;
  core_of.reserve(ranks);
  while (core_of.size() < ranks) {
    std::size_t still_open = 0;
    for (std::size_t at = 0; at < open.size() && core_of.size() < ranks; ++at) {
      const std::uint32_t core = open[at].take(capacities);
      if (core == open[at].end()) continue;
      core_of.push_back(Core{core});
      open[still_open++] = open[at];
    }
    if (core_of.size() == ranks) break;
    assert(still_open > 0 && "Capacities::of checked that the ranks fit");
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(still_open), open.end());
  }
  return core_of;
}

std::vector<Core> random_placement(std::uint32_t ranks, const Topology& topology, const Capacities& capacities,
                                   Random& random) {
  const SlotNumbering slots(topology, capacities);
  const auto chosen = slots.total() <= 2 * std::uint64_t{ranks} ? draw_slots_by_shuffle(ranks, slots.total(), random)
                                                                : draw_slots_by_rejection(ranks, slots.total(), random);
  std::vector<Core> core_of;
  core_of.reserve(ranks);
  for (const std::uint64_t slot : chosen) core_of.push_back(slots[slot].core);
  return core_of;
}

std::unique_ptr<Mapper> make_block() {
  return std::make_unique<Block>();
}

std::unique_ptr<Mapper> make_round_robin() {
  return std::make_unique<RoundRobin>();
}

std::unique_ptr<Mapper> make_random() {
  return std::make_unique<RandomMapper>();
}

}  // namespace rankloom
