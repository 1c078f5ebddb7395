// SPDX-License-Identifier: Apache-2.0
// apps: what verbs share that put the recorder into the ranks of a program.
#include "apps/rankloom/recording_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "apps/rankloom/output.hpp"
#include "apps/rankloom/processes.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/capture/record/recording.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

constexpr RecordedMpi mpis[] = {
    {"openmpi", "Open MPI", "Open MPI"}, {"mpich", "MPICH", "HYDRA"}, {"mpich", "MPICH", "Intel(R) MPI"}};

const RecordedMpi* mpi_of_launcher(std::string_view version_text) {
  for (const RecordedMpi& mpi : mpis) {
    if (version_text.find(mpi.version_words) != version_text.npos) return &mpi;
  }
  return version_text.find("OpenRTE") != version_text.npos ? find_mpi("openmpi") : nullptr;
}

Result<Profile> read(const fs::path& path) {
  auto imported = import_path(path.string());
  if (!imported) return pass_on(imported);
  return std::move(imported->profile);
}

/// A piece is as long as its head says; behind that is room that it did not need.
Result<Profile> join(const std::vector<fs::path>& pieces) {
  std::string all;
  for (const fs::path& piece : pieces) {
    auto file = read_file(piece.string());
    if (!file) return pass_on(file);
    all += used_part_of_piece(file->view());
  }
  auto imported = import_profile(FileText("the recording", std::move(all)), "recording");
  if (!imported) return pass_on(imported);
  return std::move(imported->profile);
}

}  // namespace

const RecordedMpi* find_mpi(std::string_view name) {
  for (const RecordedMpi& mpi : mpis) {
    if (mpi.name == name) return &mpi;
  }
  return nullptr;
}

/// MPICH and its kin are libmpich.so, or libmpi.so.12; Open MPI's numbers are others.
const RecordedMpi* mpi_of_program(const std::string& program) {
  const std::string path = output_of({"sh", "-c", "command -v -- " + shell_word(program) + " 2>/dev/null"});
  const std::string libraries = output_of({"ldd", path.substr(0, path.find('\n'))});
  if (libraries.find("libmpich.so") != libraries.npos || libraries.find("libmpi.so.12") != libraries.npos)
    return find_mpi("mpich");
  return libraries.find("libmpi.so.") != libraries.npos ? find_mpi("openmpi") : nullptr;
}

const RecordedMpi& guess_mpi(const std::string& program, std::string_view launcher_version) {
  const RecordedMpi* mpi = mpi_of_program(program);
  if (mpi == nullptr) mpi = mpi_of_launcher(launcher_version);
  if (mpi == nullptr) mpi = mpi_of_launcher(output_of({"mpirun", "--version"}));
  return mpi != nullptr ? *mpi : mpis[0];
}

WorkFolder::WorkFolder(const fs::path& output) {
  std::string name = (fs::absolute(output).parent_path() / ".rankloom-record-XXXXXX").string();
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (good()) fs::remove_all(path_, ignored);
}

Result<Profile> collect_recording(const fs::path& folder, const std::string& program, const RecordedMpi& mpi) {
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
