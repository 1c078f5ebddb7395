// SPDX-License-Identifier: Apache-2.0
// model/machine: descriptions of machines in which equal siblings are written once.
#include "rankloom/model/machine/machine_spec.hpp"

#include <algorithm>
#include <utility>

namespace rankloom {

std::optional<double> ChannelSpec::width(std::string_view kind) const {
  const auto found = std::ranges::find(widths, kind, &Width::kind);
  return found == widths.end() ? std::nullopt : std::optional(found->messages);
}

void ChannelSpec::set_width(std::string_view kind, double messages) {
  const auto at =
      std::ranges::lower_bound(widths, kind, {}, [](const Width& width) -> std::string_view { return width.kind; });
  if (at != widths.end() && at->kind == kind) {
    at->messages = messages;
  } else {
    widths.insert(at, {.kind = std::string(kind), .messages = messages});
  }
}

bool equal_except_repeat(const ObjectSpec& a, const ObjectSpec& b) {
  return a.kind == b.kind && a.name == b.name && a.between == b.between && a.capacity == b.capacity &&
         a.os_index == b.os_index && a.devices == b.devices && a.gpu_links == b.gpu_links &&
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
