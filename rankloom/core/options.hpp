// SPDX-License-Identifier: Apache-2.0
// core: options that describe themselves. A mapper or generator binds its fields once, with name, help and limits. The
// command line, specs such as "pair-exchange:tries=1000,order=turn", help, completion and documentation read the list.
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
  std::string name;                  ///< As in the flag, the spec, the JSON and the documentation.
  std::string help;                  ///< One line.
  std::string value_name;            ///< "N", "X", "a|b|c"; empty for a switch.
  std::string default_text;          ///< The value if the option is not given.
  std::vector<std::string> choices;  ///< The accepted values, if there is a fixed set.
  std::function<Result<void>(std::string_view)> set;
};

/// The options of one mapper, generator or command, bound to its fields.
class OptionList {
 public:
  void count(std::string name, std::uint64_t& field, std::string help, std::uint64_t min = 0,
             std::uint64_t max = std::numeric_limits<std::uint64_t>::max());
  void number(std::string name, double& field, std::string help, double min = std::numeric_limits<double>::lowest(),
              double max = std::numeric_limits<double>::max());
  /// Bytes with an optional unit: 64, 4k, 1M, 60MB (decimal), 4KiB (binary).
  void bytes(std::string name, double& field, std::string help);
  /// The name alone sets it to true, "=false" to false.
  void flag(std::string name, bool& field, std::string help);
  void text(std::string name, std::string& field, std::string value_name, std::string help);

  template <class Enum>
  void choice(const std::string& name, Enum& field, std::vector<std::pair<std::string, Enum>> choices,
              const std::string& help) {
    std::vector<std::string> names;
    std::string current;
    for (const auto& [choice_name, value] : choices) {
      names.push_back(choice_name);
      if (value == field) current = choice_name;
    }
    add_choice(name, std::move(names), std::move(current), help,
               [&field, choices = std::move(choices)](std::size_t i) { field = choices[i].second; });
  }

  std::span<const Option> all() const { return options_; }
  const Option* find(std::string_view name) const;

  /// Sets one option from its text. Unknown names and invalid values are errors that list the accepted ones.
  Result<void> set(std::string_view name, std::string_view value, std::string_view owner) const;
  /// Sets several options: "tries=1000,order=turn".
  Result<void> set_all(std::string_view assignments, std::string_view owner) const;

 private:
  void add_choice(std::string name, std::vector<std::string> names, std::string current, std::string help,
                  std::function<void(std::size_t)> set);
  std::vector<Option> options_;
};

}  // namespace rankloom
