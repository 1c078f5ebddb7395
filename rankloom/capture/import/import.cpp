// SPDX-License-Identifier: Apache-2.0
// capture/import: finds the file that a path stands for, recognises its format and reads it. A trace of several files
// may be named by its directory or by the common prefix of its file names.
#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/record/reading/recorded_jobs.hpp"
#include "rankloom/core/system/process.hpp"
#include "rankloom/core/text/scanner.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;

/// The suffixes of main files, of the chosen format or of all formats.
std::vector<std::string_view> main_file_suffixes(const FormatInfo* chosen) {
  std::vector<std::string_view> suffixes;
  for (const FormatInfo& format : formats()) {
    if (!format.main_file_suffix.empty() && (chosen == nullptr || chosen == &format))
      suffixes.push_back(format.main_file_suffix);
  }
  return suffixes;
}

std::vector<std::string> traces_in(const fs::path& directory, const std::vector<std::string_view>& suffixes) {
  std::vector<std::string> traces;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool is_main =
        std::any_of(suffixes.begin(), suffixes.end(), [&](std::string_view suffix) { return name.ends_with(suffix); });
    if (is_main && at->is_regular_file(error)) traces.push_back((directory / name).string());
  }
  std::sort(traces.begin(), traces.end());
  return traces;
}

/// The path itself if it is a file or no trace was found: reading it reports the error.
Result<std::string> trace_file(const std::string& path, const FormatInfo* chosen) {
  std::error_code ignored;
  if (path == "-" || (fs::exists(path, ignored) && !fs::is_directory(path, ignored))) return path;
  const auto suffixes = main_file_suffixes(chosen);
  const auto traces = traces_in(path, suffixes);
  if (traces.size() > 1) {
    constexpr std::size_t shown = 5;
    const std::vector<std::string> some(traces.begin(), traces.begin() + std::min(traces.size(), shown));
    return fail(Code::bad_input, at(path),
                fmt::format("the directory contains {} traces: {}{}", traces.size(), fmt::join(some, ", "),
                            traces.size() > shown ? ", …" : ""),
                "name one of them");
  }
  if (!traces.empty()) return traces.front();
  for (const std::string_view suffix : suffixes) {
    if (fs::is_regular_file(path + std::string(suffix), ignored)) return path + std::string(suffix);
  }
  return path;
}

/// A file that begins with a line of numbers but fits no format has an error in it. The number of columns tells the
/// most likely format, whose reader reports where the error is.
const FormatInfo* guess_numeric_format(Scanner in) {
  std::size_t columns = 0;
  for (in.skip_blanks(); !in.at_line_end(); in.skip_blanks(), ++columns) {
    double ignored = 0;
    if (!in.take_number(ignored)) return nullptr;
  }
  if (columns < 2) return nullptr;
  return find_format(columns == 3 || columns == 4 || columns == 6 ? "pairs" : "dense");
}

Failure several_jobs(const std::string& path, const std::vector<RecordedJob>& jobs) {
  constexpr std::size_t shown = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(jobs.size(), shown); ++i)
    list += fmt::format("{}{} ({} of {} ranks: {})", i > 0 ? ", " : "", jobs[i].program, jobs[i].files.size(),
                        jobs[i].ranks, jobs[i].prefix());
  return fail(
      Code::bad_input, at(path),
      fmt::format("{} MPI programs were recorded here: {}{}", jobs.size(), list, jobs.size() > shown ? ", …" : ""),
      fmt::format("import them one by one: rankloom import {} -o FILE", shell_quote(jobs.front().prefix())));
}

/// The result of a reader, whose profile may contradict itself or have amounts that are too large together.
Result<Imported> valid(Result<Imported> imported, std::string_view file) {
  if (!imported || imported->checked) return imported;
  if (auto checked = check_profile(imported->profile, file); !checked) return propagate(checked);
  return imported;
}

}  // namespace

Result<Imported> import_profile(const FileContents& file, std::string_view format) {
  auto choice = parse_format(format);
  if (!choice) return propagate(choice);
  Scanner in(file.view());
  in.skip_space();
  if (in.done()) {
    return fail(Code::bad_input, at(file.name()), "the file is empty", "check the program that writes the file");
  }
  if (choice->format != nullptr) return valid(choice->format->read(file, choice->options), file.name());
  for (const FormatInfo& candidate : formats()) {
    if (candidate.recognise(file.view())) return valid(candidate.read(file, {}), file.name());
  }
  if (const FormatInfo* const guess = guess_numeric_format(in)) {
    if (auto read = guess->read(file, {}); !read) {
      Error error = std::move(read).error();
      error.hint += fmt::format(" (read as {}; choose another format with --from)", guess->name);
      return Failure(std::move(error));
    }
  }
  return fail(Code::bad_input, at(file.name(), in.line()),
              fmt::format("the format is not recognised: the file begins with \"{}\"", in.token_for_message()),
              fmt::format("choose the format with --from: {}", format_names()));
}

Result<Imported> import_path(const std::string& path, std::string_view format) {
  auto choice = parse_format(format);
  if (!choice) return propagate(choice);
  auto name = trace_file(path, choice->format);
  if (!name) return propagate(name);
  std::error_code ignored;
  const bool may_be_pieces = choice->format == nullptr || choice->format->name == "recording";
  if (*name == path && path != "-" && may_be_pieces && !fs::is_regular_file(path, ignored)) {
    const auto jobs = find_recorded_jobs(path);
    if (jobs.size() == 1) return valid(read_recorded_job(jobs.front()), path);
    if (!jobs.empty()) return several_jobs(path, jobs);
  }
  if (*name == path && fs::is_directory(path, ignored)) {
    const auto files = find_rank_files(path, choice->format);
    if (!files.empty()) return valid(read_rank_files(path, files, choice->format), path);
  }
  auto file = read_file(*name);
  if (!file) return propagate(file);
  return import_profile(*file, format);
}

}  // namespace rankloom
