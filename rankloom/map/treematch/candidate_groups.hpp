// SPDX-License-Identifier: Apache-2.0
// map/treematch: the candidate groups of free elements.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rankloom/map/affinity.hpp"

namespace rankloom {

/// Candidate groups of equal size, each with its traffic inside the group and to elements outside.
class CandidateGroups {
 public:
  explicit CandidateGroups(std::uint32_t size) : size_(size) {}

  void add(std::span<const std::uint32_t> members, double inside, double outside) {
    members_.insert(members_.end(), members.begin(), members.end());
    inside_.push_back(inside);
    outside_.push_back(outside);
  }
  std::uint32_t count() const { return static_cast<std::uint32_t>(inside_.size()); }
  std::span<const std::uint32_t> operator[](std::uint32_t candidate) const {
    return {members_.data() + std::size_t{candidate} * size_, size_};
  }
  double inside(std::uint32_t candidate) const { return inside_[candidate]; }
  double outside(std::uint32_t candidate) const { return outside_[candidate]; }

 private:
  std::uint32_t size_;
  std::vector<std::uint32_t> members_;
  std::vector<double> inside_, outside_;
};

/// All connected groups of free elements; nullopt when there are more than `max_count`.
std::optional<CandidateGroups> list_candidates(const Affinity& affinity, const std::vector<bool>& is_free,
                                               std::uint32_t size, std::uint64_t max_count);

/// For each free element, the group that grows from it greedily: the element with the most traffic to the group joins,
/// ties go to the lowest element. A group that cannot grow to the size is left out. O(elements x size x degree).
CandidateGroups grow_candidates(const Affinity& affinity, const std::vector<bool>& is_free, std::uint32_t size);

}  // namespace rankloom
