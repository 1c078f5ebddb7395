// SPDX-License-Identifier: Apache-2.0
// model/files: reads and writes JSON. Errors name the path of the value, and for an unknown key the most similar known
// one. The parser and serialiser of the JSON library are compiled once, in json.cpp, not in every source that uses
// JSON.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"

namespace rankloom {

/// Brackets may be nested this deep. Functions of the JSON library and of ours recurse into values.
inline constexpr std::size_t max_json_depth = 256;

/// The value of a complete file. A syntax error names its line; the function does not throw.
Result<nlohmann::json> parse_json(const FileContents& file);
/// The value of a text; is_discarded() when the text is malformed or nested too deep.
nlohmann::json parse_json(std::string_view text);
/// The same with the keys in the order of the text.
nlohmann::ordered_json parse_ordered_json(std::string_view text);
/// The text of a value, with line breaks and this indentation when `indent` is not negative. Bytes that are not UTF-8
/// are replaced.
std::string dump_json(const nlohmann::json& json, int indent = -1);
/// The same with the keys in the order of insertion.
std::string dump_json(const nlohmann::ordered_json& json, int indent = -1);

/// The value as a whole number of at most `max`. Throws a std::exception for other values, which the JSON library would
/// convert silently: -1, 1e300, 2.5.
std::uint64_t whole_number(const nlohmann::json& json, std::uint64_t max = std::numeric_limits<std::uint64_t>::max());
/// The same for sizes and counts of 32 bits.
inline std::uint32_t whole_number_32(const nlohmann::json& json) {
  return static_cast<std::uint32_t>(whole_number(json, std::numeric_limits<std::uint32_t>::max()));
}

/// A value in a document and the path to it. After the first error, further reads have no effect and the first error is
/// kept: a reader is a list of fields and checks once, at the end, whether all of them were read. A cursor refers to
/// its parent, which must outlive it. `read(cursor, field)` is overloaded for every type that can be a field.
class JsonCursor {
 public:
  struct Document {
    const nlohmann::json& value;
    const std::string& source;
    std::optional<Error> error = {};
  };
  explicit JsonCursor(Document& document) : document_(&document), value_(&document.value) {}

  const nlohmann::json& value() const { return *value_; }
  bool failed() const { return document_->error.has_value(); }
  std::size_t depth() const { return parent_ == nullptr ? 0 : parent_->depth() + 1; }
  std::string path() const;
  /// Records an error at this value, unless there is one already.
  void report_error(std::string_view what, std::string hint) const;

  bool has(std::string_view key) const;
  /// Reads the value of a required key.
  template <class T>
  void read_required(std::string_view key, T& field) const {
    expect_key(key);
    read_optional(key, field);
  }
  /// Reads the value of an optional key; without the key the field keeps its value.
  template <class T>
  void read_optional(std::string_view key, T& field) const {
    if (!failed() && has(key)) read(member(key), field);
  }
  /// Calls visit(cursor) for each element of an array, until one fails.
  template <class Visit>
  void for_each(const Visit& visit) const {
    const std::size_t size = array_size();
    for (std::size_t i = 0; i < size && !failed(); ++i) visit(element(i));
  }

  /// Fails unless the value is an object whose keys are all among `known`.
  void expect_keys(std::initializer_list<std::string_view> known) const;

  /// The value as text, truncated when long.
  std::string excerpt() const;

 private:
  JsonCursor(const nlohmann::json& value, const JsonCursor& parent, std::string_view key, std::size_t index)
      : document_(parent.document_), value_(&value), parent_(&parent), key_(key), index_(index) {}

  void expect_key(std::string_view key) const;
  JsonCursor member(std::string_view key) const;
  JsonCursor element(std::size_t index) const;
  std::size_t array_size() const;

  Document* document_;
  const nlohmann::json* value_;
  const JsonCursor* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
};

/// Sizes and counts: any 32-bit number but the largest, which is reserved for "none".
void read(const JsonCursor& cursor, std::uint32_t& field);
void read(const JsonCursor& cursor, double& field);
void read(const JsonCursor& cursor, std::string& field);
void read(const JsonCursor& cursor, bool& field);

template <class T>
void read(const JsonCursor& cursor, std::optional<T>& field) {
  read(cursor, field.emplace());
}

template <class T>
void read(const JsonCursor& cursor, std::vector<T>& field) {
  cursor.for_each([&](const JsonCursor& element) { read(element, field.emplace_back()); });
}

}  // namespace rankloom
