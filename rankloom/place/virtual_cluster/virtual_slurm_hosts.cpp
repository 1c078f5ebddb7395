// SPDX-License-Identifier: Apache-2.0
// place/virtual_cluster: the hosts of a virtual Slurm, and commands run on them.
#include "rankloom/place/virtual_cluster/virtual_slurm_hosts.hpp"

#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rankloom/place/virtual_cluster/namespaces.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;

constexpr const char* holder_title = "rankloom-slurm";

bool mount_tmpfs(const char* target) {
  return ::mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0;
}

/// Mounts a private /tmp. The shared directories below it stay the same on all hosts.
bool mount_private_tmp(const std::vector<std::string>& shared_directories) {
  std::vector<std::pair<int, std::string>> opened;
  opened.reserve(shared_directories.size());
  for (const std::string& directory : shared_directories)
    opened.emplace_back(::open(directory.c_str(), O_PATH | O_DIRECTORY), directory);
  bool mounted = mount_tmpfs("/tmp");
  for (const auto& [file, directory] : opened) {
    std::error_code error;
    fs::create_directories(directory, error);
    mounted = mounted && file >= 0 &&
              ::mount(fmt::format("/proc/self/fd/{}", file).c_str(), directory.c_str(), nullptr, MS_BIND | MS_REC,
                      nullptr) == 0;
    ::close(file);
  }
  return mounted;
}

bool setup_mounts(const VirtualSlurm& slurm, const std::string& name, bool is_node,
                  const std::vector<std::string>& shared_directories) {
  const auto bind_mount = [&](const char* file, const char* target) {
    return ::mount((slurm.directory + "/" + file).c_str(), target, nullptr, MS_BIND, nullptr) == 0;
  };
  return ::unshare(CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNS) == 0 && ::sethostname(name.c_str(), name.size()) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 && mount_tmpfs("/dev/shm") &&
         bind_mount("hosts", "/etc/hosts") && bind_mount("nsswitch.conf", "/etc/nsswitch.conf") &&
         (!is_node || mount_private_tmp(shared_directories));
}

bool record_holder(const std::string& path, const std::string& name) {
  const std::string line = fmt::format("{} {} {}\n", name, ::getpid(), namespace_inode(::getpid(), "mnt"));
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const bool written = file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  ::close(file);
  return written;
}

}  // namespace

HostIdentity slurm_host_identity(const VirtualSlurm& slurm) {
  return {"mnt", holder_title, "RANKLOOM_SLURM=" + slurm.name};
}

Result<VirtualHost> start_slurm_host(const VirtualSlurm& slurm, const std::string& name, bool is_node,
                                     const std::vector<std::string>& shared_directories) {
  auto holder = start_namespace_holder(name, holder_title, false, [&] {
    return setup_mounts(slurm, name, is_node, shared_directories) &&
           record_holder(slurm.directory + "/namespace_holders", name);
  });
  if (!holder) return propagate(holder);
  return VirtualHost{name, *holder, namespace_inode(*holder, "mnt")};
}

ProcessSpec command_on_host(const VirtualSlurm& slurm, const VirtualHost& host, std::vector<std::string> argv) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.working_directory = "/";
  spec.environment = {"SLURM_CONF=" + slurm.conf(), "RANKLOOM_SLURM=" + slurm.name};
  spec.before_exec = [holder = host.holder] {
    for (const char* const kind : {"uts", "ipc", "mnt"}) {
      if (!join_namespace(holder, kind)) return false;
    }
    return true;
  };
  return spec;
}

}  // namespace rankloom
