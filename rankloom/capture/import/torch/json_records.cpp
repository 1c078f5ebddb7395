// SPDX-License-Identifier: Apache-2.0
// capture/import/torch: walks a large JSON file record by record.
#include "rankloom/capture/import/torch/json_records.hpp"

#include <algorithm>

namespace rankloom {

JsonRecords::JsonRecords(std::string_view text) : text_(text) {
  skip_space();
  const char open = at_ < text_.size() ? text_[at_] : 0;
  if (open == '{' || open == '[') {
    close_ = open == '{' ? '}' : ']';
    ++at_;
  } else {
    fail();
  }
}

std::optional<JsonRecords::Record> JsonRecords::fail() {
  error_ = text_.data() + std::min(at_, text_.size());
  close_ = 0;
  return std::nullopt;
}

void JsonRecords::skip_space() {
  while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) <= ' ') ++at_;
}

/// From an opening quote to the character after the closing one.
bool JsonRecords::skip_string() {
  for (++at_; at_ < text_.size(); ++at_) {
    if (text_[at_] == '\\') {
      ++at_;
    } else if (text_[at_] == '"') {
      ++at_;
      return true;
    }
  }
  return false;
}

bool JsonRecords::skip_value() {
  std::size_t depth = 0;
  const std::size_t begin = at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      if (!skip_string()) return false;
      if (depth == 0) return true;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (depth == 0) return at_ > begin;
      ++at_;
      if (--depth == 0) return true;
      continue;
    }
    if (depth == 0 && (c == ',' || static_cast<unsigned char>(c) <= ' ')) return at_ > begin;
    ++at_;
  }
  return false;  // the enclosing bracket is missing
}

std::optional<JsonRecords::Record> JsonRecords::next() {
  if (close_ == 0) return std::nullopt;
  skip_space();
  if (at_ < text_.size() && text_[at_] == close_) {
    close_ = 0;
    return std::nullopt;
  }
  if (!first_) {
    if (at_ == text_.size() || text_[at_] != ',') return fail();
    ++at_;
    skip_space();
  }
  first_ = false;
  Record record;
  if (close_ == '}') {
    const std::size_t begin = at_;
    if (at_ == text_.size() || text_[at_] != '"' || !skip_string()) return fail();
    record.key = text_.substr(begin + 1, at_ - begin - 2);
    skip_space();
    if (at_ == text_.size() || text_[at_] != ':') return fail();
    ++at_;
    skip_space();
  }
  const std::size_t begin = at_;
  if (!skip_value()) return fail();
  record.value = text_.substr(begin, at_ - begin);
  return record;
}

std::optional<std::string_view> json_member(std::string_view object, std::string_view key) {
  JsonRecords members(object);
  while (const auto member = members.next()) {
    if (member->key == key) return member->value;
  }
  return std::nullopt;
}

}  // namespace rankloom
