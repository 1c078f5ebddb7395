// SPDX-License-Identifier: Apache-2.0
// place: a mapping in terms of the operating systems: the host and the processing units of each rank.
#include "rankloom/place/deployment.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/core/text/number_ranges.hpp"
#include "rankloom/model/machine/slots/mixed_slots.hpp"
#include "rankloom/model/machine/slots/slots.hpp"

namespace rankloom {

namespace {

Result<IdVector<Node, std::string>> host_names(const Topology& topology, std::span<const std::string> given) {
  if (!given.empty() && given.size() < topology.node_count()) {
    return fail(Code::bad_input, at("--hosts"),
                fmt::format("{} names are given for the {} nodes of the machine", given.size(), topology.node_count()),
                "name every node, in the order of the topology");
  }
  IdVector<Node, std::string> names(topology.node_count());
  for (const Node node : topology.nodes()) {
    names[node] = given.empty() ? topology.node_name(node) : given[index(node)];
    if (!is_plain_host_name(names[node])) {
      return fail(Code::bad_input, at(given.empty() ? "topology" : "--hosts"),
                  fmt::format("\"{}\" cannot be a host name in a launcher's file", names[node]),
                  "use letters, digits, - _ and . and do not begin with -");
    }
  }
  return names;
}

Core first_core_of(const Topology& topology, Node node) {
  return topology.first_core(topology.node_level(), index(node));
}

/// The cores of the node with a capacity, in order.
std::vector<Core> usable_cores(const Topology& topology, Node node) {
  std::vector<Core> cores;
  const auto end = index(topology.first_core(topology.node_level(), index(node) + 1));
  for (auto core = index(first_core_of(topology, node)); core < end; ++core) {
    if (topology.capacity(Core{core}) > 0) cores.push_back(Core{core});
  }
  return cores;
}

/// Finds cores by host and processing unit. Of several suitable cores it chooses the first one with the fewest ranks.
/// A rank takes the time of a search in a set, whatever the number of cores of its node.
class CoreFinder {
 public:
  explicit CoreFinder(const Topology& topology) : topology_(topology) {}

  void name(const std::string& host, Node node) { node_of_.emplace(host, node); }

  std::optional<Node> node(const std::string& host) const {
    const auto found = node_of_.find(host);
    return found == node_of_.end() ? std::nullopt : std::optional(found->second);
  }

  /// The cores that these processing units belong to.
  struct Cores {
    std::uint32_t count = 1;
    bool consecutive = true;
  };
  Cores cores(Node node, std::span<const std::uint32_t> cpus) {
    if (cpus.size() < 2) return {};
    const std::size_t level = core_level(topology_);
    std::set<std::uint32_t> cores;
    for (const std::uint32_t cpu : cpus) {
      const auto found = candidates_of(node).lower_bound(Candidate{cpu, 0, Core{0}});
      if (found != candidates_of(node).end() && found->cpu == cpu)
        cores.insert(topology_.object_of(level, found->core));
    }
    if (cores.empty()) return {};
    return {static_cast<std::uint32_t>(cores.size()), *cores.rbegin() - *cores.begin() + 1 == cores.size()};
  }

  /// The first core of these processing units, or any core of the node. Nothing if the node lacks one of the units.
  std::optional<Core> core(Node node, std::span<const std::uint32_t> cpus) {
    Candidates& cores = candidates_of(node);
    std::optional<Candidate> chosen;
    const auto consider = [&](std::uint64_t cpu) {
      const auto best = cores.lower_bound(Candidate{cpu, 0, Core{0}});
      if (best == cores.end() || best->cpu != cpu) return false;
      if (!chosen || best->core < chosen->core) chosen = *best;
      return true;
    };
    if (cpus.empty() ? !consider(any_cpu) : !std::all_of(cpus.begin(), cpus.end(), consider)) return std::nullopt;
    for (const std::uint64_t key : {any_cpu, std::uint64_t{topology_.os_index(chosen->core)}}) {
      cores.erase(Candidate{key, chosen->ranks, chosen->core});
      cores.insert(Candidate{key, chosen->ranks + 1, chosen->core});
    }
    return chosen->core;
  }

 private:
  /// A core is a candidate for its own processing unit and for ranks without one.
  struct Candidate {
    std::uint64_t cpu;
    std::uint32_t ranks;
    Core core;
    auto operator<=>(const Candidate&) const = default;
  };
  using Candidates = std::set<Candidate>;
  static constexpr std::uint64_t any_cpu = ~std::uint64_t{0};

  Candidates& candidates_of(Node node) {
    const auto [entry, added] = candidates_.try_emplace(node);
    if (added) {
      for (const Core core : usable_cores(topology_, node)) {
        entry->second.insert(Candidate{any_cpu, 0, core});
        entry->second.insert(Candidate{topology_.os_index(core), 0, core});
      }
    }
    return entry->second;
  }

  const Topology& topology_;
  std::map<std::string, Node> node_of_;
  std::map<Node, Candidates> candidates_;
};

/// The leaves of each rank. Ranks of the default shape share a core only as they do in the mapping.
class SlotFinder {
 public:
  SlotFinder(const Topology& topology, std::span<const Core> core_of) : topology_(topology), core_of_(core_of) {}

  Result<void> add_slots(Deployment& deployment) {
    if (deployment.shapes.differ()) return add_mixed_slots(deployment);
    const SlotShape& shape = deployment.shapes.common();
    if (shape == SlotShape{}) {
      add_cores(deployment);
      return {};
    }
    auto slots = Slots::cut(topology_, static_cast<std::uint32_t>(core_of_.size()), shape);
    if (!slots) return propagate(slots);
    if (slots->are_leaves()) {
      add_leaves(deployment);
      return {};
    }
    IdVector<Core, std::uint32_t> slot_at(topology_.core_count(), no_slot);
    for (std::uint32_t slot = 0; slot < slots->count(); ++slot) slot_at[slots->leaves(slot)[0]] = slot;
    for (std::size_t rank = 0; rank < core_of_.size(); ++rank) {
      const Core core = core_of_[rank];
      if (slot_at[core] == no_slot) {
        return fail(
            Code::bad_input, at("mapping"),
            fmt::format("rank {} is on core {}, where no slot of {} begins", rank, index(core), describe(shape)),
            fmt::format("compute the mapping with {}", option_text(shape)));
      }
      add(core, slots->leaves(slot_at[core]), deployment, slots->gpus(slot_at[core]));
    }
    return {};
  }

 private:
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};

  static std::string describe(SlotShape shape) {
    std::string text = fmt::format("{} core{}", shape.cores, shape.cores == 1 ? "" : "s");
    if (shape.threads_per_core > 0)
      text += fmt::format(" with {} hardware thread{}", shape.threads_per_core, shape.threads_per_core == 1 ? "" : "s");
    if (shape.gpus > 0) text += fmt::format(" and {} GPU{}", shape.gpus, shape.gpus == 1 ? "" : "s");
    return text;
  }

  Result<void> add_mixed_slots(Deployment& deployment) {
    if (topology_.is_matrix())
      return fail(Code::usage, at(option_text(deployment.shapes)), "a distance matrix has no cores that form a slot",
                  "give a machine with levels");
    const MixedSlots slots(topology_, deployment.shapes, static_cast<std::uint32_t>(core_of_.size()));
    if (auto valid = slots.check(core_of_, "mapping"); !valid) return valid;
    const auto gpus = slots.gpus(core_of_);
    for (std::uint32_t rank = 0; rank < core_of_.size(); ++rank)
      add(core_of_[rank], slots.leaves(Rank{rank}, core_of_[rank]), deployment, gpus[Rank{rank}]);
    return {};
  }

  void add_leaves(Deployment& deployment) {
    for (const Core core : core_of_) add(core, std::span(&core, 1), deployment);
  }

  /// Whole cores, but single hardware threads of a core whose ranks are on several of them.
  void add_cores(Deployment& deployment) {
    if (!has_hardware_threads(topology_)) return add_leaves(deployment);
    const std::size_t level = core_level(topology_);
    constexpr Core several{no_slot}, none{no_slot - 1};
    std::vector<Core> used(topology_.levels()[level].objects, none);  // by core: its leaf with ranks
    for (const Core leaf : core_of_) {
      Core& only = used[topology_.object_of(level, leaf)];
      only = only == none || only == leaf ? leaf : several;
    }
    std::vector<Core> leaves;
    for (const Core leaf : core_of_) {
      const std::uint32_t core = topology_.object_of(level, leaf);
      leaves.clear();
      for (auto i = index(topology_.first_core(level, core)); i < index(topology_.first_core(level, core + 1)); ++i) {
        if (Core{i} == leaf || (used[core] == leaf && topology_.capacity(Core{i}) > 0)) leaves.push_back(Core{i});
      }
      add(leaf, leaves, deployment);
    }
  }

  /// Ranks on the same core of the mapping have the same slot, whose leaves are stored once.
  void add(Core core, std::span<const Core> leaves, Deployment& deployment, std::span<const std::uint32_t> gpus = {}) {
    if (first_rank_.empty()) first_rank_.resize(topology_.core_count(), no_slot);
    const auto rank = static_cast<std::uint32_t>(deployment.bindings.size());
    if (first_rank_[core] != no_slot) {
      deployment.bindings.push_back(deployment.bindings[Rank{first_rank_[core]}]);
      return;
    }
    first_rank_[core] = rank;
    const auto begin = static_cast<std::uint32_t>(deployment.leaves.size());
    const auto end = begin + static_cast<std::uint32_t>(leaves.size());
    const auto first_gpu = static_cast<std::uint32_t>(deployment.gpu_numbers.size());
    deployment.leaves.insert(deployment.leaves.end(), leaves.begin(), leaves.end());
    deployment.gpu_numbers.insert(deployment.gpu_numbers.end(), gpus.begin(), gpus.end());
    deployment.bindings.push_back({topology_.node_of(core), core, begin, end, first_gpu});
  }

  const Topology& topology_;
  std::span<const Core> core_of_;
  IdVector<Core, std::uint32_t> first_rank_;  // by core of the mapping
};

bool has_a_name(const ObjectSpec& object) {
  return !object.name.empty() || std::any_of(object.children.begin(), object.children.end(), has_a_name);
}

}  // namespace

IdVector<Node, std::vector<Rank>> Deployment::ranks_of_nodes() const {
  IdVector<Node, std::vector<Rank>> ranks_of(hosts.size());
  for (const Rank rank : ranks()) ranks_of[bindings[rank].node].push_back(rank);
  return ranks_of;
}

std::vector<std::uint32_t> Deployment::cpus(Rank rank) const {
  std::vector<std::uint32_t> cpus;
  for (const Core leaf : slot(rank)) cpus.push_back(topology.os_index(leaf));
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());  // cores of a virtual host may share units
  return cpus;
}

std::vector<std::uint32_t> Deployment::positions(Rank rank) const {
  const Core first = first_core_of(topology, bindings[rank].node);
  std::vector<std::uint32_t> positions;
  for (const Core leaf : slot(rank)) positions.push_back(index(leaf) - index(first));
  return positions;
}

IdVector<Rank, std::string_view> Deployment::nearest_network_cards() const {
  struct Card {
    const Topology::Device* device;
    std::uint32_t ranks = 0;
  };
  IdVector<Node, std::vector<Card>> cards(topology.node_count());
  for (const Topology::Device& device : topology.devices()) {
    if (device.kind == "nic") cards[device.node].push_back({&device});
  }
  IdVector<Rank, std::string_view> names(bindings.size());
  for (const Rank rank : ranks()) {
    std::vector<Card>& of_node = cards[bindings[rank].node];
    if (of_node.size() < 2) continue;
    const Core core = slot(rank)[0];
    // A card near the core is near a part of the machine that contains the core; the smaller the part, the nearer.
    const auto distance = [&](const Card& card) {
      const bool near = card.device->first <= core && core < card.device->end;
      return std::tuple(!near, near ? index(card.device->end) - index(card.device->first) : 0, card.ranks);
    };
    Card& nearest = *std::min_element(of_node.begin(), of_node.end(),
                                      [&](const Card& a, const Card& b) { return distance(a) < distance(b); });
    ++nearest.ranks;
    names[rank] = nearest.device->name;
  }
  return names;
}

std::string_view name(RankSettings::Memory memory) {
  switch (memory) {
    case RankSettings::Memory::local:
      return "local";
    case RankSettings::Memory::interleave:
      return "interleave";
    default:
      return "unchanged";
  }
}

Result<void> check_widths(MappingFile& mapping, std::optional<std::size_t> apart, const std::string& source) {
  mapping.shapes = mapping.shapes.of_first(static_cast<std::uint32_t>(mapping.core_of.size()));
  if (!mapping.shapes.differ()) return {};
  if (apart) {
    return fail(Code::bad_input, at(source), fmt::format("the cores of rank {} are not next to each other", *apart),
                "give every rank a row of cores, or all ranks the same number of cores");
  }
  if (mapping.shapes.parts().size() > SlotShapes::max_parts) {
    return fail(Code::bad_input, at(source), "the number of cores per rank changes too often",
                fmt::format("give at most {} groups of ranks different numbers of cores", SlotShapes::max_parts));
  }
  return {};
}

bool names_its_hosts(const Topology& topology) {
  return has_a_name(topology.spec().root);
}

Result<Deployment> deploy(std::span<const Core> core_of, const Topology& topology, std::span<const std::string> hosts,
                          const SlotShapes& shapes) {
  auto names = host_names(topology, hosts);
  if (!names) return propagate(names);
  for (std::size_t rank = 0; rank < core_of.size(); ++rank) {
    if (index(core_of[rank]) < topology.core_count()) continue;
    return fail(Code::bad_input, at("mapping"),
                fmt::format("rank {} is on core {}, but the machine has the cores 0..{}", rank, index(core_of[rank]),
                            topology.core_count() - 1),
                "give the topology that the mapping was computed for");
  }
  const auto ranks = static_cast<std::uint32_t>(core_of.size());
  if (auto named = shapes.check(ranks); !named) return propagate(named);
  Deployment deployment{
      .topology = topology, .hosts = std::move(*names), .shapes = shapes.of_first(ranks), .bindings = {}, .leaves = {}};
  deployment.bindings.reserve(core_of.size());
  if (auto added = SlotFinder(topology, core_of).add_slots(deployment); !added) return propagate(added);
  return deployment;
}

Result<MappingFile> mapping_of_bindings(std::span<const NamedBinding> bindings, const Topology& topology,
                                        std::span<const std::string> hosts, const std::string& source) {
  auto names = host_names(topology, hosts);
  if (!names) return propagate(names);
  CoreFinder finder(topology);
  for (const Node node : topology.nodes()) finder.name((*names)[node], node);
  MappingFile mapping;
  std::vector<Core>& core_of = mapping.core_of;
  std::optional<std::size_t> apart;
  for (const NamedBinding& binding : bindings) {
    const auto node = finder.node(binding.host);
    if (!node) {
      return fail(Code::bad_input, at(source),
                  fmt::format("rank {} is on {}, which is not a host of the topology", core_of.size(), binding.host),
                  "give the topology of these hosts, or their names with --hosts");
    }
    const auto core = finder.core(*node, binding.cpus);
    if (!core) {
      const std::string where = binding.cpus.empty()
                                    ? fmt::format("{}, which has no usable core", binding.host)
                                    : fmt::format("processing unit {} of {}, which the topology does not contain",
                                                  format_number_ranges(binding.cpus), binding.host);
      return fail(Code::bad_input, at(source), fmt::format("rank {} is on {}", core_of.size(), where),
                  "give the topology that the file was written for");
    }
    const CoreFinder::Cores cores = finder.cores(*node, binding.cpus);
    if (!cores.consecutive && !apart) apart = core_of.size();
    mapping.shapes.append(1, {.cores = cores.count});
    core_of.push_back(*core);
  }
  if (auto valid = check_widths(mapping, apart, source); !valid) return propagate(valid);
  return mapping;
}

}  // namespace rankloom
