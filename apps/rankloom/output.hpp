// SPDX-License-Identifier: Apache-2.0
// apps: what leaves the program: text for people, one JSON object for scripts, files, errors.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "apps/rankloom/verb.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/system/process.hpp"
#include "rankloom/model/cost/loads.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom::app {

using Json = nlohmann::ordered_json;

void print(std::string_view text);
/// One line; what is no UTF-8 is replaced, what is no number is null.
void print_json(const Json& object);
std::string to_line(const Json& object);

/// Fails when the file could not be written there later: before long work, not after it. "-" and "" are fine.
Result<void> check_output(const std::string& path);
/// Where a verb without -o writes.
inline std::string or_standard_output(const std::string& path) {
  return path.empty() ? "-" : path;
}
/// Fails when standard output did not take everything.
Result<void> check_standard_output();

/// The error as text on stderr, and with --json as an object on stdout too. The value is the exit status.
int show_error(const Error& error, bool json);

/// 6,912 exactly, 1.25e+20 rounded; a number that a person compares.
std::string cost_number(double value);
/// "15.2 %" less than before; negative when it is more.
double gain_percent(double before, double after, bool larger_is_better);
std::string percent(double value);
/// "15.2 % less", "3.0 % more", "same".
std::string change(double before, double after);

/// By how many percent a value is away from its bound, of the larger of the two: what could be saved at most.
double gap_percent(double value, double bound);
/// "lower bound 6,912, gap 3.1 %"; where larger is better, an upper one.
std::string bound_sentence(double value, double bound, bool larger_is_better);

/// {heaviest_core, bound, imbalance}, and the same for people.
Json load_json(const LoadBalance& load);
std::string load_sentence(const LoadBalance& load);

/// "switch" → "switches", "node" → "nodes"
std::string plural(const std::string& noun);
/// "1 rank", "10,077,696 ranks"
std::string counted(std::uint64_t count, const std::string& noun);

}  // namespace rankloom::app
