// SPDX-License-Identifier: Apache-2.0
// discover/system: reads /sys/class/infiniband, /sys/class/net and the PCI links of the cards.
#include "rankloom/discover/system/network_cards.hpp"

#include <array>
#include <set>

#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/strings/tokens.hpp"
#include "rankloom/discover/system/sysfs.hpp"

namespace rankloom {

namespace {

namespace fs = std::filesystem;

constexpr double giga = 1e9, mega = 1e6, bits_per_byte = 8;
/// A card of a lower rate, relative to the fastest one, is for other purposes than messages.
constexpr double min_relative_rate = 0.5;

/// The number at the start of a text such as "200 Gb/sec"; 0 if there is none.
double leading_number(std::string_view text) {
  const auto tokens = split_at_blanks(text);
  return tokens.empty() ? 0 : parse_number(tokens[0]).value_or(0);
}

bool is_virtual_function(const fs::path& device) {
  std::error_code ignored;
  return fs::exists(device / "physfn", ignored);
}

double pci_rate_of(const fs::path& device) {
  return pci_rate(read_line(device / "current_link_speed"), read_line(device / "current_link_width"));
}

/// At most the part of the PCI link that each of the ports of a card has.
double limited(double port_rate, double pci, std::size_t ports) {
  return pci > 0 ? std::min(port_rate, pci / static_cast<double>(ports)) : port_rate;
}

class CardReader {
 public:
  explicit CardReader(const fs::path& root) : classes_(root / "sys/class") {}

  std::vector<NetworkCard> read() {
    for (const fs::path& card : list_entries(classes_ / "infiniband")) add_infiniband(card);
    for (const fs::path& interface : list_entries(classes_ / "net")) add_interface(interface);
    keep_fastest();
    return std::move(cards_);
  }

 private:
  void add_infiniband(const fs::path& card) {
    const fs::path device = card / "device";
    remember(device);
    if (is_virtual_function(device)) return;
    std::vector<fs::path> active;
    for (const fs::path& port : list_entries(card / "ports")) {
      if (read_line(port / "state").find("ACTIVE") != std::string::npos) active.push_back(port);
    }
    for (const fs::path& port : active) {
      const double rate = limited(infiniband_rate(read_line(port / "rate")), pci_rate_of(device), active.size());
      cards_.push_back({.name = card.filename().string(), .bytes_per_second = rate});
    }
  }

  void add_interface(const fs::path& interface) {
    const fs::path device = interface / "device";
    std::error_code ignored;
    if (!fs::exists(device, ignored) || is_virtual_function(device) || is_known(device)) return;
    if (read_line(interface / "operstate") != "up") return;
    const double rate = std::max(0.0, leading_number(read_line(interface / "speed"))) * mega / bits_per_byte;
    cards_.push_back(
        {.name = interface.filename().string(), .bytes_per_second = limited(rate, pci_rate_of(device), 1)});
  }

  void remember(const fs::path& device) {
    std::error_code error;
    if (const fs::path target = fs::canonical(device, error); !error) infiniband_devices_.insert(target);
  }

  bool is_known(const fs::path& device) const {
    std::error_code error;
    const fs::path target = fs::canonical(device, error);
    return !error && infiniband_devices_.contains(target);
  }

  /// If some rates are known, cards of unknown rate are left out.
  void keep_fastest() {
    double fastest = 0;
    for (const NetworkCard& card : cards_) fastest = std::max(fastest, card.bytes_per_second);
    std::erase_if(cards_, [&](const NetworkCard& card) { return card.bytes_per_second < min_relative_rate * fastest; });
    std::ranges::stable_sort(cards_, {}, &NetworkCard::name);
  }

  fs::path classes_;
  std::set<fs::path> infiniband_devices_;
  std::vector<NetworkCard> cards_;
};

}  // namespace

double infiniband_rate(std::string_view text) {
  // Of the slow links, Linux states the rate of the signals: 8 of 10 bits are data.
  static constexpr std::array<std::string_view, 3> slow{" SDR)", " DDR)", " QDR)"};
  const bool is_slow = std::ranges::any_of(slow, [&](std::string_view name) { return text.ends_with(name); });
  return std::max(0.0, leading_number(text)) * (is_slow ? 0.8 : 1.0) * giga / bits_per_byte;
}

double pci_rate(std::string_view speed, std::string_view lanes) {
  // Up to 5 GT/s, 8 of 10 bits are data; above, 128 of 130.
  constexpr double max_slow = 5;
  const double transfers = leading_number(speed);
  const double encoding = transfers <= max_slow ? 8.0 / 10 : 128.0 / 130;
  return std::max(0.0, transfers * encoding * leading_number(lanes)) * giga / bits_per_byte;
}

std::vector<NetworkCard> read_network_cards(const std::filesystem::path& root) {
  return CardReader(root).read();
}

}  // namespace rankloom
