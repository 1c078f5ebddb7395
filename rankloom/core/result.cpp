// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/result.hpp"

#include <fmt/format.h>

namespace rankloom {

std::string to_string(const Error& error) {
  std::string text;
  if (!error.where.source.empty()) {
    text += error.where.source;
    if (error.where.line > 0) text += fmt::format(":{}", error.where.line);
    text += ": ";
  }
  text += error.what;
  if (!error.hint.empty()) text += fmt::format("\n  hint: {}", error.hint);
  return text;
}

}  // namespace rankloom
