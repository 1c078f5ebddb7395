// SPDX-License-Identifier: Apache-2.0
// map/external: a machine as a Scotch target architecture.
#include "rankloom/map/external/scotch_target.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "rankloom/map/external/integer_weights.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;

/// Scotch sums traffic x distance in SCOTCH_Num, so each factor gets a part of its bits.
constexpr double max_distance = sizeof(ScotchNumber) > 4 ? 0x1p20 : 0x1p10;

/// One level of a regular tree, top down.
struct TreeLevel {
  std::uint32_t width;
  double cost;
  std::optional<std::size_t> level;  ///< Of the topology; none: the slots of a core.
};

/// The cost between cores of different objects of this level: the mean over some pairs.
double cost_of_level(const Topology& topology, const ScotchDistance& distance, const Part& part, std::size_t level) {
  constexpr std::uint32_t max_samples = 64;
  double sum = 0;
  std::uint32_t samples = 0;
  for (std::uint32_t core = part.begin; core < part.end && samples < max_samples;) {
    const std::uint32_t next = index(topology.first_core(level, topology.object_of(level, Core{core}) + 1));
    if (next < part.end && topology.divergence_level(Core{core}, Core{next}) == level) {
      sum += distance(Core{core}, Core{next});
      ++samples;
    }
    core = next;
  }
  return samples > 0 ? sum / samples : 0;
}

/// The number of the core's object among those of its parent.
std::uint32_t position(const Topology& topology, const Part& part, std::size_t level, Core core) {
  const std::uint32_t first =
      level == 0 ? part.begin
                 : std::max(part.begin, index(topology.first_core(level - 1, topology.object_of(level - 1, core))));
  return topology.object_of(level, core) - topology.object_of(level, Core{first});
}

std::vector<TreeLevel> levels_of(const MapProblem& problem, const Part& part, std::uint32_t widest_core) {
  const Topology& topology = problem.topology;
  const ScotchDistance distance(problem);
  std::vector<TreeLevel> levels;
  for (std::size_t level = part.next_level; level < topology.levels().size(); ++level) {
    std::uint32_t widest = 0;
    for (std::uint32_t core = part.begin; core < part.end;) {
      widest = std::max(widest, position(topology, part, level, Core{core}) + 1);
      core = index(topology.first_core(level, topology.object_of(level, Core{core}) + 1));
    }
    if (widest > 1) levels.push_back({widest, cost_of_level(topology, distance, part, level), level});
  }
  if (widest_core > 1) levels.push_back({widest_core, 0, std::nullopt});
  return levels;
}

/// The differences of the levels' costs as link values, at least one of them positive.
std::vector<ScotchNumber> link_values(const std::vector<TreeLevel>& levels) {
  std::vector<double> steps;
  double below = 0;
  for (std::size_t at = levels.size(); at-- > 0;) {
    steps.push_back(std::max(0.0, levels[at].cost - below));
    below = std::max(below, levels[at].cost);
  }
  std::reverse(steps.begin(), steps.end());
  if (below == 0) std::fill(steps.begin(), steps.end(), 1.0);
  return integer_weights<ScotchNumber>(steps, max_distance);
}

Result<ScotchTarget> tree_target(const MapProblem& problem, const Part& part, std::uint64_t ranks) {
  const Topology& topology = problem.topology;
  const auto slots_of_core = [&](Core core) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(problem.capacities[core], problem.graph.rank_count()));
  };
  // If all usable cores have the same capacity, each is one leaf, and Scotch distributes the ranks evenly.
  std::uint32_t widest_core = 0, narrowest = std::numeric_limits<std::uint32_t>::max();
  for (std::uint32_t core = part.begin; core < part.end; ++core) {
    if (slots_of_core(Core{core}) == 0) continue;
    widest_core = std::max(widest_core, slots_of_core(Core{core}));
    narrowest = std::min(narrowest, slots_of_core(Core{core}));
  }
  const bool one_leaf = widest_core == narrowest;
  const auto levels = levels_of(problem, part, one_leaf ? 1 : widest_core);
  std::vector<ScotchNumber> widths;
  double leaves = 1;
  for (const TreeLevel& level : levels) {
    widths.push_back(level.width);
    leaves *= level.width;
  }
  if (leaves >= static_cast<double>(std::numeric_limits<ScotchNumber>::max()) / 4) {
    return scotch_failure("cannot represent a machine this uneven: too many leaves");
  }
  ScotchTarget target{.whole = std::make_unique<ScotchArch>()};
  std::vector<ScotchNumber> leaf_of;  // by terminal
  const std::uint32_t ranks_per_leaf = one_leaf ? std::max(1U, widest_core) : 1;
  const std::uint64_t needed_leaves = ranks / ranks_per_leaf + (ranks % ranks_per_leaf > 0 ? 1 : 0);
  for (std::uint32_t core = part.begin; core < part.end && leaf_of.size() < needed_leaves; ++core) {
    ScotchNumber leaf = 0;
    for (const TreeLevel& level : levels) {
      leaf = leaf * level.width + (level.level ? position(topology, part, *level.level, Core{core}) : 0);
    }
    const std::uint32_t slots = one_leaf ? std::min(1U, slots_of_core(Core{core})) : slots_of_core(Core{core});
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      leaf_of.push_back(leaf + slot);
      target.location_of.push_back(core);
    }
  }
  if (target.location_of.size() <= 1) return target;  // nothing to choose; Scotch has no tree of one leaf
  const bool all_leaves = static_cast<double>(leaf_of.size()) == leaves;
  ScotchArch& tree = all_leaves ? *target.arch : *target.whole;
  const auto links = link_values(levels);
  bool built = SCOTCH_archTleaf(tree.get(), static_cast<ScotchNumber>(levels.size()), widths.data(), links.data()) == 0;
  if (built && !all_leaves) {
    built =
        SCOTCH_archSub(target.arch->get(), tree.get(), static_cast<ScotchNumber>(leaf_of.size()), leaf_of.data()) == 0;
  }
  if (!built) return scotch_failure("failed to create the target architecture of the machine");
  return target;
}

/// A decomposition of the complete graph whose edge weights are the distances.
template <class DistanceFunction>
Result<ScotchTarget> matrix_target(ScotchSession& session, std::vector<std::uint32_t> locations,
                                   std::vector<ScotchNumber> sizes, const DistanceFunction& distance) {
  double largest = 0;
  std::vector<double> distances;
  for (const std::uint32_t p : locations) {
    for (const std::uint32_t q : locations) {
      distances.push_back(p == q ? 0 : (distance(p, q) + distance(q, p)) / 2);
      largest = std::max(largest, distances.back());
    }
  }
  const bool integers = largest <= max_distance && std::all_of(distances.begin(), distances.end(), [](double value) {
                          return value == static_cast<double>(static_cast<std::int64_t>(value));
                        });
  ScotchGraph::Rows rows;
  for (std::size_t p = 0; p < locations.size(); ++p) {
    for (std::size_t q = 0; q < locations.size(); ++q) {
      if (p == q) continue;
      const double value = distances[p * locations.size() + q];
      rows.neighbours.push_back(static_cast<ScotchNumber>(q));
      const double scaled = integers || largest == 0 ? value : value / largest * max_distance;
      rows.weights.push_back(std::max<ScotchNumber>(1, static_cast<ScotchNumber>(scaled)));
    }
    rows.offsets.push_back(static_cast<ScotchNumber>(rows.neighbours.size()));
  }
  rows.loads = std::move(sizes);
  ScotchGraph graph(std::move(rows));
  ScotchTarget target{.whole = nullptr};
  target.location_of = std::move(locations);
  ScotchStrategy strategy;
  const bool small = target.location_of.size() <= max_table_size;
  const int status = session.with(graph, [&](SCOTCH_Graph* bound) {
    return small ? SCOTCH_archBuild0(target.arch->get(), bound, 0, nullptr, strategy.get())
                 : SCOTCH_archBuild2(target.arch->get(), bound, 0, nullptr);
  });
  if (status != 0) return scotch_failure("failed to create the target architecture of the machine");
  return target;
}

/// A decomposition of the network's graph, with nodes as terminals and routers as other vertices.
Result<ScotchTarget> wiring_target(ScotchSession& session, const Network& network,
                                   const std::vector<std::uint32_t>& nodes) {
  struct DirectedLink {
    std::uint32_t from, to;
    double slowness;
    bool operator<(const DirectedLink& other) const {
      return from != other.from ? from < other.from : to != other.to ? to < other.to : slowness < other.slowness;
    }
  };
  std::vector<DirectedLink> links;
  for (const Link link : IdRange<Link>(network.link_count())) {
    const auto [from, to] = network.endpoints(link);
    if (from == to) continue;
    links.push_back({index(from), index(to), network.slowness(link)});
    links.push_back({index(to), index(from), network.slowness(link)});
  }
  std::sort(links.begin(), links.end());
  ScotchGraph::Rows rows;
  std::size_t at = 0;
  for (std::uint32_t vertex = 0; vertex < network.vertex_count(); ++vertex) {
    for (; at < links.size() && links[at].from == vertex; ++at) {
      const bool parallel_link = at > 0 && links[at - 1].from == vertex && links[at - 1].to == links[at].to;
      if (parallel_link) continue;
      rows.neighbours.push_back(static_cast<ScotchNumber>(links[at].to));
      rows.weights.push_back(static_cast<ScotchNumber>(std::clamp(16 * links[at].slowness, 1.0, max_distance)));
    }
    rows.offsets.push_back(static_cast<ScotchNumber>(rows.neighbours.size()));
  }
  ScotchGraph graph(std::move(rows));
  const std::vector<ScotchNumber> list(nodes.begin(), nodes.end());
  ScotchTarget target{.whole = std::make_unique<ScotchArch>()};
  const int status = session.with(graph, [&](SCOTCH_Graph* bound) {
    return SCOTCH_archBuild2(target.arch->get(), bound, static_cast<ScotchNumber>(list.size()), list.data());
  });
  if (status != 0) return scotch_failure("failed to create the target architecture of the network");
  target.location_of.resize(nodes.size());
  std::iota(target.location_of.begin(), target.location_of.end(), 0);
  return target;
}

/// nullopt if Scotch has no such mesh.
std::optional<ScotchTarget> mesh_target(const MeshShape& mesh, const std::vector<std::uint32_t>& nodes) {
  constexpr std::size_t max_dimensions = 5;
  std::vector<ScotchNumber> sizes;  // Scotch counts fastest in the first dimension, we in the last
  double node_count = 1;
  for (auto size = mesh.sizes.rbegin(); size != mesh.sizes.rend(); ++size) {
    if (*size > 1) sizes.push_back(static_cast<ScotchNumber>(*size));
    node_count *= *size;
  }
  if (sizes.empty() || sizes.size() > max_dimensions) return std::nullopt;
  ScotchTarget target{.whole = std::make_unique<ScotchArch>()};
  const bool full = static_cast<double>(nodes.size()) == node_count;
  ScotchArch& arch = full ? *target.arch : *target.whole;
  const auto build = mesh.torus ? SCOTCH_archTorusX : SCOTCH_archMeshX;
  if (build(arch.get(), static_cast<ScotchNumber>(sizes.size()), sizes.data()) != 0) return std::nullopt;
  const std::vector<ScotchNumber> list(nodes.begin(), nodes.end());
  if (!full &&
      SCOTCH_archSub(target.arch->get(), arch.get(), static_cast<ScotchNumber>(list.size()), list.data()) != 0) {
    return std::nullopt;
  }
  target.location_of.resize(nodes.size());
  std::iota(target.location_of.begin(), target.location_of.end(), 0);
  return target;
}

}  // namespace

ScotchDistance::ScotchDistance(const MapProblem& problem)
    : distance_(make_distance(problem.topology, pairwise_model(problem.model))) {
  const double bytes = problem.graph.total_bytes();
  if (bytes > 0) messages_per_byte_ = problem.graph.total_messages() / bytes;
}

double ScotchDistance::operator()(Core p, Core q) const {
  const auto cost = [&](Core from, Core to) {
    const PairCost pair = std::visit([&](const auto& distance) { return distance(from, to); }, distance_);
    return pair.per_byte + messages_per_byte_ * pair.per_message;
  };
  return std::max(0.0, cost(p, q) - cost(p, p));
}

Result<ScotchTarget> scotch_cores(ScotchSession& session, const MapProblem& problem, const MachineTree& tree,
                                  const Part& part, std::uint64_t ranks) {
  const Topology& topology = problem.topology;
  const bool by_level = topology.cost_by_bit().has_value() || (topology.routed() && part != tree.root());
  std::vector<std::uint32_t> usable_cores;
  for (std::uint32_t core = part.begin; core < part.end; ++core) {
    if (problem.capacities[Core{core}] > 0) usable_cores.push_back(core);
  }
  if (!by_level && (usable_cores.size() <= max_table_size || topology.is_matrix())) {
    std::vector<ScotchNumber> sizes;
    sizes.reserve(usable_cores.size());
    for (const std::uint32_t core : usable_cores) sizes.push_back(problem.capacities[Core{core}]);
    if (sizes.size() > ranks) sizes.resize(ranks), usable_cores.resize(ranks);
    if (std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) == sizes.end()) sizes.clear();
    const ScotchDistance distance(problem);
    return matrix_target(session, std::move(usable_cores), std::move(sizes),
                         [&](std::uint32_t p, std::uint32_t q) { return distance(Core{p}, Core{q}); });
  }
  return tree_target(problem, part, ranks);
}

Result<ScotchTarget> scotch_nodes(ScotchSession& session, const MapProblem& problem, const std::vector<Part>& nodes) {
  const Topology& topology = problem.topology;
  std::vector<std::uint32_t> numbers;
  numbers.reserve(nodes.size());
  for (const Part& node : nodes) numbers.push_back(index(topology.node_of(Core{node.begin})));
  if (const auto* const mesh = std::get_if<MeshShape>(&topology.network().shape())) {
    if (auto target = mesh_target(*mesh, numbers)) return *std::move(target);
  }
  if (nodes.size() > max_table_size) return wiring_target(session, topology.network(), numbers);
  const ScotchDistance distance(problem);
  std::vector<std::uint32_t> positions(nodes.size());
  std::iota(positions.begin(), positions.end(), 0);
  return matrix_target(session, std::move(positions), {}, [&](std::uint32_t p, std::uint32_t q) {
    return distance(Core{nodes[p].begin}, Core{nodes[q].begin});
  });
}

}  // namespace rankloom
