// SPDX-License-Identifier: Apache-2.0
// model: what every shape of network is checked for: sizes above zero, numbers of 32 bits, costs that are times.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include <fmt/format.h>

#include "rankloom/core/result.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// Nodes, vertices and links are numbered in 32 bits; the highest number stands for none.
inline constexpr std::uint64_t most_numbers = 0xffff'fffe;

/// The product, or something beyond most_numbers when it is too large; sums of a million such products do not overflow.
inline std::uint64_t capped_product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t cap = std::uint64_t{1} << 40;
  return b != 0 && a > cap / b ? cap : a * b;
}

inline Failure bad_network(const std::string& kind, std::string what, std::string hint) {
  return fail(Code::bad_input, at(kind), std::move(what), std::move(hint));
}

inline Result<void> check_cost(const std::string& kind, Cost cost) {
  const bool time = std::isfinite(cost.gap) && std::isfinite(cost.latency) && cost.gap > 0 && cost.latency >= 0;
  if (time) return {};
  return bad_network(kind, fmt::format("a {} cannot have links of cost {},{}", kind, cost.gap, cost.latency),
                     "gap above 0, latency 0 or more");
}

inline Result<void> check_sizes(const std::string& kind, std::span<const std::uint32_t> sizes) {
  if (sizes.empty()) return bad_network(kind, fmt::format("a {} needs at least one size", kind), "say how large it is");
  for (const std::uint32_t size : sizes) {
    if (size == 0)
      return bad_network(kind, fmt::format("a {} cannot have a size of 0", kind), "let every size be 1 or more");
  }
  return {};
}

inline Result<void> check_count(const std::string& kind, std::uint64_t count, const char* things) {
  if (count <= most_numbers) return {};
  return bad_network(kind,
                     fmt::format("this {} has more {} than the {} that can be numbered", kind, things, most_numbers),
                     "make it smaller");
}

/// "=10" or "=10,500ns": the cost as a topology string ends with it.
inline std::string cost_text(Cost cost) {
  const std::string latency = cost.latency > 0 ? fmt::format(",{}ns", format_value(cost.latency)) : "";
  return fmt::format("={}{}", format_value(cost.gap), latency);
}

}  // namespace rankloom
