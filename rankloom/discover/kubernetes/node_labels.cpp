// SPDX-License-Identifier: Apache-2.0
// discover/kubernetes: the labels of nodes as NVIDIA's Topograph documents them ("Topograph node labels and
// annotations"): network.topology.nvidia.com/{accelerator,leaf,spine,core}, in versions before 0.2 block and datacenter
// instead of leaf and core, from 1.0 on fabric.topograph.run/tier-N and accelerator.topograph.run/domain. Written from
// its documentation, not from the output of a cluster.
#include "rankloom/discover/kubernetes/node_labels.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/discover/strings/tokens.hpp"
#include "rankloom/discover/yaml/yaml_document.hpp"

namespace rankloom {

namespace {

struct LabelLevel {
  std::string_view kind;
  std::array<std::string_view, 3> labels;  ///< Any of them; empty: none.
};

/// From the outermost level to the innermost.
constexpr std::array<LabelLevel, 4> label_levels{{
    {"superspine",
     {"network.topology.nvidia.com/core", "network.topology.nvidia.com/datacenter", "fabric.topograph.run/tier-2"}},
    {"spine", {"network.topology.nvidia.com/spine", "fabric.topograph.run/tier-1", ""}},
    {"leaf", {"network.topology.nvidia.com/leaf", "network.topology.nvidia.com/block", "fabric.topograph.run/tier-0"}},
    {"nvlink",
     {"network.topology.nvidia.com/accelerator", "accelerator.topograph.run/domain", "nvidia.com/gpu.clique"}},
}};
constexpr std::size_t nvlink_level = 3;

constexpr std::uint32_t max_gpus = 1024;

/// GPUs in one NVLink domain: 450 GB/s in each direction.
constexpr Cost nvlink_cost{1.0 / 450, 1000};

/// Between nodes: a card of 400 Gbit/s per GPU, and a little more for each level of switches.
Cost fabric_cost(std::size_t height) {
  const auto above_leaf = static_cast<double>(height) - 1;
  return {0.02 * (1 + 0.25 * above_leaf), 3000 + 500 * above_leaf};
}

struct LabelledNode {
  std::string name;
  std::uint32_t gpus = 1;
  std::array<std::string, label_levels.size()> values;  ///< Empty: the node does not have the label.
};

class LabelReader {
 public:
  explicit LabelReader(const std::string& source) : source_(source) {}

  Result<MachineSpec> read(const YamlValue& root) {
    const YamlValue items = root.find("items");
    for (const YamlValue& item : items ? items.items() : std::vector{root}) {
      if (auto added = add(item); !added) return propagate(added);
    }
    if (nodes_.empty())
      return fail(Code::bad_input, at(source_), "no node has a label of its place in the network",
                  "label the nodes with Topograph, or give another description of the network");
    MachineSpec machine;
    machine.text = source_;
    machine.root = build();
    add_remarks(machine);
    set_cost_origins(machine, Origin::assumed);
    return machine;
  }

 private:
  Result<void> add(const YamlValue& item) {
    const YamlValue metadata = item.find("metadata");
    const YamlValue name = metadata.find("name");
    if (name.text().empty())
      return fail(Code::bad_input, at(source_, item.line()), "this node has no metadata.name",
                  "give the output of kubectl get nodes -o json");
    LabelledNode node{.name = name.text(), .values = {}};
    if (!is_plain_host_name(node.name))
      return fail(Code::bad_input, at(source_, name.line()),
                  fmt::format("\"{}\" is not a host name", printable(node.name)),
                  "use letters, digits, - _ and . and do not begin with -");
    if (!names_.insert(node.name).second)
      return fail(Code::bad_input, at(source_, name.line()), fmt::format("node {} is listed twice", node.name),
                  "list every node once");
    bool has_label = false;
    for (const auto& [key, value] : metadata.find("labels").entries()) {
      const std::string label = key.text();
      for (std::size_t level = 0; level < label_levels.size(); ++level) {
        const auto& known = label_levels[level].labels;
        if (label.empty() || std::find(known.begin(), known.end(), label) == known.end() || value.text().empty())
          continue;
        node.values[level] = value.text();
        used_[level] = has_label = true;
      }
    }
    if (!has_label) {
      ++unlabelled_;
      return {};
    }
    if (const YamlValue gpus = item.find("status").find("capacity").find("nvidia.com/gpu")) {
      const std::string text = gpus.text();
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), node.gpus);
      if (error != std::errc() || end != text.data() + text.size() || node.gpus > max_gpus)
        return fail(Code::bad_input, at(source_, gpus.line()),
                    fmt::format("\"{}\" is not a number of GPUs", printable(text)),
                    fmt::format("give a number up to {}", max_gpus));
      node.gpus = std::max(node.gpus, 1U);
    }
    nodes_.push_back(std::move(node));
    return {};
  }

  ObjectSpec build() const {
    std::vector<const LabelledNode*> all;
    for (const LabelledNode& node : nodes_) all.push_back(&node);
    std::size_t switch_levels = 0;
    for (std::size_t level = 0; level < nvlink_level; ++level) switch_levels += used_[level] ? 1 : 0;
    // The machine connects what the outermost level divides.
    ObjectSpec root{.kind = "machine",
                    .name = {},
                    .between = switch_levels > 0 || used_[nvlink_level] ? fabric_cost(switch_levels + 1) : nvlink_cost,
                    .os_index = {},
                    .children = {}};
    root.children = children(0, switch_levels, all);
    return root;
  }

  /// The objects of this level that contain the nodes; `height` levels of switches are at or below it.
  std::vector<ObjectSpec> children(std::size_t level, std::size_t height,
                                   const std::vector<const LabelledNode*>& nodes) const {
    while (level < label_levels.size() && !used_[level]) ++level;
    std::vector<ObjectSpec> objects;
    if (level == label_levels.size()) {
      for (const LabelledNode* const node : nodes) objects.push_back(make_gpu_node(*node));
      return objects;
    }
    std::map<std::string_view, std::size_t> number_of;
    std::vector<std::pair<std::string_view, std::vector<const LabelledNode*>>> groups;
    for (const LabelledNode* const node : nodes) {
      const std::string& value = node->values[level];
      // A node without NVLink to other nodes is alone.
      const bool alone = level == nvlink_level && value.empty();
      const auto [found, added] =
          alone ? std::pair(number_of.end(), true) : number_of.try_emplace(value, groups.size());
      if (added) {
        groups.push_back({value, {node}});
      } else {
        groups[found->second].second.push_back(node);
      }
    }
    const bool is_switch = level < nvlink_level;
    for (const auto& [name, members] : groups)
      objects.push_back({.kind = std::string(label_levels[level].kind),
                         .name = {},
                         .between = is_switch ? fabric_cost(height) : nvlink_cost,
                         .os_index = {},
                         .children = children(level + 1, height - (is_switch ? 1 : 0), members)});
    return objects;
  }

  static ObjectSpec make_gpu_node(const LabelledNode& node) {
    ObjectSpec core{.kind = "core", .name = {}, .repeat = node.gpus, .between = {}, .os_index = {}, .children = {}};
    return {.kind = "node", .name = node.name, .between = nvlink_cost, .os_index = {}, .children = {std::move(core)}};
  }

  void add_remarks(MachineSpec& machine) const {
    if (unlabelled_ > 0)
      machine.remarks.push_back(
          {fmt::format("{} nodes have no label of their place in the network and are left out", unlabelled_),
           "label them if the job may use them"});
    for (std::size_t level = 0; level < nvlink_level; ++level) {
      if (!used_[level]) continue;
      const auto missing = std::count_if(nodes_.begin(), nodes_.end(),
                                         [&](const LabelledNode& node) { return node.values[level].empty(); });
      if (missing > 0)
        machine.remarks.push_back({fmt::format("{} nodes have no label of level {}; they form one group of it", missing,
                                               label_levels[level].kind),
                                   "label all nodes, or none, with this level"});
    }
    std::map<std::string_view, std::set<std::array<std::string, nvlink_level>>> switches_of;
    for (const LabelledNode& node : nodes_) {
      if (node.values[nvlink_level].empty()) continue;
      std::array<std::string, nvlink_level> switches;
      std::copy_n(node.values.begin(), nvlink_level, switches.begin());
      switches_of[node.values[nvlink_level]].insert(switches);
    }
    for (const auto& [domain, switches] : switches_of) {
      if (switches.size() < 2) continue;
      machine.remarks.push_back(
          {fmt::format("the NVLink domain {} has nodes below several leaf switches; it is divided", printable(domain)),
           "remove the labels of leaf switches if NVLink decides"});
      return;
    }
  }

  const std::string& source_;
  std::vector<LabelledNode> nodes_;
  std::set<std::string> names_;
  std::array<bool, label_levels.size()> used_{};
  std::size_t unlabelled_ = 0;
};

}  // namespace

bool is_node_labels(std::string_view text) {
  const bool has_label = text.find("network.topology.nvidia.com/") != std::string_view::npos ||
                         text.find(".topograph.run/") != std::string_view::npos ||
                         text.find("nvidia.com/gpu.clique") != std::string_view::npos;
  return has_label && text.find("metadata") != std::string_view::npos;
}

Result<MachineSpec> read_node_labels(const FileContents& file) {
  auto document = YamlDocument::parse(file, "the output of kubectl get nodes -o json");
  if (!document) return propagate(document);
  return LabelReader(file.name()).read(document->root());
}

}  // namespace rankloom
