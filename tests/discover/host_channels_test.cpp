// SPDX-License-Identifier: Apache-2.0
// discover/system: network cards and memory in a copy of /sys.
#include "rankloom/discover/system/host_channels.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "discover_support.hpp"
#include "rankloom/core/system/temporary_directory.hpp"
#include "rankloom/discover/hwloc/hwloc.hpp"
#include "rankloom/discover/system/network_cards.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A folder that describes a host as /sys does.
class HostFiles {
 public:
  const std::string& root() const { return directory_.path(); }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root() + "/sys/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }

  /// A PCI device; the paths of devices are relative to sys.
  void add_device(const std::string& device, const std::string& speed, int lanes) const {
    write(device + "/current_link_speed", speed);
    write(device + "/current_link_width", std::to_string(lanes));
  }

  void add_interface(const std::string& name, const std::string& device, const std::string& speed,
                     const std::string& state = "up") const {
    write("class/net/" + name + "/operstate", state);
    write("class/net/" + name + "/speed", speed);
    if (!device.empty()) link("class/net/" + name + "/device", device);
  }

  void add_infiniband(const std::string& name, const std::string& device, const std::vector<std::string>& rates,
                      const std::string& state = "4: ACTIVE") const {
    for (std::size_t port = 0; port < rates.size(); ++port) {
      const std::string folder = "class/infiniband/" + name + "/ports/" + std::to_string(port + 1);
      write(folder + "/rate", rates[port]);
      write(folder + "/state", state);
    }
    link("class/infiniband/" + name + "/device", device);
  }

 private:
  void link(const std::string& from, const std::string& device) const {
    std::filesystem::create_directories(root() + "/sys/" + device);
    std::filesystem::create_directory_symlink(root() + "/sys/" + device, root() + "/sys/" + from);
  }

  TemporaryDirectory directory_ = *TemporaryDirectory::make();
};

std::vector<std::string> names_of(const std::vector<NetworkCard>& cards) {
  std::vector<std::string> names;
  for (const NetworkCard& card : cards) names.push_back(card.name);
  return names;
}

TEST(NetworkCards, RatesAreThoseOfData) {
  EXPECT_DOUBLE_EQ(infiniband_rate("200 Gb/sec (4X HDR)"), 25e9);
  EXPECT_DOUBLE_EQ(infiniband_rate("40 Gb/sec (4X QDR)"), 4e9);
  EXPECT_EQ(infiniband_rate(""), 0);
  EXPECT_DOUBLE_EQ(pci_rate("5.0 GT/s PCIe", "8"), 4e9);
  EXPECT_NEAR(pci_rate("16.0 GT/s PCIe", "16"), 31.5e9, 0.1e9);
  EXPECT_EQ(pci_rate("Unknown", "0"), 0);
}

TEST(NetworkCards, VirtualLoopbackAndDownInterfacesDoNotCount) {
  const HostFiles host;
  host.add_interface("lo", "", "", "unknown");
  host.add_interface("docker0", "", "10000");
  host.add_interface("eth0", "devices/0000:01:00.0", "25000");
  host.add_interface("eth1", "devices/0000:01:00.1", "25000", "down");
  host.add_interface("eth2", "devices/0000:02:00.0", "25000");
  host.add_interface("vf0", "devices/0000:02:00.2", "25000");
  host.write("devices/0000:02:00.2/physfn/vendor", "0x15b3");
  EXPECT_THAT(read_network_cards(host.root()), ElementsAre(NetworkCard{"eth0", 3.125e9}, NetworkCard{"eth2", 3.125e9}));
  EXPECT_THAT(read_network_cards(host.root() + "/missing"), IsEmpty());
}

TEST(NetworkCards, SlowCardsNextToFastOnesDoNotCount) {
  const HostFiles host;
  host.add_interface("eno1", "devices/0000:01:00.0", "1000");
  host.add_interface("usb0", "devices/0000:01:00.1", "-1");
  host.add_interface("hsn0", "devices/0000:21:00.0", "200000");
  host.add_interface("hsn1", "devices/0000:41:00.0", "200000");
  EXPECT_THAT(names_of(read_network_cards(host.root())), ElementsAre("hsn0", "hsn1"));
}

TEST(NetworkCards, AnInterfaceOfAnInfinibandCardIsThatCard) {
  const HostFiles host;
  host.add_infiniband("mlx5_0", "devices/0000:07:00.0", {"200 Gb/sec (4X HDR)"});
  host.add_interface("ib0", "devices/0000:07:00.0", "200000");
  host.add_infiniband("mlx5_1", "devices/0000:08:00.0", {"200 Gb/sec (4X HDR)"}, "1: DOWN");
  host.add_interface("ib1", "devices/0000:08:00.0", "200000");
  EXPECT_THAT(read_network_cards(host.root()), ElementsAre(NetworkCard{"mlx5_0", 25e9}));
}

TEST(NetworkCards, ThePciLinkLimitsTheRateOfItsPorts) {
  const HostFiles host;
  host.add_device("devices/0000:07:00.0", "8.0 GT/s PCIe", 16);
  host.add_infiniband("mlx5_0", "devices/0000:07:00.0", {"100 Gb/sec (4X EDR)", "100 Gb/sec (4X EDR)"});
  const auto cards = read_network_cards(host.root());
  ASSERT_EQ(cards.size(), 2U);
  EXPECT_NEAR(cards[0].bytes_per_second, 15.75e9 / 2, 0.01e9);
}

TEST(HostChannels, MemoryChannelsWithModulesAreCounted) {
  const HostFiles host;
  for (const char* const controller : {"mc0", "mc1"}) {
    const std::string folder = std::string("devices/system/edac/mc/") + controller;
    for (int dimm = 0; dimm < 6; ++dimm) {
      const std::string file = folder + "/dimm" + std::to_string(dimm);
      host.write(file + "/dimm_location", "channel " + std::to_string(dimm / 2) + " slot " + std::to_string(dimm % 2));
      host.write(file + "/size", dimm == 4 || dimm == 5 ? "0" : "32768");
    }
  }
  host.write("devices/system/node/node0/cpulist", "0-7");
  EXPECT_EQ(count_memory_channels(host.root()), 4U);
  EXPECT_EQ(read_host_channels(host.root()).widths, (std::vector<ChannelSpec::Width>{{"bus", 4, Origin::discovered}}));
}

TEST(HostChannels, OneChannelPerNumaDomainIsAssumed) {
  const HostFiles host;
  host.write("devices/system/node/node0/cpulist", "0-7");
  host.write("devices/system/node/node1/cpulist", "8-15");
  host.write("devices/system/node/node2/cpulist", "");
  host.write("devices/system/node/online", "0-2");
  EXPECT_EQ(count_numa_domains(host.root()), 2U) << "memory without processing units is not a domain";
  EXPECT_EQ(read_host_channels(host.root()).widths, (std::vector<ChannelSpec::Width>{{"bus", 8, Origin::assumed}}));
  EXPECT_TRUE(read_host_channels(host.root() + "/missing").is_default());
}

TEST(HostChannels, CardsAreTheWidthOfTheNode) {
  const HostFiles host;
  host.add_interface("hsn0", "devices/0000:21:00.0", "200000");
  host.add_interface("hsn1", "devices/0000:41:00.0", "100000");
  const ChannelSpec channels = read_host_channels(host.root());
  EXPECT_EQ(channels.widths, (std::vector<ChannelSpec::Width>{{"node", 2, Origin::discovered}}));
  EXPECT_DOUBLE_EQ(channels.card_rate, 12.5e9) << "of the slowest";
}

TEST(HostChannels, CardsOfUnknownRateAreOnlyCounted) {
  const HostFiles host;
  host.add_interface("eth0", "devices/virtio0", "-1");
  const ChannelSpec channels = read_host_channels(host.root());
  EXPECT_EQ(channels.width("node"), 1);
  EXPECT_EQ(channels.card_rate, 0);
}

#ifdef RANKLOOM_HAS_HWLOC
TEST(HostChannels, AreAPartOfTheDiscoveredHost) {
  const HostFiles host;
  host.add_interface("eth0", "devices/0000:01:00.0", "10000");
  host.add_interface("eth1", "devices/0000:02:00.0", "10000");
  const auto machine = discover_host({.channels_root = host.root()});
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->channels.width("node"), 2);
  EXPECT_TRUE(Topology::build(*machine));
  const auto without = discover_host({});
  ASSERT_TRUE(without);
  EXPECT_TRUE(without->channels.widths.empty());
}
#endif

}  // namespace
}  // namespace rankloom
