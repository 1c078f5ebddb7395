// SPDX-License-Identifier: Apache-2.0
// discover: the part of YAML in which configuration files are written: maps and lists by indentation, lists in
// brackets, plain and quoted words. Anchors, tags and texts of several lines are refused by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankloom/core/file.hpp"
#include "rankloom/core/result.hpp"

namespace rankloom {

struct YamlValue {
  enum class Kind : std::uint8_t { nothing, word, list, map };
  Kind kind = Kind::nothing;
  std::uint64_t line = 0;
  std::string word;
  std::vector<YamlValue> items;                            ///< Of a list.
  std::vector<std::pair<std::string, YamlValue>> entries;  ///< Of a map, in order.

  /// nullptr when it is no map or has no such key.
  const YamlValue* find(std::string_view key) const;
};

Result<YamlValue> parse_yaml(const FileContents& file);

}  // namespace rankloom
