// SPDX-License-Identifier: Apache-2.0
// core: the hint for a word that is not known: the nearest one that is.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankloom {

/// Letters to change, insert or leave out to make one word of the other (Levenshtein 1966).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// "did you mean mesh?" when a known word is near, else "one of: mesh, torus, …"; known words in reading order.
std::string suggest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace rankloom
