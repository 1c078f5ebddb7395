// SPDX-License-Identifier: Apache-2.0
// core: options that describe themselves. A mapper or generator binds its fields once, with name, help and limits; the
// command line, specs like "pair-exchange:tries=1000,order=turn", help, completion and documentation all walk the list.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankloom/core/result.hpp"

namespace rankloom {

struct Option {
  std::string name;                  ///< The word in the flag, the spec, the JSON and the documentation.
  std::string help;                  ///< One line.
  std::string value_name;            ///< "N", "X", "a|b|c"; empty for a switch.
  std::string default_text;          ///< What it is when not given.
  std::vector<std::string> choices;  ///< The words it takes, when it takes only some.
  std::function<Result<void>(std::string_view)> set;
};

/// The options of one thing, bound to its fields.
class OptionList {
 public:
  void count(std::string name, std::uint64_t& field, std::string help, std::uint64_t least = 0,
             std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
  void number(std::string name, double& field, std::string help, double least = std::numeric_limits<double>::lowest(),
              double most = std::numeric_limits<double>::max());
  /// Bytes with an optional unit: 64, 4k, 1M, 60MB (decimal), 4KiB (binary).
  void bytes(std::string name, double& field, std::string help);
  /// Given alone it is true; "=false" turns it off.
  void flag(std::string name, bool& field, std::string help);
  void text(std::string name, std::string& field, std::string value_name, std::string help);

  template <class Enum>
  void choice(std::string name, Enum& field, std::vector<std::pair<std::string, Enum>> words, std::string help) {
    std::vector<std::string> names;
    std::string current;
    for (const auto& [word, value] : words) {
      names.push_back(word);
      if (value == field) current = word;
    }
    add_choice(std::move(name), std::move(names), std::move(current), std::move(help),
               [&field, words = std::move(words)](std::size_t at) { field = words[at].second; });
  }

  std::span<const Option> all() const { return options_; }
  const Option* find(std::string_view name) const;

  /// Sets one option from its text; unknown names and bad values are errors that list what is possible.
  Result<void> set(std::string_view name, std::string_view value, std::string_view owner) const;
  /// Sets several: "tries=1000,order=turn".
  Result<void> set_all(std::string_view assignments, std::string_view owner) const;

 private:
  void add_choice(std::string name, std::vector<std::string> names, std::string current, std::string help,
                  std::function<void(std::size_t)> set);
  std::vector<Option> options_;
};

}  // namespace rankloom
