// SPDX-License-Identifier: Apache-2.0
// place: parses the command line of a launcher and rewrites it. What differs between launchers is in their rows.
#include "rankloom/place/launch_command.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/process.hpp"
#include "rankloom/place/launchers.hpp"
#include "rankloom/place/launchers/launcher_files.hpp"

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
    for (bool ended = false; !ended && at < argv_.size() && is_option(argv_[at]);) {
      ended = syntax_.dashes_end_options && argv_[at] == "--";
      auto option = ended ? LaunchOption{.name = "--", .values = {}, .arguments = {"--"}} : parse_option(at);
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

  /// Launchers split a command line at ":" before they read options.
  bool is_value(std::size_t at) const { return at < argv_.size() && argv_[at] != ":"; }

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
    const bool assigns = spec.assignment && is_value(at + 1) && argv_[at + 1].find('=') != std::string::npos;
    const std::size_t count = assigns ? 1 : spec.values;
    for (std::size_t i = 1; i <= count; ++i) {
      if (!is_value(at + i)) {
        return fail(Code::usage, rankloom::at(argv_[at]), fmt::format("a value is missing after {}", argv_[at]),
                    "write the option with its value, then the program");
      }
    }
    const auto values = argv_.subspan(at + 1, count);
    return option(at, &spec, {}, Argv(values.begin(), values.end()), 1 + count);
  }

  /// As getopt does: several letters may share an argument, and its rest is the value of the first one that takes a
  /// value.
  Result<LaunchOption> parse_letters(std::size_t at) const {
    const std::string_view letters = argv_[at];
    const auto is_flag = [](const OptionSpec* spec) { return spec != nullptr && spec->values == 0 && !spec->attached; };
    std::size_t i = 1;
    while (i + 1 < letters.size() && is_flag(syntax_.find_option(letters.substr(i, 1)))) ++i;
    auto parsed = parse_letter(at, i);
    if (parsed) parsed->flags = letters.substr(1, i - 1);
    return parsed;
  }

  /// The option of the letter at this position; what follows it is its value.
  Result<LaunchOption> parse_letter(std::size_t at, std::size_t position) const {
    const std::string_view letters = argv_[at];
    const OptionSpec* const spec = syntax_.find_option(letters.substr(position, 1));
    if (spec == nullptr) return parse_unknown(at, letters.substr(position, 1));
    if (position + 1 < letters.size()) return option(at, spec, {}, {std::string(letters.substr(position + 1))}, 1);
    return take_values(at, *spec);
  }

  /// Without knowing how many values an option takes, only another option after it shows that it takes none.
  Result<LaunchOption> parse_unknown(std::size_t at, std::string_view name) const {
    if (!program_.empty()) {
      Argv values;
      for (std::size_t next = at + 1; is_value(next); ++next) {
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

/// Programs that start another one. An option that is not listed may change what they start, or where.
struct PrefixProgram {
  std::string_view name;
  std::string_view flags;          ///< Letters of options without a value.
  std::string_view values;         ///< Letters of options with a value.
  std::string_view long_flags;     ///< Names of long options without a value, separated by blanks.
  std::string_view long_values;    ///< Names of long options with a value, separated by blanks.
  std::size_t operands = 0;        ///< Arguments before the program.
  bool takes_assignments = false;  ///< NAME=value before the program.
};

constexpr auto prefix_programs = std::to_array<PrefixProgram>({
    {"env", "iv", "u", "ignore-environment debug", "unset", 0, true},
    {"nice", "0123456789", "n", "", "adjustment"},
    {"nohup", "", "", "", ""},
    {"time", "apqv", "fo", "append portability quiet verbose", "format output"},
    {"stdbuf", "", "ioe", "", "input output error"},
    {"setsid", "cw", "", "ctty wait", ""},
    {"taskset", "ac", "", "all-tasks cpu-list", "", 1},
    {"numactl", "al", "iNCmpP", "all localalloc",
     "interleave cpunodebind physcpubind membind preferred preferred-many"},
    {"timeout", "v", "ks", "foreground preserve-status verbose", "kill-after signal", 1},
});

/// How many arguments an option of a prefix program is: with or without a value of its own. 0: it is not listed.
std::size_t arguments_of_option(const PrefixProgram& program, std::string_view option) {
  if (option.starts_with("--")) {
    const std::string_view name = option.substr(2, option.find('=') - 2);
    const bool has_value = option.find('=') != std::string_view::npos;
    if (is_one_of(program.long_values, name)) return has_value ? 1 : 2;
    return !has_value && is_one_of(program.long_flags, name) ? 1 : 0;
  }
  for (std::size_t i = 1; i < option.size(); ++i) {
    if (program.values.find(option[i]) != std::string_view::npos) return i + 1 < option.size() ? 1 : 2;
    if (program.flags.find(option[i]) == std::string_view::npos) return 0;
  }
  return 1;
}

/// The index after a prefix program and its arguments; nothing if one of them is not listed.
std::optional<std::size_t> after_prefix(const PrefixProgram& program, std::span<const std::string> argv,
                                        std::size_t at) {
  ++at;
  while (at < argv.size() && argv[at].starts_with('-') && argv[at] != "--") {
    const std::size_t count = arguments_of_option(program, argv[at]);
    if (count == 0) return std::nullopt;
    at += count;
  }
  if (at < argv.size() && argv[at] == "--") ++at;
  while (program.takes_assignments && at < argv.size() && is_assignment(argv[at])) ++at;
  return at + program.operands;
}

bool names_program_file(const LaunchOption& option) {
  return option.spec != nullptr && option.spec->role == OptionRole::program_file;
}

/// The option whose value is a file that lists the programs; nullptr: there is none.
const LaunchOption* program_file_option(const LaunchedProgram& program) {
  const auto found = std::find_if(program.options.begin(), program.options.end(), names_program_file);
  return found == program.options.end() ? nullptr : &*found;
}

constexpr const char* use_the_command_line = "write the programs on the command line, separated by :";

/// The arguments of a line of a file that lists programs. Observed with mpirun 4.1.4 and hydra 4.0.2: "#" begins a
/// comment anywhere, and quotes and backslashes have no meaning. They differ in tabs and in ":".
Result<Argv> split_line(std::string_view line, const std::string& file, std::uint64_t number) {
  line = line.substr(0, line.find('#'));
  Argv arguments;
  while (!line.empty()) {
    const std::string_view argument = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(line.size(), argument.size() + 1));
    if (argument.empty()) continue;
    if (argument == ":" || argument.find_first_of("\t\r\v\f") != std::string_view::npos) {
      return fail(Code::bad_input, at(file, number), "launchers read a colon, a tab or a carriage return differently",
                  use_the_command_line);
    }
    arguments.emplace_back(argument);
  }
  return arguments;
}

/// The programs of a file: one per line, with the options in front of it.
Result<std::vector<LaunchedProgram>> read_programs(const std::string& path, const Launcher& launcher) {
  std::error_code ignored;
  if (path == "-" || std::filesystem::is_character_file(path, ignored))
    return fail(Code::usage, at(path), "the programs are listed in something that is not a file", use_the_command_line);
  auto file = read_file(path);
  if (!file) return propagate(file);
  std::vector<LaunchedProgram> programs;
  std::string_view rest = file->view();
  for (std::uint64_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    auto arguments = split_line(line, path, number);
    if (!arguments) return propagate(arguments);
    if (arguments->empty()) continue;
    std::size_t next = 0;
    auto program = ProgramParser(*launcher.command_line, launcher.title, *arguments, {}).parse(next);
    if (!program) return propagate(program);
    if (program->arguments.empty() || program_file_option(*program) != nullptr)
      return fail(Code::bad_input, at(path, number), "this line does not name a program", use_the_command_line);
    programs.push_back(std::move(*program));
  }
  if (programs.empty())
    return fail(Code::bad_input, at(path), "the file does not name a program", use_the_command_line);
  return programs;
}

/// Replaces a file that lists the programs by the programs, as if they were on the command line, separated by ":".
Result<void> insert_programs_of_file(LaunchCommand& command) {
  for (const LaunchedProgram& program : command.programs) {
    const LaunchOption* const file = program_file_option(program);
    if (file == nullptr || file->spec->values == 0) continue;  // for srun --multi-prog, the file is the program
    if (command.programs.size() > 1 || !program.arguments.empty())
      return fail(Code::usage, at(file->arguments[0]), "the command also names a program", use_the_command_line);
    for (const LaunchOption& option : program.options) {
      const bool repeated = names_program_file(option) && &option != file;
      if (!repeated && !is_one_of(command.launcher->command_line->program_options, option.name)) continue;
      return fail(Code::usage, at(option.arguments[0]),
                  fmt::format("this option has no effect together with {}", file->arguments[0]),
                  "write it into the lines of the file");
    }
    auto programs = read_programs(file->values[0], *command.launcher);
    if (!programs) return propagate(programs);
    std::vector<LaunchOption> options = program.options;
    std::erase_if(options,
                  [](const LaunchOption& option) { return names_program_file(option) || option.name == "--"; });
    std::vector<LaunchOption>& first = programs->front().options;
    first.insert(first.begin(), std::make_move_iterator(options.begin()), std::make_move_iterator(options.end()));
    command.programs = std::move(*programs);
    return {};
  }
  return {};
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

Argv LaunchOption::own_arguments() const {
  Argv own = arguments;
  if (!flags.empty()) own[0].erase(1, flags.size());
  return own;
}

Argv launcher_argv(LaunchCommand command) {
  command.programs.resize(1);
  command.programs[0].arguments.clear();
  return command.argv();
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
  std::uint64_t total = 0;
  for (const LaunchedProgram& program : programs) {
    const auto number = rank_count(program);
    if (!number) return std::nullopt;
    total += *number;
  }
  if (total > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(total);
}

std::optional<std::uint32_t> LaunchCommand::rank_count(const LaunchedProgram& program) const {
  const LaunchOption* const count = rank_count_option(program);
  if (count == nullptr) {
    const DefaultRankCount by_default = launcher->command_line->default_rank_count;
    const bool one = by_default == DefaultRankCount::one ||
                     (by_default == DefaultRankCount::one_if_several_programs && programs.size() > 1);
    return one ? std::optional(1U) : std::nullopt;
  }
  const std::string text = count->values.empty() ? std::string() : count->values[0];
  std::uint32_t number = 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::size_t launcher_position(std::span<const std::string> argv) {
  std::size_t at = 0;
  while (at < argv.size()) {
    const auto known = std::find_if(prefix_programs.begin(), prefix_programs.end(),
                                    [&](const auto& row) { return row.name == program_name(argv[at]); });
    if (known == prefix_programs.end()) break;
    const auto next = after_prefix(*known, argv, at);
    if (!next) break;
    at = *next;
  }
  return std::min(at, argv.size());
}

std::vector<std::string> launcher_environment(std::span<const std::string> argv) {
  std::vector<std::string> variables;
  const std::size_t position = launcher_position(argv);
  for (std::size_t i = 0; i < position; ++i) {
    if (is_assignment(argv[i])) variables.push_back(argv[i]);
  }
  return variables;
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
  if (auto inserted = insert_programs_of_file(command); !inserted) return propagate(inserted);
  for (const LaunchedProgram& part : command.programs) {
    if (part.arguments.empty()) {
      return fail(Code::usage, at(command.executable), "the command does not name a program",
                  "write it after the launcher's options: mpirun -n 4 ./app");
    }
  }
  return command;
}

Result<LaunchCommand> rewrite(LaunchCommand command, const LaunchChange& change) {
  const bool programs_in_file =
      std::any_of(command.programs.begin(), command.programs.end(),
                  [](const LaunchedProgram& program) { return program_file_option(program) != nullptr; });
  if (!change.wrapper.empty() && programs_in_file)
    return fail(Code::usage, at(command.executable), "a file lists the programs instead of the command line",
                use_the_command_line);
  for (LaunchedProgram& program : command.programs) {
    erase_options(program, [&](const LaunchOption& option) {
      return std::find(change.removed_options.begin(), change.removed_options.end(), option.name) !=
             change.removed_options.end();
    });
  }
  if (!change.environment.empty()) {
    auto passed = command.launcher->command_line->pass_environment(command.programs, change.environment);
    if (!passed) return propagate(passed);
  }
  for (LaunchedProgram& program : command.programs)
    program.arguments.insert(program.arguments.begin(), change.wrapper.begin(), change.wrapper.end());
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
