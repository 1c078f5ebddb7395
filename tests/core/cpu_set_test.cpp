// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/system/cpu_set.hpp"

#include <algorithm>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankloom {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CpuSet, ContainsUnitsBeyondTheBitsOfCpuSetT) {
  const CpuSet set(std::vector<std::uint32_t>{4095, 0, 1023, 1024, 4095});
  EXPECT_THAT(set.members(), ElementsAre(0, 1023, 1024, 4095));
  EXPECT_EQ(set.size(), 4U);
  EXPECT_TRUE(set.contains(4095));
  EXPECT_FALSE(set.contains(4094));
  EXPECT_FALSE(set.contains(4096));
  EXPECT_FALSE(set.contains(CpuSet::max_cpus));
}

TEST(CpuSet, GrowsWithoutLosingMembers) {
  CpuSet set;
  std::vector<std::uint32_t> inserted;
  for (std::uint32_t cpu = 7; cpu < CpuSet::max_cpus; cpu *= 3) {
    EXPECT_TRUE(set.insert(cpu));
    inserted.push_back(cpu);
  }
  EXPECT_EQ(set.members(), inserted);
  EXPECT_FALSE(set.insert(CpuSet::max_cpus));
  EXPECT_EQ(set.members(), inserted);
}

TEST(CpuSet, IsEmptyAtFirst) {
  const CpuSet set;
  EXPECT_THAT(set.members(), IsEmpty());
  EXPECT_EQ(set.size(), 0U);
  EXPECT_FALSE(set.contains(0));
  EXPECT_FALSE(set.bind()) << "a thread cannot run nowhere";
}

TEST(CpuSet, IsReadFromAKernelWith4096Units) {
  std::vector<std::size_t> tried;
  const auto get = [&](std::size_t bytes, cpu_set_t* bits) {
    tried.push_back(bytes);
    if (bytes < 4096 / 8) {
      errno = EINVAL;
      return -1;
    }
    CPU_SET_S(2, bytes, bits);
    CPU_SET_S(4095, bytes, bits);
    return 0;
  };
  const auto set = CpuSet::read(get);
  ASSERT_TRUE(set);
  EXPECT_THAT(set->members(), ElementsAre(2, 4095));
  EXPECT_THAT(tried, ElementsAre(128, 256, 512));
}

TEST(CpuSet, IsNotReadIfTheThreadDoesNotExist) {
  int tries = 0;
  const auto missing = [&tries](std::size_t, cpu_set_t*) {
    ++tries;
    errno = ESRCH;
    return -1;
  };
  EXPECT_FALSE(CpuSet::read(missing));
  EXPECT_EQ(tries, 1);
  EXPECT_FALSE(CpuSet::allowed(-1));
}

TEST(CpuSet, BindsAThreadToTheUnitsThatExist) {
  const auto before = CpuSet::allowed();
  ASSERT_TRUE(before);
  ASSERT_GT(before->size(), 0U);
  const std::uint32_t first = before->members().front();
  if (before->contains(4095)) GTEST_SKIP() << "this machine has unit 4095";
  std::thread([&] {
    EXPECT_TRUE(CpuSet(std::vector<std::uint32_t>{first, 4095}).bind());
    const auto bound = CpuSet::allowed();
    ASSERT_TRUE(bound);
    EXPECT_THAT(bound->members(), ElementsAre(first));
    EXPECT_FALSE(CpuSet(std::vector<std::uint32_t>{4095}).bind());
    EXPECT_EQ(errno, EINVAL);
  }).join();
  EXPECT_EQ(CpuSet::allowed()->members(), before->members());
}

}  // namespace
}  // namespace rankloom
