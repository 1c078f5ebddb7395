// SPDX-License-Identifier: Apache-2.0
// capture: adds up the events of a trace as they come, in memory that grows with who talks to whom and not with how
// often.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "rankloom/model/comm_graph.hpp"
#include "rankloom/model/profile.hpp"

namespace rankloom {

/// Two sums for each pair of 32-bit numbers that occurs, in one flat table.
class PairSums {
 public:
  struct Entry {
    std::uint64_t key = unused;
    double first = 0, second = 0;
    std::uint32_t left() const { return static_cast<std::uint32_t>(key >> 32); }
    std::uint32_t right() const { return static_cast<std::uint32_t>(key); }
  };

  /// Not both numbers may be 2^32 - 1.
  void add(std::uint32_t left, std::uint32_t right, double first, double second) {
    const std::uint64_t key = std::uint64_t{left} << 32 | right;
    Entry* entry = slots_.data() + last_;
    if (entry->key != key) entry = &slot(key);
    entry->first += first;
    entry->second += second;
  }
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Entry& entry : slots_) {
      if (entry.key != unused) visit(entry);
    }
  }
  void add_all(const PairSums& other) {
    other.for_each([this](const Entry& entry) { add(entry.left(), entry.right(), entry.first, entry.second); });
  }
  std::size_t size() const { return used_; }

 private:
  static constexpr std::uint64_t unused = ~std::uint64_t{0};

  Entry& slot(std::uint64_t key) {
    if (2 * used_ >= slots_.size()) grow();
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (key * 0x9e37'79b9'7f4a'7c15) >> (64 - std::bit_width(mask));
    while (slots_[at].key != key && slots_[at].key != unused) at = (at + 1) & mask;
    if (slots_[at].key == unused) {
      slots_[at].key = key;
      ++used_;
    }
    last_ = at;
    return slots_[at];
  }
  void grow();

  std::vector<Entry> slots_ = std::vector<Entry>(16);  // a power of two, at most half of them used
  std::size_t used_ = 0;
  std::size_t last_ = 0;
};

/// Traffic between pairs, and how large its messages were.
class TrafficTally {
 public:
  void add(std::uint32_t from, std::uint32_t to, double bytes, double messages = 1) {
    pairs_.add(from, to, bytes, messages);
    const std::uint32_t larger = from > to ? from : to;
    if (larger >= rank_count_) rank_count_ = std::uint64_t{larger} + 1;
  }
  void add_all(const TrafficTally& other) {
    pairs_.add_all(other.pairs_);
    if (other.rank_count_ > rank_count_) rank_count_ = other.rank_count_;
  }
  bool empty() const { return pairs_.size() == 0; }
  /// One more than the largest rank that was named.
  std::uint64_t rank_count() const { return rank_count_; }
  CommGraph build(std::uint32_t ranks) const;

 private:
  PairSums pairs_;
  std::uint64_t rank_count_ = 0;
};

/// Messages by size: the power of two not above it.
class SizeTally {
 public:
  void add(double bytes) { ++counts_[bytes >= 1 ? std::bit_width(static_cast<std::uint64_t>(bytes)) : 0]; }
  void add(std::size_t bucket, std::uint64_t messages) { counts_[bucket] += messages; }
  void add_all(const SizeTally& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }
  static constexpr std::size_t buckets = 65;  ///< 0, 1, 2 to 3, 4 to 7, …
  std::map<std::uint64_t, std::uint64_t> sizes() const;

 private:
  std::array<std::uint64_t, buckets> counts_{};
};

/// Collectives as each rank tells them. Everything that is made of them is linear in bytes and counts, so calls are
/// counted in shares: one of n members that reports a call reports 1/n of it.
class CollectiveTally {
 public:
  /// The trace does not say on which communicator: it is taken to be that of the ranks that report the same call, which
  /// is the world when all do.
  static constexpr std::uint32_t unknown_communicator = UINT32_MAX;

  struct Call {
    std::uint32_t communicator = unknown_communicator;  ///< Or an index into the list that finish() is given.
    CollectiveOp op = CollectiveOp::barrier;
    std::uint32_t root = 0;
    double bytes = 0;
    /// Members of a communicator on which each reports other bytes (MPI_Allgatherv); 0: all report the same.
    std::uint32_t uneven_members = 0;
    bool operator==(const Call&) const = default;
  };

  void add(std::uint32_t rank, const Call& call, double count = 1) { add(rank, call, call.bytes * count, count); }
  /// The call's own bytes tell calls apart; where they cannot, they are 0 and the bytes are given here.
  void add(std::uint32_t rank, const Call& call, double bytes, double count);
  void add_all(const CollectiveTally& other);
  bool empty() const { return calls_.empty(); }

  /// Adds to the profile's collectives, and to its communicators those that are missing. With a known communicator and
  /// a root, the root's own reports must have been left out.
  void finish(Profile& profile) const;

 private:
  struct Hash {
    std::size_t operator()(const Call& call) const;
  };
  std::uint32_t id_of(const Call& call);

  std::vector<Call> calls_;
  std::unordered_map<Call, std::uint32_t, Hash> ids_;
  PairSums reports_;  // (call, rank) → bytes in all, how often
};

/// Operations with a root.
constexpr bool has_root(CollectiveOp op) {
  return op == CollectiveOp::bcast || op == CollectiveOp::reduce || op == CollectiveOp::gather ||
         op == CollectiveOp::scatter;
}

}  // namespace rankloom
