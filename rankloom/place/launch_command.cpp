// SPDX-License-Identifier: Apache-2.0
// place: parses the command line of a launcher and rewrites it. What differs between launchers is in their rows.
#include "rankloom/place/launch_command.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include <fmt/format.h>

#include "rankloom/core/system/process.hpp"
#include "rankloom/place/launchers.hpp"

namespace rankloom {

namespace {

void append(Argv& to, std::span<const std::string> arguments) {
  to.insert(to.end(), arguments.begin(), arguments.end());
}

/// Parses one program of a command: the launcher's options in front of it, then its own arguments up to ":".
class ProgramParser {
 public:
  ProgramParser(const LauncherSyntax& syntax, std::string_view launcher_title, std::span<const std::string> argv,
                std::string_view program)
      : syntax_(syntax), title_(launcher_title), argv_(argv), program_(program) {}

  /// Advances `at` to the ":" after this program, or to the end.
  Result<LaunchedProgram> parse(std::size_t& at) const {
    LaunchedProgram parsed;
    while (at < argv_.size() && is_option(argv_[at])) {
      auto option = parse_option(at);
      if (!option) return propagate(option);
      at += option->arguments.size();
      parsed.options.push_back(std::move(*option));
    }
    while (at < argv_.size() && argv_[at] != ":") parsed.arguments.push_back(argv_[at++]);
    return parsed;
  }

 private:
  bool is_option(const std::string& argument) const {
    return argument.size() > 1 && argument[0] == '-' && (program_.empty() || argument != program_);
  }

  Result<LaunchOption> parse_option(std::size_t at) const {
    const std::string_view argument = argv_[at];
    const bool is_letters = syntax_.getopt_letters && !argument.starts_with("--");
    return is_letters ? parse_letters(at) : parse_name(at);
  }

  LaunchOption option(std::size_t at, const OptionSpec* spec, std::string_view name, Argv values,
                      std::size_t arguments) const {
    const auto written = argv_.subspan(at, arguments);
    return {spec != nullptr ? std::string(spec->name()) : std::string(name), std::move(values),
            Argv(written.begin(), written.end()), spec};
  }

  Result<LaunchOption> parse_name(std::size_t at) const {
    std::string_view name = argv_[at];
    name.remove_prefix(name.starts_with("--") ? 2 : 1);
    const OptionSpec* spec = syntax_.find_option(name);
    const std::size_t equals = name.find('=');
    if (spec == nullptr && equals != std::string_view::npos && syntax_.value_after_equals) {
      spec = syntax_.find_option(name.substr(0, equals));
      return option(at, spec, name.substr(0, equals), {std::string(name.substr(equals + 1))}, 1);
    }
    return spec == nullptr ? parse_unknown(at, name) : take_values(at, *spec);
  }

  Result<LaunchOption> take_values(std::size_t at, const OptionSpec& spec) const {
    if (at + spec.values >= argv_.size()) {
      return fail(Code::usage, rankloom::at(argv_[at]), fmt::format("a value is missing after {}", argv_[at]),
                  "write the option with its value, then the program");
    }
    const auto values = argv_.subspan(at + 1, spec.values);
    return option(at, &spec, {}, Argv(values.begin(), values.end()), 1 + spec.values);
  }

  /// As getopt does: several letters may share an argument, and its rest is the value of the first one that takes a
  /// value.
  Result<LaunchOption> parse_letters(std::size_t at) const {
    const std::string_view letters = argv_[at];
    for (std::size_t i = 1; i < letters.size(); ++i) {
      const OptionSpec* const spec = syntax_.find_option(letters.substr(i, 1));
      if (spec == nullptr) return parse_unknown(at, letters.substr(i, 1));
      const bool last = i + 1 == letters.size();
      if (spec->values == 0 && !spec->attached) {
        if (last) return option(at, spec, {}, {}, 1);
        continue;
      }
      if (last) return take_values(at, *spec);
      return option(at, spec, {}, {std::string(letters.substr(i + 1))}, 1);
    }
    return parse_unknown(at, letters);
  }

  /// Without knowing how many values an option takes, only another option after it shows that it takes none.
  Result<LaunchOption> parse_unknown(std::size_t at, std::string_view name) const {
    if (!program_.empty()) {
      Argv values;
      for (std::size_t next = at + 1; next < argv_.size(); ++next) {
        if (is_option(argv_[next]) || argv_[next] == program_) break;
        values.push_back(argv_[next]);
      }
      const std::size_t arguments = 1 + values.size();
      return option(at, nullptr, name, std::move(values), arguments);
    }
    if (at + 1 < argv_.size() && is_option(argv_[at + 1])) return option(at, nullptr, name, {}, 1);
    return fail(
        Code::usage, rankloom::at(argv_[at]),
        fmt::format("rankloom does not know this option of {}, so it cannot tell where the program begins", title_),
        "name the program with --program, or write this option before another one");
  }

  const LauncherSyntax& syntax_;
  std::string_view title_;
  std::span<const std::string> argv_;
  std::string_view program_;
};

bool is_assignment(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  if (equals == 0 || equals == std::string_view::npos) return false;
  return argument.substr(0, equals).find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

/// Programs that start another one, and how many arguments they take besides options.
constexpr auto prefix_programs = std::to_array<std::pair<std::string_view, std::size_t>>(
    {{"env", 0}, {"nice", 0}, {"nohup", 0}, {"time", 0}, {"stdbuf", 0}, {"setsid", 0}, {"timeout", 1}});

/// An option whose value is a file that lists the programs, so that the command line does not name one.
bool names_program_file(const LaunchOption& option) {
  return option.spec != nullptr && option.spec->role == OptionRole::program_file && !option.values.empty();
}

bool lists_programs_in_a_file(const LaunchCommand& command) {
  return std::any_of(command.programs.begin(), command.programs.end(), [](const LaunchedProgram& program) {
    return std::any_of(program.options.begin(), program.options.end(), [](const LaunchOption& option) {
      return option.spec != nullptr && option.spec->role == OptionRole::program_file;
    });
  });
}

const LaunchOption* rank_count_option(const LaunchedProgram& program) {
  const LaunchOption* found = nullptr;
  for (const LaunchOption& option : program.options) {
    if (option.spec != nullptr && option.spec->role == OptionRole::rank_count) found = &option;
  }
  return found;
}

}  // namespace

Argv LaunchCommand::argv() const {
  Argv result = prefix;
  result.push_back(executable);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (i > 0) result.emplace_back(":");
    for (const LaunchOption& option : programs[i].options) append(result, option.arguments);
    append(result, programs[i].arguments);
  }
  return result;
}

const LaunchOption* LaunchCommand::find(std::string_view name) const {
  const LaunchOption* found = nullptr;
  for (const LaunchedProgram& program : programs) {
    for (const LaunchOption& option : program.options) {
      if (option.name == name) found = &option;
    }
  }
  return found;
}

std::optional<std::uint32_t> LaunchCommand::rank_count() const {
  const DefaultRankCount by_default = launcher->command_line->default_rank_count;
  const bool one_by_default = by_default == DefaultRankCount::one ||
                              (by_default == DefaultRankCount::one_if_several_programs && programs.size() > 1);
  std::uint32_t total = 0;
  for (const LaunchedProgram& program : programs) {
    const LaunchOption* const count = rank_count_option(program);
    if (count == nullptr) {
      if (!one_by_default) return std::nullopt;
      ++total;
      continue;
    }
    const std::string& text = count->values.at(0);
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    total += number;
  }
  return total;
}

std::size_t launcher_position(std::span<const std::string> argv) {
  std::size_t at = 0;
  while (at < argv.size()) {
    const auto known = std::find_if(prefix_programs.begin(), prefix_programs.end(),
                                    [&](const auto& row) { return row.first == program_name(argv[at]); });
    if (known == prefix_programs.end()) break;
    const bool is_env = known->first == "env";
    ++at;
    while (at < argv.size() && argv[at].starts_with('-')) {
      const bool takes_value = argv[at] == "-k" || argv[at] == "-s" || argv[at] == "-u" || argv[at] == "-n";
      at += takes_value ? 2 : 1;
    }
    while (is_env && at < argv.size() && is_assignment(argv[at])) ++at;
    at += known->second;
  }
  return std::min(at, argv.size());
}

Result<LaunchCommand> parse_launch_command(const Argv& argv, std::string_view version_text, std::string_view program) {
  return parse_launch_command(argv, version_text, program, launchers());
}

Result<LaunchCommand> parse_launch_command(const Argv& argv, std::string_view version_text, std::string_view program,
                                           std::span<const Launcher* const> rows) {
  const std::size_t position = launcher_position(argv);
  if (position >= argv.size()) {
    return fail(Code::usage, at("command"), "the command does not contain a launcher",
                "write the whole command after --: mpirun -n 4 ./app");
  }
  LaunchCommand command;
  command.prefix.assign(argv.begin(), argv.begin() + static_cast<std::ptrdiff_t>(position));
  command.executable = argv[position];
  command.launcher = recognise_launcher(command.executable, version_text, rows);
  if (command.launcher == nullptr) {
    return fail(Code::usage, at(command.executable), "this program is not a launcher that rankloom knows",
                fmt::format("begin the command with one of: {}", known_launcher_programs()));
  }
  command.version = version_number(version_text);
  const ProgramParser parser(*command.launcher->command_line, command.launcher->title, argv, program);
  for (std::size_t next = position + 1;; ++next) {
    auto parsed = parser.parse(next);
    if (!parsed) return propagate(parsed);
    command.programs.push_back(std::move(*parsed));
    if (next >= argv.size()) break;
  }
  const bool program_file = std::any_of(command.programs.begin(), command.programs.end(), [](const auto& part) {
    return std::any_of(part.options.begin(), part.options.end(), names_program_file);
  });
  for (const LaunchedProgram& part : command.programs) {
    if (part.arguments.empty() && !program_file) {
      return fail(Code::usage, at(command.executable), "the command does not name a program",
                  "write it after the launcher's options: mpirun -n 4 ./app");
    }
  }
  return command;
}

Result<LaunchCommand> rewrite(LaunchCommand command, const LaunchChange& change) {
  const bool changes_programs = !change.wrapper.empty() || !change.environment.empty();
  if (changes_programs && lists_programs_in_a_file(command)) {
    return fail(Code::usage, at(command.executable), "a file lists the programs instead of the command line",
                "write the programs on the command line, separated by :");
  }
  for (LaunchedProgram& program : command.programs) {
    std::erase_if(program.options, [&](const LaunchOption& option) {
      return std::find(change.removed_options.begin(), change.removed_options.end(), option.name) !=
             change.removed_options.end();
    });
  }
  if (!change.environment.empty())
    command.launcher->command_line->pass_environment(command.programs, change.environment);
  for (LaunchedProgram& program : command.programs) {
    if (!program.arguments.empty())
      program.arguments.insert(program.arguments.begin(), change.wrapper.begin(), change.wrapper.end());
  }
  if (!change.options.empty()) {
    auto& options = command.programs.front().options;
    options.insert(options.begin(), LaunchOption{.name = {}, .values = {}, .arguments = change.options});
  }
  return command;
}

std::string shell_text(std::span<const std::string> assignments, std::span<const std::string> argv) {
  std::string line;
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    line += assignment.substr(0, equals + 1) + shell_quote(assignment.substr(equals + 1)) + " ";
  }
  for (std::size_t i = 0; i < argv.size(); ++i) line += (i > 0 ? " " : "") + shell_quote(argv[i]);
  return line;
}

}  // namespace rankloom
