// SPDX-License-Identifier: Apache-2.0
// core/system: reads complete files.
#include "rankloom/core/system/file.hpp"

#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/system/descriptor.hpp"
#include "rankloom/core/system/memory.hpp"

namespace rankloom {

namespace {

Failure system_failure(const std::string& path, const std::string& what, const std::string& hint) {
  return fail(Code::environment, at(path), fmt::format("{}: {}", what, std::strerror(errno)), hint);
}

/// Fills `out`; fewer bytes at the end of the file. `read_some(rest, done)` is read() or pread(). Returns the number of
/// bytes.
template <class ReadSome>
Result<std::size_t> read_bytes(const std::string& name, std::span<char> out, const ReadSome& read_some) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = read_some(out.subspan(done), done);
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
    auto got = read_bytes(name, std::span(content).subspan(before), [&](std::span<char> rest, std::size_t) {
      return ::read(descriptor, rest.data(), rest.size());
    });
    if (!got) return propagate(got);
    content.resize(before + *got);
    if (*got < room) return content;
  }
}

/// The content of a file with a size, fewer bytes if another program shortens it meanwhile. Large files are copied by
/// several threads.
Result<Array<char>> read_regular_file(int descriptor, const std::string& name, std::size_t size) {
  if (auto fits = check_content_fits(name, size); !fits) return propagate(fits);
  constexpr std::size_t chunk = std::size_t{8} << 20;
  Array<char> content(size);
  std::vector<Result<std::size_t>> sizes((size + chunk - 1) / chunk, std::size_t{0});
  parallel_chunks(size, chunk, [&](std::size_t begin, std::size_t end) {
    const auto part = std::span(content).subspan(begin, end - begin);
    sizes[begin / chunk] = read_bytes(name, part, [&](std::span<char> rest, std::size_t done) {
      return ::pread(descriptor, rest.data(), rest.size(), static_cast<off_t>(begin + done));
    });
  });
  std::size_t done = 0;
  for (auto& got : sizes) {
    if (!got) return propagate(got);
    done += *got;
    if (*got < chunk) break;
  }
  content.resize(done);
  return content;
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

FileContents::FileContents(std::string name, Array<char> content) : name_(std::move(name)) {
  auto owner = std::make_shared<const Array<char>>(std::move(content));
  view_ = {owner->data(), owner->size()};
  owner_ = std::move(owner);
}

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
  // Files in /proc have no size; the part of standard input that is left may be shorter than its file.
  if (standard_input || !S_ISREG(status.st_mode) || status.st_size == 0) {
    auto content = read_stream(file.number(), name);
    if (!content) return propagate(content);
    return FileContents(name, std::move(*content));
  }
  auto content = read_regular_file(file.number(), name, static_cast<std::size_t>(status.st_size));
  if (!content) return propagate(content);
  return FileContents(name, std::move(*content));
}

}  // namespace rankloom
