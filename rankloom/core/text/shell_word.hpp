// SPDX-License-Identifier: Apache-2.0
// core: words of commands that a person copies into a shell.
#pragma once

#include <string>

namespace rankloom {

/// The word as a shell reads it back.
std::string shell_word(const std::string& word);

}  // namespace rankloom
