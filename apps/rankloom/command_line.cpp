// SPDX-License-Identifier: Apache-2.0
// apps: the command line: parses the arguments, calls the verb, and explains errors in the arguments.
#include "apps/rankloom/command_line.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "apps/rankloom/arguments/option_failure.hpp"
#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/help/page.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/text/suggest.hpp"

namespace rankloom::app {

namespace {

constexpr std::string_view about =
    "Places communicating processes of a parallel program close to each other: reads the communication pattern (a "
    "profile) and the machine, computes a mapping of ranks to cores, and exports it for a launcher.";
constexpr std::string_view examples =
    "# compare mappers for a generated pattern on a cluster with two switches\n"
    "rankloom compare gen:stencil2d:size=12x16,shuffle -t \"switch:2=4.1 node:6=3.7 core:16=1\"\n"
    "# write the best mapping to a file\n"
    "rankloom map gen:stencil2d:size=12x16,shuffle -t \"switch:2=4.1 node:6=3.7 core:16=1\" -o mapping.txt\n"
    "# the help of one verb\n"
    "rankloom map --help";

/// Adds --help to every command, and --json and --wide to every command without further commands.
void add_general_options(CLI::App& app, bool& json, bool& wide) {
  app.set_help_flag("-h,--help", "show this help")->group("general");
  const auto below = app.get_subcommands([](const CLI::App*) { return true; });
  if (below.empty()) {
    add_switch(app, "--json", "print one JSON object to standard output and nothing else", json, "general");
    add_switch(app, "--wide", "print every row of a table on one line, also if it is wider than the terminal", wide,
               "general");
  } else {
    app.require_subcommand(0, 1);
    for (CLI::App* command : below) add_general_options(*command, json, wide);
  }
}

/// The innermost command that was recognised.
const CLI::App& deepest_parsed(const CLI::App& app) {
  const CLI::App* deepest = &app;
  while (!deepest->get_subcommands().empty()) deepest = deepest->get_subcommands().front();
  return *deepest;
}

/// A suggestion for a mistyped option, or where to find the options, which are too many for a hint.
std::string suggest_or_help(std::string_view flag, const std::vector<std::string_view>& known,
                            const std::string& help) {
  std::string hint = suggest(flag, known);
  return hint.starts_with("did you mean") ? hint : help;
}

/// A plain message for CLI11's errors about missing and repeated values.
std::string plain_message(const CLI::ParseError& problem) {
  std::string message = problem.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&problem) == nullptr) return message;
  const std::string option = message.substr(0, message.find(':'));
  return option + (message.ends_with("missing") ? " needs a value" : " is given more than once");
}

/// COLUMNS, if the user has exported it, else the width of the terminal, if standard output is one.
std::size_t terminal_width() {
  const char* const columns = std::getenv("COLUMNS");
  if (const auto number = parse_number(columns == nullptr ? "" : columns); number && *number >= 1 && *number <= 1e6)
    return static_cast<std::size_t>(*number);
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return default_width;
}

bool requests_json(int argc, const char* const* argv) {
  for (int at = 1; at < argc; ++at) {
    if (std::string_view(argv[at]) == "--") return false;
    if (std::string_view(argv[at]) == "--json") return true;
  }
  return false;
}

/// Every message begins with "rankloom:", so the location is the verb and its commands without the program's name.
Error usage_error(const CommandPage& command, std::string what, std::string hint) {
  const std::string name = command.name();
  std::string where = command.path.size() > 1 ? name.substr(name.find(' ') + 1) : std::string();
  return {Code::usage, at(std::move(where)), std::move(what), std::move(hint)};
}

class CommandLine {
 public:
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Parses the arguments and runs the verb. The value is the exit status.
  int run(int argc, const char* const* argv);

 private:
  struct Command {
    CLI::App* app;
    std::unique_ptr<Verb> verb;
  };
  /// Whether the verb takes all arguments unparsed (see Verb::take_all).
  bool takes_all(int argc, const char* const* argv);
  int handle(const CLI::ParseError& problem) const;
  Error explain(const CLI::ParseError& problem) const;
  Error explain_unexpected(const std::string& argument) const;
  Result<int> dispatch();

  CLI::App app_;
  std::vector<Command> commands_;
  Session session_;
  bool wide_ = false;
  bool has_dashes_ = false;  // "--" separates our options from a command of the user
};

CommandLine::CommandLine() : app_(fmt::format("maps ranks of parallel programs to cores\n\n{}", about), "rankloom") {
  app_.footer(std::string(examples));
  app_.set_version_flag("-V,--version", "rankloom " RANKLOOM_VERSION, "show the version")->group("general");
  for (const VerbInfo& row : verbs()) {
    CLI::App* const sub = app_.add_subcommand(std::string(row.name), fmt::format("{}\n\n{}", row.summary, row.about));
    sub->footer(std::string(row.examples));
    commands_.push_back({sub, row.make()});
    commands_.back().verb->describe(*sub);
  }
  add_general_options(app_, session_.json, wide_);
  session_.commands = &app_;
  session_.out_is_terminal = ::isatty(STDOUT_FILENO) != 0;
  session_.err_is_terminal = ::isatty(STDERR_FILENO) != 0;
}

int CommandLine::run(int argc, const char* const* argv) {
  has_dashes_ = std::any_of(argv, argv + argc, [](std::string_view argument) { return argument == "--"; });
  session_.json = requests_json(argc, argv);
  session_.progress = !session_.err_is_terminal ? ProgressForm::lines
                      : session_.json           ? ProgressForm::none
                                                : ProgressForm::bar;
  try {
    app_.parse(takes_all(argc, argv) ? 2 : argc, argv);
    session_.width = wide_ ? unlimited_width : terminal_width();
    auto status = dispatch();
    if (!status) return show_error(status.error(), session_.json);
    if (auto written = check_standard_output(); !written) return show_error(written.error(), false);
    return *status;
  } catch (const CLI::ParseError& problem) {
    return handle(problem);
  } catch (const std::bad_alloc&) {
    return show_error(Error{Code::environment, at(""), "there is not enough memory",
                            "use a smaller problem or a machine with more memory"},
                      session_.json);
  } catch (const std::exception& exception) {  // from the standard library, for example for an invalid path
    return show_error(
        Error{Code::environment, at(""), exception.what(), "if the command is right, please report this as a bug"},
        session_.json);
  }
}

bool CommandLine::takes_all(int argc, const char* const* argv) {
  const auto is_general_option = [](std::string_view argument) {
    return argument == "--help" || argument == "-h" || argument == "--json";
  };
  if (argc < 3 || (argc == 3 && is_general_option(argv[2]))) return false;
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
      return Failure(usage_error(page, "missing subcommand", fmt::format("{} --help", page.name())));
    return command.verb->run(session_);
  }
  fmt::print(stderr, "{}", help_text(read_page(app_)));
  return static_cast<int>(Code::usage);
}

int CommandLine::handle(const CLI::ParseError& problem) const {
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
  auto unexpected = app_.remaining(true);
  std::erase(unexpected, "--");  // CLI11 leaves it over after other errors
  if (!unexpected.empty()) return explain_unexpected(unexpected.front());
  const CLI::App& called = deepest_parsed(app_);
  const CommandPage page = read_page(called);
  const std::string hint = fmt::format("usage: {}", page.usage());
  for (const CLI::Option* option : called.get_options()) {
    if (option->get_required() && option->count() == 0)
      return usage_error(page, fmt::format("{} is missing", option->get_name(option->get_positional())), hint);
  }
  return usage_error(page, plain_message(problem), hint);
}

Error CommandLine::explain_unexpected(const std::string& argument) const {
  const CommandPage page = read_page(deepest_parsed(app_));
  const std::string help = fmt::format("{} --help", page.name());
  if (argument.starts_with("-") && argument.size() > 1) {
    const std::string flag = argument.substr(0, argument.find('='));
    const bool takes_command = std::any_of(page.arguments.begin(), page.arguments.end(),
                                           [](const OptionPage& option) { return option.name == "COMMAND"; });
    if (takes_command && !has_dashes_) {
      return usage_error(
          page, fmt::format("'{}' is not an option of {}", flag, page.name()),
          fmt::format("if it belongs to your command, write -- before the command: {} .. -- mpirun -n 4 ./app",
                      page.name()));
    }
    std::vector<std::string_view> known;
    for (const OptionGroup& group : page.groups) {
      for (const OptionPage& option : group.options)
        known.insert(known.end(), option.flags.begin(), option.flags.end());
    }
    return usage_error(page, fmt::format("unknown option '{}'", flag), suggest_or_help(flag, known, help));
  }
  if (!page.commands.empty()) {
    std::vector<std::string_view> known;
    for (const CommandPage& command : page.commands) known.push_back(command.path.back());
    return usage_error(page, fmt::format("unknown {} '{}'", page.path.size() > 1 ? "subcommand" : "verb", argument),
                       suggest(argument, known));
  }
  return usage_error(page, fmt::format("unexpected argument '{}'", argument),
                     fmt::format("usage: {}; put quotes around a topology string", page.usage()));
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  return CommandLine().run(argc, argv);
}

}  // namespace rankloom::app
