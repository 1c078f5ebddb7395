// SPDX-License-Identifier: Apache-2.0
// discover: Slurm's topology.yaml, parsed by libyaml: topology/tree, topology/block and topology/flat as the manual
// page topology.yaml(5) describes them.
#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <yaml.h>

#include "rankloom/core/text/hostlist.hpp"
#include "rankloom/discover/compose.hpp"
#include "rankloom/discover/slurm/slurm_topology.hpp"
#include "rankloom/discover/strings/tokens.hpp"

namespace rankloom {

namespace {

/// One node of a parsed YAML document. Aliases are resolved by libyaml. An invalid value stands for a missing key.
class YamlValue {
 public:
  YamlValue() = default;
  YamlValue(yaml_document_t* document, int id) : document_(document), node_(yaml_document_get_node(document, id)) {}

  explicit operator bool() const { return node_ != nullptr; }
  bool is_scalar() const { return node_ != nullptr && node_->type == YAML_SCALAR_NODE; }
  bool is_sequence() const { return node_ != nullptr && node_->type == YAML_SEQUENCE_NODE; }
  bool is_mapping() const { return node_ != nullptr && node_->type == YAML_MAPPING_NODE; }
  /// "key:" without a value, or "key: ~".
  bool is_null() const {
    return is_scalar() && node_->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (text().empty() || text() == "~" || lower_case(text()) == "null");
  }
  /// Counted from 1.
  std::uint64_t line() const { return node_ == nullptr ? 0 : node_->start_mark.line + 1; }

  std::string text() const {
    if (!is_scalar()) return {};
    return {reinterpret_cast<const char*>(node_->data.scalar.value), node_->data.scalar.length};
  }
  bool is_true() const {
    const std::string word = lower_case(text());
    return word == "true" || word == "yes" || word == "on";
  }

  std::vector<YamlValue> items() const {
    std::vector<YamlValue> result;
    if (!is_sequence()) return result;
    for (const int* item = node_->data.sequence.items.start; item < node_->data.sequence.items.top; ++item)
      result.emplace_back(document_, *item);
    return result;
  }
  /// The items of a sequence, or the value itself as its only item.
  std::vector<YamlValue> items_or_self() const { return is_sequence() ? items() : std::vector{*this}; }

  struct Entry;
  std::vector<Entry> entries() const;
  YamlValue find(std::string_view key) const;

 private:
  yaml_document_t* document_ = nullptr;
  yaml_node_t* node_ = nullptr;
};

struct YamlValue::Entry {
  YamlValue key, value;
};

std::vector<YamlValue::Entry> YamlValue::entries() const {
  std::vector<Entry> result;
  if (!is_mapping()) return result;
  for (const yaml_node_pair_t* pair = node_->data.mapping.pairs.start; pair < node_->data.mapping.pairs.top; ++pair)
    result.push_back({YamlValue(document_, pair->key), YamlValue(document_, pair->value)});
  return result;
}

YamlValue YamlValue::find(std::string_view key) const {
  for (const Entry& entry : entries()) {
    if (entry.key.text() == key) return entry.value;
  }
  return {};
}

struct DeleteDocument {
  void operator()(yaml_document_t* document) const {
    yaml_document_delete(document);
    delete document;
  }
};
using YamlDocument = std::unique_ptr<yaml_document_t, DeleteDocument>;

class YamlParser {
 public:
  explicit YamlParser(const FileContents& file) : file_(file) {
    is_ready_ = yaml_parser_initialize(&parser_) != 0;
    if (!is_ready_) return;
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(file.view().data()),
                                 file.view().size());
  }
  YamlParser(const YamlParser&) = delete;
  YamlParser& operator=(const YamlParser&) = delete;
  ~YamlParser() {
    if (is_ready_) yaml_parser_delete(&parser_);
  }

  /// The next document of the file; its root is null after the last one.
  Result<YamlDocument> load() {
    if (!is_ready_) return fail(Code::environment, at(file_.name()), "out of memory", "free memory and try again");
    if (const std::uint64_t line = first_line_nested_too_deep(); line > 0)
      return fail(Code::bad_input, at(file_.name(), line), "the brackets are nested too deep",
                  "check that every bracket is closed");
    auto raw = std::make_unique<yaml_document_t>();
    if (yaml_parser_load(&parser_, raw.get()) == 0) return syntax_error();
    return YamlDocument(raw.release());
  }

 private:
  Failure syntax_error() const {
    const std::uint64_t line = parser_.problem_mark.line + 1;
    const std::string problem = parser_.problem == nullptr ? "unknown error" : parser_.problem;
    const std::string context = parser_.context == nullptr ? "" : fmt::format(" {}", parser_.context);
    return fail(Code::bad_input, at(file_.name(), line), fmt::format("invalid YAML: {}{}", problem, context),
                is_indented_by_tab(line)
                    ? "indent with spaces; YAML does not allow tabs"
                    : "check the indentation, brackets and quotes of this line and the one before");
  }

  /// The time that libyaml needs is quadratic in the nesting depth of brackets. Returns 0 if no line is nested too
  /// deep.
  std::uint64_t first_line_nested_too_deep() const {
    constexpr std::size_t max_depth = 200;
    std::size_t depth = 0;
    std::uint64_t line = 1;
    for (const char c : file_.view()) {
      line += c == '\n' ? 1 : 0;
      if ((c == '[' || c == '{') && ++depth > max_depth) return line;
      if ((c == ']' || c == '}') && depth > 0) --depth;
    }
    return 0;
  }

  bool is_indented_by_tab(std::uint64_t line) const {
    const auto lines = split(file_.view(), '\n');
    if (line > lines.size()) return false;
    const std::string_view text = lines[line - 1];
    return text.substr(0, text.find_first_not_of(" \t")).find('\t') != std::string_view::npos;
  }

  const FileContents& file_;
  yaml_parser_t parser_ = {};
  bool is_ready_ = false;
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
    if (topology.find("flat").is_true()) return read_flat(topology, all);
    return bad(topology, "this topology has none of the keys tree, block and flat",
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
      return bad(items ? items : value, fmt::format("there is no list \"{}\"", list),
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
      std::to_array<std::string_view>({"topology", "cluster_default", "tree", "block", "flat"});
  const std::string_view key = text.substr(0, end);
  const std::string_view rest = text.substr(text[end] == ':' ? end : end + 1);
  return std::find(keys.begin(), keys.end(), key) != keys.end() && rest.starts_with(':') &&
         (rest.size() == 1 || std::string_view(" \t\r\n").find(rest[1]) != std::string_view::npos);
}

Result<MachineSpec> read_slurm_yaml(const FileContents& file) {
  YamlParser parser(file);
  auto document = parser.load();
  if (!document) return propagate(document);
  const yaml_node_t* const root = yaml_document_get_root_node(document->get());
  if (root == nullptr) return fail(Code::bad_input, at(file.name()), "is empty", "give Slurm's topology.yaml");
  auto next = parser.load();
  if (!next) return propagate(next);
  if (const yaml_node_t* const second = yaml_document_get_root_node(next->get()); second != nullptr)
    return fail(Code::bad_input, at(file.name(), second->start_mark.line + 1), "a second YAML document starts here",
                "keep one document: remove the line \"---\" before it");
  return TopologyYaml(file.name()).read(YamlValue(document->get(), 1));  // libyaml numbers the root 1
}

}  // namespace rankloom
