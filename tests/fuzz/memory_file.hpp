// SPDX-License-Identifier: Apache-2.0
// tests/fuzz: a file in memory, for readers that need a path.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz_target.hpp"

namespace rankloom::fuzz {

class MemoryFile {
 public:
  /// The file has at least `min_size` bytes; zeros follow the content.
  explicit MemoryFile(std::string_view content, std::size_t min_size = 0)
      : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    const std::string_view part = content.substr(0, min_size > 0 ? min_size : content.size());
    expect(descriptor_ >= 0 && ::write(descriptor_, part.data(), part.size()) == static_cast<ssize_t>(part.size()),
           "a file in memory can be written");
    expect(part.size() >= min_size || ::ftruncate(descriptor_, static_cast<off_t>(min_size)) == 0,
           "a file in memory can grow");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }

  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

}  // namespace rankloom::fuzz
