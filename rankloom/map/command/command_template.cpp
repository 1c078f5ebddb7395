// SPDX-License-Identifier: Apache-2.0
// map/command: the command line of an external mapper.
#include "rankloom/map/command/command_template.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include <fmt/format.h>

#include "rankloom/core/system/process.hpp"

namespace rankloom {

namespace {

constexpr std::array table{
    Placeholder{"graph", "a file with the graph in METIS format, undirected, with integral weights"},
    Placeholder{"graph.metis", "the same"},
    Placeholder{"graph.pairs", "a file with one line per pair of ranks: from to bytes messages"},
    Placeholder{"graph.mtx", "a file with the traffic matrix in Matrix Market format"},
    Placeholder{"machine", "a file with the machine in topology JSON"},
    Placeholder{"machine.json", "the same"},
    Placeholder{"hierarchy", "the machine from the lowest level up: 4:8:6"},
    Placeholder{"distance", "the cost of each of these levels: 1:10:100"},
    Placeholder{"seed", "the seed of the random numbers"},
    Placeholder{"ranks", "the number of ranks"},
    Placeholder{"cores", "the number of cores, or of slots if ranks occupy several cores"},
    Placeholder{"out", "the file for the result; without it, the result is standard output"},
};

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz.";

/// A placeholder in a text: the text between the braces.
struct Found {
  std::size_t begin = std::string_view::npos, end = std::string_view::npos;
  std::string_view name = {};
};

Found find_placeholder(std::string_view text, std::size_t from) {
  for (std::size_t open = text.find('{', from); open != std::string_view::npos; open = text.find('{', open + 1)) {
    const std::size_t close = text.find_first_not_of(letters, open + 1);
    if (close == std::string_view::npos) break;
    const bool is_variable = open > 0 && text[open - 1] == '$';
    if (text[close] == '}' && close > open + 1 && !is_variable)
      return {open, close + 1, text.substr(open + 1, close - open - 1)};
  }
  return {};
}

bool is_known(std::string_view name) {
  return std::any_of(table.begin(), table.end(), [&](const Placeholder& row) { return row.name == name; });
}

std::string known_names() {
  std::string names;
  for (const Placeholder& row : table) names += fmt::format("{}{{{}}}", names.empty() ? "" : ", ", row.name);
  return names;
}

}  // namespace

std::span<const Placeholder> placeholders() {
  return table;
}

Result<CommandTemplate> CommandTemplate::parse(std::string_view text) {
  if (text.find_first_not_of(" \t\n") == std::string_view::npos) {
    return fail(Code::usage, at("-a"), "the command after exec: is missing",
                "write -a exec:'./my_mapper {graph} {machine} {seed} {out}'");
  }
  for (Found found = find_placeholder(text, 0); !found.name.empty(); found = find_placeholder(text, found.end)) {
    if (is_known(found.name)) continue;
    return fail(Code::usage, at("-a"), fmt::format("unknown placeholder {{{}}} in the command", found.name),
                fmt::format("one of: {}", known_names()));
  }
  return CommandTemplate(std::string(text));
}

bool CommandTemplate::uses(std::string_view placeholder) const {
  for (Found found = find_placeholder(text_, 0); !found.name.empty(); found = find_placeholder(text_, found.end))
    if (found.name == placeholder) return true;
  return false;
}

std::string CommandTemplate::fill(const std::map<std::string, std::string, std::less<>>& values) const {
  std::string command;
  std::size_t begin = 0;
  for (Found found = find_placeholder(text_, 0); !found.name.empty(); found = find_placeholder(text_, found.end)) {
    const auto value = values.find(found.name);
    assert(value != values.end());
    command += text_.substr(begin, found.begin - begin) + shell_quote(value->second);
    begin = found.end;
  }
  return command + text_.substr(begin);
}

}  // namespace rankloom
