// SPDX-License-Identifier: Apache-2.0
// apps/help: a command and its options as data, from which help, manual pages and completions are generated.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace rankloom::app {

struct OptionPage {
  std::vector<std::string> flags;  ///< "-t", "--topology"; empty for an argument.
  std::string name;                ///< The name of an argument; empty for an option.
  std::string value;               ///< The name of the value; empty for a switch.
  std::string help;
  std::string default_text;
  bool required = false;
  bool repeated = false;

  bool is_argument() const { return flags.empty(); }
  /// "-t, --topology TOPOLOGY"
  std::string heading() const;
};

struct OptionGroup {
  std::string name;
  std::vector<OptionPage> options;
};

struct CommandPage {
  std::vector<std::string> path;  ///< "rankloom", "topo", "show"
  std::string summary, about;
  std::vector<std::pair<std::string, std::string>> examples;  ///< Description and command.
  std::vector<OptionPage> arguments;
  std::vector<OptionGroup> groups;
  std::vector<CommandPage> commands;  ///< The subcommands.

  std::string name(std::string_view separator = " ") const;
  /// "rankloom map PROFILE [options]"
  std::string usage() const;
};

/// Reads a command and all its subcommands from CLI11.
CommandPage read_page(const CLI::App& app);

/// The page and the pages of all subcommands, parents first.
std::vector<CommandPage> with_subcommands(const CommandPage& page);

/// The page as text for the terminal.
std::string help_text(const CommandPage& page);

/// What a shell offers for a value: fixed values, file names, or both.
struct ValueCompletions {
  std::vector<std::string> values;
  bool files = false;
};
ValueCompletions completions_for(std::string_view value_name);

}  // namespace rankloom::app
