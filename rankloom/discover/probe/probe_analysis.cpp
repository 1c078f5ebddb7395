// SPDX-License-Identifier: Apache-2.0
// discover: a machine out of nothing but measured pairs.
#include "rankloom/discover/probe/probe_analysis.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "rankloom/discover/probe/level_detection.hpp"
#include "rankloom/discover/probe/probe_costs.hpp"

namespace rankloom {

namespace {

/// Above so many ranks the hosts alone are the structure: clustering takes memory of n x n.
constexpr std::size_t most_to_cluster = 3000;
Grouping group_by_host(const std::vector<ProbeRank>& ranks) {
  Grouping groups;
  std::map<std::string, std::uint32_t> hosts;
  for (const ProbeRank& rank : ranks)
    groups.push_back(hosts.try_emplace(rank.host, static_cast<std::uint32_t>(hosts.size())).first->second);
  return groups;
}

/// Distances for finding structure: all pairs at their fastest while all sent; alone where that is all there is. Pairs
/// for which there was no time for the largest message are not comparable.
std::vector<PairDistance> distances_of(const ProbeTable& table) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> values;
  double largest = 0;
  for (const ProbePair& pair : table.pairs) largest = std::max(largest, largest_message(pair));
  for (const bool alone : {true, false}) {
    for (const ProbePair& pair : table.pairs) {
      if (pair.alone == alone && largest_message(pair) == largest)
        values[std::minmax(pair.a, pair.b)] = usual_time(fit_least_cost(pair.times));
    }
  }
  std::vector<PairDistance> distances;
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
    if (options_.blind) choose_nodes(costs);
    ProbedMachine result;
    for (std::size_t level = 0; level <= groupings_.size(); ++level) {
      cost_.push_back(costs.empty(level) ? std::nullopt : std::optional(costs.level(level, {}).cost));
      if (!costs.empty(level)) result.levels.push_back(costs.level(level, kind(level)));
    }
    raise_costs(result.levels);
    result.machine = build();
    result.groups = groups();
    return result;
  }

 private:
  /// Top down; the ranks themselves are the last level, which has no grouping.
  void find_levels() {
    const auto n = static_cast<std::uint32_t>(table_.ranks.size());
    const Grouping hosts = options_.blind ? Grouping{} : group_by_host(table_.ranks);
    const bool several = !hosts.empty() && *std::max_element(hosts.begin(), hosts.end()) > 0;
    if (n <= most_to_cluster) {
      groupings_ = find_groupings(n, distances_of(table_), several ? hosts : Grouping{});
    } else if (several) {
      groupings_ = {hosts};
    }
    std::reverse(groupings_.begin(), groupings_.end());
    const auto is_hosts = std::find(groupings_.begin(), groupings_.end(), hosts);
    node_level_ = several && is_hosts != groupings_.end()
                      ? std::optional(static_cast<std::size_t>(is_hosts - groupings_.begin()))
                      : std::nullopt;
  }

  std::size_t divergence_level(const ProbePair& pair) const {
    std::size_t level = 0;
    while (level < groupings_.size() && groupings_[level][pair.a] == groupings_[level][pair.b]) ++level;
    return level;
  }

  /// The nodes are where the times jump most.
  void choose_nodes(const LevelCosts& costs) {
    double largest = 1;
    for (std::size_t level = 0; level < groupings_.size(); ++level) {
      if (costs.empty(level) || costs.empty(level + 1)) continue;
      const double jump = usual_time(costs.level(level, {}).cost) / usual_time(costs.level(level + 1, {}).cost);
      if (jump > largest) node_level_ = level;
      largest = std::max(largest, jump);
    }
  }

  std::string kind(std::size_t level) const {
    if (level == groupings_.size()) return "core";
    if (!node_level_ || level > *node_level_) return "group";
    return level == *node_level_ ? "node" : "switch";
  }

  /// A level with more time must not have a lower gap by chance: mappers would spread what belongs together.
  void raise_costs(std::vector<ProbeLevel>& levels) {
    for (std::size_t level = cost_.size() - 1; level-- > 0;) {
      if (!cost_[level] || !cost_[level + 1]) continue;
      cost_[level]->inverse_bandwidth = std::max(cost_[level]->inverse_bandwidth, cost_[level + 1]->inverse_bandwidth);
      cost_[level]->latency = std::max(cost_[level]->latency, cost_[level + 1]->latency);
    }
    std::size_t at = 0;
    for (const auto& cost : cost_) {
      if (cost) levels[at++].cost = *cost;
    }
  }

  MachineSpec build() const {
    std::vector<std::uint32_t> all(table_.ranks.size());
    for (std::uint32_t rank = 0; rank < all.size(); ++rank) all[rank] = rank;
    MachineSpec machine;
    machine.text = "probe";
    machine.root = object("machine", 0, all);
    if (!node_level_) {  // all ranks on one node
      ObjectSpec node = std::move(machine.root);
      node.kind = "node";
      if (!options_.blind) node.name = table_.ranks[0].host;
      machine.root = {.kind = "machine", .name = {}, .between = {}, .os_index = {}, .children = {}};
      machine.root.children.push_back(std::move(node));
    }
    return machine;
  }

  ObjectSpec object(std::string own_kind, std::size_t level, const std::vector<std::uint32_t>& ranks) const {
    ObjectSpec spec{.kind = std::move(own_kind), .name = {}, .between = cost_[level], .os_index = {}, .children = {}};
    if (level == groupings_.size()) {
      for (const std::uint32_t rank : ranks) spec.children.push_back(core(rank));
      return spec;
    }
    std::map<std::uint32_t, std::vector<std::uint32_t>> parts;  // groups are numbered by their first ranks
    for (const std::uint32_t rank : ranks) parts[groupings_[level][rank]].push_back(rank);
    for (const auto& [group, members] : parts) {
      spec.children.push_back(object(kind(level), level + 1, members));
      if (node_level_ == level && !options_.blind) spec.children.back().name = table_.ranks[members[0]].host;
    }
    return spec;
  }

  /// As the nodes come in the machine: part by part, each by its first rank.
  std::vector<std::vector<std::uint32_t>> groups() const {
    std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> members;  // by the numbers of all groups above
    for (std::uint32_t rank = 0; rank < table_.ranks.size(); ++rank) {
      std::vector<std::uint32_t> path;
      for (std::size_t level = 0; node_level_ && level <= *node_level_; ++level)
        path.push_back(groupings_[level][rank]);
      members[path].push_back(rank);
    }
    std::vector<std::vector<std::uint32_t>> lists;
    for (auto& [path, ranks] : members) lists.push_back(std::move(ranks));
    return lists;
  }

  ObjectSpec core(std::uint32_t rank) const {
    ObjectSpec spec{.kind = "core", .name = {}, .between = {}, .os_index = {}, .children = {}};
    if (all_bound()) spec.os_index = static_cast<std::uint32_t>(table_.ranks[rank].cpu);
    return spec;
  }

  /// Every rank has a processing unit of its own.
  bool all_bound() const {
    std::set<std::pair<std::string, std::int32_t>> seen;
    return !options_.blind && std::all_of(table_.ranks.begin(), table_.ranks.end(), [&](const ProbeRank& rank) {
      return rank.cpu >= 0 && seen.emplace(rank.host, rank.cpu).second;
    });
  }

  const ProbeTable& table_;
  const ProbeOptions& options_;
  std::vector<Grouping> groupings_;        // top down
  std::optional<std::size_t> node_level_;  // in groupings_
  std::vector<std::optional<Cost>> cost_;  // by level, the cores' last
};

}  // namespace

Result<ProbedMachine> analyse_probe(const ProbeTable& table, const ProbeOptions& options) {
  return Analysis(table, options).run();
}

}  // namespace rankloom
