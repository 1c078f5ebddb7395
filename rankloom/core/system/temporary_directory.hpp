// SPDX-License-Identifier: Apache-2.0
// core/system: a directory for temporary files that is removed together with the object.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/descriptor.hpp"

namespace rankloom {

/// The object locks a file in its directory. Directories of killed processes are not locked; the next make() with the
/// same parent and prefix removes them if they belong to this user and to this host.
class TemporaryDirectory {
 public:
  /// Creates a directory in TMPDIR or /tmp.
  static Result<TemporaryDirectory> make();
  /// Creates a directory with this prefix in `parent`.
  static Result<TemporaryDirectory> make(const std::string& parent, std::string_view prefix);
  /// What make() does first.
  static void remove_abandoned(const std::string& parent, std::string_view prefix);
  ~TemporaryDirectory();
  TemporaryDirectory(TemporaryDirectory&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  TemporaryDirectory(std::string path, Descriptor lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  Descriptor lock_;
};

}  // namespace rankloom
