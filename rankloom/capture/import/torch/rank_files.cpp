// SPDX-License-Identifier: Apache-2.0
// capture/import/torch: the files of the ranks of a job, in a directory or in a list.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/text_reading.hpp"
#include "rankloom/capture/import/torch/group_calls.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t recognised_bytes = std::size_t{1} << 16;

bool is_rank_file_name(std::string_view name) {
  return name.ends_with(".json") || name.ends_with(".log");
}

/// The first bytes of a file; empty if it cannot be read.
std::string head_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(recognised_bytes, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return head;
}

/// The format with one file per rank that recognises the text.
const FormatInfo* find_rank_format(std::string_view text) {
  for (const FormatInfo& format : formats())
    if (format.make_rank_reader != nullptr && format.recognise(text)) return &format;
  return nullptr;
}

}  // namespace

std::vector<std::string> find_rank_files(const std::string& directory, const FormatInfo* format) {
  if (format != nullptr && format->make_rank_reader == nullptr) return {};
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const std::string path = at->path().string();
    if (!at->is_regular_file(ignored)) continue;
    if (format != nullptr ? is_rank_file_name(path) : find_rank_format(head_of(path)) != nullptr) files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<Imported> read_rank_files(const std::string& source, const std::vector<std::string>& paths,
                                 const FormatInfo* format) {
  std::unique_ptr<RankFileReader> reader;
  for (const std::string& path : paths) {
    auto file = read_file(path);
    if (!file) return propagate(file);
    const FormatInfo* const found = format != nullptr ? format : find_rank_format(file->view());
    if (reader == nullptr && found != nullptr) {
      format = found;
      reader = found->make_rank_reader();
    }
    if (reader == nullptr) {
      return fail(Code::bad_input, at(path), "the format of the file is not recognised",
                  "list traces of Chakra or Kineto, dumps of the Flight Recorder, or logs of NCCL");
    }
    if (!format->recognise(file->view())) {
      return fail(Code::bad_input, at(path),
                  fmt::format("this file is not in the format {} of the files before", format->name),
                  "keep the files of one format in one directory, or name the format with --from");
    }
    if (auto taken = reader->take(*file); !taken) return propagate(taken);
  }
  return reader->finish(source);
}

bool is_rank_list(std::string_view text) {
  constexpr int examined_lines = 8;
  Scanner in(text);
  int lines = 0;
  for (in.skip_space(); !in.done() && lines < examined_lines; in.skip_space(), ++lines) {
    if (!is_rank_file_name(in.take_token())) return false;
    in.skip_blanks();
    if (!in.at_line_end()) return false;
  }
  return lines > 0;
}

Result<Imported> read_rank_list(const FileContents& file) {
  const fs::path directory = fs::path(file.name()).parent_path();
  std::vector<std::string> paths;
  Scanner in(file.view());
  for (in.skip_space(); !in.done(); in.skip_space()) {
    const Scanner before = in;
    const std::string name(in.take_token());
    std::error_code ignored;
    const fs::path listed = directory / name;
    if (!is_rank_file_name(name) || !fs::is_regular_file(listed, ignored)) {
      return input_error(file, before, fmt::format("{} is not a file of a rank", before.token_for_message()),
                         "list one file per line, ending with .json or .log, relative to the directory of the list");
    }
    paths.push_back(listed.string());
  }
  return read_rank_files(file.name(), paths, nullptr);
}

}  // namespace rankloom
