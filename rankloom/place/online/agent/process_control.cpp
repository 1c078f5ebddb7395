// SPDX-License-Identifier: Apache-2.0
// place/online: CPU times, bindings and memory pages of other processes and threads of this host.
#include "rankloom/place/online/agent/process_control.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rankloom/core/system/cpu_set.hpp"
#include "rankloom/core/text/number_ranges.hpp"

namespace rankloom::process_control {

namespace {

namespace fs = std::filesystem;

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<std::uint32_t> parse_number(const std::string& text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

bool is_alive(std::uint32_t process) {
  const std::string line = first_line(fmt::format("/proc/{}/stat", process));
  const std::size_t name_end = line.rfind(')');
  return name_end != std::string::npos && name_end + 2 < line.size() && line[name_end + 2] != 'Z' &&
         line[name_end + 2] != 'X';
}

std::optional<double> cpu_seconds(std::uint32_t process) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(static_cast<pid_t>(process), &clock) != 0 || ::clock_gettime(clock, &time) != 0)
    return std::nullopt;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::vector<std::uint32_t> allowed_cpus(std::uint32_t process) {
  return CpuSet::allowed(static_cast<pid_t>(process)).value_or(CpuSet()).members();
}

bool bind_process(std::uint32_t process, std::uint32_t cpu) {
  const CpuSet set({&cpu, 1});
  if (!set.bind(static_cast<pid_t>(process))) return false;
  // A new thread inherits the binding of its creator. The second round binds threads whose creator was not bound yet.
  for (int round = 0; round < 2; ++round) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/task", process), error)) {
      const auto thread = parse_number(entry.path().filename().string());
      if (thread && *thread != process) set.bind(static_cast<pid_t>(*thread));
    }
  }
  return true;
}

std::optional<double> thread_cpu_seconds(std::uint32_t process, std::uint32_t thread) {
  // Some kernels do not provide nanoseconds (schedstat); then the clock ticks of `stat` are used.
  double nanoseconds = 0;
  if (std::ifstream exact(fmt::format("/proc/{}/task/{}/schedstat", process, thread)); exact >> nanoseconds)
    return 1e-9 * nanoseconds;
  const std::string line = first_line(fmt::format("/proc/{}/task/{}/stat", process, thread));
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0;
  if (!(fields >> user >> system)) return std::nullopt;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

bool bind_thread(std::uint32_t thread, std::uint32_t cpu) {
  return CpuSet({&cpu, 1}).bind(static_cast<pid_t>(thread));
}

bool bind_self(std::span<const std::uint32_t> cpus) {
  return CpuSet(cpus).bind();
}

std::vector<std::uint32_t> numa_node_of_cpu() {
  std::vector<std::uint32_t> node_of;
  std::size_t nodes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/sys/devices/system/node", error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("node")) continue;
    const auto node = parse_number(name.substr(4));
    if (!node) continue;
    ++nodes;
    const auto cpus = parse_number_ranges(first_line((entry.path() / "cpulist").string()));
    for (const std::uint32_t cpu : cpus.value_or(std::vector<std::uint32_t>())) {
      if (node_of.size() <= cpu) node_of.resize(cpu + 1, 0);
      node_of[cpu] = *node;
    }
  }
  return nodes > 1 ? node_of : std::vector<std::uint32_t>();
}

bool migrate_pages(std::uint32_t process, std::uint32_t from, std::uint32_t to) {
  constexpr std::size_t word_bits = sizeof(unsigned long) * CHAR_BIT;
  std::array<unsigned long, 1024 / word_bits> old_nodes{}, new_nodes{};
  old_nodes[from / word_bits % old_nodes.size()] = 1UL << (from % word_bits);
  new_nodes[to / word_bits % new_nodes.size()] = 1UL << (to % word_bits);
  return ::syscall(SYS_migrate_pages, static_cast<pid_t>(process), 1024UL, old_nodes.data(), new_nodes.data()) >= 0;
}

}  // namespace rankloom::process_control
