// SPDX-License-Identifier: Apache-2.0
// capture: the lines of a time-independent trace, added up as they come. time_independent.cpp puts files together.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "rankloom/capture/import/reading.hpp"
#include "rankloom/capture/import/tally.hpp"

namespace rankloom {

/// Whether a word is an action that moves data or begins a trace.
bool is_time_independent_action(std::string_view word);

/// What some lines of a trace say, of one rank or of many.
class TimeIndependentLines {
 public:
  struct RankState {
    bool begun = false, ended = false;
    double type_bytes = 1;  ///< Of an element without a type.
    double work = 0;        ///< Floating-point operations between calls.
  };
  /// Calls with amounts of their own for every member, on communicators of one size. Only when that is the world's do
  /// their numbers tell who the others are.
  struct UnevenCalls {
    TrafficTally pairs;
    CollectiveTally collectives;
  };

  Result<void> take(const FileContents& file);
  void add_all(const TimeIndependentLines& other);

  const std::unordered_map<std::uint32_t, RankState>& ranks() const { return ranks_; }
  const TrafficTally& traffic() const { return traffic_; }
  const SizeTally& sizes() const { return sizes_; }
  const CollectiveTally& collectives() const { return collectives_; }
  const std::map<std::uint64_t, UnevenCalls>& uneven() const { return uneven_; }
  /// Elements of types whose size the trace does not tell, each counted as one byte.
  double elements_of_unknown_type() const { return unknown_elements_; }
  /// Lines whose action is not known, by action.
  const std::map<std::string, std::uint64_t>& not_understood() const { return not_understood_; }

 private:
  Result<void> take_action(const FileContents& file, Scanner& in, const Scanner& line);
  Result<void> take_numbers(const FileContents& file, Scanner& in);
  void take_message(bool fetched);
  void take_exchange();
  void take_even(CollectiveOp op);
  Result<void> take_uneven(const FileContents& file, const Scanner& line, CollectiveOp op);
  double type_bytes(std::size_t place) const;
  double elements(std::size_t place, std::size_t type_place);
  double number(std::size_t place) const { return place < numbers_.size() ? numbers_[place] : 0; }
  void send(std::uint32_t from, double to, double bytes);

  std::unordered_map<std::uint32_t, RankState> ranks_;
  RankState* state_ = nullptr;  // of the line that is being read
  std::uint32_t rank_ = 0;
  std::vector<double> numbers_;  // behind its action
  TrafficTally traffic_;
  SizeTally sizes_;
  CollectiveTally collectives_;
  std::map<std::uint64_t, UnevenCalls> uneven_;
  double unknown_elements_ = 0;
  std::map<std::string, std::uint64_t> not_understood_;
};

}  // namespace rankloom
