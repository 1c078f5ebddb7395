// SPDX-License-Identifier: Apache-2.0
// core/system: reads complete files.
#include "rankloom/core/system/file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "rankloom/core/system/descriptor.hpp"
#include "rankloom/core/system/memory.hpp"

namespace rankloom {

namespace {

Failure system_failure(const std::string& path, const std::string& what, const std::string& hint) {
  return fail(Code::environment, at(path), fmt::format("{}: {}", what, std::strerror(errno)), hint);
}

/// Reads up to `size` bytes, fewer at the end of the file; returns their number.
Result<std::size_t> read_bytes(int descriptor, const std::string& name, char* out, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(descriptor, out + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure(name, "cannot be read", "check the disk, device or pipe");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Result<void> check_content_fits(const std::string& name, std::size_t bytes) {
  return check_memory(at(name), "the content", static_cast<double>(bytes), "give a smaller file");
}

/// The content of a pipe or terminal, whose size is unknown.
Result<std::string> read_stream(int descriptor, const std::string& name) {
  std::string content;
  for (std::size_t room = std::size_t{1} << 16;; room *= 2) {
    const std::size_t before = content.size();
    // Growing needs the old and the new memory at the same time.
    if (auto fits = check_content_fits(name, 2 * (before + room)); !fits) return propagate(fits);
    content.resize(before + room);
    auto got = read_bytes(descriptor, name, content.data() + before, room);
    if (!got) return propagate(got);
    content.resize(before + *got);
    if (*got < room) return content;
  }
}

bool is_null_device(const struct stat& status) {
  constexpr unsigned memory_devices = 1, null_device = 3;  // as in Linux's list of devices
  return major(status.st_rdev) == memory_devices && minor(status.st_rdev) == null_device;
}

}  // namespace

FileContents::FileContents(std::string name, std::string content) : name_(std::move(name)) {
  auto owner = std::make_shared<const std::string>(std::move(content));
  view_ = *owner;
  owner_ = std::move(owner);
}

FileContents::FileContents(std::string name, std::shared_ptr<const char[]> content, std::size_t size)
    : name_(std::move(name)), owner_(content), view_(content.get(), size) {}

Result<FileContents> read_file(const std::string& path) {
  const bool standard_input = path == "-";
  const Descriptor file(standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                       : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const std::string name = standard_input ? "standard input" : path;
  if (file.number() < 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return fail(Code::bad_input, at(name),
                missing ? "no such file" : fmt::format("cannot be opened: {}", std::strerror(errno)),
                missing ? "check the path" : "check its permissions");
  }
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) return system_failure(name, "cannot be examined", "check its permissions");
  if (S_ISDIR(status.st_mode))
    return fail(Code::bad_input, at(name), "is a directory, not a file", "name a file inside it");
  const bool endless =
      S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && ::isatty(file.number()) == 0 && !is_null_device(status));
  if (endless) return fail(Code::bad_input, at(name), "is a device, not a file", "name a file");
  if (!S_ISREG(status.st_mode) || status.st_size == 0) {  // files in /proc have no size
    auto content = read_stream(file.number(), name);
    if (!content) return propagate(content);
    return FileContents(name, std::move(*content));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (auto fits = check_content_fits(name, size); !fits) return propagate(fits);
  const std::shared_ptr<char[]> content(new char[size]);
  auto got = read_bytes(file.number(), name, content.get(), size);
  if (!got) return propagate(got);
  return FileContents(name, content, *got);
}

}  // namespace rankloom
