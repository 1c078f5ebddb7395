// SPDX-License-Identifier: Apache-2.0
// tests of apps: the page of a command and the table of verbs.
#include "apps/rankloom/help/page.hpp"

#include <sstream>
#include <string>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/rankloom/arguments/options.hpp"
#include "apps/rankloom/verb.hpp"
#include "rankloom/report/terminal/table.hpp"

namespace rankloom::app {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Page, ReadsArgumentsOptionsAndExamples) {
  CLI::App app("does things\n\nAt length.", "tool");
  app.set_help_flag("-h,--help", "show this")->group("general");
  app.footer("# how\ntool x\n# why\ntool y");
  std::string text;
  bool flag = false;
  add_text(app, {"FILE", "FILE", "what to read", "input", "", true}, text);
  add_text(app, {"-t,--topology", "TOPOLOGY", "the machine", "input", "none"}, text);
  add_switch(app, "--fast", "be quick", flag, "run");
  const CommandPage page = read_page(app);
  EXPECT_EQ(page.summary, "does things");
  EXPECT_EQ(page.about, "At length.");
  EXPECT_EQ(page.usage(), "tool FILE [options]");
  ASSERT_EQ(page.groups.size(), 3U);
  EXPECT_EQ(page.groups[0].options[0].heading(), "-t, --topology TOPOLOGY");
  EXPECT_EQ(page.groups[1].options[0].heading(), "--fast");
  EXPECT_EQ(page.groups[2].name, "general");
  EXPECT_THAT(page.examples, ElementsAre(std::pair("how", "tool x"), std::pair("why", "tool y")));
  EXPECT_THAT(help_text(page), HasSubstr("  -t, --topology TOPOLOGY   the machine [none]\n"));
}

TEST(Page, OffersCompletionsForValues) {
  EXPECT_THAT(completions_for("none|all|x|xy|…").values, ElementsAre("none", "all", "x", "xy"));
  EXPECT_THAT(completions_for("MAPPER").values, Contains("greedy"));
  EXPECT_THAT(completions_for("LLM").values, Contains("llama3-70b"));
  EXPECT_TRUE(completions_for("FILE").files);
  EXPECT_FALSE(completions_for("N").files);
}

TEST(Page, LongExamplesContinueOnFurtherLinesOutsideOfQuotes) {
  CLI::App app("does things\n\nAt length.", "tool");
  app.footer("# why\ntool --first " + std::string(50, 'x') +
             " -t \"a quoted text that has spaces\" --last 'one more' y");
  EXPECT_THAT(help_text(read_page(app)),
              HasSubstr("  # why\n  tool --first " + std::string(50, 'x') +
                        " \\\n    -t \"a quoted text that has spaces\" --last 'one more' y\n"));
}

TEST(Verbs, HelpFitsTheTerminal) {
  const auto check = [](const CommandPage& page) {
    std::istringstream lines(help_text(page));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(display_width(line), 100U) << page.name() << "\n" << line;
  };
  for (const VerbInfo& row : verbs()) {
    CLI::App app(std::string(row.summary) + "\n\n" + std::string(row.about), std::string(row.name));
    app.footer(std::string(row.examples));
    const auto verb = row.make();
    verb->describe(app);
    for (const CommandPage& page : with_subcommands(read_page(app))) check(page);
  }
}

TEST(Verbs, EachHaveAParagraphAndTwoExamples) {
  for (const VerbInfo& row : verbs()) {
    SCOPED_TRACE(row.name);
    EXPECT_FALSE(row.about.empty());
    CLI::App app(std::string(row.summary), std::string(row.name));
    app.footer(std::string(row.examples));
    const auto examples = read_page(app).examples;
    EXPECT_GE(examples.size(), 2U);
    for (const auto& [what, command] : examples) EXPECT_THAT(command, HasSubstr("rankloom"));
  }
}

}  // namespace
}  // namespace rankloom::app
