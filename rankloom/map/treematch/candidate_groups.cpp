// SPDX-License-Identifier: Apache-2.0
// map/treematch: enumerates all candidate groups, or grows one from each element.
#include "rankloom/map/treematch/candidate_groups.hpp"

#include <algorithm>

namespace rankloom {
namespace {

/// The total traffic of each element.
std::vector<double> total_traffic(const Affinity& affinity) {
  std::vector<double> sums(affinity.size(), 0.0);
  for (std::uint32_t element = 0; element < affinity.size(); ++element) {
    for (const double weight : affinity.weights(element)) sums[element] += weight;
  }
  return sums;
}

double traffic_between(const Affinity& affinity, std::uint32_t a, std::uint32_t b) {
  const auto neighbours = affinity.neighbours(a);
  const auto position = std::lower_bound(neighbours.begin(), neighbours.end(), b);
  if (position == neighbours.end() || *position != b) return 0;
  return affinity.weights(a)[static_cast<std::size_t>(position - neighbours.begin())];
}

/// Enumerates every connected subset once (ESU, Wernicke 2006): from its lowest member, each step adds an element of
/// the extension set, the elements above the lowest member that are adjacent to the subset and were not adjacent
/// before.
class ConnectedSubsets {
 public:
  ConnectedSubsets(const Affinity& affinity, const std::vector<bool>& is_free, std::uint32_t size,
                   std::uint64_t max_count)
      : affinity_(affinity),
        is_free_(is_free),
        size_(size),
        max_count_(max_count),
        total_(total_traffic(affinity)),
        candidates_(size),
        reached_(is_free.size()) {}

  std::optional<CandidateGroups> run() && {
    for (std::uint32_t lowest = 0; lowest < affinity_.size() && !too_many_; ++lowest) {
      if (!is_free_[lowest]) continue;
      lowest_ = lowest;
      reached_[lowest] = true;
      members_.assign(1, lowest);
      std::vector<std::uint32_t> extension;
      add_new_neighbours(lowest, extension);
      extend(extension, 0, total_[lowest]);
      for (const std::uint32_t element : extension) reached_[element] = false;
      reached_[lowest] = false;
    }
    if (too_many_) return std::nullopt;
    return std::move(candidates_);
  }

 private:
  void add_new_neighbours(std::uint32_t element, std::vector<std::uint32_t>& extension) {
    for (const std::uint32_t neighbour : affinity_.neighbours(element)) {
      if (neighbour <= lowest_ || !is_free_[neighbour] || reached_[neighbour]) continue;
      reached_[neighbour] = true;
      extension.push_back(neighbour);
    }
  }

  /// `inside`: traffic between the members; `total`: sum of the members' total traffic.
  void extend(const std::vector<std::uint32_t>& extension, double inside, double total) {
    if (members_.size() == size_) {
      too_many_ = candidates_.count() >= max_count_;
      if (!too_many_) candidates_.add(members_, inside, total - 2 * inside);
      return;
    }
    for (std::size_t at = 0; at < extension.size() && !too_many_; ++at) {
      double to_members = 0;
      for (const std::uint32_t member : members_) to_members += traffic_between(affinity_, extension[at], member);
      std::vector<std::uint32_t> next;
      std::size_t first_new = 0;
      if (members_.size() + 1 < size_) {
        next.assign(extension.begin() + static_cast<std::ptrdiff_t>(at) + 1, extension.end());
        first_new = next.size();
        add_new_neighbours(extension[at], next);
      }
      members_.push_back(extension[at]);
      extend(next, inside + to_members, total + total_[extension[at]]);
      members_.pop_back();
      for (std::size_t added = first_new; added < next.size(); ++added) reached_[next[added]] = false;
    }
  }

  const Affinity& affinity_;
  const std::vector<bool>& is_free_;
  std::uint32_t size_;
  std::uint64_t max_count_;
  std::vector<double> total_;
  CandidateGroups candidates_;
  std::vector<bool> reached_;  // in the subset or adjacent to it
  std::vector<std::uint32_t> members_;
  std::uint32_t lowest_ = 0;
  bool too_many_ = false;
};

}  // namespace

std::optional<CandidateGroups> list_candidates(const Affinity& affinity, const std::vector<bool>& is_free,
                                               std::uint32_t size, std::uint64_t max_count) {
  return ConnectedSubsets(affinity, is_free, size, max_count).run();
}

CandidateGroups grow_candidates(const Affinity& affinity, const std::vector<bool>& is_free, std::uint32_t size) {
  CandidateGroups candidates(size);
  const std::vector<double> total = total_traffic(affinity);
  std::vector<double> weight(affinity.size(), 0.0);  // by element: its traffic to the group
  std::vector<bool> is_member(affinity.size(), false);
  std::vector<std::uint32_t> members, weighted;
  for (std::uint32_t seed = 0; seed < affinity.size(); ++seed) {
    if (!is_free[seed]) continue;
    double inside = 0, all = 0;
    for (std::uint32_t next = seed; members.size() < size;) {
      members.push_back(next);
      is_member[next] = true;
      inside += weight[next];
      all += total[next];
      const auto neighbours = affinity.neighbours(next);
      for (std::size_t edge = 0; edge < neighbours.size(); ++edge) {
        if (!is_free[neighbours[edge]]) continue;
        if (weight[neighbours[edge]] == 0) weighted.push_back(neighbours[edge]);
        weight[neighbours[edge]] += affinity.weights(next)[edge];
      }
      const std::uint32_t last = next;
      for (const std::uint32_t element : weighted) {
        if (is_member[element]) continue;
        const bool better =
            next == last || weight[element] > weight[next] || (weight[element] == weight[next] && element < next);
        if (better) next = element;
      }
      if (next == last) break;
    }
    if (members.size() == size) {
      std::sort(members.begin(), members.end());
      candidates.add(members, inside, all - 2 * inside);
    }
    for (const std::uint32_t element : members) is_member[element] = false;
    for (const std::uint32_t element : weighted) weight[element] = 0;
    members.clear();
    weighted.clear();
  }
  return candidates;
}

}  // namespace rankloom
