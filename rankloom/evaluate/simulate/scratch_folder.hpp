// SPDX-License-Identifier: Apache-2.0
// evaluate: a folder for files that nobody wants to keep; it goes with the value.
#pragma once

#include <string>
#include <utility>

#include "rankloom/core/result.hpp"

namespace rankloom {

/// While it lives it holds a lock inside its folder; the folders of processes that were killed have none, and go when
/// the next one is made.
class ScratchFolder {
 public:
  /// In the system's folder for temporary files.
  static Result<ScratchFolder> make();
  ~ScratchFolder();
  ScratchFolder(ScratchFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  ScratchFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_ = -1;
};

}  // namespace rankloom
