// SPDX-License-Identifier: Apache-2.0
// place/virtual_cluster: Linux namespaces as hosts.
#include "rankloom/place/virtual_cluster/namespaces.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/system/process.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;

constexpr int kill_attempts = 200;
constexpr std::chrono::milliseconds kill_interval{10};

/// Runs in the holder process. Returns only on failure.
int hold_namespaces(const char* title, int ready_pipe, bool temporary, const std::function<bool()>& setup) {
  ::setsid();
  if (temporary) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, title);
  const bool ready = setup();
  const char status = ready ? 'y' : 'n';
  if (::write(ready_pipe, &status, 1) != 1) return 1;
  // A reader of this program's output waits until all writers have closed it. The holder must not be one of them.
  const int null_device = ::open("/dev/null", O_RDWR);
  for (int file = 0; file < 3; ++file) ::dup2(null_device, file);
  for (int file = 3; file < 64; ++file) ::close(file);
  if (!ready || ::chdir("/") != 0) return 1;
  for (;;) ::pause();
}

std::vector<std::int32_t> processes_in_namespace(const char* kind, std::uint64_t inode) {
  std::vector<std::int32_t> processes;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    std::int32_t process = 0;
    const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (problem != std::errc() || end != name.data() + name.size()) continue;
    if (namespace_inode(process, kind) == inode) processes.push_back(process);
  }
  return processes;
}

std::string file_contents(const std::string& path) {
  auto file = read_file(path);
  return file ? std::string(file->view()) : std::string();
}

bool has_in_environment(std::int32_t process, const std::string& variable) {
  return file_contents(fmt::format("/proc/{}/environ", process)).find(variable + '\0') != std::string::npos;
}

bool is_other_host(const VirtualHost& host, const HostIdentity& identity) {
  return host.inode != 0 && host.inode != namespace_inode(::getpid(), identity.kind);
}

/// The kernel reuses inode numbers of namespaces, so an inode identifies a host only while its holder exists.
void kill_host(const VirtualHost& host, const HostIdentity& identity) {
  if (!is_other_host(host, identity)) return;
  const bool holder_exists =
      namespace_inode(host.holder, identity.kind) == host.inode &&
      file_contents(fmt::format("/proc/{}/comm", host.holder)) == std::string(identity.title) + "\n";
  for (int attempt = 0; attempt < kill_attempts; ++attempt) {
    auto remaining = processes_in_namespace(identity.kind, host.inode);
    std::erase_if(remaining, [&](std::int32_t process) {
      return process == host.holder || (!holder_exists && !has_in_environment(process, identity.environment));
    });
    if (remaining.empty()) break;
    for (const std::int32_t process : remaining) ::kill(process, SIGKILL);
    std::this_thread::sleep_for(kill_interval);
  }
  if (holder_exists) ::kill(host.holder, SIGKILL);
}

/// A killed process exists until the kernel has removed its namespaces.
void wait_for_end(const VirtualHost& host, const HostIdentity& identity) {
  for (int attempt = 0; attempt < kill_attempts && is_other_host(host, identity); ++attempt) {
    ::waitpid(host.holder, nullptr, WNOHANG);
    if (namespace_inode(host.holder, identity.kind) != host.inode) return;
    std::this_thread::sleep_for(kill_interval);
  }
}

}  // namespace

Failure system_failure(const std::string& what, std::string hint) {
  return fail(Code::environment, at("lab"), fmt::format("{}: {}", what, std::strerror(errno)), std::move(hint));
}

std::string find_system_program(const std::string& program) {
  const char* const path = std::getenv("PATH");
  return find_program(program, std::string(path != nullptr ? path : "") + ":/usr/sbin:/usr/bin:/sbin:/bin");
}

bool join_namespace(std::int32_t process, const char* kind) {
  const int file = ::open(fmt::format("/proc/{}/ns/{}", process, kind).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool joined = ::setns(file, 0) == 0;
  ::close(file);
  return joined;
}

std::uint64_t namespace_inode(std::int32_t process, const char* kind) {
  struct stat status {};
  return ::stat(fmt::format("/proc/{}/ns/{}", process, kind).c_str(), &status) == 0 ? status.st_ino : 0;
}

Result<std::int32_t> start_namespace_holder(const std::string& host, const char* title, bool temporary,
                                            const std::function<bool()>& setup) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure("cannot create a pipe");
  ChildProcess holder = ChildProcess::fork([&] { return hold_namespaces(title, ends[1], temporary, setup); });
  ::close(ends[1]);
  char status = 'n';
  const bool reported = holder.started() && ::read(ends[0], &status, 1) == 1;
  ::close(ends[0]);
  if (!reported || status != 'y') {
    errno = EPERM;
    return system_failure(fmt::format("cannot create the namespaces of {}", host),
                          "run as root with the right to mount; start a container with --privileged");
  }
  return holder.release();
}

/// The holders are killed last in each host, because only a holder proves that a namespace belongs to the host.
void kill_hosts(std::span<const VirtualHost> hosts, const HostIdentity& identity) {
  for (const VirtualHost& host : hosts) kill_host(host, identity);
  for (const VirtualHost& host : hosts) wait_for_end(host, identity);
}

Result<void> enter_host(const VirtualHost& host, const char* identifying_kind, std::span<const char* const> kinds,
                        std::string restart_command) {
  if (namespace_inode(host.holder, identifying_kind) != host.inode)
    return fail(Code::environment, at(host.name), "this host no longer exists", std::move(restart_command));
  std::error_code error;
  const fs::path directory = fs::current_path(error);
  for (const char* const kind : kinds) {
    if (!join_namespace(host.holder, kind))
      return system_failure(fmt::format("cannot enter {}", host.name), "run it as root");
  }
  if (::chdir(directory.c_str()) != 0)
    return system_failure(directory.string(), "run the command in a directory that the host has, too");
  return {};
}

Result<void> check_cluster_name(const std::string& name) {
  const bool valid = !name.empty() && name.size() <= 32 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  }) && name[0] != '-';
  if (valid) return {};
  return fail(Code::usage, at("--name"), fmt::format("'{}' is not a valid name", name),
              "use at most 32 lower-case letters, digits and -");
}

std::vector<std::string> directory_entries(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace rankloom
