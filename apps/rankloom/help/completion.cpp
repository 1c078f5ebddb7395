// SPDX-License-Identifier: Apache-2.0
// apps/help: `rankloom completion`: generates completion scripts for three shells from the pages of the help.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/help/page.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"

namespace rankloom::app {

namespace {

std::vector<OptionPage> options_of(const CommandPage& page) {
  std::vector<OptionPage> options;
  for (const OptionGroup& group : page.groups)
    options.insert(options.end(), group.options.begin(), group.options.end());
  return options;
}

/// Text between single quotes. The three shells differ only in how a quote is escaped.
std::string quoted(std::string_view text, std::string_view quote_as) {
  std::string result;
  for (const char c : text) result += c == '\'' ? std::string(quote_as) : std::string(1, c);
  return result;
}

// bash: one function. It finds the subcommand in the words typed so far, then offers values of the option before the
// cursor, or options, or arguments of the subcommand.

std::string bash_offer(const ValueCompletions& completions) {
  std::string offer;
  if (!completions.values.empty()) offer += fmt::format("_rankloom_words '{}'; ", fmt::join(completions.values, " "));
  if (completions.files) offer += "_rankloom_files; ";
  return offer + "return ;;";
}

std::string bash_values(const CommandPage& page) {
  std::string cases;
  for (const OptionPage& option : options_of(page)) {
    if (option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& flag : option.flags) patterns.push_back(fmt::format("'{} {}'", page.name(), flag));
    cases += fmt::format("    {}) {}\n", fmt::join(patterns, "|"), bash_offer(completions_for(option.value)));
  }
  return cases;
}

std::string bash_words(const CommandPage& page) {
  std::vector<std::string> flags, words;
  bool files = false;
  for (const OptionPage& option : options_of(page)) flags.insert(flags.end(), option.flags.begin(), option.flags.end());
  for (const CommandPage& below : page.commands) words.push_back(below.path.back());
  for (const OptionPage& argument : page.arguments) {
    const ValueCompletions offered = completions_for(argument.value);
    words.insert(words.end(), offered.values.begin(), offered.values.end());
    files = files || offered.files;
  }
  return fmt::format("    '{}') flags='{}' words='{}' files={} ;;\n", page.name(), fmt::join(flags, " "),
                     fmt::join(words, " "), files ? 1 : 0);
}

std::string bash_script(const CommandPage& root) {
  std::string paths, values, words;
  for (const CommandPage& page : with_subcommands(root)) {
    if (page.path.size() > 1) paths += fmt::format("      '{}') command=$next ;;\n", page.name());
    values += bash_values(page);
    words += bash_words(page);
  }
  return "# bash completion of rankloom\n"
         "_rankloom_words() {\n"
         "  local word\n"
         "  for word in $1; do\n"
         "    [[ $word == \"$current\"* ]] && COMPREPLY+=(\"$word\")\n"
         "  done\n"
         "}\n"
         "_rankloom_files() {\n"
         "  local file\n"
         "  while IFS= read -r file; do COMPREPLY+=(\"$file\"); done < <(compgen -f -- \"$current\")\n"
         "  compopt -o filenames 2>/dev/null\n"
         "}\n"
         "_rankloom() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} command=rankloom next position flags='' words='' files=0\n"
         "  COMPREPLY=()\n"
         "  for ((position = 1; position < COMP_CWORD; position++)); do\n"
         "    next=\"$command ${COMP_WORDS[position]}\"\n"
         "    case $next in\n" +
         paths +
         "    esac\n"
         "  done\n"
         "  case \"$command ${COMP_WORDS[COMP_CWORD - 1]}\" in\n" +
         values +
         "  esac\n"
         "  case $command in\n" +
         words +
         "  esac\n"
         "  if [[ $current == -* ]]; then\n"
         "    _rankloom_words \"$flags\"\n"
         "    return\n"
         "  fi\n"
         "  _rankloom_words \"$words\"\n"
         "  if ((files)); then _rankloom_files; fi\n"
         "  return 0\n"
         "}\n"
         "complete -F _rankloom rankloom\n";
}

// zsh: one function per subcommand, each with a call of _arguments.

std::string zsh_text(const std::string& text) {
  std::string escaped;
  for (const char c : quoted(text, "'\\''")) {
    if (c == '[' || c == ']' || c == ':') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string zsh_action(const std::string& value) {
  const ValueCompletions completions = completions_for(value);
  if (completions.files && !completions.values.empty())
    return fmt::format("{{_files; compadd -- {}}}", fmt::join(completions.values, " "));
  if (completions.files) return "_files";
  return completions.values.empty() ? " " : fmt::format("({})", fmt::join(completions.values, " "));
}

std::string zsh_option(const OptionPage& option) {
  const std::string value =
      option.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(option.value), zsh_action(option.value));
  const std::string rest = fmt::format("[{}]{}", zsh_text(option.help), value);
  if (option.flags.size() == 1)
    return fmt::format("    '{}{}{}' \\\n", option.repeated ? "*" : "", option.flags[0], rest);
  const std::string group = option.repeated ? "*" : fmt::format("({})", fmt::join(option.flags, " "));
  return fmt::format("    '{}'{{{}}}'{}' \\\n", group, fmt::join(option.flags, ","), rest);
}

std::string zsh_function(const CommandPage& page) {
  std::string text = fmt::format("_{}() {{\n", page.name("_"));
  if (!page.commands.empty()) text += "  local context state line\n  typeset -A opt_args\n";
  text += "  _arguments -S -C \\\n";
  for (const OptionPage& option : options_of(page)) text += zsh_option(option);
  for (const OptionPage& argument : page.arguments) {
    text += fmt::format("    '{}:{}:{}' \\\n",
                        argument.repeated   ? "*"
                        : argument.required ? ""
                                            : ":",
                        zsh_text(argument.name), zsh_action(argument.value));
  }
  if (page.commands.empty()) return text + "    && return\n}\n";
  text +=
      "    '1:command:->command' '*::argument:->argument' && return\n  case $state in\n    command)\n      local -a "
      "commands=(\n";
  for (const CommandPage& below : page.commands)
    text += fmt::format("        '{}:{}'\n", below.path.back(), zsh_text(below.summary));
  text += "      )\n      _describe command commands ;;\n    argument)\n      case $line[1] in\n";
  for (const CommandPage& below : page.commands)
    text += fmt::format("        {}) _{}_{} ;;\n", below.path.back(), page.name("_"), below.path.back());
  return text + "      esac ;;\n  esac\n}\n";
}

std::string zsh_script(const CommandPage& root) {
  std::string text = "#compdef rankloom\n";
  for (const CommandPage& page : with_subcommands(root)) text += zsh_function(page);
  return text +
         "if [[ ${funcstack[1]} == _rankloom ]]; then\n"
         "  _rankloom \"$@\"\n"
         "else\n"
         "  compdef _rankloom rankloom\n"
         "fi\n";
}

// fish: one line per option, each with the condition that its subcommand was typed.

std::string fish_condition(const CommandPage& page) {
  if (page.path.size() == 1) return "__fish_use_subcommand";
  std::string condition = fmt::format("__fish_seen_subcommand_from {}", page.path[1]);
  for (std::size_t at = 2; at < page.path.size(); ++at)
    condition += fmt::format("; and __fish_seen_subcommand_from {}", page.path[at]);
  if (!page.commands.empty()) {
    condition += "; and not __fish_seen_subcommand_from";
    for (const CommandPage& below : page.commands) condition += " " + below.path.back();
  }
  return condition;
}

std::string fish_option(const std::string& condition, const OptionPage& option) {
  std::string line = fmt::format("complete -c rankloom -n '{}'", condition);
  for (const std::string& flag : option.flags)
    line += flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
  if (!option.value.empty()) {
    const ValueCompletions completions = completions_for(option.value);
    line += completions.files ? " -r -F" : " -x";
    if (!completions.values.empty()) line += fmt::format(" -a '{}'", fmt::join(completions.values, " "));
  }
  return line + fmt::format(" -d '{}'\n", quoted(option.help, "\\'"));
}

std::string fish_script(const CommandPage& root) {
  std::string text = "# fish completion of rankloom\ncomplete -c rankloom -f\n";
  for (const CommandPage& page : with_subcommands(root)) {
    const std::string condition = fish_condition(page);
    for (const CommandPage& below : page.commands) {
      text += fmt::format("complete -c rankloom -n '{}' -a {} -d '{}'\n", condition, below.path.back(),
                          quoted(below.summary, "\\'"));
    }
    for (const OptionPage& option : options_of(page)) text += fish_option(condition, option);
    for (const OptionPage& argument : page.arguments) {
      const ValueCompletions completions = completions_for(argument.value);
      if (completions.files) text += fmt::format("complete -c rankloom -n '{}' -F\n", condition);
      if (!completions.values.empty())
        text += fmt::format("complete -c rankloom -n '{}' -a '{}'\n", condition, fmt::join(completions.values, " "));
    }
  }
  return text;
}

class CompletionVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_value(app, {"SHELL", "bash|zsh|fish", "the shell: bash, zsh or fish", "input", "", true},
              [this](std::string_view value) -> Result<void> {
                if (value != "bash" && value != "zsh" && value != "fish")
                  return bad_value("SHELL", value, "bash, zsh or fish");
                shell_ = std::string(value);
                return {};
              });
  }

  Result<int> run(const Session& session) override {
    const CommandPage root = read_page(*session.commands);
    const std::string script = shell_ == "bash"  ? bash_script(root)
                               : shell_ == "zsh" ? zsh_script(root)
                                                 : fish_script(root);
    if (session.json) {
      print_json(Json{{"shell", shell_}, {"script", script}});
    } else {
      print(script);
    }
    return success;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Verb> make_completion() {
  return std::make_unique<CompletionVerb>();
}

}  // namespace rankloom::app
