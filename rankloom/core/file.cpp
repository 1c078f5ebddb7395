// SPDX-License-Identifier: Apache-2.0
// core: whole files in, whole files out.
#include "rankloom/core/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace rankloom {

namespace {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ > STDERR_FILENO) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

Failure system_failure(const std::string& path, const std::string& what, const std::string& hint) {
  return fail(Code::environment, at(path), fmt::format("{}: {}", what, std::strerror(errno)), hint);
}

Result<std::string> read_stream(int descriptor, const std::string& path) {
  std::string content;
  std::string block(1 << 16, '\0');
  while (true) {
    const ssize_t got = ::read(descriptor, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure(path, "cannot be read", "check the device or pipe it comes from");
    if (got == 0) return content;
    content.append(block.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

FileText::FileText(std::string name, std::string content) : name_(std::move(name)) {
  auto owner = std::make_shared<const std::string>(std::move(content));
  view_ = *owner;
  owner_ = std::move(owner);
}

FileText::FileText(std::string name, std::string_view view, std::shared_ptr<const void> owner)
    : name_(std::move(name)), view_(view), owner_(std::move(owner)) {}

Result<FileText> read_file(const std::string& path) {
  const bool standard_input = path == "-";
  const Descriptor file(standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const std::string name = standard_input ? "standard input" : path;
  if (file.number() < 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return fail(Code::bad_input, at(name), missing ? "no such file" : fmt::format("cannot be opened: {}", std::strerror(errno)),
                missing ? "check the path" : "check its permissions");
  }
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) return system_failure(name, "cannot be examined", "check its permissions");
  if (S_ISDIR(status.st_mode)) return fail(Code::bad_input, at(name), "is a directory, not a file", "name a file inside it");
  if (!S_ISREG(status.st_mode) || status.st_size == 0) {
    auto content = read_stream(file.number(), name);
    if (!content) return pass_on(content);
    return FileText(name, std::move(*content));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (start == MAP_FAILED) return system_failure(name, "cannot be mapped into memory", "close other programs or use a larger machine");
  ::madvise(start, size, MADV_SEQUENTIAL);
  std::shared_ptr<const void> owner(start, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); });
  return FileText(name, std::string_view(static_cast<const char*>(start), size), std::move(owner));
}

Result<void> write_file(const std::string& path, const std::function<Result<void>(Sink&)>& fill) {
  if (path == "-") {
    Sink sink(stdout);
    auto done = fill(sink);
    if (done && (std::fflush(stdout) != 0 || sink.failed())) return system_failure("standard output", "cannot be written", "is its reader still there?");
    return done;
  }
  const std::filesystem::path target(path);
  if (std::filesystem::is_directory(target)) {
    return fail(Code::usage, at(path), "is a directory, not a file", "name the file to write inside it");
  }
  const auto folder = target.has_parent_path() ? target.parent_path() : std::filesystem::path(".");
  if (!std::filesystem::is_directory(folder)) {
    return fail(Code::usage, at(path), fmt::format("the folder {} does not exist", folder.string()), fmt::format("mkdir -p '{}'", folder.string()));
  }
  std::string temporary = (folder / fmt::format(".{}.XXXXXX", target.filename().string())).string();
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) return system_failure(path, "cannot be created", "check the folder's permissions");
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, 0666 & ~mask);

  std::FILE* const file = ::fdopen(descriptor, "wb");
  Sink sink(file);
  auto done = fill(sink);
  errno = 0;
  const bool flushed = std::fflush(file) == 0 && !sink.failed() && ::fsync(descriptor) == 0;
  const int reason = errno;
  std::fclose(file);
  if (done && flushed && ::rename(temporary.c_str(), path.c_str()) == 0) return {};
  if (!flushed) errno = reason;
  auto failure = system_failure(path, "cannot be written", "free some space, or write elsewhere");
  ::unlink(temporary.c_str());
  if (!done) return done;
  return failure;
}

Result<void> write_file(const std::string& path, std::string_view content) {
  return write_file(path, [content](Sink& sink) -> Result<void> {
    sink.write(content);
    return {};
  });
}

}  // namespace rankloom
