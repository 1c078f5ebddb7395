// SPDX-License-Identifier: Apache-2.0
// discover: builds a hierarchy from named switches.
#include "rankloom/discover/switch_tree.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "rankloom/discover/default_costs.hpp"
#include "rankloom/discover/strings/levels.hpp"
#include "rankloom/discover/strings/tokens.hpp"

namespace rankloom {

namespace {

ObjectSpec make_node(std::string name) {
  ObjectSpec core{.kind = "core", .name = {}, .between = {}, .os_index = {}, .children = {}};
  return {.kind = "node", .name = std::move(name), .between = {}, .os_index = {}, .children = {std::move(core)}};
}

/// "s0, s1, s2, …"
std::string first_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 4); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > 4 ? text + ", …" : text;
}

class SwitchTree {
 public:
  SwitchTree(const std::string& source, const std::string& kind, const std::vector<SwitchEntry>& entries)
      : source_(source), kind_(kind), entries_(entries), states_(entries.size()) {}

  Result<MachineSpec> build() {
    for (const auto phase : {&SwitchTree::index_switches, &SwitchTree::connect_switches, &SwitchTree::connect_hosts}) {
      if (auto done = (this->*phase)(); !done) return propagate(done);
    }
    std::vector<std::size_t> roots;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (states_[i].parent) continue;
      auto height = compute_height(i, 0);
      if (!height) return propagate(height);
      if (*height > 0) roots.push_back(i);
    }
    if (auto reached = check_cycles(); !reached) return propagate(reached);
    if (roots.empty())
      return bad(0, "the file names no node", "add nodes to the leaf switches, for example SwitchName=s0 Nodes=n[0-3]");
    MachineSpec machine = build_machine(roots);
    add_remarks(roots, machine);
    return machine;
  }

 private:
  struct State {
    std::optional<std::size_t> parent;
    std::vector<std::size_t> children;
    std::vector<std::string> hosts;
    std::size_t height = 0;  // 1: only hosts below it; 0: nothing below it
    bool visited = false;
  };

  Failure bad(std::uint64_t line, std::string what, std::string hint) const {
    return fail(Code::bad_input, at(source_, line), std::move(what), std::move(hint));
  }

  Result<void> index_switches() {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const auto [known, is_new] = by_name_.try_emplace(entries_[i].name, i);
      if (!is_new) {
        return bad(entries_[i].line,
                   fmt::format("the {} {} is already defined{}", kind_, printable(entries_[i].name),
                               in_line(entries_[known->second].line)),
                   "define it once");
      }
    }
    return {};
  }

  static std::string in_line(std::uint64_t line) { return line > 0 ? fmt::format(" in line {}", line) : ""; }

  Result<void> connect_switches() {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      for (const std::string& name : entries_[i].switches) {
        const auto child = by_name_.find(name);
        if (child == by_name_.end()) {
          return bad(entries_[i].line,
                     fmt::format("{} {} is a child of {} but has no entry", kind_, printable(name),
                                 printable(entries_[i].name)),
                     "add an entry for it, or remove it from the list");
        }
        State& child_state = states_[child->second];
        if (child_state.parent && *child_state.parent != i) {
          return bad(entries_[i].line,
                     fmt::format("{} {} is a child of both {} and {}", kind_, printable(name),
                                 printable(entries_[*child_state.parent].name), printable(entries_[i].name)),
                     "a switch of a tree has one parent; for other networks give the output of ibnetdiscover or "
                     "topology JSON");
        }
        if (!child_state.parent) states_[i].children.push_back(child->second);
        child_state.parent = i;
      }
    }
    return {};
  }

  Result<void> connect_hosts() {
    std::unordered_map<std::string_view, std::size_t> switch_of;
    for (const bool lists_all : {false, true}) {  // entries that repeat the hosts of other entries come last
      for (std::size_t i = 0; i < entries_.size(); ++i) {
        if ((entries_[i].lists_all && !entries_[i].switches.empty()) != lists_all) continue;
        for (const std::string& host : entries_[i].hosts) {
          const auto [known, is_new] = switch_of.try_emplace(host, i);
          if (is_new) {
            states_[i].hosts.push_back(host);
          } else if (!lists_all) {
            return bad(entries_[i].line,
                       fmt::format("the node {} already belongs to {} {}{}", printable(host), kind_,
                                   printable(entries_[known->second].name), in_line(entries_[known->second].line)),
                       "list every node once");
          }
        }
      }
    }
    return {};
  }

  Result<std::size_t> compute_height(std::size_t i, std::size_t depth) {
    if (depth > max_levels)
      return bad(entries_[i].line, fmt::format("there are more than {} levels", max_levels),
                 "reduce the number of levels");
    State& state = states_[i];
    state.visited = true;
    state.height = state.hosts.empty() ? 0 : 1;
    for (const std::size_t child : state.children) {
      auto height = compute_height(child, depth + 1);
      if (!height) return height;
      if (*height > 0) state.height = std::max(state.height, *height + 1);
    }
    return state.height;
  }

  /// Switches that are not below a root are part of a cycle.
  Result<void> check_cycles() const {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!states_[i].visited)
        return bad(entries_[i].line, fmt::format("{} {} is below itself", kind_, printable(entries_[i].name)),
                   "remove the switch above it from its list of switches");
    }
    return {};
  }

  ObjectSpec make(std::string name, std::size_t height, std::vector<ObjectSpec> children) const {
    return {.kind = kind_,
            .name = std::move(name),
            .between = default_switch_cost(height),
            .os_index = {},
            .children = std::move(children)};
  }

  /// Inserts objects with one child until the object has the height that its parent needs.
  ObjectSpec raise_to_height(ObjectSpec object, std::size_t from, std::size_t to) const {
    for (std::size_t height = from + 1; height <= to; ++height) {
      std::vector<ObjectSpec> only;
      only.push_back(std::move(object));
      object = make({}, height, std::move(only));
    }
    return object;
  }

  std::vector<ObjectSpec> children_of(std::size_t i) const {
    const State& state = states_[i];
    std::vector<ObjectSpec> children, hosts;
    for (const std::string& host : state.hosts) hosts.push_back(make_node(host));
    if (state.height == 1) return hosts;
    // Hosts of a switch that also has child switches are as close to each other as the hosts of a leaf switch.
    if (!hosts.empty()) children.push_back(raise_to_height(make({}, 1, std::move(hosts)), 1, state.height - 1));
    for (const std::size_t child : state.children) {
      const std::size_t height = states_[child].height;
      if (height == 0) continue;
      children.push_back(
          raise_to_height(make(entries_[child].name, height, children_of(child)), height, state.height - 1));
    }
    return children;
  }

  /// A single root becomes the machine itself.
  MachineSpec build_machine(const std::vector<std::size_t>& roots) const {
    MachineSpec machine;
    machine.text = source_;
    machine.root.kind = "machine";
    if (roots.size() == 1) {
      machine.root.between = default_switch_cost(states_[roots[0]].height);
      machine.root.children = children_of(roots[0]);
      return machine;
    }
    std::size_t highest = 0;
    for (const std::size_t root : roots) highest = std::max(highest, states_[root].height);
    machine.root.between = default_switch_cost(highest + 1);
    for (const std::size_t root : roots) {
      const std::size_t height = states_[root].height;
      machine.root.children.push_back(
          raise_to_height(make(entries_[root].name, height, children_of(root)), height, highest));
    }
    return machine;
  }

  void add_remarks(const std::vector<std::size_t>& roots, MachineSpec& machine) const {
    if (roots.size() > 1 && kind_ == "switch") {
      std::vector<std::string> names;
      names.reserve(roots.size());
      for (const std::size_t root : roots) names.push_back(entries_[root].name);
      machine.remarks.push_back({fmt::format("the switches form {} parts without a common switch: below {}",
                                             roots.size(), first_names(names)),
                                 "the parts become neighbours; add the switch above them if there is one"});
    }
    std::vector<std::string> empty, unequal;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (states_[i].height == 0) empty.push_back(entries_[i].name);
      const bool hosts_too_high = states_[i].height > 1 && !states_[i].hosts.empty();
      const bool switches_too_low =
          std::any_of(states_[i].children.begin(), states_[i].children.end(), [&](std::size_t child) {
            return states_[child].height > 0 && states_[child].height + 1 < states_[i].height;
          });
      if (hosts_too_high || switches_too_low) unequal.push_back(entries_[i].name);
    }
    if (!unequal.empty())
      machine.remarks.push_back(
          {fmt::format("nodes are at unequal depths below {}", first_names(unequal)),
           "correct if the cables are like this; missing levels are filled with one object each"});
    if (!empty.empty())
      machine.remarks.push_back({fmt::format("no node is below {}", first_names(empty)),
                                 "the switch is left out; check whether nodes are missing in the file"});
  }

  const std::string& source_;
  const std::string& kind_;
  const std::vector<SwitchEntry>& entries_;
  std::vector<State> states_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace

Result<MachineSpec> build_switch_tree(const std::string& source, const std::string& kind,
                                      const std::vector<SwitchEntry>& entries) {
  auto machine = SwitchTree(source, kind, entries).build();
  if (machine) set_cost_origins(*machine, Origin::assumed);
  return machine;
}

}  // namespace rankloom
