// SPDX-License-Identifier: Apache-2.0
// discover/strings: reads hosts and their slots, one host per line.
#include "rankloom/discover/strings/hostfile.hpp"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "rankloom/discover/strings/levels.hpp"
#include "rankloom/discover/strings/tokens.hpp"

namespace rankloom {

namespace {

/// No host has more cores. A larger number is an error in the file, and would need gigabytes of memory.
constexpr std::uint32_t max_slots = 1U << 20;

struct HostLine {
  std::string_view name;
  std::optional<std::string_view> slots;  // as written; empty: no count is given
};

/// The parts of a line without its comment. The name is empty for an empty line; nothing if the line is not a host.
std::optional<HostLine> parse_line(std::string_view line) {
  const auto tokens = split_at_blanks(line.substr(0, line.find('#')));
  if (tokens.empty()) return HostLine{};
  HostLine host{.name = tokens[0], .slots = {}};
  if (tokens.size() == 2) {
    host.slots = tokens[1].starts_with("slots=") ? tokens[1].substr(6) : tokens[1];
  } else if (const auto colon = tokens[0].find(':'); tokens.size() == 1 && colon != std::string_view::npos) {
    host = {.name = tokens[0].substr(0, colon), .slots = tokens[0].substr(colon + 1)};
  } else if (tokens.size() > 2) {
    return std::nullopt;
  }
  const bool is_valid_name = !host.name.empty() && std::all_of(host.name.begin(), host.name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
           c == '-';
  });
  return is_valid_name ? std::optional(host) : std::nullopt;
}

/// The hosts in the order in which they first appear.
class HostCollector {
 public:
  explicit HostCollector(const std::string& file) : file_(file) {}

  Result<void> add(std::string_view text, std::uint64_t line) {
    const auto parsed = parse_line(text);
    if (!parsed) {
      return bad(line, fmt::format("\"{}\" is not a host with its slots", printable(text)),
                 "write one host per line: \"node1 4\", \"node1:4\" or \"node1 slots=4\"");
    }
    if (parsed->name.empty()) return {};
    const auto slots = parsed->slots ? parse_size(*parsed->slots) : 1;
    if (!slots || *slots > max_slots) {
      return bad(line,
                 fmt::format("\"{}\" is not a number of slots from 1 to {}", printable(*parsed->slots), max_slots),
                 "give a number in this range, or remove the host");
    }
    if ((total_ += *slots) > max_cores) {
      return bad(line, fmt::format("the hosts have more than the maximum of {} slots", max_cores), "remove hosts");
    }
    const auto [entry, is_first] = by_name_.try_emplace(std::string(parsed->name), hosts_.size());
    if (is_first) {
      hosts_.push_back({std::string(parsed->name), *slots, line, !parsed->slots});
      return {};
    }
    Host& known = hosts_[entry->second];
    if (!known.without_count || parsed->slots) {
      return bad(line, fmt::format("the host {} is already in line {}", known.name, known.line),
                 "give each host one line; only lines without a count may be repeated, and add up");
    }
    known.slots += *slots;
    return {};
  }

  Result<MachineSpec> machine() && {
    if (hosts_.empty()) return bad(0, "the file names no host", "write one host per line, for example \"node1 4\"");
    MachineSpec machine;
    machine.text = file_;
    machine.root.kind = "machine";
    for (Host& host : hosts_) {
      ObjectSpec core{.kind = "core", .name = {}, .repeat = host.slots, .between = {}, .os_index = {}, .children = {}};
      machine.root.children.push_back(
          {.kind = "node", .name = std::move(host.name), .between = {}, .os_index = {}, .children = {std::move(core)}});
    }
    return machine;
  }

 private:
  struct Host {
    std::string name;
    std::uint64_t slots;
    std::uint64_t line;
    bool without_count;
  };

  Failure bad(std::uint64_t line, std::string what, std::string hint) const {
    return fail(Code::bad_input, at(file_, line), std::move(what), std::move(hint));
  }

  const std::string& file_;
  std::vector<Host> hosts_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::uint64_t total_ = 0;
};

}  // namespace

bool is_hostfile(std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto host = parse_line(text.substr(0, end));
    if (!host) return false;
    if (!host->name.empty()) return !host->slots || parse_index(*host->slots).has_value();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

Result<MachineSpec> read_hostfile(const FileContents& file) {
  HostCollector hosts(file.name());
  std::uint64_t line = 0;
  for (std::string_view rest = file.view(); !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    if (auto added = hosts.add(rest.substr(0, end), ++line); !added) return propagate(added);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::move(hosts).machine();
}

}  // namespace rankloom
