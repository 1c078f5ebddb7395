// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/ids.hpp"

#include <type_traits>

#include <gtest/gtest.h>

namespace rankloom {
namespace {

static_assert(!std::is_convertible_v<Rank, Core> && !std::is_convertible_v<int, Rank>);
template <class Vector, class Id>
concept IndexableBy = requires(Vector vector, Id id) {
  vector[id];
};
static_assert(IndexableBy<IdVector<Rank, int>, Rank>);
static_assert(!IndexableBy<IdVector<Rank, int>, Core>, "a core must not index what belongs to ranks");

TEST(Ids, ARangeVisitsEveryIdOnce) {
  std::uint32_t expected = 0;
  for (const Rank rank : IdRange<Rank>(5)) EXPECT_EQ(index(rank), expected++);
  EXPECT_EQ(expected, 5U);
}

}  // namespace
}  // namespace rankloom
