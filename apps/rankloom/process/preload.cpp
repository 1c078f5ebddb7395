// SPDX-License-Identifier: Apache-2.0
// apps/process: puts a PMPI library of rankloom into the ranks of a program with LD_PRELOAD.
#include "apps/rankloom/process/preload.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "apps/rankloom/output.hpp"
#include "rankloom/place/launchers.hpp"

namespace rankloom::app {

namespace {

namespace fs = std::filesystem;

constexpr std::array<Mpi, 3> mpis{{{"openmpi", "Open MPI"}, {"mpich", "MPICH"}, {"abi", "the ABI of MPI 5"}}};

}  // namespace

const Mpi* find_mpi(std::string_view name) {
  const auto found = std::find_if(mpis.begin(), mpis.end(), [&](const Mpi& mpi) { return mpi.name == name; });
  return found == mpis.end() ? nullptr : &*found;
}

/// From the libraries that a program is linked with. MPICH and its derivatives are libmpich.so or libmpi.so.12; Open
/// MPI uses other version numbers of libmpi.so. Both have a libmpi_abi.so, which needs other libraries of its MPI.
const Mpi* mpi_of_program(const std::string& program) {
  const std::string path = find_program(program);
  if (path.empty()) return nullptr;
  const std::string libraries = output_of({"ldd", path});
  const auto linked_with = [&](std::string_view library) { return libraries.find(library) != std::string::npos; };
  if (linked_with("libmpi_abi.so")) return find_mpi("abi");
  if (linked_with("libmpich.so") || linked_with("libmpi.so.12")) return find_mpi("mpich");
  return linked_with("libmpi.so.") ? find_mpi("openmpi") : nullptr;
}

bool fits_ld_preload(std::string_view path) {
  return path.find_first_of(" :$") == std::string_view::npos;
}

const Mpi* mpi_of_launcher(const std::string& launcher, std::string_view version_text) {
  const Launcher* const row = recognise_launcher(launcher, version_text);
  return row == nullptr ? nullptr : find_mpi(row->command_line->mpi);
}

ProgramCommand inspect_command(const Argv& command, std::string_view library) {
  ProgramCommand inspected{.argv = command,
                           .launch = {},
                           .program = command[0],
                           .programs = {command[0]},
                           .version_text = launcher_version(command)};
  auto launch = parse_launch_command(command, inspected.version_text);
  if (!launch) {
    const std::size_t position = std::min(launcher_position(command), command.size() - 1);
    if (is_launcher_name(command[position])) {
      print_note(fmt::format("{}; {} is preloaded into all processes of the command", launch.error().what, library));
    }
    return inspected;
  }
  Argv programs;
  for (const LaunchedProgram& program : launch->programs) {
    if (!program.arguments.empty()) programs.push_back(program.arguments[0]);
  }
  if (!programs.empty()) {
    inspected.program = programs[0];
    inspected.programs = std::move(programs);
  }
  inspected.launch = *std::move(launch);
  return inspected;
}

const Mpi* mpi_of(const ProgramCommand& command, const Mpi* given) {
  const Mpi* mpi = given;
  if (mpi == nullptr) mpi = mpi_of_program(command.program);
  if (mpi == nullptr && command.launch) mpi = find_mpi(command.launch->launcher->command_line->mpi);
  if (mpi == nullptr)
    mpi = mpi_of_launcher(command.argv[std::min(launcher_position(command.argv), command.argv.size() - 1)],
                          command.version_text);
  if (mpi == nullptr) mpi = mpi_of_launcher("mpirun", output_of({"mpirun", "--version"}));
  return mpi != nullptr ? mpi : &mpis[0];
}

bool all_linked_with(const ProgramCommand& command, const Mpi& mpi) {
  return std::all_of(command.programs.begin(), command.programs.end(), [&](const std::string& program) {
    const Mpi* const used = mpi_of_program(program);
    return used != nullptr && used->name == mpi.name;
  });
}

Result<std::string> find_library(std::string_view kind, const Mpi& mpi, std::string_view title) {
  const auto found = find_installed(fmt::format("librankloom_{}_{}.so", kind, mpi.name));
  if (!found) {
    return fail(Code::environment, at(std::string(kind)), fmt::format("{} for {} is not installed", title, mpi.title),
                how_to_install_for_mpi(mpi.name));
  }
  return *found;
}

Result<PreloadedLibrary> PreloadedLibrary::make(const std::string& library, const fs::path& directory) {
  if (fits_ld_preload(library)) return PreloadedLibrary(library);
  std::error_code error;
  for (const fs::path& parent : {fs::absolute(directory, error), fs::temp_directory_path(error), fs::path("/tmp")}) {
    std::string name = (parent / ".rankloom-preload-XXXXXX").string();
    if (parent.empty() || !fits_ld_preload(name) || ::mkdtemp(name.data()) == nullptr) continue;
    PreloadedLibrary linked((fs::path(name) / fs::path(library).filename()).string(), name);
    fs::create_symlink(library, linked.path_, error);
    if (!error) return linked;
  }
  return fail(Code::environment, at(library), "ld.so cannot preload this library: its path contains a blank or a colon",
              "install rankloom in a directory without blanks and colons, or set TMPDIR to one");
}

PreloadedLibrary::~PreloadedLibrary() {
  std::error_code ignored;
  if (link_directory_.empty()) return;
  fs::remove(path_, ignored);
  fs::remove(link_directory_, ignored);
}

std::pair<std::string, std::string> PreloadedLibrary::variable() const {
  const char* const others = std::getenv("LD_PRELOAD");
  std::string value = path_;
  // In a build for a sanitizer, its run-time library has to come first.
  if (constexpr const char* runtime = RANKLOOM_SANITIZER_RUNTIME; *runtime != '\0')
    value = fmt::format("{}:{}", runtime, value);
  if (others != nullptr && *others != '\0') value = fmt::format("{}:{}", value, others);
  return {"LD_PRELOAD", value};
}

Result<int> run_with_environment(const ProgramCommand& command, const Environment& environment,
                                 const ProgramStreams& streams) {
  if (command.launch) {
    auto changed = rewrite(*command.launch, {.environment = environment});
    if (!changed) return propagate(changed);
    return run_program(changed->argv(), {}, streams);
  }
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(fmt::format("{}={}", name, value));
  return run_program(command.argv, variables, streams);
}

}  // namespace rankloom::app
