// SPDX-License-Identifier: Apache-2.0
// map/eager: who goes together.
#include "rankloom/map/eager/grouping.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace rankloom {
namespace {

/// What rounding may take from a sum of loads, with room to spare.
constexpr double rounding = 1e-12;

/// What Algorithm 6 keeps between groups.
class LoadLeft {
 public:
  explicit LoadLeft(std::span<const double> loads) : loads_(loads) {
    for (const double load : loads) {
      sum_ += load;
      with_load_ += load > 0 ? 1 : 0;
    }
  }

  /// One group grows to its threshold, `part` of the load that is left, and within the bounds on its number.
  void grow_group(GreedyGroups& greedy, double part, std::uint64_t least, std::uint64_t most) {
    const double threshold = sum_ * part * (1 - rounding);
    double load = 0;
    for (std::uint64_t count = 0; count < most && (count < least || load < threshold); ++count) {
      const double more = loads_[greedy.take()];
      load += more;
      with_load_ -= more > 0 ? 1 : 0;
    }
    sum_ = with_load_ > 0 ? sum_ - load : 0;
    greedy.close();
  }

  bool none() const { return with_load_ == 0; }

 private:
  std::span<const double> loads_;
  double sum_ = 0;
  std::uint64_t with_load_ = 0;
};

std::uint64_t beyond(std::uint64_t count, std::uint64_t room) {
  return count > room ? count - room : 0;
}

}  // namespace

GreedyGroups::GreedyGroups(const Affinity& affinity, std::uint64_t usual_size)
    : affinity_(affinity), with_heap_(usual_size > few), weight_(affinity.size(), 0.0) {
  groups_.members.reserve(affinity.size());
}

std::uint32_t GreedyGroups::take() {
  assert(left() > 0);
  const bool opens = groups_.members.size() == groups_.ends.back();
  // A group's last winner never needs to tell anybody, so each tells when the next one is asked for.
  if (!opens) tell_partners(groups_.members.back());
  std::uint32_t winner = opens ? nobody : most_told();
  if (winner == nobody) winner = first_free();
  weight_[winner] = chosen;
  groups_.members.push_back(winner);
  return winner;
}

void GreedyGroups::close() {
  groups_.close();
  for (const std::uint32_t element : told_) {
    if (weight_[element] != chosen) weight_[element] = 0;
  }
  told_.clear();
  heap_.clear();
}

void GreedyGroups::tell_partners(std::uint32_t winner) {
  const auto partners = affinity_.neighbours(winner);
  const auto weights = affinity_.weights(winner);
  for (std::size_t at = 0; at < partners.size(); ++at) {
    double& weight = weight_[partners[at]];
    if (weight == chosen) continue;
    if (weight == 0) told_.push_back(partners[at]);
    weight += weights[at];
    if (!with_heap_) continue;
    heap_.push_back({weight, partners[at]});
    std::push_heap(heap_.begin(), heap_.end());
  }
}

std::uint32_t GreedyGroups::most_told() {
  if (with_heap_) {
    while (!heap_.empty()) {
      const Told top = heap_.front();
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
      if (weight_[top.element] == top.weight) return top.element;
    }
    return nobody;
  }
  if (told_.empty()) return nobody;
  std::size_t best = 0;
  Told most{weight_[told_[0]], told_[0]};
  for (std::size_t at = 1; at < told_.size(); ++at) {
    const Told told{weight_[told_[at]], told_[at]};
    if (!(most < told)) continue;
    most = told;
    best = at;
  }
  told_[best] = told_.back();
  told_.pop_back();
  return most.element;
}

std::uint32_t GreedyGroups::first_free() {
  while (weight_[first_] == chosen) ++first_;
  return first_;
}

Groups group_evenly(const Affinity& affinity, std::uint32_t available) {
  const std::uint32_t elements = affinity.size();
  const std::uint32_t count = std::min(elements, available);
  Groups groups;
  if (count == elements) {  // each begins a group of its own
    groups.members.resize(elements);
    std::iota(groups.members.begin(), groups.members.end(), 0);
    groups.ends.resize(elements + std::size_t{1});
    std::iota(groups.ends.begin(), groups.ends.end(), 0);
    return groups;
  }
  const std::uint32_t size = elements / count;
  const std::uint32_t larger = elements % count;
  GreedyGroups greedy(affinity, size);
  for (std::uint32_t group = 0; group < count; ++group) {
    for (std::uint32_t at = 0; at < size + (group < larger ? 1 : 0); ++at) greedy.take();
    greedy.close();
  }
  return std::move(greedy).groups();
}

Groups group_by_load(const Affinity& affinity, std::span<const double> loads, std::uint32_t available,
                     std::uint64_t widest) {
  GreedyGroups greedy(affinity, affinity.size() / available);
  LoadLeft load_left(loads);
  for (std::uint64_t groups_left = available; greedy.left() > 0; --groups_left) {
    const std::uint64_t left = greedy.left();
    const std::uint64_t fair = load_left.none() ? (left + groups_left - 1) / groups_left : 1;
    const std::uint64_t least = std::max(fair, beyond(left, (groups_left - 1) * widest));
    load_left.grow_group(greedy, 1 / static_cast<double>(groups_left), least, std::min(left, widest));
  }
  return std::move(greedy).groups();
}

Groups group_by_size(const Affinity& affinity, std::span<const std::uint32_t> sizes) {
  GreedyGroups greedy(affinity, sizes.empty() ? 0 : affinity.size() / sizes.size());
  for (const std::uint32_t size : sizes) {
    for (std::uint32_t at = 0; at < size; ++at) greedy.take();
    greedy.close();
  }
  return std::move(greedy).groups();
}

std::vector<std::uint32_t> fair_sizes(std::uint32_t elements, std::span<const Share> shares) {
  std::vector<std::uint32_t> sizes(shares.size(), 0);
  std::vector<std::size_t> open;  // machines that can take their part of what is left
  std::uint64_t units = 0;
  for (std::size_t at = 0; at < shares.size(); ++at) {
    if (shares[at].places > 0) open.push_back(at);
    units += shares[at].places > 0 ? shares[at].units : 0;
  }
  // Who would get more than its places gets its places, and the others share what is left in the same way.
  std::uint64_t left = elements;
  for (bool again = true; again;) {
    const std::uint64_t before = left, units_before = units;
    std::erase_if(open, [&](std::size_t at) {
      if (before * shares[at].units <= shares[at].places * units_before) return false;
      sizes[at] = static_cast<std::uint32_t>(shares[at].places);
      left -= shares[at].places;
      units -= shares[at].units;
      return true;
    });
    again = left != before;
  }
  std::uint64_t given = 0;
  for (const std::size_t at : open) {
    sizes[at] = static_cast<std::uint32_t>(left * shares[at].units / units);
    given += sizes[at];
  }
  std::stable_sort(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
    return left * shares[a].units % units > left * shares[b].units % units;
  });
  for (std::size_t at = 0; given < left; ++at, ++given) ++sizes[open[at]];
  return sizes;
}

Groups group_by_load(const Affinity& affinity, std::span<const double> loads, std::span<const Share> shares) {
  GreedyGroups greedy(affinity, shares.empty() ? 0 : affinity.size() / shares.size());
  LoadLeft load_left(loads);
  std::uint64_t units_left = 0, places_left = 0;
  for (const Share& share : shares) {
    units_left += share.places > 0 ? share.units : 0;
    places_left += share.places;
  }
  for (const Share& share : shares) {
    if (share.places == 0) {
      greedy.close();
      continue;
    }
    const std::uint64_t left = greedy.left();
    places_left -= share.places;
    const std::uint64_t fair = load_left.none() ? (left * share.units + units_left - 1) / units_left : 0;
    const std::uint64_t least = std::max(std::min(fair, share.places), beyond(left, places_left));
    load_left.grow_group(greedy, static_cast<double>(share.units) / static_cast<double>(units_left), least,
                         std::min(left, share.places));
    units_left -= share.units;
  }
  return std::move(greedy).groups();
}

}  // namespace rankloom
