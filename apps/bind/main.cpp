// SPDX-License-Identifier: Apache-2.0
// apps/bind: rankloom-bind runs between a launcher and a program: it binds the rank to its processing units, reports
// where the rank is, and replaces itself by the program. It links no libraries, because it is started once per rank on
// every host.
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
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "rankloom/core/launcher_environment.hpp"
#include "rankloom/core/text/number_ranges.hpp"

namespace {

constexpr int usage_status = 2;
constexpr int environment_status = 5;

constexpr const char* help =
    R"(rankloom-bind TABLE PROGRAM [ARGUMENT..]
rankloom-bind --report DIRECTORY TABLE PROGRAM [ARGUMENT..]

Binds this rank to the processing units that TABLE assigns to it (lines of "rank host cpus" such as "3 node1 0-3,8", as
written by `rankloom emit --to wrapper`), then executes PROGRAM. With - as TABLE it binds nothing. With --report it appends a line
"rank host cpus" to a file in DIRECTORY that is named after the host. The rank is read from the environment variables of
the launcher.
)";

using Mask = std::array<unsigned long, 16384 / (sizeof(unsigned long) * CHAR_BIT)>;
constexpr std::size_t mask_bits = sizeof(Mask) * CHAR_BIT;
constexpr std::size_t word_bits = sizeof(unsigned long) * CHAR_BIT;

/// "0-3,8"
std::string allowed_cpus() {
  Mask mask{};
  if (::sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask.data())) != 0) return "?";
  std::vector<std::uint32_t> cpus;
  for (std::size_t cpu = 0; cpu < mask_bits; ++cpu) {
    if ((mask[cpu / word_bits] >> (cpu % word_bits) & 1U) != 0) cpus.push_back(static_cast<std::uint32_t>(cpu));
  }
  return rankloom::format_number_ranges(cpus);
}

bool bind_to(const std::vector<std::uint32_t>& cpus) {
  Mask mask{};
  for (const std::uint32_t cpu : cpus) mask[cpu / word_bits] |= 1UL << (cpu % word_bits);
  return ::sched_setaffinity(0, sizeof mask, reinterpret_cast<const cpu_set_t*>(mask.data())) == 0;
}

std::optional<std::vector<std::uint32_t>> cpus_in_table(const char* table, std::uint64_t rank) {
  std::ifstream file(table);
  std::string line;
  while (std::getline(file, line)) {
    char* end = nullptr;
    if (line.empty() || line[0] == '#' || std::strtoul(line.c_str(), &end, 10) != rank || end == line.c_str()) continue;
    const std::size_t blank = line.find_last_of(' ');
    if (blank == std::string::npos) return std::nullopt;
    auto cpus = rankloom::parse_number_ranges(line.substr(blank + 1), mask_bits - 1);
    return !cpus || cpus->empty() ? std::nullopt : cpus;
  }
  return std::nullopt;
}

/// Appends the line with one write call, because the ranks of a host share the file.
void report(const std::string& directory, std::uint64_t rank) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string line = std::to_string(rank) + " " + host.data() + " " + allowed_cpus() + "\n";
  const int file = ::open((directory + "/" + host.data()).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;  // `rankloom run` notices that the report is missing
  if (::write(file, line.data(), line.size()) < 0) std::perror("rankloom-bind: report");
  ::close(file);
}

int print_error(const std::string& message, int status) {
  std::fprintf(stderr, "rankloom-bind: %s\n", message.c_str());
  return status;
}

}  // namespace

int main(int count, char** arguments) {
  int table_index = 1;
  std::string report_directory;
  if (count > 1 && (std::strcmp(arguments[1], "--help") == 0 || std::strcmp(arguments[1], "-h") == 0)) {
    std::fputs(help, stdout);
    return 0;
  }
  if (count > 2 && std::strcmp(arguments[1], "--report") == 0) {
    report_directory = arguments[2];
    table_index = 3;
  }
  if (count < table_index + 2) {
    std::fputs(help, stderr);
    return usage_status;
  }
  const char* const table = arguments[table_index];
  char** const program = arguments + table_index + 1;
  const auto rank = rankloom::rank_from_environment();
  if (!rank) {
    return print_error(
        "no environment variable of a launcher contains the rank of this process\n  hint: start it with mpirun, "
        "mpiexec "
        "or srun: mpirun -n 4 rankloom-bind TABLE PROGRAM",
        environment_status);
  }
  if (std::strcmp(table, "-") != 0) {
    const auto cpus = cpus_in_table(table, *rank);
    if (!cpus) {
      return print_error(
          "rank " + std::to_string(*rank) + " has no processing units in " + table +
              "\n  hint: check that the file exists on this host and was written for this number of ranks",
          environment_status);
    }
    // An unbound rank is slower than a bound one, but better than no run at all.
    if (!bind_to(*cpus))
      print_error("rank " + std::to_string(*rank) + " cannot be bound to " + rankloom::format_number_ranges(*cpus) +
                      ": " + std::strerror(errno),
                  0);
  }
  if (!report_directory.empty()) report(report_directory, *rank);
  ::execvp(program[0], program);
  return print_error(std::string(program[0]) + ": " + std::strerror(errno), errno == ENOENT ? 127 : 126);
}
