// SPDX-License-Identifier: Apache-2.0
// evaluate: a folder for files that nobody wants to keep.
#include "rankloom/evaluate/simulate/scratch_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

namespace rankloom {

namespace {

namespace fs = std::filesystem;

constexpr const char* prefix = "rankloom-simulate-";

/// A file that is locked until its descriptor is closed, by us or by our end. It gets its name when it is locked, so
/// that nobody finds it unlocked before.
int lock_in(const fs::path& folder) {
  const fs::path nameless = folder / "lock.new";
  const int file = ::open(nameless.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return -1;
  std::error_code error;
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) fs::rename(nameless, folder / "lock", error);
  return file;
}

/// Folders whose lock nobody holds.
void remove_abandoned(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    if (!at->path().filename().string().starts_with(prefix)) continue;
    const int file = ::open((at->path() / "lock").c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) continue;
    std::error_code ignored;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) fs::remove_all(at->path(), ignored);
    ::close(file);
  }
}

}  // namespace

Result<ScratchFolder> ScratchFolder::make() {
  std::error_code error;
  fs::path parent = fs::temp_directory_path(error);
  if (error) parent = "/tmp";
  remove_abandoned(parent);
  std::string pattern = (parent / fmt::format("{}XXXXXX", prefix)).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    return fail(Code::environment, at(pattern), fmt::format("no folder can be made here: {}", std::strerror(errno)),
                "set TMPDIR to a folder with room");
  }
  const int lock = lock_in(pattern);
  return ScratchFolder(std::move(pattern), lock);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace rankloom
