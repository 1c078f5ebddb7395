// SPDX-License-Identifier: Apache-2.0
// discover: ibnetdiscover's output. Every cable is listed at both of its ends:
//   Switch  36 "S-0002c90200423e40"   # "spine 1" base port 0 lid 16 lmc 0
//   [1]     "H-0002c9030005f34a"[1](2c9030005f34b)   # "node1 HCA-1" lid 4 4xQDR
#include "rankloom/discover/infiniband.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <queue>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"
#include "rankloom/discover/switch_tree.hpp"
#include "rankloom/discover/strings/tokens.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

namespace {

struct Speed {
  std::string_view name;
  double gigabits_a_lane;  ///< That carry data.
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
constexpr double latency_a_link = 150;  // ns: a switch and its cable

/// "4xEDR" → Gbit/s; 0: no such word.
double bandwidth_of(std::string_view word) {
  const auto x = word.find('x');
  if (x == std::string_view::npos) return 0;
  const auto lanes = parse_size(word.substr(0, x));
  const auto speed =
      std::find_if(speeds.begin(), speeds.end(), [&](const Speed& row) { return row.name == word.substr(x + 1); });
  return lanes && speed != speeds.end() ? *lanes * speed->gigabits_a_lane : 0;
}

/// The next text in quotes and what is behind it; false: there is none.
bool take_quoted(std::string_view& rest, std::string_view& quoted) {
  const auto begin = rest.find('"');
  if (begin == std::string_view::npos) return false;
  const auto end = rest.find('"', begin + 1);
  if (end == std::string_view::npos) return false;
  quoted = rest.substr(begin + 1, end - begin - 1);
  rest = rest.substr(end + 1);
  return true;
}

/// "node1 HCA-1" and "node1 mlx5_0" are node1; adapters that nobody named go by their number.
std::string host_name(std::string_view description, std::string_view id) {
  const auto words = split_at_blanks(description);
  const bool is_factory_name = description.find("Technologies") != std::string_view::npos || words.empty();
  return std::string(is_factory_name ? id : words[0]);
}

class Fabric {
 public:
  explicit Fabric(const std::string& source) : source_(source) {}

  Result<void> add(std::string_view line, std::uint64_t number) {
    const auto first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || line[first] == '#') return {};
    line = line.substr(first);
    if (line[0] == '[') return add_port(line, number);
    const auto word = line.substr(0, line.find_first_of(" \t"));
    if (word == "Switch" || word == "Ca" || word == "Rt") return add_device(line, word, number);
    if (word.find('=') != std::string_view::npos) return {};  // vendid=, devid=, guids
    return bad(number, fmt::format("\"{}\" is no line of ibnetdiscover", shown(line)), "give its output unchanged");
  }

  Result<MachineSpec> machine() && {
    if (hosts_.empty()) return bad(0, "names no host", "run ibnetdiscover where the fabric's hosts are up");
    if (auto joined = check_joined(); !joined) return propagate(joined);
    if (is_tree()) return build_switch_tree(source_, "switch", as_tree());
    return as_graph();
  }

 private:
  struct Device {
    std::string name;
    bool is_switch = false;
    bool is_ignored = false;
    std::size_t number = 0;  // among the hosts or the switches
    std::uint64_t line = 0;
  };
  using End = std::pair<bool, std::size_t>;  // is it a switch, and which

  Failure bad(std::uint64_t line, std::string what, std::string hint) const {
    return fail(Code::bad_input, at(source_, line), std::move(what), std::move(hint));
  }

  Result<void> add_device(std::string_view line, std::string_view word, std::uint64_t number) {
    std::string_view id, description, rest = line;
    if (!take_quoted(rest, id))
      return bad(number, fmt::format("\"{}\" names no device", shown(line)), "give ibnetdiscover's output unchanged");
    take_quoted(rest, description);
    const auto [entry, is_new] = devices_.try_emplace(std::string(id));
    if (!is_new)
      return bad(number, fmt::format("{} stands in line {} already", shown(id), entry->second.line),
                 "give one run's output");
    Device& device = entry->second;
    device.line = number;
    device.is_switch = word != "Ca";
    // Switches that sum up data show an adapter of their own, at which nobody computes.
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
    now_ = std::string(id);
    return {};
  }

  Result<void> add_port(std::string_view line, std::uint64_t number) {
    std::string_view other, rest = line;
    if (now_.empty() || !take_quoted(rest, other))
      return bad(number, fmt::format("\"{}\" is a port of no device", shown(line)),
                 "give ibnetdiscover's output unchanged");
    double gigabits = 0;
    for (const std::string_view word : split_at_blanks(rest)) gigabits = std::max(gigabits, bandwidth_of(word));
    ports_.push_back({now_, std::string(other), gigabits > 0 ? gigabits : 10, number});
    return {};
  }

  /// Cables between two ends, with what all of them carry together. Each is listed at both ends, so half of the sum;
  /// a cable of which one end is missing in the file counts once.
  std::map<std::pair<End, End>, double> cables() const {
    std::map<std::pair<End, End>, std::array<double, 2>> both;
    for (const Port& port : ports_) {
      const auto from = devices_.find(port.from), to = devices_.find(port.to);
      if (to == devices_.end() || from->second.is_ignored || to->second.is_ignored) continue;
      const End a{from->second.is_switch, from->second.number}, b{to->second.is_switch, to->second.number};
      if (a == b) continue;
      both[std::minmax(a, b)][a < b ? 0 : 1] += port.gigabits;
    }
    std::map<std::pair<End, End>, double> result;
    for (const auto& [ends, sums] : both) result[ends] = std::max(sums[0], sums[1]);
    return result;
  }

  std::uint32_t vertex(const End& end) const {
    return static_cast<std::uint32_t>(end.first ? hosts_.size() + end.second : end.second);
  }

  std::vector<std::vector<std::uint32_t>> neighbours() const {
    std::vector<std::vector<std::uint32_t>> lists(hosts_.size() + switches_.size());
    for (const auto& [ends, gigabits] : cables()) {
      lists[vertex(ends.first)].push_back(vertex(ends.second));
      lists[vertex(ends.second)].push_back(vertex(ends.first));
    }
    return lists;
  }

  /// Hops from a vertex; no vertex is nearer than the ones before it in `order`.
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

  Result<void> check_joined() const {
    std::vector<std::uint32_t> order;
    const auto hops = distances(neighbours(), 0, order);
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      if (hops[host] == 0xffff'ffff)
        return bad(0, fmt::format("no cable leads from {} to {}", shown(hosts_[0]), shown(hosts_[host])),
                   "the fabric falls into parts; run ibnetdiscover again when all links are up, or keep one part");
    }
    return {};
  }

  /// One way between any two, and every host at one switch.
  bool is_tree() const {
    const auto lists = neighbours();
    std::size_t ends = 0, joined = 0;
    for (std::size_t v = 0; v < lists.size(); ++v) {
      ends += lists[v].size();
      joined += lists[v].empty() ? 0 : 1;
      if (v < hosts_.size() && (lists[v].size() != 1 || lists[v][0] < hosts_.size())) return false;
    }
    return ends == 2 * (joined - 1) && !switches_.empty();
  }

  /// Hung up at its middle: the switch from which the farthest host is nearest.
  std::vector<SwitchEntry> as_tree() const {
    const auto lists = neighbours();
    std::vector<std::uint32_t> order;
    distances(lists, 0, order);
    const std::uint32_t one_end = last_host(order);
    auto hops = distances(lists, one_end, order);
    std::uint32_t middle = last_host(order);
    for (std::uint32_t steps = hops[middle] / 2; steps > 0; --steps) {
      middle = *std::find_if(lists[middle].begin(), lists[middle].end(),
                             [&](std::uint32_t v) { return hops[v] + 1 == hops[middle]; });
    }
    if (middle < hosts_.size()) middle = lists[middle][0];  // a single host
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
    for (const auto& [ends, gigabits] : cables()) {
      shape.cables.push_back({Vertex{vertex(ends.first)}, Vertex{vertex(ends.second)}, {8 / gigabits, latency_a_link}});
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
    double gigabits;
    std::uint64_t line;
  };

  const std::string& source_;
  std::map<std::string, Device> devices_;
  std::map<std::string, std::size_t> by_host_;
  std::vector<std::string> hosts_, switches_;
  std::vector<Port> ports_;
  std::string now_;  // the device whose ports follow
};

}  // namespace

bool is_infiniband(std::string_view text) {
  for (const std::string_view line : split(text.substr(0, 65536), '\n')) {
    const auto words = split_at_blanks(line);
    if (words.empty() || words[0][0] == '#') continue;
    return words[0].starts_with("vendid=") || words[0].starts_with("switchguid=") || words[0].starts_with("caguid=") ||
           ((words[0] == "Switch" || words[0] == "Ca") && words.size() > 2 && words[2].starts_with('"'));
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
