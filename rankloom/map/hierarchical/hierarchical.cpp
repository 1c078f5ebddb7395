// SPDX-License-Identifier: Apache-2.0
// map/hierarchical: hierarchical mapping (Wang 2015, 4.5), with any mapper for the single-level mappings.
//
// Top down: the parts of a level are the paper's virtual nodes. The single-level mapper maps the ranks onto them; then
// the same is repeated inside each part with its ranks, down to the level that the user names. Below that level the
// ranks stay in the order of the last mapping. Levels with one part per parent are skipped. The nodes of a routed
// network form one level with the distances of the network.
#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/map/hierarchical/induced_subgraph.hpp"
#include "rankloom/map/machine/machine_tree.hpp"
#include "rankloom/map/mapper_factories.hpp"
#include "rankloom/map/run.hpp"
#include "rankloom/map/slot_numbering.hpp"
#include "rankloom/map/stop_condition.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;

/// One run of the mapper.
class HierarchicalMapping {
 public:
  HierarchicalMapping(const MapProblem& problem, const ConfiguredMapper& engine, const MapRun& run, std::size_t level)
      : problem_(problem),
        engine_(engine),
        run_(run),
        level_(level),
        tree_(problem.topology, problem.capacities),
        slots_(slots_in_core_order(problem)),
        subgraphs_(problem.graph),
        core_of_(problem.graph.rank_count()) {}

  Result<Placement> run() {
    std::vector<Rank> all_ranks(problem_.graph.ranks().begin(), problem_.graph.ranks().end());
    if (auto done = map_part(tree_.root(), all_ranks); !done) return propagate(done);
    return Placement{std::move(core_of_), {}, std::string(run_.deadline.passed() ? stopped_note : "")};
  }

 private:
  /// The slots of a part, in core order.
  std::span<const Core> slots_of(const Part& part) const {
    const auto begin = std::lower_bound(slots_.begin(), slots_.end(), Core{part.begin});
    const auto end = std::lower_bound(begin, slots_.end(), Core{part.end});
    return {begin, end};
  }

  /// Places the ranks on the part: level by level, or in the given order below the last level.
  Result<void> map_part(const Part& part, std::span<const Rank> ranks) {
    if (ranks.empty()) return {};
    if (part.is_core() || part.next_level > level_) {
      const auto slots = slots_of(part);
      for (std::size_t at = 0; at < ranks.size(); ++at) core_of_[index(ranks[at])] = slots[at];
      return {};
    }
    const auto children = tree_.children(part);
    auto ranks_of_child = map_single_level(part, children, ranks);
    if (!ranks_of_child) return propagate(ranks_of_child);
    for (std::size_t child = 0; child < children.size(); ++child) {
      if (auto done = map_part(children[child], (*ranks_of_child)[child]); !done) return done;
    }
    return {};
  }

  /// The single-level mapping: the ranks of each child, each list in the order of the virtual cores.
  Result<std::vector<std::vector<Rank>>> map_single_level(const Part& parent, const std::vector<Part>& parts,
                                                          std::span<const Rank> ranks) {
    auto machine = virtual_machine(parent, parts);
    if (!machine) return propagate(machine);
    const CommGraph graph = subgraphs_.extract(ranks);
    auto capacities = Capacities::of(*machine, graph.rank_count(), {});
    if (!capacities) return propagate(capacities);
    const MapProblem step{
        .graph = graph, .topology = *machine, .capacities = *capacities, .model = problem_.model, .start = {}};
    auto mapped = run_mapper(engine_, step, run_);
    if (!mapped) return propagate(mapped);

    std::vector<std::pair<Core, std::uint32_t>> order;  // virtual core, rank of the subgraph
    for (std::uint32_t rank = 0; rank < graph.rank_count(); ++rank) {
      order.emplace_back(mapped->mapping[Rank{rank}], rank);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::vector<Rank>> ranks_of_part(parts.size());
    for (const auto& [core, rank] : order) ranks_of_part[part_of(parent, *machine, core)].push_back(ranks[rank]);
    return ranks_of_part;
  }

  /// One virtual node per part, with one core per slot, at the distances of the real machine: two parts are as distant
  /// as their first cores, the slots of a part as distant as its children. A part that is a core stays a core.
  Result<Topology> virtual_machine(const Part& parent, const std::vector<Part>& parts) const {
    if (problem_.topology.is_matrix()) return distance_matrix_of_slots(parent);
    const auto cost_between = [&](const std::vector<Part>& children) {
      return problem_.topology.cost(Core{children[0].begin}, Core{children[1].begin});
    };
    MachineSpec spec;
    spec.root.kind = "machine";
    if (problem_.topology.routed() && parent.next_level == problem_.topology.node_level()) {
      spec.network = problem_.topology.spec().network;
    } else {
      spec.root.between = cost_between(parts);
    }
    for (const Part& part : parts) {
      const auto slots = static_cast<std::uint32_t>(slots_of(part).size());
      ObjectSpec node{.kind = "node", .name = {}, .between = {}, .os_index = {}, .children = {}};
      ObjectSpec core{.kind = "core", .name = {}, .between = {}, .os_index = {}, .children = {}};
      if (part.is_core() || slots == 0) {  // A part without slots keeps its node, so that the node numbers match.
        core.capacity = slots;
      } else {
        core.repeat = slots;
        node.between = cost_between(tree_.children(part));
      }
      node.children.push_back(std::move(core));
      spec.root.children.push_back(std::move(node));
    }
    return Topology::build(std::move(spec));
  }

  /// With a distance matrix every core is a part; two slots of a core have the distance of the core to itself.
  Result<Topology> distance_matrix_of_slots(const Part& parent) const {
    const auto slots = slots_of(parent);
    std::vector<double> distances;
    distances.reserve(slots.size() * slots.size());
    for (const Core p : slots) {
      for (const Core q : slots) distances.push_back(problem_.topology.cost(p, q).inverse_bandwidth);
    }
    return Topology::from_matrix(static_cast<std::uint32_t>(slots.size()), std::move(distances));
  }

  std::size_t part_of(const Part& parent, const Topology& machine, Core core) const {
    return machine.is_matrix() ? index(slots_of(parent)[index(core)]) - parent.begin : index(machine.node_of(core));
  }

  const MapProblem& problem_;
  const ConfiguredMapper& engine_;
  const MapRun& run_;
  std::size_t level_;
  MachineTree tree_;
  std::vector<Core> slots_;
  InducedSubgraphs subgraphs_;
  std::vector<Core> core_of_;
};

/// The level with this name, the lowest if several have it. "node" and "core" exist on every machine.
Result<std::size_t> find_level(const Topology& topology, const std::string& name) {
  const auto levels = topology.levels();
  if (name == "node") return topology.node_level();
  if (name == "core") return levels.size() - 1;
  for (std::size_t level = levels.size(); level-- > 0;) {
    if (levels[level].kind == name) return level;
  }
  std::vector<std::string> names;
  for (const Topology::Level& level : levels) names.push_back(level.kind);
  return fail(Code::usage, at("--level"), fmt::format("the machine has no level '{}'", name),
              fmt::format("levels: {}", fmt::join(names, ", ")));
}

class Hierarchical final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.text("level", level_, "LEVEL",
                 "map down to the objects of this level: node, core, or a level of the topology");
    options.text("engine", engine_, "SPEC", "the mapper for every single-level mapping, with its options");
  }

  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    auto level = find_level(problem.topology, level_);
    if (!level) return propagate(level);
    auto engine = make_mapper(engine_);
    if (!engine) {
      Error error = std::move(engine).error();
      if (error.where.source == "-a") error.where = at("--engine");
      return Failure(std::move(error));
    }
    if (engine->info->name == name) {
      return fail(Code::usage, at("--engine"), "hierarchical cannot be its own engine",
                  "name another mapper for the single-level mappings, such as clustering");
    }
    return HierarchicalMapping(problem, *engine, run, *level).run();
  }

 private:
  static constexpr std::string_view name = "hierarchical";
  std::string level_ = "node";
  std::string engine_ = "clustering";
};

}  // namespace

std::unique_ptr<Mapper> make_hierarchical() {
  return std::make_unique<Hierarchical>();
}

}  // namespace rankloom
