// SPDX-License-Identifier: Apache-2.0
// discover/strings: tokens, numbers and costs.
#include "rankloom/discover/strings/tokens.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"

namespace rankloom {

namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

}  // namespace

Failure bad_token(std::string_view token, std::string what) {
  return fail(
      Code::bad_input, at("topology string"), fmt::format("\"{}\": {}", printable(token), what),
      "write levels top down as name:count[*capacity][=inverse_bandwidth[,latency]], for example \"switch:2=4.1 "
      "node:6=3.7 core:16=1\"; a network may come first: mesh:4x4 torus:4x4x4 tree:4,4 fattree:4,4/2,1 "
      "dragonfly:9,4,2; holes come last: !core:5,7-9");
}

std::string printable(std::string_view text) {
  constexpr std::size_t max_length = 60;
  std::string result(text.substr(0, max_length));
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > max_length ? result + "..." : result;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (true) {
    const auto end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> split_at_blanks(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (auto at = text.begin(); at != text.end();) {
    const auto begin = std::find_if_not(at, text.end(), is_blank);
    at = std::find_if(begin, text.end(), is_blank);
    if (begin != at) pieces.emplace_back(begin, at);
  }
  return pieces;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '-'; });
}

std::optional<std::uint32_t> parse_index(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0xffff'ffff) return std::nullopt;
  return value;
}

std::optional<std::uint32_t> parse_size(std::string_view text) {
  const auto value = parse_index(text);
  return value && *value > 0 ? value : std::nullopt;
}

Result<Cost> parse_cost(std::string_view token, std::string_view text) {
  const auto parts = split(text, ',');
  const auto inverse_bandwidth = parse_inverse_bandwidth(parts[0]);
  if (inverse_bandwidth && *inverse_bandwidth > 0 && !is_valid_cost({*inverse_bandwidth, 0}))
    return bad_token(token, fmt::format("the cost \"{}\" is not between {:g} and {:g}", printable(parts[0]),
                                        min_valid_cost, max_valid_cost));
  if (!inverse_bandwidth || !(*inverse_bandwidth > 0)) {
    return bad_token(token, fmt::format("\"{}\" is neither a time per byte above 0 nor a bandwidth such as 10GB/s",
                                        printable(parts[0])));
  }
  if (parts.size() == 1) return Cost{*inverse_bandwidth, 0};
  const auto latency = parse_nanoseconds(parts[1], 1);
  if (!latency || !is_valid_cost({1, *latency}) || parts.size() > 2) {
    return bad_token(token,
                     fmt::format("\"{}\" is not a latency such as 2us", printable(text.substr(parts[0].size() + 1))));
  }
  return Cost{*inverse_bandwidth, *latency};
}

}  // namespace rankloom
