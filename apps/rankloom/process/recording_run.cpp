// SPDX-License-Identifier: Apache-2.0
// apps: what verbs share that put the recorder into the ranks of a program.
#include "apps/rankloom/process/recording_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "rankloom/capture/import/import.hpp"
#include "rankloom/capture/record/reading/recording.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

Result<Profile> read(const fs::path& path) {
  auto imported = import_path(path.string());
  if (!imported) return propagate(imported);
  return std::move(imported->profile);
}

/// A piece is as long as its head says; behind that is room that it did not need.
Result<Profile> join(const std::vector<fs::path>& pieces) {
  std::string all;
  for (const fs::path& piece : pieces) {
    auto file = read_file(piece.string());
    if (!file) return propagate(file);
    all += used_part_of_piece(file->view());
  }
  auto imported = import_profile(FileContents("the recording", std::move(all)), "recording");
  if (!imported) return propagate(imported);
  return std::move(imported->profile);
}

}  // namespace

WorkFolder::WorkFolder(const fs::path& output) {
  std::string name = (fs::absolute(output).parent_path() / ".rankloom-record-XXXXXX").string();
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (good()) fs::remove_all(path_, ignored);
}

Result<Profile> collect_recording(const fs::path& folder, const std::string& program, const Mpi& mpi) {
  std::vector<fs::path> pieces, threads;
  std::error_code error;
  const fs::path whole = folder / "recording";
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("recording.") && !name.ends_with(".tmp")) pieces.push_back(entry.path());
    if (name.starts_with("threads.")) threads.push_back(entry.path());
  }
  std::sort(pieces.begin(), pieces.end());
  if (fs::exists(whole, error)) return read(whole);
  if (!pieces.empty()) return join(pieces);
  if (threads.size() == 1) return read(threads[0]);
  return fail(
      Code::environment, at(program), "nothing was recorded: no rank of it called this MPI",
      fmt::format("the recorder was that of {} (--mpi names another); a program that is linked statically, or uses "
                  "no MPI, cannot be recorded so",
                  mpi.title));
}

}  // namespace rankloom::app
