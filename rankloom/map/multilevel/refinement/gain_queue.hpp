// SPDX-License-Identifier: Apache-2.0
// map/multilevel/refinement: an addressable priority queue of vertices by gain, for FM searches.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "rankloom/core/array.hpp"

namespace rankloom::multilevel {

/// The position of each vertex in the queue that contains it; several queues of disjoint vertices can share one.
class QueuePositions {
 public:
  explicit QueuePositions(std::size_t vertices) : position_(vertices, std::numeric_limits<std::uint32_t>::max()) {}
  std::span<std::uint32_t> all() { return position_; }

 private:
  Array<std::uint32_t> position_;
};

/// A binary heap. Among equal gains the vertex that was set last is on top, like in the gain buckets of Fiduccia and
/// Mattheyses. O(log n) per change; 16 bytes per vertex in the queue. A vertex is in at most one of the queues that
/// share `positions`.
class GainQueue {
 public:
  explicit GainQueue(QueuePositions& positions) : position_(positions.all()) {}

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  /// In this queue or in another one that shares its positions.
  bool contains(std::uint32_t vertex) const { return position_[vertex] != absent; }
  std::uint32_t top() const { return heap_.front().vertex; }
  double top_gain() const { return heap_.front().gain; }
  double gain(std::uint32_t vertex) const { return heap_[position_[vertex]].gain; }

  /// Inserts the vertex or changes its gain.
  void set(std::uint32_t vertex, double gain) {
    const Entry entry{gain, vertex, ++clock_};
    if (!contains(vertex)) {
      heap_.push_back(entry);
      sift_up(heap_.size() - 1, entry);
    } else if (const std::size_t at = position_[vertex]; gain >= heap_[at].gain) {
      sift_up(at, entry);
    } else {
      sift_down(at, entry);
    }
  }

  void remove(std::uint32_t vertex) {
    const std::size_t at = position_[vertex];
    position_[vertex] = absent;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    if (at > 0 && last.above(heap_[(at - 1) / 2])) {
      sift_up(at, last);
    } else {
      sift_down(at, last);
    }
  }
  std::uint32_t pop() {
    const std::uint32_t vertex = top();
    remove(vertex);
    return vertex;
  }
  void clear() {
    for (const Entry& entry : heap_) position_[entry.vertex] = absent;
    heap_.clear();
  }

 private:
  static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();
  struct Entry {
    double gain;
    std::uint32_t vertex, time;
    bool above(const Entry& other) const { return gain != other.gain ? gain > other.gain : time > other.time; }
  };

  void sift_up(std::size_t at, Entry entry) {
    while (at > 0) {
      const std::size_t parent = (at - 1) / 2;
      if (!entry.above(heap_[parent])) break;
      put(at, heap_[parent]);
      at = parent;
    }
    put(at, entry);
  }
  void sift_down(std::size_t at, Entry entry) {
    for (std::size_t child; (child = 2 * at + 1) < heap_.size(); at = child) {
      if (child + 1 < heap_.size() && heap_[child + 1].above(heap_[child])) ++child;
      if (!heap_[child].above(entry)) break;
      put(at, heap_[child]);
    }
    put(at, entry);
  }
  void put(std::size_t at, const Entry& entry) {
    heap_[at] = entry;
    position_[entry.vertex] = static_cast<std::uint32_t>(at);
  }

  Array<Entry> heap_;
  std::span<std::uint32_t> position_;
  std::uint32_t clock_ = 0;
};

}  // namespace rankloom::multilevel
