// SPDX-License-Identifier: Apache-2.0
// core/system: directories for temporary files.
#include "rankloom/core/system/temporary_directory.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

namespace rankloom {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view random_suffix = "XXXXXX";  // of mkdtemp
constexpr const char* lock_name = "lock";

/// The content of the lock file.
std::string lock_text() {
  return fmt::format("temporary directory of rankloom on {}\n", locking_host());
}

bool has_form(std::string_view name, std::string_view prefix) {
  return name.size() == prefix.size() + random_suffix.size() && name.starts_with(prefix) &&
         std::all_of(name.end() - random_suffix.size(), name.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
}

/// Removes the lock file last: as long as there is content, the next process can find out whose it is.
void remove_with_lock(const fs::path& directory) {
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().filename() != lock_name) fs::remove_all(entry->path(), ignored);
  }
  fs::remove_all(directory, error);
}

/// Removes the directory if this user's processes created it on this host and have ended: its lock file says who
/// created it and is not locked. A process may have been killed before it wrote the lock file; then the directory is
/// empty.
void remove_if_abandoned(const fs::path& directory) {
  struct stat status {};
  if (::lstat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid()) return;
  const fs::path lock = directory / lock_name;
  const Descriptor file(::open(lock.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) {
    if (errno == ENOENT) ::rmdir(directory.c_str());  // only an empty directory
    return;
  }
  if (::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) return;
  if (try_lock(file) != LockResult::locked || !is_name_of(lock.c_str(), file)) return;
  std::array<char, 512> content{};
  const ssize_t size = ::read(file.number(), content.data(), content.size());
  std::error_code error;
  if (size > 0 && std::string_view(content.data(), static_cast<std::size_t>(size)) == lock_text()) {
    remove_with_lock(directory);
  } else if (size == 0 && ++fs::directory_iterator(directory, error) == fs::directory_iterator()) {
    if (::unlink(lock.c_str()) == 0) ::rmdir(directory.c_str());
  }
}

}  // namespace

void TemporaryDirectory::remove_abandoned(const std::string& parent, std::string_view prefix) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error))
    if (has_form(entry->path().filename().string(), prefix)) remove_if_abandoned(entry->path());
}

Result<TemporaryDirectory> TemporaryDirectory::make() {
  std::error_code error;
  fs::path parent = fs::temp_directory_path(error);
  if (error) parent = "/tmp";
  auto made = make(parent.string(), "rankloom-temporary-");
  if (!made) made.error().hint = "set TMPDIR to a directory with free space";
  return made;
}

Result<TemporaryDirectory> TemporaryDirectory::make(const std::string& parent, std::string_view prefix) {
  remove_abandoned(parent, prefix);
  const std::string text = lock_text();
  constexpr int max_attempts = 100;
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    std::string path = (fs::path(parent) / fmt::format("{}{}", prefix, random_suffix)).string();
    if (::mkdtemp(path.data()) == nullptr) break;
    const std::string lock = fmt::format("{}/{}", path, lock_name);
    Descriptor file(::open(lock.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (file.is_open()) {
      const bool is_held = try_lock(file) == LockResult::held;
      const bool written = ::write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
      if (!is_held && written && is_name_of(lock.c_str(), file))
        return TemporaryDirectory(std::move(path), std::move(file));
      if (!written) {
        const int reason = errno;
        ::unlink(lock.c_str());
        ::rmdir(path.c_str());
        errno = reason;
        break;
      }
    } else if (errno != ENOENT) {
      break;
    }
    // Another process took the directory for an abandoned one before it was locked.
  }
  return fail(Code::environment, at(parent),
              fmt::format("a temporary directory cannot be created here: {}", std::strerror(errno)),
              "choose a directory that can be written and has free space");
}

TemporaryDirectory::~TemporaryDirectory() {
  if (!path_.empty()) remove_with_lock(path_);
}

}  // namespace rankloom
