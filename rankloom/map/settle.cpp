// SPDX-License-Identifier: Apache-2.0
// map: overfull parts into parts with room.
#include "rankloom/map/settle.hpp"

#include <functional>
#include <queue>
#include <vector>

namespace rankloom {
namespace {

/// What an element says to each part, for one element at a time. O(degree) a look.
class Attachment {
 public:
  Attachment(const Affinity& affinity, std::size_t parts) : affinity_(affinity), to_(parts, 0.0) {}

  void look_at(std::uint32_t element, std::span<const std::uint32_t> part_of) {
    for (const std::uint32_t part : touched_) to_[part] = 0;
    touched_.clear();
    const auto near = affinity_.neighbours(element);
    const auto weight = affinity_.weights(element);
    for (std::size_t edge = 0; edge < near.size(); ++edge) {
      const std::uint32_t part = part_of[near[edge]];
      if (to_[part] == 0) touched_.push_back(part);
      to_[part] += weight[edge];
    }
  }
  double to(std::uint32_t part) const { return to_[part]; }
  std::span<const std::uint32_t> touched() const { return touched_; }

 private:
  const Affinity& affinity_;
  std::vector<double> to_;
  std::vector<std::uint32_t> touched_;
};

/// Parts with room, so that one of them is found at once.
class Openings {
 public:
  Openings(std::span<const std::uint32_t> part_of, std::span<const std::uint64_t> room) : free_(room.size()) {
    for (std::size_t part = 0; part < room.size(); ++part) free_[part] = static_cast<std::int64_t>(room[part]);
    for (const std::uint32_t part : part_of) --free_[part];
  }
  std::int64_t free(std::uint32_t part) const { return free_[part]; }
  /// The lowest with room.
  std::uint32_t first() {
    while (free_[first_] <= 0) ++first_;
    return first_;
  }
  void move(std::uint32_t from, std::uint32_t to) {
    ++free_[from];
    --free_[to];
  }

 private:
  std::vector<std::int64_t> free_;
  std::uint32_t first_ = 0;
};

struct Leaving {
  double loss;
  std::uint32_t element, to;
  bool operator>(const Leaving& other) const {
    return loss != other.loss ? loss > other.loss : element > other.element;
  }
};

/// The best that the element can do outside its part.
Leaving best_way_out(std::uint32_t element, std::span<const std::uint32_t> part_of, Attachment& attachment,
                     Openings& openings) {
  attachment.look_at(element, part_of);
  const std::uint32_t own = part_of[element];
  std::uint32_t best = openings.first();
  for (const std::uint32_t part : attachment.touched()) {
    if (part == own || openings.free(part) <= 0) continue;
    const double gain = attachment.to(part) - attachment.to(best);
    if (gain > 0 || (gain == 0 && part < best)) best = part;
  }
  return {attachment.to(own) - attachment.to(best), element, best};
}

}  // namespace

void settle(const Affinity& affinity, std::span<std::uint32_t> part_of, std::span<const std::uint64_t> room) {
  Openings openings(part_of, room);
  Attachment attachment(affinity, room.size());
  std::priority_queue<Leaving, std::vector<Leaving>, std::greater<>> waiting;
  const auto wait = [&](std::uint32_t element) {
    if (openings.free(part_of[element]) < 0) waiting.push(best_way_out(element, part_of, attachment, openings));
  };
  for (std::uint32_t element = 0; element < part_of.size(); ++element) wait(element);
  while (!waiting.empty()) {
    const Leaving leaving = waiting.top();
    waiting.pop();
    if (openings.free(part_of[leaving.element]) >= 0) continue;
    // What was best when it was put aside may have changed since: whoever has got worse waits again, and those who may
    // have got better are put aside once more when it happens.
    const Leaving now = best_way_out(leaving.element, part_of, attachment, openings);
    if (!waiting.empty() && now > waiting.top()) {
      waiting.push(now);
      continue;
    }
    openings.move(part_of[now.element], now.to);
    part_of[now.element] = now.to;
    for (const std::uint32_t neighbour : affinity.neighbours(now.element)) wait(neighbour);
  }
}

}  // namespace rankloom
