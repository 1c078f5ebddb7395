// SPDX-License-Identifier: Apache-2.0
// discover/probe: which ranks send at once, so that the rates show how many messages a network card, a memory bus or
// the uplink of a switch carries: one pair alone, then 2, 4, … and all pairs. rankloom-probe includes it, so it needs
// no library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankloom {

struct RankPair {
  int from = 0, to = 0;
  bool operator==(const RankPair&) const = default;
};

/// The pairs of one measurement.
struct LoadStep {
  std::string_view channel;  ///< "node", "bus" or "uplink"
  std::vector<RankPair> pairs;
};

/// Host names, as -t and as the ranks report them.
struct UplinkEnds {
  std::vector<std::string> from, to;
};

class LoadPlan {
 public:
  /// `host_of` contains the host of each rank. Without uplink ends, no uplink is measured.
  static std::vector<LoadStep> make(const std::vector<std::string>& host_of, const UplinkEnds& uplink) {
    LoadPlan plan;
    for (std::size_t rank = 0; rank < host_of.size(); ++rank)
      plan.ranks_of_[short_name(host_of[rank])].push_back(static_cast<int>(rank));
    plan.add("node", plan.pairs_between_nodes());
    plan.add("bus", plan.pairs_inside_node());
    plan.add("uplink", plan.pairs_between_switches(uplink));
    return std::move(plan.steps_);
  }

 private:
  using Ranks = std::vector<int>;

  /// Without the domain.
  static std::string short_name(const std::string& host) { return host.substr(0, host.find('.')); }

  /// 1, 2, 4, … and all pairs; nothing if there is only one.
  void add(std::string_view channel, const std::vector<RankPair>& pairs) {
    if (pairs.size() < 2) return;
    for (std::size_t count = 1; count < pairs.size(); count *= 2)
      steps_.push_back({channel, {pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(count)}});
    steps_.push_back({channel, pairs});
  }

  /// The ranks of each host, most ranks first.
  std::vector<Ranks> largest_hosts() const {
    std::vector<Ranks> hosts;
    for (const auto& [name, ranks] : ranks_of_) hosts.push_back(ranks);
    std::stable_sort(hosts.begin(), hosts.end(), [](const Ranks& a, const Ranks& b) { return a.size() > b.size(); });
    return hosts;
  }

  std::vector<RankPair> pairs_between_nodes() const {
    const std::vector<Ranks> hosts = largest_hosts();
    std::vector<RankPair> pairs;
    for (std::size_t i = 0; hosts.size() > 1 && i < hosts[1].size(); ++i) pairs.push_back({hosts[0][i], hosts[1][i]});
    return pairs;
  }

  std::vector<RankPair> pairs_inside_node() const {
    const std::vector<Ranks> hosts = largest_hosts();
    std::vector<RankPair> pairs;
    for (std::size_t i = 0; !hosts.empty() && i + 1 < hosts[0].size(); i += 2)
      pairs.push_back({hosts[0][i], hosts[0][i + 1]});
    return pairs;
  }

  /// One rank per host, so that the cards of the hosts are not shared.
  std::vector<RankPair> pairs_between_switches(const UplinkEnds& uplink) const {
    const Ranks from = first_ranks(uplink.from), to = first_ranks(uplink.to);
    std::vector<RankPair> pairs;
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) pairs.push_back({from[i], to[i]});
    return pairs;
  }

  Ranks first_ranks(const std::vector<std::string>& hosts) const {
    Ranks ranks;
    for (const std::string& host : hosts) {
      const auto found = ranks_of_.find(short_name(host));
      if (found != ranks_of_.end()) ranks.push_back(found->second.front());
    }
    return ranks;
  }

  std::map<std::string, Ranks> ranks_of_;  // by short host name
  std::vector<LoadStep> steps_;
};

}  // namespace rankloom
