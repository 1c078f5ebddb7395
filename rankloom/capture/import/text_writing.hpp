// SPDX-License-Identifier: Apache-2.0
// capture/import: functions that all writers of text formats share: buffered numbers, and a profile as traffic between
// pairs.
#pragma once

#include <cmath>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/model/graph/profile.hpp"

namespace rankloom {

/// Integers up to 2^53 are exact in a double.
inline bool is_integral(double value) {
  return value >= 0 && value <= 0x1p53 && value == std::floor(value);
}

/// Buffers text on its way to a sink.
class TextWriter {
 public:
  explicit TextWriter(Sink& sink) : sink_(sink) {}
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;
  ~TextWriter() { flush(); }

  void text(std::string_view text) {
    buffer_.append(text.data(), text.data() + text.size());
    if (buffer_.size() >= buffer_size) flush();
  }
  /// The shortest text that reads back as the same number; integers without an exponent.
  void number(double value) {
    if (is_integral(value)) return number(static_cast<std::uint64_t>(value));
    fmt::format_to(std::back_inserter(buffer_), "{}", value);
  }
  void number(std::uint64_t value) {
    const fmt::format_int digits(value);
    text({digits.data(), digits.size()});
  }

 private:
  static constexpr std::size_t buffer_size = std::size_t{1} << 16;
  void flush() {
    sink_.write({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }
  Sink& sink_;
  fmt::memory_buffer buffer_;
};

/// The traffic of collectives between pairs: collectives that were imported as pairs, and symbolic collectives expanded
/// by the model `tree`, the default of mapping and evaluation. A graph without ranks if there are no collectives.
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

/// All traffic between pairs, for formats that do not distinguish collectives. `storage` holds the sum, if one is
/// needed.
inline Result<const CommGraph*> all_as_pairs(const Profile& profile, CommGraph& storage) {
  auto collectives = collectives_as_pairs(profile);
  if (!collectives) return propagate(collectives);
  if (collectives->edge_count() == 0) return &profile.point_to_point;
  storage = sum(profile.point_to_point, *collectives);
  return &storage;
}

}  // namespace rankloom
