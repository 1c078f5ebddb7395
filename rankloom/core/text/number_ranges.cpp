// SPDX-License-Identifier: Apache-2.0
// core/text: lists of numbers and ranges such as "0-3,8".
#include "rankloom/core/text/number_ranges.hpp"

#include <algorithm>
#include <charconv>

namespace rankloom {

namespace {

std::optional<std::uint64_t> parse_digits(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || parsed != end) return std::nullopt;
  return value;
}

std::string quote(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

}  // namespace

std::optional<NumberRange> parse_number_range(std::string_view text) {
  const std::string_view first_text = text.substr(0, text.find('-'));
  const auto first = parse_digits(first_text);
  const auto last = first_text.size() == text.size() ? first : parse_digits(text.substr(first_text.size() + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return NumberRange{*first, *last, first_text.size()};
}

std::optional<std::vector<std::uint32_t>> parse_number_ranges(std::string_view text, std::uint32_t max,
                                                              std::string* error) {
  const auto reject = [&](const std::string& reason) {
    if (error != nullptr) *error = reason;
    return std::nullopt;
  };
  std::vector<std::uint32_t> numbers;
  if (text.empty()) return numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    const auto range = parse_number_range(item);
    if (!range) return reject(quote(item) + " is not a number or a range");
    if (range->last > max) return reject(quote(item) + " is above the maximum of " + std::to_string(max));
    if (numbers.size() + (range->last - range->first) > max) return reject(quote(item) + " repeats earlier numbers");
    for (std::uint64_t number = range->first; number <= range->last; ++number)
      numbers.push_back(static_cast<std::uint32_t>(number));
    begin = end + 1;
  }
  return numbers;
}

std::string format_number_ranges(std::span<const std::uint32_t> numbers) {
  std::string text;
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t end = begin + 1;
    while (end < numbers.size() && numbers[end] == std::uint64_t{numbers[end - 1]} + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[begin]);
    if (end - begin > 1) text += '-' + std::to_string(numbers[end - 1]);
    begin = end;
  }
  return text;
}

}  // namespace rankloom
