// SPDX-License-Identifier: Apache-2.0
// map/multilevel: vertices by gain, the best on top; a gain can be changed and a vertex taken out at any time.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace rankloom::multilevel {

/// Where each vertex stands in the heap that holds it; heaps of different vertices can share one.
class HeapPlaces {
 public:
  explicit HeapPlaces(std::size_t vertices) : place_(vertices, std::numeric_limits<std::uint32_t>::max()) {}
  std::span<std::uint32_t> all() { return place_; }

 private:
  std::vector<std::uint32_t> place_;
};

/// Of equal gains the one that came last is on top (as the buckets of Fiduccia and Mattheyses keep them). O(log n) a
/// change; 16 bytes for every vertex inside. A vertex is in at most one of the heaps that share `places`.
class GainHeap {
 public:
  explicit GainHeap(HeapPlaces& places) : place_(places.all()) {}

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  /// In this heap or in another that shares its places.
  bool contains(std::uint32_t vertex) const { return place_[vertex] != outside; }
  std::uint32_t top() const { return heap_.front().vertex; }
  double top_gain() const { return heap_.front().gain; }
  double gain(std::uint32_t vertex) const { return heap_[place_[vertex]].gain; }

  void set(std::uint32_t vertex, double gain) {
    const Entry entry{gain, vertex, ++clock_};
    if (!contains(vertex)) {
      heap_.push_back(entry);
      rise(heap_.size() - 1, entry);
    } else if (const std::size_t at = place_[vertex]; gain >= heap_[at].gain) {
      rise(at, entry);
    } else {
      sink(at, entry);
    }
  }

  void remove(std::uint32_t vertex) {
    const std::size_t at = place_[vertex];
    place_[vertex] = outside;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    if (at > 0 && last.above(heap_[(at - 1) / 2])) {
      rise(at, last);
    } else {
      sink(at, last);
    }
  }
  std::uint32_t pop() {
    const std::uint32_t vertex = top();
    remove(vertex);
    return vertex;
  }
  void clear() {
    for (const Entry& entry : heap_) place_[entry.vertex] = outside;
    heap_.clear();
  }

 private:
  static constexpr std::uint32_t outside = std::numeric_limits<std::uint32_t>::max();
  struct Entry {
    double gain;
    std::uint32_t vertex, age;
    bool above(const Entry& other) const { return gain != other.gain ? gain > other.gain : age > other.age; }
  };

  void rise(std::size_t at, Entry entry) {
    while (at > 0) {
      const std::size_t parent = (at - 1) / 2;
      if (!entry.above(heap_[parent])) break;
      put(at, heap_[parent]);
      at = parent;
    }
    put(at, entry);
  }
  void sink(std::size_t at, Entry entry) {
    for (std::size_t child; (child = 2 * at + 1) < heap_.size(); at = child) {
      if (child + 1 < heap_.size() && heap_[child + 1].above(heap_[child])) ++child;
      if (!heap_[child].above(entry)) break;
      put(at, heap_[child]);
    }
    put(at, entry);
  }
  void put(std::size_t at, const Entry& entry) {
    heap_[at] = entry;
    place_[entry.vertex] = static_cast<std::uint32_t>(at);
  }

  std::vector<Entry> heap_;
  std::span<std::uint32_t> place_;
  std::uint32_t clock_ = 0;
};

}  // namespace rankloom::multilevel
