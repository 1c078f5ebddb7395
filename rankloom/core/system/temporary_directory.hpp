// SPDX-License-Identifier: Apache-2.0
// core/system: a directory for temporary files that is removed together with the object.
#pragma once

#include <string>
#include <utility>

#include "rankloom/core/result.hpp"

namespace rankloom {

/// The object holds a lock on a file in its directory. Directories of killed processes are not locked; the next make()
/// removes them.
class TemporaryDirectory {
 public:
  /// Creates a directory in TMPDIR or /tmp.
  static Result<TemporaryDirectory> make();
  ~TemporaryDirectory();
  TemporaryDirectory(TemporaryDirectory&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  TemporaryDirectory(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_ = -1;
};

}  // namespace rankloom
