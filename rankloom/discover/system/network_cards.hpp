// SPDX-License-Identifier: Apache-2.0
// discover/system: the network cards of a host and their rates, as Linux describes them in /sys.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rankloom {

/// A port of a network card with a cable. Two ports of one card count twice and share its PCI link.
struct NetworkCard {
  std::string name;             ///< "mlx5_0", "eth0"
  double bytes_per_second = 0;  ///< Of the port, at most its part of the PCI link; 0: unknown.
  bool operator==(const NetworkCard&) const = default;
};

/// "200 Gb/sec (4X HDR)", the rate of an InfiniBand port: bytes of data per second; 0: unknown.
double infiniband_rate(std::string_view text);
/// "16.0 GT/s PCIe" and "16": bytes of data per second in one direction; 0: unknown.
double pci_rate(std::string_view speed, std::string_view lanes);

/// The cards that carry messages between nodes, by name: all with at least half the rate of the fastest. Interfaces
/// that are down, virtual or the loopback do not count, nor virtual functions of a card that the host has. An Ethernet
/// interface of an InfiniBand card counts as that card. `root` is the folder that contains sys.
std::vector<NetworkCard> read_network_cards(const std::filesystem::path& root);

}  // namespace rankloom
