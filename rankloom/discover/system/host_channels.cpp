// SPDX-License-Identifier: Apache-2.0
// discover/system: reads memory controllers and NUMA domains, and combines them with the network cards.
#include "rankloom/discover/system/host_channels.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/strings/tokens.hpp"
#include "rankloom/discover/system/network_cards.hpp"
#include "rankloom/discover/system/sysfs.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;

/// "csrow 0 channel 1" or "channel 1 slot 0" → "1"; empty if the text names no channel.
std::string channel_of(const std::string& location) {
  const auto tokens = split_at_blanks(location);
  const auto name = std::ranges::find(tokens, "channel");
  return tokens.end() - name < 2 ? std::string() : std::string(name[1]);
}

}  // namespace

std::uint32_t count_memory_channels(const fs::path& root) {
  std::set<std::pair<fs::path, std::string>> channels;
  for (const fs::path& controller : list_entries(root / "sys/devices/system/edac/mc", "mc")) {
    for (const char* const kind : {"dimm", "rank"}) {
      for (const fs::path& memory : list_entries(controller, kind)) {
        const std::string channel = channel_of(read_line(memory / "dimm_location"));
        const bool has_module = parse_number(read_line(memory / "size")).value_or(0) > 0;
        if (has_module && !channel.empty()) channels.emplace(controller, channel);
      }
    }
  }
  return static_cast<std::uint32_t>(channels.size());
}

std::uint32_t count_numa_domains(const fs::path& root) {
  const auto nodes = list_entries(root / "sys/devices/system/node", "node");
  return static_cast<std::uint32_t>(
      std::ranges::count_if(nodes, [](const fs::path& node) { return !read_line(node / "cpulist").empty(); }));
}

ChannelSpec read_host_channels(const fs::path& root) {
  ChannelSpec channels;
  const auto cards = read_network_cards(root);
  if (!cards.empty()) {
    channels.set_width("node", static_cast<double>(cards.size()), Origin::discovered);
    channels.card_rate = std::ranges::min(cards, {}, &NetworkCard::bytes_per_second).bytes_per_second;
  }
  if (const std::uint32_t memory = count_memory_channels(root); memory > 0) {
    channels.set_width("bus", memory, Origin::discovered);
  } else if (const std::uint32_t domains = count_numa_domains(root); domains > 0) {
    // The memory of a domain serves about four pairs at once, as on the machine of Wang 2015.
    channels.set_width("bus", 4.0 * domains, Origin::assumed);
  }
  return channels;
}

}  // namespace rankloom
