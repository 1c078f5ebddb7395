// SPDX-License-Identifier: Apache-2.0
// core/system: directories for several output files. The list is only appended to, and a file is listed before it is
// written, so that a command that continues after a killed one finds every file of it.
#include "rankloom/core/system/output_directory.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/sha256.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;

constexpr const char* list_name = ".rankloom";
constexpr std::string_view list_heading =
    "rankloom 1: the files in this directory that rankloom wrote and may replace, with the SHA-256 of their contents\n";
constexpr const char* any_content = "-";

Failure directory_failure(const std::string& path, const char* what) {
  return fail(Code::environment, at(path), fmt::format("{}: {}", what, std::strerror(errno)),
              "choose a directory that can be written and has free space");
}

/// Short commands wait for each other.
LockResult lock_patiently(const Descriptor& file) {
  constexpr int max_attempts = 50;
  LockResult lock = try_lock(file);
  for (int attempt = 0; attempt < max_attempts && lock == LockResult::held; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    lock = try_lock(file);
  }
  return lock;
}

}  // namespace

Result<OutputDirectory> OutputDirectory::open(const std::string& path, Existing existing) {
  OutputDirectory directory(path, existing);
  std::error_code error;
  directory.created_ = fs::create_directories(path, error);
  if (error || !fs::is_directory(path, error)) {
    return fail(Code::environment, at(path),
                fmt::format("this directory cannot be created: {}", error ? error.message() : "a file has this name"),
                "choose a directory that can be written");
  }
  const std::string list = directory.file(list_name);
  while (true) {
    directory.list_ =
        Descriptor(::open(list.c_str(), O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
    if (!directory.list_.is_open()) return directory_failure(path, "files cannot be created in this directory");
    if (lock_patiently(directory.list_) == LockResult::held) {
      directory.list_.close();
      return fail(Code::environment, at(path), "another rankloom command is writing to this directory",
                  "wait until it has ended, or choose another directory");
    }
    if (is_name_of(list.c_str(), directory.list_)) break;  // another command may have removed its empty list
  }
  if (auto read = directory.read_list(); !read) return propagate(read);
  return directory;
}

OutputDirectory::~OutputDirectory() {
  if (!list_.is_open()) return;
  struct stat status {};
  if (::fstat(list_.number(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
    ::unlink(file(list_name).c_str());
  if (created_) ::rmdir(path_.c_str());  // only if it is empty
}

std::string OutputDirectory::file(const std::string& name) const {
  return (fs::path(path_) / name).string();
}

Result<void> OutputDirectory::read_list() {
  const auto not_a_list = [&] {
    return fail(Code::usage, at(file(list_name)), "this file should list the files that rankloom wrote, but does not",
                "choose another directory, or move the file away");
  };
  struct stat status {};
  if (::fstat(list_.number(), &status) != 0 || !S_ISREG(status.st_mode)) return not_a_list();
  auto text = read_file(file(list_name));
  if (!text) return propagate(text);
  std::string_view rest = text->view();
  if (rest.empty()) return {};
  // The process may have been killed while it wrote the heading.
  if (list_heading.starts_with(rest)) {
    if (::ftruncate(list_.number(), rest.size() == list_heading.size() ? static_cast<off_t>(rest.size()) : 0) != 0)
      return directory_failure(path_, "cannot be written");
    return {};
  }
  if (!rest.starts_with(list_heading)) return not_a_list();
  rest.remove_prefix(list_heading.size());
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const std::string_view line = rest.substr(0, end);
    const std::size_t blank = line.find(' ');
    if (blank != std::string_view::npos) files_[std::string(line.substr(blank + 1))].emplace(line.substr(0, blank));
    rest.remove_prefix(end + 1);
  }
  // A killed process may have written a part of the last line.
  if (!rest.empty() && ::ftruncate(list_.number(), static_cast<off_t>(text->view().size() - rest.size())) != 0)
    return directory_failure(path_, "cannot be written");
  return {};
}

bool OutputDirectory::owns(const std::string& name) const {
  const auto listed = files_.find(name);
  std::error_code error;
  const fs::file_status status = fs::symlink_status(file(name), error);
  if (listed == files_.end() || !fs::is_regular_file(status)) return false;
  if (listed->second.contains(any_content)) return true;
  const auto content = read_file(file(name));
  return content && listed->second.contains(sha256(content->view()));
}

std::vector<std::string> OutputDirectory::listed() const {
  std::vector<std::string> names;
  for (const auto& [name, contents] : files_) names.push_back(name);
  return names;
}

Result<void> OutputDirectory::check(const std::string& name) const {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(file(name), error);
  if (!fs::exists(status) || owns(name)) return {};
  if (existing_ == Existing::all && !fs::is_directory(status)) return {};
  return fail(Code::usage, at(file(name)),
              fs::is_directory(status) ? "a directory has the name of an output file"
              : files_.contains(name)  ? "this file was changed after rankloom wrote it"
                                       : "this file exists already, and rankloom did not write it",
              fs::is_directory(status) ? "choose another directory"
                                       : "choose another directory, or replace the file with --force");
}

Result<void> OutputDirectory::append(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string lines;
  for (const auto& [name, content] : entries)
    if (files_[name].insert(content).second) lines += fmt::format("{} {}\n", content, name);
  struct stat status {};
  if (lines.empty() || ::fstat(list_.number(), &status) != 0) return {};
  if (status.st_size == 0) lines.insert(0, list_heading);
  const ssize_t written = ::write(list_.number(), lines.data(), lines.size());
  if (written == static_cast<ssize_t>(lines.size()) && ::fsync(list_.number()) == 0) return {};
  auto failed = directory_failure(file(list_name), "cannot be written");
  [[maybe_unused]] const int restored = ::ftruncate(list_.number(), status.st_size);
  return failed;
}

Result<void> OutputDirectory::reserve(const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const std::string& name : names) {
    if (auto replaceable = check(name); !replaceable) return replaceable;
    entries.emplace_back(name, any_content);
  }
  return append(entries);
}

Result<void> OutputDirectory::write(const std::vector<OutputFile>& files) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const OutputFile& output : files) {
    if (auto replaceable = check(output.name); !replaceable) return replaceable;
    entries.emplace_back(output.name, sha256(output.content));
  }
  if (auto appended = append(entries); !appended) return appended;
  for (const OutputFile& output : files)
    if (auto written = write_file(file(output.name), output.content); !written) return written;
  return {};
}

void OutputDirectory::remove(const std::string& name) const {
  std::error_code error;
  if (owns(name)) fs::remove(file(name), error);
}

}  // namespace rankloom
