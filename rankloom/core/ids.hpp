// SPDX-License-Identifier: Apache-2.0
// core: the ids that all stages use. They are types of their own, so that a rank never indexes an array of cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace rankloom {

enum class Rank : std::uint32_t {};    ///< A task of the parallel program, 0..n-1.
enum class Core : std::uint32_t {};    ///< A core of the machine, 0..P-1 in topology order.
enum class Node : std::uint32_t {};    ///< A host, 0..N-1 in topology order.
enum class Vertex : std::uint32_t {};  ///< A vertex of the network: a node or a router.
enum class Link : std::uint32_t {};    ///< One direction of a cable of the network.

template <class Id>
concept IdType = std::is_enum_v<Id> && std::is_same_v<std::underlying_type_t<Id>, std::uint32_t>;

template <IdType Id>
constexpr std::uint32_t index(Id id) {
  return static_cast<std::uint32_t>(id);
}

/// A vector that is indexed by one type of id only.
template <IdType Id, class T>
class IdVector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  explicit IdVector(std::vector<T> values) : std::vector<T>(std::move(values)) {}

  decltype(auto) operator[](Id id) { return std::vector<T>::operator[](index(id)); }
  decltype(auto) operator[](Id id) const { return std::vector<T>::operator[](index(id)); }
};

/// All ids 0..count-1, for range-based loops.
template <IdType Id>
class IdRange {
 public:
  class Iterator {
   public:
    using value_type = Id;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;
    using pointer = const Id*;
    using reference = Id;
    Iterator() = default;
    explicit Iterator(std::uint32_t at) : at_(at) {}
    Id operator*() const { return Id{at_}; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++at_;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    std::uint32_t at_ = 0;
  };

  explicit IdRange(std::size_t count) : count_(static_cast<std::uint32_t>(count)) {}
  Iterator begin() const { return Iterator(0); }
  Iterator end() const { return Iterator(count_); }

 private:
  std::uint32_t count_;
};

}  // namespace rankloom
