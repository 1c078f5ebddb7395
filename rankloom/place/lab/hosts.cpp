// SPDX-License-Identifier: Apache-2.0
// place: the hosts of a lab: processes that hold namespaces open, and those that run there.
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rankloom/core/file.hpp"
#include "rankloom/place/lab/parts.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;

constexpr const char* lab_keeper = "rankloom-lab";

/// What a host sees otherwise than the machine: its name, its own shared memory, who is who. False: not allowed.
bool furnish(const std::string& name, const std::string& folder) {
  const auto over = [&](const char* file, const char* target) {
    return ::mount((folder + "/" + file).c_str(), target, nullptr, MS_BIND, nullptr) == 0;
  };
  return ::sethostname(name.c_str(), name.size()) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0 && over("hosts", "/etc/hosts") &&
         over("nsswitch.conf", "/etc/nsswitch.conf");
}

/// The process that a host consists of. Never returns.
[[noreturn]] void keep(const char* title, int ready, bool fleeting, const std::function<bool()>& furnish) {
  ::setsid();
  if (fleeting) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, title);
  const bool made = furnish();
  const char answer = made ? 'y' : 'n';
  if (::write(ready, &answer, 1) != 1) ::_exit(1);
  // Whoever waits for the end of our output must not wait for this process.
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int file = 0; file < 3; ++file) ::dup2(nothing, file);
  for (int file = 3; file < 64; ++file) ::close(file);
  if (!made || ::chdir("/") != 0) ::_exit(1);
  for (;;) ::pause();
}

std::vector<std::int32_t> processes_in(const char* kind, std::uint64_t space) {
  std::vector<std::int32_t> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    std::int32_t process = 0;
    const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (problem != std::errc() || end != name.data() + name.size()) continue;
    if (space_of(process, kind) == space) found.push_back(process);
  }
  return found;
}

std::string content_of(const std::string& path) {
  auto file = read_file(path);
  return file ? std::string(file->view()) : std::string();
}

bool has_in_its_environment(const std::string& mark, std::int32_t process) {
  return content_of(fmt::format("/proc/{}/environ", process)).find(mark + '\0') != std::string::npos;
}

}  // namespace

Failure lab_failure(const std::string& what, std::string hint) {
  return fail(Code::environment, at("lab"), fmt::format("{}: {}", what, std::strerror(errno)), std::move(hint));
}

int in_child(const std::function<int()>& child, std::string* said) {
  std::array<int, 2> ends{-1, -1};
  if (said != nullptr && ::pipe2(ends.data(), O_CLOEXEC) != 0) return 127;
  const pid_t process = ::fork();
  if (process == 0) {
    if (said != nullptr) ::dup2(ends[1], STDERR_FILENO);
    ::_exit(child());
  }
  if (said != nullptr) {
    ::close(ends[1]);
    std::array<char, 512> block{};
    for (ssize_t got = 0; (got = ::read(ends[0], block.data(), block.size())) > 0;)
      said->append(block.data(), static_cast<std::size_t>(got));
    ::close(ends[0]);
  }
  int status = 0;
  while (process > 0 && ::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return process > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

bool program_is_there(const std::string& program) {
  return in_child([&] {
           const int nothing = ::open("/dev/null", O_WRONLY);
           ::dup2(nothing, STDOUT_FILENO);
           ::dup2(nothing, STDERR_FILENO);
           ::execlp(program.c_str(), program.c_str(), "-Version", nullptr);
           return 127;
         }) != 127;
}

bool join_namespace(std::int32_t process, const char* kind) {
  const int file = ::open(fmt::format("/proc/{}/ns/{}", process, kind).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool joined = ::setns(file, 0) == 0;
  ::close(file);
  return joined;
}

std::uint64_t space_of(std::int32_t process, const char* kind) {
  struct stat about {};
  return ::stat(fmt::format("/proc/{}/ns/{}", process, kind).c_str(), &about) == 0 ? about.st_ino : 0;
}

std::uint64_t network_of(std::int32_t process) {
  return space_of(process, "net");
}

Result<std::int32_t> start_keeper(const std::string& name, const char* title, bool fleeting,
                                  const std::function<bool()>& furnish) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return lab_failure("no pipe can be made");
  const pid_t process = ::fork();
  if (process == 0) keep(title, ends[1], fleeting, furnish);
  ::close(ends[1]);
  char answer = 'n';
  const bool answered = process > 0 && ::read(ends[0], &answer, 1) == 1;
  ::close(ends[0]);
  if (!answered || answer != 'y') {
    if (process > 0) ::kill(process, SIGKILL);
    errno = EPERM;
    return lab_failure(fmt::format("the namespaces of {} cannot be made", name),
                       "be root, with the right to mount; inside a container start that with --privileged");
  }
  return process;
}

Result<LabHost> start_host(const std::string& name, const std::string& folder, bool fleeting, bool furnished) {
  const int spaces = furnished ? CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNS : CLONE_NEWNET;
  auto process = start_keeper(name, lab_keeper, fleeting,
                              [&] { return ::unshare(spaces) == 0 && (!furnished || furnish(name, folder)); });
  if (!process) return propagate(process);
  return LabHost{name, *process, network_of(*process)};
}

/// The kernel gives numbers of namespaces anew: a space is surely ours only while its keeper is there.
void end_space(const KeptSpace& space, const std::string& mark) {
  if (space.inode == 0 || space.inode == space_of(::getpid(), space.kind)) return;
  const bool kept = space_of(space.keeper, space.kind) == space.inode &&
                    content_of(fmt::format("/proc/{}/comm", space.keeper)) == std::string(space.title) + "\n";
  for (int tries = 0; tries < 200; ++tries) {
    auto left = processes_in(space.kind, space.inode);
    std::erase_if(left, [&](std::int32_t process) {
      return process == space.keeper || (!kept && !has_in_its_environment(mark, process));
    });
    if (left.empty()) break;
    for (const std::int32_t process : left) ::kill(process, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (kept) ::kill(space.keeper, SIGKILL);
  ::waitpid(space.keeper, nullptr, WNOHANG);
}

/// Programs first, keepers last: as long as those are there, it is sure what belongs to the lab.
void end_processes(const Lab& lab) {
  std::vector<LabHost> all = lab.hosts;
  all.push_back(lab.bridge);
  for (const LabHost& host : all)
    end_space({"net", host.keeper, host.network, lab_keeper}, fmt::format("RANKLOOM_LAB={}", lab.options.name));
}

}  // namespace rankloom
