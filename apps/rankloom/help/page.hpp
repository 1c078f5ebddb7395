// SPDX-License-Identifier: Apache-2.0
// apps: one command as data: read from the option tables once, shown as help, manual page and completion.
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
  std::string name;                ///< Of an argument.
  std::string value;               ///< What follows it; empty for a switch.
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
  std::vector<std::pair<std::string, std::string>> examples;  ///< What it does, and the command.
  std::vector<OptionPage> arguments;
  std::vector<OptionGroup> groups;
  std::vector<CommandPage> commands;  ///< Below this one.

  std::string name(std::string_view separator = " ") const;
  /// "rankloom map PROFILE [options]"
  std::string usage() const;
};

/// The command and all below it.
CommandPage read_page(const CLI::App& app);

/// The page and those of all commands below it, parents first.
std::vector<CommandPage> with_all_below(const CommandPage& page);

/// The page as text for the terminal.
std::string help_text(const CommandPage& page);

/// What a shell can offer for a value: words, or the names of files, or both.
struct ValueWords {
  std::vector<std::string> words;
  bool files = false;
};
ValueWords words_for(std::string_view value_name);

}  // namespace rankloom::app
