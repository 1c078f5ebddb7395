// SPDX-License-Identifier: Apache-2.0
// apps/help: the help text of a command, and the completions of values.
#include "apps/rankloom/help/page.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/allocate/policy.hpp"
#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/capture/generate/training/known_models.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/map/mapper.hpp"
#include "rankloom/place/launchers.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

constexpr std::size_t page_width = 90, max_heading_width = 100;
constexpr std::size_t help_column = 28;

void append_option(std::string& text, const std::string& heading, const std::string& help) {
  std::string line = "  " + heading;
  const auto lines = wrap(help, page_width - help_column);
  if (display_width(line) + 2 > help_column) {
    text += line + "\n";
    line.clear();
  }
  for (const std::string& part : lines) {
    text += pad_right(line, help_column) + part + "\n";
    line.clear();
  }
}

/// The end of the first word of a command; spaces in quotes are part of a word.
std::size_t end_of_word(std::string_view command) {
  char quote = 0;
  std::size_t end = 0;
  for (; end < command.size() && (quote != 0 || command[end] != ' '); ++end) {
    const char c = command[end];
    if (quote != 0 ? c == quote : c == '"' || c == '\'') quote = quote != 0 ? 0 : c;
  }
  return end;
}

/// The command on lines that a shell joins again: broken at spaces outside of quotes, not after an option.
std::string command_lines(std::string_view command, std::size_t indent) {
  const std::string margin(indent, ' ');
  std::string text, line = margin;
  bool has_word = false;
  while (!command.empty()) {
    std::size_t end = end_of_word(command);
    if (command.front() == '-' && end + 1 < command.size()) end += 1 + end_of_word(command.substr(end + 1));
    const std::string_view word = command.substr(0, end);
    command.remove_prefix(std::min(command.size(), end + 1));
    constexpr std::size_t backslash = 2;
    if (has_word && display_width(line) + 1 + display_width(word) + (command.empty() ? 0 : backslash) > page_width) {
      text += line + " \\\n";
      line = margin + "  ";
      has_word = false;
    }
    if (has_word) line += ' ';
    line += word;
    has_word = true;
  }
  return text + line + "\n";
}

std::string help_of(const OptionPage& option) {
  return option.default_text.empty() ? option.help : fmt::format("{} [{}]", option.help, option.default_text);
}

}  // namespace

std::string OptionPage::heading() const {
  if (is_argument()) return repeated ? name + " ..." : name;
  const std::string joined = fmt::format("{}", fmt::join(flags, ", "));
  return value.empty() ? joined : joined + " " + value;
}

std::string CommandPage::name(std::string_view separator) const {
  return fmt::format("{}", fmt::join(path, separator));
}

std::string CommandPage::usage() const {
  std::string text = name();
  if (!commands.empty()) text += path.size() > 1 ? " SUBCOMMAND" : " VERB";
  for (const OptionPage& argument : arguments)
    text += argument.required ? " " + argument.heading() : fmt::format(" [{}]", argument.heading());
  for (const OptionGroup& group : groups) {
    for (const OptionPage& option : group.options) {
      if (option.required) text += fmt::format(" {} {}", option.flags.back(), option.value);
    }
  }
  return text + " [options]";
}

std::vector<CommandPage> with_subcommands(const CommandPage& page) {
  std::vector<CommandPage> pages{page};
  for (const CommandPage& command : page.commands) {
    for (CommandPage& below : with_subcommands(command)) pages.push_back(std::move(below));
  }
  return pages;
}

std::string help_text(const CommandPage& page) {
  std::string text;
  for (const std::string& line : wrap(fmt::format("{}: {}", page.name(), page.summary), max_heading_width))
    text += line + "\n";
  text += fmt::format("\nusage: {}\n", page.usage());
  if (!page.about.empty()) {
    text += "\n";
    for (const std::string& line : wrap(page.about, page_width)) text += line + "\n";
  }
  if (!page.commands.empty()) {
    text += page.path.size() > 1 ? "\nsubcommands\n" : "\nverbs\n";
    for (const CommandPage& command : page.commands) append_option(text, command.path.back(), command.summary);
  }
  if (!page.arguments.empty()) {
    text += "\narguments\n";
    for (const OptionPage& argument : page.arguments) append_option(text, argument.heading(), help_of(argument));
  }
  for (const OptionGroup& group : page.groups) {
    text += fmt::format("\n{}\n", group.name);
    for (const OptionPage& option : group.options) append_option(text, option.heading(), help_of(option));
  }
  if (!page.examples.empty()) text += "\nexamples\n";
  for (const auto& [what, command] : page.examples) text += fmt::format("  # {}\n{}", what, command_lines(command, 2));
  return text;
}

ValueCompletions completions_for(std::string_view value_name) {
  ValueCompletions completions;
  if (value_name == "MAPPER" || value_name == "MAPPING") {
    for (const MapperInfo& row : mappers()) completions.values.emplace_back(row.name);
    completions.files = value_name == "MAPPING";
  } else if (value_name == "FORMAT") {
    for (const FormatInfo& row : formats()) completions.values.emplace_back(row.name);
  } else if (value_name == "LAUNCHER") {
    for (const Launcher* const row : launchers()) completions.values.emplace_back(row->name);
  } else if (value_name == "LLM") {
    for (const KnownModel& row : known_models()) completions.values.emplace_back(row.name);
  } else if (value_name == "POLICY") {
    for (const PolicyInfo& row : policies()) completions.values.emplace_back(row.name);
  } else if (value_name == "PROFILE") {
    for (const GeneratorInfo& row : generators()) completions.values.push_back(fmt::format("gen:{}", row.name));
    completions.files = true;
  } else if (value_name == "FILE" || value_name == "DIRECTORY" || value_name == "TOPOLOGY") {
    completions.files = true;
  } else if (value_name.find('|') != std::string_view::npos) {
    constexpr std::string_view plain_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    for (std::size_t begin = 0; begin <= value_name.size();) {
      const std::size_t end = std::min(value_name.find('|', begin), value_name.size());
      const std::string_view value = value_name.substr(begin, end - begin);
      if (!value.empty() && value.find_first_not_of(plain_characters) == std::string_view::npos)
        completions.values.emplace_back(value);
      begin = end + 1;
    }
  }
  return completions;
}

}  // namespace rankloom::app
