// SPDX-License-Identifier: Apache-2.0
// core/system: a directory into which a command writes several files. It replaces and removes only files that an
// earlier command wrote, which the file `.rankloom` in the directory lists.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/descriptor.hpp"

namespace rankloom {

struct OutputFile {
  std::string name;  ///< Relative to the directory.
  std::string content;
};

/// The object locks the directory against other rankloom commands.
class OutputDirectory {
 public:
  enum class Existing : std::uint8_t {
    own,  ///< Replace only what rankloom wrote.
    all,  ///< Replace other files too: --force.
  };

  /// Creates the directory, unless it exists.
  static Result<OutputDirectory> open(const std::string& path, Existing existing);
  OutputDirectory(OutputDirectory&&) = default;
  OutputDirectory& operator=(OutputDirectory&&) = default;
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;
  /// Removes the list again if it is empty, and the directory if open() created it and it is empty.
  ~OutputDirectory();

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const;

  /// Whether this file exists and rankloom wrote it. A file that write() wrote must be unchanged.
  bool owns(const std::string& name) const;
  /// The names of all files that were written or reserved, by this command or by earlier ones.
  std::vector<std::string> listed() const;

  /// Lists files that this command or its child processes will write with any content. Fails if one of them exists and
  /// may not be replaced.
  Result<void> reserve(const std::vector<std::string>& names);
  /// Writes files. Fails before the first one if one of them exists and may not be replaced.
  Result<void> write(const std::vector<OutputFile>& files);
  /// Removes a file that rankloom wrote.
  void remove(const std::string& name) const;

 private:
  OutputDirectory(std::string path, Existing existing) : path_(std::move(path)), existing_(existing) {}
  Result<void> read_list();
  Result<void> check(const std::string& name) const;
  Result<void> append(const std::vector<std::pair<std::string, std::string>>& entries);

  std::string path_;
  Existing existing_ = Existing::own;
  bool created_ = false;
  Descriptor list_;                                     ///< Locked.
  std::map<std::string, std::set<std::string>> files_;  ///< The SHA-256 of the contents by name; "-" is any content.
};

}  // namespace rankloom
