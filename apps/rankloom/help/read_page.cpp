// SPDX-License-Identifier: Apache-2.0
// apps/help: reads the page of a command from CLI11.
#include <algorithm>

#include <CLI/CLI.hpp>

#include "apps/rankloom/help/page.hpp"

namespace rankloom::app {

namespace {

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

/// Lines "# description" and "command" in turn.
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

void add_option(CommandPage& page, const CLI::Option& option) {
  if (option.get_positional()) {
    page.arguments.push_back(page_of(option));
    return;
  }
  const auto same = std::find_if(page.groups.begin(), page.groups.end(),
                                 [&](const OptionGroup& group) { return group.name == option.get_group(); });
  OptionGroup& group =
      same == page.groups.end() ? page.groups.emplace_back(OptionGroup{option.get_group(), {}}) : *same;
  group.options.push_back(page_of(option));
}

}  // namespace

CommandPage read_page(const CLI::App& app) {
  CommandPage page;
  for (const CLI::App* at = &app; at != nullptr; at = at->get_parent())
    page.path.insert(page.path.begin(), at->get_name());
  const std::string description = app.get_description();
  const auto blank = description.find("\n\n");
  page.summary = description.substr(0, blank);
  if (blank != std::string::npos) page.about = description.substr(blank + 2);
  page.examples = parse_examples(app.get_footer());
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
    page.commands.push_back(read_page(*below));
  for (const CLI::Option* option : app.get_options()) add_option(page, *option);
  // --help is added first, but shown last.
  std::stable_partition(page.groups.begin(), page.groups.end(),
                        [](const OptionGroup& group) { return group.name != "general"; });
  return page;
}

}  // namespace rankloom::app
