// SPDX-License-Identifier: Apache-2.0
// discover: reads the output of ibnetdiscover, which lists every cable at both ends:
//   Switch  36 "S-0002c90200423e40"   # "spine 1" base port 0 lid 16 lmc 0
//   [1]     "H-0002c9030005f34a"[1](2c9030005f34b)   # "node1 HCA-1" lid 4 4xQDR
#include "rankloom/discover/infiniband.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <queue>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/strings/tokens.hpp"
#include "rankloom/discover/switch_tree.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

namespace {

struct Speed {
  std::string_view name;
  double gigabits_per_lane;  ///< Data rate after encoding.
};
constexpr auto speeds = std::to_array<Speed>({{"SDR", 2},
                                              {"DDR", 4},
                                              {"QDR", 8},
                                              {"FDR10", 10},
                                              {"FDR", 13.64},
                                              {"EDR", 25},
                                              {"HDR", 50},
                                              {"NDR", 100},
                                              {"XDR", 200}});
constexpr double latency_per_link = 150;  // ns, for a switch and its cable

/// "4xEDR" → Gbit/s; 0 if the token is not a width and a speed.
double bandwidth_of(std::string_view token) {
  const auto x = token.find('x');
  if (x == std::string_view::npos) return 0;
  const auto lanes = parse_size(token.substr(0, x));
  const auto speed =
      std::find_if(speeds.begin(), speeds.end(), [&](const Speed& row) { return row.name == token.substr(x + 1); });
  return lanes && speed != speeds.end() ? *lanes * speed->gigabits_per_lane : 0;
}

/// Extracts the next quoted text from `rest`; false if there is none.
bool take_quoted(std::string_view& rest, std::string_view& quoted) {
  const auto begin = rest.find('"');
  if (begin == std::string_view::npos) return false;
  const auto end = rest.find('"', begin + 1);
  if (end == std::string_view::npos) return false;
  quoted = rest.substr(begin + 1, end - begin - 1);
  rest = rest.substr(end + 1);
  return true;
}

/// "node1 HCA-1" and "node1 mlx5_0" are node1; adapters with the description of the factory are named by their GUID.
std::string host_name(std::string_view description, std::string_view id) {
  const auto tokens = split_at_blanks(description);
  const bool is_factory_name = description.find("Technologies") != std::string_view::npos || tokens.empty();
  return std::string(is_factory_name ? id : tokens[0]);
}

class Fabric {
 public:
  explicit Fabric(const std::string& source) : source_(source) {}

  Result<void> add(std::string_view line, std::uint64_t number) {
    const auto first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || line[first] == '#') return {};
    line = line.substr(first);
    if (line[0] == '[') return add_port(line, number);
    const auto token = line.substr(0, line.find_first_of(" \t"));
    if (token == "Switch" || token == "Ca" || token == "Rt") return add_device(line, token, number);
    if (token.find('=') != std::string_view::npos) return {};  // vendid=, devid=, guids
    return bad(number, fmt::format("\"{}\" is not a line of ibnetdiscover", printable(line)),
               "give the unchanged output of ibnetdiscover");
  }

  Result<MachineSpec> machine() && {
    if (hosts_.empty())
      return bad(0, "the fabric has no host", "run ibnetdiscover while the hosts of the fabric are up");
    if (auto connected = check_connected(); !connected) return propagate(connected);
    if (is_tree()) return build_switch_tree(source_, "switch", as_tree());
    return as_graph();
  }

 private:
  struct Device {
    std::string name;
    bool is_switch = false;
    bool is_ignored = false;
    std::size_t number = 0;  // index in hosts_ or switches_
    std::uint64_t line = 0;
  };
  using Endpoint = std::pair<bool, std::size_t>;  // whether it is a switch, and its number

  Failure bad(std::uint64_t line, std::string what, std::string hint) const {
    return fail(Code::bad_input, at(source_, line), std::move(what), std::move(hint));
  }

  Result<void> add_device(std::string_view line, std::string_view token, std::uint64_t number) {
    std::string_view id, description, rest = line;
    if (!take_quoted(rest, id))
      return bad(number, fmt::format("\"{}\" does not name a device", printable(line)),
                 "give the unchanged output of ibnetdiscover");
    take_quoted(rest, description);
    const auto [entry, is_new] = devices_.try_emplace(std::string(id));
    if (!is_new)
      return bad(number, fmt::format("{} is already in line {}", printable(id), entry->second.line),
                 "give the output of a single run");
    Device& device = entry->second;
    device.line = number;
    device.is_switch = token != "Ca";
    // Switches with in-network aggregation (SHARP) show an adapter of their own, which is not a host.
    device.is_ignored = !device.is_switch && description.find("Aggregation Node") != std::string_view::npos;
    if (device.is_switch) {
      device.name = std::string(id);
      device.number = switches_.size();
      switches_.push_back(device.name);
    } else if (!device.is_ignored) {
      device.name = host_name(description, id);
      const auto [host, first_adapter] = by_host_.try_emplace(device.name, hosts_.size());
      device.number = host->second;
      if (first_adapter) hosts_.push_back(device.name);
    }
    current_device_ = std::string(id);
    return {};
  }

  Result<void> add_port(std::string_view line, std::uint64_t number) {
    std::string_view other, rest = line;
    if (current_device_.empty() || !take_quoted(rest, other))
      return bad(number, fmt::format("\"{}\" is a port without a device before it", printable(line)),
                 "give the unchanged output of ibnetdiscover");
    double gbits = 0;
    for (const std::string_view token : split_at_blanks(rest)) gbits = std::max(gbits, bandwidth_of(token));
    ports_.push_back({current_device_, std::string(other), gbits > 0 ? gbits : 10, number});
    return {};
  }

  /// The total bandwidth of all cables between two endpoints. The file lists each cable at both ends; the
  /// larger sum counts, because one end may be missing in the file.
  std::map<std::pair<Endpoint, Endpoint>, double> cables() const {
    std::map<std::pair<Endpoint, Endpoint>, std::array<double, 2>> sums_by_direction;
    for (const Port& port : ports_) {
      const auto from = devices_.find(port.from), to = devices_.find(port.to);
      if (to == devices_.end() || from->second.is_ignored || to->second.is_ignored) continue;
      const Endpoint a{from->second.is_switch, from->second.number}, b{to->second.is_switch, to->second.number};
      if (a == b) continue;
      sums_by_direction[std::minmax(a, b)][a < b ? 0 : 1] += port.gbits;
    }
    std::map<std::pair<Endpoint, Endpoint>, double> result;
    for (const auto& [ends, sums] : sums_by_direction) result[ends] = std::max(sums[0], sums[1]);
    return result;
  }

  std::uint32_t vertex(const Endpoint& end) const {
    return static_cast<std::uint32_t>(end.first ? hosts_.size() + end.second : end.second);
  }

  std::vector<std::vector<std::uint32_t>> neighbours() const {
    std::vector<std::vector<std::uint32_t>> lists(hosts_.size() + switches_.size());
    for (const auto& [ends, gbits] : cables()) {
      lists[vertex(ends.first)].push_back(vertex(ends.second));
      lists[vertex(ends.second)].push_back(vertex(ends.first));
    }
    return lists;
  }

  /// Hops from a vertex by breadth-first search; `order` becomes the visiting order.
  static std::vector<std::uint32_t> distances(const std::vector<std::vector<std::uint32_t>>& lists, std::uint32_t from,
                                              std::vector<std::uint32_t>& order) {
    std::vector<std::uint32_t> hops(lists.size(), 0xffff'ffff);
    order.assign(1, from);
    hops[from] = 0;
    for (std::size_t at = 0; at < order.size(); ++at) {
      for (const std::uint32_t next : lists[order[at]]) {
        if (hops[next] != 0xffff'ffff) continue;
        hops[next] = hops[order[at]] + 1;
        order.push_back(next);
      }
    }
    return hops;
  }

  Result<void> check_connected() const {
    std::vector<std::uint32_t> order;
    const auto hops = distances(neighbours(), 0, order);
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      if (hops[host] == 0xffff'ffff)
        return bad(0, fmt::format("no path connects {} and {}", printable(hosts_[0]), printable(hosts_[host])),
                   "run ibnetdiscover again when all links are up, or keep one connected part of the file");
    }
    return {};
  }

  /// Whether the fabric has no cycles and every host is connected to exactly one switch.
  bool is_tree() const {
    const auto lists = neighbours();
    std::size_t ends = 0, connected = 0;
    for (std::size_t v = 0; v < lists.size(); ++v) {
      ends += lists[v].size();
      connected += lists[v].empty() ? 0 : 1;
      if (v < hosts_.size() && (lists[v].size() != 1 || lists[v][0] < hosts_.size())) return false;
    }
    return ends == 2 * (connected - 1) && !switches_.empty();
  }

  /// The tree with its centre as the root: the switch with the smallest distance to the most distant host.
  std::vector<SwitchEntry> as_tree() const {
    const auto lists = neighbours();
    std::vector<std::uint32_t> order;
    distances(lists, 0, order);
    const std::uint32_t first_end = last_host(order);
    auto hops = distances(lists, first_end, order);
    std::uint32_t middle = last_host(order);
    for (std::uint32_t steps = hops[middle] / 2; steps > 0; --steps) {
      middle = *std::find_if(lists[middle].begin(), lists[middle].end(),
                             [&](std::uint32_t v) { return hops[v] + 1 == hops[middle]; });
    }
    if (middle < hosts_.size()) middle = lists[middle][0];  // the fabric has a single host
    hops = distances(lists, middle, order);
    std::vector<SwitchEntry> entries(switches_.size());
    for (std::uint32_t v = static_cast<std::uint32_t>(hosts_.size()); v < lists.size(); ++v) {
      SwitchEntry& entry = entries[v - hosts_.size()];
      entry.name = switches_[v - hosts_.size()];
      for (const std::uint32_t next : lists[v]) {
        if (hops[next] < hops[v]) continue;
        (next < hosts_.size() ? entry.hosts : entry.switches)
            .push_back(next < hosts_.size() ? hosts_[next] : switches_[next - hosts_.size()]);
      }
    }
    return entries;
  }

  std::uint32_t last_host(const std::vector<std::uint32_t>& order) const {
    return *std::find_if(order.rbegin(), order.rend(), [&](std::uint32_t v) { return v < hosts_.size(); });
  }

  Result<MachineSpec> as_graph() const {
    GraphShape shape{.nodes = static_cast<std::uint32_t>(hosts_.size()),
                     .vertices = static_cast<std::uint32_t>(hosts_.size() + switches_.size()),
                     .cables = {},
                     .nodes_forward = switches_.empty(),
                     .next = {}};
    for (const auto& [ends, gbits] : cables()) {
      shape.cables.push_back({Vertex{vertex(ends.first)}, Vertex{vertex(ends.second)}, {8 / gbits, latency_per_link}});
    }
    auto network = make_graph(std::move(shape));
    if (!network) {
      network.error().where = at(source_);
      return propagate(network);
    }
    MachineSpec machine;
    machine.text = source_;
    machine.network = std::move(*network);
    machine.root.kind = "machine";
    for (const std::string& host : hosts_) {
      ObjectSpec core{.kind = "core", .name = {}, .between = {}, .os_index = {}, .children = {}};
      machine.root.children.push_back(
          {.kind = "node", .name = host, .between = {}, .os_index = {}, .children = {std::move(core)}});
    }
    return machine;
  }

  struct Port {
    std::string from, to;
    double gbits;
    std::uint64_t line;
  };

  const std::string& source_;
  std::map<std::string, Device> devices_;
  std::map<std::string, std::size_t> by_host_;
  std::vector<std::string> hosts_, switches_;
  std::vector<Port> ports_;
  std::string current_device_;  // GUID of the device whose ports follow
};

}  // namespace

bool is_infiniband(std::string_view text) {
  for (const std::string_view line : split(text.substr(0, 65536), '\n')) {
    const auto tokens = split_at_blanks(line);
    if (tokens.empty() || tokens[0][0] == '#') continue;
    return tokens[0].starts_with("vendid=") || tokens[0].starts_with("switchguid=") ||
           tokens[0].starts_with("caguid=") ||
           ((tokens[0] == "Switch" || tokens[0] == "Ca") && tokens.size() > 2 && tokens[2].starts_with('"'));
  }
  return false;
}

Result<MachineSpec> read_infiniband(const FileContents& file) {
  Fabric fabric(file.name());
  std::uint64_t number = 0;
  for (const std::string_view line : split(file.view(), '\n')) {
    if (auto added = fabric.add(line, ++number); !added) return propagate(added);
  }
  return std::move(fabric).machine();
}

}  // namespace rankloom
