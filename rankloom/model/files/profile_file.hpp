// SPDX-License-Identifier: Apache-2.0
// model: a profile's own file: a magic line, then tagged chunks, compressed when large; unknown chunks are skipped, so
// old programs read new files. docs/formats.md describes it.
#pragma once

#include <string_view>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/graph/profile.hpp"

namespace rankloom {

/// Told from the first bytes.
bool is_profile_file(std::string_view head);
/// O(size of the file), parallel. A file that is cut short or damaged is an error that names the chunk.
Result<Profile> read_profile(const FileContents& file);
/// Everything in the profile; the same profile gives the same bytes.
Result<void> write_profile(const Profile& profile, Sink& sink);

}  // namespace rankloom
