// SPDX-License-Identifier: Apache-2.0
// apps: one command as data, read from the option tables once.
#include "apps/rankloom/page.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/map/mapper.hpp"
#include "rankloom/report/table.hpp"

namespace rankloom::app {

namespace {

constexpr std::size_t page_width = 90;
constexpr std::size_t help_column = 28;

OptionPage page_of(const CLI::Option& option) {
  OptionPage page;
  for (const std::string& name : option.get_snames()) page.flags.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) page.flags.push_back("--" + name);
  if (page.flags.empty()) page.name = option.get_name(true);
  const bool takes_value = option.get_items_expected_max() > 0;
  if (takes_value) page.value = option.get_type_name();
  page.help = option.get_description();
  page.default_text = option.get_default_str();
  page.required = option.get_required();
  page.repeated = option.get_items_expected_max() > 1;
  return page;
}

/// "# what" and "command" in turn.
std::vector<std::pair<std::string, std::string>> parse_examples(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> examples;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("# ")) {
      examples.emplace_back(line.substr(2), "");
    } else if (!line.empty() && !examples.empty()) {
      auto& command = examples.back().second;
      command += (command.empty() ? "" : "\n") + line;
    }
  }
  return examples;
}

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
  if (!commands.empty()) text += path.size() > 1 ? " COMMAND" : " VERB";
  for (const OptionPage& argument : arguments)
    text += argument.required ? " " + argument.heading() : fmt::format(" [{}]", argument.heading());
  for (const OptionGroup& group : groups) {
    for (const OptionPage& option : group.options) {
      if (option.required) text += fmt::format(" {} {}", option.flags.back(), option.value);
    }
  }
  return text + " [options]";
}

CommandPage page_of(const CLI::App& app) {
  CommandPage page;
  for (const CLI::App* at = &app; at != nullptr; at = at->get_parent())
    page.path.insert(page.path.begin(), at->get_name());
  const std::string description = app.get_description();
  const auto blank = description.find("\n\n");
  page.summary = description.substr(0, blank);
  if (blank != std::string::npos) page.about = description.substr(blank + 2);
  page.examples = parse_examples(app.get_footer());
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string text = below->get_description();
    page.commands.emplace_back(below->get_name(), text.substr(0, text.find("\n\n")));
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      page.arguments.push_back(page_of(*option));
      continue;
    }
    const auto same = std::find_if(page.groups.begin(), page.groups.end(),
                                   [&](const OptionGroup& group) { return group.name == option->get_group(); });
    OptionGroup& group =
        same == page.groups.end() ? page.groups.emplace_back(OptionGroup{option->get_group(), {}}) : *same;
    group.options.push_back(page_of(*option));
  }
  // --help was added first, but is read last.
  std::stable_partition(page.groups.begin(), page.groups.end(),
                        [](const OptionGroup& group) { return group.name != "general"; });
  return page;
}

std::string help_text(const CommandPage& page) {
  std::string text = fmt::format("{}: {}\n\nusage: {}\n", page.name(), page.summary, page.usage());
  if (!page.about.empty()) {
    text += "\n";
    for (const std::string& line : wrap(page.about, page_width)) text += line + "\n";
  }
  if (!page.commands.empty()) {
    text += page.path.size() > 1 ? "\ncommands\n" : "\nverbs\n";
    for (const auto& [name, summary] : page.commands) append_option(text, name, summary);
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
  for (const auto& [what, command] : page.examples) text += fmt::format("  # {}\n  {}\n", what, command);
  return text;
}

void for_each_command(const CLI::App& app, const std::function<void(const CLI::App&)>& visit) {
  visit(app);
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
    for_each_command(*below, visit);
}

const CLI::App& deepest_parsed(const CLI::App& app) {
  const CLI::App* deepest = &app;
  while (!deepest->get_subcommands().empty()) deepest = deepest->get_subcommands().front();
  return *deepest;
}

ValueWords words_for(std::string_view value_name) {
  ValueWords words;
  if (value_name == "MAPPER" || value_name == "MAPPING") {
    for (const MapperInfo& row : mappers()) words.words.emplace_back(row.name);
    words.files = value_name == "MAPPING";
  } else if (value_name == "FORMAT") {
    for (const FormatInfo& row : formats()) words.words.emplace_back(row.name);
  } else if (value_name == "PROFILE") {
    for (const GeneratorInfo& row : generators()) words.words.push_back(fmt::format("gen:{}", row.name));
    words.files = true;
  } else if (value_name == "FILE" || value_name == "TOPOLOGY") {
    words.files = true;
  } else if (value_name.find('|') != std::string_view::npos) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    for (std::size_t begin = 0; begin <= value_name.size();) {
      const std::size_t end = std::min(value_name.find('|', begin), value_name.size());
      const std::string_view word = value_name.substr(begin, end - begin);
      if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) words.words.emplace_back(word);
      begin = end + 1;
    }
  }
  return words;
}

}  // namespace rankloom::app
