// SPDX-License-Identifier: Apache-2.0
// tests: helpers for the tests of all formats.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/capture/import/import.hpp"

namespace rankloom::testing {

inline Imported read_as(std::string_view format, const std::string& text) {
  auto result = import_profile(FileContents("input", text), format);
  EXPECT_TRUE(result) << (result ? "" : to_string(result.error())) << "\n" << text;
  return result ? *std::move(result) : Imported{};
}

inline CommGraph graph_as(std::string_view format, const std::string& text) {
  return read_as(format, text).profile.point_to_point;
}

/// The error of reading the text. Every error must contain the file, a message and a hint.
inline Error error_as(std::string_view format, const std::string& text) {
  auto result = import_profile(FileContents("input", text), format);
  EXPECT_FALSE(result) << text.substr(0, 1000);
  if (result) return {};
  EXPECT_EQ(result.error().code, Code::bad_input) << text;
  EXPECT_EQ(result.error().where.source, "input") << text;
  EXPECT_FALSE(result.error().what.empty());
  EXPECT_FALSE(result.error().hint.empty());
  return result.error();
}

/// An invalid text, the line of its error, and a part of the message or of its hint.
struct InvalidText {
  std::string text;
  std::uint64_t line;
  const char* message;
};

inline void expect_errors(std::string_view format, std::initializer_list<InvalidText> texts) {
  for (const InvalidText& invalid : texts) {
    const Error error = error_as(format, invalid.text);
    EXPECT_EQ(error.where.line, invalid.line) << invalid.text;
    EXPECT_THAT(error.what + " " + error.hint, ::testing::HasSubstr(invalid.message)) << invalid.text;
  }
}

/// The name of the format that recognises the text; "" if none does.
inline std::string_view recognised(std::string_view text) {
  for (const FormatInfo& format : formats()) {
    if (format.recognise(text)) return format.name;
  }
  return "";
}

using Edges = std::map<std::pair<int, int>, double>;

inline Edges edges_of(const CommGraph& graph) {
  Edges edges;
  for (const Rank from : graph.ranks()) {
    for (std::size_t at = 0; at < graph.degree(from); ++at) {
      edges[{static_cast<int>(index(from)), static_cast<int>(index(graph.targets(from)[at]))}] = graph.bytes(from)[at];
    }
  }
  return edges;
}

inline void expect_equal(const CommGraph& a, const CommGraph& b) {
  EXPECT_EQ(a.rows().offsets, b.rows().offsets);
  EXPECT_EQ(a.rows().targets, b.rows().targets);
  EXPECT_EQ(a.rows().bytes, b.rows().bytes);
  EXPECT_EQ(a.rows().messages, b.rows().messages);
  EXPECT_EQ(a.rows().loads, b.rows().loads);
  EXPECT_EQ(a.undirected(), b.undirected());
}

inline Result<std::string> write_as(std::string_view format, const Profile& profile) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const memory = open_memstream(&text, &size);
  Sink sink(memory);
  const auto done = find_format(format)->write(profile, sink);
  std::fclose(memory);
  std::string result(text, size);
  std::free(text);
  if (!done) return Failure(done.error());
  return result;
}

inline Profile profile_of(CommGraph graph) {
  Profile profile;
  profile.point_to_point = std::move(graph);
  return profile;
}

inline std::string test_data(const std::string& name) {
  return std::string(RANKLOOM_TEST_DATA) + "/" + name;
}

}  // namespace rankloom::testing
