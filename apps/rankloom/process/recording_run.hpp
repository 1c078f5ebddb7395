// SPDX-License-Identifier: Apache-2.0
// apps: what verbs share that put the recorder into the ranks of a program: where these leave what they count, and how
// that becomes a profile.
#pragma once

#include <filesystem>
#include <string>

#include "apps/rankloom/process/preload.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/profile.hpp"

namespace rankloom::app {

/// A folder of our own beside the output, gone in the end.
class WorkFolder {
 public:
  explicit WorkFolder(const std::filesystem::path& output);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  bool good() const { return !path_.empty(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// What the ranks gathered themselves in folder/recording, or else the pieces of those that could not.
Result<Profile> collect_recording(const std::filesystem::path& folder, const std::string& program, const Mpi& mpi);

}  // namespace rankloom::app
