// SPDX-License-Identifier: Apache-2.0
// map/peers: METIS (Karypis, Kumar 1998) along the hierarchy, as Wang 2015, 5.1, compares with graph partitioning.
//
// METIS knows parts, but not which part is near which. So the machine is taken from the top: the ranks are cut into
// one part for each child of the machine, the ranks of each child into parts for its children, down to the cores
// (recursive multisection). Nodes of a network and cores of a table have no levels; they are put in an order whose
// halves are near together, and halved. After each cut, parts that hold more than their places are put right, so every
// rank gets a place of its own where each must have one.
#include <cmath>
#include <numeric>

#include "rankloom/map/machine_tree.hpp"
#include "rankloom/map/locality_order.hpp"
#include "rankloom/map/external/metis_partition.hpp"
#include "rankloom/map/mapper_factories.hpp"
#include "rankloom/map/stop_condition.hpp"
#include "rankloom/map/rebalance.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;

enum class Method : std::uint8_t { automatic, recursive, kway };

struct Options {
  Method method = Method::automatic;
  std::uint64_t cuts = 4;
  bool pack = false;
  bool load = false;
  double tolerance = 0.03;
};

class Multisection {
 public:
  Multisection(const MapProblem& problem, const MapRun& run, const Options& options)
      : problem_(problem),
        options_(options),
        tree_(problem.topology, problem.capacities),
        stop_condition_(run, "metis"),
        seed_(run.seed),
        core_of_(problem.graph.rank_count()) {
    // Where any number of ranks may sit on a core, it is the work of a core that is bounded.
    by_load_ = options.load && problem.capacities[first_usable()] >= problem.graph.rank_count();
  }

  Result<Placement> run() && {
    std::vector<std::uint32_t> everybody(core_of_.size());
    std::iota(everybody.begin(), everybody.end(), 0);
    if (!everybody.empty()) {
      const Affinity affinity(problem_.graph);
      if (auto done = cut(tree_.root(), affinity, everybody); !done) return propagate(done);
    }
    return Placement{std::move(core_of_), {}, std::string(stop_condition_.stopped() ? stopped_note : "")};
  }

 private:
  Core first_usable() const {
    for (const Core core : problem_.topology.cores()) {
      if (problem_.capacities[core] > 0) return core;
    }
    return Core{0};
  }

  /// Places these ranks, by their names in the program, in the part.
  Result<void> cut(const Part& part, const Affinity& affinity, std::span<const std::uint32_t> ranks) {
    if (part.is_core()) {
      for (const std::uint32_t rank : ranks) core_of_[rank] = Core{part.begin};
      return {};
    }
    std::vector<Part> children;
    bool equal_cores = !has_network(tree_, part);
    for (const Part& child : tree_.children(part)) {
      if (tree_.slots(child) > 0) children.push_back(child);
      equal_cores &= child.is_core() && tree_.slots(child) <= 1;
    }
    if (equal_cores || stop_condition_.should_stop_now()) {
      fill(part, ranks);
      return {};
    }
    const bool network = has_network(tree_, part);
    return cut_list(network ? locality_order(problem_.topology, children) : children, network, affinity, ranks);
  }

  /// The same for a list of siblings, whose halves are near together if a network joins them.
  Result<void> cut_list(std::span<const Part> siblings, bool network, const Affinity& affinity,
                        std::span<const std::uint32_t> ranks) {
    if (options_.pack) siblings = siblings.first(as_few_as_hold(siblings, ranks.size()));
    if (siblings.size() == 1) return cut(siblings.front(), affinity, ranks);
    const bool enough = ranks.size() >= min_vertices_per_part * siblings.size();
    const bool halves = network || !enough;
    std::vector<std::span<const Part>> sides;
    if (halves) {
      sides = {siblings.first(siblings.size() / 2), siblings.subspan(siblings.size() / 2)};
    } else {
      for (std::size_t at = 0; at < siblings.size(); ++at) sides.push_back(siblings.subspan(at, 1));
    }
    auto groups = partition(sides, affinity, ranks);
    if (!groups) return propagate(groups);
    const auto parts = affinity.split(*groups);
    std::vector<std::uint32_t> names;
    for (std::uint32_t side = 0; side < sides.size(); ++side) {
      names.clear();
      for (const std::uint32_t member : (*groups)[side]) names.push_back(ranks[member]);
      if (names.empty()) continue;
      if (auto done = cut_list(sides[side], network, parts[side], names); !done) return done;
    }
    return {};
  }

  /// Cuts the ranks into one group for each side, none larger than its places.
  Result<Groups> partition(std::span<const std::span<const Part>> sides, const Affinity& affinity,
                           std::span<const std::uint32_t> ranks) {
    std::vector<std::uint64_t> room;
    std::vector<double> shares, loads;
    for (const auto& side : sides) {
      room.push_back(0);
      for (const Part& part : side) room.back() += tree_.slots(part);
      shares.push_back(static_cast<double>(room.back()));
    }
    for (std::size_t at = 0; by_load_ && at < ranks.size(); ++at) {
      loads.push_back(problem_.graph.load(Rank{ranks[at]}));
    }
    // The slack that is left is spent evenly over the halvings that are left: its n-th root for each.
    const double places = std::accumulate(shares.begin(), shares.end(), 0.0);
    const double all = by_load_ ? 1 + options_.tolerance : places / static_cast<double>(ranks.size());
    const double here = std::log2(static_cast<double>(sides.size()));
    const double slack = std::pow(all, here / std::max(here, halvings(sides)));
    auto part_of =
        ranks.size() < 2
            ? Result<std::vector<std::uint32_t>>(std::vector<std::uint32_t>(ranks.size(), 0))
            : metis_partition(affinity, {.shares = shares,
                                         .loads = loads,
                                         .slack = slack,
                                         .cuts = options_.cuts,
                                         .seed = seed_++,
                                         .direct = sides.size() > 2 && all_at_once(sides, ranks.size(), all)});
    if (!part_of) return propagate(part_of);
    rebalance(affinity, *part_of, room);
    Groups groups;
    groups.members.resize(ranks.size());
    groups.ends.assign(sides.size() + 1, 0);
    for (const std::uint32_t part : *part_of) ++groups.ends[part + 1];
    std::partial_sum(groups.ends.begin(), groups.ends.end(), groups.ends.begin());
    std::vector<std::uint64_t> next(groups.ends.begin(), groups.ends.end() - 1);
    for (std::uint32_t element = 0; element < ranks.size(); ++element) {
      groups.members[next[(*part_of)[element]]++] = element;
    }
    return groups;
  }

  /// METIS's k-way method wins where there is slack and a core gets some hundred ranks, and loses much elsewhere.
  bool all_at_once(std::span<const std::span<const Part>> sides, std::uint64_t ranks, double slack) const {
    if (options_.method != Method::automatic) return options_.method == Method::kway;
    std::uint64_t cores = 0;
    for (const auto& side : sides) {
      for (const Part& part : side) cores += part.core_count();
    }
    return slack > 1.01 && ranks >= ranks_of_core_for_kway * cores;
  }
  static constexpr std::uint64_t ranks_of_core_for_kway = 400;

  /// How often the machine is halved from these sides down to the cores, along the first.
  double halvings(std::span<const std::span<const Part>> sides) const {
    double count = std::log2(static_cast<double>(sides.size())) + std::log2(static_cast<double>(sides.front().size()));
    for (Part part = sides.front().front(); !part.is_core();) {
      const auto children = tree_.children(part);
      count += std::log2(static_cast<double>(children.size()));
      part = children.front();
    }
    return count;
  }

  std::size_t as_few_as_hold(std::span<const Part> siblings, std::uint64_t ranks) const {
    std::size_t count = 0;
    for (std::uint64_t places = 0; places < ranks && count < siblings.size(); ++count) {
      places += tree_.slots(siblings[count]);
    }
    return std::max<std::size_t>(count, 1);
  }

  /// Core by core, in order.
  void fill(const Part& part, std::span<const std::uint32_t> ranks) {
    std::uint32_t core = part.begin, taken = 0;
    for (const std::uint32_t rank : ranks) {
      while (taken >= problem_.capacities[Core{core}]) ++core, taken = 0;
      core_of_[rank] = Core{core};
      ++taken;
    }
  }

  const MapProblem& problem_;
  const Options& options_;
  MachineTree tree_;
  StopCondition stop_condition_;
  std::uint64_t seed_;
  bool by_load_ = false;
  std::vector<Core> core_of_;
};

class Metis final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.choice("method", options_.method,
                   {{"auto", Method::automatic}, {"recursive", Method::recursive}, {"kway", Method::kway}},
                   "how METIS cuts a part into its children: by halving again and again, or all at once; auto: at once "
                   "where cores are shared by many");
    options.count("cuts", options_.cuts, "cuts that METIS tries each time; the best is kept", 1, 1000);
    options.flag("pack", options_.pack,
                 "fewer ranks than places: fill as few parts as hold them, instead of spreading");
    options.flag("load", options_.load, "where cores are shared: balance the ranks' loads, not their number");
    options.number("tolerance", options_.tolerance, "with load: how much more than the average a core may carry", 0,
                   10);
  }
  bool balances_load() const override { return options_.load; }
  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    return Multisection(problem, run, options_).run();
  }

 private:
  Options options_;
};

}  // namespace

std::unique_ptr<Mapper> make_metis() {
  return std::make_unique<Metis>();
}

}  // namespace rankloom
