// SPDX-License-Identifier: Apache-2.0
// apps: the nearest known word to a mistyped one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankloom::app {

/// The known word that is fewest slips of the finger away, if it is near enough to be meant.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

/// "did you mean 'greedy'?", or the other text when nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known, std::string otherwise);

}  // namespace rankloom::app
