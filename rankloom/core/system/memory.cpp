// SPDX-License-Identifier: Apache-2.0
// core/system: the memory that this process may use.
#include "rankloom/core/system/memory.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rankloom/core/text/units.hpp"

namespace rankloom {

namespace {

/// The content of a file such as memory.max. "max" and the largest number of version 1 mean that there is no limit.
std::optional<double> limit_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  double bytes = 0;
  constexpr double unlimited = 0x1p60;
  if (!(file >> bytes) || bytes >= unlimited) return std::nullopt;
  return bytes;
}

/// The lowest limit of a control group and of all groups that contain it. In a container the path of the group may be
/// that of the host; then only the last one, the root, exists.
std::optional<double> limit_of_group(const std::filesystem::path& root, std::string_view group, const char* file) {
  std::optional<double> lowest = limit_in(root / file);
  std::filesystem::path path = root;
  for (const auto& part : std::filesystem::path(group).relative_path()) {
    path /= part;
    const auto limit = limit_in(path / file);
    if (limit) lowest = std::min(*limit, lowest.value_or(*limit));
  }
  return lowest;
}

}  // namespace

std::optional<double> control_group_limit(const std::string& groups, const std::string& mounted) {
  std::optional<double> lowest;
  const auto add = [&](std::optional<double> limit) {
    if (limit) lowest = std::min(*limit, lowest.value_or(*limit));
  };
  std::istringstream lines(groups);
  // NUMBER:CONTROLLERS:PATH; version 2 has number 0 and no controllers
  for (std::string number, controllers, path;
       std::getline(lines, number, ':') && std::getline(lines, controllers, ':') && std::getline(lines, path);) {
    const std::filesystem::path root(mounted);
    if (controllers.empty()) {
      for (const char* const directory : {"", "unified"}) add(limit_of_group(root / directory, path, "memory.max"));
    } else if (fmt::format(",{},", controllers).find(",memory,") != std::string::npos) {
      add(limit_of_group(root / "memory", path, "memory.limit_in_bytes"));
    }
  }
  return lowest;
}

UsableMemory usable_memory() {
  UsableMemory memory{static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE)),
                      ""};
  const auto limit = [&](double bytes, const char* what) {
    if (bytes < memory.bytes) memory = {bytes, what};
  };
  std::ifstream file("/proc/self/cgroup");
  const std::string groups{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (const auto bytes = control_group_limit(groups, "/sys/fs/cgroup")) limit(*bytes, "its control group");
  rlimit most{};
  if (::getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur != RLIM_INFINITY)
    limit(static_cast<double>(most.rlim_cur), "`ulimit -v`");
  if (::getrlimit(RLIMIT_DATA, &most) == 0 && most.rlim_cur != RLIM_INFINITY)
    limit(static_cast<double>(most.rlim_cur), "`ulimit -d`");
  return memory;
}

Result<void> check_memory(Where where, std::string what, double bytes, std::string hint) {
  const UsableMemory memory = usable_memory();
  if (bytes < memory.bytes) return {};
  const std::string available =
      memory.limit.empty() ? fmt::format("this machine has {}", format_bytes(memory.bytes))
                           : fmt::format("{} limits this process to {}", memory.limit, format_bytes(memory.bytes));
  return fail(Code::environment, std::move(where),
              fmt::format("{} needs {} of memory, {}", what, format_bytes(bytes), available), std::move(hint));
}

}  // namespace rankloom
