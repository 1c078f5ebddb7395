// SPDX-License-Identifier: Apache-2.0
// capture: communication in other people's formats, and the table of them. Adding a format: one file and one row in
// formats.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rankloom/core/file.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/profile.hpp"
#include "rankloom/model/topology.hpp"

namespace rankloom {

struct Imported {
  Profile profile;
  std::optional<Topology> topology;  ///< For formats that bring their own distances (QAPLIB).
  std::string_view format;           ///< Name of the row that read it.
};

struct FormatInfo {
  std::string_view name;                     ///< What the user types after --from or --to.
  std::string_view summary;                  ///< One line, shown by `rankloom list formats`.
  std::string_view reference;                ///< Where the format is defined.
  bool (*recognise)(std::string_view text);  ///< By content; rows are asked in table order, the first yes wins.
  Result<Imported> (*read)(const FileText& file);
  Result<void> (*write)(const Profile& profile, Sink& sink);  ///< nullptr: only read.
};

/// The table, in the order in which content is recognised.
std::span<const FormatInfo> formats();
const FormatInfo* find_format(std::string_view name);

/// Reads with the named format, or, if that is empty, the one that recognises the content.
Result<Imported> import_profile(const FileText& file, std::string_view format = {});

}  // namespace rankloom
