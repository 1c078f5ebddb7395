// SPDX-License-Identifier: Apache-2.0
// map/treematch: listing and growing candidate groups.
#include "rankloom/map/treematch/candidate_groups.hpp"

#include <algorithm>

namespace rankloom {
namespace {

/// What each element says to all others.
std::vector<double> totals(const Affinity& affinity) {
  std::vector<double> sums(affinity.size(), 0.0);
  for (std::uint32_t element = 0; element < affinity.size(); ++element) {
    for (const double weight : affinity.weights(element)) sums[element] += weight;
  }
  return sums;
}

double between(const Affinity& affinity, std::uint32_t a, std::uint32_t b) {
  const auto near = affinity.neighbours(a);
  const auto found = std::lower_bound(near.begin(), near.end(), b);
  return found != near.end() && *found == b ? affinity.weights(a)[static_cast<std::size_t>(found - near.begin())] : 0;
}

/// Every connected subset once: from its lowest member, each step adds one of the elements next to the subset that are
/// above the lowest and were not next to it before (Wernicke 2006).
class Listing {
 public:
  Listing(const Affinity& affinity, const std::vector<bool>& is_free, std::uint32_t size, std::uint64_t most)
      : affinity_(affinity),
        is_free_(is_free),
        size_(size),
        most_(most),
        total_(totals(affinity)),
        candidates_(size),
        seen_(is_free.size()) {}

  std::optional<Candidates> run() && {
    for (std::uint32_t lowest = 0; lowest < affinity_.size() && !too_many_; ++lowest) {
      if (!is_free_[lowest]) continue;
      lowest_ = lowest;
      seen_[lowest] = true;
      members_.assign(1, lowest);
      std::vector<std::uint32_t> next;
      see_neighbours(lowest, next);
      extend(next, 0, total_[lowest]);
      for (const std::uint32_t element : next) seen_[element] = false;
      seen_[lowest] = false;
    }
    if (too_many_) return std::nullopt;
    return std::move(candidates_);
  }

 private:
  void see_neighbours(std::uint32_t element, std::vector<std::uint32_t>& next) {
    for (const std::uint32_t neighbour : affinity_.neighbours(element)) {
      if (neighbour <= lowest_ || !is_free_[neighbour] || seen_[neighbour]) continue;
      seen_[neighbour] = true;
      next.push_back(neighbour);
    }
  }

  void extend(const std::vector<std::uint32_t>& next, double inside, double all) {
    if (members_.size() == size_) {
      too_many_ = candidates_.count() >= most_;
      if (!too_many_) candidates_.add(members_, inside, all - 2 * inside);
      return;
    }
    for (std::size_t at = 0; at < next.size() && !too_many_; ++at) {
      double more = 0;
      for (const std::uint32_t member : members_) more += between(affinity_, next[at], member);
      std::vector<std::uint32_t> rest;
      std::size_t known = 0;
      if (members_.size() + 1 < size_) {
        rest.assign(next.begin() + static_cast<std::ptrdiff_t>(at) + 1, next.end());
        known = rest.size();
        see_neighbours(next[at], rest);
      }
      members_.push_back(next[at]);
      extend(rest, inside + more, all + total_[next[at]]);
      members_.pop_back();
      for (std::size_t added = known; added < rest.size(); ++added) seen_[rest[added]] = false;
    }
  }

  const Affinity& affinity_;
  const std::vector<bool>& is_free_;
  std::uint32_t size_;
  std::uint64_t most_;
  std::vector<double> total_;
  Candidates candidates_;
  std::vector<bool> seen_;  // in the subset or next to it
  std::vector<std::uint32_t> members_;
  std::uint32_t lowest_ = 0;
  bool too_many_ = false;
};

}  // namespace

std::optional<Candidates> list_candidates(const Affinity& affinity, const std::vector<bool>& is_free,
                                          std::uint32_t size, std::uint64_t most) {
  return Listing(affinity, is_free, size, most).run();
}

Candidates grow_candidates(const Affinity& affinity, const std::vector<bool>& is_free, std::uint32_t size) {
  Candidates candidates(size);
  const std::vector<double> total = totals(affinity);
  std::vector<double> pull(affinity.size(), 0.0);
  std::vector<bool> inside_now(affinity.size(), false);
  std::vector<std::uint32_t> members, pulled;
  for (std::uint32_t seed = 0; seed < affinity.size(); ++seed) {
    if (!is_free[seed]) continue;
    double inside = 0, all = 0;
    for (std::uint32_t next = seed; members.size() < size;) {
      members.push_back(next);
      inside_now[next] = true;
      inside += pull[next];
      all += total[next];
      const auto near = affinity.neighbours(next);
      for (std::size_t edge = 0; edge < near.size(); ++edge) {
        if (!is_free[near[edge]]) continue;
        if (pull[near[edge]] == 0) pulled.push_back(near[edge]);
        pull[near[edge]] += affinity.weights(next)[edge];
      }
      const std::uint32_t before = next;
      for (const std::uint32_t element : pulled) {
        if (inside_now[element]) continue;
        const bool better =
            next == before || pull[element] > pull[next] || (pull[element] == pull[next] && element < next);
        if (better) next = element;
      }
      if (next == before) break;
    }
    if (members.size() == size) {
      std::sort(members.begin(), members.end());
      candidates.add(members, inside, all - 2 * inside);
    }
    for (const std::uint32_t element : members) inside_now[element] = false;
    for (const std::uint32_t element : pulled) pull[element] = 0;
    members.clear();
    pulled.clear();
  }
  return candidates;
}

}  // namespace rankloom
