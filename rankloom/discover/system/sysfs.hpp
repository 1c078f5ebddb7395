// SPDX-License-Identifier: Apache-2.0
// discover/system: reads files and folders of /sys. What is missing or cannot be read is empty.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace rankloom {

/// The first line of a file.
inline std::string read_line(const std::filesystem::path& file) {
  std::string line;
  std::getline(std::ifstream(file), line);
  return line;
}

/// The entries of a folder whose names begin with this prefix, in ascending order.
inline std::vector<std::filesystem::path> list_entries(const std::filesystem::path& folder,
                                                       std::string_view prefix = "") {
  std::vector<std::filesystem::path> entries;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().starts_with(prefix)) entries.push_back(entry.path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace rankloom
