// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/software/software.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace rankloom {

namespace {

// The columns are apt, dnf, zypper and pacman.
constexpr auto rows = std::to_array<SoftwareRow>({
    {Software::open_mpi, "Open MPI", {"openmpi-bin", "openmpi", "openmpi4", "openmpi"}},
    {Software::mpich, "MPICH", {"mpich", "mpich", "mpich", ""}},
    {Software::slurm_client, "the commands of Slurm", {"slurm-client", "slurm", "slurm", ""}},
    {Software::slurmctld, "slurmctld of Slurm", {"slurmctld", "slurm-slurmctld", "slurm", ""}},
    {Software::slurmd, "slurmd of Slurm", {"slurmd", "slurm-slurmd", "slurm-node", ""}},
    {Software::slurm_plugins, "the plugins of Slurm", {"slurm-wlm-basic-plugins", "slurm", "slurm-plugins", ""}},
    {Software::munge, "MUNGE", {"munge", "munge", "munge", ""}},
    {Software::openssh, "the OpenSSH client", {"openssh-client", "openssh-clients", "openssh-clients", "openssh"}},
    {Software::iproute2, "iproute2", {"iproute2", "iproute iproute-tc", "iproute2", "iproute2"}},
    {Software::hwloc, "the programs of hwloc", {"hwloc-nox", "hwloc", "hwloc", "hwloc"}},
    {Software::gcc, "GCC", {"gcc", "gcc", "gcc", "gcc"}},
    {Software::gxx, "the C++ compiler of GCC", {"g++", "gcc-c++", "gcc-c++", "gcc"}},
    {Software::man, "man", {"man-db", "man-db", "man", "man-db"}},
    {Software::open_mpi_dev,
     "Open MPI with its headers",
     {"libopenmpi-dev", "openmpi-devel", "openmpi4-devel", "openmpi"}},
    {Software::mpich_dev, "MPICH with its headers", {"libmpich-dev", "mpich-devel", "mpich-devel", ""}},
    {Software::slurm_dev,
     "Slurm with its headers",
     {"libslurm-dev slurm-wlm-basic-plugins", "slurm-devel slurm", "slurm-devel slurm-plugins", ""}},
    {Software::simgrid_dev, "SimGrid with its headers", {"libsimgrid-dev", "", "", ""}},
    {Software::hwloc_dev, "hwloc with its headers", {"libhwloc-dev", "hwloc-devel", "hwloc-devel", "hwloc"}},
    {Software::otf2_dev, "OTF2 with its headers", {"libotf2-trace-dev", "otf2-devel", "", ""}},
});

constexpr bool in_order_of_the_enumeration() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].software != static_cast<Software>(i)) return false;
  }
  return true;
}
static_assert(in_order_of_the_enumeration() && rows.back().software == Software::otf2_dev);

constexpr std::array<std::string_view, package_managers> install_commands{"apt install", "dnf install",
                                                                          "zypper install", "pacman -S"};

constexpr auto distributions = std::to_array<std::pair<std::string_view, PackageManager>>({
    {"debian", PackageManager::apt},
    {"ubuntu", PackageManager::apt},
    {"fedora", PackageManager::dnf},
    {"rhel", PackageManager::dnf},
    {"centos", PackageManager::dnf},
    {"rocky", PackageManager::dnf},
    {"almalinux", PackageManager::dnf},
    {"ol", PackageManager::dnf},
    {"amzn", PackageManager::dnf},
    {"suse", PackageManager::zypper},
    {"sles", PackageManager::zypper},
    {"opensuse", PackageManager::zypper},
    {"opensuse-leap", PackageManager::zypper},
    {"opensuse-tumbleweed", PackageManager::zypper},
    {"arch", PackageManager::pacman},
});

/// The value of "NAME=value" or "NAME="value"", as os-release(5) defines it for names of distributions.
std::string_view value_of(std::string_view os_release, std::string_view name) {
  while (!os_release.empty()) {
    const std::size_t end = std::min(os_release.find('\n'), os_release.size());
    std::string_view line = os_release.substr(0, end);
    os_release.remove_prefix(std::min(end + 1, os_release.size()));
    if (!line.starts_with(name) || line.substr(name.size(), 1) != "=") continue;
    line.remove_prefix(name.size() + 1);
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    const bool quoted = line.size() >= 2 && (line[0] == '"' || line[0] == '\'') && line.back() == line[0];
    return quoted ? line.substr(1, line.size() - 2) : line;
  }
  return {};
}

std::optional<PackageManager> manager_of_any(std::string_view names) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    for (const auto& [name, manager] : distributions) {
      if (name == names.substr(0, end)) return manager;
    }
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return std::nullopt;
}

}  // namespace

std::span<const SoftwareRow> software_table() {
  return rows;
}

std::optional<PackageManager> package_manager(std::string_view os_release) {
  const auto by_id = manager_of_any(value_of(os_release, "ID"));
  return by_id ? by_id : manager_of_any(value_of(os_release, "ID_LIKE"));
}

std::string install_hint(std::string_view os_release, Software software) {
  const SoftwareRow& row = rows[static_cast<std::size_t>(software)];
  const auto manager = package_manager(os_release);
  const std::size_t column = manager ? static_cast<std::size_t>(*manager) : 0;
  if (!manager || row.packages[column].empty()) return fmt::format("install {}", row.title);
  return fmt::format("{} {}", install_commands[column], row.packages[column]);
}

}  // namespace rankloom
