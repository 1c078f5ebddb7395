// SPDX-License-Identifier: Apache-2.0
// discover: a small part of YAML.
#include "rankloom/discover/slurm/yaml.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "rankloom/discover/strings/tokens.hpp"

namespace rankloom {

namespace {

constexpr std::size_t deepest = 40;
constexpr std::size_t nowhere = std::string_view::npos;

struct Line {
  std::size_t indent;
  std::string_view text;
  std::uint64_t number;
};

std::string_view trimmed(std::string_view text) {
  const auto begin = std::min(text.find_first_not_of(" \t\r"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

/// The first place where `is_it(text, at)` holds outside of quotes and brackets.
template <class Test>
std::size_t find_outside(std::string_view text, const Test& is_it) {
  char quote = 0;
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
      continue;
    }
    const bool begins_word = at == 0 || text[at - 1] == ' ' || text[at - 1] == '[' || text[at - 1] == ',';
    if ((c == '"' || c == '\'') && begins_word) {
      quote = c;
      continue;
    }
    if (depth == 0 && is_it(text, at)) return at;
    if (c == '[') ++depth;
    if (c == ']') --depth;
  }
  return nowhere;
}

/// Behind the key, in front of the colon; nowhere: no "key: value".
std::size_t key_end(std::string_view text) {
  return find_outside(text, [](std::string_view all, std::size_t at) {
    return all[at] == ':' && (at + 1 == all.size() || all[at + 1] == ' ' || all[at + 1] == '\t');
  });
}

std::string_view without_comment(std::string_view line) {
  return line.substr(0, find_outside(line, [](std::string_view all, std::size_t at) {
                       return all[at] == '#' && (at == 0 || all[at - 1] == ' ' || all[at - 1] == '\t');
                     }));
}

std::string unquoted(std::string_view word) {
  const bool quoted = word.size() > 1 && (word[0] == '"' || word[0] == '\'') && word.back() == word[0];
  return std::string(quoted ? word.substr(1, word.size() - 2) : word);
}

class YamlReader {
 public:
  explicit YamlReader(const FileContents& file) : source_(file.name()) {
    std::uint64_t number = 0;
    for (std::string_view line : split(file.view(), '\n')) {
      ++number;
      line = without_comment(line);
      const std::string_view text = trimmed(line);
      if (text.empty() || text == "---" || text == "..." || text[0] == '%') continue;
      lines_.push_back({line.find_first_not_of(" \t"), text, number});
      if (line.substr(0, lines_.back().indent).find('\t') != nowhere && tab_ == 0) tab_ = number;
    }
  }

  Result<YamlValue> read() {
    if (tab_ != 0) return bad(tab_, "a tab indents this line", "YAML is indented by blanks");
    if (lines_.empty()) return bad(0, "is empty", "give a topology.yaml");
    auto value = read_block(lines_[0].indent, 0);
    if (value && at_ < lines_.size())
      return bad(lines_[at_].number, "is indented less than what it belongs to", "line it up with its neighbours");
    return value;
  }

 private:
  Failure bad(std::uint64_t line, std::string what, std::string hint) const {
    return fail(Code::bad_input, at(source_, line), std::move(what), std::move(hint));
  }

  static bool is_item(std::string_view text) { return text == "-" || text.starts_with("- "); }

  Result<YamlValue> read_block(std::size_t indent, std::size_t depth) {
    if (depth > deepest) return bad(lines_[at_].number, "is nested too deep", "a topology.yaml has a few levels");
    YamlValue value{.kind = YamlValue::Kind::map, .line = lines_[at_].number, .word = {}, .items = {}, .entries = {}};
    if (is_item(lines_[at_].text)) value.kind = YamlValue::Kind::list;
    if (value.kind == YamlValue::Kind::map && key_end(lines_[at_].text) == nowhere) {
      const Line line = lines_[at_++];
      return read_word(line.text, line.number, depth);
    }
    while (at_ < lines_.size() && lines_[at_].indent == indent &&
           is_item(lines_[at_].text) == (value.kind == YamlValue::Kind::list)) {
      auto added = value.kind == YamlValue::Kind::list ? add_item(value, depth) : add_entry(value, depth);
      if (!added) return propagate(added);
    }
    if (at_ < lines_.size() && lines_[at_].indent > indent)
      return bad(lines_[at_].number, "is indented more than its neighbours", "line it up with the line before it");
    return value;
  }

  /// "- what follows" is a block of its own that begins behind the dash.
  Result<void> add_item(YamlValue& list, std::size_t depth) {
    Line& line = lines_[at_];
    const auto skip = line.text.find_first_not_of(' ', 1);
    if (skip == nowhere) {
      const std::size_t indent = line.indent;
      ++at_;
      return add_below(list.items.emplace_back(), indent + 1, depth);
    }
    line.indent += skip;
    line.text.remove_prefix(skip);
    auto item = read_block(line.indent, depth + 1);
    if (!item) return propagate(item);
    list.items.push_back(std::move(*item));
    return {};
  }

  Result<void> add_entry(YamlValue& map, std::size_t depth) {
    const Line line = lines_[at_++];
    const auto end = key_end(line.text);
    if (end == nowhere)
      return bad(line.number, fmt::format("\"{}\" is no key: value", shown(line.text)), "write key: value");
    const std::string key = unquoted(trimmed(line.text.substr(0, end)));
    if (map.find(key) != nullptr) return bad(line.number, fmt::format("{} is given twice", shown(key)), "give it once");
    YamlValue value;
    value.line = line.number;
    if (const auto rest = trimmed(line.text.substr(end + 1)); !rest.empty()) {
      auto word = read_word(rest, line.number, depth);
      if (!word) return propagate(word);
      value = std::move(*word);
    } else if (at_ < lines_.size() && is_item(lines_[at_].text) && lines_[at_].indent == line.indent) {
      auto list = read_block(line.indent, depth + 1);  // a list may stand right below its key
      if (!list) return propagate(list);
      value = std::move(*list);
    } else if (auto added = add_below(value, line.indent + 1, depth); !added) {
      return added;
    }
    map.entries.emplace_back(key, std::move(value));
    return {};
  }

  Result<void> add_below(YamlValue& value, std::size_t least_indent, std::size_t depth) {
    if (at_ >= lines_.size() || lines_[at_].indent < least_indent) return {};
    auto block = read_block(lines_[at_].indent, depth + 1);
    if (!block) return propagate(block);
    value = std::move(*block);
    return {};
  }

  Result<YamlValue> read_word(std::string_view text, std::uint64_t line, std::size_t depth) const {
    YamlValue value{.kind = YamlValue::Kind::word, .line = line, .word = {}, .items = {}, .entries = {}};
    if (depth > deepest || std::string_view("&*|>{!@`").find(text[0]) != nowhere) {
      return bad(line, fmt::format("\"{}\": this part of YAML is not understood here", shown(text)),
                 "write plain words, lists and maps");
    }
    if (text[0] != '[') {
      value.word = unquoted(text);
      return value;
    }
    if (text.back() != ']') return bad(line, "a list in brackets does not end in its line", "close it with ]");
    value.kind = YamlValue::Kind::list;
    for (std::string_view rest = trimmed(text.substr(1, text.size() - 2)); !rest.empty();) {
      const auto comma = find_outside(rest, [](std::string_view all, std::size_t at) { return all[at] == ','; });
      const auto item = trimmed(rest.substr(0, comma));
      if (!item.empty()) {
        auto word = read_word(item, line, depth + 1);
        if (!word) return word;
        value.items.push_back(std::move(*word));
      }
      rest = comma == nowhere ? std::string_view() : trimmed(rest.substr(comma + 1));
    }
    return value;
  }

  const std::string& source_;
  std::vector<Line> lines_;
  std::size_t at_ = 0;
  std::uint64_t tab_ = 0;
};

}  // namespace

const YamlValue* YamlValue::find(std::string_view key) const {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.first == key; });
  return found == entries.end() ? nullptr : &found->second;
}

Result<YamlValue> parse_yaml(const FileContents& file) {
  return YamlReader(file).read();
}

}  // namespace rankloom
