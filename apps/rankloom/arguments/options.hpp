// SPDX-License-Identifier: Apache-2.0
// apps: how an option gets onto the command line. Every value is text that a function checks, so that a wrong value is
// an Error with a remedy, the same as everywhere else. Verbs use these functions only; CLI11 itself stays behind them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/options.hpp"
#include "rankloom/core/result.hpp"

namespace CLI {
class App;
}

namespace rankloom::app {

using SetValue = std::function<Result<void>(std::string_view)>;

struct OptionText {
  std::string names;       ///< "-t,--topology", or "PROFILE" for an argument.
  std::string value_name;  ///< "FILE", "N", "a|b|c", …; words_for in page.hpp says what completion makes of it.
  std::string help;
  std::string group;  ///< The heading it stands under.
  std::string default_text = {};
  bool required = false;
};

void add_value(CLI::App& app, const OptionText& text, SetValue set);
void add_text(CLI::App& app, const OptionText& text, std::string& field);
/// A value that may be given several times.
void add_repeated(CLI::App& app, const OptionText& text, std::vector<std::string>& field);
void add_switch(CLI::App& app, const std::string& names, const std::string& help, bool& field,
                const std::string& group);

/// A flag for an option that describes itself; left out when the app has one of that name already.
void add_listed(CLI::App& app, const Option& option, const std::string& group, SetValue set);

/// The two cannot be given together; the first cannot be given without the second.
void exclude(CLI::App& app, const std::string& one, const std::string& other);
void need(CLI::App& app, const std::string& one, const std::string& other);
/// Shown in the help as what it is when not given.
void set_default_text(CLI::App& app, const std::string& option, const std::string& text);

/// A command below this one, and whether it was called.
CLI::App& add_command(CLI::App& app, std::string_view name, std::string_view summary);
bool was_called(const CLI::App& app);

/// The error of a value that is none of its choices or out of its range.
Failure bad_value(std::string_view option, std::string_view value, std::string hint);

}  // namespace rankloom::app
