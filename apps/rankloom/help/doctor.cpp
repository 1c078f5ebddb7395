// SPDX-License-Identifier: Apache-2.0
// apps/help: `rankloom doctor`: examines whether everything that rankloom needs is installed. Each line says what a
// thing is needed for and how to install it.
#include "apps/rankloom/help/doctor.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/help/launch_doctor.hpp"
#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/system/memory.hpp"
#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/hwloc/hwloc.hpp"
#include "rankloom/place/launchers.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {

namespace {

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// The last line that is not empty: after several error messages, the one that ended the program.
std::string last_line(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  const std::size_t newline = text.rfind('\n');
  return newline == std::string::npos ? text : text.substr(newline + 1);
}

/// "Open MPI 4.1.4", "MPICH 4.0.2": launchers of the same name are told apart by their version text.
std::string launcher_title(const std::string& program, const std::string& text) {
  const Launcher* const launcher = recognise_launcher(program, text);
  if (launcher == nullptr || launcher->command_line->recognises == nullptr) return first_line(text);
  return fmt::format("{} {}", launcher->title, version_number(text));
}

/// One program to look for.
struct ProgramRow {
  std::string name;
  const char* version_option;  ///< The program is run with it; nullptr: only its path is shown.
  std::string needed_for;
  Software software;
};

/// The launchers of the registry whose software is known.
std::vector<ProgramRow> launcher_programs() {
  std::vector<ProgramRow> rows;
  for (const Launcher* const launcher : launchers()) {
    if (launcher->command_line == nullptr || !launcher->command_line->software) continue;
    rows.push_back({std::string(launcher->command_line->packaged_program), "--version",
                    fmt::format("launching programs with {}", launcher->title), *launcher->command_line->software});
  }
  return rows;
}

const std::array<ProgramRow, 9> other_programs{{
    {"mpirun", "--version", "launching MPI programs", Software::open_mpi},
    {"ssh", "-V", "launching on other hosts", Software::openssh},
    {"ip", nullptr, "rankloom lab, a virtual cluster on one machine (needs root)", Software::iproute2},
    {"slurmctld", nullptr, "rankloom slurm lab, a virtual Slurm cluster (needs root)", Software::slurmctld},
    {"slurmd", nullptr, "rankloom slurm lab", Software::slurmd},
    {"munged", nullptr, "rankloom slurm lab", Software::munge},
    {"lstopo-no-graphics", "--version", "inspecting a node", Software::hwloc},
    {"gcc", "--version", "compiling programs that record their threads", Software::gcc},
    {"man", nullptr, "reading the manual pages", Software::man},
}};

/// Runs the program to see whether it works and which version it is.
void try_program(const std::string& path, const ProgramRow& row, Finding& finding) {
  ProcessSpec spec;
  spec.argv = {path, row.version_option};
  spec.errors = Redirection::to_stdout();
  ProcessOptions options;
  options.capture_output = true;
  options.max_captured = std::size_t{1} << 16;
  options.time_limit = std::chrono::seconds(10);
  const ProcessResult result = run_process(spec, options);
  if (result.succeeded()) {
    finding.detail = launcher_title(path, result.output);
    return;
  }
  const std::string command = fmt::format("{} {}", row.name, row.version_option);
  if (!result.message.empty()) {
    finding.problem = result.message;
  } else {
    const std::string said = last_line(result.output);
    finding.problem = fmt::format("{} ends with status {}{}{}", command, result.status, said.empty() ? "" : ": ", said);
  }
  finding.remedy = fmt::format("check its installation and configuration with: {}", command);
}

Finding examine_program(const ProgramRow& row) {
  Finding finding;
  finding.name = row.name;
  finding.needed_for = row.needed_for;
  const std::string path = find_program(row.name);
  finding.found = !path.empty();
  if (!finding.found) {
    finding.remedy = how_to_install(row.software);
  } else if (row.version_option == nullptr) {
    finding.detail = path;
  } else {
    try_program(path, row, finding);
  }
  return finding;
}

Finding examine_cores() {
  const unsigned cores = std::thread::hardware_concurrency();
  return {.name = "cores",
          .found = cores > 0,
          .required = true,
          .detail = fmt::format("{}", cores),
          .needed_for = "parallel loops",
          .remedy = cores > 0 ? "" : "run on a machine whose number of cores is visible to processes"};
}

Finding examine_memory() {
  const UsableMemory memory = usable_memory();
  const bool enough = memory.bytes >= 256e6;
  return {.name = "memory",
          .found = enough,
          .required = true,
          .detail = format_bytes(memory.bytes) + (memory.limit.empty() ? "" : ", limited by " + memory.limit),
          .needed_for = "graphs; 1 GB is enough for about 50 million edges",
          .remedy = enough ? "" : "use a machine with at least 256 MB, or raise the limit"};
}

Finding examine_temporary_directory() {
  std::error_code error;
  const auto directory = std::filesystem::temp_directory_path(error);
  const bool writable = !error && ::access(directory.c_str(), W_OK) == 0;
  return {.name = "temporary directory",
          .found = writable,
          .required = true,
          .detail = directory.string(),
          .needed_for = "temporary files",
          .remedy = writable ? "" : "set TMPDIR to a directory that can be written"};
}

Finding examine_perf() {
  std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
  int level = 0;
  const bool known = static_cast<bool>(file >> level);
  const bool allowed = known && (level <= 2 || ::geteuid() == 0);
  return {.name = "perf events",
          .found = allowed,
          .required = false,
          .detail = known ? fmt::format("perf_event_paranoid = {}", level) : "",
          .needed_for = "counting the instructions of each rank",
          .remedy = allowed ? ""
                    : known ? "sysctl kernel.perf_event_paranoid=2"
                            : "use a kernel with perf events"};
}

Finding examine_otf2() {
  const bool found = reads_otf2();
  return {.name = "libotf2",
          .found = found,
          .required = false,
          .detail = found ? "built in" : "",
          .needed_for = "importing traces of Score-P and EZTrace",
          .remedy = found ? "" : how_to_install(Software::otf2_dev) + ", then build again"};
}

Finding examine_hwloc() {
  const bool found = has_hwloc();
  return {.name = "libhwloc",
          .found = found,
          .required = false,
          .detail = found ? "built in" : "",
          .needed_for = "discovering hosts and reading hwloc files",
          .remedy = found ? "" : how_to_install(Software::hwloc_dev) + ", then build again"};
}

/// The benchmark for at least one MPI.
Finding examine_probes() {
  std::string names;
  for (const std::string_view mpi : {"openmpi", "mpich", "default"}) {
    if (find_installed(fmt::format("rankloom-probe-{}", mpi)))
      names += fmt::format("{}{}", names.empty() ? "" : ", ", mpi);
  }
  return {.name = "rankloom-probe",
          .found = !names.empty(),
          .required = false,
          .detail = names,
          .needed_for = "measuring the communication costs of a machine",
          .remedy = names.empty() ? how_to_install_for_mpi() : ""};
}

Finding examine_slurm_plugin() {
  const auto found = find_installed("slurm/select_cons_tres.so");
  return {.name = "plugin for Slurm",
          .found = found.has_value(),
          .required = false,
          .detail = found ? "built" : "",
          .needed_for = "Slurm jobs that do not share links",
          .remedy = found ? "" : how_to_install("rankloom-slurm", Software::slurm_dev)};
}

Finding examine_simulator() {
  const bool found = find_installed("rankloom-simulate").has_value();
  return {.name = "SimGrid",
          .found = found,
          .required = false,
          .detail = found ? "rankloom-simulate" : "",
          .needed_for = "simulating programs: simulate, eval --simulate, tune --predict",
          .remedy = found ? "" : how_to_install("rankloom-simulate", Software::simgrid_dev)};
}

/// The library for at least one MPI, and the program that computes its mappings.
Finding examine_reorder() {
  std::string names;
  for (const std::string_view mpi : {"openmpi", "mpich", "abi"}) {
    if (find_installed("rankloom-reorder") && find_installed(fmt::format("librankloom_reorder_{}.so", mpi)))
      names += fmt::format("{}{}", names.empty() ? "" : ", ", mpi);
  }
  return {.name = "rankloom-reorder",
          .found = !names.empty(),
          .required = false,
          .detail = names,
          .needed_for = "reordering the ranks of MPI topologies",
          .remedy = names.empty() ? how_to_install_for_mpi() : ""};
}

Json to_json(const std::vector<Finding>& findings) {
  Json json{{"healthy", is_healthy(findings)}, {"checks", Json::array()}};
  for (const Finding& finding : findings) {
    json["checks"].push_back({{"name", finding.name},
                              {"found", finding.found},
                              {"works", finding.works()},
                              {"required", finding.required},
                              {"detail", finding.detail},
                              {"needed_for", finding.needed_for},
                              {"problem", finding.problem},
                              {"remedy", finding.remedy}});
  }
  return json;
}

class DoctorVerb : public Verb {
 public:
  void describe(CLI::App& app) override {
    add_repeated(app,
                 {"COMMAND", "COMMAND",
                  "after --: run this command as it is, and show where its ranks and threads run, with a remedy for "
                  "ranks that share cores, are not bound, or have more threads than processing units",
                  "input"},
                 command_);
  }

  Result<int> run(const Session& session) override {
    if (!command_.empty()) return examine_launch(session, command_);
    const std::vector<Finding> findings = examine_environment();
    if (session.json) {
      print_json(to_json(findings));
    } else {
      print(to_text(findings, session.width));
    }
    return is_healthy(findings) ? success : static_cast<int>(Code::environment);
  }

 private:
  std::vector<std::string> command_;
};

}  // namespace

std::vector<Finding> examine_environment() {
  std::vector<Finding> findings{examine_cores(), examine_memory(), examine_temporary_directory()};
  for (const ProgramRow& row : launcher_programs()) findings.push_back(examine_program(row));
  for (const ProgramRow& row : other_programs) findings.push_back(examine_program(row));
  findings.push_back(examine_perf());
  findings.push_back(examine_otf2());
  findings.push_back(examine_hwloc());
  findings.push_back(examine_probes());
  findings.push_back(examine_slurm_plugin());
  findings.push_back(examine_simulator());
  findings.push_back(examine_reorder());
  return findings;
}

bool is_healthy(const std::vector<Finding>& findings) {
  return std::all_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.works() || !finding.required; });
}

std::string to_text(const std::vector<Finding>& findings, std::size_t width) {
  Table table({{}, {}, {}, {}});
  for (const Finding& finding : findings) {
    const std::string_view state = finding.works()    ? "ok"
                                   : finding.found    ? "fails"
                                   : finding.required ? "MISSING"
                                                      : "missing";
    const std::string& text = finding.works() ? finding.detail : finding.found ? finding.problem : finding.remedy;
    table.row({std::string(state), finding.name, text, finding.needed_for});
  }
  return table.text(width) + (is_healthy(findings)
                                  ? "\nmapping, evaluating and comparing work; a component that is missing "
                                    "or fails limits only what its line names\n"
                                  : "\na required component is missing: see the lines marked MISSING\n");
}

std::unique_ptr<Verb> make_doctor() {
  return std::make_unique<DoctorVerb>();
}

}  // namespace rankloom::app
