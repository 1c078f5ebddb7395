// SPDX-License-Identifier: Apache-2.0
// capture: communication in other people's formats, and the table of them. Adding a format: one file and one row in
// formats.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rankloom/core/file.hpp"
#include "rankloom/core/options.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/profile.hpp"
#include "rankloom/model/topology.hpp"

namespace rankloom {

struct Imported {
  Profile profile;
  std::optional<Topology> topology;  ///< For formats that bring their own distances (QAPLIB).
  std::string_view format;           ///< Name of the row that read it.
};

/// What readers may be told: `--from monitoring:collectives=C`. A format lists those that it heeds.
struct ReadOptions {
  /// Which lines of Open MPI's monitoring stand for collectives.
  enum class MonitoredCollectives : std::uint8_t {
    physical,  ///< I: the messages that the library really sent for them.
    logical,   ///< C: who gets data from whom, as the standard defines the result.
  };
  MonitoredCollectives collectives = MonitoredCollectives::physical;
};

struct FormatInfo {
  std::string_view name;                     ///< What the user types after --from or --to.
  std::string_view summary;                  ///< One line, shown by `rankloom list formats`.
  std::string_view reference;                ///< Where the format is defined.
  bool (*recognise)(std::string_view text);  ///< By content; rows are asked in table order, the first yes wins.
  /// The name of the file leads to the other files of the same trace, where a trace is many.
  Result<Imported> (*read)(const FileContents& file, const ReadOptions& options);
  Result<void> (*write)(const Profile& profile, Sink& sink);  ///< nullptr: only read.
  /// How the name of that file ends which stands for a trace of many; empty: a file is all.
  std::string_view first_file = {};
  void (*describe)(ReadOptions& options, OptionList& list) = nullptr;  ///< nullptr: nothing to tell it.
  bool refused = false;                                                ///< Recognised only to say why it cannot serve.
};

/// The table, in the order in which content is recognised.
std::span<const FormatInfo> formats();
const FormatInfo* find_format(std::string_view name);

/// Whether libotf2 was there when this was built; otherwise `otf2` is recognised and says so.
bool reads_otf2();

/// A row of the table and what its reader is told: "metis", "monitoring:collectives=C". No row for an empty text: the
/// content decides.
struct FormatChoice {
  const FormatInfo* format = nullptr;
  ReadOptions options = {};
};
Result<FormatChoice> parse_format(std::string_view text);

/// Reads with the chosen format, or, if none is, the one that recognises the content.
Result<Imported> import_profile(const FileContents& file, std::string_view format = {});

/// The same from a path: a file, "-" for standard input, or, for a trace that is many files, its folder or what their
/// names begin with.
Result<Imported> import_path(const std::string& path, std::string_view format = {});

}  // namespace rankloom
