// SPDX-License-Identifier: Apache-2.0
// map/external: the mapper `scotch`: Scotch's dual recursive bipartitioning (Pellegrini 1994); Cruz 2019, 4.5, compares
// with it.
//
// Scotch bisects the program and the machine at the same time, recursively, and knows the distances of the machine. It
// respects capacities only approximately, so the result is repaired. On a routed network the ranks are mapped to the
// nodes first, then the ranks of each node to its cores.
#include <numeric>

#include "rankloom/map/external/integer_weights.hpp"
#include "rankloom/map/external/scotch_target.hpp"
#include "rankloom/map/locality_order.hpp"
#include "rankloom/map/mapper_factories.hpp"
#include "rankloom/map/repair.hpp"
#include "rankloom/map/stop_condition.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;

/// The sum of traffic x distance must fit into SCOTCH_Num. Distances have up to 20 bits (10 bits if SCOTCH_Num has 32).
constexpr double max_traffic = sizeof(ScotchNumber) > 4 ? 0x1p40 : 0x1p19;
constexpr double max_load = 0x1p24;

enum class Strategy : std::uint8_t { normal, quality, speed, balance };

ScotchNumber flags_of(Strategy strategy) {
  switch (strategy) {
    case Strategy::quality:
      return SCOTCH_STRATQUALITY;
    case Strategy::speed:
      return SCOTCH_STRATSPEED;
    case Strategy::balance:
      return SCOTCH_STRATBALANCE;
    default:
      return SCOTCH_STRATDEFAULT;
  }
}

struct ScotchOptions {
  Strategy strategy = Strategy::normal;
  bool pack = false;
  bool load = false;
  double tolerance = 0.03;
};

class ScotchMapping {
 public:
  ScotchMapping(const MapProblem& problem, const MapRun& run, const ScotchOptions& options)
      : problem_(problem),
        options_(options),
        tree_(problem.topology, problem.capacities),
        affinity_(problem.graph),
        stop_condition_(run, "scotch"),
        session_(run.seed),
        core_of_(problem.graph.rank_count()) {}

  Result<Placement> run() && {
    if (auto sound = session_.check(); !sound) return propagate(sound);
    std::vector<std::uint32_t> all_ranks(core_of_.size());
    std::iota(all_ranks.begin(), all_ranks.end(), 0);
    if (!all_ranks.empty()) {
      stop_condition_.should_stop_now();
      const bool network = has_network(tree_, tree_.root()) && !problem_.topology.is_matrix();
      if (auto done = network ? onto_nodes() : onto_cores(tree_.root(), affinity_, all_ranks); !done) {
        return propagate(done);
      }
    }
    return Placement{repair_placement(problem_, affinity_, std::move(core_of_)),
                     {},
                     std::string(stop_condition_.stopped() ? stopped_note : "")};
  }

 private:
  Result<std::vector<ScotchNumber>> map(const Affinity& affinity, std::span<const std::uint32_t> ranks,
                                        ScotchTarget& target, std::uint64_t capacity) {
    if (sizeof(ScotchNumber) == 4 && static_cast<double>(affinity.edge_count()) > max_traffic) {
      return fail(Code::infeasible, at("scotch"), "too many pairs of ranks for a Scotch with 32-bit numbers",
                  "choose another mapper, or build with a Scotch that has 64-bit numbers");
    }
    ScotchGraph::Rows rows;
    rows.offsets.assign(affinity.offsets().begin(), affinity.offsets().end());
    rows.neighbours.assign(affinity.all_neighbours().begin(), affinity.all_neighbours().end());
    rows.weights = integer_weights<ScotchNumber>(affinity.all_weights(), 2 * max_traffic);
    // Where the number of ranks per core is not limited, the load of the cores can be balanced.
    const bool by_load = options_.load && capacity / target.location_of.size() >= problem_.graph.rank_count();
    if (by_load) {
      std::vector<double> loads;
      for (const std::uint32_t rank : ranks) loads.push_back(problem_.graph.load(Rank{rank}));
      rows.loads = integer_weights<ScotchNumber>(loads, max_load);
    }
    ScotchGraph graph(std::move(rows));
    ScotchStrategy strategy;
    const double free_fraction = static_cast<double>(capacity) / static_cast<double>(ranks.size()) - 1;
    const double slack = by_load ? options_.tolerance : std::clamp(free_fraction, 0.01, 1.0);
    if (SCOTCH_stratGraphMapBuild(strategy.get(), flags_of(options_.strategy),
                                  static_cast<ScotchNumber>(target.location_of.size()), slack) != 0) {
      return scotch_failure("rejected the mapping strategy");
    }
    return scotch_map(session_, graph, *target.arch, strategy);
  }

  Result<void> onto_cores(const Part& part, const Affinity& affinity, std::span<const std::uint32_t> ranks) {
    auto target = scotch_cores(session_, problem_, tree_, part,
                               options_.pack ? ranks.size() : std::numeric_limits<std::uint64_t>::max());
    if (!target) return propagate(target);
    if (target->location_of.size() == 1) {
      for (const std::uint32_t rank : ranks) core_of_[rank] = Core{target->location_of.front()};
      return {};
    }
    const auto terminal_of = map(affinity, ranks, *target, tree_.slots(part));
    if (!terminal_of) return Failure(terminal_of.error());
    for (std::size_t at = 0; at < ranks.size(); ++at) {
      core_of_[ranks[at]] = Core{target->location_of[static_cast<std::size_t>((*terminal_of)[at])]};
    }
    return {};
  }

  Result<void> onto_nodes() {
    std::vector<Part> nodes;
    std::uint64_t capacity = 0;
    for (const Part& node : tree_.children(tree_.root())) {
      if (tree_.slots(node) > 0 && (!options_.pack || capacity < core_of_.size())) nodes.push_back(node);
      capacity += tree_.slots(node);
    }
    auto target = scotch_nodes(session_, problem_, nodes);
    if (!target) return propagate(target);
    std::vector<std::uint32_t> all_ranks(core_of_.size());
    std::iota(all_ranks.begin(), all_ranks.end(), 0);
    const auto terminal_of = map(affinity_, all_ranks, *target, tree_.slots(tree_.root()));
    if (!terminal_of) return Failure(terminal_of.error());

    Groups groups;
    std::vector<std::vector<std::uint32_t>> ranks_of(nodes.size());
    for (const std::uint32_t rank : all_ranks) {
      ranks_of[target->location_of[static_cast<std::size_t>((*terminal_of)[rank])]].push_back(rank);
    }
    for (const auto& ranks : ranks_of) {
      groups.members.insert(groups.members.end(), ranks.begin(), ranks.end());
      groups.close();
    }
    const auto inside = affinity_.split(groups);
    for (std::uint32_t node = 0; node < nodes.size(); ++node) {
      const auto cores = tree_.children(nodes[node]);
      const bool equal_cores = std::all_of(cores.begin(), cores.end(), [](const Part& core) { return core.is_core(); });
      if (equal_cores || stop_condition_.should_stop_now()) {
        fill(nodes[node], groups[node]);
      } else if (!groups[node].empty()) {
        if (auto done = onto_cores(nodes[node], inside[node], groups[node]); !done) return done;
      }
    }
    return {};
  }

  /// Fills the cores of the node in order; repair() handles ranks that do not fit.
  void fill(const Part& node, std::span<const std::uint32_t> ranks) {
    std::uint32_t core = node.begin, taken = 0;
    for (const std::uint32_t rank : ranks) {
      while (taken >= problem_.capacities[Core{core}] && core + 1 < node.end) ++core, taken = 0;
      core_of_[rank] = Core{core};
      ++taken;
    }
  }

  const MapProblem& problem_;
  const ScotchOptions& options_;
  MachineTree tree_;
  Affinity affinity_;
  StopCondition stop_condition_;
  ScotchSession session_;
  std::vector<Core> core_of_;
};

class Scotch final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.choice("strategy", options_.strategy,
                   {{"default", Strategy::normal},
                    {"quality", Strategy::quality},
                    {"speed", Strategy::speed},
                    {"balance", Strategy::balance}},
                   "what Scotch optimises first: quality, speed, or equal numbers of ranks on all cores");
    options.flag("pack", options_.pack,
                 "with fewer ranks than slots: use only the first slots that suffice instead of spreading");
    options.flag("load", options_.load, "where cores are shared: balance the loads of the ranks, not their number");
    options.number("tolerance", options_.tolerance,
                   "with load: allowed excess of a core's load over the average, as a fraction", 0, 10);
  }
  bool balances_load() const override { return options_.load; }
  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    return ScotchMapping(problem, run, options_).run();
  }

 private:
  ScotchOptions options_;
};

}  // namespace

std::unique_ptr<Mapper> make_scotch() {
  return std::make_unique<Scotch>();
}

}  // namespace rankloom
