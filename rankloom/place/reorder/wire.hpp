// SPDX-License-Identifier: Apache-2.0
// place/reorder: how the library inside a program and the process that maps for it talk: numbers and texts behind one
// another, as they are in memory. Both are built together and run on one host.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rankloom::reorder {

inline constexpr std::uint32_t request_mark = 0x524c5101, reply_mark = 0x524c5001;

enum class Shape : std::int32_t { grid, edges };

class Writer {
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

/// Reads what a Writer wrote; when something is missing, `good` says so and everything is empty from there.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T number() {
    T value{};
    take(&value, sizeof value);
    return value;
  }
  template <class T>
  std::vector<T> numbers() {
    const auto count = number<std::uint64_t>();
    if (count > rest_.size() / sizeof(T)) good_ = false;
    std::vector<T> values(good_ ? count : 0);
    take(values.data(), values.size() * sizeof(T));
    return values;
  }
  std::string text() {
    const std::vector<char> letters = numbers<char>();
    return {letters.begin(), letters.end()};
  }
  bool good() const { return good_; }

 private:
  void take(void* to, std::size_t size) {
    if (size > rest_.size()) good_ = false;
    if (!good_ || size == 0) return;
    std::memcpy(to, rest_.data(), size);
    rest_.remove_prefix(size);
  }
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace rankloom::reorder
