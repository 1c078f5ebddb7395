// SPDX-License-Identifier: Apache-2.0
// tests: JSON of any content is a value or an error.
#include "rankloom/model/files/json.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rankloom {
namespace {

using ::testing::HasSubstr;

std::string nested(std::size_t depth, const std::string& inside = "") {
  return std::string(depth, '[') + inside + std::string(depth, ']');
}

std::string problem(const std::string& text) {
  const auto json = parse_json(FileContents("a.json", text));
  return json ? "none" : to_string(json.error());
}

TEST(Json, BracketsMayBeNestedToALimit) {
  EXPECT_EQ(problem(nested(max_json_depth)), "none");
  EXPECT_THAT(problem("\n" + nested(max_json_depth + 1)),
              HasSubstr("a.json:2: the brackets are nested more than 256 levels deep"));
  EXPECT_THAT(problem(nested(1'000'000)), HasSubstr("nested"));
  EXPECT_THAT(problem(std::string(1'000'000, '[')), HasSubstr("nested"));
  std::string objects = "1";
  for (int level = 0; level < 300; ++level) objects = R"({"a":)" + objects + "}";
  EXPECT_THAT(problem(objects), HasSubstr("nested"));
}

TEST(Json, BracketsInStringsAreNotNested) {
  const std::string brackets(1000, '[');
  EXPECT_EQ(problem(R"([")" + brackets + R"("])"), "none");
  EXPECT_EQ(problem(R"(["\")" + brackets + R"(", "\\", 1])"), "none");
  EXPECT_THAT(problem(R"(["\\",)" + brackets), HasSubstr("nested"));
}

TEST(Json, ATextThatIsNestedTooDeepIsDiscarded) {
  EXPECT_TRUE(parse_json(std::string_view(nested(100'000))).is_discarded());
  EXPECT_TRUE(parse_ordered_json(nested(100'000)).is_discarded());
  EXPECT_TRUE(parse_json(std::string_view("1e999")).is_discarded());
  EXPECT_EQ(dump_json(parse_ordered_json(R"({"b":1,"a":[2]})")), R"({"b":1,"a":[2]})");
}

TEST(Json, KeepsLettersOfAllLanguages) {
  const std::string text = R"({"host":"Käfer – 計算"})";
  EXPECT_EQ(dump_json(parse_json(std::string_view(text))), text);
  EXPECT_EQ(dump_json(parse_ordered_json(text)), text);
}

TEST(Json, NumbersThatAreTooLargeAreErrors) {
  EXPECT_THAT(problem("[1,\n1e999]"), HasSubstr("a.json:2: the number 1e999 is too large"));
  EXPECT_LT(problem("[" + std::string(100'000, '9') + "]").size(), 300u);
}

}  // namespace
}  // namespace rankloom
