// SPDX-License-Identifier: Apache-2.0
// core/text: the hint for an unknown word: the most similar known one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankloom {

/// The number of letters to change, insert or remove to turn one word into the other (Levenshtein 1966).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// "did you mean mesh?" if a known word is similar, else "one of: mesh, torus, …" in the given order.
std::string suggest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace rankloom
