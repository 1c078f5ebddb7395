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
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "apps/bind/thread_watcher.hpp"
#include "rankloom/core/launcher_environment.hpp"
#include "rankloom/core/system/cpu_set.hpp"
#include "rankloom/core/text/number_ranges.hpp"

namespace {

constexpr int usage_status = 2;
constexpr int environment_status = 5;

constexpr const char* help =
    R"(rankloom-bind TABLE PROGRAM [ARGUMENT..]
rankloom-bind --report DIRECTORY [--threads] TABLE PROGRAM [ARGUMENT..]

Binds this rank to the processing units that TABLE assigns to it (lines of "rank host cpus" such as "3 node1 0-3,8", as
written by `rankloom emit --to wrapper`), then executes PROGRAM. "threads 4" after the processing units sets
OMP_NUM_THREADS, OMP_PLACES and OMP_PROC_BIND unless one of them is set; "gpus 0,1" sets the variables with which CUDA,
ROCm and Level Zero choose devices; "memory local" and "memory interleave" set where memory comes from; "nic mlx5_0"
restricts UCX or libfabric to a network card. With - as TABLE it binds nothing. With --report it appends a line
"rank host cpus" to a file in DIRECTORY that is named after the host, with --threads also lines "rank host cpus threads
cpus:ticks .." while the program runs: where each thread may run, and its processor time. The rank is read from the
environment variables of the launcher.
)";

/// "0-3,8"
std::string allowed_cpus() {
  const auto allowed = rankloom::CpuSet::allowed();
  return allowed ? rankloom::format_number_ranges(allowed->members()) : "?";
}

/// What the table says about a rank.
struct Slot {
  std::vector<std::uint32_t> cpus;
  std::string threads = {}, gpus = {}, memory = {}, nic = {};  ///< Empty: not said.
};

std::optional<Slot> slot_in_table(const char* table, std::uint64_t rank) {
  std::ifstream file(table);
  std::string line;
  while (std::getline(file, line)) {
    char* end = nullptr;
    if (line.empty() || line[0] == '#' || std::strtoul(line.c_str(), &end, 10) != rank || end == line.c_str()) continue;
    std::istringstream fields(line);
    std::string number, host, list, name, value;
    fields >> number >> host >> list;
    auto cpus = rankloom::parse_number_ranges(list, rankloom::CpuSet::max_cpus - 1);
    if (!cpus || cpus->empty()) return std::nullopt;
    Slot slot{std::move(*cpus)};
    while (fields >> name >> value) {
      if (name == "threads") slot.threads = value;
      if (name == "gpus") slot.gpus = value;
      if (name == "memory") slot.memory = value;
      if (name == "nic") slot.nic = value;
    }
    return slot;
  }
  return std::nullopt;
}

/// The variable with which the vendor of the host's GPUs chooses devices.
const char* gpu_variable() {
  if (::access("/dev/kfd", F_OK) == 0) return "ROCR_VISIBLE_DEVICES";
  const bool intel = ::access("/dev/nvidiactl", F_OK) != 0 && ::access("/dev/dri", F_OK) == 0;
  return intel ? "ZE_AFFINITY_MASK" : "CUDA_VISIBLE_DEVICES";
}

/// One variable of one vendor: with those of two, HIP would look for a device among those that ROCm has left.
void set_gpus(const std::string& numbers) {
  const std::string variable = gpu_variable();
  if (variable == "ROCR_VISIBLE_DEVICES") {
    for (const char* const name : {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"}) ::unsetenv(name);
  }
  if (variable == "CUDA_VISIBLE_DEVICES") ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);  // as they are numbered
  ::setenv(variable.c_str(), numbers.c_str(), 1);
}

/// UCX names a port of a card, libfabric on Slingshot a card.
void set_network_card(const std::string& name) {
  if (name.starts_with("hsn")) {
    ::setenv("FI_CXI_DEVICE_NAME", ("cxi" + name.substr(3)).c_str(), 0);
  } else {
    ::setenv("UCX_NET_DEVICES", (name + ":1").c_str(), 0);
  }
}

/// The policies of set_mempolicy(2), whose header belongs to a library.
constexpr int policy_preferred = 1, policy_interleave = 3, policy_local = 4;
constexpr std::size_t max_numa_nodes = 1024;  // as many as Linux can have
constexpr std::size_t word_bits = sizeof(unsigned long) * CHAR_BIT;
/// One bit per node, and one more, because Linux ignores the last one that it is told of.
using NodeMask = std::array<unsigned long, max_numa_nodes / word_bits + 1>;

/// The NUMA nodes of some processing units of this host, one bit for each.
NodeMask numa_nodes_of(const std::vector<std::uint32_t>& cpus) {
  NodeMask nodes{};
  for (std::size_t node = 0; node < max_numa_nodes; ++node) {
    std::ifstream file("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist");
    std::string list;
    if (!std::getline(file, list)) continue;
    const auto of_node = rankloom::parse_number_ranges(list, rankloom::CpuSet::max_cpus - 1);
    const bool shared = of_node && std::any_of(cpus.begin(), cpus.end(), [&](std::uint32_t cpu) {
                          return std::binary_search(of_node->begin(), of_node->end(), cpu);
                        });
    if (shared) nodes[node / word_bits] |= 1UL << (node % word_bits);
  }
  return nodes;
}

/// Programs inherit the policy.
bool set_memory(const Slot& slot) {
  if (slot.memory == "local") return ::syscall(SYS_set_mempolicy, policy_local, nullptr, 0) == 0;
  const NodeMask nodes = numa_nodes_of(slot.cpus);
  return ::syscall(SYS_set_mempolicy, policy_interleave, nodes.data(), max_numa_nodes + 1) == 0;
}

/// "local", "interleave", or "?". Before Linux 5.14, "local" is a preferred node without a node.
std::string memory_policy() {
  int policy = -1;
  NodeMask nodes{};
  if (::syscall(SYS_get_mempolicy, &policy, nodes.data(), max_numa_nodes + 1, nullptr, 0) != 0) return "?";
  const bool none = std::all_of(nodes.begin(), nodes.end(), [](unsigned long word) { return word == 0; });
  if (policy == policy_local || (policy == policy_preferred && none)) return "local";
  return policy == policy_interleave ? "interleave" : "?";
}

/// What the user has set stays, except the choice of GPUs, which is the mapping's.
void set_environment(const Slot& slot) {
  const std::array openmp{"OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND"};
  const bool given =
      std::any_of(openmp.begin(), openmp.end(), [](const char* name) { return std::getenv(name) != nullptr; });
  if (!slot.threads.empty() && !given) {
    ::setenv("OMP_NUM_THREADS", slot.threads.c_str(), 1);
    const bool all_units = slot.threads == std::to_string(slot.cpus.size());
    ::setenv("OMP_PLACES", all_units ? "threads" : "cores", 1);
    ::setenv("OMP_PROC_BIND", "close", 1);
  }
  if (!slot.gpus.empty()) set_gpus(slot.gpus);
  if (!slot.nic.empty()) set_network_card(slot.nic);
}

/// What the program inherits besides its processing units, as the report shows it.
std::string settings_text(const Slot& slot) {
  std::string text;
  if (!slot.memory.empty()) text += " memory " + memory_policy();
  const char* const gpus = slot.gpus.empty() ? nullptr : std::getenv(gpu_variable());
  return gpus == nullptr ? text : text + " gpus " + gpus;
}

/// Appends the line with one write call, because the ranks of a host share the file.
void report(const std::string& directory, std::uint64_t rank, const std::string& settings, bool threads) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string path = directory + "/" + host.data();
  const std::string beginning = std::to_string(rank) + " " + host.data() + " " + allowed_cpus() + settings,
                    line = beginning + "\n";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;  // `rankloom run` notices that the report is missing
  if (::write(file, line.data(), line.size()) < 0) std::perror("rankloom-bind: report");
  ::close(file);
  if (threads) rankloom::bind::start_thread_watcher(beginning, path);
}

int print_error(const std::string& message, int status) {
  std::fprintf(stderr, "rankloom-bind: %s\n", message.c_str());
  return status;
}

}  // namespace

int main(int count, char** arguments) {
  int table_index = 1;
  std::string report_directory;
  bool threads = false;
  if (count > 1 && (std::strcmp(arguments[1], "--help") == 0 || std::strcmp(arguments[1], "-h") == 0)) {
    std::fputs(help, stdout);
    return 0;
  }
  if (count > 2 && std::strcmp(arguments[1], "--report") == 0) {
    report_directory = arguments[2];
    table_index = 3;
    threads = count > 3 && std::strcmp(arguments[3], "--threads") == 0;
    if (threads) ++table_index;
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
  std::string settings;
  if (std::strcmp(table, "-") != 0) {
    const auto slot = slot_in_table(table, *rank);
    if (!slot) {
      return print_error(
          "rank " + std::to_string(*rank) + " has no processing units in " + table +
              "\n  hint: check that the file exists on this host and was written for this number of ranks",
          environment_status);
    }
    // An unbound rank is slower than a bound one, but better than no run at all.
    if (!rankloom::CpuSet(slot->cpus).bind())
      print_error("rank " + std::to_string(*rank) + " cannot be bound to " +
                      rankloom::format_number_ranges(slot->cpus) + ": " + std::strerror(errno),
                  0);
    if (!slot->memory.empty() && !set_memory(*slot))
      print_error("rank " + std::to_string(*rank) + " cannot set its memory policy: " + std::strerror(errno), 0);
    set_environment(*slot);
    settings = settings_text(*slot);
  }
  if (!report_directory.empty()) report(report_directory, *rank, settings, threads);
  ::execvp(program[0], program);
  return print_error(std::string(program[0]) + ": " + std::strerror(errno), errno == ENOENT ? 127 : 126);
}
