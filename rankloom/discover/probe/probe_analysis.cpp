// SPDX-License-Identifier: Apache-2.0
// discover/probe: derives a machine from measured pairs only.
#include "rankloom/discover/probe/probe_analysis.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "rankloom/discover/probe/level_detection.hpp"
#include "rankloom/discover/probe/probe_costs.hpp"
#include "rankloom/discover/probe/probe_widths.hpp"

namespace rankloom {

namespace {

/// With more ranks only the hosts form the structure, because clustering needs O(n^2) memory.
constexpr std::size_t max_ranks_to_cluster = 3000;
Grouping group_by_host(const std::vector<ProbeRank>& ranks) {
  Grouping groups;
  std::map<std::string, std::uint32_t> hosts;
  for (const ProbeRank& rank : ranks)
    groups.push_back(hosts.try_emplace(rank.host, static_cast<std::uint32_t>(hosts.size())).first->second);
  return groups;
}

/// The distances for level detection: the fastest times while all pairs send, or the times alone for pairs without
/// others. Pairs without a time for the largest message are not comparable and left out.
std::vector<PairDistance> distances_of(const ProbeTable& table) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> values;
  double largest = 0;
  for (const ProbePair& pair : table.pairs) largest = std::max(largest, largest_message(pair));
  for (const bool alone : {true, false}) {
    for (const ProbePair& pair : table.pairs) {
      if (pair.alone == alone && largest_message(pair) == largest)
        values[std::minmax(pair.a, pair.b)] = reference_time(fit_min_cost(pair.times));
    }
  }
  std::vector<PairDistance> distances;
  distances.reserve(values.size());
  for (const auto& [pair, value] : values) distances.push_back({pair.first, pair.second, value});
  return distances;
}

class Analysis {
 public:
  Analysis(const ProbeTable& table, const ProbeOptions& options) : table_(table), options_(options) {}

  ProbedMachine run() {
    find_levels();
    LevelCosts costs(groupings_.size() + 1, options_);
    for (const ProbePair& pair : table_.pairs) costs.add(divergence_level(pair), pair);
    if (options_.ignore_host_names) choose_nodes(costs);
    ProbedMachine result;
    for (std::size_t level = 0; level <= groupings_.size(); ++level) {
      costs_.push_back(costs.empty(level) ? std::nullopt : std::optional(costs.level(level, {}).cost));
      if (!costs.empty(level)) result.levels.push_back(costs.level(level, kind(level)));
    }
    make_costs_monotonic(result.levels);
    result.machine = build();
    for (const ProbeLevel& level : result.levels) result.machine.channels.set_cost_origin(level.kind, Origin::measured);
    if (!options_.under_load) add_measured_widths(table_.loads, result.machine);
    result.groups = groups();
    return result;
  }

 private:
  /// Finds the groupings, top down. The ranks themselves are the last level, which has no grouping.
  void find_levels() {
    const auto n = static_cast<std::uint32_t>(table_.ranks.size());
    const Grouping hosts = options_.ignore_host_names ? Grouping{} : group_by_host(table_.ranks);
    const bool has_several_hosts = !hosts.empty() && *std::max_element(hosts.begin(), hosts.end()) > 0;
    if (n <= max_ranks_to_cluster) {
      groupings_ = detect_levels(n, distances_of(table_), has_several_hosts ? hosts : Grouping{});
    } else if (has_several_hosts) {
      groupings_ = {hosts};
    }
    std::reverse(groupings_.begin(), groupings_.end());
    const auto is_hosts = std::find(groupings_.begin(), groupings_.end(), hosts);
    node_level_ = has_several_hosts && is_hosts != groupings_.end()
                      ? std::optional(static_cast<std::size_t>(is_hosts - groupings_.begin()))
                      : std::nullopt;
  }

  std::size_t divergence_level(const ProbePair& pair) const {
    std::size_t level = 0;
    while (level < groupings_.size() && groupings_[level][pair.a] == groupings_[level][pair.b]) ++level;
    return level;
  }

  /// Takes the level with the largest relative increase of the time as the nodes.
  void choose_nodes(const LevelCosts& costs) {
    double largest = 1;
    for (std::size_t level = 0; level < groupings_.size(); ++level) {
      if (costs.empty(level) || costs.empty(level + 1)) continue;
      const double jump = reference_time(costs.level(level, {}).cost) / reference_time(costs.level(level + 1, {}).cost);
      if (jump > largest) node_level_ = level;
      largest = std::max(largest, jump);
    }
  }

  std::string kind(std::size_t level) const {
    if (level == groupings_.size()) return "core";
    if (!node_level_ || level > *node_level_) return "group";
    return level == *node_level_ ? "node" : "switch";
  }

  /// A higher level must not be cheaper by chance; otherwise mappers would separate ranks that should be close.
  void make_costs_monotonic(std::vector<ProbeLevel>& levels) {
    for (std::size_t level = costs_.size() - 1; level-- > 0;) {
      if (!costs_[level] || !costs_[level + 1]) continue;
      costs_[level]->inverse_bandwidth =
          std::max(costs_[level]->inverse_bandwidth, costs_[level + 1]->inverse_bandwidth);
      costs_[level]->latency = std::max(costs_[level]->latency, costs_[level + 1]->latency);
    }
    std::size_t at = 0;
    for (const auto& cost : costs_) {
      if (cost) levels[at++].cost = *cost;
    }
  }

  MachineSpec build() const {
    std::vector<std::uint32_t> all(table_.ranks.size());
    for (std::uint32_t rank = 0; rank < all.size(); ++rank) all[rank] = rank;
    MachineSpec machine;
    machine.text = "probe";
    machine.root = object("machine", 0, all);
    if (!node_level_) {  // all ranks are on one node
      ObjectSpec node = std::move(machine.root);
      node.kind = "node";
      if (!options_.ignore_host_names) node.name = table_.ranks[0].host;
      machine.root = {.kind = "machine", .name = {}, .between = {}, .os_index = {}, .children = {}};
      machine.root.children.push_back(std::move(node));
    }
    return machine;
  }

  ObjectSpec object(std::string kind_of_object, std::size_t level, const std::vector<std::uint32_t>& ranks) const {
    ObjectSpec spec{
        .kind = std::move(kind_of_object), .name = {}, .between = costs_[level], .os_index = {}, .children = {}};
    if (level == groupings_.size()) {
      for (const std::uint32_t rank : ranks) spec.children.push_back(core(rank));
      return spec;
    }
    std::map<std::uint32_t, std::vector<std::uint32_t>> parts;  // groups are numbered in order of their first ranks
    for (const std::uint32_t rank : ranks) parts[groupings_[level][rank]].push_back(rank);
    for (const auto& [group, members] : parts) {
      spec.children.push_back(object(kind(level), level + 1, members));
      if (node_level_ == level && !options_.ignore_host_names)
        spec.children.back().name = table_.ranks[members[0]].host;
    }
    return spec;
  }

  /// The ranks of each node, in the order of the nodes of the machine.
  std::vector<std::vector<std::uint32_t>> groups() const {
    std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>>
        members;  // by the numbers of the groups on the path from the top
    for (std::uint32_t rank = 0; rank < table_.ranks.size(); ++rank) {
      std::vector<std::uint32_t> path;
      for (std::size_t level = 0; node_level_ && level <= *node_level_; ++level)
        path.push_back(groupings_[level][rank]);
      members[path].push_back(rank);
    }
    std::vector<std::vector<std::uint32_t>> lists;
    lists.reserve(members.size());
    for (auto& [path, ranks] : members) lists.push_back(std::move(ranks));
    return lists;
  }

  ObjectSpec core(std::uint32_t rank) const {
    ObjectSpec spec{.kind = "core", .name = {}, .between = {}, .os_index = {}, .children = {}};
    if (are_all_bound()) spec.os_index = static_cast<std::uint32_t>(table_.ranks[rank].cpu);
    return spec;
  }

  /// Whether every rank is bound to a processing unit of its own.
  bool are_all_bound() const {
    std::set<std::pair<std::string, std::int32_t>> used_cpus;
    return !options_.ignore_host_names &&
           std::all_of(table_.ranks.begin(), table_.ranks.end(), [&](const ProbeRank& rank) {
             return rank.cpu >= 0 && used_cpus.emplace(rank.host, rank.cpu).second;
           });
  }

  const ProbeTable& table_;
  const ProbeOptions& options_;
  std::vector<Grouping> groupings_;         // top down
  std::optional<std::size_t> node_level_;   // in groupings_
  std::vector<std::optional<Cost>> costs_;  // by level; the last one is that of the cores
};

}  // namespace

Result<ProbedMachine> analyse_probe(const ProbeTable& table, const ProbeOptions& options) {
  return Analysis(table, options).run();
}

}  // namespace rankloom
