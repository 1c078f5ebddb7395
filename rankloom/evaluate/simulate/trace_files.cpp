// SPDX-License-Identifier: Apache-2.0
// evaluate: the files of a recorded trace.
#include "rankloom/evaluate/simulate/trace_files.hpp"

#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include "rankloom/core/system/file.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;

/// As the importer finds them: beside the list, as they are named, or, of a trace that was moved, by their last name.
std::string find_listed(const fs::path& list, const std::string& name) {
  std::error_code ignored;
  for (const fs::path& candidate :
       {list.parent_path() / name, fs::path(name), list.parent_path() / fs::path(name).filename()}) {
    if (fs::exists(candidate, ignored)) return fs::absolute(candidate, ignored).string();
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> trace_files(const std::string& path, std::uint32_t ranks) {
  std::error_code ignored;
  const fs::path list = fs::is_directory(path, ignored) ? fs::path(path) / "smpi_simgrid.txt" : fs::path(path);
  auto text = read_file(list.string());
  if (!text) return propagate(text);
  // Lines of a trace begin with the number of a rank and go on; those of a list are names of files.
  const std::string_view first = text->view().substr(0, text->view().find('\n'));
  const std::string_view number = first.substr(first.starts_with('p') ? 1 : 0);
  if (!number.empty() && std::isdigit(static_cast<unsigned char>(number[0])) != 0 &&
      first.find(' ') != std::string_view::npos) {
    return std::vector<std::string>(ranks, fs::absolute(list, ignored).string());
  }
  std::vector<std::string> files;
  std::uint64_t line_number = 0;
  for (std::string_view rest = text->view(); !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++line_number;
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.remove_suffix(1);
    if (line.empty()) continue;
    files.push_back(find_listed(list, std::string(line)));
    if (files.back().empty()) {
      return fail(Code::bad_input, at(list.string(), line_number), fmt::format("there is no file {}", line),
                  "the list names a file for each rank; copy them along with it");
    }
  }
  if (files.size() != ranks) {
    return fail(Code::bad_input, at(list.string()),
                fmt::format("it lists {} files, and the program has {} ranks", files.size(), ranks),
                "is it the trace of this program?");
  }
  return files;
}

}  // namespace rankloom
