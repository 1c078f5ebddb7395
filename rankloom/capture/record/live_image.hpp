// SPDX-License-Identifier: Apache-2.0
// capture: a rank's image while the rank still counts into it: the same file, mapped to be read. The rank knows nothing
// of its readers and waits for none, so what is read may be torn; a reader looks again, and takes differences of
// counters that only grow.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/capture/record/image.hpp"
#include "rankloom/model/profile.hpp"

namespace rankloom {

/// What a rank has counted since it began.
struct LiveTotals {
  struct Pair {
    std::uint64_t key = 0;  ///< Kind and other rank; rising.
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
  std::vector<Call> calls;  ///< By the fields that tell them apart.
  double seconds_in_mpi = 0;
};

class LiveImage {
 public:
  /// Nothing while the file is no image yet, or of a rank that does not know yet who it is.
  static std::unique_ptr<LiveImage> open(const std::string& path);
  ~LiveImage();
  LiveImage(const LiveImage&) = delete;
  LiveImage& operator=(const LiveImage&) = delete;

  std::uint32_t rank() const { return head().rank; }
  std::uint32_t ranks() const { return head().ranks; }
  std::uint32_t process() const { return head().process; }
  std::string_view host() const;
  /// It called MPI_Finalize, or ended otherwise in a way that it could see.
  bool ended() const;

  /// False: the rank was changing its tables each time it was looked at; try again later.
  bool read(LiveTotals& totals);
  /// Of a communicator that a call names; the world has none.
  std::vector<Rank> members(std::uint32_t communicator) const;

 private:
  LiveImage(int file, const char* base, std::uint64_t size) : file_(file), base_(base), size_(size) {}
  const record::RankImage& head() const { return *reinterpret_cast<const record::RankImage*>(base_); }
  bool follow_growth();
  bool read_once(LiveTotals& totals) const;
  template <class T>
  bool copy(std::uint64_t place, T& value) const;

  int file_;
  const char* base_;
  std::uint64_t size_;
};

/// What was counted between two readings; where a torn reading went back, nothing. `latest` is never behind `before`.
LiveTotals difference(const LiveTotals& before, LiveTotals& latest);

}  // namespace rankloom
