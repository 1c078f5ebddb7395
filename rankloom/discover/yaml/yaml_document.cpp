// SPDX-License-Identifier: Apache-2.0
// discover/yaml: parses YAML with libyaml.
#include "rankloom/discover/yaml/yaml_document.hpp"

#include <utility>

#include <fmt/format.h>
#include <yaml.h>

#include "rankloom/discover/strings/tokens.hpp"

namespace rankloom {

YamlValue::YamlValue(yaml_document_s* document, int id)
    : document_(document), node_(yaml_document_get_node(document, id)) {}

bool YamlValue::is_scalar() const {
  return node_ != nullptr && node_->type == YAML_SCALAR_NODE;
}

bool YamlValue::is_sequence() const {
  return node_ != nullptr && node_->type == YAML_SEQUENCE_NODE;
}

bool YamlValue::is_mapping() const {
  return node_ != nullptr && node_->type == YAML_MAPPING_NODE;
}

bool YamlValue::is_null() const {
  return is_scalar() && node_->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
         (text().empty() || text() == "~" || lower_case(text()) == "null");
}

std::uint64_t YamlValue::line() const {
  return node_ == nullptr ? 0 : node_->start_mark.line + 1;
}

std::string YamlValue::text() const {
  if (!is_scalar()) return {};
  return {reinterpret_cast<const char*>(node_->data.scalar.value), node_->data.scalar.length};
}

bool YamlValue::is_true() const {
  const std::string word = lower_case(text());
  return word == "true" || word == "yes" || word == "on";
}

std::vector<YamlValue> YamlValue::items() const {
  std::vector<YamlValue> result;
  if (!is_sequence()) return result;
  for (const int* item = node_->data.sequence.items.start; item < node_->data.sequence.items.top; ++item)
    result.emplace_back(document_, *item);
  return result;
}

std::vector<YamlValue::Entry> YamlValue::entries() const {
  std::vector<Entry> result;
  if (!is_mapping()) return result;
  for (const yaml_node_pair_t* pair = node_->data.mapping.pairs.start; pair < node_->data.mapping.pairs.top; ++pair)
    result.push_back({YamlValue(document_, pair->key), YamlValue(document_, pair->value)});
  return result;
}

YamlValue YamlValue::find(std::string_view key) const {
  for (const Entry& entry : entries()) {
    if (entry.key.text() == key) return entry.value;
  }
  return {};
}

void YamlDocument::Delete::operator()(yaml_document_s* document) const {
  yaml_document_delete(document);
  delete document;
}

YamlValue YamlDocument::root() const {
  return {document_.get(), 1};  // libyaml numbers the root 1
}

class YamlParser {
 public:
  explicit YamlParser(const FileContents& file) : file_(file) {
    is_ready_ = yaml_parser_initialize(&parser_) != 0;
    if (!is_ready_) return;
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(file.view().data()),
                                 file.view().size());
  }
  YamlParser(const YamlParser&) = delete;
  YamlParser& operator=(const YamlParser&) = delete;
  ~YamlParser() {
    if (is_ready_) yaml_parser_delete(&parser_);
  }

  /// The next document of the file; its root is null after the last one.
  Result<YamlDocument::Pointer> load() {
    if (!is_ready_) return fail(Code::environment, at(file_.name()), "out of memory", "free memory and try again");
    if (const std::uint64_t line = first_line_nested_too_deep(); line > 0)
      return fail(Code::bad_input, at(file_.name(), line), "the brackets are nested too deep",
                  "check that every bracket is closed");
    auto raw = std::make_unique<yaml_document_t>();
    if (yaml_parser_load(&parser_, raw.get()) == 0) return syntax_error();
    return YamlDocument::Pointer(raw.release());
  }

 private:
  Failure syntax_error() const {
    const std::uint64_t line = parser_.problem_mark.line + 1;
    const std::string problem = parser_.problem == nullptr ? "unknown error" : parser_.problem;
    const std::string context = parser_.context == nullptr ? "" : fmt::format(" {}", parser_.context);
    return fail(Code::bad_input, at(file_.name(), line), fmt::format("invalid YAML: {}{}", problem, context),
                is_indented_by_tab(line)
                    ? "indent with spaces; YAML does not allow tabs"
                    : "check the indentation, brackets and quotes of this line and the one before");
  }

  /// The time that libyaml needs is quadratic in the nesting depth of brackets. Returns 0 if no line is nested too
  /// deep.
  std::uint64_t first_line_nested_too_deep() const {
    constexpr std::size_t max_depth = 200;
    std::size_t depth = 0;
    std::uint64_t line = 1;
    for (const char c : file_.view()) {
      line += c == '\n' ? 1 : 0;
      if ((c == '[' || c == '{') && ++depth > max_depth) return line;
      if ((c == ']' || c == '}') && depth > 0) --depth;
    }
    return 0;
  }

  bool is_indented_by_tab(std::uint64_t line) const {
    const auto lines = split(file_.view(), '\n');
    if (line > lines.size()) return false;
    const std::string_view text = lines[line - 1];
    return text.substr(0, text.find_first_not_of(" \t")).find('\t') != std::string_view::npos;
  }

  const FileContents& file_;
  yaml_parser_t parser_ = {};
  bool is_ready_ = false;
};

Result<YamlDocument> YamlDocument::parse(const FileContents& file, std::string_view expected) {
  YamlParser parser(file);
  auto document = parser.load();
  if (!document) return propagate(document);
  if (yaml_document_get_root_node(document->get()) == nullptr)
    return fail(Code::bad_input, at(file.name()), "is empty", fmt::format("give {}", expected));
  auto next = parser.load();
  if (!next) return propagate(next);
  if (const yaml_node_t* const second = yaml_document_get_root_node(next->get()); second != nullptr)
    return fail(Code::bad_input, at(file.name(), second->start_mark.line + 1), "a second YAML document starts here",
                "keep one document: remove the line \"---\" before it");
  return YamlDocument(std::move(*document));
}

}  // namespace rankloom
