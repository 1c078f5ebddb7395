// SPDX-License-Identifier: Apache-2.0
// model/files: the profile format: a magic line, then tagged chunks. Unknown chunks are skipped, so that old programs
// read new files. docs/formats.md describes it.
#pragma once

#include <string_view>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/graph/profile.hpp"

namespace rankloom {

/// Checks the first bytes of a file.
bool is_profile_file(std::string_view head);
/// O(size of the file), parallel. A truncated or damaged file is an error that names the chunk.
Result<Profile> read_profile(const FileContents& file);
/// Equal profiles result in equal bytes.
Result<void> write_profile(const Profile& profile, Sink& sink);

}  // namespace rankloom
