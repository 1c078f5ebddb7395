// SPDX-License-Identifier: Apache-2.0
// apps/process: the profiles of a user's programs.
#include "apps/rankloom/process/profile_store.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "apps/rankloom/process/processes.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/sha256.hpp"
#include "rankloom/model/files/profile_file.hpp"

namespace rankloom::app {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t max_profiles = 64;
constexpr std::uintmax_t max_bytes = std::uintmax_t{64} << 20U;
constexpr std::string_view suffix = ".prof";

std::string short_digest(const std::string& text) {
  return sha256(text).substr(0, 16);
}

/// "app-64-0123456789abcdef-": the names of all profiles of this program and number of ranks begin with it.
std::string prefix_of(const StoredProgram& program) {
  std::string name = fs::path(program.path).filename().string();
  constexpr std::size_t max_length = 64;
  name.resize(std::min(name.size(), max_length));
  return fmt::format("{}-{}-{}-", name, program.ranks, short_digest(program.path + "\n" + program.scripts));
}

std::string name_of(const StoredProgram& program) {
  return prefix_of(program) + short_digest(program.arguments) + std::string(suffix);
}

/// Whether name_of() could have returned it.
bool is_name_of_profile(const std::string& name) {
  constexpr std::size_t digest = 16;
  if (!name.ends_with(suffix)) return false;
  const std::string stem = name.substr(0, name.size() - suffix.size());
  const auto is_digest = [&](std::size_t end) {
    return end >= digest + 1 && stem[end - digest - 1] == '-' &&
           stem.substr(end - digest, digest).find_first_not_of("0123456789abcdef") == std::string::npos;
  };
  return is_digest(stem.size()) && is_digest(stem.size() - digest - 1);
}

struct Entry {
  fs::path path;
  fs::file_time_type time;
};

/// The profiles whose names begin with a prefix, the newest first.
std::vector<Entry> entries(const fs::path& directory, const std::string& prefix) {
  std::vector<Entry> found;
  std::error_code end, error;
  for (fs::directory_iterator at(directory, end); !end && at != fs::directory_iterator(); at.increment(end)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(prefix) || !is_name_of_profile(name)) continue;
    const auto time = at->last_write_time(error);
    if (!error && at->is_regular_file(error)) found.push_back({at->path(), time});
  }
  std::sort(found.begin(), found.end(),
            [](const Entry& a, const Entry& b) { return a.time != b.time ? a.time > b.time : a.path < b.path; });
  return found;
}

/// The file that a shell would execute.
std::string resolve_program(const std::string& name) {
  std::error_code error;
  if (name.find('/') != std::string::npos) return fs::weakly_canonical(fs::absolute(name, error), error).string();
  const char* const path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? std::string_view() : path;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    const fs::path candidate = fs::path(folder) / name;
    if (fs::is_regular_file(candidate, error)) return fs::weakly_canonical(candidate, error).string();
  }
  return name;
}

bool is_program_or_script(const std::string& argument) {
  std::error_code error;
  const fs::path path(argument);
  if (!fs::is_regular_file(path, error)) return false;
  static constexpr std::array<std::string_view, 7> suffixes{".py", ".sh", ".pl", ".jl", ".R", ".lua", ".jar"};
  const std::string extension = path.extension().string();
  return ::access(argument.c_str(), X_OK) == 0 ||
         std::find(suffixes.begin(), suffixes.end(), extension) != suffixes.end();
}

}  // namespace

StoredProgram stored_program(const std::string& program, std::uint32_t ranks) {
  return {.path = resolve_program(program), .ranks = ranks};
}

StoredProgram stored_program(const LaunchCommand& command, std::uint32_t ranks) {
  StoredProgram program{.path = {}, .ranks = ranks};
  for (const LaunchedProgram& launched : command.programs) {
    Argv arguments = launched.arguments;
    if (program.path.empty() && !arguments.empty()) {
      program.path = resolve_program(arguments[0]);
      arguments.erase(arguments.begin());
    }
    for (const std::string& argument : arguments)
      if (is_program_or_script(argument)) program.scripts += fs::weakly_canonical(argument).string() + "\n";
    program.arguments += command_text(arguments) + "\n";
  }
  return program;
}

std::optional<ProfileStore> ProfileStore::of_user() {
  const auto variable = [](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  if (const auto given = variable("RANKLOOM_STORE")) {
    if (given->empty()) return std::nullopt;
    return ProfileStore(*given);
  }
  if (const auto data = variable("XDG_DATA_HOME"); data && !data->empty())
    return ProfileStore(fs::path(*data) / "rankloom" / "profiles");
  const auto home = variable("HOME");
  if (!home || home->empty()) return std::nullopt;
  return ProfileStore(fs::path(*home) / ".local" / "share" / "rankloom" / "profiles");
}

Result<std::string> ProfileStore::add(const StoredProgram& program, const Profile& profile) const {
  std::error_code error;
  fs::create_directories(directory_, error);
  const fs::path file = directory_ / name_of(program);
  auto written = write_file(file.string(), [&](Sink& sink) { return write_profile(profile, sink); });
  if (!written) return propagate(written);
  if (fs::file_size(file, error) > max_bytes) {
    fs::remove(file, error);
    return std::string();
  }
  const std::vector<Entry> all = entries(directory_, "");
  for (std::size_t i = max_profiles; i < all.size(); ++i) fs::remove(all[i].path, error);
  return file.string();
}

std::optional<ProfileStore::Found> ProfileStore::find(const StoredProgram& program) const {
  const std::vector<Entry> found = entries(directory_, prefix_of(program));
  if (found.empty()) return std::nullopt;
  const std::string name = name_of(program);
  const auto same =
      std::find_if(found.begin(), found.end(), [&](const Entry& entry) { return entry.path.filename() == name; });
  return same != found.end() ? Found{same->path.string(), true} : Found{found.front().path.string(), false};
}

}  // namespace rankloom::app
