// SPDX-License-Identifier: Apache-2.0
// place: a mapping in terms of the operating systems: the host and the processing unit of each rank.
#include "rankloom/place/deployment.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "rankloom/core/text/hostlist.hpp"

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

  std::optional<Core> core(Node node, std::optional<std::uint32_t> cpu) {
    Candidates& cores = candidates_of(node);
    const std::uint64_t wanted = cpu ? *cpu : any_cpu;
    const auto best = cores.lower_bound(Candidate{wanted, 0, Core{0}});
    if (best == cores.end() || best->cpu != wanted) return std::nullopt;
    const Candidate chosen = *best;
    for (const std::uint64_t key : {any_cpu, std::uint64_t{topology_.os_index(chosen.core)}}) {
      cores.erase(Candidate{key, chosen.ranks, chosen.core});
      cores.insert(Candidate{key, chosen.ranks + 1, chosen.core});
    }
    return chosen.core;
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

bool has_a_name(const ObjectSpec& object) {
  return !object.name.empty() || std::any_of(object.children.begin(), object.children.end(), has_a_name);
}

}  // namespace

IdVector<Node, std::vector<Rank>> Deployment::ranks_of_nodes() const {
  IdVector<Node, std::vector<Rank>> ranks_of(hosts.size());
  for (const Rank rank : ranks()) ranks_of[bindings[rank].node].push_back(rank);
  return ranks_of;
}

bool names_its_hosts(const Topology& topology) {
  return has_a_name(topology.spec().root);
}

Result<Deployment> deploy(std::span<const Core> core_of, const Topology& topology, std::span<const std::string> hosts) {
  auto names = host_names(topology, hosts);
  if (!names) return propagate(names);
  Deployment deployment{topology, std::move(*names), {}};
  deployment.bindings.reserve(core_of.size());
  for (const Core core : core_of) {
    if (index(core) >= topology.core_count()) {
      return fail(Code::bad_input, at("mapping"),
                  fmt::format("rank {} is on core {}, but the machine has the cores 0..{}", deployment.bindings.size(),
                              index(core), topology.core_count() - 1),
                  "give the topology that the mapping was computed for");
    }
    const Node node = topology.node_of(core);
    deployment.bindings.push_back({node, topology.os_index(core), index(core) - index(first_core_of(topology, node))});
  }
  return deployment;
}

Result<std::vector<Core>> cores_of_bindings(std::span<const NamedBinding> bindings, const Topology& topology,
                                            std::span<const std::string> hosts, const std::string& source) {
  auto names = host_names(topology, hosts);
  if (!names) return propagate(names);
  CoreFinder finder(topology);
  for (const Node node : topology.nodes()) finder.name((*names)[node], node);
  std::vector<Core> core_of;
  for (const NamedBinding& binding : bindings) {
    const auto node = finder.node(binding.host);
    if (!node) {
      return fail(Code::bad_input, at(source),
                  fmt::format("rank {} is on {}, which is not a host of the topology", core_of.size(), binding.host),
                  "give the topology of these hosts, or their names with --hosts");
    }
    const auto core = finder.core(*node, binding.cpu);
    if (!core) {
      return fail(Code::bad_input, at(source),
                  fmt::format("rank {} is on processing unit {} of {}, which the topology does not contain",
                              core_of.size(), binding.cpu.value_or(0), binding.host),
                  "give the topology that the file was written for");
    }
    core_of.push_back(*core);
  }
  return core_of;
}

}  // namespace rankloom
