// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch: `rankloom reorder`: runs the user's command with a PMPI preload library that implements reorder =
// 1 of MPI's virtual topologies.
#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/preload.hpp"
#include "apps/rankloom/process/recording_run.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/discover/discover.hpp"

namespace rankloom::app {

namespace {

class ReorderVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(
        app,
        {"-t,--topology", "FILE|STRING",
         "the machine with its switches; hosts are matched by name, or else in order; by default all hosts are on one "
         "switch",
         "reordering"},
        topology_);
    add_switch(app, "--verbose", "the first rank reports on standard error what each virtual topology gained", verbose_,
               "reordering");
    add_value(
        app,
        {"--mpi", "openmpi|mpich|abi", "the MPI implementation of the program, if it cannot be detected", "reordering"},
        [this](std::string_view text) -> Result<void> {
          mpi_ = find_mpi(text);
          if (mpi_ == nullptr) return bad_value("--mpi", text, "openmpi, mpich or abi");
          return {};
        });
    add_repeated(app, {"COMMAND", "COMMAND", "after --: the command that starts the program", "input", "", true},
                 command_);
  }

  Result<int> run(const Session& session) override {
    // Report an unreadable machine here, because the ranks would silently ignore it.
    if (!topology_.empty()) {
      if (auto machine = load_topology(topology_); !machine) return propagate(machine);
      std::error_code error;
      if (std::filesystem::exists(topology_, error)) topology_ = std::filesystem::absolute(topology_).string();
    }
    const ProgramCommand started = inspect_command(command_, "the library");
    const bool mpi_is_given = mpi_ != nullptr;
    mpi_ = mpi_of(started, mpi_);
    auto library = find_library("reorder", *mpi_, "the reorder library");
    if (!library) return propagate(library);
    auto preloaded = PreloadedLibrary::make(*library, ".");
    if (!preloaded) return propagate(preloaded);
    Environment environment{preloaded->variable()};
    if (!topology_.empty()) environment.emplace_back("RANKLOOM_TOPOLOGY", topology_);
    if (verbose_) environment.emplace_back("RANKLOOM_REORDER_VERBOSE", "1");
    // Reordering is collective. The ranks agree through files in this directory that all of them have the library.
    const RecordingDirectory directory("reorder");
    if (directory.good()) environment.emplace_back("RANKLOOM_REORDER_DIR", directory.path().string());
    if (!mpi_is_given && started.programs.size() > 1 && !all_linked_with(started, *mpi_)) {
      environment.emplace_back("RANKLOOM_REORDER", "0");
      print_note(fmt::format(
          "not all programs of the command are linked with {}, so ranks are not reordered; if they are scripts that "
          "start such programs, add --mpi {}",
          mpi_->title, mpi_->name));
    }
    auto status = run_with_environment(started, environment, ProgramStreams::ours(session.json));
    if (!status) return propagate(status);
    if (session.json) print_json(Json{{"status", *status}, {"mpi", std::string(mpi_->name)}});
    return *status;
  }

 private:
  std::string topology_;
  bool verbose_ = false;
  const Mpi* mpi_ = nullptr;
  Argv command_;
};

}  // namespace

std::unique_ptr<Verb> make_reorder() {
  return std::make_unique<ReorderVerb>();
}

}  // namespace rankloom::app
