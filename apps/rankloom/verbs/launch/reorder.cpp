// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom reorder`: runs a program as the user would, with the library in its ranks that renumbers virtual
// topologies.
#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/preload.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/discover/discover.hpp"

namespace rankloom::app {

namespace {

class ReorderVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_text(app,
             {"-t,--topology", "FILE|STRING",
              "the machine: switches, and hosts by name or in their order; without it all hosts are at one switch",
              "reordering"},
             topology_);
    add_switch(app, "--verbose", "the first rank says on standard error what each virtual topology gained", verbose_,
               "reordering");
    add_value(
        app,
        {"--mpi", "openmpi|mpich", "the MPI of the program, where it cannot be seen from the program", "reordering"},
        [this](std::string_view text) -> Result<void> {
          mpi_ = find_mpi(text);
          if (mpi_ == nullptr) return bad_value("--mpi", text, "openmpi or mpich");
          return {};
        });
    add_repeated(app, {"COMMAND", "COMMAND", "how you start the program, behind --", "input", "", true}, command_);
  }

  Result<int> run(const Session& session) override {
    // A machine that nobody can read should be an error here, not a silence in the ranks.
    if (!topology_.empty()) {
      if (auto machine = load_topology(topology_); !machine) return propagate(machine);
      std::error_code error;
      if (std::filesystem::exists(topology_, error)) topology_ = std::filesystem::absolute(topology_).string();
    }
    const StartedCommand started = look_at(command_, "the library");
    const bool was_told = mpi_ != nullptr;
    mpi_ = mpi_of(started, mpi_);
    auto library = find_library("reorder", *mpi_, "the library that renumbers");
    if (!library) return propagate(library);
    RankEnvironment environment{preload(*library)};
    if (!topology_.empty()) environment.emplace_back("RANKLOOM_TOPOLOGY", topology_);
    if (verbose_) environment.emplace_back("RANKLOOM_REORDER_VERBOSE", "1");
    // All ranks take part or none: one that does not hear the library would keep the others waiting.
    if (!was_told && started.programs.size() > 1 && !all_use(started, *mpi_)) {
      environment.emplace_back("RANKLOOM_REORDER", "0");
      fmt::print(stderr,
                 "rankloom: not all programs of the command are linked with {}, so nothing is renumbered; when their "
                 "scripts start such programs, say --mpi {}\n",
                 mpi_->title, mpi_->name);
    }
    auto status = run_with(started, environment, session.json);
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
