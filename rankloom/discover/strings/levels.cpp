// SPDX-License-Identifier: Apache-2.0
// discover: from a list of levels to a MachineSpec.
#include "rankloom/discover/strings/levels.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

namespace {

class LevelBuilder {
 public:
  explicit LevelBuilder(std::span<const LevelWords> levels) : levels_(levels), parents_done_(levels.size()) {}

  /// The children that the next parent of this level gets.
  std::vector<ObjectSpec> next_children(std::size_t level) {
    const LevelWords& words = levels_[level];
    const std::size_t parent = parents_done_[level]++;
    const LevelWords::Count count = words.counts.size() == 1 ? words.counts[0] : words.counts[parent];
    ObjectSpec child{
        .kind = words.kind, .name = {}, .repeat = count.objects, .between = {}, .os_index = {}, .children = {}};
    if (level + 1 == levels_.size()) {
      child.capacity = count.capacity;
      return {child};
    }
    child.between = levels_[level + 1].cost;
    if (all_equal_below(level)) {
      child.children = next_children(level + 1);
      return {child};
    }
    std::vector<ObjectSpec> children;
    child.repeat = 1;
    for (std::uint64_t copy = 0; copy < count.objects; ++copy) {  // no more than there are counts in a list below
      child.children = next_children(level + 1);
      append_with_repeat(children, child);
    }
    return children;
  }

 private:
  bool all_equal_below(std::size_t level) const {
    const auto below = levels_.subspan(level + 1);
    return std::all_of(below.begin(), below.end(), [](const LevelWords& words) { return words.counts.size() == 1; });
  }

  std::span<const LevelWords> levels_;
  std::vector<std::size_t> parents_done_;  // by level
};

/// Objects that many levels below one object.
std::uint64_t objects_below(const ObjectSpec& object, std::size_t levels) {
  if (levels == 0) return 1;
  std::uint64_t count = 0;
  for (const ObjectSpec& child : object.children) count += child.repeat * objects_below(child, levels - 1);
  return count;
}

void close(ObjectSpec& object) {
  if (object.children.empty()) object.capacity = 0;
  for (ObjectSpec& child : object.children) close(child);
}

/// Walks the objects of one level from left to right and closes those in the ranges; splits what is repeated only
/// where a range begins or ends inside it.
class Closer {
 public:
  explicit Closer(std::span<const Range> ranges) : ranges_(ranges) {}

  void walk(std::vector<ObjectSpec>& objects, std::size_t levels_below) {
    std::vector<ObjectSpec> result;
    for (const ObjectSpec& object : objects) {
      const std::uint64_t each = objects_below(object, levels_below);
      for (std::uint64_t left = object.repeat; left > 0;) left -= step(object, left, each, levels_below, result);
    }
    objects = std::move(result);
  }

 private:
  /// Handles as many copies at once as are treated alike, and says how many those were.
  std::uint64_t step(const ObjectSpec& object, std::uint64_t copies, std::uint64_t each, std::size_t levels_below,
                     std::vector<ObjectSpec>& result) {
    while (!ranges_.empty() && ranges_.front().last < position_) ranges_ = ranges_.subspan(1);
    ObjectSpec part = object;
    if (ranges_.empty() || ranges_.front().first >= position_ + each) {
      const std::uint64_t untouched = ranges_.empty() ? copies : (ranges_.front().first - position_) / each;
      part.repeat = std::min(copies, untouched);
      position_ += part.repeat * each;
    } else if (ranges_.front().first <= position_ && ranges_.front().last + 1 >= position_ + each) {
      part.repeat = std::min(copies, (ranges_.front().last + 1 - position_) / each);
      close(part);
      position_ += part.repeat * each;
    } else {
      part.repeat = 1;
      walk(part.children, levels_below - 1);
    }
    append_with_repeat(result, part);
    return part.repeat;
  }

  std::span<const Range> ranges_;
  std::uint64_t position_ = 0;
};

}  // namespace

Result<std::vector<std::uint64_t>> count_objects(std::span<const LevelWords> levels) {
  std::vector<std::uint64_t> objects;
  std::uint64_t parents = 1;
  for (const LevelWords& level : levels) {
    if (level.counts.size() != 1 && level.counts.size() != parents) {
      return fail(Code::bad_input, at("topology string"),
                  fmt::format("{}: {} counts for {} parents", level.token, level.counts.size(), parents),
                  "give one count for all, or one for each object of the level above, joined by +");
    }
    std::uint64_t sum = 0;
    for (const auto& count : level.counts) sum += count.objects;  // each is at most most_cores
    if (level.counts.size() == 1) sum *= parents;                 // both below 2^32
    if (sum > most_cores) {
      return fail(
          Code::bad_input, at("topology string"),
          fmt::format("{}: makes {} objects, more than the {} that can be numbered", level.token, sum, most_cores),
          "make the counts smaller");
    }
    objects.push_back(parents = sum);
  }
  return objects;
}

ObjectSpec build_levels(std::span<const LevelWords> levels) {
  ObjectSpec root{.kind = "machine", .name = {}, .between = {}, .os_index = {}, .children = {}};
  root.between = levels.front().cost;
  root.children = LevelBuilder(levels).next_children(0);
  return root;
}

void close_objects(ObjectSpec& root, std::size_t level, std::span<const Range> ranges) {
  Closer(ranges).walk(root.children, level);
}

Cost default_per_hop(std::span<const LevelWords> inside) {
  double dearest = 0;
  for (auto level = inside.rbegin(); level != inside.rend(); ++level) {
    const bool one_each =
        std::all_of(level->counts.begin(), level->counts.end(), [](const auto& count) { return count.objects == 1; });
    if (one_each) continue;  // no two cores part here
    const double unset = dearest > 0 ? 10 * dearest : 1;
    dearest = std::max(dearest, level->cost ? level->cost->inverse_bandwidth : unset);
  }
  return {dearest > 0 ? 10 * dearest : 1, 0};
}

}  // namespace rankloom
