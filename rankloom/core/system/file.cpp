// SPDX-License-Identifier: Apache-2.0
// core/system: reads complete files.
#include "rankloom/core/system/file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rankloom/core/system/descriptor.hpp"

namespace rankloom {

namespace {

Failure system_failure(const std::string& path, const std::string& what, const std::string& hint) {
  return fail(Code::environment, at(path), fmt::format("{}: {}", what, std::strerror(errno)), hint);
}

Result<std::string> read_stream(int descriptor, const std::string& path) {
  std::string content;
  std::string block(1 << 16, '\0');
  while (true) {
    const ssize_t got = ::read(descriptor, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure(path, "cannot be read", "check the device or pipe");
    if (got == 0) return content;
    content.append(block.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

FileContents::FileContents(std::string name, std::string content) : name_(std::move(name)) {
  auto owner = std::make_shared<const std::string>(std::move(content));
  view_ = *owner;
  owner_ = std::move(owner);
}

FileContents::FileContents(std::string name, std::string_view view, std::shared_ptr<const void> owner)
    : name_(std::move(name)), view_(view), owner_(std::move(owner)) {}

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
  if (!S_ISREG(status.st_mode) || status.st_size == 0) {
    auto content = read_stream(file.number(), name);
    if (!content) return propagate(content);
    return FileContents(name, std::move(*content));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (start == MAP_FAILED)
    return system_failure(name, "cannot be mapped into memory", "close other programs or use a larger machine");
  ::madvise(start, size, MADV_SEQUENTIAL);
  std::shared_ptr<const void> owner(start, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); });
  return FileContents(name, std::string_view(static_cast<const char*>(start), size), std::move(owner));
}

}  // namespace rankloom
