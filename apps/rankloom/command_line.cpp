// SPDX-License-Identifier: Apache-2.0
// apps: the whole command line.
#include "apps/rankloom/command_line.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "apps/rankloom/arguments/option_failure.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/help/page.hpp"
#include "rankloom/core/text/suggest.hpp"

namespace rankloom::app {

namespace {

constexpr std::string_view about =
    "Places the processes of a parallel program where they talk: who talks to whom (a profile), what is near what (a "
    "machine), who sits where "
    "(a mapping).";
constexpr std::string_view examples =
    "# a pattern with renamed ranks, mappers side by side on a two-switch cluster\n"
    "rankloom compare gen:stencil2d:size=12x16,shuffle -t \"switch:2=4.1 node:6=3.7 core:16=1\"\n"
    "# the mapping as a file\n"
    "rankloom map gen:stencil2d:size=12x16,shuffle -t \"switch:2=4.1 node:6=3.7 core:16=1\" -o mapping.txt\n"
    "# help of one verb\n"
    "rankloom map --help";

/// Every command, down to the last, understands --help; those that do something, --json.
void add_general_options(CLI::App& app, bool& json) {
  app.set_help_flag("-h,--help", "show this")->group("general");
  const auto below = app.get_subcommands([](const CLI::App*) { return true; });
  if (below.empty()) {
    add_switch(app, "--json", "one JSON object on standard output and nothing else", json, "general");
  } else {
    app.require_subcommand(0, 1);
    for (CLI::App* one : below) add_general_options(*one, json);
  }
}

/// The command that was called, as far as it was understood.
const CLI::App& deepest_parsed(const CLI::App& app) {
  const CLI::App* deepest = &app;
  while (!deepest->get_subcommands().empty()) deepest = deepest->get_subcommands().front();
  return *deepest;
}

/// A command has too many options to list them all in a hint.
std::string suggest_or_help(std::string_view flag, const std::vector<std::string_view>& known,
                            const std::string& help) {
  std::string hint = suggest(flag, known);
  return hint.starts_with("did you mean") ? hint : help;
}

/// CLI11's messages of options that were given wrongly, as a person would say it.
std::string plain_words(const CLI::ParseError& problem) {
  const std::string said = problem.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&problem) == nullptr) return said;
  const std::string option = said.substr(0, said.find(':'));
  return option + (said.ends_with("missing") ? " needs a value" : " is given more than once");
}

bool asks_for_json(int argc, const char* const* argv) {
  for (int at = 1; at < argc; ++at) {
    if (std::string_view(argv[at]) == "--") return false;
    if (std::string_view(argv[at]) == "--json") return true;
  }
  return false;
}

/// `command` is the page whose options were not met; its verb says where, as every message begins with "rankloom:".
Error usage_error(const CommandPage& command, std::string what, std::string hint) {
  const std::string name = command.name();
  std::string where = command.path.size() > 1 ? name.substr(name.find(' ') + 1) : std::string();
  return {Code::usage, at(std::move(where)), std::move(what), std::move(hint)};
}

}  // namespace

CommandLine::CommandLine() : app_(fmt::format("places ranks of parallel programs on cores\n\n{}", about), "rankloom") {
  app_.footer(std::string(examples));
  app_.set_version_flag("-V,--version", "rankloom " RANKLOOM_VERSION, "show the version")->group("general");
  for (const VerbInfo& row : verbs()) {
    CLI::App* const sub = app_.add_subcommand(std::string(row.name), fmt::format("{}\n\n{}", row.summary, row.about));
    sub->footer(std::string(row.examples));
    commands_.push_back({sub, row.make()});
    commands_.back().verb->describe(*sub);
  }
  add_general_options(app_, session_.json);
  session_.commands = &app_;
  session_.out_is_terminal = ::isatty(STDOUT_FILENO) != 0;
  session_.err_is_terminal = ::isatty(STDERR_FILENO) != 0;
}

int CommandLine::run(int argc, const char* const* argv) {
  session_.json = asks_for_json(argc, argv);
  try {
    app_.parse(taken_whole(argc, argv) ? 2 : argc, argv);
    auto status = dispatch();
    if (!status) return show_error(status.error(), session_.json);
    if (auto written = check_standard_output(); !written) return show_error(written.error(), false);
    return *status;
  } catch (const CLI::ParseError& problem) {
    return answer(problem);
  } catch (const std::bad_alloc&) {
    return show_error(Error{Code::environment, at(""), "there is not enough memory",
                            "use a smaller problem, or a machine with more memory"},
                      session_.json);
  } catch (const std::exception& surprise) {  // of the standard library: a path that no file system takes, …
    return show_error(Error{Code::environment, at(""), surprise.what(), "if the command is right, please report this"},
                      session_.json);
  }
}

bool CommandLine::taken_whole(int argc, const char* const* argv) {
  const auto is_own = [](std::string_view word) { return word == "--help" || word == "-h" || word == "--json"; };
  if (argc < 3 || (argc == 3 && is_own(argv[2]))) return false;
  return std::any_of(commands_.begin(), commands_.end(), [&](const Command& command) {
    return command.app->get_name() == argv[1] && command.verb->take_all({argv + 2, argv + argc});
  });
}

Result<int> CommandLine::dispatch() {
  for (const Command& command : commands_) {
    if (!command.app->parsed()) continue;
    const CLI::App& called = deepest_parsed(*command.app);
    const CommandPage page = read_page(called);
    if (!page.commands.empty())
      return Failure(usage_error(page, "what shall it do?", fmt::format("{} --help", page.name())));
    return command.verb->run(session_);
  }
  fmt::print(stderr, "{}", help_text(read_page(app_)));
  return static_cast<int>(Code::usage);
}

int CommandLine::answer(const CLI::ParseError& problem) const {
  if (dynamic_cast<const CLI::CallForHelp*>(&problem) != nullptr) {
    print(help_text(read_page(deepest_parsed(app_))));
    return success;
  }
  if (dynamic_cast<const CLI::CallForVersion*>(&problem) != nullptr) {
    print(std::string(problem.what()) + "\n");
    return success;
  }
  return show_error(explain(problem), session_.json);
}

Error CommandLine::explain(const CLI::ParseError& problem) const {
  if (const auto* failure = dynamic_cast<const OptionFailure*>(&problem)) return failure->error;
  const auto leftovers = app_.remaining(true);
  if (!leftovers.empty()) return explain_leftover(leftovers.front());
  const CLI::App& called = deepest_parsed(app_);
  const CommandPage page = read_page(called);
  const std::string hint = fmt::format("usage: {}", page.usage());
  for (const CLI::Option* option : called.get_options()) {
    if (option->get_required() && option->count() == 0)
      return usage_error(page, fmt::format("{} is missing", option->get_name(option->get_positional())), hint);
  }
  return usage_error(page, plain_words(problem), hint);
}

Error CommandLine::explain_leftover(const std::string& leftover) const {
  const CommandPage page = read_page(deepest_parsed(app_));
  const std::string help = fmt::format("{} --help", page.name());
  if (leftover.starts_with("-") && leftover.size() > 1) {
    const std::string flag = leftover.substr(0, leftover.find('='));
    std::vector<std::string_view> known;
    for (const OptionGroup& group : page.groups) {
      for (const OptionPage& option : group.options)
        known.insert(known.end(), option.flags.begin(), option.flags.end());
    }
    return usage_error(page, fmt::format("there is no option '{}'", flag), suggest_or_help(flag, known, help));
  }
  if (!page.commands.empty()) {
    std::vector<std::string_view> known;
    for (const CommandPage& command : page.commands) known.push_back(command.path.back());
    return usage_error(page, fmt::format("there is no {} '{}'", page.path.size() > 1 ? "command" : "verb", leftover),
                       suggest(leftover, known));
  }
  return usage_error(page, fmt::format("'{}' is one word too many", leftover),
                     fmt::format("put quotes around a topology string; usage: {}", page.usage()));
}

}  // namespace rankloom::app
