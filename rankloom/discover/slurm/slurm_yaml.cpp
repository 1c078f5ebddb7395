// SPDX-License-Identifier: Apache-2.0
// discover: Slurm's topology.yaml.
#include <algorithm>

#include <fmt/format.h>

#include "rankloom/discover/strings/hostlist.hpp"
#include "rankloom/discover/slurm/slurm_topology.hpp"
#include "rankloom/discover/strings/tokens.hpp"
#include "rankloom/discover/slurm/yaml.hpp"

namespace rankloom {

namespace {

class YamlTopology {
 public:
  explicit YamlTopology(const std::string& source) : source_(source) {}

  Result<MachineSpec> read(const YamlValue& top) const {
    if (top.kind == YamlValue::Kind::map) return read_one(top);
    if (top.kind != YamlValue::Kind::list || top.items.empty())
      return bad(top, "is no list of topologies", "begin with \"- topology: NAME\"");
    const auto is_default = [](const YamlValue& topology) {
      const YamlValue* const word = topology.find("cluster_default");
      return word != nullptr && lower_case(word->word) == "true";
    };
    const auto chosen = std::find_if(top.items.begin(), top.items.end(), is_default);
    auto machine = read_one(chosen != top.items.end() ? *chosen : top.items[0]);
    if (machine && top.items.size() > 1) {
      machine->remarks.push_back(
          {fmt::format("there are {} topologies; this is the {}", top.items.size(),
                       chosen != top.items.end() ? "cluster's default" : "first, for none is the cluster's default"),
           "to use another one, keep only that in the file"});
    }
    return machine;
  }

 private:
  Failure bad(const YamlValue& value, std::string what, std::string hint) const {
    return fail(Code::bad_input, at(source_, value.line), std::move(what), std::move(hint));
  }

  Result<MachineSpec> read_one(const YamlValue& topology) const {
    if (const YamlValue* const tree = topology.find("tree"); tree != nullptr) {
      auto entries = read_entries(*tree, "switches", "switch");
      if (!entries) return propagate(entries);
      return build_switch_tree(source_, "switch", *entries);
    }
    if (const YamlValue* const block = topology.find("block"); block != nullptr) {
      auto entries = read_entries(*block, "blocks", "block");
      if (!entries) return propagate(entries);
      auto sizes = read_sizes(*block);
      if (!sizes) return propagate(sizes);
      return build_switch_tree(source_, "block", aggregate_blocks(std::move(*entries), *sizes));
    }
    return bad(topology, "this topology is neither a tree nor blocks, so it names no nodes",
               "a flat network needs no file: name its hosts, such as \"node1 16\"");
  }

  Result<std::vector<SwitchEntry>> read_entries(const YamlValue& value, std::string_view list,
                                                std::string_view name_key) const {
    const YamlValue* const items = value.find(list);
    if (items == nullptr || items->kind != YamlValue::Kind::list)
      return bad(value, fmt::format("has no list of {}", list),
                 fmt::format("{}: with \"- {}: NAME\" below", list, name_key));
    std::vector<SwitchEntry> entries;
    for (const YamlValue& item : items->items) {
      const YamlValue* const name = item.find(name_key);
      if (name == nullptr || name->word.empty())
        return bad(item, fmt::format("this entry has no {}", name_key), fmt::format("- {}: NAME", name_key));
      auto hosts = read_names(item, "nodes");
      if (!hosts) return propagate(hosts);
      auto below = read_names(item, "children");
      if (!below) return propagate(below);
      entries.push_back({name->word, std::move(*below), std::move(*hosts), item.line});
    }
    return entries;
  }

  /// A word such as n[0-3], or a list of such words.
  Result<std::vector<std::string>> read_names(const YamlValue& item, std::string_view key) const {
    std::vector<std::string> names;
    const YamlValue* const value = item.find(key);
    if (value == nullptr || value->kind == YamlValue::Kind::nothing) return names;
    if (value->kind == YamlValue::Kind::map)
      return bad(*value, fmt::format("{} is a map, not names", key), fmt::format("{}: n[0-3]", key));
    std::vector<YamlValue> words = value->kind == YamlValue::Kind::list ? value->items : std::vector{*value};
    for (const YamlValue& word : words) {
      auto hosts = expand_hosts(word.word);
      if (!hosts) {
        hosts.error().where = at(source_, word.line);
        return hosts;
      }
      names.insert(names.end(), hosts->begin(), hosts->end());
    }
    return names;
  }

  Result<std::vector<std::uint32_t>> read_sizes(const YamlValue& block) const {
    std::vector<std::uint32_t> sizes;
    const YamlValue* const value = block.find("block_sizes");
    if (value == nullptr) return sizes;
    const auto words = value->kind == YamlValue::Kind::list ? value->items : std::vector{*value};
    for (const YamlValue& word : words) {
      const auto size = parse_size(word.word);
      if (!size || (!sizes.empty() && (*size <= sizes.back() || *size % sizes[0] != 0)))
        return bad(word, fmt::format("\"{}\" is no size that the ones before it divide", shown(word.word)),
                   "block_sizes: [4, 16]");
      sizes.push_back(*size);
    }
    return sizes;
  }

  const std::string& source_;
};

}  // namespace

bool is_slurm_yaml(std::string_view text) {
  text = text.substr(0, 65536);
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split_at_blanks(line.substr(0, line.find('#')));
    if (words.empty() || words[0] == "---") continue;
    const std::size_t first = words[0] == "-" ? 1 : 0;
    return words.size() > first &&
           (words[first] == "topology:" || words[first] == "tree:" || words[first] == "block:" ||
            words[first] == "cluster_default:" || words[first] == "flat:");
  }
  return false;
}

Result<MachineSpec> read_slurm_yaml(const FileContents& file) {
  auto top = parse_yaml(file);
  if (!top) return propagate(top);
  return YamlTopology(file.name()).read(*top);
}

}  // namespace rankloom
