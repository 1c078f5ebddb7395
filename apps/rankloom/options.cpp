// SPDX-License-Identifier: Apache-2.0
// apps: how an option gets onto the command line.
#include "apps/rankloom/options.hpp"

#include <fmt/format.h>

namespace rankloom::app {

CLI::Option* add_value(CLI::App& app, const OptionText& text, SetValue set) {
  auto* const option = app.add_option_function<std::string>(
      text.names,
      [set = std::move(set)](const std::string& value) {
        auto done = set(value);
        if (!done) throw OptionFailure(std::move(done).error());
      },
      text.help);
  option->type_name(text.value_name)->group(text.group)->default_str(text.default_text);
  return option;
}

CLI::Option* add_text(CLI::App& app, const OptionText& text, std::string& field) {
  return add_value(app, text, [&field](std::string_view value) -> Result<void> {
    field = std::string(value);
    return {};
  });
}

CLI::Option* add_switch(CLI::App& app, const std::string& names, const std::string& help, bool& field,
                        const std::string& group) {
  return app.add_flag(names, field, help)->group(group);
}

CLI::Option* add_repeated(CLI::App& app, const OptionText& text, std::vector<std::string>& field) {
  auto* const option = app.add_option(text.names, field, text.help);
  option->type_name(text.value_name)->group(text.group)->default_str(text.default_text);
  if (!option->get_positional()) option->allow_extra_args(false);
  return option;
}

void add_listed(CLI::App& app, const Option& option, const std::string& group,
                const std::function<Result<void>(const std::string& name, std::string_view value)>& set) {
  const std::string flag = "--" + option.name;
  if (app.get_option_no_throw(flag) != nullptr) return;
  if (option.value_name.empty()) {
    // "--shuffle=false" turns off what is on by default.
    app.add_flag_function(
           flag,
           [set, name = option.name](std::int64_t times) {
             auto done = set(name, times > 0 ? "true" : "false");
             if (!done) throw OptionFailure(std::move(done).error());
           },
           option.help)
        ->group(group)
        ->default_str(option.default_text == "true" ? "true" : "");
    return;
  }
  add_value(app, {flag, option.value_name, option.help, group, option.default_text},
            [set, name = option.name](std::string_view value) { return set(name, value); });
}

void add_listed(CLI::App& app, const OptionList& list, const std::string& group,
                const std::function<Result<void>(const std::string& name, std::string_view value)>& set) {
  for (const Option& option : list.all()) add_listed(app, option, group, set);
}

Failure bad_value(std::string_view option, std::string_view value, std::string hint) {
  return fail(Code::usage, at(std::string(option)), fmt::format("'{}' is not a value it takes", value),
              std::move(hint));
}

}  // namespace rankloom::app
