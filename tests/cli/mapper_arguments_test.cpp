// SPDX-License-Identifier: Apache-2.0
// tests of apps: lists of mappers, and options of mappers as flags.
#include "apps/rankloom/arguments/mapper_arguments.hpp"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/rankloom/verb.hpp"

namespace rankloom::app {
namespace {

using ::testing::ElementsAre;

TEST(SplitMappers, TreatsAPartThatIsNotAMapperAsAnOptionOfThePreviousMapper) {
  EXPECT_THAT(split_mappers("greedy,pair-exchange:tries=1000,order=turn,mpipp"),
              ElementsAre("greedy", "pair-exchange:tries=1000,order=turn", "mpipp"));
}

TEST(SplitMappers, KeepsAMistypedMapperSoThatTheErrorNamesIt) {
  EXPECT_THAT(split_mappers("greedy,gredy"), ElementsAre("greedy", "gredy"));
}

TEST(SplitMappers, LeavesTheCommandOfAProgramWhole) {
  EXPECT_THAT(split_mappers("greedy,exec:./m a,b --x:y,greedy"), ElementsAre("greedy", "exec:./m a,b --x:y,greedy"));
  EXPECT_THAT(split_mappers("file:a.map,greedy,file:b.map"), ElementsAre("file:a.map", "greedy", "file:b.map"));
}

TEST(SplitMappers, AcceptsTheSameMapperTwice) {
  EXPECT_THAT(split_mappers("mpipp:restarts=1,mpipp:restarts=9"), ElementsAre("mpipp:restarts=1", "mpipp:restarts=9"));
}

TEST(MapperArguments, OfferEveryOptionOfEveryMapperAsAFlag) {
  // A flag of the verb with the same name would hide the mapper's option.
  const auto verb = make_map();
  CLI::App app;
  verb->describe(app);
  for (const MapperInfo& row : mappers()) {
    const auto mapper = row.make();
    OptionList options;
    mapper->describe(options);
    for (const Option& option : options.all()) {
      const CLI::Option* const flag = app.get_option_no_throw("--" + option.name);
      ASSERT_NE(flag, nullptr) << option.name;
      EXPECT_THAT(flag->get_description(), ::testing::HasSubstr(std::string(row.name))) << option.name;
    }
  }
}

TEST(MapperArguments, NameTheMappersOfAnOptionOfOtherMappers) {
  MapperArguments arguments;
  arguments.spec = "block";
  arguments.flags = {{"tries", "10"}};
  const auto made = arguments.make();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::usage);
  EXPECT_EQ(made.error().where.source, "--tries");
  EXPECT_THAT(made.error().hint, ::testing::HasSubstr("pair-exchange"));
}

TEST(MapperArguments, AppendFlagsToTheSpecSoThatAResultShowsThem) {
  MapperArguments arguments;
  arguments.spec = "pair-exchange:tries=7";
  arguments.flags = {{"tries", "10"}};
  const auto made = arguments.make();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->spec, "pair-exchange:tries=7,tries=10");
}

}  // namespace
}  // namespace rankloom::app
