// SPDX-License-Identifier: Apache-2.0
// map/treematch: the groups that could be made of elements that are still free.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rankloom/map/affinity.hpp"

namespace rankloom {

/// Candidate groups, all of one size.
class Candidates {
 public:
  explicit Candidates(std::uint32_t size) : size_(size) {}

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

/// All groups of free elements that hang together by traffic; none when there are more than `most`.
std::optional<Candidates> list_candidates(const Affinity& affinity, const std::vector<bool>& is_free,
                                          std::uint32_t size, std::uint64_t most);

/// For each free element the group that grows from it by adding who says most to those already in it, the lowest of
/// equals; nothing where it cannot grow to the size. O(elements x size x degree).
Candidates grow_candidates(const Affinity& affinity, const std::vector<bool>& is_free, std::uint32_t size);

}  // namespace rankloom
