// SPDX-License-Identifier: Apache-2.0
// place: looks up rows of the registry of launchers, by name or by what a program prints about itself.
#include "rankloom/place/launchers.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "rankloom/core/text/suggest.hpp"
#include "rankloom/place/launchers/launcher_files.hpp"
#include "rankloom/place/launchers/table.hpp"

namespace rankloom {

std::string EmitOptions::path(std::string_view file) const {
  if (directory.empty()) return std::string(file);
  return fmt::format("{}{}{}", directory, directory.ends_with('/') ? "" : "/", file);
}

std::string EmitOptions::short_path(std::string_view file) const {
  const std::string whole = path(file);
  const std::string inside = working_directory.ends_with('/') ? working_directory : working_directory + "/";
  return !working_directory.empty() && whole.starts_with(inside) ? whole.substr(inside.size()) : whole;
}

Argv EmittedCommand::argv() const {
  Argv result = launcher;
  result.insert(result.end(), options.begin(), options.end());
  result.insert(result.end(), program.begin(), program.end());
  return result;
}

std::string EmittedCommand::text() const {
  return shell_text(environment, argv());
}

const OptionSpec* LauncherSyntax::find_option(std::string_view name) const {
  const auto has_name = [&](const OptionSpec& spec) {
    return any_name(
        spec.names, [&](std::string_view other) { return other == name; }, '|');
  };
  const auto found = std::find_if(options.begin(), options.end(), has_name);
  if (found != options.end()) return &*found;
  if (!getopt_letters || name.size() < 2) return nullptr;
  const auto is_abbreviated = [&](const OptionSpec& spec) {
    return any_name(
        spec.names, [&](std::string_view other) { return other.starts_with(name); }, '|');
  };
  const auto first = std::find_if(options.begin(), options.end(), is_abbreviated);
  if (first == options.end() || std::any_of(first + 1, options.end(), is_abbreviated)) return nullptr;
  return &*first;
}

std::span<const Launcher* const> launchers() {
  return launcher_rows::all;
}

Result<const Launcher*> find_launcher(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Launcher* const row : launchers()) {
    if (row->name == name) return row;
    names.push_back(row->name);
  }
  return fail(Code::usage, at("launchers"), fmt::format("there is no launcher '{}'", name), suggest(name, names));
}

const Launcher* recognise_launcher(std::string_view program, std::string_view version_text,
                                   std::span<const Launcher* const> rows) {
  const std::string_view name = program_name(program);
  const Launcher* by_name = nullptr;
  for (const Launcher* const row : rows) {
    if (row->command_line == nullptr) continue;
    const LauncherSyntax& line = *row->command_line;
    if (!is_one_of(line.programs, name)) continue;
    const bool has_unique_name = is_one_of(line.unique_programs, name);
    if (line.recognises == nullptr ? has_unique_name : line.recognises(version_text)) return row;
    if (has_unique_name && by_name == nullptr) by_name = row;
  }
  return by_name;
}

bool is_launcher_name(std::string_view program) {
  return std::any_of(launchers().begin(), launchers().end(), [&](const Launcher* row) {
    return row->command_line != nullptr && is_one_of(row->command_line->programs, program_name(program));
  });
}

bool needs_version_text(std::string_view program) {
  return std::any_of(launchers().begin(), launchers().end(), [&](const Launcher* row) {
    return row->command_line != nullptr && row->command_line->recognises != nullptr &&
           is_one_of(row->command_line->programs, program_name(program));
  });
}

std::string known_launcher_programs() {
  std::vector<std::string> names;
  for (const Launcher* const row : launchers()) {
    if (row->command_line == nullptr) continue;
    any_name(row->command_line->programs, [&](std::string_view program) {
      // mpirun.openmpi and mpirun.mpich are the names of mpirun on systems with several MPI implementations.
      const std::string name(program.substr(0, program.find('.')));
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      return false;
    });
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string version_number(std::string_view text) {
  // Hydra prints its build details; the version is after "Version:".
  if (const std::size_t label = text.find("Version:"); label != std::string_view::npos) text.remove_prefix(label);
  constexpr std::string_view digits = "0123456789";
  for (std::size_t at = text.find_first_of(digits); at < text.size(); at = text.find_first_of(digits, at)) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789.", at), text.size());
    const std::string_view number = text.substr(at, end - at);
    if (number.find('.') != std::string_view::npos)
      return std::string(number.substr(0, number.find_last_not_of('.') + 1));
    at = end;
  }
  return {};
}

std::uint32_t major_version(std::string_view version_text) {
  const std::string version = version_number(version_text);
  std::uint32_t number = 0;
  std::from_chars(version.data(), version.data() + version.size(), number);
  return number;
}

std::string_view program_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace rankloom
