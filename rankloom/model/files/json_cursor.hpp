// SPDX-License-Identifier: Apache-2.0
// model: reading JSON with errors that say where: the path of the value, and for an unknown key the nearest known one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/suggest.hpp"

namespace rankloom {

/// The whole document; a syntax error names its line. No exception leaves it.
inline Result<nlohmann::json> parse_json(const FileContents& file) {
  const std::string_view text = file.view();
  try {
    return nlohmann::json::parse(text.begin(), text.end());
  } catch (const nlohmann::json::parse_error& error) {
    const auto end =
        text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte > 0 ? error.byte - 1 : 0, text.size()));
    const auto line = 1 + static_cast<std::uint64_t>(std::count(text.begin(), end, '\n'));
    const bool cut = end == text.end();
    return fail(Code::bad_input, at(file.name(), line), cut ? "the JSON ends too early" : "this is not valid JSON",
                cut ? "the file may be truncated: get a complete copy"
                    : "check commas, quotes and brackets here and just before");
  } catch (const nlohmann::json::exception& error) {  // a number beyond all doubles; the message ends with it in quotes
    std::string_view number = error.what();
    number.remove_suffix(number.ends_with('\'') ? 1 : 0);
    number.remove_prefix(number.rfind('\'') + 1);
    const auto before = text.substr(0, text.find(number));
    return fail(Code::bad_input,
                at(file.name(), 1 + static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n'))),
                fmt::format("the number {} is too large", number), "write a smaller one");
  }
}

/// A value in a document and the way to it. Reading goes on after an error without effect, and the first error is kept:
/// so a reader is a list of fields, and asks once, at the end, whether all went well. Places below refer to the ones
/// above, which must outlive them. `read(place, field)` is overloaded for everything that can be a field.
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
  std::string path() const {
    if (parent_ == nullptr) return {};
    const std::string above = parent_->path();
    if (key_.empty()) return fmt::format("{}[{}]", above, index_);
    return above.empty() ? std::string(key_) : fmt::format("{}.{}", above, key_);
  }

  void bad(std::string_view what, std::string hint) const {
    if (failed()) return;
    const std::string here = path();
    document_->error = Error{Code::bad_input, at(document_->source),
                             here.empty() ? std::string(what) : fmt::format("{}: {}", here, what), std::move(hint)};
  }

  bool has(std::string_view key) const { return value_->contains(key); }
  /// Reads the value of a key, which must be there.
  template <class T>
  void need(std::string_view key, T& field) const {
    if (value_->is_object() && !has(key)) bad(fmt::format("the key \"{}\" is missing", key), "add it");
    may(key, field);
  }
  /// Reads the value of a key, or leaves the field as it is when there is none.
  template <class T>
  void may(std::string_view key, T& field) const {
    if (failed() || !has(key)) return;
    read(JsonCursor(value_->find(key).value(), *this, key, 0), field);
  }
  /// Calls visit with the place of each element of an array, until one fails.
  template <class Visit>
  void for_each(const Visit& visit) const {
    if (!value_->is_array()) bad("must be an array in [ ]", "put the values into brackets");
    for (std::size_t i = 0; i < value_->size() && !failed(); ++i) visit(JsonCursor((*value_)[i], *this, {}, i));
  }

  /// Fails unless it is an object without other keys than these.
  void expect_keys(std::initializer_list<std::string_view> known) const {
    if (!value_->is_object())
      return bad("must be an object in { }", fmt::format("with the keys {}", fmt::join(known, ", ")));
    for (const auto& [key, ignored] : value_->items()) {
      if (std::find(known.begin(), known.end(), key) == known.end()) return unknown_key(key, known);
    }
  }

  /// The value as it stands there, cut when long.
  std::string excerpt() const {
    if (value_->is_structured()) return value_->is_array() ? "[...]" : "{...}";
    return printable(value_->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }

 private:
  JsonCursor(const nlohmann::json& value, const JsonCursor& parent, std::string_view key, std::size_t index)
      : document_(parent.document_), value_(&value), parent_(&parent), key_(key), index_(index) {}

  void unknown_key(const std::string& key, std::initializer_list<std::string_view> known) const {
    bad(fmt::format("the key \"{}\" is not known", printable(key)), suggest(key, known));
  }

  static std::string printable(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return text.size() > 40 ? text.substr(0, 40) + "..." : text;
  }

  Document* document_;
  const nlohmann::json* value_;
  const JsonCursor* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
};

/// Sizes, counts and numbers of things: what 32 bits hold, but for the highest, which stands for none.
inline void read(const JsonCursor& place, std::uint32_t& field) {
  constexpr std::uint64_t most = 0xffff'fffe;
  const bool fits = place.value().is_number_unsigned() && place.value().get<std::uint64_t>() <= most;
  if (fits) {
    field = place.value().get<std::uint32_t>();
  } else {
    place.bad(fmt::format("{} is not a whole number from 0 to {}", place.excerpt(), most), "write digits alone");
  }
}

inline void read(const JsonCursor& place, double& field) {
  if (place.value().is_number()) {
    field = place.value().get<double>();
  } else {
    place.bad(fmt::format("{} is not a number", place.excerpt()), "write it without quotes");
  }
}

inline void read(const JsonCursor& place, std::string& field) {
  if (place.value().is_string()) {
    field = place.value().get<std::string>();
  } else {
    place.bad(fmt::format("{} is not a text", place.excerpt()), "put it into double quotes");
  }
}

inline void read(const JsonCursor& place, bool& field) {
  if (place.value().is_boolean()) {
    field = place.value().get<bool>();
  } else {
    place.bad(fmt::format("{} is neither true nor false", place.excerpt()), "write true or false");
  }
}

template <class T>
void read(const JsonCursor& place, std::optional<T>& field) {
  read(place, field.emplace());
}

template <class T>
void read(const JsonCursor& place, std::vector<T>& field) {
  place.for_each([&](const JsonCursor& element) { read(element, field.emplace_back()); });
}

}  // namespace rankloom
