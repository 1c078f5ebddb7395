// SPDX-License-Identifier: Apache-2.0
// apps/arguments: declares options and arguments of verbs with CLI11.
#include "apps/rankloom/arguments/options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "apps/rankloom/arguments/option_failure.hpp"

namespace rankloom::app {

namespace {

void finish(CLI::Option* option, const OptionText& text) {
  option->type_name(text.value_name)->group(text.group)->default_str(text.default_text)->required(text.required);
}

void set_or_throw(const SetValue& set, std::string_view value) {
  auto done = set(value);
  if (!done) throw OptionFailure(std::move(done).error());
}

}  // namespace

void add_value(CLI::App& app, const OptionText& text, SetValue set) {
  finish(app.add_option_function<std::string>(
             text.names, [set = std::move(set)](const std::string& value) { set_or_throw(set, value); }, text.help),
         text);
}

void add_text(CLI::App& app, const OptionText& text, std::string& field) {
  add_value(app, text, [&field](std::string_view value) -> Result<void> {
    field = std::string(value);
    return {};
  });
}

void add_repeated(CLI::App& app, const OptionText& text, std::vector<std::string>& field) {
  auto* const option = app.add_option(text.names, field, text.help);
  finish(option, text);
  if (!option->get_positional()) option->allow_extra_args(false);  // one value per occurrence
}

void add_switch(CLI::App& app, const std::string& names, const std::string& help, bool& field,
                const std::string& group) {
  app.add_flag(names, field, help)->group(group);
}

void add_force(CLI::App& app, bool& field, const std::string& help) {
  add_switch(app, "--force", help, field, "output");
}

void add_listed(CLI::App& app, const Option& option, const std::string& group, SetValue set) {
  const std::string flag = "--" + option.name;
  if (app.get_option_no_throw(flag) != nullptr) return;
  if (!option.value_name.empty()) {
    add_value(app, {flag, option.value_name, option.help, group, option.default_text}, std::move(set));
    return;
  }
  // "--shuffle=false" turns off an option that is on by default.
  app.add_flag_function(
         flag, [set = std::move(set)](std::int64_t times) { set_or_throw(set, times > 0 ? "true" : "false"); },
         option.help)
      ->group(group)
      ->default_str(option.default_text == "true" ? "true" : "");
}

void exclude(CLI::App& app, const std::string& option, const std::string& other) {
  app.get_option(option)->excludes(app.get_option(other));
}

void need(CLI::App& app, const std::string& option, const std::string& other) {
  app.get_option(option)->needs(app.get_option(other));
}

void set_default_text(CLI::App& app, const std::string& option, const std::string& text) {
  app.get_option(option)->default_str(text);
}

CLI::App& add_command(CLI::App& app, std::string_view name, std::string_view summary) {
  return *app.add_subcommand(std::string(name), std::string(summary));
}

bool was_called(const CLI::App& app) {
  return app.parsed();
}

Failure bad_value(std::string_view option, std::string_view value, std::string hint) {
  return fail(Code::usage, at(std::string(option)), fmt::format("invalid value '{}'", value), std::move(hint));
}

}  // namespace rankloom::app
