// SPDX-License-Identifier: Apache-2.0
// place/reorder: the binary messages between the reorder library inside an MPI program and its helper process
// rankloom-reorder: numbers and texts in sequence, in the byte order of the host. Both sides are built together and run
// on the same host.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rankloom::reorder {

inline constexpr std::uint32_t request_magic = 0x524c5101, reply_magic = 0x524c5001;

/// How a virtual topology is described.
enum class TopologyKind : std::int32_t { grid, edges };

/// The cost of a placement of the vertices: the sum of weight × distance, and the weight of the edges between hosts.
struct PlacementCost {
  double cost = 0;
  double between_hosts = 0;
};

class MessageWriter {
 public:
  template <class T>
  void number(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  void numbers(const T* values, std::size_t count) {
    number<std::uint64_t>(count);
    if (count > 0) bytes_.append(reinterpret_cast<const char*>(values), count * sizeof(T));
  }
  void text(std::string_view value) { numbers(value.data(), value.size()); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads a message of MessageWriter. After a missing or truncated value, good() is false and all further values are
/// empty.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : remaining_(bytes) {}

  template <class T>
  T number() {
    T value{};
    copy(&value, sizeof value);
    return value;
  }
  template <class T>
  std::vector<T> numbers() {
    const auto count = number<std::uint64_t>();
    if (count > remaining_.size() / sizeof(T)) good_ = false;
    std::vector<T> values(good_ ? count : 0);
    copy(values.data(), values.size() * sizeof(T));
    return values;
  }
  std::string text() {
    const std::vector<char> characters = numbers<char>();
    return {characters.begin(), characters.end()};
  }
  bool good() const { return good_; }

 private:
  void copy(void* to, std::size_t size) {
    if (size > remaining_.size()) good_ = false;
    if (!good_ || size == 0) return;
    std::memcpy(to, remaining_.data(), size);
    remaining_.remove_prefix(size);
  }
  std::string_view remaining_;
  bool good_ = true;
};

}  // namespace rankloom::reorder
