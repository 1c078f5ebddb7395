// SPDX-License-Identifier: Apache-2.0
// place/reorder: from hosts and bindings to a machine whose places are the processes' seats.
#include "rankloom/place/reorder/seats.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/host_names.hpp"

namespace rankloom::reorder {

namespace {

/// Numbers in names count as numbers: n2 comes before n10.
bool naturally_less(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view text) { return std::min(text.find_first_not_of("0123456789"), text.size()); };
  while (!a.empty() && !b.empty()) {
    const std::size_t in_a = digits(a), in_b = digits(b);
    if (in_a > 0 && in_b > 0) {
      const std::string_view number_a = a.substr(0, in_a), number_b = b.substr(0, in_b);
      if (in_a != in_b) return in_a < in_b;
      if (number_a != number_b) return number_a < number_b;
      a.remove_prefix(in_a);
      b.remove_prefix(in_b);
    } else {
      if (a[0] != b[0]) return a[0] < b[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

std::vector<std::string> hosts_of(const std::vector<Seat>& seats) {
  std::vector<std::string> hosts;
  for (const Seat& seat : seats) hosts.push_back(seat.host);
  std::sort(hosts.begin(), hosts.end(), [](const std::string& a, const std::string& b) {
    return naturally_less(a, b) || (!naturally_less(b, a) && a < b);
  });
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

using NodeByHost = std::map<std::string, Node, std::less<>>;

struct Machine {
  Topology topology;
  NodeByHost nodes;
};

/// Nodes by the names they have; nothing when one of the hosts is not among them.
std::optional<NodeByHost> find_by_name(const Topology& topology, const std::vector<std::string>& hosts) {
  std::map<std::string, Node, std::less<>> by_name, by_short_name;
  for (const Node node : topology.nodes()) {
    const std::string name = topology.node_name(node);
    by_name.emplace(name, node);
    by_short_name.emplace(short_name(name), node);
  }
  NodeByHost found;
  for (const std::string& host : hosts) {
    auto at = by_name.find(host);
    if (at == by_name.end()) {
      at = by_short_name.find(short_name(host));
      if (at == by_short_name.end()) return std::nullopt;
    }
    found.emplace(host, at->second);
  }
  return found;
}

bool has_insides(const Topology& topology) {
  return topology.core_count() > topology.node_count();
}

Result<Machine> machine_of(const std::vector<std::string>& hosts, const std::string& text,
                           const std::vector<NodeInterior>& interiors) {
  if (text.empty()) {
    auto spec = compose(flat_network(hosts), interiors, {});
    if (!spec) return propagate(spec);
    auto topology = Topology::build(*std::move(spec));
    if (!topology) return propagate(topology);
    auto nodes = find_by_name(*topology, hosts);
    if (!nodes) return fail(Code::bad_input, at("hosts"), "two hosts cannot be told apart", "give each its own name");
    return Machine{*std::move(topology), *std::move(nodes)};
  }
  auto spec = load_machine(text);
  if (!spec) return propagate(spec);
  auto topology = Topology::build(*spec);
  if (!topology) return propagate(topology);
  if (auto nodes = find_by_name(*topology, hosts)) {
    if (has_insides(*topology) || interiors.empty()) return Machine{*std::move(topology), *std::move(nodes)};
    // A network that knows its nodes by name only: what is inside them comes from the hosts.
    auto filled = compose(*std::move(spec), interiors, hosts);
    if (!filled) return Machine{*std::move(topology), *std::move(nodes)};
    auto whole = Topology::build(*std::move(filled));
    if (!whole) return propagate(whole);
    auto again = find_by_name(*whole, hosts);
    if (!again) return Machine{*std::move(topology), *std::move(nodes)};
    return Machine{*std::move(whole), *std::move(again)};
  }
  if (topology->node_count() != hosts.size()) {
    return fail(Code::bad_input, at(text),
                fmt::format("has {} nodes and does not know them all by name, the program runs on {} hosts",
                            topology->node_count(), hosts.size()),
                "name its nodes as the hosts are called, or give one with as many nodes");
  }
  NodeByHost in_order;
  for (std::uint32_t node = 0; node < hosts.size(); ++node) in_order.emplace(hosts[node], Node{node});
  return Machine{*std::move(topology), std::move(in_order)};
}

/// The cores of one node that these units are; nothing when one of them is unknown there.
std::vector<Core> cores_of(const Topology& topology, Node node, const std::vector<std::uint32_t>& units) {
  const Core first = topology.first_core(topology.node_level(), index(node));
  const Core end = topology.first_core(topology.node_level(), index(node) + 1);
  std::vector<Core> cores;
  for (std::uint32_t core = index(first); core < index(end); ++core) {
    const std::uint32_t unit = topology.os_index(Core{core});
    if (std::find(units.begin(), units.end(), unit) != units.end()) cores.push_back(Core{core});
  }
  return cores.size() == units.size() ? cores : std::vector<Core>();
}

/// Replaces every object of one kind by a single place that holds as many ranks as processes sit in it.
class Collapse {
 public:
  /// `sorted` are the cores where processes sit.
  Collapse(std::string kind, bool is_node, std::vector<Core> sorted)
      : kind_(std::move(kind)), is_node_(is_node), sorted_(std::move(sorted)) {}

  ObjectSpec operator()(const ObjectSpec& object) {
    ObjectSpec result = object;
    result.repeat = 1;
    result.os_index = {};
    if (object.kind == kind_ || object.children.empty()) return place(std::move(result), leaves(object));
    result.children.clear();
    for (const ObjectSpec& child : object.children) {
      for (std::uint64_t copy = 0; copy < child.repeat; ++copy) result.children.push_back((*this)(child));
    }
    return result;
  }

  /// By new core: the first of the old ones in it.
  const std::vector<std::uint32_t>& begins() const { return begins_; }

 private:
  ObjectSpec place(ObjectSpec object, std::uint32_t leaves_below) {
    const auto begin = std::lower_bound(sorted_.begin(), sorted_.end(), Core{next_});
    const auto end = std::lower_bound(begin, sorted_.end(), Core{next_ + leaves_below});
    begins_.push_back(next_);
    next_ += leaves_below;
    const auto held = static_cast<std::uint32_t>(end - begin);
    object.children.clear();
    if (is_node_) {
      object.children.push_back(
          {.kind = "core", .name = {}, .between = {}, .capacity = held, .os_index = {}, .children = {}});
    } else {
      object.capacity = held;
    }
    return object;
  }

  static std::uint32_t leaves(const ObjectSpec& object) {
    if (object.children.empty()) return 1;
    std::uint64_t count = 0;
    for (const ObjectSpec& child : object.children) count += child.repeat * leaves(child);
    return static_cast<std::uint32_t>(count);
  }

  std::string kind_;
  bool is_node_;
  std::vector<Core> sorted_;
  std::uint32_t next_ = 0;
  std::vector<std::uint32_t> begins_;
};

}  // namespace

Result<std::vector<std::uint32_t>> parse_units(std::string_view text) {
  const auto bad = [&] {
    return fail(Code::bad_input, at("processing units"), fmt::format("\"{}\" is no list of numbers", text),
                "write them as 0-3,8");
  };
  std::vector<std::uint32_t> units;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    std::uint32_t first = 0, last = 0;
    const char* const end = part.data() + part.size();
    auto read = std::from_chars(part.data(), end, first);
    if (read.ec != std::errc()) return bad();
    last = first;
    if (read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc() || read.ptr != end || last < first || last - first > 1U << 20U) return bad();
    for (std::uint32_t unit = first; unit <= last; ++unit) units.push_back(unit);
  }
  return units;
}

Result<SeatedMachine> seat(const std::vector<Seat>& seats, const std::string& machine,
                           const std::vector<NodeInterior>& interiors) {
  auto found = machine_of(hosts_of(seats), machine, interiors);
  if (!found) return propagate(found);
  const Topology& topology = found->topology;
  std::size_t level = topology.levels().size() - 1;
  std::vector<Core> core_of;
  for (const Seat& seat : seats) {
    const Node node = found->nodes.at(seat.host);
    const std::vector<Core> cores = cores_of(topology, node, seat.units);
    core_of.push_back(cores.empty() ? topology.first_core(topology.node_level(), index(node)) : cores[0]);
    if (cores.empty()) level = topology.node_level();
    for (const Core core : cores) {
      while (level > topology.node_level() && topology.object_of(level, core) != topology.object_of(level, cores[0]))
        --level;
    }
  }
  std::vector<Core> sorted = core_of;
  std::sort(sorted.begin(), sorted.end());
  Collapse collapse(topology.levels()[level].kind, level == topology.node_level(), std::move(sorted));
  MachineSpec spec{
      .root = collapse(topology.spec().root), .network = topology.spec().network, .text = "seats", .remarks = {}};
  auto places = Topology::build(std::move(spec));
  if (!places) return propagate(places);
  const auto& begins = collapse.begins();
  for (Core& core : core_of) {
    const auto behind = std::upper_bound(begins.begin(), begins.end(), index(core));
    core = Core{static_cast<std::uint32_t>(behind - begins.begin() - 1)};
  }
  return SeatedMachine{*std::move(places), std::move(core_of)};
}

}  // namespace rankloom::reorder
