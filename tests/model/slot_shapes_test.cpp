// SPDX-License-Identifier: Apache-2.0
#include "rankloom/model/machine/slots/slot_shapes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankloom {
namespace {

using ::testing::HasSubstr;

SlotShapes shapes_of(const char* cores, const char* gpus = nullptr) {
  const auto parsed_gpus = gpus == nullptr ? std::nullopt : RankNumbers::parse(gpus, 8);
  return SlotShapes::combine({RankNumbers::parse(cores, 64), std::nullopt, parsed_gpus}, {});
}

TEST(RankNumbers, AreReadAndWritten) {
  for (const char* const text : {"1", "64", "4x8,16x1", "2x0,1x3"}) {
    const auto numbers = RankNumbers::parse(text, 64);
    ASSERT_TRUE(numbers) << text;
    EXPECT_EQ(numbers->text(), text);
  }
  for (const char* const text : {"", "0", "65", "x", "4x", "x8", "0x8", "4x65", "4x8,", ",4x8", "4x8,3", "4x8x2", "-1",
                                 "4294967296x1", "4294967295x1,1x1", "4 x8", "four"})
    EXPECT_FALSE(RankNumbers::parse(text, 64)) << text;
  std::string many = "1x1";
  for (int part = 0; part < 100; ++part) many += ",1x2,1x1";
  EXPECT_FALSE(RankNumbers::parse(many, 64)) << "too many parts";
}

TEST(RankNumbers, OfTheLargestNumberOfPartsAreReadBack) {
  std::string cores = "1x2";
  for (std::size_t part = 1; part < RankNumbers::max_parts; ++part) cores += part % 2 == 0 ? ",1x2" : ",1x3";
  const SlotShapes shapes =
      SlotShapes::combine({RankNumbers::parse(cores, 64), std::nullopt, RankNumbers::parse("100x1", 64)}, {});
  ASSERT_TRUE(shapes.differ());
  SlotNumbers numbers = shapes.numbers();
  numbers[0] = RankNumbers::parse(numbers[0]->text(), 64);
  ASSERT_TRUE(numbers[0]);
  EXPECT_EQ(SlotShapes::combine(numbers, {}), shapes);
}

TEST(SlotShapes, GiveRanksNumbersByRange) {
  const SlotShapes shapes = shapes_of("4x8,16x1", "2x1");
  EXPECT_TRUE(shapes.differ());
  EXPECT_EQ(shapes.of(Rank{0}), (SlotShape{.cores = 8, .gpus = 1}));
  EXPECT_EQ(shapes.of(Rank{1}), (SlotShape{.cores = 8, .gpus = 1}));
  EXPECT_EQ(shapes.of(Rank{3}), (SlotShape{.cores = 8}));
  EXPECT_EQ(shapes.of(Rank{4}), SlotShape{});
  EXPECT_EQ(shapes.of(Rank{4000000000U}), SlotShape{});
  EXPECT_EQ(option_text(shapes), "--cores-per-rank 4x8,16x1 --gpus-per-rank 2x1,18x0");
  EXPECT_EQ(SlotShapes::combine(shapes.numbers(), {}), shapes);
}

TEST(SlotShapes, OfEqualRanksDoNotDiffer) {
  EXPECT_FALSE(shapes_of("4").differ());
  EXPECT_EQ(shapes_of("4"), SlotShapes(SlotShape{.cores = 4}));
  EXPECT_EQ(option_text(shapes_of("4")), "--cores-per-rank 4");
  EXPECT_EQ(option_text(SlotShapes()), "");
  EXPECT_TRUE(shapes_of("4x8").differ()) << "there may be more ranks";
  EXPECT_EQ(shapes_of("4x8").of_first(4), SlotShapes(SlotShape{.cores = 8}));
  EXPECT_EQ(shapes_of("2x8,2x8").of_first(4), SlotShapes(SlotShape{.cores = 8}));
  EXPECT_TRUE(shapes_of("4x8").of_first(5).differ());
  EXPECT_EQ(option_text(shapes_of("4x8").of_first(6)), "--cores-per-rank 4x8,2x1");
}

TEST(SlotShapes, AreAppended) {
  SlotShapes shapes;
  shapes.append(4, {});
  shapes.append(2, {.cores = 4});
  shapes.append(0, {.cores = 5});
  shapes.append(1, {.cores = 4});
  shapes.append(3, {});
  EXPECT_EQ(option_text(shapes), "--cores-per-rank 4x1,3x4,3x1");
  EXPECT_EQ(shapes.of_first(10), shapes);
  EXPECT_EQ(shapes.parts().size(), 3U);
}

TEST(SlotShapes, WhatOptionsDoNotSayIsAsBefore) {
  SlotShapes before;
  before.append(2, {.cores = 4, .gpus = 1});
  before.append(2, {.cores = 2});
  const SlotShapes combined = SlotShapes::combine({std::nullopt, RankNumbers(1)}, before);
  EXPECT_EQ(combined.of(Rank{1}), (SlotShape{4, 1, 1}));
  EXPECT_EQ(combined.of(Rank{2}), (SlotShape{2, 1, 0}));
  EXPECT_EQ(SlotShapes::combine({RankNumbers(3)}, before).of(Rank{3}).cores, 3U);
}

TEST(SlotShapes, RanksThatShareGpusHaveOne) {
  const SlotShapes shapes = SlotShapes::combine({std::nullopt, std::nullopt, std::nullopt, RankNumbers(4)}, {});
  EXPECT_EQ(shapes.common(), (SlotShape{.gpus = 1, .ranks_per_gpu = 4}));
  EXPECT_EQ(option_text(shapes), "--gpus-per-rank 1 --ranks-per-gpu 4");
}

TEST(SlotShapes, MustNotNameMoreRanksThanThereAre) {
  EXPECT_TRUE(shapes_of("4x8,16x1").check(20));
  EXPECT_TRUE(shapes_of("4x8").check(20));
  const auto too_many = shapes_of("4x8,16x1").check(19);
  ASSERT_FALSE(too_many);
  EXPECT_THAT(too_many.error().what, HasSubstr("name 20 ranks, but there are 19"));
}

}  // namespace
}  // namespace rankloom
