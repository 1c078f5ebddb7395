// SPDX-License-Identifier: Apache-2.0
// place: the command line by which a user starts his program, understood and changed.
#include "rankloom/place/launch_command.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "rankloom/place/launch_options.hpp"

namespace rankloom {

namespace {

std::string_view file_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The first number with a point in a text: "mpirun (Open MPI) 4.1.4" → "4.1.4".
std::string version_in(std::string_view text) {
  constexpr std::string_view digits = "0123456789";
  for (std::size_t at = text.find_first_of(digits); at < text.size(); at = text.find_first_of(digits, at)) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789.", at), text.size());
    const std::string_view number = text.substr(at, end - at);
    if (contains(number, ".")) return std::string(number.substr(0, number.find_last_not_of('.') + 1));
    at = end;
  }
  return {};
}

std::uint32_t major_of(std::string_view version) {
  std::uint32_t number = 0;
  std::from_chars(version.data(), version.data() + version.size(), number);
  return number;
}

struct Recognised {
  LauncherKind kind;
  std::string version;
};

Result<Recognised> identify(std::string_view launcher, std::string_view text) {
  const std::string_view name = file_name(launcher);
  if (name == "srun") return Recognised{LauncherKind::slurm, version_in(text)};
  if (contains(text, "Intel(R) MPI")) return Recognised{LauncherKind::intelmpi, version_in(text)};
  if (contains(text, "HYDRA")) {
    const std::size_t at = text.find("Version:");
    return Recognised{LauncherKind::mpich, version_in(at == std::string_view::npos ? text : text.substr(at))};
  }
  if (contains(text, "PRRTE") || contains(text, "prte")) return Recognised{LauncherKind::openmpi5, version_in(text)};
  if (contains(text, "Open MPI") || contains(text, "OpenRTE")) {
    const std::string version = version_in(text);
    return Recognised{major_of(version) >= 5 ? LauncherKind::openmpi5 : LauncherKind::openmpi4, version};
  }
  if (name.starts_with("mpiexec.hydra") || name.ends_with(".mpich")) return Recognised{LauncherKind::mpich, {}};
  if (name.ends_with(".openmpi") || name == "orterun") return Recognised{LauncherKind::openmpi4, {}};
  if (name == "prterun") return Recognised{LauncherKind::openmpi5, {}};
  return fail(Code::usage, at(std::string(launcher)), "this is no launcher that is known here",
              "begin the command with mpirun or mpiexec (of Open MPI, MPICH or Intel MPI) or srun");
}

/// Reads the words of one part: options up to the program, then all that is the program's.
class PartReader {
 public:
  PartReader(LauncherKind kind, const Argv& words, std::string_view program)
      : kind_(kind), words_(words), program_(program) {}

  Result<LaunchPart> read(std::size_t begin) {
    LaunchPart part;
    part.begin = begin;
    std::size_t at = begin;
    while (at < words_.size() && is_option(words_[at])) {
      auto option = read_option(at);
      if (!option) return propagate(option);
      at += option->word_count;
      part.options.push_back(std::move(*option));
    }
    part.program = at;
    while (at < words_.size() && words_[at] != ":") ++at;
    part.end = at;
    return part;
  }

 private:
  bool is_option(const std::string& word) const {
    return word.size() > 1 && word[0] == '-' && (program_.empty() || word != program_);
  }

  Result<LaunchOption> read_option(std::size_t at) {
    const std::string& word = words_[at];
    const bool is_short = kind_ == LauncherKind::slurm && !word.starts_with("--");
    return is_short ? read_letters(at) : read_word(at);
  }

  Result<LaunchOption> read_word(std::size_t at) {
    std::string_view word = words_[at];
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    const LaunchOptionRow* row = find_option(kind_, word);
    const std::size_t equals = word.find('=');
    if (row == nullptr && equals != std::string_view::npos && kind_ != LauncherKind::openmpi4) {
      row = find_option(kind_, word.substr(0, equals));
      return LaunchOption{row != nullptr ? std::string(row->name()) : std::string(word.substr(0, equals)),
                          {std::string(word.substr(equals + 1))},
                          at,
                          1};
    }
    if (row == nullptr) return read_unknown(at, word);
    return take_values(at, *row);
  }

  Result<LaunchOption> take_values(std::size_t at, const LaunchOptionRow& row) {
    LaunchOption option{std::string(row.name()), {}, at, 1 + row.values};
    for (std::size_t i = 1; i <= row.values; ++i) {
      if (at + i >= words_.size()) {
        return fail(Code::usage, at_option(at), fmt::format("a value is missing behind {}", words_[at]),
                    "write the option in full, then the program");
      }
      option.values.push_back(words_[at + i]);
    }
    return option;
  }

  /// As getopt reads them: letters in a row, the rest of the word is the value of the first that takes one.
  Result<LaunchOption> read_letters(std::size_t at) {
    const std::string_view word = words_[at];
    for (std::size_t i = 1; i < word.size(); ++i) {
      const LaunchOptionRow* const row = find_option(kind_, word.substr(i, 1));
      if (row == nullptr) return read_unknown(at, word.substr(i, 1));
      const bool last = i + 1 == word.size();
      if (row->values == 0 && !row->attached) {
        if (last) return LaunchOption{std::string(row->name()), {}, at, 1};
        continue;
      }
      if (last) return take_values(at, *row);
      return LaunchOption{std::string(row->name()), {std::string(word.substr(i + 1))}, at, 1};
    }
    return read_unknown(at, word);
  }

  /// An option that nobody told us of: with another option behind it, it has no value.
  Result<LaunchOption> read_unknown(std::size_t at, std::string_view name) {
    LaunchOption option{std::string(name), {}, at, 1};
    const auto ends_here = [&](const std::string& word) { return is_option(word) || word == program_; };
    if (!program_.empty()) {
      for (std::size_t next = at + 1; next < words_.size() && !ends_here(words_[next]); ++next) {
        option.values.push_back(words_[next]);
        ++option.word_count;
      }
      return option;
    }
    if (at + 1 < words_.size() && is_option(words_[at + 1])) return option;
    return fail(Code::usage, at_option(at),
                fmt::format("this is no option of {} that is known here, so where the program begins is not certain",
                            title_of(kind_)),
                "name the program's word with --program, or put this option before another one");
  }

  Where at_option(std::size_t at) const { return rankloom::at(words_[at]); }

  LauncherKind kind_;
  const Argv& words_;
  std::string_view program_;
};

bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == 0 || equals == std::string_view::npos) return false;
  return word.substr(0, equals).find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
         std::string_view::npos;
}

/// Programs that start another one: how many words of their own they take besides options.
constexpr auto starters = std::to_array<std::pair<std::string_view, std::size_t>>(
    {{"env", 0}, {"nice", 0}, {"nohup", 0}, {"time", 0}, {"stdbuf", 0}, {"setsid", 0}, {"timeout", 1}});

Argv environment_options(LauncherKind kind, const std::string& name, const std::string& value) {
  switch (kind) {
    case LauncherKind::openmpi4:
    case LauncherKind::openmpi5:
      return {"-x", fmt::format("{}={}", name, value)};
    case LauncherKind::mpich:
    case LauncherKind::intelmpi:
      return {"-genv", name, value};
    case LauncherKind::slurm:
      return {};
  }
  return {};
}

bool fits_export(const std::pair<std::string, std::string>& assignment) {
  return assignment.second.find_first_of(",'\"\\ \t\n") == std::string::npos;
}

/// Writes the command anew, part by part.
class Rewriter {
 public:
  Rewriter(const LaunchCommand& command, const LaunchChange& change) : command_(command), change_(change) {}

  Result<Argv> words() {
    if (!change_.wrapper.empty() || !change_.environment.empty()) {
      if (auto one = check_programs(); !one) return propagate(one);
    }
    Argv result(command_.words.begin(), command_.words.begin() + static_cast<std::ptrdiff_t>(command_.launcher) + 1);
    append(result, change_.options);
    for (std::size_t i = 0; i < command_.parts.size(); ++i) {
      if (i > 0) result.emplace_back(":");
      write(command_.parts[i], i == 0, result);
    }
    return result;
  }

 private:
  static void append(Argv& to, std::span<const std::string> words) { to.insert(to.end(), words.begin(), words.end()); }
  std::span<const std::string> slice(std::size_t begin, std::size_t end) const {
    return std::span(command_.words).subspan(begin, end - begin);
  }

  Result<void> check_programs() const {
    if (command_.find("multi-prog") != nullptr || command_.find("configfile") != nullptr ||
        command_.find("app") != nullptr) {
      return fail(Code::usage, at(command_.words[command_.launcher]),
                  "the programs stand in a file, not in the command", "write them on the command line, separated by :");
    }
    return {};
  }

  void write(const LaunchPart& part, bool first, Argv& result) {
    const bool by_export = command_.kind == LauncherKind::slurm &&
                           std::all_of(change_.environment.begin(), change_.environment.end(), fits_export);
    write_environment(first, result);
    std::string exported = "ALL";
    for (const LaunchOption& option : part.options) {
      if (std::find(change_.leave_out.begin(), change_.leave_out.end(), option.name) != change_.leave_out.end())
        continue;
      if (by_export && !change_.environment.empty() && option.name == "export" && !option.values.empty()) {
        exported = option.values[0];
        continue;
      }
      append(result, slice(option.at, option.at + option.word_count));
    }
    if (by_export && !change_.environment.empty()) {
      for (const auto& [name, value] : change_.environment) exported += fmt::format(",{}={}", name, value);
      result.push_back("--export=" + exported);
    }
    if (part.program == part.end) return;
    append(result, change_.wrapper);
    // srun splits at commas: what holds one goes by env.
    if (command_.kind == LauncherKind::slurm && !by_export) {
      result.emplace_back("env");
      for (const auto& [name, value] : change_.environment) result.push_back(fmt::format("{}={}", name, value));
    }
    append(result, slice(part.program, part.end));
  }

  /// Open MPI's -x belongs to one program, hydra's -genv to all.
  void write_environment(bool first, Argv& result) {
    const bool for_each = command_.kind == LauncherKind::openmpi4 || command_.kind == LauncherKind::openmpi5;
    if (!first && !for_each) return;
    for (const auto& [name, value] : change_.environment)
      append(result, environment_options(command_.kind, name, value));
  }

  const LaunchCommand& command_;
  const LaunchChange& change_;
};

}  // namespace

std::string_view name_of(LauncherKind kind) {
  constexpr std::array<std::string_view, 5> names{"openmpi4", "openmpi5", "mpich", "intelmpi", "slurm"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view title_of(LauncherKind kind) {
  constexpr std::array<std::string_view, 5> titles{"Open MPI", "Open MPI", "MPICH", "Intel MPI", "srun"};
  return titles[static_cast<std::size_t>(kind)];
}

const LaunchOption* LaunchCommand::find(std::string_view name) const {
  const LaunchOption* found = nullptr;
  for (const LaunchPart& part : parts) {
    for (const LaunchOption& option : part.options) {
      if (option.name == name) found = &option;
    }
  }
  return found;
}

std::optional<std::uint32_t> LaunchCommand::rank_count() const {
  std::uint32_t total = 0;
  for (const LaunchPart& part : parts) {
    const LaunchOption* count = nullptr;
    for (const LaunchOption& option : part.options) {
      if (option.name == "n") count = &option;
    }
    if (count == nullptr) {
      if (kind != LauncherKind::mpich && kind != LauncherKind::intelmpi) return std::nullopt;
      if (kind == LauncherKind::intelmpi && parts.size() == 1) return std::nullopt;
      ++total;  // hydra starts one when it is told no number
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

std::size_t launcher_position(std::span<const std::string> words) {
  std::size_t at = 0;
  while (at < words.size()) {
    const auto starter = std::find_if(starters.begin(), starters.end(),
                                      [&](const auto& row) { return row.first == file_name(words[at]); });
    if (starter == starters.end()) break;
    const bool is_env = starter->first == "env";
    ++at;
    while (at < words.size() && words[at].starts_with('-')) {
      const bool takes_value = words[at] == "-k" || words[at] == "-s" || words[at] == "-u" || words[at] == "-n";
      at += takes_value ? 2 : 1;
    }
    while (is_env && at < words.size() && is_assignment(words[at])) ++at;
    at += starter->second;
  }
  return std::min(at, words.size());
}

Result<LaunchCommand> understand_launch(Argv words, std::string_view version_text, std::string_view program) {
  LaunchCommand command;
  command.launcher = launcher_position(words);
  if (command.launcher >= words.size()) {
    return fail(Code::usage, at("command"), "there is no launcher in this command",
                "write the whole command behind --: mpirun -n 4 ./app");
  }
  auto identity = identify(words[command.launcher], version_text);
  if (!identity) return propagate(identity);
  command.kind = identity->kind;
  command.version = std::move(identity->version);
  command.words = std::move(words);
  PartReader reader(command.kind, command.words, program);
  for (std::size_t begin = command.launcher + 1;;) {
    auto part = reader.read(begin);
    if (!part) return propagate(part);
    begin = part->end + 1;
    command.parts.push_back(std::move(*part));
    if (begin > command.words.size()) break;
  }
  const bool file_names_programs = command.find("configfile") != nullptr || command.find("app") != nullptr;
  for (const LaunchPart& part : command.parts) {
    if (part.program == part.end && !file_names_programs) {
      return fail(Code::usage, at(command.words[command.launcher]), "the command names no program",
                  "write it behind the launcher's options: mpirun -n 4 ./app");
    }
  }
  return command;
}

Result<Argv> rewrite(const LaunchCommand& command, const LaunchChange& change) {
  return Rewriter(command, change).words();
}

}  // namespace rankloom
