// SPDX-License-Identifier: Apache-2.0
// capture/import/trace: parses and accumulates the lines of a time-independent trace. time_independent.cpp merges the
// files.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "rankloom/capture/import/accumulators.hpp"
#include "rankloom/capture/import/text_reading.hpp"

namespace rankloom {

/// Whether a word is an action of the format.
bool is_time_independent_action(std::string_view word);

/// The accumulated content of trace lines, of one rank or of several.
class TimeIndependentTrace {
 public:
  struct RankState {
    bool begun = false, ended = false;
    double type_bytes = 1;  ///< Size of an element whose datatype is not given.
    double work = 0;        ///< Floating-point operations between calls.
  };
  /// Calls with a count for each member, on communicators of one size. The members are known only if the size is that
  /// of MPI_COMM_WORLD.
  struct UnevenCalls {
    TrafficAccumulator pairs;
    CollectiveAccumulator collectives;
  };

  Result<void> take(const FileContents& file);
  void merge(const TimeIndependentTrace& other);

  const std::unordered_map<std::uint32_t, RankState>& ranks() const { return ranks_; }
  const TrafficAccumulator& traffic() const { return traffic_; }
  const SizeHistogram& sizes() const { return sizes_; }
  const CollectiveAccumulator& collectives() const { return collectives_; }
  const std::map<std::uint64_t, UnevenCalls>& uneven() const { return uneven_; }
  /// Elements of datatypes whose size the trace does not contain; each counts as one byte.
  double elements_of_unknown_type() const { return unknown_elements_; }
  /// Number of lines by unknown action.
  const std::map<std::string, std::uint64_t>& unknown_actions() const { return unknown_actions_; }

 private:
  Result<void> take_action(const FileContents& file, Scanner& in, const Scanner& line);
  Result<void> take_numbers(const FileContents& file, Scanner& in);
  void take_message(bool fetched);
  void take_sendrecv();
  void take_even(CollectiveOp op);
  Result<void> take_uneven(const FileContents& file, const Scanner& line, CollectiveOp op);
  double type_bytes(std::size_t index) const;
  double bytes_at(std::size_t index, std::size_t type_index);
  double number(std::size_t index) const { return index < numbers_.size() ? numbers_[index] : 0; }
  void send(std::uint32_t from, double to, double bytes);

  std::unordered_map<std::uint32_t, RankState> ranks_;
  RankState* state_ = nullptr;  // of the current line
  std::uint32_t rank_ = 0;
  std::vector<double> numbers_;  // after the action of the current line
  TrafficAccumulator traffic_;
  SizeHistogram sizes_;
  CollectiveAccumulator collectives_;
  std::map<std::uint64_t, UnevenCalls> uneven_;
  double unknown_elements_ = 0;
  std::map<std::string, std::uint64_t> unknown_actions_;
};

}  // namespace rankloom
