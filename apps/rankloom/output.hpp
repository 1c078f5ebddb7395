// SPDX-License-Identifier: Apache-2.0
// apps: output of the program: text for users, one JSON object for scripts, and errors. Numbers in words:
// core/text/units.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "apps/rankloom/verb.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/process.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/model/cost/cost_model.hpp"
#include "rankloom/model/cost/loads.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom::app {

using Json = nlohmann::ordered_json;

/// Prints text for people to standard output; control characters in names do not reach the terminal.
void print(std::string_view text);
/// The same to standard error.
void print_to_stderr(std::string_view text);
/// "rankloom: TEXT" on a line of standard error.
void print_note(std::string_view text);
/// Prints a picture with colours, in which names are already without control characters.
void print_drawing(std::string_view text);
/// Prints one line. Bytes that are not UTF-8 are replaced; numbers that are not finite become null.
void print_json(const Json& object);
std::string to_line(const Json& object);

/// Fails if the file cannot be written, so that the error comes before long work. "-" and "" are valid.
Result<void> check_output(const std::string& path);
/// Fails if the file exists and `is_own` rejects its content: for an output whose name the user did not choose.
Result<void> check_default_output(const std::string& path, bool (*is_own)(std::string_view content));
/// The output file, or "-" if none is given.
inline std::string or_standard_output(const std::string& path) {
  return path.empty() ? "-" : path;
}
/// Fails if standard output could not be written completely.
Result<void> check_standard_output();

/// Prints the error to standard error, and with --json also as an object to standard output. The value is the exit
/// status.
int show_error(const Error& error, bool json);

/// By how many percent `after` is better than `before`; negative if it is worse.
double gain_percent(double before, double after, bool larger_is_better);

/// "lower bound 6,912, gap 3.1 %"; an upper bound if larger is better.
std::string bound_sentence(double value, double bound, bool larger_is_better);

/// Cores, each of which may have several hardware threads.
std::uint64_t count_cores(const Topology& topology);
/// "16 cores", or "16 cores with 32 hardware threads"
std::string counted_cores(const Topology& topology);

/// "  assumed: width node=1, bus unlimited": a line about the assumed numbers that a prediction uses; empty: none.
std::string assumed_line(const Topology& topology);

/// {heaviest_core, bound, imbalance}, and the same as a sentence.
Json load_json(const LoadBalance& load);
std::string load_sentence(const LoadBalance& load);

}  // namespace rankloom::app
