// SPDX-License-Identifier: Apache-2.0
// map/hierarchical: mapping level by level (Wang 2015, 4.5), with any mapper as the single-level engine.
//
// From the top: the parts of a level are virtual nodes; the engine maps the ranks onto them; then the same inside each
// part with its own ranks, down to the level that the user names. Below it the ranks keep the order that the engine
// gave them. A level with one part for each parent is no step. The nodes of a routed network are one level, at the
// distances of the network.
#include "rankloom/map/hierarchical/hierarchical.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/map/hierarchical/induced.hpp"
#include "rankloom/map/machine_tree.hpp"
#include "rankloom/map/places.hpp"
#include "rankloom/map/pulse.hpp"
#include "rankloom/map/run.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;

/// One run: what stays the same on all levels.
class Descent {
 public:
  Descent(const MapProblem& problem, const ConfiguredMapper& engine, const MapRun& run, std::size_t level)
      : problem_(problem),
        engine_(engine),
        run_(run),
        level_(level),
        tree_(problem.topology, problem.capacities),
        places_(places_in_order(problem)),
        induced_(problem.graph),
        core_of_(problem.graph.rank_count()) {}

  Result<Placement> run() {
    std::vector<Rank> everyone(problem_.graph.ranks().begin(), problem_.graph.ranks().end());
    if (auto done = descend(tree_.root(), everyone); !done) return propagate(done);
    return Placement{std::move(core_of_), {}, std::string(run_.deadline.passed() ? stopped_note : "")};
  }

 private:
  /// The places of a part, in order.
  std::span<const Core> places_of(const Part& part) const {
    const auto begin = std::lower_bound(places_.begin(), places_.end(), Core{part.begin});
    const auto end = std::lower_bound(begin, places_.end(), Core{part.end});
    return {begin, end};
  }

  /// Puts the ranks, in this order, somewhere on the part.
  Result<void> descend(const Part& part, std::span<const Rank> ranks) {
    if (ranks.empty()) return {};
    if (part.is_core() || part.next_level > level_) {
      const auto places = places_of(part);
      for (std::size_t at = 0; at < ranks.size(); ++at) core_of_[index(ranks[at])] = places[at];
      return {};
    }
    const auto parts = tree_.children(part);
    auto divided = divide(part, parts, ranks);
    if (!divided) return propagate(divided);
    for (std::size_t child = 0; child < parts.size(); ++child) {
      if (auto done = descend(parts[child], (*divided)[child]); !done) return done;
    }
    return {};
  }

  /// The single-level step: which ranks go to which part, each list in the order of the virtual cores.
  Result<std::vector<std::vector<Rank>>> divide(const Part& parent, const std::vector<Part>& parts,
                                                std::span<const Rank> ranks) {
    auto machine = virtual_machine(parent, parts);
    if (!machine) return propagate(machine);
    const CommGraph graph = induced_.of(ranks);
    auto capacities = Capacities::of(*machine, graph.rank_count(), {});
    if (!capacities) return propagate(capacities);
    const MapProblem step{.graph = graph, .topology = *machine, .capacities = *capacities, .model = problem_.model, .start = {}};
    auto mapped = run_mapper(engine_, step, run_);
    if (!mapped) return propagate(mapped);

    std::vector<std::pair<Core, std::uint32_t>> order;  // virtual core, rank of the step
    for (std::uint32_t rank = 0; rank < graph.rank_count(); ++rank) {
      order.emplace_back(mapped->mapping[Rank{rank}], rank);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::vector<Rank>> divided(parts.size());
    for (const auto& [core, rank] : order) divided[part_of(parent, *machine, core)].push_back(ranks[rank]);
    return divided;
  }

  /// One node for each part, with a core for each of its places, at the distances of the real machine: between two
  /// parts as between their first cores, inside one as between its own parts. A part that is a core stays one.
  Result<Topology> virtual_machine(const Part& parent, const std::vector<Part>& parts) const {
    if (problem_.topology.is_matrix()) return table_of_places(parent);
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
      const auto places = static_cast<std::uint32_t>(places_of(part).size());
      ObjectSpec node{.kind = "node", .name = {}, .between = {}, .os_index = {}, .children = {}};
      ObjectSpec core{.kind = "core", .name = {}, .between = {}, .os_index = {}, .children = {}};
      if (part.is_core() || places == 0) {  // without places it stays, so that the others keep their numbers
        core.capacity = places;
      } else {
        core.repeat = places;
        node.between = cost_between(tree_.children(part));
      }
      node.children.push_back(std::move(core));
      spec.root.children.push_back(std::move(node));
    }
    return Topology::build(std::move(spec));
  }

  /// In a table of distances every core is a part; its places are as near to each other as a core to itself.
  Result<Topology> table_of_places(const Part& parent) const {
    const auto places = places_of(parent);
    std::vector<double> distances;
    distances.reserve(places.size() * places.size());
    for (const Core p : places) {
      for (const Core q : places) distances.push_back(problem_.topology.cost(p, q).gap);
    }
    return Topology::from_matrix(static_cast<std::uint32_t>(places.size()), std::move(distances));
  }

  std::size_t part_of(const Part& parent, const Topology& machine, Core core) const {
    return machine.is_matrix() ? index(places_of(parent)[index(core)]) - parent.begin : index(machine.node_of(core));
  }

  const MapProblem& problem_;
  const ConfiguredMapper& engine_;
  const MapRun& run_;
  std::size_t level_;
  MachineTree tree_;
  std::vector<Core> places_;
  InducedGraphs induced_;
  std::vector<Core> core_of_;
};

/// The level of this name, the lowest where several have it; "node" and "core" are there on every machine.
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
              fmt::format("one of: {}", fmt::join(names, ", ")));
}

class Hierarchical final : public Mapper {
 public:
  void describe(OptionList& options) override {
    options.text("level", level_, "LEVEL", "down to the objects of this level: node, core, or a level of the topology");
    options.text("engine", engine_, "SPEC", "the mapper of every single step, with its options");
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
                  "name a mapper for the single steps, such as clustering");
    }
    return Descent(problem, *engine, run, *level).run();
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
