// SPDX-License-Identifier: Apache-2.0
// capture/import/torch: walks a large JSON file record by record, without a value for the complete file. A trace of a
// training job has millions of records, of which few describe communication.
#pragma once

#include <optional>
#include <string_view>

namespace rankloom {

/// The members of an object or the elements of an array, as parts of the text. The text of a value is not checked
/// beyond its quotes and brackets: parse_json() does that for the values that are needed.
class JsonRecords {
 public:
  /// `text` starts with a bracket, after white space.
  explicit JsonRecords(std::string_view text);

  struct Record {
    std::string_view key;    ///< Without quotes; empty in an array. Escapes are kept.
    std::string_view value;  ///< Without the white space around it.
  };
  /// Nothing at the end, and after an error.
  std::optional<Record> next();
  /// Where the text is malformed or ends too early; nullptr: no error so far.
  const char* error() const { return error_; }

 private:
  std::optional<Record> fail();
  void skip_space();
  bool skip_string();
  bool skip_value();

  std::string_view text_;
  std::size_t at_ = 0;
  char close_ = 0;  // 0: the end was reached
  bool first_ = true;
  const char* error_ = nullptr;
};

/// The value of a member of an object, or nothing.
std::optional<std::string_view> json_member(std::string_view object, std::string_view key);

}  // namespace rankloom
