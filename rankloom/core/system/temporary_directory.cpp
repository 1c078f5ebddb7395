// SPDX-License-Identifier: Apache-2.0
// core/system: directories for temporary files.
#include "rankloom/core/system/temporary_directory.hpp"

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

constexpr const char* prefix = "rankloom-temporary-";

/// Creates a file that stays locked until the descriptor is closed or the process ends. The file gets its final name
/// after it is locked, so that no other process finds it unlocked.
int lock_in(const fs::path& directory) {
  const fs::path unlocked_name = directory / "lock.new";
  const int file = ::open(unlocked_name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return -1;
  std::error_code error;
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) fs::rename(unlocked_name, directory / "lock", error);
  return file;
}

/// Removes directories whose lock is free.
void remove_abandoned(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->path().filename().string().starts_with(prefix)) continue;
    const int file = ::open((entry->path() / "lock").c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) continue;
    std::error_code ignored;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry->path(), ignored);
    ::close(file);
  }
}

}  // namespace

Result<TemporaryDirectory> TemporaryDirectory::make() {
  std::error_code error;
  fs::path parent = fs::temp_directory_path(error);
  if (error) parent = "/tmp";
  remove_abandoned(parent);
  std::string pattern = (parent / fmt::format("{}XXXXXX", prefix)).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    return fail(Code::environment, at(pattern), fmt::format("cannot create a directory: {}", std::strerror(errno)),
                "set TMPDIR to a directory with free space");
  }
  const int lock = lock_in(pattern);
  return TemporaryDirectory(std::move(pattern), lock);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace rankloom
