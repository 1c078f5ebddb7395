// SPDX-License-Identifier: Apache-2.0
// map/peers: Scotch (Pellegrini 1994) as a mapper, as Cruz 2019, 4.5, compares with it.
//
// Scotch cuts the program and the machine in two at the same time, again and again, and knows distances on the
// machine. It keeps to the room of each place only about, so what it returns is repair_placement. On a routed network the ranks
// are mapped onto the nodes first, then those of each node onto its cores.
#include <numeric>

#include "rankloom/map/locality_order.hpp"
#include "rankloom/map/mapper_factories.hpp"
#include "rankloom/map/external/scotch_target.hpp"
#include "rankloom/map/external/integer_weights.hpp"
#include "rankloom/map/stop_condition.hpp"
#include "rankloom/map/repair.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;

/// Traffic x distance, summed, must stay in Scotch's numbers; distances go up to 2^20 (2^10 where numbers are small).
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

struct Options {
  Strategy strategy = Strategy::normal;
  bool pack = false;
  bool load = false;
  double tolerance = 0.03;
};

class ScotchMapping {
 public:
  ScotchMapping(const MapProblem& problem, const MapRun& run, const Options& options)
      : problem_(problem),
        options_(options),
        tree_(problem.topology, problem.capacities),
        affinity_(problem.graph),
        stop_condition_(run, "scotch"),
        session_(run.seed),
        core_of_(problem.graph.rank_count()) {}

  Result<Placement> run() && {
    if (auto sound = session_.check(); !sound) return propagate(sound);
    std::vector<std::uint32_t> everybody(core_of_.size());
    std::iota(everybody.begin(), everybody.end(), 0);
    if (!everybody.empty()) {
      stop_condition_.should_stop_now();
      const bool network = has_network(tree_, tree_.root()) && !problem_.topology.is_matrix();
      if (auto done = network ? onto_nodes() : onto_cores(tree_.root(), affinity_, everybody); !done) {
        return propagate(done);
      }
    }
    return Placement{
        repair_placement(problem_, affinity_, std::move(core_of_)), {}, std::string(stop_condition_.stopped() ? stopped_note : "")};
  }

 private:
  Result<std::vector<ScotchNumber>> map(const Affinity& affinity, std::span<const std::uint32_t> ranks,
                                        ScotchTarget& target, std::uint64_t places) {
    if (sizeof(ScotchNumber) == 4 && static_cast<double>(affinity.edge_count()) > max_traffic) {
      return fail(Code::infeasible, at("scotch"), "these are too many pairs of ranks for Scotch with 32-bit numbers",
                  "build with a Scotch of 64-bit numbers, or choose another mapper");
    }
    ScotchGraph::Rows rows;
    rows.offsets.assign(affinity.offsets().begin(), affinity.offsets().end());
    rows.neighbours.assign(affinity.all_neighbours().begin(), affinity.all_neighbours().end());
    rows.weights = integer_weights<ScotchNumber>(affinity.all_weights(), 2 * max_traffic);
    // Where any number of ranks may sit on a core, it is the work of a core that is bounded.
    const bool by_load = options_.load && places / target.place_of.size() >= problem_.graph.rank_count();
    if (by_load) {
      std::vector<double> loads;
      for (const std::uint32_t rank : ranks) loads.push_back(problem_.graph.load(Rank{rank}));
      rows.loads = integer_weights<ScotchNumber>(loads, max_load);
    }
    ScotchGraph graph(std::move(rows));
    ScotchStrategy strategy;
    const double room = static_cast<double>(places) / static_cast<double>(ranks.size()) - 1;
    const double slack = by_load ? options_.tolerance : std::clamp(room, 0.01, 1.0);
    if (SCOTCH_stratGraphMapBuild(strategy.get(), flags_of(options_.strategy),
                                  static_cast<ScotchNumber>(target.place_of.size()), slack) != 0) {
      return scotch_failure("does not know the strategy");
    }
    return scotch_map(session_, graph, *target.arch, strategy);
  }

  Result<void> onto_cores(const Part& part, const Affinity& affinity, std::span<const std::uint32_t> ranks) {
    auto target = scotch_cores(session_, problem_, tree_, part,
                               options_.pack ? ranks.size() : std::numeric_limits<std::uint64_t>::max());
    if (!target) return propagate(target);
    if (target->place_of.size() == 1) {
      for (const std::uint32_t rank : ranks) core_of_[rank] = Core{target->place_of.front()};
      return {};
    }
    const auto terminal_of = map(affinity, ranks, *target, tree_.slots(part));
    if (!terminal_of) return Failure(terminal_of.error());
    for (std::size_t at = 0; at < ranks.size(); ++at) {
      core_of_[ranks[at]] = Core{target->place_of[static_cast<std::size_t>((*terminal_of)[at])]};
    }
    return {};
  }

  Result<void> onto_nodes() {
    std::vector<Part> nodes;
    std::uint64_t places = 0;
    for (const Part& node : tree_.children(tree_.root())) {
      if (tree_.slots(node) > 0 && (!options_.pack || places < core_of_.size())) nodes.push_back(node);
      places += tree_.slots(node);
    }
    auto target = scotch_nodes(session_, problem_, nodes);
    if (!target) return propagate(target);
    std::vector<std::uint32_t> everybody(core_of_.size());
    std::iota(everybody.begin(), everybody.end(), 0);
    const auto terminal_of = map(affinity_, everybody, *target, tree_.slots(tree_.root()));
    if (!terminal_of) return Failure(terminal_of.error());

    Groups groups;
    std::vector<std::vector<std::uint32_t>> ranks_of(nodes.size());
    for (const std::uint32_t rank : everybody) {
      ranks_of[target->place_of[static_cast<std::size_t>((*terminal_of)[rank])]].push_back(rank);
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
        deal_out(nodes[node], groups[node]);
      } else if (!groups[node].empty()) {
        if (auto done = onto_cores(nodes[node], inside[node], groups[node]); !done) return done;
      }
    }
    return {};
  }

  /// Each core of the node in turn; repair sees to those that get too many.
  void deal_out(const Part& node, std::span<const std::uint32_t> ranks) {
    std::uint32_t core = node.begin, taken = 0;
    for (const std::uint32_t rank : ranks) {
      while (taken >= problem_.capacities[Core{core}] && core + 1 < node.end) ++core, taken = 0;
      core_of_[rank] = Core{core};
      ++taken;
    }
  }

  const MapProblem& problem_;
  const Options& options_;
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
                   "what Scotch takes pains with: quality, speed, or equal numbers on all cores");
    options.flag("pack", options_.pack,
                 "fewer ranks than places: use only the first places that hold them, instead of spreading");
    options.flag("load", options_.load, "where cores are shared: balance the ranks' loads, not their number");
    options.number("tolerance", options_.tolerance, "with load: how much more than the average a core may carry", 0,
                   10);
  }
  bool balances_load() const override { return options_.load; }
  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    return ScotchMapping(problem, run, options_).run();
  }

 private:
  Options options_;
};

}  // namespace

std::unique_ptr<Mapper> make_scotch() {
  return std::make_unique<Scotch>();
}

}  // namespace rankloom
