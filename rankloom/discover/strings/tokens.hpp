// SPDX-License-Identifier: Apache-2.0
// discover/strings: tokens of topology strings and of line-oriented files: splitting, numbers, costs, networks, and
// errors that name a token.
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

/// An error about one token of a topology string; the hint shows the syntax.
Failure bad_token(std::string_view token, std::string what);
/// Text for a message: long text is truncated, unprintable bytes are replaced.
std::string printable(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char separator);  ///< Returns at least one piece.
std::vector<std::string_view> split_at_blanks(std::string_view text);        ///< Returns no empty pieces.
std::string lower_case(std::string_view text);
bool is_name(std::string_view text);                              ///< A letter, then letters, digits, "_" and "-".
std::optional<std::uint32_t> parse_index(std::string_view text);  ///< Digits only; below 2^32 - 1.
std::optional<std::uint32_t> parse_size(std::string_view text);   ///< As parse_index, but not 0.
/// "3.7", "10,2.5us", "10GB/s,1us".
Result<Cost> parse_cost(std::string_view token, std::string_view text);

/// The network of a network token: a routed network and its level of nodes or, for a tree, levels with costs only.
struct NetworkSpec {
  NetworkPtr network;
  std::vector<LevelSpec> levels;
};
bool is_network_token(std::string_view token);
Result<NetworkSpec> parse_network_token(std::string_view token, Cost default_per_hop);

}  // namespace rankloom
