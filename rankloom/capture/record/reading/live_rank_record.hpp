// SPDX-License-Identifier: Apache-2.0
// capture/record/reading: reads the RankRecord of a running rank from its memory-mapped file. The rank does not
// synchronise with readers, so a reading may be inconsistent: a reader retries, and uses differences of counters, which
// never decrease.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/capture/record/rank_record.hpp"
#include "rankloom/model/graph/profile.hpp"

namespace rankloom {

/// The counters of a rank since the beginning of the program.
struct LiveTotals {
  struct Pair {
    std::uint64_t key = 0;  ///< Kind and other rank; the pairs are sorted by it.
    std::uint64_t bytes = 0, messages = 0;
    std::uint32_t other() const { return static_cast<std::uint32_t>(key); }
    record::TrafficKind kind() const { return static_cast<record::TrafficKind>(key >> 32); }
  };
  struct Call {
    std::uint32_t communicator = 0, op = 0, root = 0;
    std::uint64_t bytes_each = 0;
    std::uint64_t bytes = 0, count = 0;
    bool same_call(const Call& other) const {
      return communicator == other.communicator && op == other.op && root == other.root &&
             bytes_each == other.bytes_each;
    }
  };
  std::vector<Pair> pairs;
  std::vector<Call> calls;  ///< Sorted by the fields of their key: communicator, op, root, bytes_each.
  double seconds_in_mpi = 0;
};

class LiveRankRecord {
 public:
  /// nullptr while the file is not a complete RankRecord yet.
  static std::unique_ptr<LiveRankRecord> open(const std::string& path);
  ~LiveRankRecord();
  LiveRankRecord(const LiveRankRecord&) = delete;
  LiveRankRecord& operator=(const LiveRankRecord&) = delete;

  std::uint32_t rank() const { return head().rank; }
  std::uint32_t ranks() const { return head().ranks; }
  std::uint32_t process() const { return head().process; }
  std::string_view host() const;
  bool is_same_job(const LiveRankRecord& other) const;
  /// The rank called MPI_Finalize or MPI_Abort, or exited.
  bool ended() const;

  /// False: the rank changed its tables during every attempt; try again later.
  bool read(LiveTotals& totals);
  /// World ranks of the members of a Call's communicator; empty for MPI_COMM_WORLD.
  std::vector<Rank> members(std::uint32_t communicator) const;

 private:
  LiveRankRecord(int file, const char* base, std::uint64_t size) : file_(file), base_(base), size_(size) {}
  const record::RankRecord& head() const { return *reinterpret_cast<const record::RankRecord*>(base_); }
  bool follow_growth();
  bool read_once(LiveTotals& totals) const;
  template <class T>
  bool copy(std::uint64_t offset, T& value) const;

  int file_;
  const char* base_;
  std::uint64_t size_;
};

/// What was counted between two readings. Where an inconsistent reading of `latest` is below `before`, `latest` is
/// raised to `before` and the difference is 0.
LiveTotals difference(const LiveTotals& before, LiveTotals& latest);

}  // namespace rankloom
