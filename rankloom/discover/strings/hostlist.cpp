// SPDX-License-Identifier: Apache-2.0
// discover: shortened names of hosts, written out.
#include "rankloom/discover/strings/hostlist.hpp"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "rankloom/discover/strings/tokens.hpp"

namespace rankloom {

namespace {

/// More hosts than any machine has: a sign of a slip in a range, and of gigabytes to come.
constexpr std::size_t most_hosts = 4'000'000;

Failure bad(std::string_view text, std::string_view why) {
  return fail(Code::bad_input, at(""), fmt::format("\"{}\": {}", shown(text), why),
              "write hosts as Slurm does: n[0-3,7],login1");
}

/// At the commas outside of brackets.
std::optional<std::vector<std::string_view>> split_outside(std::string_view text) {
  std::vector<std::string_view> pieces;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at == text.size() || (text[at] == ',' && depth == 0)) {
      pieces.push_back(text.substr(begin, at - begin));
      begin = at + 1;
    } else if (text[at] == '[' && ++depth > 1) {
      return std::nullopt;
    } else if (text[at] == ']' && --depth < 0) {
      return std::nullopt;
    }
  }
  if (depth != 0) return std::nullopt;
  return pieces;
}

/// "001-016" or "7", each with `before` in front.
Result<void> expand_range(std::string_view range, const std::string& before, std::vector<std::string>& names) {
  const auto ends = split(range, '-');
  const auto first = parse_index(ends[0]), last = parse_index(ends.back());
  if (ends.size() > 2 || !first || !last || *last < *first) return bad(range, "is no number or range");
  if (*last - *first >= most_hosts || names.size() + (*last - *first) >= most_hosts)
    return bad(range, fmt::format("makes more than {} hosts", most_hosts));
  for (std::uint64_t number = *first; number <= *last; ++number)
    names.push_back(fmt::format("{}{:0{}}", before, number, ends[0].size()));
  return {};
}

/// One name with any number of brackets.
Result<std::vector<std::string>> expand_one(std::string_view text) {
  std::vector<std::string> names{""};
  while (!text.empty()) {
    const auto open = text.find('[');
    for (std::string& name : names) name += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const auto close = text.find(']', open);
    const auto ranges = split(text.substr(open + 1, close - open - 1), ',');
    std::vector<std::string> longer;
    for (const std::string& name : names) {
      for (const std::string_view range : ranges) {
        if (auto done = expand_range(range, name, longer); !done) return propagate(done);
      }
    }
    names = std::move(longer);
    text.remove_prefix(close + 1);
  }
  return names;
}

}  // namespace

Result<std::vector<std::string>> expand_hosts(std::string_view text) {
  const auto pieces = split_outside(text);
  if (!pieces) return bad(text, "its brackets do not match");
  std::vector<std::string> hosts;
  for (const std::string_view piece : *pieces) {
    if (piece.empty()) continue;
    auto names = expand_one(piece);
    if (!names) return propagate(names);
    if (hosts.size() + names->size() > most_hosts)
      return bad(text, fmt::format("makes more than {} hosts", most_hosts));
    hosts.insert(hosts.end(), names->begin(), names->end());
  }
  if (hosts.empty()) return bad(text, "names no host");
  return hosts;
}

std::string_view short_name(std::string_view host) {
  return host.substr(0, host.find('.'));
}

}  // namespace rankloom
