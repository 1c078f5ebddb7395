// SPDX-License-Identifier: Apache-2.0
// core/text: reads and writes numbers with units.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rankloom {

/// The complete text as a finite number; nothing if the text is not a number.
std::optional<double> parse_number(std::string_view text);
/// "64", "4k", "1.5M", "60MB", "4KiB" → bytes. k, M, G, T are powers of 1000, Ki, Mi, Gi, Ti of 1024; a final B may
/// follow.
std::optional<double> parse_bytes(std::string_view text);
/// "2.5us", "300ns", "1ms", "2s", "1min" → nanoseconds; a number without unit counts in bare_unit_ns.
std::optional<double> parse_nanoseconds(std::string_view text, double bare_unit_ns);
/// "0.1" (ns per byte), "10GB/s", "100Gbit/s" → nanoseconds per byte.
std::optional<double> parse_inverse_bandwidth(std::string_view text);

std::string format_bytes(double bytes);      ///< "1.50 MB"
std::string format_seconds(double seconds);  ///< "12.3 ms"
std::string format_count(double count);      ///< "10,077,696"
std::string format_value(double value);      ///< Shortest text that reads back to the same number.

}  // namespace rankloom
