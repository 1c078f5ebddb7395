// SPDX-License-Identifier: Apache-2.0
// map/portfolio: a quick construction from nothing.
#include "rankloom/map/portfolio/growing.hpp"

#include <optional>
#include <queue>

#include "rankloom/map/senders.hpp"

namespace rankloom {
namespace {

/// The ranks that wait, by how much they talk to a growing set. Entries are not updated but added again; those that no
/// longer say the current amount are passed over.
class Attraction {
 public:
  explicit Attraction(std::uint32_t ranks) : bytes_(ranks, 0.0) {}

  void add(Rank rank, double bytes) {
    if (bytes_[rank] == 0) touched_.push_back(rank);
    bytes_[rank] += bytes;
    waiting_.push({bytes_[rank], rank});
  }
  /// The strongest of those not yet placed, the lowest of equals.
  std::optional<Rank> strongest(const IdVector<Rank, bool>& placed) {
    while (!waiting_.empty()) {
      const auto [bytes, rank] = waiting_.top();
      if (!placed[rank] && bytes == bytes_[rank]) return rank;
      waiting_.pop();
    }
    return std::nullopt;
  }
  void forget() {
    for (const Rank rank : touched_) bytes_[rank] = 0;
    touched_.clear();
    waiting_ = {};
  }

 private:
  struct Entry {
    double bytes;
    Rank rank;
    bool operator<(const Entry& other) const { return bytes != other.bytes ? bytes < other.bytes : rank > other.rank; }
  };
  IdVector<Rank, double> bytes_;
  std::vector<Rank> touched_;
  std::priority_queue<Entry> waiting_;
};

/// The smallest objects with more than one core somewhere; the nodes when there are none.
std::size_t group_level(const Topology& topology) {
  for (std::size_t level = topology.levels().size(); level-- > 1;) {
    if (!topology.levels()[level].is_private()) return level - 1;
  }
  return topology.node_level();
}

}  // namespace

std::vector<Core> grown_placement(const MapProblem& problem) {
  const CommGraph& graph = problem.graph;
  const std::uint32_t ranks = graph.rank_count();
  const auto places = block_placement(ranks, problem.topology, problem.slots);
  const std::size_t level = group_level(problem.topology);
  const Senders senders(graph);
  Attraction to_group(ranks);
  Attraction to_all(ranks);
  IdVector<Rank, bool> placed(ranks, false);
  std::vector<Core> core_of(ranks);
  Rank lowest_waiting{0};
  const auto attract = [&](Rank rank, double bytes) {
    if (placed[rank] || bytes <= 0) return;
    to_group.add(rank, bytes);
    to_all.add(rank, bytes);
  };
  for (std::uint32_t at = 0; at < ranks; ++at) {
    const bool new_group =
        at > 0 && problem.topology.object_of(level, places[at]) != problem.topology.object_of(level, places[at - 1]);
    if (new_group) to_group.forget();
    std::optional<Rank> next = to_group.strongest(placed);
    if (!next) next = to_all.strongest(placed);
    while (!next && placed[lowest_waiting]) lowest_waiting = Rank{index(lowest_waiting) + 1};
    const Rank rank = next.value_or(lowest_waiting);
    placed[rank] = true;
    core_of[index(rank)] = places[at];
    for (std::size_t edge = 0; edge < graph.degree(rank); ++edge)
      attract(graph.targets(rank)[edge], graph.bytes(rank)[edge]);
    for (const Senders::Entry& sender : senders[rank]) attract(sender.from, sender.bytes);
  }
  return core_of;
}

}  // namespace rankloom
