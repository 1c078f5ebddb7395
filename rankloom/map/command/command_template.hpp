// SPDX-License-Identifier: Apache-2.0
// map/command: the command line of an external mapper with placeholders: "./my_mapper {graph} {machine} {seed} {out}".
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "rankloom/core/result.hpp"

namespace rankloom {

/// A row of the table of placeholders.
struct Placeholder {
  std::string_view name, meaning;
};
std::span<const Placeholder> placeholders();

class CommandTemplate {
 public:
  /// Fails for an empty command and for unknown placeholders. A placeholder consists of lower-case letters and dots
  /// between braces, without a dollar sign before it, so that "${HOME}" and "awk '{print $1}'" stay as they are.
  static Result<CommandTemplate> parse(std::string_view text);

  const std::string& text() const { return text_; }
  bool uses(std::string_view placeholder) const;
  /// The command for a shell. Values are quoted; every placeholder of the template has one.
  std::string fill(const std::map<std::string, std::string, std::less<>>& values) const;

 private:
  explicit CommandTemplate(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

}  // namespace rankloom
