// SPDX-License-Identifier: Apache-2.0
// map/eager: who goes together: the greedy groups of one level of the machine (Cruz 2019, Algorithms 2, 3, 6 and 7).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/affinity.hpp"

namespace rankloom {

/// Cruz 2019, Algorithm 3, one element at a time. A group begins with the lowest element that no group has; then always
/// the free element joins that talks most with those already in the group, of equals the lowest.
///
/// The paper adds up a row of a dense matrix for every free element and every step: O(elements² x group size). Here a
/// winner tells its partners only, so each pair is looked at once, and what an element has been told is a sum in the
/// order of the winners, as in the paper, to the last bit. All groups together: O(pairs log pairs), or O(pairs x group
/// size) for small groups, where a look at everybody who was told something is quicker than a heap. The search that
/// the paper's Algorithm 8 spreads over threads is gone; what remains is shorter than starting a thread.
class GreedyGroups {
 public:
  /// `usual_size` of a group decides how the winner is found, never who it is.
  GreedyGroups(const Affinity& affinity, std::uint64_t usual_size);

  /// How many are in no group yet.
  std::uint32_t left() const { return affinity_.size() - static_cast<std::uint32_t>(groups_.members.size()); }
  /// The next winner joins the open group. Somebody must be left.
  std::uint32_t take();
  /// Ends the open group and opens the next.
  void close();
  Groups groups() && { return std::move(groups_); }

 private:
  struct Told {
    double weight;
    std::uint32_t element;
    /// A heap's top is the greatest weight, of equals the lowest element.
    bool operator<(const Told& other) const {
      return weight != other.weight ? weight < other.weight : element > other.element;
    }
  };
  static constexpr std::uint32_t nobody = 0xffffffff;
  static constexpr double chosen = -1;
  static constexpr std::uint64_t few = 24;

  void tell_partners(std::uint32_t winner);
  std::uint32_t most_told();
  std::uint32_t first_free();

  const Affinity& affinity_;
  bool with_heap_;
  Groups groups_;
  std::vector<double> weight_;       // by element: what it says to the open group; `chosen` once it is in a group
  std::vector<std::uint32_t> told_;  // free elements with a weight; with a heap also some that were chosen since
  std::vector<Told> heap_;           // holds each told element's newest weight, and outdated ones
  std::uint32_t first_ = 0;          // nobody before it is free
};

/// Algorithm 2: min(elements, available) groups whose sizes differ by one at most, the larger ones first.
Groups group_evenly(const Affinity& affinity, std::uint32_t available);

/// Algorithms 6 and 7: a group grows while its load is below what is left for each group left. `widest`: the most
/// elements that a group can hold; available x widest >= elements. Where the paper's rule breaks, it is repaired:
/// - A group never takes more than `widest` (the paper's Algorithm 5 would leave the children of the machine's object),
///   and takes as many as it must so that the rest fits into the groups left; so the last one takes all that is left.
/// - When only elements without load are left, they are shared out by number (the paper's threshold is then zero, and
///   its group stays empty for ever). Otherwise a group has at least one element.
/// - A load that misses the threshold by rounding alone has reached it.
Groups group_by_load(const Affinity& affinity, std::span<const double> loads, std::uint32_t available,
                     std::uint64_t widest);

/// Section 3.6: one group for each machine, of exactly the given sizes; they sum up to the number of elements.
Groups group_by_size(const Affinity& affinity, std::span<const std::uint32_t> sizes);

/// A machine as section 3.6 sees it.
struct Share {
  std::uint64_t units;   ///< Its processing units: what it should get of the whole.
  std::uint64_t places;  ///< The most elements that it can hold; none without units.
};

/// How many of n elements each machine gets: equal numbers for each processing unit as nearly as possible (largest
/// remainders, of equals the first machine), but never more than it has places. They must fit.
std::vector<std::uint32_t> fair_sizes(std::uint32_t elements, std::span<const Share> shares);

/// Section 3.6 with loads, "in a way very similar to 3.4": a machine's group grows while its load is below its part of
/// the load that is left; repaired as group_by_load is. One group for each machine, empty for those without places.
Groups group_by_load(const Affinity& affinity, std::span<const double> loads, std::span<const Share> shares);

}  // namespace rankloom
