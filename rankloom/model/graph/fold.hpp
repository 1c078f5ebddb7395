// SPDX-License-Identifier: Apache-2.0
// model: equal parts of a machine written once. Sources fold what they build, the JSON writer what it writes.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// One object of each is the same as one of the other, whatever their repeat counts.
inline bool alike(const ObjectSpec& a, const ObjectSpec& b) {
  return a.kind == b.kind && a.name == b.name && a.between == b.between && a.capacity == b.capacity &&
         a.os_index == b.os_index &&
         std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                    [](const ObjectSpec& x, const ObjectSpec& y) { return x.repeat == y.repeat && alike(x, y); });
}

/// Adds an object at the end; if it is like the last one, that one's repeat count grows instead. Named objects stay
/// single.
inline void append_folded(std::vector<ObjectSpec>& objects, ObjectSpec object) {
  if (!objects.empty() && object.name.empty() && alike(objects.back(), object)) {
    objects.back().repeat += object.repeat;
  } else {
    objects.push_back(std::move(object));
  }
}

/// The same machine with every run of equal neighbours folded, from the cores up. Two machines are equal when their
/// folded forms are.
inline ObjectSpec folded(const ObjectSpec& object) {
  ObjectSpec result = object;
  result.children.clear();
  for (const ObjectSpec& child : object.children) append_folded(result.children, folded(child));
  return result;
}

}  // namespace rankloom
