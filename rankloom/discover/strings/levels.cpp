// SPDX-License-Identifier: Apache-2.0
// discover/strings: builds a MachineSpec from a list of levels.
#include "rankloom/discover/strings/levels.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

namespace {

class LevelBuilder {
 public:
  explicit LevelBuilder(std::span<const LevelSpec> levels) : levels_(levels), parents_done_(levels.size()) {}

  /// The children of the next parent at this level.
  std::vector<ObjectSpec> next_children(std::size_t level) {
    const LevelSpec& spec = levels_[level];
    const std::size_t parent = parents_done_[level]++;
    const LevelSpec::Count count = spec.counts.size() == 1 ? spec.counts[0] : spec.counts[parent];
    ObjectSpec child{
        .kind = spec.kind, .name = {}, .repeat = count.objects, .between = {}, .os_index = {}, .children = {}};
    child.devices = spec.devices;
    child.gpu_links = spec.gpu_links;
    if (level + 1 == levels_.size()) {
      child.capacity = count.capacity;
      return {child};
    }
    child.between = levels_[level + 1].cost;
    if (is_uniform_below(level)) {
      child.children = next_children(level + 1);
      return {child};
    }
    std::vector<ObjectSpec> children;
    child.repeat = 1;
    for (std::uint64_t copy = 0; copy < count.objects; ++copy) {  // bounded by the length of a list of counts below
      child.children = next_children(level + 1);
      append_with_repeat(children, child);
    }
    return children;
  }

 private:
  bool is_uniform_below(std::size_t level) const {
    const auto below = levels_.subspan(level + 1);
    return std::all_of(below.begin(), below.end(), [](const LevelSpec& spec) { return spec.counts.size() == 1; });
  }

  std::span<const LevelSpec> levels_;
  std::vector<std::size_t> parents_done_;  // by level
};

/// The number of objects that are `levels` levels below one object.
std::uint64_t objects_below(const ObjectSpec& object, std::size_t levels) {
  if (levels == 0) return 1;
  std::uint64_t count = 0;
  for (const ObjectSpec& child : object.children) count += child.repeat * objects_below(child, levels - 1);
  return count;
}

void exclude(ObjectSpec& object) {
  if (object.children.empty()) object.capacity = 0;
  for (ObjectSpec& child : object.children) exclude(child);
}

/// Walks the objects of one level from left to right and excludes those in the ranges. Splits repeated objects only
/// where a range starts or ends among them.
class ObjectExcluder {
 public:
  explicit ObjectExcluder(std::span<const NumberRange> ranges) : ranges_(ranges) {}

  void walk(std::vector<ObjectSpec>& objects, std::size_t levels_below) {
    std::vector<ObjectSpec> result;
    for (const ObjectSpec& object : objects) {
      const std::uint64_t each = objects_below(object, levels_below);
      for (std::uint64_t left = object.repeat; left > 0;)
        left -= exclude_copies(object, left, each, levels_below, result);
    }
    objects = std::move(result);
  }

 private:
  /// Handles as many equal copies as possible together and returns their number.
  std::uint64_t exclude_copies(const ObjectSpec& object, std::uint64_t copies, std::uint64_t each,
                               std::size_t levels_below, std::vector<ObjectSpec>& result) {
    while (!ranges_.empty() && ranges_.front().last < position_) ranges_ = ranges_.subspan(1);
    ObjectSpec part = object;
    if (ranges_.empty() || ranges_.front().first >= position_ + each) {
      const std::uint64_t untouched = ranges_.empty() ? copies : (ranges_.front().first - position_) / each;
      part.repeat = std::min(copies, untouched);
      position_ += part.repeat * each;
    } else if (ranges_.front().first <= position_ && ranges_.front().last + 1 >= position_ + each) {
      part.repeat = std::min(copies, (ranges_.front().last + 1 - position_) / each);
      exclude(part);
      position_ += part.repeat * each;
    } else {
      part.repeat = 1;
      walk(part.children, levels_below - 1);
    }
    append_with_repeat(result, part);
    return part.repeat;
  }

  std::span<const NumberRange> ranges_;
  std::uint64_t position_ = 0;
};

std::uint64_t leaves_below(const ObjectSpec& object) {
  if (object.children.empty()) return 1;
  std::uint64_t count = 0;
  for (const ObjectSpec& child : object.children) count += child.repeat * leaves_below(child);
  return count;
}

/// Gives consecutive leaves of an object the rails 0, 1, …
class RailAssigner {
 public:
  explicit RailAssigner(std::uint64_t leaves_per_rail) : leaves_per_rail_(leaves_per_rail) {}

  void assign(ObjectSpec& object) {
    std::vector<ObjectSpec> children;
    for (const ObjectSpec& child : object.children) {
      for (std::uint64_t left = child.repeat; left > 0;) {
        ObjectSpec part = child;
        part.repeat = child.children.empty() ? std::min(left, leaves_per_rail_ - next_ % leaves_per_rail_) : 1;
        left -= part.repeat;
        if (child.children.empty()) {
          part.rail = static_cast<std::uint32_t>(next_ / leaves_per_rail_);
          next_ += part.repeat;
        } else {
          assign(part);
        }
        append_with_repeat(children, std::move(part));
      }
    }
    object.children = std::move(children);
  }

 private:
  std::uint64_t leaves_per_rail_;
  std::uint64_t next_ = 0;
};

}  // namespace

Result<void> assign_rails(ObjectSpec& root, std::size_t level, std::uint32_t rails) {
  for (ObjectSpec& child : root.children) {
    if (level > 0) {
      if (auto assigned = assign_rails(child, level - 1, rails); !assigned) return assigned;
      continue;
    }
    const std::uint64_t leaves = leaves_below(child);
    if (leaves % rails != 0) {
      return fail(Code::bad_input, at("topology string"),
                  fmt::format("{} cores of a {} cannot be distributed over {} rails", leaves, child.kind, rails),
                  fmt::format("give every {} as many cores on each rail: the number of its GPUs is a multiple of the "
                              "number of its rails",
                              child.kind));
    }
    RailAssigner(leaves / rails).assign(child);
  }
  return {};
}

Result<std::vector<std::uint64_t>> count_objects(std::span<const LevelSpec> levels) {
  std::vector<std::uint64_t> objects;
  std::uint64_t parents = 1;
  for (const LevelSpec& level : levels) {
    if (level.counts.size() != 1 && level.counts.size() != parents) {
      return fail(Code::bad_input, at("topology string"),
                  fmt::format("{}: there are {} counts for {} parents", level.token, level.counts.size(), parents),
                  "give one count for all parents, or one per object of the level above, joined by +");
    }
    std::uint64_t sum = 0;
    for (const auto& count : level.counts) sum += count.objects;  // each is at most max_cores
    if (level.counts.size() == 1) sum *= parents;                 // both factors are below 2^32
    if (sum > max_cores) {
      return fail(Code::bad_input, at("topology string"),
                  fmt::format("{}: {} objects are more than the maximum of {}", level.token, sum, max_cores),
                  "reduce the counts");
    }
    objects.push_back(parents = sum);
  }
  return objects;
}

ObjectSpec build_levels(std::span<const LevelSpec> levels) {
  ObjectSpec root{.kind = "machine", .name = {}, .between = {}, .os_index = {}, .children = {}};
  root.between = levels.front().cost;
  root.children = LevelBuilder(levels).next_children(0);
  return root;
}

void exclude_objects(ObjectSpec& root, std::size_t level, std::span<const NumberRange> ranges) {
  ObjectExcluder(ranges).walk(root.children, level);
}

Cost default_per_hop(std::span<const LevelSpec> inside) {
  double max_inverse_bandwidth = 0;
  for (auto level = inside.rbegin(); level != inside.rend(); ++level) {
    const bool is_private =
        std::all_of(level->counts.begin(), level->counts.end(), [](const auto& count) { return count.objects == 1; });
    if (is_private) continue;  // no two paths diverge at this level
    const double unset = max_inverse_bandwidth > 0 ? 10 * max_inverse_bandwidth : 1;
    max_inverse_bandwidth = std::max(max_inverse_bandwidth, level->cost ? level->cost->inverse_bandwidth : unset);
  }
  return {max_inverse_bandwidth > 0 ? 10 * max_inverse_bandwidth : 1, 0};
}

}  // namespace rankloom
