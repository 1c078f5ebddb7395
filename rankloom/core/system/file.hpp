// SPDX-License-Identifier: Apache-2.0
// core/system: reads and writes complete files. Reading copies the file into memory: a mapped file that another program
// shortens would end this program by SIGBUS. Writing goes to a temporary file next to the target, which is renamed at
// the end, so that readers never see a partly written file.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "rankloom/core/array.hpp"
#include "rankloom/core/result.hpp"

namespace rankloom {

/// The content of one file; copies share the memory. It does not end with a zero.
class FileContents {
 public:
  FileContents(std::string name, std::string content);

  const std::string& name() const { return name_; }
  std::string_view view() const { return view_; }

 private:
  friend Result<FileContents> read_file(const std::string& path);
  FileContents(std::string name, Array<char> content);
  std::string name_;
  std::shared_ptr<const void> owner_;
  std::string_view view_;
};

/// "-" is standard input. Pipes and terminals work. A directory, a device, a missing or unreadable file, and content
/// that does not fit into memory are errors with a remedy.
Result<FileContents> read_file(const std::string& path);

/// The stream that writers fill; remembers whether a write failed.
class Sink {
 public:
  explicit Sink(std::FILE* file) : file_(file) {}
  void write(std::string_view bytes) {
    if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) failed_ = true;
  }
  bool failed() const { return failed_; }

 private:
  std::FILE* file_;
  bool failed_ = false;
};

/// Calls `fill` with a sink, then moves the complete file to `path` and waits until it is on the disk. On failure the
/// old file is unchanged. A replaced file keeps its permissions and its owner; symbolic links are followed. If the
/// process is killed, the next write to the same path removes its temporary file. "-" is standard output.
Result<void> write_file(const std::string& path, const std::function<Result<void>(Sink&)>& fill);
Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace rankloom
