// SPDX-License-Identifier: Apache-2.0
// report/document: results are read as their verbs write them; whatever is otherwise is one error, with the verb that
// writes it right.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "rankloom/core/result.hpp"

namespace rankloom {

/// Runs `read`, which may throw the exceptions of the JSON library.
template <class Read>
Result<void> reading(const std::string& source, std::string_view writer, const Read& read) {
  try {
    read();
    return {};
  } catch (const nlohmann::json::exception& error) {
    // "[json.exception.out_of_range.403] key 'x' not found" → "key 'x' not found"
    std::string_view what = error.what();
    if (const auto end = what.find("] "); what.starts_with('[') && end != std::string_view::npos)
      what.remove_prefix(end + 2);
    return fail(Code::bad_input, at(source), fmt::format("is not what `{}` writes: {}", writer, what),
                fmt::format("make it anew with `{}`", writer));
  }
}

}  // namespace rankloom
