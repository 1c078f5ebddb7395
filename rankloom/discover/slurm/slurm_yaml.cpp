// SPDX-License-Identifier: Apache-2.0
// discover/slurm: topology.yaml: topology/tree, topology/block, topology/flat, topology/ring and topology/torus3d as
// the manual page topology.yaml(5) of Slurm 26.05 describes them.
#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/discover/compose.hpp"
#include "rankloom/discover/slurm/slurm_grids.hpp"
#include "rankloom/discover/slurm/slurm_topology.hpp"
#include "rankloom/discover/strings/tokens.hpp"
#include "rankloom/discover/yaml/yaml_document.hpp"

namespace rankloom {

namespace {

/// The largest number of cells of one torus.
constexpr std::uint64_t max_cells = std::uint64_t{1} << 20;

/// x, y and z, as topology/torus3d counts them.
struct Coordinates {
  std::uint32_t x = 0, y = 0, z = 0;
  std::uint64_t product() const { return max_cells / x / y / z == 0 ? max_cells + 1 : std::uint64_t{x} * y * z; }
};

class TopologyYaml {
 public:
  explicit TopologyYaml(const std::string& source) : source_(source) {}

  /// The cluster's default topology, or the first one if no topology is marked as the default.
  Result<MachineSpec> read(const YamlValue& root) const {
    if (root.is_mapping()) return read_topology(root, {root});
    const std::vector<YamlValue> topologies = root.items();
    if (topologies.empty())
      return bad(root, "is not a list of topologies", "start each topology with \"- topology: NAME\"");
    const auto marked = std::find_if(topologies.begin(), topologies.end(), [](const YamlValue& topology) {
      return topology.find("cluster_default").is_true();
    });
    auto machine = read_topology(marked != topologies.end() ? *marked : topologies[0], topologies);
    if (machine && topologies.size() > 1) {
      machine->remarks.push_back(
          {fmt::format("the file defines {} topologies; the {} is used", topologies.size(),
                       marked != topologies.end() ? "cluster default" : "first one, since none is the cluster default"),
           "to use another topology, delete all others from a copy of the file"});
    }
    return machine;
  }

 private:
  Failure bad(const YamlValue& value, std::string what, std::string hint) const {
    return fail(Code::bad_input, at(source_, value.line()), std::move(what), std::move(hint));
  }

  /// libyaml accepts repeated keys; YAML and Slurm do not.
  Result<void> check_keys(const YamlValue& mapping) const {
    std::set<std::string> keys;
    for (const auto& [key, value] : mapping.entries()) {
      if (!keys.insert(key.text()).second)
        return bad(key, fmt::format("the key \"{}\" is given twice", printable(key.text())), "give it once");
    }
    return {};
  }

  Result<MachineSpec> read_topology(const YamlValue& topology, const std::vector<YamlValue>& all) const {
    if (auto sound = check_keys(topology); !sound) return propagate(sound);
    if (const YamlValue tree = topology.find("tree")) {
      auto entries = read_entries(tree, "switches", "switch");
      if (!entries) return propagate(entries);
      return build_switch_tree(source_, "switch", *entries);
    }
    if (const YamlValue block = topology.find("block")) {
      auto entries = read_entries(block, "blocks", "block");
      if (!entries) return propagate(entries);
      auto sizes = read_block_sizes(block);
      if (!sizes) return propagate(sizes);
      return build_switch_tree(source_, "block", aggregate_blocks(std::move(*entries), *sizes));
    }
    if (topology.find("ring") || topology.find("torus3d")) {
      auto grids = read_grids(topology);
      if (!grids) return propagate(grids);
      return build_grids(source_, *grids);
    }
    // A flat topology may have options, which concern the order of nodes in a step.
    if (const YamlValue flat = topology.find("flat"); flat.is_true() || flat.is_mapping())
      return read_flat(topology, all);
    return bad(topology, "this topology has none of the keys tree, block, ring, torus3d and flat",
               "add one of them, for example \"tree:\" with a list \"switches:\" below");
  }

  /// A flat topology contains all nodes of the cluster and names none of them. The other topologies of the file do.
  Result<MachineSpec> read_flat(const YamlValue& flat, const std::vector<YamlValue>& all) const {
    std::vector<std::string> nodes;
    std::set<std::string> known;
    for (const YamlValue& topology : all) {
      static constexpr std::array<std::array<const char*, 3>, 2> lists{
          {{"tree", "switches", "switch"}, {"block", "blocks", "block"}}};
      for (const auto& [kind, list, name] : lists) {
        const YamlValue value = topology.find(kind);
        if (!value) continue;
        auto entries = read_entries(value, list, name);
        if (!entries) return propagate(entries);
        for (const SwitchEntry& entry : *entries) {
          for (const std::string& host : entry.hosts) {
            if (known.insert(host).second) nodes.push_back(host);
          }
        }
      }
      auto grids = read_grids(topology);
      if (!grids) return propagate(grids);
      for (const GridEntry& grid : *grids) {
        for (const std::string& host : grid.hosts) {
          if (!host.empty() && known.insert(host).second) nodes.push_back(host);
        }
      }
    }
    if (nodes.empty()) {
      return bad(flat, "this topology is flat and the file names no nodes",
                 "list the nodes in a hostfile, one \"NAME SLOTS\" per line, and give that instead");
    }
    MachineSpec machine = flat_network(nodes);
    machine.text = source_;
    machine.remarks.push_back(
        {fmt::format("the topology is flat; its nodes are the {} nodes that other topologies of the file name",
                     nodes.size()),
         "if the cluster has more nodes, list all of them in a hostfile and give that instead"});
    return machine;
  }

  Result<std::vector<SwitchEntry>> read_entries(const YamlValue& value, std::string_view list,
                                                std::string_view name_key) const {
    if (auto sound = check_keys(value); !sound) return propagate(sound);
    const YamlValue items = value.find(list);
    if (!items.is_sequence())
      return bad(items ? items : value, fmt::format("the list \"{}\" is missing", list),
                 fmt::format("write \"{}:\" and below it one \"- {}: NAME\" per {}", list, name_key, name_key));
    std::vector<SwitchEntry> entries;
    for (const YamlValue& item : items.items()) {
      if (auto sound = check_keys(item); !sound) return propagate(sound);
      const YamlValue name = item.find(name_key);
      if (name.text().empty())
        return bad(item, fmt::format("this entry of \"{}\" has no key \"{}\"", list, name_key),
                   fmt::format("start it with \"- {}: NAME\"", name_key));
      auto hosts = read_names(item.find("nodes"), "nodes");
      if (!hosts) return propagate(hosts);
      auto children = read_names(item.find("children"), "children");
      if (!children) return propagate(children);
      entries.push_back({name.text(), std::move(*children), std::move(*hosts), item.line()});
    }
    return entries;
  }

  /// A hostlist expression such as n[0-3], or a list of them.
  Result<std::vector<std::string>> read_names(const YamlValue& value, std::string_view key) const {
    std::vector<std::string> names;
    if (!value || value.is_null()) return names;
    for (const YamlValue& item : value.items_or_self()) {
      if (!item.is_scalar()) {
        return bad(item, fmt::format("\"{}\" is not a list of names", key),
                   fmt::format("write \"{0}: n[0-3]\" or \"{0}: [n0, n1]\"", key));
      }
      auto hosts = hostlists_.expand(item.text());
      if (!hosts) {
        hosts.error().where = at(source_, item.line());
        return hosts;
      }
      names.insert(names.end(), hosts->begin(), hosts->end());
    }
    return names;
  }

  /// The rings or tori of a topology; none if it has another type.
  Result<std::vector<GridEntry>> read_grids(const YamlValue& topology) const {
    if (const YamlValue ring = topology.find("ring")) {
      auto rings = read_entries(ring, "rings", "ring");
      if (!rings) return propagate(rings);
      std::vector<GridEntry> grids;
      for (SwitchEntry& entry : *rings) {
        if (entry.hosts.empty())
          return fail(Code::bad_input, at(source_, entry.line), "this ring has no nodes", "add \"nodes: n[0-7]\"");
        grids.push_back({.name = std::move(entry.name),
                         .sizes = {static_cast<std::uint32_t>(entry.hosts.size())},
                         .hosts = std::move(entry.hosts),
                         .line = entry.line});
      }
      return grids;
    }
    const YamlValue torus3d = topology.find("torus3d");
    if (!torus3d) return std::vector<GridEntry>{};
    if (auto sound = check_keys(torus3d); !sound) return propagate(sound);
    const YamlValue list = torus3d.find("toruses");
    if (!list.is_sequence())
      return bad(list ? list : torus3d, "the list \"toruses\" is missing",
                 "write \"toruses:\" and below it one \"- name: NAME\" per torus");
    std::vector<GridEntry> grids;
    for (const YamlValue& item : list.items()) {
      auto torus = read_torus(item);
      if (!torus) return propagate(torus);
      grids.push_back(std::move(*torus));
    }
    return grids;
  }

  Result<GridEntry> read_torus(const YamlValue& torus) const {
    if (auto sound = check_keys(torus); !sound) return propagate(sound);
    const std::string name = torus.find("name").text();
    if (name.empty()) return bad(torus, "this torus has no name", "start it with \"- name: NAME\"");
    auto dims = read_coordinates(torus, "dims");
    if (!dims) return propagate(dims);
    GridEntry grid{.name = name, .sizes = {dims->z, dims->y, dims->x}, .hosts = {}, .line = torus.line()};
    const YamlValue nodes = torus.find("nodes"), regions = torus.find("regions");
    if (nodes && regions) return bad(regions, "this torus has nodes and regions", "keep one of them");
    if (!regions) {
      auto hosts = read_hosts(torus, *dims);
      if (!hosts) return propagate(hosts);
      grid.hosts = std::move(*hosts);
      return grid;
    }
    grid.hosts.resize(dims->product());
    for (const YamlValue& region : regions.items_or_self()) {
      if (auto added = add_region(region, *dims, grid); !added) return propagate(added);
    }
    return grid;
  }

  Result<void> add_region(const YamlValue& region, const Coordinates& torus, GridEntry& grid) const {
    if (auto sound = check_keys(region); !sound) return sound;
    auto dims = read_coordinates(region, "dims");
    if (!dims) return propagate(dims);
    auto anchor = read_coordinates(region, "anchor");
    if (!anchor) return propagate(anchor);
    const auto exceeds = [](std::uint32_t from, std::uint32_t count, std::uint32_t size) {
      return std::uint64_t{from} + count > size;
    };
    if (exceeds(anchor->x, dims->x, torus.x) || exceeds(anchor->y, dims->y, torus.y) ||
        exceeds(anchor->z, dims->z, torus.z))
      return bad(region, "this region exceeds the torus", "reduce its dims, or move its anchor; it cannot wrap around");
    auto hosts = read_hosts(region, *dims);
    if (!hosts) return propagate(hosts);
    auto host = hosts->begin();
    for (std::uint32_t z = 0; z < dims->z; ++z) {
      for (std::uint32_t y = 0; y < dims->y; ++y) {
        for (std::uint32_t x = 0; x < dims->x; ++x) {
          const std::size_t row = (std::size_t{anchor->z} + z) * torus.y + anchor->y + y;
          std::string& cell = grid.hosts[row * torus.x + anchor->x + x];
          if (!cell.empty())
            return bad(region, fmt::format("this region contains the cell of {}", printable(cell)),
                       "let regions not overlap");
          cell = std::move(*host++);
        }
      }
    }
    return {};
  }

  /// The nodes of a torus or region, one per cell.
  Result<std::vector<std::string>> read_hosts(const YamlValue& owner, const Coordinates& dims) const {
    auto hosts = read_names(owner.find("nodes"), "nodes");
    if (!hosts || hosts->size() == dims.product()) return hosts;
    return bad(owner,
               fmt::format("dims {}x{}x{} are {} cells, but there are {} nodes", dims.x, dims.y, dims.z, dims.product(),
                           hosts->size()),
               "give as many nodes as cells; a torus with empty cells has regions");
  }

  /// {x: 4, y: 2, z: 1}: sizes, or the coordinates of an anchor, which may be 0.
  Result<Coordinates> read_coordinates(const YamlValue& owner, std::string_view key) const {
    const YamlValue value = owner.find(key);
    if (!value.is_mapping())
      return bad(value ? value : owner, fmt::format("\"{}\" is missing or not a mapping", key),
                 fmt::format("write \"{}: {{x: 4, y: 2, z: 1}}\"", key));
    if (auto sound = check_keys(value); !sound) return propagate(sound);
    const bool is_size = key == "dims";
    Coordinates result;
    for (const auto& [name, member] :
         {std::pair{"x", &Coordinates::x}, std::pair{"y", &Coordinates::y}, std::pair{"z", &Coordinates::z}}) {
      const YamlValue coordinate = value.find(name);
      const auto number = is_size ? parse_size(coordinate.text()) : parse_index(coordinate.text());
      if (!number)
        return bad(coordinate ? coordinate : value,
                   fmt::format("{}: {} is not a {}", key, name, is_size ? "positive number" : "number"),
                   fmt::format("write \"{}: {{x: 4, y: 2, z: 1}}\"", key));
      result.*member = *number;
    }
    if (is_size && result.product() > max_cells)
      return bad(value, fmt::format("dims {}x{}x{} are more than {} cells", result.x, result.y, result.z, max_cells),
                 "check the numbers");
    return result;
  }

  Result<std::vector<std::uint32_t>> read_block_sizes(const YamlValue& block) const {
    std::vector<std::uint32_t> sizes;
    const YamlValue value = block.find("block_sizes");
    if (!value || value.is_null()) return sizes;
    for (const YamlValue& item : value.items_or_self()) {
      const auto size = parse_size(item.text());
      if (!size || (!sizes.empty() && (*size <= sizes.back() || *size % sizes[0] != 0)))
        return bad(item,
                   fmt::format("block_sizes: \"{}\" is not larger than the size before it and a multiple of the first",
                               printable(item.text())),
                   "write increasing multiples of the first size, for example \"block_sizes: [4, 16]\"");
      sizes.push_back(*size);
    }
    return sizes;
  }

  const std::string& source_;
  mutable HostlistExpander hostlists_;
};

}  // namespace

/// By the first key of the file, in block or flow style, quoted or not. "tree:4,4" without a blank is a topology
/// string.
bool is_slurm_yaml(std::string_view text) {
  text = text.substr(0, 65536);
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n-[{\"'"), text.size()));
    if (text.empty()) return false;
    const bool is_line = text[0] == '#' || text[0] == '%';  // a comment or a directive
    if (!is_line && text[0] != '&' && text[0] != '!') break;
    text.remove_prefix(std::min(text.find_first_of(is_line ? "\n" : " \n"), text.size()));
  }
  const auto end = text.find_first_of(":\"' \n");
  if (end == std::string_view::npos) return false;
  static constexpr auto keys =
      std::to_array<std::string_view>({"topology", "cluster_default", "tree", "block", "flat", "ring", "torus3d"});
  const std::string_view key = text.substr(0, end);
  const std::string_view rest = text.substr(text[end] == ':' ? end : end + 1);
  return std::find(keys.begin(), keys.end(), key) != keys.end() && rest.starts_with(':') &&
         (rest.size() == 1 || std::string_view(" \t\r\n").find(rest[1]) != std::string_view::npos);
}

Result<MachineSpec> read_slurm_yaml(const FileContents& file) {
  auto document = YamlDocument::parse(file, "Slurm's topology.yaml");
  if (!document) return propagate(document);
  return TopologyYaml(file.name()).read(document->root());
}

}  // namespace rankloom
