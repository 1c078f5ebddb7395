// SPDX-License-Identifier: Apache-2.0
// model/machine/network: checks that all kinds of networks share: positive sizes, 32-bit numbers, valid costs.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <fmt/format.h>

#include "rankloom/core/result.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// Nodes, vertices and links have 32-bit numbers; the largest one is reserved for "none".
inline constexpr std::uint64_t max_number = 0xffff'fffe;

/// The product, or a value above max_number if it is too large; sums of a million such products do not overflow.
inline std::uint64_t capped_product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t cap = std::uint64_t{1} << 40;
  return b != 0 && a > cap / b ? cap : a * b;
}

inline Failure bad_network(const std::string& kind, std::string what, std::string hint) {
  return fail(Code::bad_input, at(kind), std::move(what), std::move(hint));
}

inline Result<void> check_cost(const std::string& kind, Cost cost) {
  if (is_valid_cost(cost)) return {};
  return bad_network(
      kind, fmt::format("a {} cannot have links with the cost {},{}", kind, cost.inverse_bandwidth, cost.latency),
      cost_limits);
}

inline Result<void> check_sizes(const std::string& kind, std::span<const std::uint32_t> sizes) {
  if (sizes.empty()) return bad_network(kind, fmt::format("a {} needs at least one size", kind), "give its sizes");
  for (const std::uint32_t size : sizes) {
    if (size == 0)
      return bad_network(kind, fmt::format("a {} cannot have a size of 0", kind), "give sizes of 1 or more");
  }
  return {};
}

inline Result<void> check_count(const std::string& kind, std::uint64_t count, const char* things) {
  if (count <= max_number) return {};
  return bad_network(kind, fmt::format("this {} has too many {}: the maximum is {}", kind, things, max_number),
                     "make it smaller");
}

/// The cost at the end of a topology string: "=10" or "=10,500ns".
inline std::string cost_text(Cost cost) {
  const std::string latency = cost.latency > 0 ? fmt::format(",{}ns", format_value(cost.latency)) : "";
  return fmt::format("={}{}", format_value(cost.inverse_bandwidth), latency);
}

}  // namespace rankloom
