// SPDX-License-Identifier: Apache-2.0
// evaluate: a folder for files that nobody wants to keep.
#include "rankloom/evaluate/simulate/scratch_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

namespace rankloom {

Result<ScratchFolder> ScratchFolder::make() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string pattern = ((error ? "/tmp" : parent) / "rankloom-simulate-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    return fail(Code::environment, at(pattern), fmt::format("no folder can be made here: {}", std::strerror(errno)),
                "set TMPDIR to a folder with room");
  }
  return ScratchFolder(pattern);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace rankloom
