// SPDX-License-Identifier: Apache-2.0
// core/text: text that cannot control a terminal. Names of programs, hosts and jobs come from files that anyone may
// have written, so everything that is printed for people passes through one of these functions.
#pragma once

#include <string>
#include <string_view>

namespace rankloom {

/// One line: control characters become \xNN or, above ASCII, \uNNNN, as do characters that reorder text. Bytes that are
/// not UTF-8 become the replacement character.
std::string without_controls(std::string_view text);

/// The same for several lines: newlines and tabs stay. JSON stays the same JSON.
std::string lines_without_controls(std::string_view text);

}  // namespace rankloom
