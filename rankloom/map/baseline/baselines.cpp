// SPDX-License-Identifier: Apache-2.0
// map/baseline: the mappers that ignore the traffic: block, round-robin and random placement.
#include "rankloom/map/baseline/baselines.hpp"

#include <algorithm>
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

/// One rank per node in turn, as launchers do when asked to distribute ranks cyclically; or node by node, and inside a
/// node one rank per package or NUMA node in turn, as Slurm and Open MPI do by default.
class RoundRobin final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.choice(
        "level", level_,
        {{"node", RoundRobinLevel::node}, {"package", RoundRobinLevel::package}, {"numa", RoundRobinLevel::numa}},
        "what takes turns: the nodes, or the packages or NUMA nodes of one node after the other");
  }

  Result<Placement> place(const MapProblem& problem, const MapRun&) const override {
    return Placement{
        round_robin_placement(problem.graph.rank_count(), problem.topology, problem.capacities, level_), {}, {}};
  }

 private:
  RoundRobinLevel level_ = RoundRobinLevel::node;
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

namespace {

/// One rank for each object in turn, until there are `ranks` in all or all objects are full.
void take_turns(std::vector<CyclicNodeSlots> open, std::uint64_t ranks, const Capacities& capacities,
                std::vector<Core>& core_of) {
  while (core_of.size() < ranks && !open.empty()) {
    std::size_t still_open = 0;
    for (std::size_t at = 0; at < open.size() && core_of.size() < ranks; ++at) {
      const std::uint32_t core = open[at].take(capacities);
      if (core == open[at].end()) continue;
      core_of.push_back(Core{core});
      open[still_open++] = open[at];
    }
    if (core_of.size() < ranks) open.erase(open.begin() + static_cast<std::ptrdiff_t>(still_open), open.end());
  }
}

/// The objects of a level from one core to another.
std::vector<CyclicNodeSlots> objects_between(const Topology& topology, std::size_t level, std::uint32_t first,
                                             std::uint32_t end) {
  std::vector<CyclicNodeSlots> objects;
  for (std::uint32_t object = topology.object_of(level, Core{first}); first < end; ++object) {
    const std::uint32_t next = index(topology.first_core(level, object + 1));
    objects.emplace_back(first, next);
    first = next;
  }
  return objects;
}

/// The level with the packages or NUMA nodes; that of the nodes if the machine has none.
std::size_t find_level(const Topology& topology, RoundRobinLevel level) {
  for (std::size_t i = topology.node_level() + 1; i < topology.levels().size(); ++i) {
    const std::string& kind = topology.levels()[i].kind;
    const bool package = kind == "package" || kind == "socket";
    if (level == RoundRobinLevel::package ? package : kind == "numa") return i;
  }
  return level == RoundRobinLevel::numa ? find_level(topology, RoundRobinLevel::package) : topology.node_level();
}

}  // namespace

std::vector<Core> round_robin_placement(std::uint32_t ranks, const Topology& topology, const Capacities& capacities,
                                        RoundRobinLevel level) {
  std::vector<Core> core_of;
  core_of.reserve(ranks);
  const std::size_t node_level = topology.node_level();
  if (level == RoundRobinLevel::node) {
    take_turns(objects_between(topology, node_level, 0, topology.core_count()), ranks, capacities, core_of);
    assert(core_of.size() == ranks && "Capacities::of checked that the ranks fit");
    return core_of;
  }
  const std::size_t inner = find_level(topology, level);
  if (inner == node_level) return block_placement(ranks, topology, capacities);
  const std::uint64_t slots = capacities.slot_count(topology);
  std::uint64_t before = 0;  // slots of the nodes so far
  for (const Node node : topology.nodes()) {
    const auto first = index(topology.first_core(node_level, index(node)));
    const auto end = index(topology.first_core(node_level, index(node) + 1));
    for (std::uint32_t core = first; core < end; ++core) before += capacities.slots(topology, Core{core});
    // With more ranks than slots, every node gets its share of the ranks.
    const std::uint64_t up_to =
        ranks > slots ? (ranks * before + slots - 1) / slots : std::min<std::uint64_t>(before, ranks);
    take_turns(objects_between(topology, inner, first, end), up_to, capacities, core_of);
  }
  assert(core_of.size() == ranks && "Capacities::of checked that the ranks fit");
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
