// SPDX-License-Identifier: Apache-2.0
// core/software: the software that rankloom uses but does not contain, its packages in Linux distributions, and the
// hint that says how to install it. The functions have no side effects: the program reads /etc/os-release.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rankloom {

/// Names of the rows of `software_table`. Those with `_dev` are needed to build rankloom, the others to run it.
enum class Software : std::uint8_t {
  open_mpi,
  mpich,
  slurm_client,
  slurmctld,
  slurmd,
  slurm_plugins,
  munge,
  openssh,
  iproute2,
  hwloc,
  gcc,
  gxx,
  man,
  open_mpi_dev,
  mpich_dev,
  slurm_dev,
  simgrid_dev,
  hwloc_dev,
  otf2_dev,
};

enum class PackageManager : std::uint8_t { apt, dnf, zypper, pacman };
inline constexpr std::size_t package_managers = 4;

struct SoftwareRow {
  Software software;
  std::string_view title;  ///< As its authors name it: "Open MPI".
  /// Its packages, separated by blanks, in the order of PackageManager; empty: the distribution has none.
  std::array<std::string_view, package_managers> packages;
};

/// One row per Software, in the order of the enumeration.
std::span<const SoftwareRow> software_table();

/// The package manager of a distribution, from the text of its /etc/os-release: by ID, else by the first known name in
/// ID_LIKE. Nothing if neither is known.
std::optional<PackageManager> package_manager(std::string_view os_release);

/// "apt install openmpi-bin", "dnf install openmpi"; "install Open MPI" if the package manager or its package is not
/// known.
std::string install_hint(std::string_view os_release, Software software);

}  // namespace rankloom
