// SPDX-License-Identifier: Apache-2.0
// capture/import: reads traffic from the file formats of other tools, and lists them in a table. To add a format: one
// file and one row in formats.cpp.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rankloom/core/options.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/graph/profile.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

struct Imported {
  Profile profile;
  std::optional<Topology> topology;  ///< For formats that contain distances (QAPLIB).
  std::string_view format;           ///< Name of the format that was read.
  /// The reader has checked the profile as check_profile() does, which saves another pass over a large graph.
  bool checked = false;
};

/// Options of readers: `--from monitoring:collectives=C`. Each format lists the options that it accepts.
struct ReadOptions {
  /// Which lines of Open MPI's monitoring are read as the traffic of collectives.
  enum class MonitoredCollectives : std::uint8_t {
    physical,  ///< I: the messages that Open MPI sent for them.
    logical,   ///< C: the data flow between pairs that the MPI standard defines.
  };
  MonitoredCollectives collectives = MonitoredCollectives::physical;
};

class RankFileReader;

struct FormatInfo {
  std::string_view name;                     ///< The argument of --from and --to.
  std::string_view summary;                  ///< One line, shown by `rankloom list formats`.
  std::string_view reference;                ///< Where the format is defined.
  bool (*recognise)(std::string_view text);  ///< By content, in the order of the table; the first match is used.
  /// In a trace of several files, the name of the file leads to the others.
  Result<Imported> (*read)(const FileContents& file, const ReadOptions& options);
  Result<void> (*write)(const Profile& profile, Sink& sink);  ///< nullptr: the format is not written.
  /// Suffix of the file that represents a trace of several files; empty: a trace is one file.
  std::string_view main_file_suffix = {};
  void (*describe)(ReadOptions& options, OptionList& list) = nullptr;  ///< nullptr: no options.
  bool refused = false;  ///< Recognised, but always an error that explains why.
  /// Formats with one file per rank, whose names do not lead to each other: reads the files of a directory or of a list
  /// one after the other. nullptr: other formats.
  std::unique_ptr<RankFileReader> (*make_rank_reader)() = nullptr;
};

/// The table, in the order in which content is recognised.
std::span<const FormatInfo> formats();
const FormatInfo* find_format(std::string_view name);

/// Whether rankloom was built with libotf2; otherwise reading `otf2` is an error that says so.
bool reads_otf2();

/// A format with its options: "metis", "monitoring:collectives=C". For an empty text `format` is nullptr: the content
/// decides.
struct FormatChoice {
  const FormatInfo* format = nullptr;
  ReadOptions options = {};
};
Result<FormatChoice> parse_format(std::string_view text);

/// Reads the file in the given format, or in the first format that recognises its content.
Result<Imported> import_profile(const FileContents& file, std::string_view format = {});

/// The same for a path: a file, "-" for standard input, or the directory or file name prefix of a trace of several
/// files or of the pieces of a recording.
Result<Imported> import_path(const std::string& path, std::string_view format = {});

}  // namespace rankloom
