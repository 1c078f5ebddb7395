// SPDX-License-Identifier: Apache-2.0
// core/text: expands hostlist expressions.
#include "rankloom/core/text/hostlist.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "rankloom/core/text/number_ranges.hpp"

namespace rankloom {

namespace {

constexpr std::size_t max_name_length = 255;  // of the domain name system

Failure bad(std::string_view text, std::string_view why) {
  constexpr std::size_t max_length = 60;
  std::string printable(text.substr(0, max_length));
  std::replace_if(
      printable.begin(), printable.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  if (text.size() > max_length) printable += "...";
  return fail(Code::bad_input, at(""), fmt::format("\"{}\" {}", printable, why),
              "write hosts as Slurm does, for example n[0-3,7],login1");
}

std::string_view trim(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

/// Splits at commas outside of brackets; nothing if brackets are nested or do not match.
std::optional<std::vector<std::string_view>> split_names(std::string_view text) {
  std::vector<std::string_view> names;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at == text.size() || (text[at] == ',' && depth == 0)) {
      names.push_back(trim(text.substr(begin, at - begin)));
      begin = at + 1;
      continue;
    }
    if (text[at] == '[') ++depth;
    if (text[at] == ']') --depth;
    if (depth < 0 || depth > 1) return std::nullopt;
  }
  if (depth != 0) return std::nullopt;
  if (names.back().empty()) names.pop_back();  // after a trailing comma
  return names;
}

/// Appends prefix001, prefix002, ... for the ranges "001-016,20".
Result<void> append_ranges(std::string_view ranges, const std::string& prefix, std::vector<std::string>& names) {
  while (true) {
    const std::string_view text = ranges.substr(0, ranges.find(','));
    const auto range = parse_number_range(text);
    if (!range) return bad(text, "is not a number or a range");
    if (prefix.size() + text.size() > max_name_length)
      return bad(prefix, "is the beginning of a name that is too long");
    if (range->last - range->first >= max_listed_hosts ||
        names.size() + (range->last - range->first) >= max_listed_hosts)
      return bad(text, fmt::format("expands to more than {} hosts", max_listed_hosts));
    const std::uint64_t others = range->last - range->first;  // the last number may be the largest of all
    for (std::uint64_t i = 0; i <= others; ++i)
      names.push_back(fmt::format("{}{:0{}}", prefix, range->first + i, range->digits));
    if (text.size() == ranges.size()) return {};
    ranges.remove_prefix(text.size() + 1);
  }
}

/// One name with any number of brackets.
Result<std::vector<std::string>> expand_name(std::string_view text) {
  std::vector<std::string> names{""};
  while (!text.empty()) {
    const auto open = text.find('[');
    if (names[0].size() + std::min(open, text.size()) > max_name_length)
      return bad(text, fmt::format("is part of a name of more than {} characters", max_name_length));
    for (std::string& name : names) name += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const auto close = text.find(']', open);
    std::vector<std::string> expanded;
    for (const std::string& name : names) {
      if (auto done = append_ranges(text.substr(open + 1, close - open - 1), name, expanded); !done)
        return propagate(done);
    }
    names = std::move(expanded);
    text.remove_prefix(close + 1);
  }
  return names;
}

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text) {
  const auto pieces = split_names(text);
  if (!pieces) return bad(text, "has brackets that do not match");
  std::vector<std::string> hosts;
  for (const std::string_view piece : *pieces) {
    if (piece.empty()) return bad(text, "has an empty name between two commas");
    auto names = expand_name(piece);
    if (!names) return propagate(names);
    if (!is_plain_host_name(names->front())) {  // the others differ in digits only
      Failure failure = bad(piece, "is not a host name");
      failure.value().hint = "use letters, digits, - _ and . and do not begin with -";
      return failure;
    }
    if (hosts.size() + names->size() > max_listed_hosts)
      return bad(text, fmt::format("expands to more than {} hosts", max_listed_hosts));
    hosts.insert(hosts.end(), names->begin(), names->end());
  }
  if (hosts.empty()) return bad(text, "names no host");
  return hosts;
}

bool is_plain_host_name(std::string_view name) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  return !name.empty() && name.size() <= 255 && name[0] != '-' &&
         name.find_first_not_of(plain) == std::string_view::npos;
}

Result<std::vector<std::string>> HostlistExpander::expand(std::string_view text) {
  constexpr std::size_t max_memory = std::size_t{64} << 20;
  auto names = expand_hostlist(text);
  if (!names) return names;
  for (const std::string& name : *names) memory_ += sizeof(std::string) + name.size();
  if (memory_ > max_memory) return bad(text, "and the lists before it name too many hosts");
  return names;
}

std::string_view short_host_name(std::string_view host) {
  return host.substr(0, host.find('.'));
}

}  // namespace rankloom
