// SPDX-License-Identifier: Apache-2.0
// core/system: writes complete files.
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "rankloom/core/system/descriptor.hpp"
#include "rankloom/core/system/file.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;
using Fill = std::function<Result<void>(Sink&)>;
using Stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

constexpr const char* use_another_directory = "free some space, or write to another directory";

/// The reason is in errno.
Failure write_failure(const std::string& path, const std::string& what, const std::string& hint) {
  return fail(Code::environment, at(path), fmt::format("{}: {}", what, std::strerror(errno)), hint);
}

/// Calls `fill` and checks that every byte was written.
Result<void> write_stream(std::FILE* stream, const std::string& name, const Fill& fill) {
  Sink sink(stream);
  errno = 0;
  if (auto done = fill(sink); !done) return done;
  if (std::fflush(stream) == 0 && !sink.failed()) return {};
  return write_failure(name, "cannot be written", use_another_directory);
}

/// Devices and pipes are written directly, because a rename would replace them by a file.
Result<void> write_device(const std::string& path, const Fill& fill) {
  const Stream device(std::fopen(path.c_str(), "wb"), std::fclose);
  if (!device) return write_failure(path, "cannot be opened for writing", "check its permissions");
  return write_stream(device.get(), path, fill);
}

/// The file that a name leads to through symbolic links. It need not exist.
Result<fs::path> follow_links(const std::string& path) {
  constexpr int max_links = 40;  // as in Linux
  fs::path target(path);
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, error)); ++links) {
    if (links == max_links) return fail(Code::usage, at(path), "its symbolic links form a loop", "remove the link");
    target = target.parent_path() / fs::read_symlink(target, error);
  }
  return target;
}

/// A file next to the target that gets the target's name when it is complete. Its writer locks it until then, so that
/// an unlocked one is the leftover of a killed process. The name contains the host, because locks of some shared file
/// systems are not visible on other hosts.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target)
      : target_(target), directory_(target.has_parent_path() ? target.parent_path() : fs::path(".")) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (file_.is_open()) ::unlink(path_.c_str());
  }

  /// False with errno if no file can be created.
  bool create(mode_t mode) {
    constexpr int max_attempts = 1000;
    int number = 0;
    for (int attempt = 0; attempt < max_attempts; ++attempt) {
      path_ = name(number);
      Descriptor file(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
      if (file.is_open()) {
        const LockResult lock = try_lock(file);
        // Another process may have taken the file for a leftover before it was locked.
        if (lock == LockResult::held || !is_name_of(path_.c_str(), file)) continue;
        file_ = std::move(file);
        while (remove_leftover(name(++number))) {
        }
        return true;
      }
      if (errno != EEXIST) return false;
      if (!remove_leftover(path_)) ++number;
    }
    errno = EEXIST;
    return false;
  }

  const Descriptor& file() const { return file_; }

  /// Gives the file the target's name, and writes the directory to the disk. False with errno.
  bool rename() {
    if (::rename(path_.c_str(), target_.c_str()) != 0) return false;
    file_.close();
    const Descriptor directory(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return !directory.is_open() || ::fsync(directory.number()) == 0 || errno != EIO;
  }

 private:
  std::string name(int number) const {
    constexpr std::size_t max_length = 200;  // of 255
    return (directory_ / fmt::format(".{}.rankloom-{:08x}-{}", target_.filename().string().substr(0, max_length),
                                     std::hash<std::string>()(locking_host()) & 0xffffffff, number))
        .string();
  }

  /// Removes the temporary file of a process that has ended.
  static bool remove_leftover(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!file.is_open() || ::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
    return status.st_uid == ::geteuid() && try_lock(file) == LockResult::locked && is_name_of(path.c_str(), file) &&
           ::unlink(path.c_str()) == 0;
  }

  fs::path target_, directory_;
  std::string path_;
  Descriptor file_;
};

/// Gives the new file the owner, the access control list and the permissions of the file that it replaces.
void copy_permissions(const std::string& from, const struct stat& status, const Descriptor& to) {
  mode_t mode = status.st_mode & 07777;
  if (::fchown(to.number(), status.st_uid, status.st_gid) != 0) {
    mode &= ~static_cast<mode_t>(S_ISUID | S_ISGID);
    // Only root can give files away. If the group is another one too, it gets no more than all users.
    if (::fchown(to.number(), static_cast<uid_t>(-1), status.st_gid) != 0)
      mode = (mode & ~static_cast<mode_t>(S_IRWXG)) | ((mode & S_IRWXO) << 3U);
  }
  ::fchmod(to.number(), mode);
  constexpr const char* access_list = "system.posix_acl_access";
  std::array<char, 4096> list{};
  const ssize_t size = ::getxattr(from.c_str(), access_list, list.data(), list.size());
  if (size > 0) ::fsetxattr(to.number(), access_list, list.data(), static_cast<std::size_t>(size), 0);
}

Result<void> write_and_rename(const std::string& path, const fs::path& target, const Fill& fill) {
  struct stat old {};
  const bool replaces = ::stat(target.c_str(), &old) == 0;
  if (replaces && ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0)
    return write_failure(path, "cannot be replaced", "choose another file, or allow to write to it: chmod u+w");
  constexpr mode_t default_mode = 0666;  // less the umask
  TemporaryFile temporary(target);
  if (!temporary.create(replaces ? S_IRUSR | S_IWUSR : default_mode))
    return write_failure(path, "cannot be created", "check the permissions of the directory, and its free space");
  const int copy = ::fcntl(temporary.file().number(), F_DUPFD_CLOEXEC, 0);
  Stream stream(copy >= 0 ? ::fdopen(copy, "wb") : nullptr, std::fclose);
  if (!stream) {
    auto failed = write_failure(path, "cannot be written", "close other files");
    if (copy >= 0) ::close(copy);
    return failed;
  }
  if (auto done = write_stream(stream.get(), path, fill); !done) return done;
  if (std::fclose(stream.release()) != 0 || ::fsync(temporary.file().number()) != 0)
    return write_failure(path, "cannot be written", use_another_directory);
  if (replaces) copy_permissions(target, old, temporary.file());
  if (!temporary.rename()) return write_failure(path, "cannot be replaced", "check its permissions");
  return {};
}

}  // namespace

Result<void> write_file(const std::string& path, const std::function<Result<void>(Sink&)>& fill) {
  if (path == "-") return write_stream(stdout, "standard output", fill);
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status))
    return fail(Code::usage, at(path), "is a directory, not a file", "name the file to write inside it");
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_device(path, fill);
  auto target = follow_links(path);
  if (!target) return propagate(target);
  const fs::path directory = target->has_parent_path() ? target->parent_path() : fs::path(".");
  if (!fs::is_directory(directory, ignored)) {
    return fail(Code::usage, at(path), fmt::format("the directory {} does not exist", directory.string()),
                fmt::format("mkdir -p '{}'", directory.string()));
  }
  return write_and_rename(path, *target, fill);
}

Result<void> write_file(const std::string& path, std::string_view content) {
  return write_file(path, [content](Sink& sink) -> Result<void> {
    sink.write(content);
    return {};
  });
}

}  // namespace rankloom
