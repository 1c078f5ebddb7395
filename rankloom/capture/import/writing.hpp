// SPDX-License-Identifier: Apache-2.0
// capture: what the writers of all text formats share: numbers put into a buffer, and the traffic that a format without
// columns for collectives can say.
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

/// All traffic that stands between pairs: point to point, and collectives that came as pairs. Collectives that are
/// still what the program asked for are not in it. The sum is kept in `storage`, when there is one to make.
inline const CommGraph& traffic_of_pairs(const Profile& profile, CommGraph& storage) {
  if (profile.expanded_collectives.edge_count() == 0) return profile.point_to_point;
  return storage = sum(profile.point_to_point, profile.expanded_collectives);
}

}  // namespace rankloom
