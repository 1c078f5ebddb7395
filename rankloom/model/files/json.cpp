// SPDX-License-Identifier: Apache-2.0
// model/files: reading and writing JSON text.
#include "rankloom/model/files/json.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "rankloom/core/text/suggest.hpp"

namespace rankloom {

using nlohmann::json;

namespace {

std::uint64_t line_of(std::string_view text, std::size_t offset) {
  return 1 +
         static_cast<std::uint64_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > 40 ? text.substr(0, 40) + "..." : text;
}

/// The position of the first bracket that is nested too deep; nothing if there is none. In front of the first syntax
/// error, where the parser stops, brackets in strings are told apart as the parser does it.
std::optional<std::size_t> nested_too_deep(std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      at += c == '\\' ? 1 : 0;
    } else if (c == '[' || c == '{') {
      if (++depth > max_json_depth) return at;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return std::nullopt;
}

template <class Json>
Json parse_or_discard(std::string_view text) {
  if (nested_too_deep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

}  // namespace

Result<json> parse_json(const FileContents& file) {
  const std::string_view text = file.view();
  if (const auto position = nested_too_deep(text)) {
    return fail(Code::bad_input, at(file.name(), line_of(text, *position)),
                fmt::format("the brackets are nested more than {} levels deep", max_json_depth),
                "check that every bracket is closed");
  }
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    const std::size_t offset = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
    const bool truncated = offset == text.size();
    return fail(Code::bad_input, at(file.name(), line_of(text, offset)),
                truncated ? "the JSON ends too early" : "this is not valid JSON",
                truncated ? "the file may be truncated: get a complete copy"
                          : "check commas, quotes and brackets here and just before");
  } catch (
      const json::exception& error) {  // A number that is too large for a double; the message ends with it in quotes.
    std::string_view number = error.what();
    number.remove_suffix(number.ends_with('\'') ? 1 : 0);
    number.remove_prefix(number.rfind('\'') + 1);
    return fail(Code::bad_input, at(file.name(), line_of(text, std::min(text.find(number), text.size()))),
                fmt::format("the number {} is too large", printable(std::string(number))), "write a smaller one");
  }
}

json parse_json(std::string_view text) {
  return parse_or_discard<json>(text);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text) {
  return parse_or_discard<nlohmann::ordered_json>(text);
}

std::string dump_json(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

std::string dump_json(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::uint64_t whole_number(const json& value, std::uint64_t max) {
  if (!value.is_number_unsigned() && !(value.is_number_integer() && value.get<std::int64_t>() >= 0))
    throw std::invalid_argument(fmt::format("{} is not a whole number", printable(dump_json(value))));
  const auto number = value.get<std::uint64_t>();
  if (number > max) throw std::out_of_range(fmt::format("{} is larger than {}", number, max));
  return number;
}

std::string JsonCursor::path() const {
  if (parent_ == nullptr) return {};
  const std::string above = parent_->path();
  if (key_.empty()) return fmt::format("{}[{}]", above, index_);
  return above.empty() ? std::string(key_) : fmt::format("{}.{}", above, key_);
}

void JsonCursor::report_error(std::string_view what, std::string hint) const {
  if (failed()) return;
  const std::string here = path();
  document_->error = Error{Code::bad_input, at(document_->source),
                           here.empty() ? std::string(what) : fmt::format("{}: {}", here, what), std::move(hint)};
}

bool JsonCursor::has(std::string_view key) const {
  return value_->contains(key);
}

void JsonCursor::expect_key(std::string_view key) const {
  if (value_->is_object() && !has(key)) report_error(fmt::format("the key \"{}\" is missing", key), "add it");
}

JsonCursor JsonCursor::member(std::string_view key) const {
  return JsonCursor(value_->find(key).value(), *this, key, 0);
}

JsonCursor JsonCursor::element(std::size_t index) const {
  return JsonCursor((*value_)[index], *this, {}, index);
}

std::size_t JsonCursor::array_size() const {
  if (!value_->is_array()) report_error("must be an array in [ ]", "put the values into brackets");
  return value_->size();
}

void JsonCursor::expect_keys(std::initializer_list<std::string_view> known) const {
  if (!value_->is_object())
    return report_error("must be an object in { }", fmt::format("with the keys {}", fmt::join(known, ", ")));
  for (const auto& [key, ignored] : value_->items()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      return report_error(fmt::format("unknown key \"{}\"", printable(key)), suggest(key, known));
  }
}

std::string JsonCursor::excerpt() const {
  if (value_->is_structured()) return value_->is_array() ? "[...]" : "{...}";
  return printable(dump_json(*value_));
}

void read(const JsonCursor& cursor, std::uint32_t& field) {
  constexpr std::uint64_t max = 0xffff'fffe;
  if (cursor.value().is_number_unsigned() && cursor.value().get<std::uint64_t>() <= max) {
    field = cursor.value().get<std::uint32_t>();
  } else {
    cursor.report_error(fmt::format("{} is not a whole number from 0 to {}", cursor.excerpt(), max),
                        "write digits only");
  }
}

void read(const JsonCursor& cursor, double& field) {
  if (cursor.value().is_number()) {
    field = cursor.value().get<double>();
  } else {
    cursor.report_error(fmt::format("{} is not a number", cursor.excerpt()), "write it without quotes");
  }
}

void read(const JsonCursor& cursor, std::string& field) {
  if (cursor.value().is_string()) {
    field = cursor.value().get<std::string>();
  } else {
    cursor.report_error(fmt::format("{} is not a string", cursor.excerpt()), "put it into double quotes");
  }
}

void read(const JsonCursor& cursor, bool& field) {
  if (cursor.value().is_boolean()) {
    field = cursor.value().get<bool>();
  } else {
    cursor.report_error(fmt::format("{} is neither true nor false", cursor.excerpt()), "write true or false");
  }
}

}  // namespace rankloom
