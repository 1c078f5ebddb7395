// SPDX-License-Identifier: Apache-2.0
// map/eager: EagerMap's greedy grouping for one level of the machine: GenerateGroupsForLevel, GenerateGroup and their
// load-aware variants (Cruz 2019, Algorithms 2, 3, 6 and 7; section 3.6).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/affinity.hpp"

namespace rankloom {

/// GenerateGroup (Algorithm 3), one element at a time. A group starts with the lowest element that is in no group; then
/// the free element with the most communication to the group joins; ties go to the lowest element.
///
/// The paper sums a row of a dense matrix for every free element in every step: O(elements² x group size). Here a new
/// member updates the weights of its neighbours only, so each pair is visited once. A weight is summed in the order in
/// which the members joined, as in the paper, so the result is identical to the last bit. All groups together take
/// O(pairs log pairs), or O(pairs x group size) for small groups, where a linear search over the weighted elements is
/// faster than a heap. The search that the paper's Algorithm 8 parallelises does not exist here; the remaining work is
/// shorter than the start of a thread.
class GreedyGrouping {
 public:
  /// `typical_size` of a group selects the data structure; it does not influence the result.
  GreedyGrouping(const Affinity& affinity, std::uint64_t typical_size);

  /// The number of elements that are in no group.
  std::uint32_t free_elements() const { return affinity_.size() - static_cast<std::uint32_t>(groups_.members.size()); }
  /// Adds the next element to the open group and returns it. Requires a free element.
  std::uint32_t add_next();
  /// Ends the open group and opens the next.
  void close();
  Groups groups() && { return std::move(groups_); }

 private:
  struct WeightedElement {
    double weight;
    std::uint32_t element;
    /// The top of the heap has the greatest weight; ties go to the lowest element.
    bool operator<(const WeightedElement& other) const {
      return weight != other.weight ? weight < other.weight : element > other.element;
    }
  };
  static constexpr std::uint32_t none = 0xffffffff;
  static constexpr double chosen = -1;
  static constexpr std::uint64_t max_size_without_heap = 24;

  void add_weights_of(std::uint32_t member);
  std::uint32_t pop_heaviest();
  std::uint32_t first_free();

  const Affinity& affinity_;
  bool with_heap_;
  Groups groups_;
  std::vector<double> weight_;           // by element: its communication with the open group; `chosen` if in a group
  std::vector<std::uint32_t> weighted_;  // free elements with a weight; with a heap also elements chosen since
  std::vector<WeightedElement> heap_;    // the current weight of each weighted element, and outdated weights
  std::uint32_t first_ = 0;              // all elements before it are in groups
};

/// GenerateGroupsForLevel (Algorithm 2): min(elements, max_groups) groups. Their sizes differ by at most one, the
/// larger groups first.
Groups generate_groups_for_level(const Affinity& affinity, std::uint32_t max_groups);

/// The load-aware grouping of a level (Algorithms 6 and 7): a group grows while its load is below the remaining load
/// divided by the remaining groups. `max_size`: the most elements of a group; max_groups x max_size >= elements. The
/// paper's rule is completed where it does not define a valid result:
/// - A group never takes more than `max_size` elements (Algorithm 5 would access missing children of the object), and
///   takes as many as necessary for the rest to fit into the remaining groups; so the last group takes all remaining
///   elements.
/// - When only elements without load remain, they are distributed by number (the paper's threshold is then zero, and
///   its loop would not end). Otherwise a group has at least one element.
/// - A load that misses the threshold only by rounding errors has reached it.
Groups generate_groups_by_load(const Affinity& affinity, std::span<const double> loads, std::uint32_t max_groups,
                               std::uint64_t max_size);

/// Section 3.6: one group per machine with exactly the given sizes, whose sum is the number of elements.
Groups generate_groups_of_sizes(const Affinity& affinity, std::span<const std::uint32_t> sizes);

/// One machine of section 3.6.
struct MachineShare {
  std::uint64_t units;     ///< Processing units; the machine's share is proportional to them.
  std::uint64_t capacity;  ///< The most elements of its group; 0 without units.
};

/// The number of elements of each machine: proportional to its processing units (largest remainders; ties go to the
/// first machine), but at most its capacity. The capacities must suffice.
std::vector<std::uint32_t> proportional_sizes(std::uint32_t elements, std::span<const MachineShare> machines);

/// Section 3.6 with loads, "in a way very similar to 3.4": the group of a machine grows while its load is below the
/// machine's share of the remaining load, with the same additions as above. One group per machine; it is empty for
/// machines without capacity.
Groups generate_groups_by_load(const Affinity& affinity, std::span<const double> loads,
                               std::span<const MachineShare> machines);

}  // namespace rankloom
