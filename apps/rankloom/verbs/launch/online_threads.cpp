// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom online` for a program that no launcher starts.
#include "apps/rankloom/verbs/launch/online_threads.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <unistd.h>

#include "rankloom/core/system/file.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

/// As a shell finds it.
std::optional<fs::path> find_program(const std::string& word) {
  const auto runs = [](const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
  };
  if (word.find('/') != std::string::npos) return runs(word) ? std::optional<fs::path>(word) : std::nullopt;
  const char* const folders = std::getenv("PATH");
  std::istringstream list(folders != nullptr ? folders : "");
  for (std::string folder; std::getline(list, folder, ':');) {
    if (fs::path path = fs::path(folder.empty() ? "." : folder) / word; runs(path)) return path;
  }
  return std::nullopt;
}

/// The library's name is among those that the program needs.
bool has_recorder(const fs::path& path) {
  const auto file = read_file(path.string());
  return file &&
         file->view().starts_with(
             "\x7f"
             "ELF") &&
         file->view().find("librankloom_threads.so") != std::string_view::npos;
}

}  // namespace

std::optional<std::string> program_with_threads(const std::vector<std::string>& command) {
  for (const std::string& word : command) {
    if (const auto path = find_program(word); path && has_recorder(*path)) return word;
  }
  return std::nullopt;
}

}  // namespace rankloom::app
