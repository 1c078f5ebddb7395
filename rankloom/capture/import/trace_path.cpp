// SPDX-License-Identifier: Apache-2.0
// capture: from what a user names to the file that stands for it: a trace of many files may be named by its folder, or
// by what the names of its files begin with.
#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/capture/import/import.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;

/// How the files are named that stand for a trace, of the chosen format or of any.
std::vector<std::string_view> first_files(const FormatInfo* chosen) {
  std::vector<std::string_view> endings;
  for (const FormatInfo& format : formats()) {
    if (!format.first_file.empty() && (chosen == nullptr || chosen == &format)) endings.push_back(format.first_file);
  }
  return endings;
}

std::vector<std::string> traces_in(const fs::path& folder, const std::vector<std::string_view>& endings) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool first =
        std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
    if (first && at->is_regular_file(error)) found.push_back((folder / name).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The path itself when it is a file, or nothing better was found: reading it then says what is wrong.
Result<std::string> trace_file(const std::string& path, const FormatInfo* chosen) {
  std::error_code ignored;
  if (path == "-" || (fs::exists(path, ignored) && !fs::is_directory(path, ignored))) return path;
  const auto endings = first_files(chosen);
  const auto found = traces_in(path, endings);
  if (found.size() > 1) {
    constexpr std::size_t shown = 5;
    const std::vector<std::string> some(found.begin(), found.begin() + std::min(found.size(), shown));
    return fail(Code::bad_input, at(path),
                fmt::format("the folder holds {} traces: {}{}", found.size(), fmt::join(some, ", "),
                            found.size() > shown ? ", …" : ""),
                "name one of them");
  }
  if (!found.empty()) return found.front();
  for (const std::string_view ending : endings) {
    if (fs::is_regular_file(path + std::string(ending), ignored)) return path + std::string(ending);
  }
  return path;
}

}  // namespace

Result<Imported> import_path(const std::string& path, std::string_view format) {
  auto choice = parse_format(format);
  if (!choice) return propagate(choice);
  auto name = trace_file(path, choice->format);
  if (!name) return propagate(name);
  auto file = read_file(*name);
  if (!file) return propagate(file);
  return import_profile(*file, format);
}

}  // namespace rankloom
