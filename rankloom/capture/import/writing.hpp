// SPDX-License-Identifier: Apache-2.0
// capture: what the writers of all text formats share: numbers put into a buffer, and a profile as traffic
// between pairs.
#pragma once

#include <cmath>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "rankloom/core/file.hpp"
#include "rankloom/model/profile.hpp"

namespace rankloom {

/// Whole numbers up to here are exact in a double.
inline bool is_whole(double value) {
  return value >= 0 && value <= 0x1p53 && value == std::floor(value);
}

/// Text that goes to a sink in large pieces.
class TextWriter {
 public:
  explicit TextWriter(Sink& sink) : sink_(sink) {}
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;
  ~TextWriter() { flush(); }

  void text(std::string_view text) {
    buffer_.append(text.data(), text.data() + text.size());
    if (buffer_.size() >= full) flush();
  }
  /// Shortest text that reads back to the same number; whole numbers without exponent.
  void number(double value) {
    if (is_whole(value)) return number(static_cast<std::uint64_t>(value));
    fmt::format_to(std::back_inserter(buffer_), "{}", value);
  }
  void number(std::uint64_t value) {
    const fmt::format_int digits(value);
    text({digits.data(), digits.size()});
  }

 private:
  static constexpr std::size_t full = std::size_t{1} << 16;
  void flush() {
    sink_.write({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }
  Sink& sink_;
  fmt::memory_buffer buffer_;
};

/// The collectives as pairs: those that came so, and those that are still what the program asked for, turned into pairs
/// by the model `tree`, as mapping and evaluating do unless told otherwise. No ranks when there are none.
inline Result<CommGraph> collectives_as_pairs(const Profile& profile) {
  if (profile.collectives.empty()) return profile.expanded_collectives;
  if (auto fits = check_traffic_fits(profile, CollectiveModel::tree); !fits) return propagate(fits);
  Profile collectives;
  collectives.point_to_point = CommGraphBuilder(profile.rank_count()).build(true);
  collectives.self_traffic_counts = true;
  collectives.expanded_collectives = profile.expanded_collectives;
  collectives.communicators = profile.communicators;
  collectives.collectives = profile.collectives;
  return traffic(std::move(collectives), CollectiveModel::tree);
}

/// All traffic between pairs, for formats that do not tell collectives apart. The sum is kept in `storage`, when there
/// is one to make.
inline Result<const CommGraph*> all_as_pairs(const Profile& profile, CommGraph& storage) {
  auto collectives = collectives_as_pairs(profile);
  if (!collectives) return propagate(collectives);
  if (collectives->edge_count() == 0) return &profile.point_to_point;
  storage = sum(profile.point_to_point, *collectives);
  return &storage;
}

}  // namespace rankloom
