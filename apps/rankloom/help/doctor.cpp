// SPDX-License-Identifier: Apache-2.0
// apps: `rankloom doctor`: is everything here to work? Each line says what a thing is needed for and how to get it.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/rankloom/output.hpp"
#include "apps/rankloom/process/processes.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/units.hpp"
#include "rankloom/discover/hwloc/hwloc.hpp"
#include "rankloom/report/table.hpp"

namespace rankloom::app {

namespace {

struct Finding {
  std::string name;
  bool found = false;
  bool required = false;
  std::string detail;  ///< A version, a number, a path.
  std::string needed_for;
  std::string remedy;  ///< Empty when found.
};

std::optional<std::string> on_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  if (path == nullptr) return std::nullopt;
  std::string_view rest(path);
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    const auto candidate = std::filesystem::path(folder) / program;
    if (!folder.empty() && ::access(candidate.c_str(), X_OK) == 0 && !std::filesystem::is_directory(candidate))
      return candidate.string();
  }
  return std::nullopt;
}

/// What a program says about itself; at most some lines, nothing when it fails.
std::string output_of(const std::string& command) {
  std::FILE* const pipe = ::popen((command + " 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  std::array<char, 512> block{};
  while (std::fgets(block.data(), block.size(), pipe) != nullptr) {
    if (text.size() < 4096) text += block.data();
  }
  ::pclose(pipe);
  return text;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// "Open MPI 4.1.4", "MPICH 4.0.2": launchers that go by the same name tell which they are.
std::string launcher_version(const std::string& program) {
  const std::string said = output_of(shell_word(program) + " --version");
  if (said.find("Open MPI") != std::string::npos || said.find("OpenRTE") != std::string::npos) {
    const std::string line = first_line(said);
    return "Open MPI " + line.substr(line.find_last_of(' ') + 1);
  }
  const auto version = said.find("Version:");
  if (said.find("HYDRA") != std::string::npos && version != std::string::npos) {
    const auto begin = said.find_first_not_of(' ', version + 8);
    return "MPICH " + said.substr(begin, said.find_first_of(" \n", begin) - begin);
  }
  return first_line(said);
}

std::string long_flag_version(const std::string& program) {
  return first_line(output_of(shell_word(program) + " --version"));
}

std::string short_flag_version(const std::string& program) {
  return first_line(output_of(shell_word(program) + " -V"));
}

/// One program that may be there.
struct ProgramRow {
  std::string_view name;
  std::string (*version)(const std::string& path);  ///< Asks it; nullptr: only whether it is there.
  std::string_view needed_for;
  std::string_view package;
};

constexpr std::array<ProgramRow, 12> programs{{
    {"mpirun.openmpi", launcher_version, "running programs of Open MPI", "openmpi-bin"},
    {"mpirun.mpich", launcher_version, "running programs of MPICH", "mpich"},
    {"mpirun", launcher_version, "launching MPI programs", "openmpi-bin"},
    {"srun", long_flag_version, "launching under Slurm", "slurm-client"},
    {"ssh", short_flag_version, "launching on other hosts", "openssh-client"},
    {"ip", nullptr, "rankloom lab, a cluster on one machine (with root)", "iproute2"},
    {"slurmctld", nullptr, "rankloom slurm lab, a Slurm on one machine (with root)", "slurmctld"},
    {"slurmd", nullptr, "rankloom slurm lab", "slurmd"},
    {"munged", nullptr, "rankloom slurm lab", "munge"},
    {"lstopo-no-graphics", long_flag_version, "looking at a node by hand", "hwloc-nox"},
    {"gcc", long_flag_version, "compiling programs that record their threads", "gcc"},
    {"man", nullptr, "reading the manual pages", "man-db"},
}};

Finding examine(const ProgramRow& row) {
  Finding finding{.name = std::string(row.name),
                  .found = false,
                  .required = false,
                  .detail = {},
                  .needed_for = std::string(row.needed_for),
                  .remedy = {}};
  const auto path = on_path(finding.name);
  finding.found = path.has_value();
  if (!path) {
    finding.remedy = fmt::format("apt install {}", row.package);
  } else {
    finding.detail = row.version != nullptr ? row.version(*path) : *path;
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
          .remedy = cores > 0 ? "" : "run on a machine that lets processes see its cores"};
}

Finding examine_memory() {
  const double bytes = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  const bool enough = bytes >= 256e6;
  return {.name = "memory",
          .found = enough,
          .required = true,
          .detail = format_bytes(bytes),
          .needed_for = "1 GB holds about 50 million edges",
          .remedy = enough ? "" : "use a machine with at least 256 MB"};
}

Finding examine_temporary_folder() {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  const bool writable = !error && ::access(folder.c_str(), W_OK) == 0;
  return {.name = "temporary folder",
          .found = writable,
          .required = true,
          .detail = folder.string(),
          .needed_for = "files between recording and mapping",
          .remedy = writable ? "" : "set TMPDIR to a folder that can be written"};
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
          .needed_for = "counting instructions of each rank",
          .remedy = allowed ? ""
                    : known ? "sysctl kernel.perf_event_paranoid=2"
                            : "a kernel with perf events"};
}

Finding examine_otf2() {
  const bool found = reads_otf2();
  return {.name = "libotf2",
          .found = found,
          .required = false,
          .detail = found ? "built in" : "",
          .needed_for = "importing traces of Score-P and eztrace",
          .remedy = found ? "" : "apt install libotf2-trace-dev, then build again"};
}

Finding examine_hwloc() {
  const bool found = reads_hwloc();
  return {.name = "libhwloc",
          .found = found,
          .required = false,
          .detail = found ? "built in" : "",
          .needed_for = "looking at hosts and reading their hwloc files",
          .remedy = found ? "" : "apt install libhwloc-dev, then build again"};
}

/// rankloom-probe of any MPI.
Finding examine_probes() {
  std::string names;
  for (const std::string_view mpi : {"openmpi", "mpich", "default"}) {
    if (find_beside(fmt::format("rankloom-probe-{}", mpi)))
      names += fmt::format("{}{}", names.empty() ? "" : ", ", mpi);
  }
  return {.name = "rankloom-probe",
          .found = !names.empty(),
          .required = false,
          .detail = names,
          .needed_for = "measuring a machine",
          .remedy = names.empty() ? remedy_for_part("rankloom-record-openmpi or rankloom-record-mpich",
                                                    "libopenmpi-dev or libmpich-dev")
                                  : ""};
}

Finding examine_slurm_plugin() {
  const auto found = find_beside("slurm/select_cons_tres.so");
  return {.name = "plugin for Slurm",
          .found = found.has_value(),
          .required = false,
          .detail = found ? "built" : "",
          .needed_for = "jobs of Slurm 22.05 that do not meet",
          .remedy = found ? "" : remedy_for_part("rankloom-slurm", "libslurm-dev slurm-wlm-basic-plugins")};
}

Finding examine_simulator() {
  const bool found = find_beside("rankloom-simulate").has_value();
  return {.name = "SimGrid",
          .found = found,
          .required = false,
          .detail = found ? "rankloom-simulate" : "",
          .needed_for = "simulating programs: simulate, eval --simulate, tune --predict",
          .remedy = found ? "" : remedy_for_part("rankloom-simulate", "libsimgrid-dev")};
}

/// The library of any MPI, and the program that maps for it.
Finding examine_reorder() {
  std::string names;
  for (const std::string_view mpi : {"openmpi", "mpich"}) {
    if (find_beside("rankloom-reorder") && find_beside(fmt::format("librankloom_reorder_{}.so", mpi)))
      names += fmt::format("{}{}", names.empty() ? "" : ", ", mpi);
  }
  return {.name = "rankloom-reorder",
          .found = !names.empty(),
          .required = false,
          .detail = names,
          .needed_for = "renumbering virtual topologies of MPI",
          .remedy = names.empty() ? remedy_for_part("rankloom-record-openmpi or rankloom-record-mpich",
                                                    "libopenmpi-dev or libmpich-dev")
                                  : ""};
}

class DoctorVerb : public Verb {
 public:
  void describe(CLI::App&) override {}

  Result<int> run(const Session& session) override {
    std::vector<Finding> findings{examine_cores(), examine_memory(), examine_temporary_folder()};
    for (const ProgramRow& row : programs) findings.push_back(examine(row));
    findings.push_back(examine_perf());
    findings.push_back(examine_otf2());
    findings.push_back(examine_hwloc());
    findings.push_back(examine_probes());
    findings.push_back(examine_slurm_plugin());
    findings.push_back(examine_simulator());
    findings.push_back(examine_reorder());
    bool healthy = true;
    for (const Finding& finding : findings) healthy = healthy && (finding.found || !finding.required);
    if (session.json) {
      print_json(to_json(findings, healthy));
    } else {
      print(to_text(findings, healthy));
    }
    return healthy ? success : static_cast<int>(Code::environment);
  }

 private:
  static Json to_json(const std::vector<Finding>& findings, bool healthy) {
    Json json{{"healthy", healthy}, {"checks", Json::array()}};
    for (const Finding& finding : findings) {
      json["checks"].push_back({{"name", finding.name},
                                {"found", finding.found},
                                {"required", finding.required},
                                {"detail", finding.detail},
                                {"needed_for", finding.needed_for},
                                {"remedy", finding.remedy}});
    }
    return json;
  }

  static std::string to_text(const std::vector<Finding>& findings, bool healthy) {
    Table table({{}, {}, {}, {}});
    for (const Finding& finding : findings) {
      const std::string_view state = finding.found ? "ok" : finding.required ? "MISSING" : "missing";
      table.row(
          {std::string(state), finding.name, finding.found ? finding.detail : finding.remedy, finding.needed_for});
    }
    return table.text() +
           (healthy ? "\nmapping, evaluating and comparing work here; what is missing limits only what its line names\n"
                    : "\nsomething required is missing: see the lines marked MISSING\n");
  }
};

}  // namespace

std::unique_ptr<Verb> make_doctor() {
  return std::make_unique<DoctorVerb>();
}

}  // namespace rankloom::app
