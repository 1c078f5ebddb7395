// SPDX-License-Identifier: Apache-2.0
// capture/import: accumulates the events of a trace. Memory grows with the number of communicating pairs, not with the
// number of messages.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/graph/profile.hpp"

namespace rankloom {

/// Two sums for each pair of 32-bit numbers that occurs, in an open-addressing hash table.
class PairAccumulator {
 public:
  struct Entry {
    std::uint64_t key = unused;
    double first = 0, second = 0;
    std::uint32_t left() const { return static_cast<std::uint32_t>(key >> 32); }
    std::uint32_t right() const { return static_cast<std::uint32_t>(key); }
  };

  /// The pair (2^32 - 1, 2^32 - 1) is reserved.
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
  void merge(const PairAccumulator& other) {
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

  std::vector<Entry> slots_ = std::vector<Entry>(16);  // the size is a power of two, at most half of the slots are used
  std::size_t used_ = 0;
  std::size_t last_ = 0;
};

/// Traffic between pairs of ranks.
class TrafficAccumulator {
 public:
  void add(std::uint32_t from, std::uint32_t to, double bytes, double messages = 1) {
    pairs_.add(from, to, bytes, messages);
    const std::uint32_t larger = from > to ? from : to;
    if (larger >= rank_count_) rank_count_ = std::uint64_t{larger} + 1;
  }
  void merge(const TrafficAccumulator& other) {
    pairs_.merge(other.pairs_);
    if (other.rank_count_ > rank_count_) rank_count_ = other.rank_count_;
  }
  bool empty() const { return pairs_.size() == 0; }
  /// One more than the largest rank that occurred.
  std::uint64_t rank_count() const { return rank_count_; }
  CommGraph build(std::uint32_t ranks) const;

 private:
  PairAccumulator pairs_;
  std::uint64_t rank_count_ = 0;
};

/// Number of messages by size, in buckets of powers of two.
class SizeHistogram {
 public:
  void add(double bytes) { ++counts_[bytes >= 1 ? std::bit_width(static_cast<std::uint64_t>(bytes)) : 0]; }
  void add(std::size_t bucket, std::uint64_t messages) { counts_[bucket] += messages; }
  void merge(const SizeHistogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }
  static constexpr std::size_t buckets = 65;  ///< 0, 1, 2 to 3, 4 to 7, …
  std::map<std::uint64_t, std::uint64_t> sizes() const;

 private:
  std::array<std::uint64_t, buckets> counts_{};
};

/// Collectives as each rank reports them. All results are linear in bytes and counts, so a report of one of n members
/// counts as 1/n of a call.
class CollectiveAccumulator {
 public:
  /// The trace does not contain the communicator. The ranks that report the same call are taken as its members; if all
  /// ranks report it, it is MPI_COMM_WORLD.
  static constexpr std::uint32_t unknown_communicator = UINT32_MAX;

  struct Call {
    std::uint32_t communicator = unknown_communicator;  ///< Or an index into the communicators of the profile.
    CollectiveOp op = CollectiveOp::barrier;
    std::uint32_t root = 0;
    double bytes = 0;
    /// Size of the communicator if each member reports different bytes (MPI_Allgatherv); 0: all report the same.
    std::uint32_t uneven_members = 0;
    bool operator==(const Call&) const = default;
  };

  void add(std::uint32_t rank, const Call& call, double count = 1) { add(rank, call, call.bytes * count, count); }
  /// `call.bytes` is part of the key. Where it cannot be, it is 0 and the bytes are passed separately.
  void add(std::uint32_t rank, const Call& call, double bytes, double count);
  void merge(const CollectiveAccumulator& other);
  bool empty() const { return calls_.empty(); }

  /// Adds the collectives to the profile, and the communicators that it does not contain yet. For rooted operations on
  /// a known communicator, the root's reports must have been omitted.
  void finish(Profile& profile) const;

 private:
  struct Hash {
    std::size_t operator()(const Call& call) const;
  };
  std::uint32_t id_of(const Call& call);

  std::vector<Call> calls_;
  std::unordered_map<Call, std::uint32_t, Hash> ids_;
  PairAccumulator reports_;  // (call, rank) → total bytes, number of calls
};

/// Whether the operation has a root.
constexpr bool has_root(CollectiveOp op) {
  return op == CollectiveOp::bcast || op == CollectiveOp::reduce || op == CollectiveOp::gather ||
         op == CollectiveOp::scatter;
}

}  // namespace rankloom
