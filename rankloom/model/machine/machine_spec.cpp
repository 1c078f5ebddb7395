// SPDX-License-Identifier: Apache-2.0
// model/machine: descriptions of machines in which equal siblings are written once.
#include "rankloom/model/machine/machine_spec.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"

namespace rankloom {

namespace {

constexpr std::array<std::string_view, 4> origin_names{"assumed", "discovered", "stated", "measured"};

/// The entry of this kind in a list in ascending order of kinds; it is added if it is missing.
template <class Entry>
Entry& entry_of(std::vector<Entry>& entries, std::string_view kind) {
  const auto at =
      std::ranges::lower_bound(entries, kind, {}, [](const Entry& entry) -> std::string_view { return entry.kind; });
  if (at != entries.end() && at->kind == kind) return *at;
  return *entries.insert(at, Entry{.kind = std::string(kind)});
}

void set_cost_origins_below(const ObjectSpec& object, Origin origin, ChannelSpec& channels) {
  for (const ObjectSpec& child : object.children) {
    if (object.between) channels.set_cost_origin(child.kind, origin);
    set_cost_origins_below(child, origin, channels);
  }
}

}  // namespace

std::string_view to_string(Origin origin) {
  return origin_names[static_cast<std::size_t>(origin)];
}

std::optional<Origin> parse_origin(std::string_view name) {
  const auto found = std::ranges::find(origin_names, name);
  if (found == origin_names.end()) return std::nullopt;
  return static_cast<Origin>(found - origin_names.begin());
}

std::optional<double> ChannelSpec::width(std::string_view kind) const {
  const auto found = std::ranges::find(widths, kind, &Width::kind);
  return found == widths.end() ? std::nullopt : std::optional(found->messages);
}

void ChannelSpec::set_width(std::string_view kind, double messages, Origin origin) {
  Width& width = entry_of(widths, kind);
  width.messages = messages;
  width.origin = origin;
}

Origin ChannelSpec::cost_origin(std::string_view kind) const {
  const auto found = std::ranges::find(cost_origins, kind, &CostOrigin::kind);
  return found == cost_origins.end() ? Origin::stated : found->origin;
}

void ChannelSpec::set_cost_origin(std::string_view kind, Origin origin) {
  entry_of(cost_origins, kind).origin = origin;
}

double rounded_width(double messages) {
  return std::max(1.0, parse_number(fmt::format("{:.2g}", messages)).value_or(1));
}

void set_cost_origins(MachineSpec& machine, Origin origin) {
  set_cost_origins_below(machine.root, origin, machine.channels);
}

bool equal_except_repeat(const ObjectSpec& a, const ObjectSpec& b) {
  return a.kind == b.kind && a.name == b.name && a.between == b.between && a.capacity == b.capacity &&
         a.os_index == b.os_index && a.rail == b.rail && a.devices == b.devices && a.gpu_links == b.gpu_links &&
         std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                    [](const ObjectSpec& x, const ObjectSpec& y) {
                      return x.repeat == y.repeat && equal_except_repeat(x, y);
                    });
}

void append_with_repeat(std::vector<ObjectSpec>& objects, ObjectSpec object) {
  if (!objects.empty() && object.name.empty() && equal_except_repeat(objects.back(), object)) {
    objects.back().repeat += object.repeat;
  } else {
    objects.push_back(std::move(object));
  }
}

ObjectSpec fold_repeats(const ObjectSpec& object) {
  ObjectSpec result = object;
  result.children.clear();
  for (const ObjectSpec& child : object.children) append_with_repeat(result.children, fold_repeats(child));
  return result;
}

}  // namespace rankloom
