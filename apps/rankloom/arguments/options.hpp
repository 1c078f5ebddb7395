// SPDX-License-Identifier: Apache-2.0
// apps/arguments: declares options and arguments of verbs. Every value is text that a function checks, so that a wrong
// value is an Error with a hint. Verbs use only these functions, not CLI11, whose headers are slow to compile.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankloom/core/options.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/system/output_directory.hpp"

namespace CLI {
class App;
}

namespace rankloom::app {

using SetValue = std::function<Result<void>(std::string_view)>;

struct OptionText {
  std::string names;       ///< "-t,--topology", or "PROFILE" for an argument.
  std::string value_name;  ///< "FILE", "N", "a|b|c", …; completions_for() in page.hpp derives completions from it.
  std::string help;
  std::string group;  ///< The heading in the help.
  std::string default_text = {};
  bool required = false;
};

void add_value(CLI::App& app, const OptionText& text, SetValue set);
void add_text(CLI::App& app, const OptionText& text, std::string& field);
/// A value that may be given several times.
void add_repeated(CLI::App& app, const OptionText& text, std::vector<std::string>& field);
void add_switch(CLI::App& app, const std::string& names, const std::string& help, bool& field,
                const std::string& group);

/// --force of commands that write to a directory, and its meaning.
void add_force(CLI::App& app, bool& field,
               const std::string& help = "replace files in the directory that rankloom did not write");
inline OutputDirectory::Existing existing(bool force) {
  return force ? OutputDirectory::Existing::all : OutputDirectory::Existing::own;
}

/// A flag for an option of an OptionList, unless the command already has an option of this name.
void add_listed(CLI::App& app, const Option& option, const std::string& group, SetValue set);

/// Two options that cannot be given together.
void exclude(CLI::App& app, const std::string& option, const std::string& other);
/// An option that cannot be given without another one.
void need(CLI::App& app, const std::string& option, const std::string& other);
/// Changes the default value that the help shows.
void set_default_text(CLI::App& app, const std::string& option, const std::string& text);

/// Adds a subcommand; was_called() tells whether the user called it.
CLI::App& add_command(CLI::App& app, std::string_view name, std::string_view summary);
bool was_called(const CLI::App& app);

/// The error for an invalid value of an option.
Failure bad_value(std::string_view option, std::string_view value, std::string hint);

/// One of some names, each with the value that it stands for. text.value_name lists the names as "a|b".
template <class Value, class Field>
void add_choice(CLI::App& app, const OptionText& text, std::vector<std::pair<std::string_view, Value>> choices,
                Field& field) {
  add_value(app, text,
            [name = text.names, names = text.value_name, choices = std::move(choices),
             &field](std::string_view value) -> Result<void> {
              for (const auto& [choice, meaning] : choices) {
                if (choice != value) continue;
                field = meaning;
                return {};
              }
              std::string list = names;
              for (std::size_t bar = 0; (bar = list.find('|', bar)) != std::string::npos;) list.replace(bar, 1, ", ");
              return bad_value(name, value, "one of: " + list);
            });
}

}  // namespace rankloom::app
