// SPDX-License-Identifier: Apache-2.0
// model/machine: builds a Topology from a MachineSpec: finds the levels, inserts missing levels, fills in missing
// costs, numbers the cores, and connects the nodes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "rankloom/core/system/memory.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/model/machine/platform.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

namespace {

constexpr std::uint32_t no_os_index = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t no_rail = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t no_number = std::numeric_limits<std::uint32_t>::max();
constexpr double max_devices = 1 << 20, max_link_ends = 1 << 22;

/// Kinds of levels inside a node, for machines that do not name their nodes.
bool is_inside_node(const std::string& kind) {
  static const std::set<std::string> inside{"package", "socket", "numa",    "die",  "group", "l3",     "l2",
                                            "l1",      "cache",  "cluster", "core", "pu",    "thread", "slot"};
  return inside.contains(kind);
}

/// A level is the n-th occurrence of a kind on the path from the root: "switch", the second "switch", "node", ….
struct LevelKey {
  std::string kind;
  std::ptrdiff_t occurrence;
  auto operator<=>(const LevelKey&) const = default;
};

LevelKey key_below(const std::vector<LevelKey>& above, const std::string& kind) {
  return {kind, std::count_if(above.begin(), above.end(), [&](const LevelKey& key) { return key.kind == kind; })};
}

}  // namespace

class TopologyBuilder {
 public:
  explicit TopologyBuilder(MachineSpec spec) { data_.spec = std::move(spec); }

  Result<Topology> build() {
    for (const auto step :
         {&TopologyBuilder::check_size, &TopologyBuilder::find_levels, &TopologyBuilder::fill_costs,
          &TopologyBuilder::number_cores, &TopologyBuilder::connect_nodes, &TopologyBuilder::connect_rails}) {
      auto done = (this->*step)();
      if (!done) return propagate(done);
    }
    return Topology(std::make_shared<const Topology::Data>(std::move(data_)));
  }

 private:
  using Level = Topology::Level;

  Failure bad(std::string what, std::string hint) const {
    const std::string& text = data_.spec.text;
    return fail(Code::bad_input, at(text.empty() ? "topology" : text), std::move(what), std::move(hint));
  }

  /// Counts cores before anything is allocated, so that an absurd repeat count is an error instead of exhausted memory.
  Result<void> check_size() {
    const ObjectSpec& root = data_.spec.root;
    bool named_and_repeated = false;
    const std::function<double(const ObjectSpec&)> cores = [&](const ObjectSpec& object) -> double {
      named_and_repeated |= !object.name.empty() && object.repeat > 1;
      any_capacity_ |= object.children.empty() && object.capacity != 1;
      any_os_index_ |= object.children.empty() && object.os_index.has_value();
      any_rail_ |= object.children.empty() && object.rail.has_value();
      double below = object.children.empty() ? 1.0 : 0.0;
      for (const ObjectSpec& child : object.children) below += cores(child);
      return below * static_cast<double>(object.repeat);
    };
    const double count = cores(root);
    if (named_and_repeated) return bad("an object with a name is repeated", "give each object its own name, or none");
    if (root.children.empty() || count < 1)
      return bad("the machine has no cores", "name at least one level, such as core:4");
    if (root.repeat != 1) return bad("the machine itself is repeated", "repeat a level below the machine");
    struct DeviceCount {
      double devices, link_ends;
    };
    const std::function<DeviceCount(const ObjectSpec&)> devices = [&](const ObjectSpec& object) -> DeviceCount {
      DeviceCount sum{static_cast<double>(object.devices.size()), 0};
      for (const ObjectSpec& child : object.children) {
        const DeviceCount below = devices(child);
        sum.devices += below.devices;
        sum.link_ends += below.link_ends;
      }
      for (const GpuLinkSpec& link : object.gpu_links)
        sum.link_ends += 1 + (link.gpus.empty() ? sum.devices : static_cast<double>(link.gpus.size()));
      const auto repeat = static_cast<double>(object.repeat);
      return {sum.devices * repeat, sum.link_ends * repeat};
    };
    const auto [device_count, link_ends] = devices(root);
    if (device_count > max_devices) {
      return bad(fmt::format("{:.4g} devices are too many: the maximum is {:.4g}", device_count, max_devices),
                 "give nodes fewer devices");
    }
    if (link_ends > max_link_ends) {
      return bad(fmt::format("links between GPUs with {:.4g} ends are too many: the maximum is {:.4g}", link_ends,
                             max_link_ends),
                 "give nodes fewer links, each between more GPUs");
    }
    if (count > static_cast<double>(max_cores)) {
      return bad(fmt::format("{:.4g} cores are too many: the maximum is {}", count, max_cores),
                 "make the levels smaller");
    }
    constexpr double bytes_per_core = 24;     // path, levels above, attributes
    constexpr double bytes_per_device = 512;  // while they are sorted
    constexpr double bytes_per_link_end = 64;
    const double bytes = count * bytes_per_core + device_count * bytes_per_device + link_ends * bytes_per_link_end;
    if (auto fits = check_memory({}, "a machine of this size", bytes, {}); !fits) {
      return bad(fits.error().what, "make the levels smaller");
    }
    core_count_ = static_cast<std::uint32_t>(count);
    return {};
  }

  Result<void> find_levels() {
    machine_ = data_.spec.root;
    const auto is_one_node = std::all_of(machine_.children.begin(), machine_.children.end(),
                                         [](const ObjectSpec& child) { return is_inside_node(child.kind); });
    if (is_one_node && !data_.spec.network) {
      ObjectSpec node{.kind = "node",
                      .name = {},
                      .between = machine_.between,
                      .os_index = {},
                      .children = std::move(machine_.children)};
      machine_.children.clear();
      machine_.children.push_back(std::move(node));
    }
    std::vector<LevelKey> above;
    if (!collect_levels(machine_, above)) {
      return bad("the levels have different orders in different parts of the machine",
                 "list the levels in the same order everywhere, top down");
    }
    if (keys_.size() > 60) return bad("there are more than 60 levels", "remove levels with one child");
    for (const LevelKey& key : keys_) {
      data_.levels.push_back({.kind = key.kind, .objects = 0, .arity = 0, .max_arity = 0, .cost = {}});
    }
    find_node_level();
    insert_missing_levels(machine_, 0, above);
    return {};
  }

  std::size_t level_of(const LevelKey& key) const {
    return static_cast<std::size_t>(std::find(keys_.begin(), keys_.end(), key) - keys_.begin());
  }

  /// Adds the levels below an object to keys_, each after its ancestors; false if two parts of the machine contradict.
  bool collect_levels(const ObjectSpec& object, std::vector<LevelKey>& above) {
    for (const ObjectSpec& child : object.children) {
      const std::size_t min_level = above.empty() ? 0 : level_of(above.back()) + 1;
      const LevelKey key = key_below(above, child.kind);
      const std::size_t level = level_of(key);
      if (level == keys_.size()) {
        keys_.insert(keys_.begin() + static_cast<std::ptrdiff_t>(min_level), key);
      } else if (level < min_level) {
        return false;
      }
      above.push_back(key);
      if (!collect_levels(child, above)) return false;
      above.pop_back();
    }
    return true;
  }

  /// The level named "node"; with a network the top level; else the level above the first one that is inside a node.
  void find_node_level() {
    const auto& levels = data_.levels;
    const auto named = std::find_if(levels.begin(), levels.end(),
                                    [](const Level& level) { return level.kind == "node" || level.kind == "host"; });
    const auto inside =
        std::find_if(levels.begin(), levels.end(), [](const Level& level) { return is_inside_node(level.kind); });
    if (named != levels.end()) {
      data_.node_level = static_cast<std::size_t>(named - levels.begin());
    } else if (!data_.spec.network && inside != levels.begin()) {
      data_.node_level = static_cast<std::size_t>(inside - levels.begin()) - 1;
    }
  }

  /// Gives every object children of exactly the next level: inserts objects with one child where a level is missing.
  void insert_missing_levels(ObjectSpec& object, std::size_t next_level, std::vector<LevelKey>& above) {
    for (ObjectSpec& child : object.children) {
      const LevelKey key = key_below(above, child.kind);
      const std::size_t child_level = level_of(key);
      above.push_back(key);
      if (child.children.empty() && child_level + 1 < keys_.size()) {
        ObjectSpec core{.kind = keys_.back().kind,
                        .name = {},
                        .between = {},
                        .capacity = child.capacity,
                        .os_index = child.os_index,
                        .children = {},
                        .rail = child.rail};
        for (std::size_t level = keys_.size() - 1; level-- > child_level + 1;) core = wrap(std::move(core), level);
        child.children.push_back(std::move(core));
      } else {
        insert_missing_levels(child, child_level + 1, above);
      }
      above.pop_back();
      for (std::size_t level = child_level; level-- > next_level;) child = wrap(std::move(child), level);
    }
  }

  ObjectSpec wrap(ObjectSpec inner, std::size_t level) const {
    ObjectSpec outer{
        .kind = keys_[level].kind, .name = {}, .repeat = inner.repeat, .between = {}, .os_index = {}, .children = {}};
    inner.repeat = 1;
    if (level == data_.node_level) std::swap(outer.name, inner.name);
    outer.children.push_back(std::move(inner));
    return outer;
  }

  /// Traverses the machine once, top down, and assigns numbers to objects and paths to cores.
  Result<void> number_cores() {
    const std::size_t depth = data_.levels.size();
    find_max_arities(machine_, 0);
    int bits = 0;
    shift_.resize(depth);
    for (std::size_t level = depth; level-- > 0;) {
      shift_[level] = bits;
      const int width = std::bit_width(data_.levels[level].max_arity - 1U);
      if (bits + width > 64)
        return bad("the levels need more than 64 bits per core", "remove levels that do not affect the cost");
      for (int bit = bits + 1; bit <= bits + width; ++bit) {
        data_.level_of_bit[static_cast<std::size_t>(bit)] = static_cast<std::uint8_t>(level);
      }
      bits += width;
    }
    data_.first_core.resize(depth);
    data_.between.resize(depth);
    data_.path.reserve(core_count_);
    visit(machine_, 0, 0);
    for (std::size_t level = 0; level < depth; ++level) {
      Level& this_level = data_.levels[level];
      const std::uint64_t parents = level == 0 ? 1 : data_.levels[level - 1].objects;
      this_level.arity = this_level.objects == parents * this_level.max_arity ? this_level.max_arity : 0;
      if (level + 1 < depth) data_.first_core[level].push_back(core_count_);
    }
    data_.node_count = static_cast<std::uint32_t>(data_.levels[data_.node_level].objects);
    return check_attributes();
  }

  void find_max_arities(const ObjectSpec& object, std::size_t level) {
    std::uint64_t count = 0;
    for (const ObjectSpec& child : object.children) {
      count += child.repeat;
      find_max_arities(child, level + 1);
    }
    if (!object.children.empty())
      data_.levels[level].max_arity = std::max(data_.levels[level].max_arity, static_cast<std::uint32_t>(count));
  }

  void visit(const ObjectSpec& parent, std::size_t level, std::uint64_t path) {
    const bool leaves = level + 1 == data_.levels.size();
    std::uint64_t position = 0;
    if (uneven_costs_[level]) data_.between[level].push_back(*parent.between);
    for (const ObjectSpec& child : parent.children) {
      for (std::uint64_t copy = 0; copy < child.repeat; ++copy) {
        const std::uint64_t below = path | (position++ << shift_[level]);
        ++data_.levels[level].objects;
        if (level == data_.node_level && (any_name_ |= !child.name.empty())) {
          data_.node_names.resize(data_.levels[level].objects - 1);
          data_.node_names.push_back(child.name);
        }
        const Core first{static_cast<std::uint32_t>(data_.path.size())};
        if (!leaves) {
          data_.first_core[level].push_back(index(first));
          visit(child, level + 1, below);
          add_devices(child, level, first);
          continue;
        }
        data_.path.push_back(below);
        if (any_capacity_) data_.capacity.push_back(child.capacity);
        if (any_rail_) data_.rail.push_back(child.rail.value_or(no_rail));
        if (any_os_index_) data_.os_index.push_back(child.os_index.value_or(no_os_index));
        add_devices(child, level, first);
      }
    }
  }

  void add_devices(const ObjectSpec& object, std::size_t level, Core first) {
    const Core end{static_cast<std::uint32_t>(data_.path.size())};
    if (level < data_.node_level) {
      devices_above_nodes_ |= !object.devices.empty();
      links_above_nodes_ |= !object.gpu_links.empty();
    }
    const Node node{static_cast<std::uint32_t>(data_.levels[data_.node_level].objects - 1)};
    for (const DeviceSpec& device : object.devices) {
      data_.devices.push_back(
          {device.kind, device.name, device.address, node, device.number.value_or(no_number), first, end});
    }
    for (const GpuLinkSpec& link : object.gpu_links) links_.push_back({&object, &link, node, first, end});
  }

  /// Orders the devices of each node, and numbers those without a number.
  Result<void> number_devices() {
    if (devices_above_nodes_ || !machine_.devices.empty())
      return bad("a device is above the level of nodes", "give devices to nodes or to parts of nodes");
    std::stable_sort(data_.devices.begin(), data_.devices.end(), [](const auto& a, const auto& b) {
      return std::tie(a.node, a.first) < std::tie(b.node, b.first);
    });
    for (std::size_t begin = 0, end = 0; begin < data_.devices.size(); begin = end) {
      while (end < data_.devices.size() && data_.devices[end].node == data_.devices[begin].node) ++end;
      std::map<std::string, std::set<std::uint32_t>> used;
      std::map<std::string, std::uint32_t> next;
      for (std::size_t at = begin; at < end; ++at) {
        Topology::Device& device = data_.devices[at];
        if (device.number == no_number) device.number = next[device.kind]++;
        if (!used[device.kind].insert(device.number).second)
          return bad(fmt::format("two devices of kind {} on a node have the number {}", device.kind, device.number),
                     "give all of them different numbers, or none");
      }
    }
    return {};
  }

  /// A link of an object, and the cores of the object.
  struct LinkPosition {
    const ObjectSpec* object;
    const GpuLinkSpec* spec;
    Node node;
    Core first, end;
  };

  /// Finds the GPUs of every link.
  Result<void> resolve_links() {
    if (links_above_nodes_ || !machine_.gpu_links.empty())
      return bad("a link between GPUs is above the level of nodes", "give links to nodes or to parts of nodes");
    auto device = data_.devices.cbegin();
    std::optional<Node> node;
    std::vector<const Topology::Device*> gpus;  // of the node
    for (const LinkPosition& link : links_) {   // one node after the other
      if (node != link.node) {
        node = link.node;
        gpus.clear();
        while (device != data_.devices.cend() && device->node < link.node) ++device;
        for (; device != data_.devices.cend() && device->node == link.node; ++device)
          if (device->kind == "gpu") gpus.push_back(&*device);
        if (gpus.size() > max_linked_gpus) {
          return bad(fmt::format("a node with links between GPUs has {} GPUs: the maximum is {}", gpus.size(),
                                 max_linked_gpus),
                     "give the node fewer GPUs, or no links");
        }
      }
      auto linked = gpus_of(link, gpus);
      if (!linked) return propagate(linked);
      data_.gpu_links.push_back({link.node, std::move(*linked), link.spec->cost});
    }
    return {};
  }

  /// The numbers of the GPUs of a link, sorted.
  Result<std::vector<std::uint32_t>> gpus_of(const LinkPosition& link,
                                             const std::vector<const Topology::Device*>& gpus) const {
    const auto [inverse_bandwidth, latency] = link.spec->cost;
    const std::string& kind = link.object->kind;
    if (!is_valid_cost(link.spec->cost)) {
      return bad(
          fmt::format("the cost {},{} of a link between GPUs of level {} is invalid", inverse_bandwidth, latency, kind),
          cost_limits);
    }
    std::vector<std::uint32_t> below;
    for (const Topology::Device* const gpu : gpus) {
      if (link.first <= gpu->first && gpu->end <= link.end) below.push_back(gpu->number);
    }
    std::sort(below.begin(), below.end());
    std::vector<std::uint32_t> linked = link.spec->gpus.empty() ? below : link.spec->gpus;
    std::sort(linked.begin(), linked.end());
    for (const std::uint32_t number : linked) {
      if (std::binary_search(below.begin(), below.end(), number)) continue;
      return bad(fmt::format("a link of level {} names GPU {}, which is not below it", kind, number),
                 "use the numbers of the GPUs on their node, and give the link to the node");
    }
    if (const auto twice = std::adjacent_find(linked.begin(), linked.end()); twice != linked.end())
      return bad(fmt::format("a link of level {} names GPU {} twice", kind, *twice), "name every GPU once");
    if (linked.size() < 2) {
      return bad(fmt::format("a link of level {} connects fewer than two GPUs", kind),
                 "describe the GPUs (\"node:4 gpu-link=0.02 numa:4 gpu:1 core:16\"), or remove the link");
    }
    return linked;
  }

  Result<void> check_attributes() {
    if (auto numbered = number_devices(); !numbered) return numbered;
    if (auto resolved = resolve_links(); !resolved) return resolved;
    if (std::count(data_.os_index.begin(), data_.os_index.end(), no_os_index) > 0) {
      return bad("some cores have an os_index and others have none", "give an os_index to all cores or to none");
    }
    std::set<std::string_view> names;
    for (const std::string& name : data_.node_names) {
      if (!name.empty() && !names.insert(name).second) {
        return bad(fmt::format("the node {} occurs twice", name), "give every node one entry");
      }
    }
    return {};
  }

  /// The default cost is ten times that of the most expensive level below; the innermost level costs 1.
  Result<void> fill_costs() {
    uneven_costs_.resize(data_.levels.size());
    double below = 0;
    for (std::size_t level = data_.levels.size(); level-- > 0;) {
      const Cost default_cost{below > 0 ? 10 * below : 1.0, 0};
      std::optional<Cost> invalid;
      std::optional<Cost>& common = data_.levels[level].cost;
      std::optional<Cost> given;  // for a level at which no cores diverge
      for_each_parent(machine_, level, [&](ObjectSpec& parent) {
        if (parent.between && !given) given = parent.between;
        if (!parent.between) parent.between = default_cost;
        const Cost cost = *parent.between;
        if (!is_valid_cost(cost)) invalid = cost;
        if (is_private(parent)) return;  // no cores diverge here
        if (common && *common != cost) uneven_costs_[level] = true;
        if (!common) common = cost;
        below = std::max(below, cost.inverse_bandwidth);
      });
      if (invalid) {
        return bad(fmt::format("the cost {},{} of level {} is invalid", invalid->inverse_bandwidth, invalid->latency,
                               data_.levels[level].kind),
                   cost_limits);
      }
      if (!common) common = given.value_or(default_cost);
      if (uneven_costs_[level]) common.reset();
    }
    return {};
  }

  static bool is_private(const ObjectSpec& parent) {
    return parent.children.size() == 1 && parent.children[0].repeat == 1;
  }

  template <class Visit>
  static void for_each_parent(ObjectSpec& object, std::size_t level, const Visit& visit) {
    if (level == 0) return visit(object);
    for (ObjectSpec& child : object.children) for_each_parent(child, level - 1, visit);
  }

  Result<void> connect_nodes() {
    if (data_.spec.network) {
      const auto nodes = data_.spec.network->node_count();
      if (data_.node_level != 0) {
        return bad("a network is below another level", "put the network first, or use only levels");
      }
      if (nodes != data_.node_count) {
        return bad(fmt::format("the network has {} nodes, but {} are described", nodes, data_.node_count),
                   "describe every node of the network once");
      }
      data_.network = data_.spec.network;
      data_.routed = true;
      data_.symmetric = data_.network->symmetric();
      data_.levels[0].cost.reset();
      return {};
    }
    auto tree = tree_of_levels();
    if (!tree) return propagate(tree);
    data_.network = std::move(*tree);
    return {};
  }

  /// Finds the cores that relay messages to other rails.
  Result<void> connect_rails() {
    if (data_.rail.empty()) return {};
    if (data_.routed) {
      return bad("a network between the nodes cannot have rails",
                 "describe the switches of the rails as a level above the nodes: "
                 "\"leaf:8=16GB/s node:8=50GB/s rails:8 core:8=450GB/s\"");
    }
    const std::uint32_t last = *std::max_element(data_.rail.begin(), data_.rail.end());
    if (last == no_rail)
      return bad("some cores have a rail and others have none", "give a rail to all cores or to none");
    if (last >= max_rails)
      return bad(fmt::format("the rail {} is too large", last), fmt::format("rails are 0 to {}", max_rails - 1));
    data_.rail_count = last + 1;
    const double links = 2.0 * data_.network->vertex_count() * data_.rail_count;
    if (links > static_cast<double>(std::numeric_limits<std::uint32_t>::max()))
      return bad(fmt::format("{:.4g} links of rails are too many", links), "make the levels smaller");
    data_.rail_cores.assign(std::size_t{data_.node_count} * data_.rail_count, Topology::no_core);
    for (std::uint32_t node = 0; node < data_.node_count; ++node) {
      for (std::uint32_t core = first_core(data_.node_level, node); core < first_core(data_.node_level, node + 1);
           ++core) {
        std::uint32_t& first = data_.rail_cores[std::size_t{node} * data_.rail_count + data_.rail[core]];
        if (first == Topology::no_core) first = core;
      }
    }
    data_.symmetric = have_nodes_equal_rails();
    return {};
  }

  /// Whether all nodes have the same rails and costs inside. Then a message takes as long as one in the opposite
  /// direction, provided that the ways to the cores of the two rails are equal.
  bool have_nodes_equal_rails() const {
    constexpr std::uint32_t max_compared = 1024;
    for (std::size_t level = data_.node_level + 1; level < data_.levels.size(); ++level)
      if (data_.levels[level].arity == 0 || !data_.levels[level].cost) return false;
    const std::uint32_t cores = core_count_ / data_.node_count;
    if (cores > max_compared) return false;
    for (std::uint32_t core = cores; core < core_count_; ++core)
      if (data_.rail[core] != data_.rail[core % cores]) return false;
    const auto diverge = [&](std::uint32_t p, std::uint32_t q) {
      return data_.level_of_bit[static_cast<std::size_t>(std::bit_width(data_.path[p] ^ data_.path[q]))];
    };
    for (std::uint32_t p = 0; p < cores; ++p) {
      for (std::uint32_t q = 0; q < p; ++q) {
        const std::uint32_t to_q = data_.rail_cores[data_.rail[q]], to_p = data_.rail_cores[data_.rail[p]];
        if (data_.rail[p] != data_.rail[q] && diverge(p, to_q) != diverge(q, to_p)) return false;
      }
    }
    return true;
  }

  /// The levels above the nodes as a tree of switches: nodes first, then level by level upwards, the root last.
  Result<NetworkPtr> tree_of_levels() const {
    std::vector<Vertex> parent;
    std::uint32_t offset = 0;  // of the first vertex of the current level
    for (std::size_t level = data_.node_level + 1; level-- > 0;) {
      const auto objects = static_cast<std::uint32_t>(data_.levels[level].objects);
      std::uint32_t above = 0;
      for (std::uint32_t object = 0; object < objects; ++object) {
        if (level > 0) {
          while (data_.first_core[level - 1][above + 1] <= first_core(level, object)) ++above;
        }
        parent.push_back(Vertex{offset + objects + above});
      }
      offset += objects;
    }
    parent.push_back(Vertex{offset});
    return make_tree(data_.node_count, std::move(parent), Cost{1, 0}, "tree");
  }

  std::uint32_t first_core(std::size_t level, std::uint32_t object) const {
    return level + 1 == data_.levels.size() ? object : data_.first_core[level][object];
  }

  Topology::Data data_;
  ObjectSpec machine_;  // the spec with all missing levels inserted
  std::vector<LevelKey> keys_;
  std::uint32_t core_count_ = 0;
  std::vector<int> shift_;          // by level: position of its bits in a path
  std::vector<bool> uneven_costs_;  // by level: whether parents have different costs between their children
  std::vector<LinkPosition> links_;
  bool any_name_ = false, any_capacity_ = false, any_os_index_ = false, any_rail_ = false;
  bool devices_above_nodes_ = false, links_above_nodes_ = false;
};

Result<Topology> Topology::build(MachineSpec spec) {
  auto topology = TopologyBuilder(std::move(spec)).build();
  if (!topology) return topology;
  if (auto valid = check_channels(*topology, topology->spec().channels); !valid) return propagate(valid);
  return topology;
}

}  // namespace rankloom
