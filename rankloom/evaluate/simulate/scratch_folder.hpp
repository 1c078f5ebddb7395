// SPDX-License-Identifier: Apache-2.0
// evaluate: a folder for files that nobody wants to keep; it goes with the value.
#pragma once

#include <string>

#include "rankloom/core/result.hpp"

namespace rankloom {

class ScratchFolder {
 public:
  /// In the system's folder for temporary files.
  static Result<ScratchFolder> make();
  ~ScratchFolder();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace rankloom
