// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/options.hpp"

#include <gtest/gtest.h>

namespace rankloom {
namespace {

enum class Order { random, turn };

struct Fields {
  std::uint64_t tries = 10;
  double rate = 0.5;
  double size = 0;
  bool force = false;
  Order order = Order::random;
};

OptionList describe(Fields& fields) {
  OptionList options;
  options.count("tries", fields.tries, "how often", 1, 1000);
  options.number("rate", fields.rate, "how fast", 0, 1);
  options.bytes("size", fields.size, "how much");
  options.flag("force", fields.force, "do it anyway");
  options.choice("order", fields.order, {{"random", Order::random}, {"turn", Order::turn}}, "in which order");
  return options;
}

TEST(Options, ASpecSetsTheBoundFields) {
  Fields fields;
  const auto options = describe(fields);
  ASSERT_TRUE(options.set_all("tries=7,rate=0.25,size=4KiB,force,order=turn", "test"));
  EXPECT_EQ(fields.tries, 7U);
  EXPECT_EQ(fields.rate, 0.25);
  EXPECT_EQ(fields.size, 4096);
  EXPECT_TRUE(fields.force);
  EXPECT_EQ(fields.order, Order::turn);
}

TEST(Options, DefaultTextsAreTheInitialValuesOfTheFields) {
  Fields fields;
  const auto options = describe(fields);
  EXPECT_EQ(options.find("tries")->default_text, "10");
  EXPECT_EQ(options.find("order")->default_text, "random");
  EXPECT_EQ(options.find("order")->value_name, "random|turn");
}

TEST(Options, AnUnknownNameIsAnErrorThatListsTheKnownNames) {
  Fields fields;
  const auto done = describe(fields).set_all("tires=7", "thing");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::usage);
  EXPECT_NE(done.error().hint.find("tries"), std::string::npos);
}

TEST(Options, AValueOutsideTheLimitsIsAnErrorAndLeavesTheFieldUnchanged) {
  Fields fields;
  const auto options = describe(fields);
  for (const char* bad : {"tries=0", "tries=1001", "tries=-1", "tries=x", "tries=", "rate=1.5", "rate=nan", "size=4Q",
                          "order=up", "force=maybe"}) {
    EXPECT_FALSE(options.set_all(bad, "test")) << bad;
  }
  EXPECT_EQ(fields.tries, 10U);
}

}  // namespace
}  // namespace rankloom
