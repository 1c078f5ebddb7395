// SPDX-License-Identifier: Apache-2.0
// apps: rankloom-bind: stands between a launcher and a program, binds the rank to its processing unit, says where it
// is, and becomes the program. Small and without libraries, because it is started once a rank on every host.
#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

namespace {

constexpr int usage_status = 2;
constexpr int environment_status = 5;

constexpr const char* help =
    R"(rankloom-bind TABLE PROGRAM [ARGUMENT..]
rankloom-bind --report FOLDER TABLE PROGRAM [ARGUMENT..]

Binds the rank that it is started as to the processing unit that TABLE names (lines of "rank host cpu", as written by
`rankloom emit --to wrapper`), then becomes PROGRAM. With - for TABLE it binds nothing. With --report it adds a line
"rank host cpus" to a file of FOLDER, named after the host. Which rank it is, it learns from the launcher's variables.
)";

/// What launchers call the number of a rank. Those of MPI come first: inside a Slurm step mpirun starts many ranks of
/// its own, and all of them see the step's SLURM_PROCID.
constexpr std::array<const char*, 9> rank_variables{"OMPI_COMM_WORLD_RANK", "PMIX_RANK",   "PMI_RANK",
                                                    "MV2_COMM_WORLD_RANK",  "PALS_RANKID", "FLUX_TASK_RANK",
                                                    "JSM_NAMESPACE_RANK",   "ALPS_APP_PE", "SLURM_PROCID"};

std::optional<unsigned long> own_rank() {
  for (const char* const name : rank_variables) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value < '0' || *value > '9') continue;
    char* end = nullptr;
    const unsigned long rank = std::strtoul(value, &end, 10);
    if (*end == '\0') return rank;
  }
  return std::nullopt;
}

using Mask = std::array<unsigned long, 16384 / (sizeof(unsigned long) * CHAR_BIT)>;
constexpr std::size_t mask_bits = sizeof(Mask) * CHAR_BIT;
constexpr std::size_t word_bits = sizeof(unsigned long) * CHAR_BIT;

bool has(const Mask& mask, std::size_t cpu) {
  return (mask[cpu / word_bits] >> (cpu % word_bits) & 1U) != 0;
}

/// "0-3,8"
std::string allowed_cpus() {
  Mask mask{};
  if (::sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask.data())) != 0) return "?";
  std::string text;
  for (std::size_t cpu = 0; cpu < mask_bits; ++cpu) {
    if (!has(mask, cpu)) continue;
    std::size_t last = cpu;
    while (last + 1 < mask_bits && has(mask, last + 1)) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(cpu);
    if (last > cpu) text += "-" + std::to_string(last);
    cpu = last;
  }
  return text;
}

bool bind_to(unsigned long cpu) {
  if (cpu >= mask_bits) return false;
  Mask mask{};
  mask[cpu / word_bits] = 1UL << (cpu % word_bits);
  return ::sched_setaffinity(0, sizeof mask, reinterpret_cast<const cpu_set_t*>(mask.data())) == 0;
}

std::optional<unsigned long> cpu_in(const char* table, unsigned long rank) {
  std::ifstream file(table);
  std::string line;
  while (std::getline(file, line)) {
    char* end = nullptr;
    if (line.empty() || line[0] == '#' || std::strtoul(line.c_str(), &end, 10) != rank || end == line.c_str()) continue;
    const std::size_t blank = line.find_last_of(' ');
    if (blank == std::string::npos) return std::nullopt;
    const unsigned long cpu = std::strtoul(line.c_str() + blank + 1, &end, 10);
    return end == line.c_str() + blank + 1 ? std::nullopt : std::optional(cpu);
  }
  return std::nullopt;
}

/// One write of one line: ranks of a host add to the same file.
void report(const std::string& folder, unsigned long rank) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string line = std::to_string(rank) + " " + host.data() + " " + allowed_cpus() + "\n";
  const int file = ::open((folder + "/" + host.data()).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;  // whoever looks for the report sees that it is missing
  if (::write(file, line.data(), line.size()) < 0) std::perror("rankloom-bind: report");
  ::close(file);
}

int complain(const std::string& what, int status) {
  std::fprintf(stderr, "rankloom-bind: %s\n", what.c_str());
  return status;
}

}  // namespace

int main(int count, char** words) {
  int at = 1;
  std::string folder;
  if (count > 1 && (std::strcmp(words[1], "--help") == 0 || std::strcmp(words[1], "-h") == 0)) {
    std::fputs(help, stdout);
    return 0;
  }
  if (count > 2 && std::strcmp(words[1], "--report") == 0) {
    folder = words[2];
    at = 3;
  }
  if (count < at + 2) {
    std::fputs(help, stderr);
    return usage_status;
  }
  const char* const table = words[at];
  const auto rank = own_rank();
  if (!rank) {
    return complain(
        "no launcher said which rank this is\n  hint: start it by mpirun, mpiexec or srun, before the program",
        environment_status);
  }
  if (std::strcmp(table, "-") != 0) {
    const auto cpu = cpu_in(table, *rank);
    if (!cpu) {
      return complain("rank " + std::to_string(*rank) + " has no processing unit in " + table +
                          "\n  hint: is the file there on this host, and made for this number of ranks?",
                      environment_status);
    }
    // Slower is better than not at all.
    if (!bind_to(*cpu))
      complain(
          "rank " + std::to_string(*rank) + " cannot be bound to " + std::to_string(*cpu) + ": " + std::strerror(errno),
          0);
  }
  if (!folder.empty()) report(folder, *rank);
  ::execvp(words[at + 1], words + at + 1);
  return complain(std::string(words[at + 1]) + ": " + std::strerror(errno), errno == ENOENT ? 127 : 126);
}
