// SPDX-License-Identifier: Apache-2.0
// discover: from named switches to a hierarchy.
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
std::string some_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 4); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > 4 ? text + ", …" : text;
}

class SwitchTree {
 public:
  SwitchTree(const std::string& source, const std::string& kind, const std::vector<SwitchEntry>& entries)
      : source_(source), kind_(kind), entries_(entries), nodes_(entries.size()) {}

  Result<MachineSpec> build() {
    for (const auto step : {&SwitchTree::name_switches, &SwitchTree::join_switches, &SwitchTree::seat_hosts}) {
      if (auto done = (this->*step)(); !done) return propagate(done);
    }
    std::vector<std::size_t> roots;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (nodes_[i].parent) continue;
      auto height = measure(i, 0);
      if (!height) return propagate(height);
      if (*height > 0) roots.push_back(i);
    }
    if (auto reached = check_circles(); !reached) return propagate(reached);
    if (roots.empty())
      return bad(0, "names no node", "give the lowest switches their nodes: SwitchName=s0 Nodes=n[0-3]");
    MachineSpec machine = grow(roots);
    remark(roots, machine);
    return machine;
  }

 private:
  struct State {
    std::optional<std::size_t> parent;
    std::vector<std::size_t> below;
    std::vector<std::string> hosts;
    std::size_t height = 0;  // 1: hosts alone below it; 0: nothing at all
    bool measured = false;
  };

  Failure bad(std::uint64_t line, std::string what, std::string hint) const {
    return fail(Code::bad_input, at(source_, line), std::move(what), std::move(hint));
  }

  Result<void> name_switches() {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const auto [known, is_new] = by_name_.try_emplace(entries_[i].name, i);
      if (!is_new) {
        return bad(entries_[i].line,
                   fmt::format("the {} {} stands there already{}", kind_, shown(entries_[i].name),
                               in_line(entries_[known->second].line)),
                   "give it one entry");
      }
    }
    return {};
  }

  static std::string in_line(std::uint64_t line) { return line > 0 ? fmt::format(" in line {}", line) : ""; }

  Result<void> join_switches() {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      for (const std::string& name : entries_[i].switches) {
        const auto child = by_name_.find(name);
        if (child == by_name_.end()) {
          return bad(entries_[i].line,
                     fmt::format("{} {} is said to be below {}, but has no entry", kind_, shown(name),
                                 shown(entries_[i].name)),
                     "add its entry, or leave it out");
        }
        State& below = nodes_[child->second];
        if (below.parent && *below.parent != i) {
          return bad(entries_[i].line,
                     fmt::format("{} {} is below {} and below {}", kind_, shown(name),
                                 shown(entries_[*below.parent].name), shown(entries_[i].name)),
                     "a tree has one way up; for other networks give ibnetdiscover's output or topology JSON");
        }
        if (!below.parent) nodes_[i].below.push_back(child->second);
        below.parent = i;
      }
    }
    return {};
  }

  Result<void> seat_hosts() {
    std::unordered_map<std::string_view, std::size_t> seat;
    for (const bool lists_all : {false, true}) {  // those that name the hosts of others come last
      for (std::size_t i = 0; i < entries_.size(); ++i) {
        if ((entries_[i].lists_all && !entries_[i].switches.empty()) != lists_all) continue;
        for (const std::string& host : entries_[i].hosts) {
          const auto [known, is_new] = seat.try_emplace(host, i);
          if (is_new) {
            nodes_[i].hosts.push_back(host);
          } else if (!lists_all) {
            return bad(entries_[i].line,
                       fmt::format("the node {} is at {} {} already{}", shown(host), kind_,
                                   shown(entries_[known->second].name), in_line(entries_[known->second].line)),
                       "give every node one place");
          }
        }
      }
    }
    return {};
  }

  Result<std::size_t> measure(std::size_t i, std::size_t depth) {
    if (depth > most_levels)
      return bad(entries_[i].line, fmt::format("more than {} levels", most_levels), "leave some out");
    State& state = nodes_[i];
    state.measured = true;
    state.height = state.hosts.empty() ? 0 : 1;
    for (const std::size_t child : state.below) {
      auto below = measure(child, depth + 1);
      if (!below) return below;
      if (*below > 0) state.height = std::max(state.height, *below + 1);
    }
    return state.height;
  }

  /// Whatever is below no root goes round.
  Result<void> check_circles() const {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!nodes_[i].measured)
        return bad(entries_[i].line, fmt::format("{} {} is below itself", kind_, shown(entries_[i].name)),
                   "let every switch name only those below it");
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

  /// As high as the parent wants its children: stand-ins with one child where levels are missing.
  ObjectSpec raised(ObjectSpec object, std::size_t from, std::size_t to) const {
    for (std::size_t height = from + 1; height <= to; ++height) {
      std::vector<ObjectSpec> only;
      only.push_back(std::move(object));
      object = make({}, height, std::move(only));
    }
    return object;
  }

  std::vector<ObjectSpec> children_of(std::size_t i) const {
    const State& state = nodes_[i];
    std::vector<ObjectSpec> children, hosts;
    for (const std::string& host : state.hosts) hosts.push_back(make_node(host));
    if (state.height == 1) return hosts;
    // Hosts at a switch that has others below it are as near to each other as those of any lowest switch.
    if (!hosts.empty()) children.push_back(raised(make({}, 1, std::move(hosts)), 1, state.height - 1));
    for (const std::size_t child : state.below) {
      const std::size_t height = nodes_[child].height;
      if (height == 0) continue;
      children.push_back(raised(make(entries_[child].name, height, children_of(child)), height, state.height - 1));
    }
    return children;
  }

  /// A single root is the machine itself.
  MachineSpec grow(const std::vector<std::size_t>& roots) const {
    MachineSpec machine;
    machine.text = source_;
    machine.root.kind = "machine";
    if (roots.size() == 1) {
      machine.root.between = default_switch_cost(nodes_[roots[0]].height);
      machine.root.children = children_of(roots[0]);
      return machine;
    }
    std::size_t highest = 0;
    for (const std::size_t root : roots) highest = std::max(highest, nodes_[root].height);
    machine.root.between = default_switch_cost(highest + 1);
    for (const std::size_t root : roots) {
      const std::size_t height = nodes_[root].height;
      machine.root.children.push_back(raised(make(entries_[root].name, height, children_of(root)), height, highest));
    }
    return machine;
  }

  void remark(const std::vector<std::size_t>& roots, MachineSpec& machine) const {
    if (roots.size() > 1 && kind_ == "switch") {
      std::vector<std::string> names;
      for (const std::size_t root : roots) names.push_back(entries_[root].name);
      machine.remarks.push_back(
          {fmt::format("the switches fall into {} parts that nothing joins: below {}", roots.size(), some_of(names)),
           "they were put side by side; add the switch above them if there is one"});
    }
    std::vector<std::string> empty, uneven;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (nodes_[i].height == 0) empty.push_back(entries_[i].name);
      const bool hosts_too_high = nodes_[i].height > 1 && !nodes_[i].hosts.empty();
      const bool switches_too_low = std::any_of(nodes_[i].below.begin(), nodes_[i].below.end(), [&](std::size_t child) {
        return nodes_[child].height > 0 && nodes_[child].height + 1 < nodes_[i].height;
      });
      if (hosts_too_high || switches_too_low) uneven.push_back(entries_[i].name);
    }
    if (!uneven.empty())
      machine.remarks.push_back({fmt::format("nodes hang at unequal depths below {}", some_of(uneven)),
                                 "fine if it is cabled so; levels that are missing in a part have one object there"});
    if (!empty.empty())
      machine.remarks.push_back({fmt::format("no node is below {}", some_of(empty)), "left out; are nodes missing?"});
  }

  const std::string& source_;
  const std::string& kind_;
  const std::vector<SwitchEntry>& entries_;
  std::vector<State> nodes_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace

Result<MachineSpec> build_switch_tree(const std::string& source, const std::string& kind,
                                      const std::vector<SwitchEntry>& entries) {
  return SwitchTree(source, kind, entries).build();
}

}  // namespace rankloom
