// SPDX-License-Identifier: Apache-2.0
// model/files: mapping files.
#include "rankloom/model/files/mapping_file.hpp"

#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Core> read(const std::string& text) {
  auto mapping = read_mapping(FileContents("map.txt", text));
  EXPECT_TRUE(mapping) << to_string(mapping.error());
  return mapping ? mapping->core_of : std::vector<Core>();
}

Error error_of(const std::string& text) {
  auto cores = read_mapping(FileContents("map.txt", text));
  EXPECT_FALSE(cores) << text;
  return cores ? Error{} : cores.error();
}

TEST(MappingFile, HasOneCorePerLine) {
  EXPECT_THAT(read("3\n0\n17\n"), ElementsAre(Core{3}, Core{0}, Core{17}));
}

TEST(MappingFile, AcceptsOtherLineEndsBlankLinesAndComments) {
  EXPECT_THAT(read("# rank 0 sits far away\r\n 4294967295\r\n\n\t1"), ElementsAre(Core{4294967295}, Core{1}));
}

TEST(MappingFile, ReadsTheKeyMappingOfAResult) {
  EXPECT_THAT(read(R"({"mapper": "greedy", "cost": 12.5, "mapping": [2, 0, 1]})"),
              ElementsAre(Core{2}, Core{0}, Core{1}));
  EXPECT_THAT(read(" \n[5]"), ElementsAre(Core{5}));
}

TEST(MappingFile, SaysWhatARankOccupies) {
  const auto shape = [](const std::string& text) { return read_mapping(FileContents("map.txt", text))->shapes; };
  EXPECT_EQ(shape("0\n4\n"), SlotShape{});
  EXPECT_EQ(shape("# --cores-per-rank 4\n0\n4\n"), (SlotShape{.cores = 4}));
  EXPECT_EQ(shape("# made by hand\n#--threads-per-core 1 --cores-per-rank 2\n0\n4"), (SlotShape{2, 1}));
  EXPECT_EQ(shape("# --cores-per-rank 0\n0\n# --cores-per-rank 4\n4\n"), SlotShape{});
  EXPECT_EQ(shape(R"({"cores_per_rank": 4, "threads_per_core": 1, "mapping": [0, 4]})"), (SlotShape{4, 1}));
  SlotShapes differ;
  differ.append(1, {.cores = 4, .gpus = 1});
  differ.append(2, {});
  EXPECT_EQ(shape("# --cores-per-rank 1x4,2x1 --gpus-per-rank 1x1,2x0\n0\n4\n5\n"), differ);
  EXPECT_EQ(shape(R"({"cores_per_rank": "1x4,2x1", "gpus_per_rank": "1x1", "mapping": [0, 4, 5]})"), differ);
  EXPECT_THAT(error_of(R"({"cores_per_rank": 0, "mapping": [0, 4]})").what, HasSubstr("cores_per_rank"));
  EXPECT_THAT(error_of(R"({"threads_per_core": "two", "mapping": [0]})").what, HasSubstr("threads_per_core"));
}

TEST(MappingFile, ReadsBackWhatItWrote) {
  std::vector<Core> cores;
  for (std::uint32_t i = 0; i < 50'000; ++i) cores.push_back(Core{(i * 7919) % 50'021});
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const memory = open_memstream(&text, &size);
  Sink sink(memory);
  write_plain_mapping(cores, sink, SlotShape{.cores = 4, .threads_per_core = 1});
  std::fclose(memory);
  EXPECT_EQ(read(std::string(text, size)), cores);
  std::free(text);
}

TEST(MappingFile, NamesTheLineOfAnError) {
  for (const char* text :
       {"0\n1\n-2\n", "0\n1\nnode3\n", "0\n1\n1.5\n", "0\n1\n4294967296\n", "0\n1\n2 7\n", "0\n1\n2;\n"}) {
    const Error error = error_of(text);
    EXPECT_EQ(error.code, Code::bad_input);
    EXPECT_EQ(error.where.source, "map.txt");
    EXPECT_EQ(error.where.line, 3u) << text;
    EXPECT_FALSE(error.hint.empty());
  }
}

TEST(MappingFile, RejectsJsonWithoutAListOfCores) {
  EXPECT_THAT(error_of(R"({"cores": [1]})").what, HasSubstr("\"mapping\""));
  EXPECT_THAT(error_of(R"({"mapping": 3})").what, HasSubstr("\"mapping\""));
  EXPECT_THAT(error_of(R"({"mapping": [0, -1]})").what, HasSubstr("rank 1"));
  EXPECT_THAT(error_of(R"({"mapping": [0, 4294967296]})").what, HasSubstr("rank 1"));
  EXPECT_THAT(error_of(R"({"mapping": [0, 1.5]})").what, HasSubstr("1.5"));
}

TEST(MappingFile, NamesTheLineWhereJsonIsTruncated) {
  const Error error = error_of("{\"mapping\": [\n0,\n1,\n");
  EXPECT_EQ(error.where.line, 4u);
  EXPECT_THAT(error.what, HasSubstr("too early"));
}

TEST(MappingFile, RefusesAFileWithoutNumbers) {
  for (const char* text : {"", "\n\n", "# nothing\n", "[]", "{\"mapping\": []}"}) {
    EXPECT_THAT(error_of(text).what, HasSubstr("no core numbers")) << text;
  }
}

}  // namespace
}  // namespace rankloom
