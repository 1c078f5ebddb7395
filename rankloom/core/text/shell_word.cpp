// SPDX-License-Identifier: Apache-2.0
// core: words of commands that a person copies into a shell.
#include "rankloom/core/text/shell_word.hpp"

#include <string_view>

namespace rankloom {

std::string shell_word(const std::string& word) {
  constexpr std::string_view safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(safe) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace rankloom
