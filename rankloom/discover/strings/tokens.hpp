// SPDX-License-Identifier: Apache-2.0
// discover: the words of a topology string: how they are cut, what a number, a cost and a network look like, and how an
// error names them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/discover/strings/levels.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

/// An error about one word, with the language as its hint.
Failure bad_token(std::string_view token, std::string what);
/// Fit for a message: cut when long, bytes that cannot be printed replaced.
std::string shown(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char separator);  ///< At least one piece.
std::vector<std::string_view> split_at_blanks(std::string_view text);        ///< No empty pieces.
std::string lower_case(std::string_view text);
bool is_name(std::string_view text);                              ///< A letter, then letters, digits, "_" and "-".
std::optional<std::uint32_t> parse_index(std::string_view text);  ///< Digits alone, below 2^32 - 1.
std::optional<std::uint32_t> parse_size(std::string_view text);   ///< The same and not 0.
/// "3.7", "10,2.5us", "10GB/s,1us".
Result<Cost> parse_cost(std::string_view token, std::string_view text);

/// What a network word stands for: a routed network and its level of nodes, or, for a tree, levels with costs alone.
struct NetworkWords {
  NetworkPtr network;
  std::vector<LevelWords> levels;
};
bool is_network(std::string_view token);
Result<NetworkWords> parse_network(std::string_view token, Cost default_per_hop);

}  // namespace rankloom
