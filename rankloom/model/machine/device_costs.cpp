// SPDX-License-Identifier: Apache-2.0
// model/machine: replaces the costs inside nodes by those between GPUs.
#include "rankloom/model/machine/device_costs.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace rankloom {

namespace {

/// The leaves of one copy of an object.
std::uint32_t count_leaves(const ObjectSpec& object) {
  std::uint64_t leaves = object.children.empty() ? 1 : 0;
  for (const ObjectSpec& child : object.children) leaves += child.repeat * count_leaves(child);
  return static_cast<std::uint32_t>(leaves);  // at most max_cores
}

/// The devices or links of one node, out of a list that is sorted by node.
template <class Entry>
std::span<const Entry> entries_of(std::span<const Entry> all, Node node) {
  const auto is_before = [](const Entry& entry, Node other) { return entry.node < other; };
  const auto begin = std::lower_bound(all.begin(), all.end(), node, is_before);
  const auto end = std::lower_bound(begin, all.end(), Node{index(node) + 1}, is_before);
  return all.subspan(static_cast<std::size_t>(begin - all.begin()), static_cast<std::size_t>(end - begin));
}

Cost cheaper(Cost a, Cost b) {
  return b.inverse_bandwidth < a.inverse_bandwidth ? b : a;
}

using GpuSet = std::bitset<max_linked_gpus>;  // of a node, by their order in Topology::devices()

/// The GPUs of one node and the links between them.
class LinkedGpus {
 public:
  LinkedGpus(const Topology& topology, Node node) {
    for (const Topology::Device& device : entries_of(topology.devices(), node)) {
      if (device.kind == "gpu") gpus_.push_back(&device);
    }
    links_.resize(gpus_.size() * gpus_.size());
    for (const Topology::GpuLink& link : entries_of(topology.gpu_links(), node)) add(link);
  }

  std::size_t count() const { return gpus_.size(); }
  /// The cheapest link between two GPUs.
  const std::optional<Cost>& link(std::size_t a, std::size_t b) const { return links_[a * gpus_.size() + b]; }

  /// The GPUs that are near some of these cores.
  GpuSet near(Core first, Core end) const {
    GpuSet set;
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) set[gpu] = gpus_[gpu]->first < end && first < gpus_[gpu]->end;
    return set;
  }

  /// Whether these cores contain all cores near some GPU.
  bool any_inside(Core first, Core end) const {
    return std::any_of(gpus_.begin(), gpus_.end(),
                       [&](const Topology::Device* gpu) { return first <= gpu->first && gpu->end <= end; });
  }

 private:
  void add(const Topology::GpuLink& link) {
    for (std::size_t a = 0; a < gpus_.size(); ++a) {
      if (!std::binary_search(link.gpus.begin(), link.gpus.end(), gpus_[a]->number)) continue;
      for (std::size_t b = 0; b < gpus_.size(); ++b) {
        if (a == b || !std::binary_search(link.gpus.begin(), link.gpus.end(), gpus_[b]->number)) continue;
        std::optional<Cost>& known = links_[a * gpus_.size() + b];
        known = known ? cheaper(*known, link.cost) : link.cost;
      }
    }
  }

  std::vector<const Topology::Device*> gpus_;
  std::vector<std::optional<Cost>> links_;  // by pair of GPUs; the number of GPUs is at most max_linked_gpus
};

/// Copies the description of a machine with other costs. Copies of repeated objects stay together unless their GPUs
/// differ.
class DeviceCosts {
 public:
  explicit DeviceCosts(const Topology& topology) : topology_(topology) {}

  ObjectSpec copy_root() const { return copy(topology_.spec().root, Core{0}, {}); }

 private:
  /// What an object knows of the object above it.
  struct Above {
    const LinkedGpus* gpus = nullptr;  // of the node; nullptr: above the nodes, or a node without links
    GpuSet available = {};             // that ranks below the object above may use
    std::optional<Cost> between = {};  // of the next object above with several children, inside the node
  };

  /// Equal children of an object.
  struct Part {
    const ObjectSpec* spec;
    Core first;
    std::uint32_t leaves;  // of each
    std::uint64_t copies;
    GpuSet available;
  };

  /// One copy of an object, whose first core is `first`.
  ObjectSpec copy(const ObjectSpec& object, Core first, Above above) const {
    ObjectSpec result{.kind = object.kind,
                      .name = object.name,
                      .between = object.between,
                      .capacity = object.capacity,
                      .os_index = object.os_index,
                      .children = {},
                      .devices = object.devices,
                      .gpu_links = {},
                      .rail = object.rail};
    const Core end{index(first) + count_leaves(object)};
    std::optional<LinkedGpus> entered;
    if (above.gpus == nullptr && has_links(first, end))
      above.gpus = &entered.emplace(topology_, topology_.node_of(first));
    above.available = available_to(first, end, above);
    const std::vector<Part> parts = split_children(object, first, above);
    const bool several = parts.size() > 1 || (parts.size() == 1 && parts[0].copies > 1);
    const bool is_network = topology_.routed() && &object == &topology_.spec().root;
    if (several && !is_network) {
      // A missing cost depends on the levels below, whose costs change.
      const Core other = parts[0].copies > 1 ? Core{index(first) + parts[0].leaves} : parts[1].first;
      result.between = topology_.level_cost(first, other);
      if (above.gpus != nullptr) above.between = result.between = mean_cost(parts, *result.between, above);
    }
    for (const Part& part : parts) {
      ObjectSpec child = copy(*part.spec, part.first, above);
      child.repeat = part.copies;
      append_with_repeat(result.children, std::move(child));
    }
    return result;
  }

  /// Whether these cores belong to one node, and the node has links.
  bool has_links(Core first, Core end) const {
    const Node node = topology_.node_of(first);
    return end <= topology_.first_core(topology_.node_level(), index(node) + 1) &&
           !entries_of(topology_.gpu_links(), node).empty();
  }

  /// The GPUs that ranks on these cores may use.
  static GpuSet available_to(Core first, Core end, const Above& above) {
    if (above.gpus == nullptr) return {};
    const GpuSet near = above.gpus->near(first, end);
    return near.any() ? near : above.available;
  }

  static std::vector<Part> split_children(const ObjectSpec& object, Core first, const Above& above) {
    std::vector<Part> parts;
    for (const ObjectSpec& child : object.children) {
      const std::uint32_t leaves = count_leaves(child);
      const bool differ = above.gpus != nullptr && above.gpus->any_inside(first, Core{index(first) + leaves});
      const std::uint64_t copies_per_part = differ ? 1 : child.repeat;
      for (std::uint64_t done = 0; done < child.repeat; done += copies_per_part) {
        const GpuSet available = available_to(first, Core{index(first) + leaves}, above);
        parts.push_back({&child, first, leaves, copies_per_part, available});
        first = Core{static_cast<std::uint32_t>(index(first) + copies_per_part * leaves)};
      }
    }
    return parts;
  }

  /// The mean over the pairs of GPUs that two ranks below different parts may use; `own` is the cost without links.
  static Cost mean_cost(const std::vector<Part>& parts, Cost own, const Above& above) {
    constexpr auto many_parts = std::numeric_limits<std::size_t>::max(), no_part = many_parts - 1;
    std::array<std::size_t, max_linked_gpus> part_of{};  // by GPU: the only part whose ranks may use it
    part_of.fill(no_part);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      for (std::size_t gpu = 0; gpu < above.gpus->count(); ++gpu) {
        if (!parts[part].available[gpu]) continue;
        part_of[gpu] = part_of[gpu] == no_part && parts[part].copies == 1 ? part : many_parts;
      }
    }
    // Counted by cost: equal costs have exactly this mean, and objects with the same pairs get exactly the same one.
    std::map<std::pair<double, double>, std::uint64_t> pairs;
    std::uint64_t pair_count = 0;
    for (std::size_t a = 0; a < above.gpus->count(); ++a) {
      for (std::size_t b = a + 1; b < above.gpus->count(); ++b) {
        if (part_of[a] == no_part || part_of[b] == no_part) continue;
        if (part_of[a] == part_of[b] && part_of[a] != many_parts) continue;
        const std::optional<Cost>& link = above.gpus->link(a, b);
        const Cost cost = link ? cheaper(own, *link) : own;
        ++pairs[{cost.inverse_bandwidth, cost.latency}];
        ++pair_count;
      }
    }
    if (pairs.empty()) return above.between ? cheaper(own, *above.between) : own;  // the ranks share one GPU
    if (pairs.size() == 1) return {pairs.begin()->first.first, pairs.begin()->first.second};
    Cost mean;
    for (const auto& [cost, count] : pairs) {
      const double weight = static_cast<double>(count) / static_cast<double>(pair_count);
      mean.inverse_bandwidth += weight * cost.first;
      mean.latency += weight * cost.second;
    }
    return mean;
  }

  const Topology& topology_;
};

}  // namespace

Result<Topology> with_gpu_links(const Topology& topology) {
  if (topology.gpu_links().empty()) return topology;
  MachineSpec spec{.root = DeviceCosts(topology).copy_root(),
                   .network = topology.spec().network,
                   .text = topology.spec().text,
                   .remarks = topology.spec().remarks,
                   .channels = topology.spec().channels};
  return Topology::build(std::move(spec));
}

}  // namespace rankloom
