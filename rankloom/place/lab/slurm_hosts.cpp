// SPDX-License-Identifier: Apache-2.0
// place: the hosts of a Slurm on one machine: namespaces held open by sleeping processes, and what is run in them.
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rankloom/place/lab/parts.hpp"
#include "rankloom/place/lab/slurm_parts.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;

bool mount_memory(const char* target) {
  return ::mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0;
}

/// /tmp of its own, but for these folders below it, which stay what they are for everybody.
bool own_temporary_folder(const std::vector<std::string>& shared) {
  std::vector<std::pair<int, std::string>> kept;
  kept.reserve(shared.size());
  for (const std::string& folder : shared) kept.emplace_back(::open(folder.c_str(), O_PATH | O_DIRECTORY), folder);
  bool good = mount_memory("/tmp");
  for (const auto& [file, folder] : kept) {
    std::error_code error;
    fs::create_directories(folder, error);
    good =
        good && file >= 0 &&
        ::mount(fmt::format("/proc/self/fd/{}", file).c_str(), folder.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0;
    ::close(file);
  }
  return good;
}

bool furnish(const SlurmLab& lab, const std::string& name, bool is_node, const std::vector<std::string>& shared) {
  const auto over = [&](const char* file, const char* target) {
    return ::mount((lab.folder + "/" + file).c_str(), target, nullptr, MS_BIND, nullptr) == 0;
  };
  return ::unshare(CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNS) == 0 && ::sethostname(name.c_str(), name.size()) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 && mount_memory("/dev/shm") &&
         over("hosts", "/etc/hosts") && over("nsswitch.conf", "/etc/nsswitch.conf") &&
         (!is_node || own_temporary_folder(shared));
}

bool note_keeper(const std::string& path, const std::string& name) {
  const std::string line = fmt::format("{} {} {}\n", name, ::getpid(), space_of(::getpid(), "mnt"));
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const bool written = file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  ::close(file);
  return written;
}

}  // namespace

std::string program_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::string folders = std::string(path != nullptr ? path : "") + ":/usr/sbin:/usr/bin:/sbin:/bin";
  for (std::size_t begin = 0; begin < folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    std::string candidate = folders.substr(begin, end - begin) + "/" + program;
    if (end > begin && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  return {};
}

std::string slurm_mark(const SlurmLab& lab) {
  return "RANKLOOM_SLURM=" + lab.name;
}

Result<SlurmHost> start_slurm_host(const SlurmLab& lab, const std::string& name, bool is_node,
                                   const std::vector<std::string>& shared) {
  auto process = start_keeper(name, slurm_keeper, false, [&] {
    return furnish(lab, name, is_node, shared) && note_keeper(lab.folder + "/keepers", name);
  });
  if (!process) return propagate(process);
  return SlurmHost{name, *process, space_of(*process, "mnt")};
}

int run_on(const SlurmLab& lab, const SlurmHost& host, const std::vector<std::string>& words, std::string* said) {
  return in_child(
      [&] {
        for (const char* const kind : {"uts", "ipc", "mnt"}) {
          if (!join_namespace(host.keeper, kind)) return 126;
        }
        if (said != nullptr) ::dup2(STDERR_FILENO, STDOUT_FILENO);
        const int nothing = ::open("/dev/null", O_RDONLY);
        ::dup2(nothing, STDIN_FILENO);
        if (::chdir("/") != 0) return 126;
        ::setenv("SLURM_CONF", lab.conf().c_str(), 1);
        ::setenv("RANKLOOM_SLURM", lab.name.c_str(), 1);
        std::vector<char*> arguments;
        arguments.reserve(words.size() + 1);
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        ::execvp(arguments[0], arguments.data());
        return 127;
      },
      said);
}

}  // namespace rankloom
