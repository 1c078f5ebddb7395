// SPDX-License-Identifier: Apache-2.0
// capture/record/reading: finds the pieces of ranks and sorts them by MPI job.
#include "rankloom/capture/record/reading/recorded_jobs.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "rankloom/capture/import/formats.hpp"
#include "rankloom/capture/record/reading/recording.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;

/// The regular files of a directory whose names satisfy the predicate, sorted.
template <class Predicate>
std::vector<std::string> list_files(const fs::path& directory, const Predicate& matches) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (matches(at->path().filename().string()) && at->is_regular_file(ignored)) files.push_back(at->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string RecordedJob::prefix() const {
  return files.front().substr(0, files.front().rfind('.'));
}

std::vector<std::string> files_with_prefix(const std::string& prefix) {
  const fs::path path(prefix);
  const std::string begin = path.filename().string() + (prefix.ends_with('.') ? "" : ".");
  return list_files(path.has_parent_path() ? path.parent_path() : fs::path("."),
                    [&](const std::string& name) { return name.starts_with(begin); });
}

std::vector<RecordedJob> group_by_job(const std::vector<std::string>& files) {
  struct Piece {
    std::uint32_t rank;
    std::string file;
  };
  struct Group {
    RecordedJob job;
    std::vector<Piece> pieces;
  };
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t>, Group> groups;
  for (const std::string& name : files) {
    const auto file = read_file(name);
    const auto piece = file ? describe_rank_piece(file->view()) : std::nullopt;
    if (!piece) continue;
    Group& group = groups[{piece->job, piece->repeat, piece->ranks}];
    const bool is_first = group.pieces.empty();
    if (is_first || piece->rank < group.pieces.front().rank) group.job.program = piece->program;
    group.job.started_ns = is_first ? piece->started_ns : std::min(group.job.started_ns, piece->started_ns);
    group.job.ranks = piece->ranks;
    group.pieces.push_back({piece->rank, name});
  }
  std::vector<RecordedJob> jobs;
  for (auto& [key, group] : groups) {
    std::stable_sort(group.pieces.begin(), group.pieces.end(),
                     [](const Piece& a, const Piece& b) { return a.rank < b.rank; });
    for (Piece& piece : group.pieces) group.job.files.push_back(std::move(piece.file));
    jobs.push_back(std::move(group.job));
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const RecordedJob& a, const RecordedJob& b) { return a.started_ns < b.started_ns; });
  return jobs;
}

std::vector<RecordedJob> find_recorded_jobs(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return group_by_job(list_files(path, [](const std::string&) { return true; }));
  return group_by_job(files_with_prefix(path));
}

Result<Imported> read_recorded_job(const RecordedJob& job) {
  std::string all;
  for (const std::string& name : job.files) {
    auto file = read_file(name);
    if (!file) return propagate(file);
    all += used_part_of_rank_file(file->view());
  }
  return read_recording(FileContents(job.prefix(), std::move(all)));
}

}  // namespace rankloom
