// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/software/software.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankloom {
namespace {

constexpr std::string_view debian = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID=\"12\"\nID=debian\n";
constexpr std::string_view rocky =
    "NAME=\"Rocky Linux\"\nID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\nPLATFORM_ID=\"platform:el9\"\n";
constexpr std::string_view leap = "NAME=\"openSUSE Leap\"\nID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n";
constexpr std::string_view arch = "NAME=\"Arch Linux\"\nID=arch\nBUILD_ID=rolling\n";

TEST(Software, PackageManagerIsFoundByTheIdOfTheDistribution) {
  EXPECT_EQ(package_manager(debian), PackageManager::apt);
  EXPECT_EQ(package_manager(rocky), PackageManager::dnf);
  EXPECT_EQ(package_manager(leap), PackageManager::zypper);
  EXPECT_EQ(package_manager(arch), PackageManager::pacman);
  EXPECT_EQ(package_manager("ID=ubuntu\nID_LIKE=debian\n"), PackageManager::apt);
  EXPECT_EQ(package_manager("ID=\"sles\"\nID_LIKE=\"suse\"\n"), PackageManager::zypper);
}

TEST(Software, UnknownDistributionIsRecognisedByItsRelatives) {
  EXPECT_EQ(package_manager("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"), PackageManager::apt);
  EXPECT_EQ(package_manager("ID_LIKE='rhel fedora'\nID=cray\n"), PackageManager::dnf);
  EXPECT_EQ(package_manager("ID=manjaro\nID_LIKE=arch"), PackageManager::pacman) << "without a newline at the end";
  EXPECT_EQ(package_manager("ID=site\nID_LIKE=\"unknown suse\"\r\n"), PackageManager::zypper);
}

TEST(Software, OtherSystemsHaveNoKnownPackageManager) {
  for (const char* const text : {"", "\n", "ID=", "ID=nixos\n", "ID=alpine\n", "VERSION_ID=debian\n", "ID\n", "ID=\"\n",
                                 "# ID=debian\n", "PLATFORM_ID=fedora\n"}) {
    EXPECT_EQ(package_manager(text), std::nullopt) << text;
  }
}

TEST(Software, HintIsTheCommandOfThePackageManager) {
  EXPECT_EQ(install_hint(debian, Software::open_mpi), "apt install openmpi-bin");
  EXPECT_EQ(install_hint(rocky, Software::open_mpi_dev), "dnf install openmpi-devel");
  EXPECT_EQ(install_hint(rocky, Software::iproute2), "dnf install iproute iproute-tc");
  EXPECT_EQ(install_hint(leap, Software::slurmd), "zypper install slurm-node");
  EXPECT_EQ(install_hint(arch, Software::gxx), "pacman -S gcc");
}

TEST(Software, HintNamesTheSoftwareWherePackagesAreNotKnown) {
  EXPECT_EQ(install_hint("ID=nixos\n", Software::open_mpi), "install Open MPI");
  EXPECT_EQ(install_hint("", Software::iproute2), "install iproute2");
  EXPECT_EQ(install_hint(leap, Software::simgrid_dev), "install SimGrid with its headers");
  EXPECT_EQ(install_hint(arch, Software::mpich), "install MPICH");
}

TEST(Software, EveryRowHasATitleAndADebianPackage) {
  for (const SoftwareRow& row : software_table()) {
    EXPECT_FALSE(row.title.empty());
    EXPECT_FALSE(row.packages[0].empty()) << row.title;
    EXPECT_THAT(install_hint(debian, row.software), testing::StartsWith("apt install ")) << row.title;
    EXPECT_EQ(install_hint("", row.software), "install " + std::string(row.title));
  }
}

}  // namespace
}  // namespace rankloom
