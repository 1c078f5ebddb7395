// SPDX-License-Identifier: Apache-2.0
// report/document: inserts the data into the page.
#include "rankloom/report/document/html.hpp"

#include <cassert>
#include <utility>

#include "rankloom/report/text_format.hpp"

namespace rankloom {

namespace {

/// The text between the end of the tag that `mark` begins and `end`: position and length.
std::pair<std::size_t, std::size_t> between(std::string_view page, std::string_view mark, std::string_view end) {
  const std::size_t tag = page.find(mark);
  if (tag == std::string_view::npos) return {std::string_view::npos, 0};
  const std::size_t begin = page.find('>', tag) + 1;
  const std::size_t finish = page.find(end, begin);
  return {begin, finish == std::string_view::npos ? 0 : finish - begin};
}

/// "</script>" inside a text must not end the element.
std::string inside_script(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (std::size_t at = 0; at < json.size(); ++at) {
    if (json[at] == '<') {
      text += "\\u003c";  // in JSON, < occurs in strings only
    } else {
      text += json[at];
    }
  }
  return text;
}

}  // namespace

std::string fill_page(std::string_view page, std::string_view json, std::string_view title) {
  std::string result(page);
  const auto [data, length] = between(result, "id=\"rankloom-data\"", "</script>");
  assert(data != std::string::npos);  // the page has the element; a test checks it
  result.replace(data, length, inside_script(json));
  if (const auto [head, size] = between(result, "<title", "</title>"); head != std::string::npos && head < data)
    result.replace(head, size, escaped(title));
  return result;
}

}  // namespace rankloom
