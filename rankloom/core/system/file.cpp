// SPDX-License-Identifier: Apache-2.0
// core/system: reads and writes complete files.
#include "rankloom/core/system/file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rankloom {

namespace {

using Fill = std::function<Result<void>(Sink&)>;

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
    if (got < 0) return system_failure(path, "cannot be read", "check the device or pipe");
    if (got == 0) return content;
    content.append(block.data(), static_cast<std::size_t>(got));
  }
}

/// Calls `fill` and checks that every byte was written.
Result<void> write_stream(std::FILE* stream, const std::string& name, const Fill& fill) {
  Sink sink(stream);
  errno = 0;
  if (auto done = fill(sink); !done) return done;
  if (std::fflush(stream) == 0 && !sink.failed()) return {};
  return system_failure(name, "cannot be written", "free some space, or write to another directory");
}

/// Devices and pipes are written directly, because a rename would replace them by a file.
Result<void> write_device(const std::string& path, const Fill& fill) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> device(std::fopen(path.c_str(), "wb"), std::fclose);
  if (!device) return system_failure(path, "cannot be opened for writing", "check its permissions");
  return write_stream(device.get(), path, fill);
}

/// Writes a temporary file next to the target and renames it when all of it is on the disk.
Result<void> write_and_rename(const std::string& path, const std::filesystem::path& target,
                              const std::filesystem::path& directory, const Fill& fill) {
  std::string temporary = (directory / fmt::format(".{}.XXXXXX", target.filename().string())).string();
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) return system_failure(path, "cannot be created", "check the permissions of the directory");
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, 0666 & ~mask);
  std::FILE* const file = ::fdopen(descriptor, "wb");
  auto done = write_stream(file, path, fill);
  if (done && ::fsync(descriptor) != 0)
    done = system_failure(path, "cannot be written", "free some space, or write to another directory");
  std::fclose(file);
  if (done && ::rename(temporary.c_str(), target.c_str()) != 0)
    done = system_failure(path, "cannot be replaced", "check its permissions");
  if (!done) ::unlink(temporary.c_str());
  return done;
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
  const Descriptor file(standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
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

Result<void> write_file(const std::string& path, const std::function<Result<void>(Sink&)>& fill) {
  namespace fs = std::filesystem;
  if (path == "-") return write_stream(stdout, "standard output", fill);
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status))
    return fail(Code::usage, at(path), "is a directory, not a file", "name the file to write inside it");
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_device(path, fill);
  // If the name is a symbolic link, its target is replaced, not the link.
  const fs::path target = fs::exists(status) ? fs::canonical(path, ignored) : fs::path(path);
  const fs::path directory = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::is_directory(directory, ignored)) {
    return fail(Code::usage, at(path), fmt::format("the directory {} does not exist", directory.string()),
                fmt::format("mkdir -p '{}'", directory.string()));
  }
  return write_and_rename(path, target, directory, fill);
}

Result<void> write_file(const std::string& path, std::string_view content) {
  return write_file(path, [content](Sink& sink) -> Result<void> {
    sink.write(content);
    return {};
  });
}

}  // namespace rankloom
