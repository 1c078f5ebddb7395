// SPDX-License-Identifier: Apache-2.0
// core/text: reads numbers with units, and writes numbers for people: the only place that decides how a size, a
// duration, a percentage or a factor is worded.
#pragma once

#include <cstdint>
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

std::string format_bytes(double bytes);      ///< "1.5 MB"
std::string format_seconds(double seconds);  ///< "12.3 ms", "46.9 min", "23.2 h"
std::string format_count(double count);      ///< "10,077,696"
std::string format_value(double value);      ///< Shortest text that reads back to the same number.

/// A cost: 6,912 exactly, 1.25e+20 rounded.
std::string cost_number(double value);
/// "15.2 %", "0.02 %", "1,250 %". A value that is neither 0 nor 100 is not rounded to either.
std::string percent(double value);
/// How many times: "2.43", "35.1", "50,001".
std::string factor(double value);
/// "15.2 % less", "3.0 % more", "50,001 times as much", "same", "new".
std::string change(double before, double after);
/// By how much a value exceeds the best one: "15.2 % longer", with the adjective "longer", or "35.1 times the best".
std::string excess(double best, double value, std::string_view adjective);

/// "switch" → "switches", "leaf" → "leaves"
std::string plural(const std::string& noun);
/// "1 rank", "10,077,696 ranks"
std::string counted(std::uint64_t count, const std::string& noun);

}  // namespace rankloom
