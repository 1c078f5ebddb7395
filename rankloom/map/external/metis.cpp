// SPDX-License-Identifier: Apache-2.0
// map/external: METIS (Karypis, Kumar 1998) along the hierarchy, as Wang 2015, 5.1, compares with graph partitioning.
//
// METIS partitions a graph into blocks but knows no distances between blocks. So the machine is processed top down: the
// ranks are partitioned into one block per child of the machine, the ranks of each child into blocks for its children,
// down to the cores (recursive multisection). Nodes of a routed network and cores of a distance matrix have no levels;
// they are sorted in locality order and bisected. After each partition, blocks that exceed the capacity of their part
// are rebalanced, so that the placement respects the capacities.
#include <cmath>
#include <numeric>

#include "rankloom/core/portable_math.hpp"
#include "rankloom/map/external/metis_partition.hpp"
#include "rankloom/map/external/rebalance.hpp"
#include "rankloom/map/locality_order.hpp"
#include "rankloom/map/machine/machine_tree.hpp"
#include "rankloom/map/mapper_factories.hpp"
#include "rankloom/map/stop_condition.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;

enum class Method : std::uint8_t { automatic, recursive, kway };

struct MetisOptions {
  Method method = Method::automatic;
  std::uint64_t cuts = 4;
  bool pack = false;
  bool load = false;
  double tolerance = 0.03;
};

class Multisection {
 public:
  Multisection(const MapProblem& problem, const MapRun& run, const MetisOptions& options)
      : problem_(problem),
        options_(options),
        tree_(problem.topology, problem.capacities),
        stop_condition_(run, "metis"),
        seed_(run.seed),
        core_of_(problem.graph.rank_count()) {
    // Where the number of ranks per core is not limited, the load of the cores can be balanced.
    by_load_ = options.load && problem.capacities[first_usable()] >= problem.graph.rank_count();
  }

  Result<Placement> run() && {
    std::vector<std::uint32_t> all_ranks(core_of_.size());
    std::iota(all_ranks.begin(), all_ranks.end(), 0);
    if (!all_ranks.empty()) {
      const Affinity affinity(problem_.graph);
      if (auto done = place(tree_.root(), affinity, all_ranks); !done) return propagate(done);
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

  /// Places the ranks on the part. Element i of `affinity` is rank `ranks[i]` of the program.
  Result<void> place(const Part& part, const Affinity& affinity, std::span<const std::uint32_t> ranks) {
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
    return place_on_siblings(network ? locality_order(problem_.topology, children) : children, network, affinity,
                             ranks);
  }

  /// The same for a list of siblings, which is in locality order if a network connects them.
  Result<void> place_on_siblings(std::span<const Part> siblings, bool network, const Affinity& affinity,
                                 std::span<const std::uint32_t> ranks) {
    if (options_.pack) siblings = siblings.first(needed_siblings(siblings, ranks.size()));
    if (siblings.size() == 1) return place(siblings.front(), affinity, ranks);
    const bool enough = ranks.size() >= min_vertices_per_part * siblings.size();
    const bool bisect = network || !enough;
    std::vector<std::span<const Part>> sides;
    if (bisect) {
      sides = {siblings.first(siblings.size() / 2), siblings.subspan(siblings.size() / 2)};
    } else {
      for (std::size_t at = 0; at < siblings.size(); ++at) sides.push_back(siblings.subspan(at, 1));
    }
    auto groups = partition(sides, affinity, ranks);
    if (!groups) return propagate(groups);
    const auto affinities = affinity.split(*groups);
    std::vector<std::uint32_t> side_ranks;
    for (std::uint32_t side = 0; side < sides.size(); ++side) {
      side_ranks.clear();
      for (const std::uint32_t member : (*groups)[side]) side_ranks.push_back(ranks[member]);
      if (side_ranks.empty()) continue;
      if (auto done = place_on_siblings(sides[side], network, affinities[side], side_ranks); !done) return done;
    }
    return {};
  }

  /// Partitions the ranks into one block per side; no block exceeds the capacity of its side.
  Result<Groups> partition(std::span<const std::span<const Part>> sides, const Affinity& affinity,
                           std::span<const std::uint32_t> ranks) {
    std::vector<std::uint64_t> capacities;
    std::vector<double> shares, loads;
    for (const auto& side : sides) {
      capacities.push_back(0);
      for (const Part& part : side) capacities.back() += tree_.slots(part);
      shares.push_back(static_cast<double>(capacities.back()));
    }
    for (std::size_t at = 0; by_load_ && at < ranks.size(); ++at) {
      loads.push_back(problem_.graph.load(Rank{ranks[at]}));
    }
    // The remaining slack is divided evenly over the n remaining bisections: each gets its n-th root.
    const double capacity = std::accumulate(shares.begin(), shares.end(), 0.0);
    const double all = by_load_ ? 1 + options_.tolerance : capacity / static_cast<double>(ranks.size());
    const double bisections = portable_log2(static_cast<double>(sides.size()));
    const double slack = portable_pow(all, bisections / std::max(bisections, remaining_bisections(sides)));
    auto part_of = ranks.size() < 2
                       ? Result<std::vector<std::uint32_t>>(std::vector<std::uint32_t>(ranks.size(), 0))
                       : metis_partition(affinity, {.shares = shares,
                                                    .loads = loads,
                                                    .slack = slack,
                                                    .cuts = options_.cuts,
                                                    .seed = seed_++,
                                                    .kway = sides.size() > 2 && use_kway(sides, ranks.size(), all)});
    if (!part_of) return propagate(part_of);
    rebalance(affinity, *part_of, capacities);
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

  /// METIS's k-way method is better if there is slack and a core gets some hundred ranks, and much worse otherwise.
  bool use_kway(std::span<const std::span<const Part>> sides, std::uint64_t ranks, double slack) const {
    if (options_.method != Method::automatic) return options_.method == Method::kway;
    std::uint64_t cores = 0;
    for (const auto& side : sides) {
      for (const Part& part : side) cores += part.core_count();
    }
    return slack > 1.01 && ranks >= min_ranks_per_core_for_kway * cores;
  }
  static constexpr std::uint64_t min_ranks_per_core_for_kway = 400;

  /// The number of bisections from these sides down to the cores, along the first child of every part.
  double remaining_bisections(std::span<const std::span<const Part>> sides) const {
    double count =
        portable_log2(static_cast<double>(sides.size())) + portable_log2(static_cast<double>(sides.front().size()));
    for (Part part = sides.front().front(); !part.is_core();) {
      const auto children = tree_.children(part);
      count += portable_log2(static_cast<double>(children.size()));
      part = children.front();
    }
    return count;
  }

  /// The number of leading siblings whose slots suffice for the ranks.
  std::size_t needed_siblings(std::span<const Part> siblings, std::uint64_t ranks) const {
    std::size_t count = 0;
    for (std::uint64_t capacity = 0; capacity < ranks && count < siblings.size(); ++count) {
      capacity += tree_.slots(siblings[count]);
    }
    return std::max<std::size_t>(count, 1);
  }

  /// Fills the cores in order.
  void fill(const Part& part, std::span<const std::uint32_t> ranks) {
    std::uint32_t core = part.begin, taken = 0;
    for (const std::uint32_t rank : ranks) {
      while (taken >= problem_.capacities[Core{core}]) ++core, taken = 0;
      core_of_[rank] = Core{core};
      ++taken;
    }
  }

  const MapProblem& problem_;
  const MetisOptions& options_;
  MachineTree tree_;
  StopCondition stop_condition_;
  std::uint64_t seed_;
  bool by_load_ = false;
  std::vector<Core> core_of_;
};

class Metis final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.choice(
        "method", options_.method,
        {{"auto", Method::automatic}, {"recursive", Method::recursive}, {"kway", Method::kway}},
        "partitioning method of METIS: recursive bisection or direct k-way; auto: k-way where many ranks share "
        "a core");
    options.count("cuts", options_.cuts, "number of partitions that METIS computes each time; the best is kept", 1,
                  1000);
    options.flag("pack", options_.pack,
                 "with fewer ranks than slots: use as few parts as possible instead of spreading");
    options.flag("load", options_.load, "where cores are shared: balance the loads of the ranks, not their number");
    options.number("tolerance", options_.tolerance,
                   "with load: allowed excess of a core's load over the average, as a fraction", 0, 10);
  }
  bool balances_load() const override { return options_.load; }
  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    return Multisection(problem, run, options_).run();
  }

 private:
  MetisOptions options_;
};

}  // namespace

std::unique_ptr<Mapper> make_metis() {
  return std::make_unique<Metis>();
}

}  // namespace rankloom
