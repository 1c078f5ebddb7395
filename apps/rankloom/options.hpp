// SPDX-License-Identifier: Apache-2.0
// apps: how an option gets onto the command line. Every value is text that a function checks, so that a wrong value is
// an Error with a remedy, the same as everywhere else.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "rankloom/core/options.hpp"
#include "rankloom/core/result.hpp"

namespace rankloom::app {

/// Carries an Error through CLI11, which knows exceptions only.
struct OptionFailure : CLI::ValidationError {
  explicit OptionFailure(rankloom::Error failure) : CLI::ValidationError(failure.what), error(std::move(failure)) {}
  rankloom::Error error;
};

using SetValue = std::function<Result<void>(std::string_view)>;

struct OptionText {
  std::string names;       ///< "-t,--topology", or "PROFILE" for an argument.
  std::string value_name;  ///< "FILE", "N", "a|b|c", …; see values.hpp for what completion makes of it.
  std::string help;
  std::string group = "options";
  std::string default_text = {};
};

CLI::Option* add_value(CLI::App& app, const OptionText& text, SetValue set);
CLI::Option* add_text(CLI::App& app, const OptionText& text, std::string& field);
CLI::Option* add_switch(CLI::App& app, const std::string& names, const std::string& help, bool& field,
                        const std::string& group = "options");

/// A value that may be given several times.
CLI::Option* add_repeated(CLI::App& app, const OptionText& text, std::vector<std::string>& field);

/// One flag for each option of the list, handing its text to `set(name, text)`; names that the app has already are left
/// out.
void add_listed(CLI::App& app, const OptionList& list, const std::string& group,
                const std::function<Result<void>(const std::string& name, std::string_view value)>& set);
void add_listed(CLI::App& app, const Option& option, const std::string& group,
                const std::function<Result<void>(const std::string& name, std::string_view value)>& set);

/// The error of a value that is none of its choices or out of its range.
Failure bad_value(std::string_view option, std::string_view value, std::string hint);

}  // namespace rankloom::app
