// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch: a user's job script, changed so that `rankloom tune` starts its program.
#include "apps/rankloom/verbs/launch/job_script.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "rankloom/place/launch_command.hpp"
#include "rankloom/place/launchers.hpp"

namespace rankloom::app {

namespace {

constexpr std::string_view marker = "# Written by rankloom tune --script ";

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

/// A word of a line, as far as that needs no shell.
struct Word {
  std::size_t column;
  std::string text;
};

std::vector<Word> words_of(const std::string& line) {
  std::vector<Word> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t", at)) != std::string::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    words.push_back({at, line.substr(at, end - at)});
    at = end;
  }
  return words;
}

/// Words of the shell that may be in front of a command.
bool is_before_command(const std::string& word) {
  static constexpr std::array<std::string_view, 7> names{"exec", "time", "then", "do", "else", "if", "!"};
  const std::size_t equals = word.find('=');
  const bool assigns = equals != std::string::npos && equals > 0 &&
                       std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char letter) {
                         return letter == '_' || (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
                                (letter >= 'A' && letter <= 'Z');
                       });
  return assigns || std::find(names.begin(), names.end(), word) != names.end();
}

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// The value of an option: "--time=5", "--time 5", "-t 5", "-t5".
std::optional<Word> value_of(const std::vector<Word>& words, std::string_view name, std::string_view letter) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i].text;
    const auto rest = [&](std::size_t begin) { return Word{words[i].column + begin, std::string(word.substr(begin))}; };
    if (word == name || word == letter) return i + 1 < words.size() ? std::optional(words[i + 1]) : std::nullopt;
    if (word.starts_with(name) && word.substr(name.size()).starts_with('=')) return rest(name.size() + 1);
    if (word.starts_with(letter) && !word.starts_with("--")) return rest(letter.size());
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> parse_slurm_time(std::string_view text) {
  constexpr double minute = 60, hour = 3600, day = 86400;
  double seconds = 0;
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto days = number(text.substr(0, dash));
    if (!days) return std::nullopt;
    seconds = *days * day;
    text.remove_prefix(dash + 1);
  }
  std::vector<double> parts;
  for (std::string_view left = text; parts.size() < 4;) {
    const std::size_t end = std::min(left.find(':'), left.size());
    const auto part = number(left.substr(0, end));
    if (!part) return std::nullopt;
    parts.push_back(*part);
    if (end == left.size()) break;
    left.remove_prefix(end + 1);
  }
  if (parts.size() > 3) return std::nullopt;
  // After days, the first part is hours; otherwise one part is minutes, and two are minutes and seconds.
  const std::size_t first = dash != std::string_view::npos || parts.size() == 3 ? 0 : 1;
  const std::array units{hour, minute, 1.0};
  for (std::size_t i = 0; i < parts.size(); ++i) seconds += parts[i] * units[std::min(first + i, units.size() - 1)];
  return seconds;
}

std::string format_slurm_time(double seconds) {
  const auto total = static_cast<std::uint64_t>(std::ceil(seconds));
  const std::uint64_t days = total / 86400, hours = total / 3600 % 24, minutes = total / 60 % 60;
  const std::string time = fmt::format("{:02}:{:02}:{:02}", hours, minutes, total % 60);
  return days > 0 ? fmt::format("{}-{}", days, time) : time;
}

bool is_tune_script(std::string_view content) {
  const std::size_t second = content.find('\n');
  return second != std::string_view::npos && content.substr(second + 1).starts_with(marker);
}

JobScript JobScript::parse(const FileContents& file) {
  JobScript script;
  script.name_ = file.name();
  script.lines_ = split_lines(file.view());
  bool directives = true;
  for (std::size_t line = 0; line < script.lines_.size(); ++line) {
    const std::string& text = script.lines_[line];
    const std::size_t first = text.find_first_not_of(" \t");
    // Batch systems read directives up to the first command.
    if (first != std::string::npos && text[first] != '#') directives = false;
    if (directives) script.read_directive(line);
  }
  script.find_launches();
  return script;
}

void JobScript::read_directive(std::size_t line) {
  const std::string& text = lines_[line];
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> systems{
      {{"#SBATCH", "sbatch"}, {"#PBS", "qsub"}, {"#BSUB", "bsub"}}};
  for (const auto& [directive, submitter] : systems)
    if (text.starts_with(directive) && submitter_.empty()) submitter_ = std::string(submitter);
  if (!text.starts_with("#SBATCH")) return;
  const std::vector<Word> words = words_of(text);
  if (const auto time = value_of(words, "--time", "-t")) {
    seconds_ = parse_slurm_time(time->text);
    if (seconds_) time_ = TimeLimit{line, time->column, time->text.size()};
  }
  if (const auto count = value_of(words, "--nodes", "-N"))
    nodes_ = number(std::string_view(count->text).substr(0, count->text.find('-')));
}

void JobScript::find_launches() {
  for (std::size_t line = 0; line < lines_.size(); ++line) {
    const std::size_t begin = line;
    std::string text = lines_[line];
    while (text.ends_with('\\') && line + 1 < lines_.size()) {
      text.pop_back();
      text += lines_[++line];
    }
    std::vector<Word> words = words_of(lines_[begin]);
    const auto command =
        std::find_if_not(words.begin(), words.end(), [](const Word& word) { return is_before_command(word.text); });
    if (command == words.end() || command->text.starts_with('#')) continue;
    Argv argv;
    for (auto word = command; word != words.end(); ++word) argv.push_back(word->text);
    const std::size_t position = launcher_position(argv);
    if (position >= argv.size() || !is_launcher_name(std::filesystem::path(argv[position]).filename().string()))
      continue;
    launches_.push_back({begin + 1, command->column, text.substr(command->column)});
  }
}

Result<JobScript::Launch> JobScript::choose(std::optional<std::size_t> line) const {
  if (launches_.empty()) {
    return fail(Code::bad_input, at(name_), "no line of this script begins with a launcher",
                fmt::format("rankloom knows: {}", known_launcher_programs()));
  }
  const auto chosen = line ? std::find_if(launches_.begin(), launches_.end(),
                                          [&](const Launch& launch) { return launch.line == *line; })
                           : launches_.begin();
  if (chosen == launches_.end() || (!line && launches_.size() > 1)) {
    std::string list;
    for (const Launch& launch : launches_) list += fmt::format("{}{}", list.empty() ? "" : ", ", launch.line);
    return fail(Code::usage, at(name_, line.value_or(0)),
                line ? "this line does not begin with a launcher" : "several lines of this script start programs",
                fmt::format("choose one with --line: {}", list));
  }
  std::string_view text = chosen->text;
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.ends_with('&')) {
    return fail(Code::usage, at(name_, chosen->line), "this line starts the program in the background",
                "remove the & at its end: both placements are measured one after the other");
  }
  return *chosen;
}

std::string JobScript::with_prefix(const Launch& launch, const std::string& prefix,
                                   std::optional<double> seconds) const {
  const std::string remark =
      fmt::format("{}{}: line {} runs with several placements in turn.\n", marker, name_, launch.line);
  const bool has_shell = !lines_.empty() && lines_[0].starts_with("#!");
  std::string text = has_shell ? "" : "#!/bin/bash\n" + remark;
  for (std::size_t line = 0; line < lines_.size(); ++line) {
    std::string changed = lines_[line];
    if (line + 1 == launch.line) changed.insert(launch.column, prefix);
    if (seconds && time_ && line == time_->line)
      changed.replace(time_->column, time_->length, format_slurm_time(*seconds));
    text += changed + "\n";
    if (line == 0 && has_shell) text += remark;
  }
  return text;
}

}  // namespace rankloom::app
