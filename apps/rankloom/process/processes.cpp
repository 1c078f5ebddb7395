// SPDX-License-Identifier: Apache-2.0
// apps/process: runs other programs, and finds the programs and libraries that belong to rankloom.
#include "apps/rankloom/process/processes.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <unistd.h>

#include "apps/rankloom/output.hpp"
#include "rankloom/core/system/process.hpp"
#include "rankloom/place/launchers.hpp"

namespace rankloom::app {

namespace {

/// Only Debian packages of rankloom install it there.
bool is_from_debian_package() {
  return program_path() == "/usr/bin/rankloom" && package_manager(os_release()) == PackageManager::apt;
}

}  // namespace

Result<int> run_lines(const Argv& argv, const std::function<void(std::string_view)>& on_line,
                      const Redirection& errors) {
  ProcessSpec spec;
  spec.argv = argv;
  spec.errors = errors;
  ProcessOptions options;
  options.on_line = on_line;
  const ProcessResult result = run_process(spec, options);
  if (!result.started())
    return fail(Code::environment, at(""), result.message, "check that the program is installed and in PATH");
  return result.status;
}

ProgramStreams ProgramStreams::ours(bool json) {
  ProgramStreams streams;
  if (json) streams.output = Redirection::to_descriptor(STDERR_FILENO);
  return streams;
}

ProgramStreams ProgramStreams::to_log(const std::string& path) {
  return {Redirection::null(), Redirection::to_file(path), Redirection::to_stdout()};
}

int run_program(const Argv& argv, const std::vector<std::string>& environment, const ProgramStreams& streams) {
  ProcessSpec spec;
  spec.argv = argv;
  spec.environment = environment;
  spec.input = streams.input;
  spec.output = streams.output;
  spec.errors = streams.errors;
  ProcessOptions options;
  options.forward_signals = true;
  std::fflush(nullptr);  // what this program printed comes before what the other one prints
  const ProcessResult result = run_process(spec, options);
  if (!result.started()) print_note(result.message);
  return result.status;
}

std::string launcher_version(const Argv& command) {
  const std::size_t position = launcher_position(command);
  if (position >= command.size() || !needs_version_text(command[position])) return {};
  return output_of({command[position], "--version"}, launcher_environment(command));
}

std::string command_text(const Argv& argv) {
  std::string text;
  for (const std::string& argument : argv) text += (text.empty() ? "" : " ") + shell_quote(argument);
  return text;
}

std::string program_path() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::optional<std::string> find_installed(const std::string& file) {
  std::error_code error;
  const auto bin = std::filesystem::path(program_path()).parent_path();
  for (const char* const directory : {"../lib/rankloom", "../lib", "."}) {
    const auto candidate = (bin / directory / file).lexically_normal();
    if (std::filesystem::exists(candidate, error)) return candidate.string();
  }
  return std::nullopt;
}

std::string os_release() {
  const char* const named = std::getenv("RANKLOOM_OS_RELEASE");
  for (const char* const path : {named != nullptr ? named : "/etc/os-release", "/usr/lib/os-release"}) {
    if (std::ifstream file(path); file) return {std::istreambuf_iterator<char>(file), {}};
    if (named != nullptr) break;
  }
  return {};
}

std::string how_to_install(Software software) {
  return install_hint(os_release(), software);
}

std::string how_to_install(std::string_view package, Software build_dependency) {
  return is_from_debian_package() ? fmt::format("apt install {}", package)
                                  : fmt::format("{}, then build again", how_to_install(build_dependency));
}

std::string how_to_install_for_mpi(std::string_view mpi) {
  if (mpi == "abi" && !is_from_debian_package())
    return "build rankloom where an MPI library with the ABI of MPI 5 is installed, such as Open MPI 6 or MPICH 5";
  return how_to_install(fmt::format("rankloom-record-{}", mpi),
                        mpi == "mpich" ? Software::mpich_dev : Software::open_mpi_dev);
}

std::string how_to_install_for_mpi() {
  if (is_from_debian_package()) return "apt install rankloom-record-openmpi or rankloom-record-mpich";
  return fmt::format("{} or {}, then build again", how_to_install(Software::open_mpi_dev),
                     how_to_install(Software::mpich_dev));
}

}  // namespace rankloom::app
