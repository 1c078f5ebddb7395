// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/array.hpp"

#include <cstdint>
#include <numeric>

#include <gtest/gtest.h>

namespace rankloom {
namespace {

TEST(Array, HoldsWhatIsWrittenForSmallAndLargeSizes) {
  for (const std::size_t count : {std::size_t{10}, std::size_t{50'000}, std::size_t{70'001}, std::size_t{3'000'000}}) {
    Array<std::uint64_t> array(count);
    std::iota(array.begin(), array.end(), std::uint64_t{0});
    array.push_back(count);  // moves the memory
    for (std::size_t at = 0; at <= count; ++at) ASSERT_EQ(array[at], at);
    const Array<std::uint64_t> copy = array;
    array = {};
    EXPECT_EQ(copy[count / 2], count / 2);
  }
}

TEST(Array, ReservesWithoutMoving) {
  Array<std::uint32_t> array;
  array.reserve(std::size_t{1} << 24);
  const auto* const begin = array.data();
  for (std::uint32_t at = 0; at < 1'000'000; ++at) array.push_back(at);
  EXPECT_EQ(array.data(), begin);
  EXPECT_EQ(array[999'999], 999'999);
}

TEST(Array, ThrowsIfThereIsNotSoMuchMemory) {
  Array<std::uint64_t> array;
  EXPECT_THROW(array.reserve(std::size_t{1} << 57), std::bad_alloc);
  EXPECT_TRUE(array.empty());
}

}  // namespace
}  // namespace rankloom
