// SPDX-License-Identifier: Apache-2.0
// capture/import/trace: reads SimGrid's time-independent traces: a list of files, one per rank, or one file with all
// ranks.
#include <filesystem>
#include <optional>
#include <set>

#include <fmt/ranges.h>

#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/import/text_reading.hpp"
#include "rankloom/capture/import/trace/time_independent_lines.hpp"
#include "rankloom/core/parallel.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;

constexpr const char* record_again = "record again: smpirun -trace-ti ...";

/// Every line of a trace begins with "rank action".
bool is_trace(std::string_view text) {
  Scanner in(text);
  for (in.skip_space(); in.next_is('#'); in.skip_space()) in.skip_line();
  in.take('p');
  std::uint64_t rank = 0;
  if (!in.take_integer(rank)) return false;
  in.skip_blanks();
  return is_time_independent_action(in.take_token());
}

bool is_file_name(std::string_view word) {
  return word.ends_with(".txt") || word.ends_with(".trace") || word.ends_with(".ti");
}

/// Every line is the name of a file.
bool is_list(std::string_view text) {
  constexpr int examined_lines = 8;
  Scanner in(text);
  int lines = 0;
  for (in.skip_space(); !in.done() && lines < examined_lines; in.skip_space(), ++lines) {
    if (!is_file_name(in.take_token())) return false;
    in.skip_blanks();
    if (!in.at_line_end()) return false;
  }
  return lines > 0;
}

/// The path of a listed file: relative to the directory of the list, or to the working directory, as smpirun resolves
/// it. In a trace that was moved, it is the file next to the list.
std::string find_listed(const FileContents& list, const std::string& name) {
  const fs::path directory = fs::path(list.name()).parent_path();
  std::error_code ignored;
  for (const fs::path& candidate : {directory / name, fs::path(name), directory / fs::path(name).filename()}) {
    if (fs::exists(candidate, ignored)) return candidate.string();
  }
  return name;
}

/// A line of a list.
struct ListedFile {
  std::string path;
  const char* position;
};

Result<std::vector<ListedFile>> listed_files(const FileContents& list) {
  std::vector<ListedFile> files;
  std::set<std::string> known;
  Scanner in(list.view());
  for (in.skip_space(); !in.done(); in.skip_space()) {
    const char* const position = in.position();
    const std::string name(in.take_line());
    if (!known.insert(name).second)
      return input_error(list, position, fmt::format("{} is listed twice", name), "list every file once");
    files.push_back({find_listed(list, name), position});
  }
  return files;
}

Result<void> take_file(const FileContents& list, const ListedFile& listed, TimeIndependentTrace& trace) {
  auto file = read_file(listed.path);
  if (file) return trace.take(*file);
  return input_error(list, listed.position, fmt::format("{}: {}", file.error().where.source, file.error().what),
                     "the list contains one file per rank; copy the files together with the list");
}

/// Reads the files in parallel, each only when its turn comes; reports the error of the first file that has one.
Result<TimeIndependentTrace> read_files(const FileContents& list, const std::vector<ListedFile>& files) {
  std::vector<TimeIndependentTrace> parts(files.size());
  std::vector<std::optional<Failure>> failures(files.size());
  parallel_chunks(files.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (auto taken = take_file(list, files[i], parts[i]); !taken) failures[i] = propagate(taken);
    }
  });
  for (const auto& failure : failures) {
    if (failure) return *failure;
  }
  TimeIndependentTrace all = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) all.merge(parts[i]);
  return all;
}

/// The lines of the file, or of the files that it lists.
Result<TimeIndependentTrace> read_lines(const FileContents& file) {
  if (!is_trace(file.view()) && is_list(file.view())) {
    auto listed = listed_files(file);
    if (!listed) return propagate(listed);
    return read_files(file, *listed);
  }
  TimeIndependentTrace lines;
  if (auto taken = lines.take(file); !taken) return propagate(taken);
  return lines;
}

/// Every rank that occurs must have lines of its own, from init to finalize.
Result<std::uint32_t> check_ranks(const FileContents& file, const TimeIndependentTrace& lines) {
  std::uint64_t ranks = lines.traffic().rank_count();
  for (const auto& [rank, state] : lines.ranks()) ranks = std::max(ranks, std::uint64_t{rank} + 1);
  auto count = check_rank_count(file, file.view().data(), ranks);
  if (!count) return count;
  for (std::uint32_t rank = 0; rank < *count; ++rank) {
    const auto found = lines.ranks().find(rank);
    if (found == lines.ranks().end()) {
      return fail(Code::bad_input, at(file.name()),
                  fmt::format("there are {} ranks, but rank {} has no line", *count, rank),
                  "use the file that lists all files of the trace (smpi_simgrid.txt), or record again");
    }
    if (found->second.begun && !found->second.ended) {
      return fail(Code::bad_input, at(file.name()), fmt::format("rank {} has a line init but no line finalize", rank),
                  fmt::format("the trace is truncated: {}; or add the line \"{} finalize\" to use the available part",
                              record_again, rank));
    }
  }
  return count;
}

/// Describes in the profile's origin what the trace does not contain.
void describe_omissions(const TimeIndependentTrace& lines, Profile& profile) {
  if (lines.elements_of_unknown_type() > 0) {
    profile.origin["elements of unknown type"] =
        fmt::format("{}, counted as 1 byte each", lines.elements_of_unknown_type());
  }
  std::vector<std::string> actions;
  for (const auto& [action, count] : lines.unknown_actions()) actions.push_back(fmt::format("{} {}", count, action));
  if (!actions.empty()) profile.origin["lines left out"] = fmt::format("{}", fmt::join(actions, ", "));
}

Imported build_profile(const TimeIndependentTrace& lines, const FileContents& file, std::uint32_t ranks) {
  Imported result = make_imported(lines.traffic().build(ranks), file, "ti");
  Profile& profile = result.profile;
  CollectiveAccumulator collectives = lines.collectives();
  for (const auto& [members, calls] : lines.uneven()) {
    if (members == ranks) {
      if (!calls.pairs.empty()) profile.expanded_collectives = calls.pairs.build(ranks);
    } else {
      collectives.merge(calls.collectives);
    }
  }
  collectives.finish(profile);
  profile.sizes = lines.sizes().sizes();
  profile.activity.resize(ranks);
  for (const auto& [rank, state] : lines.ranks()) profile.activity[rank].instructions = state.work;
  describe_omissions(lines, profile);
  return result;
}

}  // namespace

bool is_time_independent(std::string_view text) {
  return is_trace(text) || is_list(text);
}

Result<Imported> read_time_independent(const FileContents& file) {
  auto lines = read_lines(file);
  if (!lines) return propagate(lines);
  auto ranks = check_ranks(file, *lines);
  if (!ranks) return propagate(ranks);
  return build_profile(*lines, file, *ranks);
}

}  // namespace rankloom
