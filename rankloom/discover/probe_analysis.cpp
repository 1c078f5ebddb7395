// SPDX-License-Identifier: Apache-2.0
// discover: the analysis of a probe.
#include "rankloom/discover/probe_analysis.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "rankloom/core/units.hpp"
#include "rankloom/discover/gap_levels.hpp"
#include "rankloom/discover/host_names.hpp"
#include "rankloom/discover/words.hpp"

namespace rankloom {

namespace {

/// Above so many ranks the hosts alone are the structure: clustering takes memory of n x n.
constexpr std::size_t most_to_cluster = 3000;
/// The message by which two pairs are compared.
constexpr double usual_bytes = 1 << 20;

double usual_time(const Cost& cost) {
  return cost.latency + usual_bytes * cost.gap;
}

/// More digits than that were not measured.
double four_digits(double value) {
  return parse_number(fmt::format("{:.4g}", value)).value_or(value);
}

/// Without the highest tenth of the gaps, the mean of the rest.
Cost average(std::vector<Cost> costs) {
  if (costs.empty()) return {};
  std::sort(costs.begin(), costs.end(), [](const Cost& a, const Cost& b) { return a.gap < b.gap; });
  costs.resize(costs.size() - costs.size() / 10);
  Cost mean;
  for (const Cost& cost : costs) {
    mean.gap += cost.gap / static_cast<double>(costs.size());
    mean.latency += cost.latency / static_cast<double>(costs.size());
  }
  return {four_digits(mean.gap), four_digits(mean.latency)};
}

double largest_message(const ProbePair& pair) {
  double bytes = 0;
  for (const auto& time : pair.times) bytes = std::max(bytes, time.bytes);
  return bytes;
}

/// What was measured at each level, top down.
class LevelCosts {
 public:
  LevelCosts(std::size_t levels, const ProbeOptions& options) : alone_(levels), together_(levels), options_(options) {}

  /// Of pairs for which the time allowed less than for others only as long as there is nothing better.
  void add(std::size_t level, const ProbePair& pair) {
    auto& [costs, largest] = (pair.alone ? alone_ : together_)[level];
    const double bytes = largest_message(pair);
    if (bytes < largest) return;
    if (bytes > largest) costs.clear();
    largest = bytes;
    costs.push_back(fit_cost(pair.times));
  }

  bool empty(std::size_t level) const { return alone_[level].costs.empty() && together_[level].costs.empty(); }

  /// Costs of the kind that was asked for, where they were measured.
  const std::vector<Cost>& chosen(std::size_t level) const {
    const bool use_together = alone_[level].costs.empty() || (options_.together && !together_[level].costs.empty());
    return use_together ? together_[level].costs : alone_[level].costs;
  }

  ProbeLevel level(std::size_t number, std::string kind) const {
    return {.kind = std::move(kind),
            .cost = average(chosen(number)),
            .alone = average(alone_[number].costs),
            .together = average(together_[number].costs),
            .pairs_alone = alone_[number].costs.size(),
            .pairs_together = together_[number].costs.size()};
  }

  std::vector<double> times(std::size_t level) const {
    std::vector<double> times;
    for (const Cost& cost : chosen(level)) times.push_back(usual_time(cost));
    return times;
  }

 private:
  struct Measured {
    std::vector<Cost> costs;
    double largest_message = 0;
  };
  std::vector<Measured> alone_, together_;  // by level
  const ProbeOptions& options_;
};

Grouping group_by_host(const std::vector<ProbeRank>& ranks) {
  Grouping groups;
  std::map<std::string, std::uint32_t> hosts;
  for (const ProbeRank& rank : ranks)
    groups.push_back(hosts.try_emplace(rank.host, static_cast<std::uint32_t>(hosts.size())).first->second);
  return groups;
}

/// Distances for finding structure: all pairs as they were while all sent; alone where that is all there is. Pairs for
/// which there was no time for the largest message are not comparable.
std::vector<PairDistance> distances_of(const ProbeTable& table) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> values;
  double largest = 0;
  for (const ProbePair& pair : table.pairs) largest = std::max(largest, largest_message(pair));
  for (const bool alone : {true, false}) {
    for (const ProbePair& pair : table.pairs) {
      if (pair.alone == alone && largest_message(pair) == largest)
        values[std::minmax(pair.a, pair.b)] = usual_time(fit_cost(pair.times));
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
    for (const ProbePair& pair : table_.pairs) costs.add(parting_level(pair), pair);
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

  std::size_t parting_level(const ProbePair& pair) const {
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
      cost_[level]->gap = std::max(cost_[level]->gap, cost_[level + 1]->gap);
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

/// Where the ranks of a probe sit on a known machine.
Result<std::vector<Core>> seats_of(const Topology& topology, const ProbeTable& table) {
  std::map<std::string, Node> nodes;
  for (const Node node : topology.nodes()) nodes.emplace(short_name(topology.node_name(node)), node);
  std::map<std::pair<std::uint32_t, std::uint32_t>, Core> by_cpu;
  for (const Core core : topology.cores())
    by_cpu.emplace(std::pair{index(topology.node_of(core)), topology.os_index(core)}, core);
  std::map<std::uint32_t, std::uint32_t> next;
  std::vector<Core> seats;
  const bool single = topology.node_count() == 1;
  for (const ProbeRank& rank : table.ranks) {
    const auto node = nodes.find(std::string(short_name(rank.host)));
    if (node == nodes.end() && !single)
      return fail(Code::bad_input, at("probe"), fmt::format("the host {} is no node of this machine", shown(rank.host)),
                  "are its nodes called otherwise? `rankloom topo show` lists them");
    const Node here = node == nodes.end() ? Node{0} : node->second;
    const auto bound = rank.cpu >= 0 ? by_cpu.find({index(here), static_cast<std::uint32_t>(rank.cpu)}) : by_cpu.end();
    const std::uint32_t first = index(topology.first_core(topology.node_level(), index(here)));
    const std::uint32_t end = index(here) + 1 < topology.node_count()
                                  ? index(topology.first_core(topology.node_level(), index(here) + 1))
                                  : topology.core_count();
    seats.push_back(bound != by_cpu.end() ? bound->second : Core{first + next[index(here)]++ % (end - first)});
  }
  return seats;
}

/// Gives every object whose children stand at a level that level's cost.
void set_costs(ObjectSpec& object, std::size_t level, const std::vector<std::optional<Cost>>& costs,
               const std::vector<std::string>& kinds) {
  if (object.children.empty()) return;
  const auto found = std::find(kinds.begin() + static_cast<std::ptrdiff_t>(std::min(level, kinds.size())), kinds.end(),
                               object.children[0].kind);
  const auto below = static_cast<std::size_t>(found - kinds.begin());
  if (below < costs.size() && costs[below]) object.between = costs[below];
  for (ObjectSpec& child : object.children) set_costs(child, below + 1, costs, kinds);
}

/// Neighbours that do not differ measurably share one cost.
void merge_levels(const LevelCosts& costs, std::vector<ProbeLevel>& levels, const std::vector<std::size_t>& numbers) {
  for (std::size_t i = levels.size(); i-- > 1;) {
    const auto near = costs.times(numbers[i]), far = costs.times(numbers[i - 1]);
    if (differ_measurably(near, far)) continue;
    const auto here = static_cast<double>(near.size()), above = static_cast<double>(far.size());
    const Cost mean{four_digits((levels[i].cost.gap * here + levels[i - 1].cost.gap * above) / (here + above)),
                    four_digits((levels[i].cost.latency * here + levels[i - 1].cost.latency * above) / (here + above))};
    for (std::size_t same = i - 1; same < levels.size() && (same <= i || levels[same].merged); ++same) {
      levels[same].cost = mean;
      levels[same].merged = true;
    }
  }
}

}  // namespace

Result<ProbedMachine> analyse_probe(const ProbeTable& table, const ProbeOptions& options) {
  return Analysis(table, options).run();
}

Result<ProbedMachine> calibrate(const Topology& topology, const ProbeTable& table, const ProbeOptions& options) {
  if (topology.routed() || topology.is_matrix())
    return fail(Code::bad_input, at(topology.spec().text), "has no levels to which costs could be given",
                "probe without -t, or give levels such as \"switch:2 node:6 core:16\"");
  auto seats = seats_of(topology, table);
  if (!seats) return pass_on(seats);
  const auto levels = topology.levels();
  LevelCosts costs(levels.size(), options);
  for (const ProbePair& pair : table.pairs) {
    const Core a = (*seats)[pair.a], b = (*seats)[pair.b];
    if (a != b) costs.add(topology.parting_level(a, b), pair);
  }
  ProbedMachine result;
  std::vector<std::size_t> numbers;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    if (costs.empty(level)) continue;
    result.levels.push_back(costs.level(level, levels[level].kind));
    numbers.push_back(level);
  }
  merge_levels(costs, result.levels, numbers);
  std::vector<std::optional<Cost>> by_level(levels.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) by_level[numbers[i]] = result.levels[i].cost;
  std::vector<std::string> kinds;
  for (const auto& level : levels) kinds.push_back(level.kind);
  result.groups.resize(topology.node_count());
  for (std::uint32_t rank = 0; rank < seats->size(); ++rank)
    result.groups[index(topology.node_of((*seats)[rank]))].push_back(rank);
  result.machine = topology.spec();
  set_costs(result.machine.root, 0, by_level, kinds);
  return result;
}

}  // namespace rankloom
