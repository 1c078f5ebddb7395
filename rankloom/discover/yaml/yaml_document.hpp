// SPDX-License-Identifier: Apache-2.0
// discover/yaml: a YAML document, parsed by libyaml.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"

struct yaml_document_s;
struct yaml_node_s;

namespace rankloom {

/// One node of a parsed YAML document. Aliases are resolved by libyaml. An invalid value stands for a missing key.
class YamlValue {
 public:
  YamlValue() = default;
  YamlValue(yaml_document_s* document, int id);

  explicit operator bool() const { return node_ != nullptr; }
  bool is_scalar() const;
  bool is_sequence() const;
  bool is_mapping() const;
  /// "key:" without a value, or "key: ~".
  bool is_null() const;
  /// Counted from 1.
  std::uint64_t line() const;

  std::string text() const;
  bool is_true() const;

  std::vector<YamlValue> items() const;
  /// The items of a sequence, or the value itself as its only item.
  std::vector<YamlValue> items_or_self() const { return is_sequence() ? items() : std::vector{*this}; }

  struct Entry;
  std::vector<Entry> entries() const;
  YamlValue find(std::string_view key) const;

 private:
  yaml_document_s* document_ = nullptr;
  yaml_node_s* node_ = nullptr;
};

struct YamlValue::Entry {
  YamlValue key, value;
};

/// The only document of a file.
class YamlDocument {
 public:
  /// Fails if the file is not YAML, is empty, or has several documents. `expected` names the file in a remedy.
  static Result<YamlDocument> parse(const FileContents& file, std::string_view expected);
  /// Valid as long as the document.
  YamlValue root() const;

 private:
  struct Delete {
    void operator()(yaml_document_s* document) const;
  };
  using Pointer = std::unique_ptr<yaml_document_s, Delete>;
  explicit YamlDocument(Pointer document) : document_(std::move(document)) {}

  Pointer document_;
  friend class YamlParser;
};

}  // namespace rankloom
